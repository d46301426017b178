// The list of all calls, with filters.

import { ask } from "./api.js";
import { arrange, button, byId, clock, make } from "./dom.js";
import { showCalls } from "./call.js";

const filters = { method: "method", status: "status", botId: "bot", chatId: "chat" };
const shownAtOnce = 200;
let inputs = {}, rows, problem, wantedCalls;

export function hideCalls() {
  byId("calls").hidden = true;
}

// listCalls shows the calls that the filters of an address leave.
export async function listCalls(query) {
  byId("calls").hidden = false;
  document.body.classList.add("chat-open"); // on a phone it takes the place of the chats
  inputs = {};
  const form = make("form", { ariaLabel: "Filters" });
  for (const [name, label] of Object.entries(filters)) {
    inputs[name] = make("input", { placeholder: label, ariaLabel: label, value: query.get(name) ?? "", autocomplete: "off" });
    form.append(inputs[name]);
  }
  const violations = make("input", { type: "checkbox", checked: query.get("violations") === "true", id: "only-violations" });
  form.append(make("label", {}, violations, " violations only"), make("button", {}, "Show"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = new URLSearchParams(Object.entries(inputs).filter(([, input]) => input.value).map(([name, input]) => [name, input.value.trim()]));
    if (violations.checked) wanted.set("violations", "true");
    history.pushState(null, "", `#/calls?${wanted}`);
    listCalls(wanted);
  });
  problem = make("p", { className: "alarm", role: "alert" });
  rows = make("tbody");
  wantedCalls = query;
  const head = make("tr", {}, ...["call", "at", "bot", "chat", "method", "status", "answer"].map((name) => make("th", { scope: "col" }, name)));
  byId("calls").replaceChildren(make("h2", {}, "All calls ", make("a", { href: "#/" }, "back to the chats")), form, exports(query), problem,
    make("table", {}, make("thead", {}, head), rows));
  await refreshCalls();
}

// refreshCalls shows the calls anew, if the list is open.
export async function refreshCalls() {
  if (byId("calls").hidden) return;
  try {
    const calls = await ask(`/sandbox/calls?limit=${shownAtOnce}&${wantedCalls}`);
    arrange(rows, calls.toReversed(), (call) => call.callId, row);
    problem.textContent = calls.length === 0 ? "No call matches." : "";
  } catch (error) {
    problem.textContent = error.message;
  }
}

function exports(query) {
  const link = (path, text, name) => make("a", { href: `${path}?${query}`, download: name }, text);
  return make("p", { className: "faint" }, "Export: ", link("/sandbox/calls", "JSON", "calls.json"), " · ", link("/sandbox/calls.har", "HAR", "calls.har"));
}

function row(call) {
  const opener = button(`#${call.callId}`, () => showCalls([call.callId]), { className: "raw", title: "Raw call and answer" });
  const chat = call.chatId ? make("a", { href: `#/chat/${call.chatId}` }, String(call.chatId)) : "";
  const status = call.outcome === "answered" ? String(call.status) : call.outcome;
  const cells = [opener, clock(call.receivedAt), String(call.botId), chat, call.method, status, call.answer?.description ?? ""];
  return make("tr", { className: call.violations ? "alarm" : "" }, ...cells.map((cell) => make("td", {}, cell)));
}
