// The lines of a chat: bubbles, notices and failures.

import { button, clock, make } from "./dom.js";
import { formatted, link } from "./text.js";
import { showCalls } from "./call.js";

export function lineElement(line, press) {
  switch (line.author) {
    case "notice":
      return make("li", { className: "notice" }, line.text + " ", stamp(line));
    case "failure":
      return failure(line);
    default:
      return bubble(line, press);
  }
}

function failure(line) {
  const times = line.times > 1 ? make("b", {}, ` × ${line.times}`) : "";
  return make("li", { className: "failure" }, line.text, times, " ", stamp(line), rawButton([line.callId]));
}

function bubble(line, press) {
  const body = make("div", { className: "bubble" });
  if (line.manyBots && line.botId) body.append(make("span", { className: "bot" }, `Bot ${line.botId}`));
  if (line.kind && line.kind !== "text") {
    const icon = line.kind === "photo" ? "🖼" : "📄";
    body.append(make("span", { className: `file ${line.kind}` }, `${icon} ${line.fileName || line.kind}`));
  }
  const text = make("div", { className: "text" });
  text.append(...formatted(line.text, line.entities));
  const foot = make("span", { className: "foot" }, stamp(line));
  if (line.callId) foot.append(rawButton([line.callId, line.editCallId]));
  body.append(text, foot);
  const item = make("li", { className: line.author }, body);
  const rows = keyboard(line, press);
  if (rows.length > 0) item.append(make("div", { className: "keyboard" }, ...rows));
  return item;
}

function stamp(line) {
  const at = line.editedAt ?? line.at;
  return make("time", { dateTime: at, title: at }, (line.editedAt ? "edited " : "") + clock(at));
}

function rawButton(callIds) {
  return button("{ }", () => showCalls(callIds.filter(Boolean)), {
    className: "raw", title: "Raw call and answer", ariaLabel: "Raw call and answer",
  });
}

// keyboard shows the inline buttons. Those that neither open an address nor
// send data to the bot can be seen, not pressed.
function keyboard(line, press) {
  const rows = line.replyMarkup?.inline_keyboard ?? [];
  return rows.map((row) => make("div", {}, ...row.map((one) => {
    if (one.url) {
      const element = link(one.url);
      element.append(`${one.text} ↗`);
      return element;
    }
    const data = one.callback_data;
    return button(one.text, () => press(line.messageId, data), { disabled: data === undefined, title: data ?? "" });
  })));
}
