// Making and arranging elements. Texts come from bots and customers, so they are
// only ever put in as text nodes: nothing here reads HTML.

export const byId = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// button is a button with a text and what a press does.
export function button(text, press, properties = {}) {
  const element = make("button", { type: "button", ...properties }, text);
  element.addEventListener("click", press);
  return element;
}

const shown = new WeakMap(); // list -> what arrange has put into it, by key

// arrange makes the children of a list show the items: those that stay keep
// their element, so that focus, selection and scroll position stay, too.
// makeItem gives the element of an item; one whose item has changed is made
// anew.
export function arrange(list, items, keyOf, makeItem) {
  const old = shown.get(list) ?? new Map();
  const now = new Map();
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const focusKey = focused?.closest("[data-key]")?.dataset.key;
  items.forEach((item, i) => {
    const key = String(keyOf(item));
    const look = JSON.stringify(item);
    let entry = old.get(key);
    if (entry?.look !== look) {
      const element = makeItem(item);
      element.dataset.key = key;
      entry?.element.replaceWith(element);
      entry = { look, element };
    }
    now.set(key, entry);
    if (list.children[i] !== entry.element) list.insertBefore(entry.element, list.children[i] ?? null);
  });
  while (list.children.length > items.length) list.lastElementChild.remove();
  shown.set(list, now);
  if (focused && document.activeElement !== focused && focusKey !== undefined) {
    const element = now.get(focusKey)?.element;
    (element?.querySelector("button, a, [tabindex]") ?? element)?.focus({ preventScroll: true });
  }
}

export function clock(instant) {
  return new Date(instant).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

// copy puts a text on the clipboard and says so on the button. Where a browser
// has no clipboard to offer, the text is selected instead.
export async function copy(text, from, shownIn) {
  const before = from.textContent;
  try {
    await navigator.clipboard.writeText(text);
    from.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(shownIn);
    from.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => { from.textContent = before; }, 1500);
}
