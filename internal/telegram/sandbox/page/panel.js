// The panel: presets, faults in force, limits, the latest 429s.

import { send, ask, act } from "./api.js";
import { arrange, byId, button, clock, make } from "./dom.js";
import { currentChat } from "./chat.js";
import { describe, down, presets } from "./presets.js";
import { showCalls } from "./call.js";

const scope = make("select", { id: "scope", ariaLabel: "Where" },
  make("option", { value: "all" }, "in all chats"), make("option", { value: "chat" }, "in the open chat"));
const problem = make("p", { className: "alarm", role: "alert", hidden: true });
const faults = make("ul", { id: "faults" });
const noFaults = make("p", { className: "faint" }, "None. Everything goes its usual way.");
const endAll = button("End all", () => attempt(() => send("DELETE", "/sandbox/faults")));
const refusals = make("ol", { id: "refusals" });
const noRefusals = make("p", { className: "faint" }, "None yet.");
const custom = make("textarea", {
  rows: 4, spellcheck: false, ariaLabel: "A fault as JSON",
  value: '{"method":"sendMessage","times":2,\n "respond":{"status":500,"delay":"1s"}}',
});

// attempt does something and shows why it failed.
async function attempt(what) {
  problem.hidden = true;
  try {
    await what();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

const addFault = (fault) => attempt(() => send("POST", "/sandbox/faults", fault));

function addPreset(preset) {
  const fault = structuredClone(preset.fault);
  if (scope.value === "chat" && fault !== down) {
    if (currentChat() === 0) return attempt(() => { throw new Error("No chat is open."); });
    fault.chatId = currentChat();
  }
  return addFault(fault);
}

function block() {
  return attempt(() => {
    if (currentChat() === 0) throw new Error("Open the chat that is to block the bot.");
    return act(currentChat(), "block");
  });
}

// The limits

const fields = {
  botPerSecond: "Bot, messages a second", chatPerSecond: "Chat, messages a second", chatBurst: "Chat, at once after a rest",
  groupPerMinute: "Group, messages a minute", hold: "Hold up to, instead of 429", latency: "Latency of each call",
  tolerance: "Let through, if early by up to",
};
const inputs = {};
const limits = make("form", { id: "limits" });
for (const [name, label] of Object.entries(fields)) {
  inputs[name] = make("input", { name, required: true, autocomplete: "off" });
  limits.append(make("label", {}, make("span", {}, label), inputs[name]));
}
limits.append(make("p", { className: "faint" }, "0 switches a limit off; waits are written 3s or 500ms."), make("button", {}, "Apply"));

limits.addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = {};
  for (const [name, input] of Object.entries(inputs)) {
    wanted[name] = ["hold", "latency", "tolerance"].includes(name) ? input.value.trim() : Number(input.value);
  }
  attempt(() => send("PUT", "/sandbox/limits", wanted));
  document.activeElement?.blur();
});

// showLimits leaves a form alone that somebody is changing.
let limitsShown = "";
function showLimits(now) {
  const text = JSON.stringify(now);
  if (text === limitsShown) return;
  limitsShown = text;
  for (const [name, input] of Object.entries(inputs)) input.value = now[name];
}

// The clock

const ahead = make("p", { className: "faint" });
const steps = [["1 minute", "1m"], ["1 hour", "1h"], ["1 day", "24h"]].map(([text, by]) =>
  button(`+ ${text}`, () => attempt(() => send("POST", "/sandbox/clock", { forward: by }))));

function showClock(now) {
  const seconds = Math.round((Date.parse(now) - Date.now()) / 1000);
  ahead.textContent = seconds > 30 ? `It is ${new Date(now).toLocaleString()}, ${Math.round(seconds / 60)} minutes ahead.` : "As on this machine.";
}

export function buildPanel() {
  const list = presets.map((preset) => button(preset.text, () => addPreset(preset), { title: preset.hint }));
  const blocker = button("Block", block, { title: "The customer of the open chat blocks the bot" });
  list.splice(1, 0, blocker);
  const another = make("details", {}, make("summary", {}, "Another fault, as JSON"), custom,
    button("Add", () => attempt(() => ask("/sandbox/faults", { method: "POST", body: custom.value }))));
  const afresh = button("Start afresh", () => confirm("Forget all chats, calls, faults and limits?") && attempt(() => send("DELETE", "/sandbox")));
  byId("panel").append(
    make("h2", {}, "Make it fail ", scope), make("div", { id: "presets" }, ...list), problem, another,
    make("h2", {}, "Faults in force ", endAll), faults, noFaults,
    make("h2", {}, "Limits"), limits,
    make("h2", {}, "Latest 429s"), refusals, noRefusals,
    make("h2", {}, "Clock"), ahead, make("p", { className: "steps" }, ...steps),
    make("p", {}, afresh));
}

export function showPanel(overview) {
  arrange(faults, overview.faults, (fault) => fault.faultId, (fault) => make("li", {}, describe(fault), " ",
    button("End", () => attempt(() => send("DELETE", `/sandbox/faults/${fault.faultId}`)))));
  noFaults.hidden = overview.faults.length > 0;
  endAll.hidden = overview.faults.length === 0;
  const count = byId("fault-count");
  count.hidden = overview.faults.length === 0;
  count.textContent = overview.faults.length;
  showLimits(overview.limits);
  showClock(overview.now);
  arrange(refusals, overview.refusals.toReversed(), (refusal) => refusal.callId, refusalItem);
  noRefusals.hidden = overview.refusals.length > 0;
}

function refusalItem(refusal) {
  const where = refusal.chatId ? ` in ${refusal.chatId}` : "";
  const why = refusal.faultId ? ` (fault ${refusal.faultId})` : "";
  const text = `${clock(refusal.at)} ${refusal.method}${where}: ${refusal.wait.replace(/^429 /, "")}${why}`;
  return make("li", {}, button(text, () => showCalls([refusal.callId]), { title: "Raw call and answer" }));
}
