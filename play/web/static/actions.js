// @ts-check
// The buttons under the board: what a person can do next, answers to offers, hints and the other tools.

import { ask, choose, h, icon, memory, put, sentence } from "./dom.js";

/** The buttons for what comes next. They stand below the board, so that they cover no piece. */
export function drawActions(page) {
  const { view } = page;
  const buttons = [];
  if (view.stakes?.crawford && view.outcome === null) {
    buttons.push(h("span", { class: "muted small" }, "Crawford game"));
  }
  if (page.viewing) {
    buttons.push(
      h("button", { type: "button", onclick: () => page.back() }, "Back to the game"),
    );
  } else if (page.answering) {
    buttons.push(...answers(page));
  } else if (view.waiting === "roll" && page.mine) {
    buttons.push(
      h("button", { type: "button", class: "primary", "data-roll": true, onclick: () => page.roll() },
        icon("dice"), "Roll"),
    );
    if (view.stakes?.may_double) {
      buttons.push(h("button", { type: "button", "data-cube": "double", onclick: () => page.double() },
        `Double to ${2 * view.stakes.value}`));
    }
  } else if (view.waiting === "human") {
    // On a grid a second click on the first square does the same, and a button would hide squares.
    if (view.taken.length > Number(view.kind === "grid")) {
      buttons.push(
        h("button", { type: "button", "data-back": true, onclick: () => page.act("back") },
          icon("undo"), "Step back"),
      );
    }
    if (view.ready) {
      const nothing = view.taken.length === 0;
      buttons.push(
        h("button", { type: "button", class: "primary", "data-done": true,
          onclick: () => page.act("confirm") },
        icon("done"), nothing ? "No move: pass" : "Done"),
      );
    }
  } else if (view.outcome === null && page.watched) {
    const { paused } = view;
    buttons.push(h("button", { type: "button", "data-pause": true, onclick: () => page.pause() },
      icon(paused ? "next" : "pause"), paused ? "Go on" : "Pause"));
    if (paused) {
      buttons.push(h("button", { type: "button", "data-advance": true, onclick: () => page.advance() },
        icon("last"), "One move"));
    }
  } else if (view.outcome !== null) {
    buttons.push(h("p", { class: "result" }, view.result));
    if (view.stakes?.match_goes_on) {
      buttons.push(h("button", { type: "button", class: "primary", "data-cube": "next",
        onclick: () => page.act("cube", { kind: "next" }) }, "Next game"));
    } else {
      buttons.push(
        h("button", { type: "button", class: "primary", onclick: () => page.again() }, "New game"),
      );
    }
  }
  if (page.advice && !page.viewing) buttons.push(page.advice);
  const focused = [...page.actions.children].indexOf(document.activeElement);
  put(page.actions, ...buttons);
  const left = page.actions.querySelectorAll("button");
  if (focused >= 0) (left[Math.min(focused, left.length - 1)] || page.board.svg.querySelector("[tabindex='0'], button"))?.focus();
}

/** What was offered to a person, and buttons for the answers. */
function answers(page) {
  const { stakes, sides } = page.view;
  const { answering, resigning, value } = stakes;
  const other = sides[1 - answering];
  const text = resigning ? `${other} resigns ${resigning}.` : `${other} doubles to ${2 * value}.`;
  const kinds = resigning ? [["accept", "Accept"], ["decline", "Decline"]]
    : [["take", "Take"], ["drop", "Drop"], ...(stakes.may_beaver ? [["beaver", "Beaver"]] : [])];
  return [
    h("p", { class: "offer" }, text),
    kinds.map(([kind, words], n) =>
      h("button", { type: "button", class: n ? "" : "primary", "data-cube": kind,
        onclick: () => page.act("cube", { kind }) }, words)),
  ].flat();
}

/** Draw the tools, which are there at all times. */
export function drawTools(page) {
  const submit = async (event) => {
    event.preventDefault();
    const text = page.entry.value.trim();
    if (text && (await page.act("move", { text }))) page.entry.value = "";
  };
  const button = (what, title, act, when) =>
    h("button", { type: "button", title, "data-when": when, "data-tool": what, onclick: act },
      icon(what), h("span", {}, title));
  put(page.tools,
    button("plus", "New", () => page.again()),
    button("undo", "Undo", () => page.undo(), "undo"),
    button("flip", "Flip", () => page.flip()),
    button("bulb", "Hint", () => hint(page)),
    button("flag", "Resign", () => resign(page), "resign"),
    h("form", { class: "entry", onsubmit: submit }, page.entry),
    page.game.dice &&
      h("label", { class: "check" },
        h("input", { type: "checkbox", checked: memory.get("autoroll", false),
          onchange: (e) => {
            memory.set("autoroll", e.target.checked);
            page.roll();
          } }),
        "Roll for me"),
  );
}

/** Show the best move, or what is right about the cube, and why. */
export async function hint(page) {
  const { stakes } = page.view;
  const cube = page.answering || (stakes?.may_double && page.mine);
  if (!cube || page.viewing) {
    page.panel("analysis").hint();
    return;
  }
  const found = await page.act("cube-hint", { evaluator: page.panel("analysis").evaluator });
  if (!found) return;
  page.advice = h("p", { class: "advice", role: "status" },
    h("strong", {}, sentence(found.text)), ` ${sentence(found.reason)} `,
    h("span", { class: "muted number" }, found.figures && sentence(found.figures)));
  drawActions(page);
}

/** Ask whether to resign, and what. */
export async function resign(page) {
  const { ply, side, sides, stakes } = page.view;
  if (stakes) {
    const kinds = ["A single game", "A gammon", "A backgammon"];
    const kind = await choose(`Resign as ${sides[side]}?`,
      `${sides[1 - side]} may decline. What do you resign?`, kinds);
    if (kind !== null) page.act("resign", { kind: kind + 1 });
    return;
  }
  const text = sides.length > 2 ? `The game ends, with ${sides[side]} last.` : `${sides[1 - side]} wins this game.`;
  if (!ply || (await ask(`Resign as ${sides[side]}?`, text, "Resign"))) page.act("resign");
}
