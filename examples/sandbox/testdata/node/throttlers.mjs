// grammY's throttler, telegraf's throttler and grammY's auto-retry finish without
// a violation.

import assert from "node:assert/strict";
import { Bot } from "grammy";
import { Telegraf } from "telegraf";
import { autoRetry } from "@grammyjs/auto-retry";
import { apiThrottler } from "@grammyjs/transformer-throttler";
import telegrafThrottler from "telegraf-throttler";
import { sandbox, url } from "./scenario.mjs";

async function content(name, send) {
  await sandbox("DELETE", "");
  await send();
  const stats = await sandbox("GET", "/stats");
  assert.equal(stats.violations, 0, `${name}: ${JSON.stringify(stats)}`);
  console.log(`${name}: ${stats.delivered} delivered, ${stats.tooManyRequests} times 429, ${stats.violations} violations`);
  return stats;
}

// The throttler spaces messages by a second of its own clock. On a busy machine
// that is not always a second at the server, so auto-retry stands behind it.
const grammy = new Bot("123456:sandbox", { client: { apiRoot: url } });
grammy.api.config.use(autoRetry());
grammy.api.config.use(apiThrottler());
const one = await content("grammY's throttler", () => Promise.all(Array.from({ length: 5 }, (_, i) => grammy.api.sendMessage(7, `${i}`))));
assert.equal(one.delivered, 5);

// auto-retry alone, with many calls in flight when the first 429 comes.
const retrying = new Bot("123456:sandbox", { client: { apiRoot: url } });
retrying.api.config.use(autoRetry());
const many = await content("grammY's auto-retry", () => Promise.all(Array.from({ length: 60 }, (_, i) => retrying.api.sendMessage(1000 + i, "x"))));
assert.equal(many.delivered, 60);

// telegraf's throttler stands between updates and answers, so it is given some.
const telegraf = new Telegraf("123456:sandbox", { telegram: { apiRoot: url } });
telegraf.use(telegrafThrottler.telegrafThrottler());
telegraf.on("text", (context) => context.reply(`heard ${context.message.text}`));
await content("telegraf-throttler", async () => {
  const polling = telegraf.launch();
  const chats = Array.from({ length: 20 }, (_, i) => 100 + i);
  await Promise.all(chats.map((chatId) => sandbox("POST", `/chats/${chatId}/message`, { text: "hello" })));
  for (const chatId of chats) assert.equal((await sandbox("GET", `/messages?chatId=${chatId}&wait=30s`)).length, 1);
  telegraf.stop();
  await polling;
});

console.log("the throttlers are content");
process.exit(0);
