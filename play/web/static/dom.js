// @ts-check
// Creating elements, and messages to people.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** An HTML element: h("p", {class: "muted"}, "text", another). Text is never read as HTML. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Replace the children of an element; null and false are skipped. */
export function put(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

const ICONS = {
  undo: "M9 7H15a5 5 0 0 1 0 10H8M9 7l3.5-3.5M9 7l3.5 3.5",
  flip: "M7 4v15m0 0-3-3m3 3 3-3M17 20V5m0 0-3 3m3-3 3 3",
  plus: "M12 5v14M5 12h14",
  first: "M18 6l-7 6 7 6M6 6v12",
  previous: "M15 6l-7 6 7 6",
  pause: "M9 5v14M15 5v14",
  next: "M9 6l7 6-7 6",
  last: "M6 6l7 6-7 6M18 6v12",
  bulb: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.6 10.8c.7.6 1.1 1.3 1.1 2.2h5c0-.9.4-1.6 1.1-2.2A6 6 0 0 0 12 3z",
  flag: "M6 21V4m0 1h11l-2 4 2 4H6",
  done: "M5 12.5l4.5 4.5L19 7",
  dice: "M5 5h14v14H5zM9 9h.01M15 15h.01M12 12h.01M15 9h.01M9 15h.01",
};

/** An icon for a button. */
export function icon(name) {
  return s(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    s("path", {
      d: ICONS[name],
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 2,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  );
}

/** The server compiles for the first time, and what was asked for waits for it. */
export function compileProgress({ text }) {
  return h("div", { class: "compiling" },
    h("p", { role: "status" }, `${text[0].toUpperCase()}${text.slice(1)}. The answer appears here by itself.`),
    h("progress", { "aria-label": "Compiling" }));
}

/** Announce a text to screen readers. */
export function announce(text) {
  const live = document.getElementById("live");
  live.textContent = "";
  requestAnimationFrame(() => {
    live.textContent = text;
  });
}

let fading = 0;

/** Show a message for some seconds, such as why a move is illegal. */
export function toast(text) {
  const element = document.getElementById("toast");
  element.textContent = text;
  element.classList.add("shown");
  clearTimeout(fading);
  fading = setTimeout(() => {
    element.classList.remove("shown");
    element.textContent = "";
  }, 5000);
}

/** A message of the server, "expected …, found …", as a sentence. */
export function sentence(text) {
  const plain = text.replace(/^expected /, "Expected ");
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? "" : ".");
}

/** Show a dialog from its title on: `first` has the focus, or the title if the dialog is scrolled. */
export function showDialog(dialog, first) {
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  const title = dialog.querySelector("h2");
  title.tabIndex = -1;
  dialog.showModal();
  (dialog.scrollHeight > dialog.clientHeight ? title : first).focus();
}

/** Ask a question with one action, such as removing. Returns a promise of whether it was agreed. */
export async function ask(title, text, action) {
  return (await choose(title, text, [action])) === 0;
}

/** Ask a question with actions, the first of which is usual. Returns a promise of its number, or null. */
export function choose(title, text, actions) {
  return new Promise((settle) => {
    const buttons = actions.map((action, n) =>
      h("button", {
        class: n ? "" : "primary", "data-agree": n ? null : true, onclick: () => settle(n),
      }, action));
    const dialog = h("dialog", { "aria-labelledby": "ask-title" },
      h("form", { method: "dialog", class: "sheet" },
        h("h2", { id: "ask-title" }, title),
        h("p", {}, text),
        h("footer", {},
          h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
          buttons)));
    dialog.addEventListener("close", () => settle(null)); // which changes nothing after an answer
    showDialog(dialog, buttons[0]);
  });
}

/** The values that the browser keeps between visits, if it allows that. */
export const memory = {
  get(key, otherwise) {
    try {
      const text = localStorage.getItem(`plysmith.${key}`);
      return text === null ? otherwise : JSON.parse(text);
    } catch {
      return otherwise;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`plysmith.${key}`, JSON.stringify(value));
    } catch {
      // private windows may refuse, and room is limited
    }
  },
  /** Remove the values whose keys begin with a prefix. */
  forget(prefix) {
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(`plysmith.${prefix}`));
      for (const key of keys) localStorage.removeItem(key);
    } catch {
      // then nothing was kept
    }
  },
};

/** A number with its sign, and as many digits as its unit needs. */
export function signed(value, unit = 1) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1e9) return value > 0 ? "won" : "lost";
  const digits = unit >= 100 ? 0 : unit >= 20 ? 1 : 2;
  const text = Math.abs(value).toFixed(digits);
  const sign = Number(text) === 0 ? "" : value > 0 ? "+" : "−";
  return sign + text;
}

/**
 * Where a bar ends, 50 if both sides are level: the expected result in per cent of the chances
 * [win, draw, loss] if these are known, else by the size of the value against the usual one, `unit`.
 */
export function expected({ value, chances }, unit) {
  if (chances) return 100 * (chances[0] + chances[1] / 2);
  return 50 + (50 * value) / (Math.abs(value) + (unit || 1));
}

/**
 * Chances of the outcomes of backgammon in per cent: of a win, at least a gammon, and a backgammon,
 * then the same of a loss. `outcomes` are those of the server: win, both kinds of won gammons, then
 * of lost ones.
 */
export function chances([win, gammon, backgammon, lostGammon, lostBackgammon]) {
  const text = (...shares) => shares.map((share) => (100 * share).toFixed(1)).join(" · ");
  return `${text(win, gammon, backgammon)} – ${text(1 - win, lostGammon, lostBackgammon)}`;
}

/** Large numbers short: 12.3k, 4.5M. */
export function short(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)}M`;
  if (number >= 1e4) return `${Math.round(number / 1e3)}k`;
  return number >= 1e3 ? `${(number / 1e3).toFixed(1)}k` : String(number);
}
