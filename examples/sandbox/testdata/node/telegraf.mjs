// telegraf, unmodified.

import { Telegraf } from "telegraf";
import { check, url } from "./scenario.mjs";

const options = { telegram: { apiRoot: url } };
const bot = new Telegraf("123456:sandbox", options);
const api = bot.telegram;

await check("telegraf", {
  send: (chatId, html, keyboard) => api.sendMessage(chatId, html, { parse_mode: "HTML", reply_markup: keyboard }),
  reply: (chatId, messageId, text) => api.sendMessage(chatId, text, { reply_parameters: { message_id: messageId } }),
  edit: (chatId, messageId, text) => api.editMessageText(chatId, messageId, undefined, text),
  remove: (chatId, messageId) => api.deleteMessage(chatId, messageId),
  album: (chatId, urls) => api.sendMediaGroup(chatId, urls.map((media) => ({ type: "photo", media }))),
  idOf: (message) => message.message_id,
  isRefusal: (error, code) => error.code === code,
  async poll(onText, onData) {
    bot.on("text", (context) => onText(context.chat.id, context.message.text));
    bot.on("callback_query", async (context) => {
      await context.answerCbQuery();
      await onData(context.chat.id, context.callbackQuery.data);
    });
    const polling = bot.launch();
    return async () => { bot.stop(); await polling; };
  },
  webhook(onText) {
    const other = new Telegraf("123456:sandbox", options);
    other.on("text", (context) => onText(context.chat.id, context.message.text));
    return other.webhookCallback("/hook");
  },
});
