// The page follows the sandbox: it asks for the overview again and again, and
// the server answers when something has changed.

import { ask } from "./api.js";
import { byId, copy } from "./dom.js";
import { enterWorld, moveFocus, showChats } from "./chats.js";
import { currentChat, doAct, openChat, payloadOf, seek, showChat } from "./chat.js";
import { buildPanel, showPanel } from "./panel.js";
import { showStrip } from "./strip.js";
import { hideCalls, listCalls, refreshCalls } from "./calls.js";
import { showCalls } from "./call.js";
import { openCustomer } from "./customer.js";

let version = "";
let search = "";
let latest = null; // the overview shown last
let waiting = new AbortController();

async function follow() {
  for (;;) {
    try {
      waiting = new AbortController();
      const query = new URLSearchParams({ wait: version ? "25s" : "0s", after: version, q: search });
      const overview = await ask(`/sandbox/overview?${query}`, { signal: waiting.signal });
      version = overview.version;
      await show(overview);
      byId("offline").hidden = true;
    } catch (error) {
      if (error.name === "AbortError") continue; // something else is wanted now
      byId("offline").hidden = false;
      version = "";
      await pause(2000);
    }
    await pause(150); // a burst of messages is shown a few times a second, not once for each
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// refresh ends the wait of follow, which then asks at once.
function refresh() {
  version = "";
  waiting.abort();
}

async function show(overview) {
  if (enterWorld(overview.world) && latest) { // the chats of before are gone
    goTo("");
    openChat(0);
  }
  latest = overview;
  const s = overview.stats;
  byId("stats").textContent = `${s.calls} calls · ${s.delivered} delivered · ${s.tooManyRequests} × 429 · ` +
    `${s.violations} violations · at most ${s.maxPerSecond}/s`;
  showStrip(overview);
  showForgotten(overview.forgotten);
  showPanel(overview);
  const listed = overview.chats.find((chat) => chat.chatId === currentChat());
  await refreshCalls();
  await showChat(listed, overview.world, overview.bots > 1);
  showChats(overview.chats, currentChat(), search);
  byId("welcome").hidden = currentChat() !== 0 || !byId("calls").hidden;
  byId("welcome-title").textContent = overview.chats.length > 0 || search ? "No chat is open" : "No chats yet";
}

// showForgotten says what was given up for want of room.
function showForgotten(counts) {
  const parts = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  byId("forgotten").hidden = parts.length === 0;
  byId("forgotten").textContent = `The oldest were forgotten, for want of room: ${parts.join(", ")}.`;
}

// Addresses: each chat, message and call has one.

function goTo(address) {
  if (location.hash !== address) history.pushState(null, "", address || "#/");
}

function followAddress() {
  const [place, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [kind, id, , messageId] = place.split("/");
  hideCalls();
  if (kind === "chat" && Number(id)) {
    if (messageId) seek(Number(messageId));
    open(Number(id), Number(messageId));
  } else {
    open(0);
    if (kind === "calls") listCalls(new URLSearchParams(query));
    if (kind === "call" && Number(id)) showCalls([Number(id)]);
  }
  byId("welcome").hidden = currentChat() !== 0 || !byId("calls").hidden;
}

addEventListener("popstate", followAddress);

function open(chatId, messageId) {
  if (chatId !== 0) {
    hideCalls();
    goTo(`#/chat/${chatId}${messageId ? `/message/${messageId}` : ""}`);
  }
  openChat(chatId, search);
  byId("welcome").hidden = chatId !== 0;
  if (latest) showChats(latest.chats, chatId, search);
  refresh();
}

// What the person does

byId("chats").addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-chat]");
  if (chosen) open(Number(chosen.dataset.chat));
});

byId("open").addEventListener("submit", (event) => {
  event.preventDefault();
  open(Number(byId("open-id").value));
  byId("open-id").value = "";
  byId("payload").focus();
});

byId("back").addEventListener("click", () => close());

function close() {
  const was = currentChat();
  goTo("");
  open(0);
  byId("chats").querySelector(`[data-chat="${was}"]`)?.focus();
}

byId("write").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await doAct("message", { text: byId("text").value })) byId("text").value = "";
});

byId("start").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await doAct("start", { payload: payloadOf(byId("payload").value) })) byId("payload").value = "";
});

byId("first-start").addEventListener("click", () => {
  open(7900000001);
  doAct("start", {});
});

byId("more").addEventListener("click", () => openCustomer(currentChat(), doAct));

byId("search").addEventListener("input", (event) => {
  search = event.target.value.trim();
  refresh();
});

// Where there is room, the panel stands beside the chat instead of before it.
const wide = matchMedia("(min-width: 70rem)");

function togglePanel(shown) {
  byId("panel").hidden = !shown;
  byId("panel-toggle").setAttribute("aria-expanded", String(shown));
}

byId("panel-toggle").addEventListener("click", () => togglePanel(byId("panel").hidden));
document.addEventListener("visibilitychange", () => !document.hidden && refresh());

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const inList = event.target.closest?.("#side");
  if (byId("call").open || byId("customer").open) return;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    byId("search").focus();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (inList || event.target === document.body)) {
    event.preventDefault();
    moveFocus(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape" && !byId("panel").hidden && !wide.matches) {
    togglePanel(false);
  } else if (event.key === "Escape" && event.target.id !== "search" && currentChat() !== 0) {
    close();
  }
});

// The start

const example = `curl '${location.origin}/bot123456:sandbox/sendMessage' \\\n  -d chat_id=7900000001 -d text='Hello from my bot'`;
byId("try").textContent = example;
byId("copy-try").addEventListener("click", (event) => copy(example, event.target, byId("try")));
for (const place of document.querySelectorAll(".origin")) place.textContent = location.origin;
buildPanel();
togglePanel(wide.matches);
followAddress();
follow();
