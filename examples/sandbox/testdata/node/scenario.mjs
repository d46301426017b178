// What every client is put through. A client's own script says how it does each
// step; the sandbox is asked what came of it.

import assert from "node:assert/strict";
import http from "node:http";

export const url = process.env.SANDBOX_URL ?? "http://127.0.0.1:8081";

export async function sandbox(method, path, body) {
  const response = await fetch(`${url}/sandbox${path}`, { method, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${text}`);
  return text && JSON.parse(text);
}

const newest = async (chatId, after) => (await sandbox("GET", `/messages?chatId=${chatId}&after=${after}&wait=30s`)).at(-1);

// check runs the scenario with a client's steps:
//   send(chatId, html, keyboard), reply(chatId, messageId, text), edit(chatId, messageId, text),
//   remove(chatId, messageId), album(chatId, urls): each gives what the client gives;
//   idOf(result): a message's id; isRefusal(error, code): whether an error tells the code;
//   poll(onText, onData): starts polling and gives a function that stops it;
//   webhook(onText): gives (request, response) => … for Node's HTTP server.
export async function check(name, client) {
  await sandbox("DELETE", "");
  await sandbox("PUT", "/limits", { chatPerSecond: 0 });

  const keyboard = { inline_keyboard: [[{ text: "Got it", callback_data: "got:1" }, { text: "Shop", url: "https://shop.example/" }]] };
  const sent = client.idOf(await client.send(7, "<b>one</b>", keyboard));
  await client.edit(7, sent, "two");
  await client.reply(7, sent, "three");
  await client.album(7, ["https://shop.example/a.jpg", "https://shop.example/b.jpg"]);
  await client.remove(7, sent);
  const messages = await sandbox("GET", "/messages?chatId=7");
  assert.deepEqual(messages.map((m) => m.visibleText), ["two", "three", "", ""]);
  assert.ok(messages[0].deletedAt && messages[1].replyTo === sent, "deleted and answered");

  await sandbox("POST", "/faults", { method: "sendMessage", times: 1, respond: { retryAfter: 3 } });
  await assert.rejects(async () => client.send(7, "x"), (error) => client.isRefusal(error, 429));
  await sandbox("POST", "/chats/8/block");
  await assert.rejects(async () => client.send(8, "x"), (error) => client.isRefusal(error, 403));

  const stop = await client.poll((chatId, text) => client.send(chatId, `heard ${text}`), (chatId, data) => client.send(chatId, `pressed ${data}`));
  await sandbox("POST", "/chats/9/message", { text: "hello" });
  const heard = await newest(9, 0);
  assert.equal(heard.visibleText, "heard hello");
  await sandbox("POST", "/chats/9/press", { messageId: heard.messageId, data: "ok" });
  assert.equal((await newest(9, heard.messageId)).visibleText, "pressed ok");
  await stop();

  if (client.webhook) await checkWebhook(client);
  console.log(`${name} is content`);
}

async function checkWebhook(client) {
  const server = http.createServer(await client.webhook((chatId, text) => client.send(chatId, `took ${text}`)));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const set = await fetch(`${url}/bot123456:sandbox/setWebhook?url=http://127.0.0.1:${server.address().port}/hook`);
  assert.ok(set.ok);
  const polling = await fetch(`${url}/bot123456:sandbox/getUpdates`);
  assert.equal(polling.status, 409);
  await sandbox("POST", "/chats/10/message", { text: "again" });
  assert.equal((await newest(10, 0)).visibleText, "took again");
  await fetch(`${url}/bot123456:sandbox/deleteWebhook`);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
