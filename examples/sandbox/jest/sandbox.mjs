// A sandbox for Jest (and node:test and Vitest): starts `notifier sandbox` and
// gives its address, requests below /sandbox, and a way to end it.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export async function startSandbox() {
  const program = spawn("notifier", ["sandbox", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await Promise.race([
    (async () => { for await (const first of createInterface(program.stdout)) return [first]; return [undefined]; })(),
    new Promise((_, reject) => program.once("error", reject)),
  ]);
  const { url } = JSON.parse(line);
  return {
    url,
    async ask(method, path, body) {
      const response = await fetch(`${url}/sandbox${path}`, { method, body: body && JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return text && JSON.parse(text);
    },
    stop: () => new Promise((resolve) => { program.once("exit", resolve); program.kill(); }),
  };
}
