// @ts-check
// The page that is shown, and the keys and help that all pages share.

import { get } from "./api.js";
import { h, memory, put, showDialog } from "./dom.js";
import { GamesPage } from "./games.js";
import { PlayPage } from "./play.js";
import { PuzzlePage } from "./puzzle.js";
import { TrainingPage } from "./training.js";

const PAGES = {
  play: ["Plysmith", (root, lists) => new PlayPage(root, lists)],
  games: ["Games · Plysmith", (root, lists) => new GamesPage(root, lists)],
  puzzle: ["Puzzles · Plysmith", (root, lists) => new PuzzlePage(root, lists)],
  training: ["Training · Plysmith", (root, lists) => new TrainingPage(root, lists)],
};

/** Add pages of other packages: modules whose default is a class as those above. */
function addPages(names) {
  for (const name of names) {
    if (Object.hasOwn(PAGES, name)) continue;
    const title = name[0].toUpperCase() + name.slice(1);
    PAGES[name] = [`${title} · Plysmith`, async (root, lists) => {
      const { default: Page } = await import(`/static/page-${encodeURIComponent(name)}.js`);
      return new Page(root, lists);
    }];
    document.querySelector("nav").append(
      h("a", { href: `#/${encodeURIComponent(name)}`, "data-page": name }, title));
  }
}

memory.forget("game."); // games of older versions, which the server keeps as well
const main = document.getElementById("main");
let page = null;
let catalogue = null;

async function show() {
  const [, name = "", ...where] = location.hash.split("/").map(decodeURIComponent);
  const asked = () => (Object.hasOwn(PAGES, name) ? name : "play");
  if (page?.kind === asked() && page.go(...where)) return;
  page?.leave();
  page = null;
  try {
    catalogue = await get("/api/catalogue"); // runs may have added evaluators
  } catch (error) {
    put(main, 
      h("p", { class: "lonely" }, `This page needs its server: ${error.message}. `,
        h("button", { type: "button", onclick: () => location.reload() }, "Try again")),
    );
    return;
  }
  addPages(catalogue.pages);
  const wanted = asked();
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-page]"))) {
    if (link.dataset.page === wanted) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const [title, make] = PAGES[wanted];
  page = await make(main, catalogue);
  document.title = title;
  page.go(...where);
}

const KEYS = [
  ["Arrows", "Move the cursor over the board"],
  ["Enter, Space", "Choose a piece, then its goal"],
  ["Escape", "Put the piece back"],
  ["M", "Type a move, such as 11-15 or 8/5 6/5"],
  ["R", "Roll the dice"],
  ["D", "Play the move when all dice are used"],
  ["C", "Double"],
  ["Backspace", "Take back a step of the move"],
  ["U", "Take back a move"],
  ["F", "Turn the board round"],
  ["N", "New game"],
  ["[ and ]", "Step back and forward through the game"],
  ["H", "Show the best move"],
  ["E", "Go to the next mistake"],
  ["S", "Solve a puzzle, or stop solving it"],
  ["P", "Pause evaluators among themselves, or let them go on"],
  ["S", "Let evaluators that pause make one move"],
];

function help() {
  const dialog = h(
    "dialog",
    { "aria-labelledby": "keys-title" },
    h(
      "div",
      { class: "sheet" },
      h("h2", { id: "keys-title" }, "Keys"),
      h("dl", { class: "keys" },
        KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
      h("footer", {},
        h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close")),
    ),
  );
  showDialog(dialog, dialog.querySelector("button"));
}

document.querySelector("[data-help]").addEventListener("click", help);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest("input, textarea, select, dialog[open]")) return;
  if (event.key === "?") help();
  else page?.key?.(event);
});
window.addEventListener("hashchange", show);
show();
