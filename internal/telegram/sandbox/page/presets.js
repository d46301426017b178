// Faults that one press puts in force, and what a fault is in words.

export const down = {
  respond: { status: 502, body: "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx/1.18.0</center></body></html>" },
};

export const presets = [
  { text: "429 for 10 s", hint: "Every sendMessage of the next 10 s is told to wait 10 s", fault: { method: "sendMessage", duration: "10s", respond: { retryAfter: 10 } } },
  { text: "Lose the next answer", hint: "The next sendMessage is delivered, but the bot does not hear of it", fault: { method: "sendMessage", times: 1, respond: { drop: "after" } } },
  { text: "Lose the next call", hint: "The connection of the next sendMessage is lost before anything is done", fault: { method: "sendMessage", times: 1, respond: { drop: "before" } } },
  { text: "Telegram down", hint: "Every call gets a proxy's 502 page, until you end it", fault: down },
  { text: "Hang the next call", hint: "The next sendMessage gets no answer at all", fault: { method: "sendMessage", times: 1, respond: { hang: true } } },
  { text: "Answers take 3 s", hint: "Every sendMessage waits 3 s, until you end it", fault: { method: "sendMessage", respond: { delay: "3s" } } },
  { text: "Fail every fifth", hint: "One sendMessage in five, by chance, is answered 500, until you end it", fault: { method: "sendMessage", probability: 0.2, respond: { status: 500 } } },
  { text: "Token rejected", hint: "Every call is answered 401, until you end it", fault: { respond: { status: 401 } } },
];

export function describe(fault) {
  const where = [fault.method ?? "every call", fault.chatId ? `in chat ${fault.chatId}` : ""].filter(Boolean).join(" ");
  const often = [
    fault.probability && fault.probability < 1 ? `${Math.round(fault.probability * 100)} % of calls` : "",
    fault.times ? `${fault.times - fault.struck} more` : "",
    fault.duration ? `until ${new Date(Date.parse(fault.addedAt) + milliseconds(fault.duration)).toLocaleTimeString([], { hour12: false })}` : "",
    `struck ${fault.struck}`,
  ].filter(Boolean).join(", ");
  return `${fault.faultId}. ${where}: ${happens(fault.respond)} (${often})`;
}

function happens(respond) {
  const delay = respond.delay && respond.delay !== "0s" ? `after ${respond.delay}, ` : "";
  if (respond.hang) return "no answer";
  if (respond.drop) return delay + (respond.drop === "after" ? "done, answer lost" : "connection lost");
  const status = respond.status ?? (respond.body !== undefined ? 200 : respond.retryAfter !== undefined ? 429 : respond.migrateToChatId ? 400 : 0);
  if (status === 0) return `${delay}the usual answer`;
  const more = [
    respond.retryAfter !== undefined ? `retry after ${respond.retryAfter}` : "",
    respond.migrateToChatId ? `migrate to ${respond.migrateToChatId}` : "",
    respond.description ?? "",
    respond.body !== undefined ? "with a body of its own" : "",
  ].filter(Boolean).join(", ");
  return `${delay}${status}${more ? ` ${more}` : ""}`;
}

// milliseconds reads a duration such as 1m30s.
function milliseconds(text) {
  const units = { h: 3600e3, m: 60e3, s: 1e3, ms: 1, µs: 1e-3, us: 1e-3, ns: 1e-6 };
  return [...text.matchAll(/([\d.]+)(h|ms|m|s|µs|us|ns)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * units[unit], 0);
}
