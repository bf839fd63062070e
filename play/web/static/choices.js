// Choosing evaluators, and the dialog for a new game.

import { h, memory, put } from "./dom.js";

const GROUPS = [
  ["hand-crafted", "Written by hand"],
  ["shipped", "Shipped"],
  ["run", "From your runs"],
];

/** Options for all evaluators of a game, in groups; `chosen` is selected. */
export function evaluatorOptions(catalogue, game, chosen) {
  return GROUPS.map(([source, title]) => {
    const entries = catalogue.evaluators.filter((e) => e.game === game && e.source === source);
    if (!entries.length) return null;
    // Those that stand in a game's own folder before those of the many runs.
    entries.sort((a, b) => depth(a) - depth(b));
    return h(
      "optgroup",
      { label: title },
      entries.map((entry) =>
        h("option", { value: entry.id, selected: entry.id === chosen }, title_of(entry, entries)),
      ),
    );
  });
}

function depth(entry) {
  return entry.where.startsWith(entry.game) ? 0 : entry.where ? entry.where.split("/").length : 0;
}

function title_of(entry, entries) {
  const alike = entries.filter((other) => other.name === entry.name).length > 1;
  return alike ? `${entry.name} (${entry.where})` : entry.name;
}

export function entryOf(catalogue, id) {
  return catalogue.evaluators.find((entry) => entry.id === id);
}

/** What a seat is called. */
export function seatName(catalogue, seat) {
  if (seat.kind === "human") return "You";
  if (seat.kind === "random") return "Random moves";
  return entryOf(catalogue, seat.evaluator)?.name || "Evaluator";
}

const TIMES = [
  [0.1, "0.1 s a move"],
  [0.5, "0.5 s a move"],
  [1, "1 s a move"],
  [3, "3 s a move"],
  [10, "10 s a move"],
  [30, "30 s a move"],
];

export function timeOptions(chosen) {
  return TIMES.map(([seconds, text]) =>
    h("option", { value: seconds, selected: seconds === chosen }, text),
  );
}

export function depthOptions(game, chosen) {
  const depths = game === "backgammon" ? [0, 1, 2, 3] : [1, 2, 3, 5, 7, 9, 12];
  return [
    h("option", { value: "", selected: chosen === null }, "as deep as time allows"),
    depths.map((depth) =>
      h(
        "option",
        { value: depth, selected: depth === chosen },
        game === "backgammon" ? `depth ${depth} (plies as in GNU Backgammon)` : `depth ${depth}`,
      ),
    ),
  ];
}

const SIDES = {
  checkers: ["Black", "White"],
  backgammon: ["X, ivory", "O, black"],
};
const TITLES = { checkers: "Checkers", backgammon: "Backgammon" };

/** Ask for a game and its players; `done({game, seats})` where the answer is yes. */
export function newGame(catalogue, { game, seats }, done) {
  const chosen = { game, seats: seats || usual(catalogue, game) };
  const body = h("div", { class: "sheet" });
  const dialog = h("dialog", { "aria-labelledby": "new-title", id: "new-game" }, body);

  function draw() {
    const form = h(
      "form",
      { method: "dialog", class: "sheet-form", onsubmit: submit },
      h("h2", { id: "new-title" }, "New game"),
      h(
        "div",
        { class: "choice games", role: "radiogroup", "aria-label": "Game" },
        catalogue.games.map((name) =>
          h(
            "button",
            {
              type: "button",
              role: "radio",
              "aria-checked": String(name === chosen.game),
              onclick: () => {
                chosen.game = name;
                chosen.seats = usual(catalogue, name);
                draw();
                body.querySelector("[aria-checked='true']").focus();
              },
            },
            TITLES[name],
          ),
        ),
      ),
      h("div", { class: "seats" }, [0, 1].map(seat)),
      h(
        "footer",
        {},
        h("button", { type: "button", class: "quiet", onclick: swap }, "Swap sides"),
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
        h("button", { class: "primary", "data-start": true }, "Start"),
      ),
    );
    put(body, form);
  }

  function seat(side) {
    const now = chosen.seats[side];
    const value = now.kind === "evaluator" ? now.evaluator : now.kind;
    const limits = now.kind === "evaluator" && [
      h("label", { class: "field" }, "Thinks for",
        h("select", { onchange: (e) => { now.seconds = Number(e.target.value); } },
          timeOptions(now.seconds))),
      h("label", { class: "field" }, "Looks ahead",
        h("select", {
          onchange: (e) => {
            now.depth = e.target.value === "" ? null : Number(e.target.value);
          },
        }, depthOptions(chosen.game, now.depth))),
    ];
    return h(
      "fieldset",
      { class: "seat-choice" },
      h("legend", {}, h("span", { class: `chip side-${side} ${chosen.game}` }), SIDES[chosen.game][side]),
      h(
        "label",
        { class: "field" },
        "Played by",
        h(
          "select",
          {
            "data-seat": side,
            onchange: (event) => {
              const picked = event.target.value;
              chosen.seats[side] =
                picked === "human" || picked === "random"
                  ? { kind: picked }
                  : { kind: "evaluator", evaluator: picked, seconds: 1, depth: null };
              draw();
              body.querySelector(`[data-seat='${side}']`).focus();
            },
          },
          h("option", { value: "human", selected: value === "human" }, "You (or somebody beside you)"),
          h("option", { value: "random", selected: value === "random" }, "Random moves"),
          evaluatorOptions(catalogue, chosen.game, value),
        ),
      ),
      limits,
    );
  }

  function swap() {
    chosen.seats.reverse();
    draw();
  }

  function submit(event) {
    event.preventDefault();
    memory.set("game", chosen.game);
    memory.set(`seats.${chosen.game}`, chosen.seats);
    dialog.close();
    done(structuredClone(chosen));
  }

  draw();
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
  body.querySelector("[data-start]").focus();
}

/** The players of last time, as far as they are still there. */
export function usual(catalogue, game) {
  const kept = memory.get(`seats.${game}`, null);
  const known = (seat) => seat.kind !== "evaluator" || entryOf(catalogue, seat.evaluator);
  if (Array.isArray(kept) && kept.length === 2 && kept.every(known)) return kept;
  return [
    { kind: "human" },
    { kind: "evaluator", evaluator: catalogue.defaults[game], seconds: 1, depth: null },
  ];
}
