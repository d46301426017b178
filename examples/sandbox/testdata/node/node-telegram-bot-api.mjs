// node-telegram-bot-api, unmodified.

import TelegramBot from "node-telegram-bot-api";
import { check, url } from "./scenario.mjs";

const bot = new TelegramBot("123456:sandbox", { baseApiUrl: url });

await check("node-telegram-bot-api", {
  send: (chatId, html, keyboard) => bot.sendMessage(chatId, html, { parse_mode: "HTML", reply_markup: keyboard }),
  reply: (chatId, messageId, text) => bot.sendMessage(chatId, text, { reply_to_message_id: messageId }),
  edit: (chatId, messageId, text) => bot.editMessageText(text, { chat_id: chatId, message_id: messageId }),
  remove: (chatId, messageId) => bot.deleteMessage(chatId, messageId),
  album: (chatId, urls) => bot.sendMediaGroup(chatId, urls.map((media) => ({ type: "photo", media }))),
  idOf: (message) => message.message_id,
  isRefusal: (error, code) => error.response?.body?.error_code === code,
  async poll(onText, onData) {
    bot.on("message", (message) => onText(message.chat.id, message.text));
    bot.on("callback_query", async (query) => {
      await bot.answerCallbackQuery(query.id);
      await onData(query.message.chat.id, query.data);
    });
    await bot.startPolling({ interval: 50, params: { timeout: 1 } });
    return () => bot.stopPolling();
  },
  webhook(onText) {
    bot.removeAllListeners();
    bot.on("message", (message) => onText(message.chat.id, message.text));
    return (request, response) => {
      const parts = [];
      request.on("data", (part) => parts.push(part));
      request.on("end", () => { bot.processUpdate(JSON.parse(Buffer.concat(parts))); response.end(); });
    };
  },
});
process.exit(0); // its HTTP client keeps connections open
