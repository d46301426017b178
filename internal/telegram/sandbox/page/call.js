// The window with the raw call and answer.

import { ask, send } from "./api.js";
import { byId, button, clock, copy, make } from "./dom.js";

export async function showCalls(ids) {
  const dialog = byId("call");
  const parts = await Promise.all(ids.map(async (id) => {
    try {
      return callPart(await ask(`/sandbox/calls/${id}`));
    } catch (error) {
      return make("p", { className: "alarm" }, error.message);
    }
  }));
  const close = button("Close", () => dialog.close(), { className: "close" });
  dialog.replaceChildren(close, ...parts);
  if (!dialog.open) dialog.showModal();
}

function callPart(call) {
  const curl = make("pre", { className: "curl" }, curlOf(call));
  const copier = button("Copy as curl", () => copy(curl.textContent, copier, curl));
  const replayer = button("Make it again", () => replay(call.callId, replayer));
  const note = make("p", { className: "alarm" }, ...(call.violations ?? []).map((why) => make("span", {}, why + " ")));
  return make("section", {},
    make("h2", {}, call.method, " ", make("a", { href: `#/call/${call.callId}` }, `#${call.callId}`)),
    note,
    make("p", { className: "faint" }, about(call)),
    make("h3", {}, "Call ", copier, replayer), curl,
    make("h3", {}, "Parameters"), make("pre", {}, pretty(unpacked(call.params ?? {}))),
    make("h3", {}, call.outcome === "answered" ? `Answer ${call.status}` : "Answer"), make("pre", {}, answerOf(call)));
}

// replay makes a call again and shows the new one.
async function replay(id, from) {
  try {
    const again = await send("POST", `/sandbox/calls/${id}/replay`);
    await showCalls([again.callId]);
  } catch (error) {
    from.textContent = error.message;
  }
}

function about(call) {
  const facts = [`call ${call.callId} of bot ${call.botId}`, clock(call.receivedAt)];
  if (call.answeredAt) facts.push(`${new Date(call.answeredAt) - new Date(call.receivedAt)} ms`);
  if (call.faultId) facts.push(`struck by fault ${call.faultId}`);
  if (call.violated) facts.push(`in spite of the wait announced for: ${call.violated.join(", ")}`);
  return facts.join(" · ");
}

function answerOf(call) {
  if (call.outcome === "open") return "not yet";
  const body = call.answer === undefined ? "" : typeof call.answer === "string" ? call.answer : pretty(call.answer);
  if (call.outcome === "dropped") return "the connection was lost" + (body ? `; this never arrived:\n${body}` : "");
  return body || "an empty body";
}

const pretty = (value) => JSON.stringify(value, null, 2);

// unpacked shows objects that were sent as JSON texts as what they are.
function unpacked(params) {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => {
    if (!/^\s*[[{]/.test(value)) return [name, value];
    try {
      return [name, JSON.parse(value)];
    } catch {
      return [name, value];
    }
  }));
}

// curlOf is a shell command that repeats the call. The token's secret half is
// not kept; any will do.
export function curlOf(call) {
  const files = call.files ?? [];
  const options = Object.entries(call.params ?? {}).map(([name, value]) => {
    if (files.includes(name)) return `-F ${quoted(`${name}=@${/^file (.*), \d+ bytes$/s.exec(value)?.[1] ?? "file"}`)}`;
    return `${files.length > 0 ? "--form-string" : "--data-urlencode"} ${quoted(`${name}=${value}`)}`;
  });
  return [`curl ${quoted(`${location.origin}/bot${call.botId}:sandbox/${call.method}`)}`, ...options].join(" \\\n  ");
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
