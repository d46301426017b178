// The strip: calls per second in the last minute against the limit, and each
// 429.

import { byId } from "./dom.js";

const width = 240, height = 40, seconds = 60;
let latest = null; // the overview shown last
let ahead = 0; // by how many milliseconds the sandbox's clock is ahead of ours

export function showStrip(overview) {
  latest = overview;
  ahead = Date.parse(overview.now) - Date.now();
  draw();
}

setInterval(() => latest && draw(), 1000);

function draw() {
  const now = Math.floor((Date.now() + ahead) / 1000);
  const traffic = latest.traffic.filter((second) => second.at > now - seconds);
  const limit = latest.limits.botPerSecond;
  const top = 1.15 * Math.max(limit, 5, ...traffic.map((second) => Math.max(second.calls, second.delivered)));
  const shapes = [];
  for (const second of traffic) {
    const x = width - (now - second.at + 1) * (width / seconds);
    const quiet = Math.max(0, second.calls - second.delivered - second.tooManyRequests);
    let base = 0;
    for (const [kind, count] of [["delivered", second.delivered], ["refused", second.tooManyRequests], ["other", quiet]]) {
      if (count === 0) continue;
      const tall = Math.max(count / top * height, kind === "refused" ? 4 : 1.5);
      shapes.push(shape("rect", { class: kind, x: x + .4, width: width / seconds - .8, y: height - base - tall, height: tall },
        `${second.calls} calls, ${second.delivered} delivered, ${second.tooManyRequests} answered 429`));
      base += tall;
    }
  }
  if (limit > 0) {
    const y = height - limit / top * height;
    shapes.push(shape("line", { x1: 0, x2: width, y1: y, y2: y }, `the limit: ${limit} messages a second for one bot`));
  }
  byId("strip").replaceChildren(...shapes);
  describe(traffic, limit, now);
}

function shape(name, attributes, title) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  const label = document.createElementNS("http://www.w3.org/2000/svg", "title");
  label.textContent = title;
  element.append(label);
  return element;
}

function describe(traffic, limit, now) {
  const last = traffic.find((second) => second.at === now - 1) ?? { calls: 0, delivered: 0 };
  const refused = traffic.reduce((sum, second) => sum + second.tooManyRequests, 0);
  const parts = [`${last.calls} calls/s, ${last.delivered} delivered`, limit > 0 ? `limit ${limit}/s` : "no limit"];
  if (refused > 0) parts.push(`${refused} × 429 in a minute`);
  byId("rate").textContent = parts.join(" · ");
  byId("rate").classList.toggle("alarm", refused > 0);
}
