// What the customer is and can send besides a text.

import { arrange, button, byId, make } from "./dom.js";

// showKeyboard shows the keyboard that the bot has put in the place of the
// customer's own. A press sends the text, or what the button asks for.
export function showKeyboard(chat, doAct) {
  const place = byId("own-keyboard");
  const rows = chat.keyboard?.keyboard ?? [];
  place.hidden = rows.length === 0 || byId("write").hidden;
  arrange(place, rows, (row) => JSON.stringify(row), (row) => make("div", {}, ...row.map((one) => button(one.text, () => send(one, doAct)))));
  byId("text").placeholder = chat.keyboard?.input_field_placeholder || "Write as the customer";
}

function send(one, doAct) {
  if (one.request_contact || one.request_phone_number) return doAct("contact", { phoneNumber: "+10000000000" });
  if (one.request_location) return doAct("location", { latitude: 52.52, longitude: 13.405 });
  return doAct("message", { text: one.text });
}

// openCustomer shows who the customer is and what they can send.
export async function openCustomer(chatId, doAct) {
  const dialog = byId("customer");
  const answer = await fetch(`/sandbox/chats/${chatId}`);
  const { profile } = await answer.json();
  const done = async (name, body) => { if (await doAct(name, body)) dialog.close(); };
  dialog.replaceChildren(
    button("Close", () => dialog.close(), { className: "close" }),
    make("h2", {}, "Who the customer is"),
    form("Save", { firstName: "First name", lastName: "Last name", username: "Username", language: "Language" }, profile, (values) => done("profile", values)),
    make("h2", {}, "Send a contact"),
    form("Send", { phoneNumber: "Phone number" }, { phoneNumber: "+10000000000" }, (values) => done("contact", values)),
    make("h2", {}, "Send a place"),
    form("Send", { latitude: "Latitude", longitude: "Longitude" }, { latitude: "52.52", longitude: "13.405" },
      (values) => done("location", { latitude: Number(values.latitude), longitude: Number(values.longitude) })),
    make("h2", {}, "Send a picture"), picture(done));
  dialog.showModal();
}

function form(text, fields, values, submit) {
  const inputs = {};
  const element = make("form");
  for (const [name, label] of Object.entries(fields)) {
    inputs[name] = make("input", { id: `customer-${name}`, value: values?.[name] ?? "", autocomplete: "off" });
    element.append(make("label", { htmlFor: `customer-${name}` }, label), inputs[name]);
  }
  element.append(make("button", {}, text));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()])));
  });
  return element;
}

function picture(done) {
  const file = make("input", { type: "file", accept: "image/*", id: "customer-file", required: true });
  const caption = make("input", { id: "customer-caption", autocomplete: "off" });
  const element = make("form", {}, make("label", { htmlFor: "customer-file" }, "Picture"), file,
    make("label", { htmlFor: "customer-caption" }, "Caption"), caption, make("button", {}, "Send"));
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    const bytes = new Uint8Array(await file.files[0].arrayBuffer());
    const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    done("photo", { data, caption: caption.value });
  });
  return element;
}
