// A bot and its test against the sandbox. Needs Node 20 and nothing else.
//
//     node example.mjs
//
// starts `notifier sandbox` for itself; with SANDBOX_URL it uses one that runs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

// ask makes a request with a JSON body and returns the status and the decoded
// answer.
async function ask(method, url, body) {
  const response = await fetch(url, {
    method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, answer: text ? JSON.parse(text) : null };
}

// The bot. It knows nothing of the sandbox, only the address of the Bot API.

class Bot {
  #base;
  #offset = 0;

  constructor(apiUrl, token) {
    this.#base = `${apiUrl}/bot${token}/`;
  }

  // call waits as long as the Bot API says when it is too fast.
  async call(method, parameters) {
    for (;;) {
      const { status, answer } = await ask("POST", this.#base + method, parameters);
      if (status !== 429) return answer;
      await sleep(1000 * answer.parameters.retry_after);
    }
  }

  // greet answers everybody who has pressed Start since the last time.
  async greet() {
    const { result } = await this.call("getUpdates", { offset: this.#offset, timeout: 10 });
    for (const update of result) {
      this.#offset = update.update_id + 1;
      const [command, payload] = (update.message?.text ?? "").split(" ");
      if (command !== "/start") continue;
      await this.call("sendMessage", {
        chat_id: update.message.chat.id, parse_mode: "HTML", text: `Welcome! Your order is <b>${payload}</b>.`,
      });
    }
  }
}

// The test.

async function startSandbox() {
  const process = spawn("notifier", ["sandbox", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: process.stdout })) {
    return { process, url: JSON.parse(line).url };
  }
  throw new Error("the sandbox did not start");
}

async function testGreeting(url) {
  const sandbox = `${url}/sandbox`;
  await ask("DELETE", sandbox); // start afresh
  await ask("POST", `${sandbox}/faults`, { method: "sendMessage", times: 1, respond: { retryAfter: 1 } });
  await ask("POST", `${sandbox}/chats/7900000001/start`, { payload: "A-1001" });

  await new Bot(url, "123456:any-token").greet();

  const { answer: messages } = await ask("GET", `${sandbox}/messages?chatId=7900000001&wait=5s`);
  assert.deepEqual(messages.map((m) => m.visibleText), ["Welcome! Your order is A-1001."]);
  const { answer: stats } = await ask("GET", `${sandbox}/stats`);
  assert.equal(stats.tooManyRequests, 1);
  assert.equal(stats.violations, 0);
  console.log("greeted once, after the wait that was asked for");
}

const started = process.env.SANDBOX_URL ? { url: process.env.SANDBOX_URL } : await startSandbox();
try {
  await testGreeting(started.url);
} finally {
  started.process?.kill();
}
