// The open chat: its lines, and what its customer can do.

import { act, ask } from "./api.js";
import { arrange, button, byId } from "./dom.js";
import { showKeyboard } from "./customer.js";
import { lineElement } from "./lines.js";
import { avatar, markSeen } from "./chats.js";

let current = 0; // the chat shown, 0 for none
let shownChange = "";
let searched = "";

export const currentChat = () => current;

export function openChat(chatId, search = "") {
  current = chatId;
  shownChange = "";
  searched = search.toLowerCase();
  byId("problem").hidden = true;
  document.body.classList.toggle("chat-open", chatId !== 0);
  byId("chat").hidden = chatId === 0;
  byId("lines").replaceChildren();
}

// showChat fetches the open chat, if it has changed since it was shown.
export async function showChat(listed, world, manyBots) {
  if (current === 0) return;
  const change = `${world}/${current}/${listed?.changed ?? 0}/${listed?.state}/${manyBots}`;
  if (change === shownChange) {
    if (listed) markSeen(listed);
    return;
  }
  const wanted = current;
  const chat = await ask(`/sandbox/chats/${wanted}`);
  if (wanted !== current) return; // another chat was opened meanwhile
  const first = shownChange === "";
  shownChange = change;
  showHead(chat);
  showKeyboard(chat, doAct);
  const list = byId("lines"), log = byId("log");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  arrange(list, chat.lines.map((line) => ({ ...line, manyBots, chatId: wanted })), (line) => line.key, (line) => lineElement(line, press));
  if (first || atEnd) log.scrollTop = log.scrollHeight;
  if (first && searched) showFound(list, chat.lines);
  if (first && sought) showMessage(list, chat.lines);
  markSeen(chat);
}

let sought = 0; // the message that an address names
export const seek = (messageId) => { sought = messageId; shownChange = ""; };

function showMessage(list, lines) {
  const i = lines.findIndex((line) => line.messageId === sought);
  sought = 0;
  if (i < 0) return;
  list.children[i].classList.add("found");
  list.children[i].scrollIntoView({ block: "center" });
}

function showFound(list, lines) {
  lines.forEach((line, i) => {
    if (!line.text.toLowerCase().includes(searched)) return;
    list.children[i].classList.add("found");
    list.children[i].scrollIntoView({ block: "center" });
  });
}

function showHead(chat) {
  byId("who").replaceChildren(avatar(chat), byId("name"), byId("state"));
  byId("name").textContent = chat.name;
  const state = chat.migratedTo ? `became ${chat.migratedTo}` : words[chat.state];
  byId("state").textContent = `${chat.type} ${chat.chatId} · ${state}`;
  byId("state").classList.toggle("alarm", chat.state !== "open");
  const over = chat.state === "deactivated" || chat.state === "migrated";
  const away = ["unknown", "blocked"].includes(chat.state);
  byId("write").hidden = over || away && chat.type === "private";
  byId("start").hidden = over || chat.type !== "private";
  byId("press-start").textContent = chat.state === "blocked" ? "Restart" : "Start";
  byId("press-start").classList.toggle("main", away);
  const acts = over ? [] : actsOf(chat);
  arrange(byId("acts"), acts, ([name]) => name, ([name, text]) => button(text, () => doAct(name), { title: hints[name] }));
}

const words = {
  open: "open", unknown: "has not pressed Start", blocked: "has blocked the bot", deactivated: "deleted",
  kicked: "the bot was removed", restricted: "the bot may not write",
};

const hints = {
  block: "The bot gets my_chat_member, and 403 when it writes",
  unblock: "The bot gets my_chat_member and may write again",
  restrict: "The bot may not write: 400 not enough rights",
  kick: "The bot is removed: 403",
  deactivate: "For good: 403, and the bot is not told",
  migrate: "The group becomes a supergroup: 400 with migrate_to_chat_id",
};

function actsOf(chat) {
  if (chat.type === "private") {
    const block = chat.state === "blocked" ? ["unblock", "Unblock"] : ["block", "Block"];
    return [...(chat.state === "unknown" ? [] : [block]), ["deactivate", "Delete account"]];
  }
  const back = { kicked: [["unblock", "Take back"]], restricted: [["unblock", "Allow to write"], ["kick", "Remove bot"]] };
  const acts = back[chat.state] ?? [["restrict", "Restrict"], ["kick", "Remove bot"]];
  return chat.type === "group" ? [...acts, ["migrate", "To supergroup"], ["deactivate", "Delete group"]] : acts;
}

// doAct lets the customer do something in the open chat, and says why it could
// not be done.
export async function doAct(name, body) {
  const problem = byId("problem");
  problem.hidden = true;
  if (name === "migrate") body = { to: Number(`-100${String(-current).padStart(10, "0")}`) };
  try {
    await act(current, name, body);
    return true;
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
    return false;
  }
}

const press = (messageId, data, act = "press") => doAct(act, act === "pay" ? { messageId } : { messageId, data });

// payloadOf takes the payload out of a deep link, or a payload as it is.
export function payloadOf(text) {
  return /[?&]start=([\w-]*)/.exec(text)?.[1] ?? text.trim();
}
