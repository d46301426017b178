// grammY and its auto-retry plugin, unmodified, against the sandbox.
//
//     npm ci && SANDBOX_URL=http://127.0.0.1:8081 node check.mjs

import assert from "node:assert/strict";
import { Bot, GrammyError } from "grammy";
import { autoRetry } from "@grammyjs/auto-retry";

const url = process.env.SANDBOX_URL ?? "http://127.0.0.1:8081";

async function sandbox(method, path, body) {
  const response = await fetch(`${url}/sandbox${path}`, { method, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${text}`);
  return text && JSON.parse(text);
}

const bot = new Bot("123456:sandbox", { client: { apiRoot: url } });
bot.api.config.use(autoRetry());

// Two messages at once to one chat: the second is told to wait a second, and the
// plugin waits.
await bot.api.sendMessage(7, "<b>one</b>", { parse_mode: "HTML" });
const second = await bot.api.sendMessage(7, "two");
assert.equal(second.text, "two");
let stats = await sandbox("GET", "/stats");
assert.equal(stats.delivered, 2);
assert.equal(stats.tooManyRequests, 1);
assert.equal(stats.violations, 0);

// A 500 is tried again, too.
await sandbox("PUT", "/limits", { chatPerSecond: 0 });
await sandbox("POST", "/faults", { method: "sendMessage", times: 1, respond: { status: 500 } });
await bot.api.sendMessage(7, "three");

// Refusals that no retry can mend come out as errors.
await sandbox("POST", "/chats/8/block");
await assert.rejects(bot.api.sendMessage(8, "x"), (error) =>
  error instanceof GrammyError && error.error_code === 403 && error.description === "Forbidden: bot was blocked by the user");
await sandbox("POST", "/chats/-4200/migrate", { to: -1001234567890 });
await assert.rejects(bot.api.sendMessage(-4200, "x"), (error) =>
  error.error_code === 400 && error.parameters.migrate_to_chat_id === -1001234567890);

// Its polling gets what customers do, and stop() confirms it.
bot.command("start", (context) => context.reply(`Welcome, ${context.match}`));
bot.on("callback_query:data", async (context) => {
  await context.answerCallbackQuery();
  await context.reply(`You pressed ${context.callbackQuery.data}`);
});
const polling = bot.start();
await sandbox("POST", "/chats/9/start", { payload: "order-1" });
const [welcome] = await sandbox("GET", "/messages?chatId=9&wait=30s");
assert.equal(welcome.visibleText, "Welcome, order-1");
await sandbox("POST", "/chats/9/press", { messageId: welcome.messageId, data: "ok" });
const [pressed] = await sandbox("GET", `/messages?chatId=9&after=${welcome.messageId}&wait=30s`);
assert.equal(pressed.visibleText, "You pressed ok");
await bot.stop();
await polling;
assert.equal((await bot.api.getWebhookInfo()).pending_update_count, 0);

stats = await sandbox("GET", "/stats");
assert.equal(stats.delivered, 5);
assert.equal(stats.violations, 0);
console.log("grammY is content");
