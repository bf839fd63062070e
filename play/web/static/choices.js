// @ts-check
// Lists of evaluators, and the dialog for a new game.

import { h, memory, put, showDialog } from "./dom.js";
import { Picker } from "./picker.js";

/** Points of the matches that can be chosen. */
const LENGTHS = [1, 3, 5, 7, 9, 11, 13, 15, 21, 25];

const GROUPS = [
  ["shipped", "Shipped"],
  ["hand-crafted", "Hand-crafted"],
  ["run", "Learned in your runs"],
  ["snapshot", "Snapshots of your runs"],
  ["file", "Your files"],
];

/** The evaluators of a game in groups, for a picker. */
export function evaluatorGroups(catalogue, game) {
  const here = catalogue.evaluators.filter((entry) => entry.game === game);
  return GROUPS.map(([group, title]) => ({
    title, options: here.filter((entry) => entry.group === group),
  })).filter(({ options }) => options.length);
}

export function entryOf(catalogue, id) {
  return catalogue.evaluators.find((entry) => entry.id === id);
}

/** The evaluator and the lookup of an id such as `EVALUATOR+LOOKUP`; undefined if unknown. */
function partsOf(catalogue, id) {
  const whole = entryOf(catalogue, id) || catalogue.levels.find((entry) => entry.id === id);
  if (whole) return [whole];
  const lookup = catalogue.lookups.find((entry) => id.endsWith(`+${entry.id}`));
  return [lookup && entryOf(catalogue, id.slice(0, -lookup.id.length - 1)), lookup];
}

/** Whether the player of a remembered seat still exists. */
function there(catalogue, seat) {
  if (seat.kind === "program") return catalogue.programs.some((entry) => entry.id === seat.evaluator);
  return seat.kind !== "evaluator" || Boolean(partsOf(catalogue, seat.evaluator)[0]);
}

/** The name of a seat. */
export function seatName(catalogue, seat) {
  if (seat.kind === "human") return "You";
  if (seat.kind === "random") return "Random moves";
  if (seat.kind === "program") {
    return catalogue.programs.find((entry) => entry.id === seat.evaluator)?.name || seat.evaluator;
  }
  const [evaluator, lookup] = partsOf(catalogue, seat.evaluator);
  return [evaluator?.name || "Evaluator", lookup?.name].filter(Boolean).join(" + ");
}

const TIMES = [
  [0.1, "0.1 s"],
  [0.5, "0.5 s"],
  [1, "1 s"],
  [3, "3 s"],
  [10, "10 s"],
  [30, "30 s"],
];

export function timeOptions(chosen) {
  return TIMES.map(([seconds, text]) =>
    h("option", { value: seconds, selected: seconds === chosen }, text),
  );
}

/** Kinds of boards on which the names of the sides do not tell their colours. */
const COLOURED = ["backgammon", "grid"];

/** The CSS class that tells which side has the light pieces. */
export function tone({ light_first: lightFirst }) {
  return lightFirst ? "light-first" : "dark-first";
}

/** The mark of a side: the colour of its pieces, with more than two sides also its number. */
export function chip(game, side) {
  if (game.sides.length > 2) return h("span", { class: `chip seat seat-${side}`, "aria-hidden": "true" }, side + 1);
  return h("span", { class: `chip side-${side} ${tone(game)}` });
}

/** How evaluators search games for more than two players. */
const METHODS = {
  paranoid: "paranoid",
  best_reply: "best reply",
  max_n: "max^n",
};

function sideName(game, side) {
  const name = game.sides[side];
  if (game.sides.length > 2) return name;
  if (!COLOURED.includes(game.kind) || /black|white/i.test(name)) return name;
  return `${name}, ${game.light_first === (side === 0) ? "ivory" : "black"}`;
}

function gameOf(catalogue, name) {
  return catalogue.games.find((game) => game.name === name);
}

/** Ask for a game and its players; calls `done({game, seats})` if the person agrees. */
export function newGame(catalogue, { game, seats, moves, play }, done) {
  const chosen = { game, seats: seats || usual(catalogue, game), play };
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
        catalogue.games.map(({ name, title }) =>
          h(
            "button",
            {
              type: "button",
              role: "radio",
              "aria-checked": String(name === chosen.game),
              onclick: () => {
                chosen.game = name;
                chosen.seats = usual(catalogue, name);
                chosen.play = memory.get(`play.${name}`, undefined);
                draw();
                body.querySelector("[aria-checked='true']").focus();
              },
            },
            title,
          ),
        ),
      ),
      h("div", { class: "seats" }, chosen.seats.map((_, side) => seat(side))),
      gameOf(catalogue, chosen.game).cube && stakes(),
      moves > 0 && h("p", { class: "muted small" }, "The game on the board stays in the list of games."),
      h(
        "footer",
        {},
        h("button", { type: "button", class: "quiet", onclick: swap },
          chosen.seats.length > 2 ? "Next seats" : "Swap sides"),
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
        h("button", { class: "primary", "data-start": true }, "Start"),
      ),
    );
    put(body, form);
  }

  function seat(side) {
    const now = chosen.seats[side];
    const game = gameOf(catalogue, chosen.game);
    const [evaluator, lookup] = now.kind === "evaluator" ? partsOf(catalogue, now.evaluator) : [];
    const value = evaluator?.id || now.evaluator || now.kind;
    const programs = catalogue.programs.filter((entry) => entry.game === chosen.game);
    const lookups = catalogue.lookups.filter((entry) => entry.game === chosen.game);
    const levels = catalogue.levels.filter((entry) => entry.game === chosen.game);
    const limits = now.kind === "evaluator" && evaluator?.kind !== "level" && [
      lookups.length > 0 && h("label", { class: "field" }, "Lookups",
        h("select", {
          "data-lookup": side,
          onchange: (e) => {
            now.evaluator = [evaluator.id, e.target.value].filter(Boolean).join("+");
          },
        },
        h("option", { value: "" }, lookups.some(({ id }) => id === "none") ? "the usual ones" : "nothing"),
        lookups.map(({ id, name }) => h("option", { value: id, selected: id === lookup?.id }, name)))),
      h("label", { class: "field" }, "Time a move",
        h("select", { onchange: (e) => { now.seconds = Number(e.target.value); } },
          timeOptions(now.seconds))),
      game.methods.length > 0 && h("label", { class: "field" }, "Search",
        h("select", { "data-method": side, onchange: (e) => { now.method = e.target.value; } },
          game.methods.map((method) => h("option",
            { value: method, selected: method === (now.method || game.methods[0]) }, METHODS[method] || method)))),
    ];
    return h(
      "fieldset",
      { class: "seat-choice" },
      h("legend", {}, chip(game, side), sideName(game, side)),
      new Picker({
        label: "Played by",
        groups: [
          { title: "", options: [
            { id: "human", name: "You" },
            { id: "random", name: "Random moves", about: "Any legal move, all equally likely." },
          ] },
          ...(levels.length ? [{ title: "Levels", options: levels }] : []),
          ...evaluatorGroups(catalogue, chosen.game),
          ...(programs.length ? [{ title: "External engines", options: programs }] : []),
        ],
        value,
        detail: true,
        data: { "data-seat": side },
        change: (picked) => {
          if (picked === "human" || picked === "random") chosen.seats[side] = { kind: picked };
          else if (partsOf(catalogue, picked)[0]) chosen.seats[side] = thinker(picked);
          else chosen.seats[side] = { kind: "program", evaluator: picked };
          draw();
          body.querySelector(`[data-seat='${side}']`).focus();
        },
      }).element,
      limits,
    );
  }

  /** What is played for, in a game with a cube. */
  function stakes() {
    const now = { cube: false, length: 0, jacoby: false, beavers: false, ...chosen.play };
    const kinds = [["points", "points, no cube"], ["money", "money, with the cube"],
      ...LENGTHS.map((length) => [String(length), `a match to ${length}`])];
    const kind = now.length ? String(now.length) : now.cube ? "money" : "points";
    const pick = (changes) => {
      chosen.play = { ...now, ...changes };
      draw();
    };
    const rule = (name, text) => h("label", { class: "check" },
      h("input", { type: "checkbox", checked: now[name], "data-rule": name,
        onchange: (e) => pick({ [name]: e.target.checked }) }), text);
    return h("div", { class: "stakes" },
      h("label", { class: "field" }, "Played for",
        h("select", { "data-stakes": true, onchange: (e) => {
          const { value } = e.target;
          const length = Number(value) || 0;
          pick({ cube: value !== "points", length, jacoby: value === "money" && now.jacoby,
            beavers: value === "money" && now.beavers });
          body.querySelector("[data-stakes]").focus();
        } }, kinds.map(([value, text]) => h("option", { value, selected: value === kind }, text)))),
      kind === "money" && rule("jacoby", "Jacoby rule"),
      kind === "money" && rule("beavers", "Beavers"));
  }

  function swap() {
    chosen.seats.unshift(chosen.seats.pop());
    draw();
  }

  function submit(event) {
    event.preventDefault();
    memory.set("game", chosen.game);
    memory.set(`seats.${chosen.game}`, chosen.seats);
    if (chosen.play) memory.set(`play.${chosen.game}`, chosen.play);
    dialog.close();
    done(structuredClone(chosen));
  }

  draw();
  showDialog(dialog, body.querySelector("[data-start]"));
}

/** The players of the last game, if they still exist. */
export function usual(catalogue, game) {
  const kept = memory.get(`seats.${game}`, null);
  const known = (seat) => there(catalogue, seat);
  const { sides } = gameOf(catalogue, game);
  if (Array.isArray(kept) && kept.length === sides.length && kept.every(known)) return kept;
  const other = catalogue.opponents[game];
  return sides.map((_, side) =>
    side === 0 ? { kind: "human" } : other ? thinker(other) : { kind: "random" });
}

function thinker(evaluator) {
  return { kind: "evaluator", evaluator, seconds: 1, depth: null };
}
