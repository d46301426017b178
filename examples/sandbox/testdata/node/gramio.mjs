// gramio, unmodified.

import { Bot, webhookHandler } from "gramio";
import { check, url } from "./scenario.mjs";

const make = () => new Bot("123456:sandbox", { api: { baseURL: `${url}/bot` } });
const bot = make();
const api = bot.api;

await check("gramio", {
  send: (chat_id, text, reply_markup) => api.sendMessage({ chat_id, text, parse_mode: "HTML", reply_markup }),
  reply: (chat_id, message_id, text) => api.sendMessage({ chat_id, text, reply_parameters: { message_id } }),
  edit: (chat_id, message_id, text) => api.editMessageText({ chat_id, message_id, text }),
  remove: (chat_id, message_id) => api.deleteMessage({ chat_id, message_id }),
  album: (chat_id, urls) => api.sendMediaGroup({ chat_id, media: urls.map((media) => ({ type: "photo", media })) }),
  idOf: (message) => message.message_id,
  isRefusal: (error, code) => error.code === code,
  async poll(onText, onData) {
    bot.on("message", (context) => onText(context.chat.id, context.text));
    bot.on("callback_query", async (context) => {
      await context.answer();
      await onData(context.message.chat.id, context.data);
    });
    await bot.start();
    return () => bot.stop();
  },
  async webhook(onText) {
    const other = make();
    other.on("message", (context) => onText(context.chat.id, context.text));
    await other.init();
    return webhookHandler(other, "http");
  },
});
process.exit(0); // its HTTP client keeps connections open
