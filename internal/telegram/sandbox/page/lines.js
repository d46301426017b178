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
  if (line.replyTo) {
    const answered = `↩ ${line.quote || `message ${line.replyTo}`}`;
    body.append(make("a", { className: "quote", href: placeOf(line.chatId, line.replyTo) }, answered));
  }
  if (line.kind && line.kind !== "text") body.append(content(line));
  const text = make("div", { className: "text" });
  text.append(...formatted(line.text, line.entities));
  const foot = make("span", { className: "foot" }, stamp(line));
  if (line.messageId) foot.prepend(make("a", { className: "place", href: placeOf(line.chatId, line.messageId) }, `#${line.messageId}`));
  if (line.callId) foot.append(rawButton([line.callId, line.editCallId]));
  body.append(text, foot);
  const item = make("li", { className: line.author }, body);
  const rows = keyboard(line, press);
  if (rows.length > 0) item.append(make("div", { className: "keyboard" }, ...rows));
  return item;
}

const placeOf = (chatId, messageId) => `#/chat/${chatId}/message/${messageId}`;

// content shows what a message has besides its text.
function content(line) {
  const source = `/sandbox/files/${encodeURIComponent(line.fileId ?? "")}`;
  if (line.fileId && line.fileType.startsWith("image/")) {
    return make("img", { src: source, alt: line.fileName || "picture", loading: "lazy" });
  }
  if (line.fileId && line.fileType.startsWith("video/")) return make("video", { src: source, controls: true });
  if (line.fileId) return make("audio", { src: source, controls: true });
  const icon = icons[line.kind] ?? "📄";
  return make("span", { className: `file ${line.kind}` }, `${icon} ${described(line)}`);
}

const icons = {
  photo: "🖼", video: "🎞", animation: "🎞", audio: "🎵", voice: "🎤", sticker: "🏷", location: "📍", venue: "📍", contact: "👤",
  poll: "📊", dice: "🎲", invoice: "🧾",
};

function described(line) {
  const c = line.content ?? {};
  switch (line.kind) {
    case "location": return `${c.latitude}, ${c.longitude}`;
    case "venue": return `${c.title}, ${c.address}`;
    case "contact": return `${c.first_name}, ${c.phone_number}`;
    case "poll": return `${c.question} (${c.options.map((o) => o.text).join(" / ")})`;
    case "dice": return `${c.emoji} ${c.value}`;
    case "invoice": return `${c.title}: ${(c.total_amount / 100).toFixed(2)} ${c.currency}`;
    default: return line.fileName || line.kind;
  }
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
  const invoice = line.kind === "invoice" ? [[{ text: "Pay", pay: true }]] : [];
  const rows = line.replyMarkup?.inline_keyboard ?? invoice;
  return rows.map((row) => make("div", {}, ...row.map((one) => {
    if (one.url) {
      const element = link(one.url);
      element.append(`${one.text} ↗`);
      return element;
    }
    const data = one.callback_data;
    if (one.pay || line.kind === "invoice" && data === undefined) {
      return button(one.text, () => press(line.messageId, undefined, "pay"), { title: "Pay" });
    }
    return button(one.text, () => press(line.messageId, data), { disabled: data === undefined, title: data ?? "" });
  })));
}
