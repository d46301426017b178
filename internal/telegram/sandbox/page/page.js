"use strict";

// The page asks for the list of chats again and again; the server answers when
// something has changed. Texts come from bots and customers, so they are only
// ever put in as text nodes.

const byId = (id) => document.getElementById(id);
let current = 0; // the chat shown, 0 for none
let version = "";

async function ask(path, options) {
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

async function act(name, body) {
  const problem = byId("problem");
  problem.hidden = true;
  try {
    await ask(`/sandbox/chats/${current}/${name}`, { method: "POST", body: JSON.stringify(body ?? {}) });
    return true;
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
    return false;
  }
}

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Entities

const wrappers = {
  bold: () => make("b"),
  italic: () => make("i"),
  underline: () => make("u"),
  strikethrough: () => make("s"),
  spoiler: () => make("span", { className: "spoiler", title: "Spoiler" }),
  code: () => make("code"),
  pre: () => make("code"),
  blockquote: () => make("blockquote"),
  expandable_blockquote: () => make("blockquote"),
  text_link: (entity) => link(entity.url),
};

function link(url) {
  const safe = /^(https?|tg|ton|tonsite):/i.test(url);
  return make("a", { href: safe ? url : "#", title: url, target: "_blank", rel: "noopener noreferrer" });
}

// formatted nests the entities that lie in a part of the text, outermost first.
// Their offsets count UTF-16 units, as JavaScript does.
function formatted(text, entities, begin, end) {
  const nodes = [];
  let at = begin;
  for (let i = 0; i < entities.length; i++) {
    const entity = entities[i];
    const last = Math.min(entity.offset + entity.length, end);
    if (entity.offset < at || entity.offset >= end) continue;
    nodes.push(text.slice(at, entity.offset));
    const inner = formatted(text, entities.slice(i + 1), entity.offset, last);
    const wrap = wrappers[entity.type];
    nodes.push(...(wrap ? [fill(wrap(entity), inner)] : inner));
    at = last;
  }
  nodes.push(text.slice(at, end));
  return nodes;
}

function fill(element, children) {
  element.append(...children);
  return element;
}

// Lines

function clock(instant) {
  return new Date(instant).toLocaleTimeString();
}

function buttons(line) {
  const rows = line.replyMarkup?.inline_keyboard ?? [];
  return rows.map((row) => make("div", {}, ...row.map((button) => {
    if (button.url) return fill(link(button.url), [button.text]);
    const element = make("button", { type: "button", textContent: button.text });
    if (button.callback_data === undefined) element.disabled = true;
    element.addEventListener("click", () => act("press", { messageId: line.messageId, data: button.callback_data }));
    return element;
  })));
}

function lineElement(line) {
  if (line.author === "notice") return make("li", { className: "notice" }, `${clock(line.at)} ${line.text}`);
  const bubble = make("div", { className: "bubble" });
  if (line.kind && line.kind !== "text") {
    bubble.append(make("span", { className: "file" }, `${line.kind}: ${line.fileName || "no name"}`));
  }
  bubble.append(...formatted(line.text, line.entities ?? [], 0, line.text.length));
  bubble.append(make("time", { dateTime: line.at }, (line.editedAt ? "edited " : "") + clock(line.editedAt ?? line.at)));
  const item = make("li", { className: line.author }, bubble);
  const rows = buttons(line);
  if (rows.length > 0) item.append(make("div", { className: "buttons" }, ...rows));
  return item;
}

// Chats

function chatItem(chat) {
  const button = make("button", { type: "button" }, `${chat.name} (${chat.chatId}) `);
  if (chat.state !== "open") button.append(make("em", {}, chat.state));
  if (chat.last) button.append(make("small", {}, chat.last.text || chat.last.kind || ""));
  button.setAttribute("aria-current", String(chat.chatId === current));
  button.addEventListener("click", () => open(chat.chatId));
  return make("li", {}, button);
}

async function showCurrent() {
  byId("chat").hidden = current === 0;
  byId("none").hidden = current !== 0;
  if (current === 0) return;
  const wanted = current;
  const chat = await ask(`/sandbox/chats/${wanted}`);
  if (wanted !== current) return; // another chat was opened meanwhile
  byId("name").textContent = `${chat.name} (${chat.chatId})`;
  byId("state").textContent = chat.migratedTo ? `${chat.state} to ${chat.migratedTo}` : `${chat.type}, ${chat.state}`;
  const list = byId("lines");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.replaceChildren(...chat.lines.map(lineElement));
  if (atEnd) list.scrollTop = list.scrollHeight;
}

async function open(chatId) {
  current = chatId;
  byId("problem").hidden = true;
  byId("lines").replaceChildren();
  await refresh(0);
}

async function showStats() {
  const s = await ask("/sandbox/stats");
  byId("stats").textContent = `${s.calls} calls, ${s.delivered} delivered, ${s.tooManyRequests} answered 429, ` +
    `${s.violations} violations, at most ${s.maxPerSecond} in a second`;
}

// refresh shows what has changed, waiting for it so many seconds.
async function refresh(seconds) {
  const query = seconds > 0 ? `?wait=${seconds}s&after=${encodeURIComponent(version)}` : "";
  const answer = await ask(`/sandbox/chats${query}`);
  version = answer.version;
  byId("chats").replaceChildren(...answer.chats.map(chatItem));
  await Promise.all([showCurrent(), showStats()]);
}

async function follow() {
  for (;;) {
    try {
      await refresh(25);
    } catch {
      byId("stats").textContent = "The sandbox does not answer.";
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
    // A burst of messages is shown a few times a second, not once for each.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

byId("open").addEventListener("submit", (event) => {
  event.preventDefault();
  open(Number(byId("open-id").value));
});

byId("write").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await act("message", { text: byId("text").value })) byId("text").value = "";
});

byId("start").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await act("start", { payload: byId("payload").value.trim() })) byId("payload").value = "";
});

for (const button of byId("acts").querySelectorAll("button")) {
  button.addEventListener("click", () => act(button.dataset.act));
}

follow();
