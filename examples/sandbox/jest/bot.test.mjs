// What a test with the helper looks like. It runs with node --test; with Jest the
// names come from @jest/globals instead.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { startSandbox } from "./sandbox.mjs";

let sandbox;
before(async () => { sandbox = await startSandbox(); });
after(() => sandbox.stop());
beforeEach(() => sandbox.ask("DELETE", ""));

test("greeting", async () => {
  await fetch(`${sandbox.url}/bot123456:any/sendMessage`, {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ chat_id: 7, text: "<b>Hello</b>", parse_mode: "HTML" }),
  });
  const messages = await sandbox.ask("GET", "/messages?chatId=7&wait=5s");
  assert.deepEqual(messages.map((m) => m.visibleText), ["Hello"]);
});
