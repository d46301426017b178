// Formatted texts as Telegram shows them.

import { make } from "./dom.js";

const wrappers = {
  bold: () => make("b"),
  italic: () => make("i"),
  underline: () => make("u"),
  strikethrough: () => make("s"),
  spoiler: () => toggle("spoiler", "Spoiler: press to show it"),
  code: () => make("code"),
  pre: (entity) => make("pre", { title: entity.language ?? "" }),
  blockquote: () => make("blockquote"),
  expandable_blockquote: () => toggle("blockquote folded", "Quotation: press to unfold it"),
  text_link: (entity) => link(entity.url),
  text_mention: () => make("span", { className: "mention" }),
  bot_command: () => make("span", { className: "mention" }),
  mention: () => make("span", { className: "mention" }),
  hashtag: () => make("span", { className: "mention" }),
  cashtag: () => make("span", { className: "mention" }),
  phone_number: () => make("span", { className: "mention" }),
  email: () => make("span", { className: "mention" }),
  url: (entity, text) => link(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`),
};

// blocks stand on lines of their own, so the line break after them is not shown.
const blocks = ["pre", "blockquote", "expandable_blockquote"];

// toggle is something that a press or Enter shows in full.
function toggle(className, title) {
  const element = make("span", { className, title, tabIndex: 0, role: "button" });
  const open = () => element.classList.toggle("shown");
  element.addEventListener("click", open);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); }
  });
  return element;
}

// link leads only to addresses that a customer could follow, never to a script.
export function link(url) {
  const safe = /^(https?|tg|ton|tonsite):/i.test(url);
  const element = make("a", { title: url, target: "_blank", rel: "noopener noreferrer" });
  if (safe) element.href = url;
  return element;
}

// formatted nests the entities that lie in a part of the text, outermost first.
// Their offsets count UTF-16 units, as JavaScript does.
export function formatted(text, entities = [], begin = 0, end = text.length) {
  const nodes = [];
  let at = begin;
  entities.forEach((entity, i) => {
    const last = Math.min(entity.offset + entity.length, end);
    if (entity.offset < at || entity.offset >= end) return;
    nodes.push(text.slice(at, entity.offset));
    const inner = formatted(text, entities.slice(i + 1), entity.offset, last);
    const wrapped = wrappers[entity.type]?.(entity, text.slice(entity.offset, last));
    wrapped?.append(...inner);
    nodes.push(...(wrapped ? [wrapped] : inner));
    at = last;
    if (blocks.includes(entity.type) && text[at] === "\n" && at < end) at++;
  });
  nodes.push(text.slice(at, end));
  return nodes;
}
