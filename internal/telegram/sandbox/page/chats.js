// The list of chats, with what is unread.

import { arrange, byId, clock, make } from "./dom.js";

// Seen are the messages of each chat that were looked at. They are remembered
// for this browser until the sandbox starts afresh.
let seen = {};
let world = "";

export function enterWorld(name) {
  if (name === world) return false;
  world = name;
  seen = {};
  try {
    const kept = JSON.parse(localStorage.getItem("seen") ?? "{}");
    if (kept.world === world) seen = kept.seen;
  } catch { /* nothing was kept, or nothing may be */ }
  return true;
}

export function markSeen(chat) {
  if (document.hidden || seen[chat.chatId] === chat.delivered) return;
  seen[chat.chatId] = chat.delivered;
  try {
    localStorage.setItem("seen", JSON.stringify({ world, seen }));
  } catch { /* then only until the page is loaded again */ }
}

const unread = (chat) => Math.max(0, chat.delivered - (seen[chat.chatId] ?? 0));

export function showChats(chats, current, search) {
  const views = chats.map((chat) => ({
    ...chat, unread: chat.chatId === current && !document.hidden ? 0 : unread(chat), current: chat.chatId === current,
  }));
  arrange(byId("chats"), views, (chat) => chat.chatId, chatItem);
  const none = byId("no-chats");
  none.hidden = chats.length > 0;
  none.textContent = search ? `Nothing contains “${search}”.` : "Chats appear here as soon as a bot writes.";
  const total = views.reduce((sum, chat) => sum + chat.unread, 0);
  document.title = (total > 0 ? `(${total}) ` : "") + "Bot API sandbox";
}

function chatItem(chat) {
  const head = make("span", { className: "head" }, make("b", {}, chat.name));
  if (chat.last) head.append(make("time", { title: clock(chat.last.at) }, clock(chat.last.at).slice(0, 5)));
  const tail = make("span", { className: "tail" }, lastLine(chat.last));
  if (chat.state !== "open") tail.append(make("em", {}, chat.state));
  if (chat.unread > 0) {
    const count = chat.unread > 999 ? "999+" : String(chat.unread);
    tail.append(make("span", { className: "badge", ariaLabel: `${count} unread` }, count));
  }
  const element = make("button", { type: "button" }, avatar(chat), make("span", { className: "lines" }, head, tail));
  element.dataset.chat = chat.chatId;
  element.setAttribute("aria-current", String(chat.current));
  return make("li", {}, element);
}

export function avatar(chat) {
  const digits = String(Math.abs(chat.chatId));
  const letters = chat.chatId < 0 ? "G" + digits.slice(-1) : "C" + digits.slice(-1);
  return make("span", { className: `avatar colour${Number(digits.slice(-4)) % 7}`, ariaHidden: "true" }, letters);
}

function lastLine(line) {
  const element = make("small");
  if (!line) return element;
  element.className = `last-${line.author}`;
  const file = line.kind && line.kind !== "text" ? `[${line.kind}] ` : "";
  element.append((line.author === "customer" ? "You: " : "") + file + line.text.replaceAll("\n", " "));
  return element;
}

// moveFocus goes up or down the list of chats.
export function moveFocus(step) {
  const all = [...byId("chats").querySelectorAll("button")];
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement);
  all[Math.min(Math.max(at + step, 0), all.length - 1)].focus();
}
