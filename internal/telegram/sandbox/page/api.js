// Requests to the sandbox that serves the page.

export async function ask(path, options) {
  const response = await fetch(path, options);
  if (response.status === 204) return null;
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export const send = (method, path, body) => ask(path, { method, body: JSON.stringify(body ?? {}) });

export const act = (chatId, name, body) => send("POST", `/sandbox/chats/${chatId}/${name}`, body);
