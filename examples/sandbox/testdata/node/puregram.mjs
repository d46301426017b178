// puregram, unmodified.

import { MediaSource, Telegram } from "puregram";
import { check, url } from "./scenario.mjs";

const telegram = new Telegram({ token: "123456:sandbox", apiBaseUrl: `${url}/bot` });
const api = telegram.api;

await check("puregram", {
  send: (chat_id, text, reply_markup) => api.sendMessage({ chat_id, text, parse_mode: "HTML", reply_markup: reply_markup && JSON.stringify(reply_markup) }),
  reply: (chat_id, message_id, text) => api.sendMessage({ chat_id, text, reply_parameters: JSON.stringify({ message_id }) }),
  edit: (chat_id, message_id, text) => api.editMessageText({ chat_id, message_id, text }),
  remove: (chat_id, message_id) => api.deleteMessage({ chat_id, message_id }),
  album: (chat_id, urls) => api.sendMediaGroup({ chat_id, media: urls.map((address) => ({ type: "photo", media: MediaSource.url(address) })) }),
  idOf: (message) => message.message_id,
  isRefusal: (error, code) => error.code === code,
  async poll(onText, onData) {
    telegram.updates.on("message", (context) => onText(context.chat.id, context.text));
    telegram.updates.on("callback_query", async (context) => {
      await context.answerCallbackQuery();
      await onData(context.message.chat.id, context.data);
    });
    await telegram.updates.startPolling();
    return () => telegram.updates.stopPolling();
  },
  webhook(onText) {
    const other = new Telegram({ token: "123456:sandbox", apiBaseUrl: `${url}/bot` });
    other.updates.on("message", (context) => onText(context.chat.id, context.text));
    const handle = other.updates.getWebhookMiddleware();
    return (request, response) => handle(request, response, () => response.end());
  },
});
process.exit(0); // its HTTP client keeps connections open
