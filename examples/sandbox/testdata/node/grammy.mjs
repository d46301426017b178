// grammY, unmodified.

import { Bot, webhookCallback } from "grammy";
import { check, url } from "./scenario.mjs";

const make = () => new Bot("123456:sandbox", { client: { apiRoot: url } });
const bot = make();

await check("grammY", {
  send: (chatId, html, reply_markup) => bot.api.sendMessage(chatId, html, { parse_mode: "HTML", reply_markup }),
  reply: (chatId, message_id, text) => bot.api.sendMessage(chatId, text, { reply_parameters: { message_id } }),
  edit: (chatId, messageId, text) => bot.api.editMessageText(chatId, messageId, text),
  remove: (chatId, messageId) => bot.api.deleteMessage(chatId, messageId),
  album: (chatId, urls) => bot.api.sendMediaGroup(chatId, urls.map((media) => ({ type: "photo", media }))),
  idOf: (message) => message.message_id,
  isRefusal: (error, code) => error.error_code === code,
  async poll(onText, onData) {
    bot.on("message:text", (context) => onText(context.chat.id, context.message.text));
    bot.on("callback_query:data", async (context) => {
      await context.answerCallbackQuery();
      await onData(context.chat.id, context.callbackQuery.data);
    });
    const polling = bot.start();
    return async () => { await bot.stop(); await polling; };
  },
  webhook(onText) {
    const other = make();
    other.on("message:text", (context) => onText(context.chat.id, context.message.text));
    return webhookCallback(other, "http");
  },
});
