// @ts-check
// A search on the page of puzzles: its numbers, its frontier and the way to the goal.

import { chart } from "./chart.js";
import { h, icon, memory, put, short } from "./dom.js";

/** What can be chosen of a search: its method, the weight of the heuristic, the most seconds. */
export const METHODS = [
  ["astar", "A*: least cost so far plus estimate first"],
  ["ida", "IDA*: the same without memory"],
  ["greedy", "Greedy: least estimate first"],
  ["beam", "Beam: the best 1000 of each depth"],
];
/** Those that only the textbook has; all can be followed step by step. */
export const TEXTBOOK = [
  ["breadth_first", "Breadth first: the shallowest first"],
  ["depth_first", "Depth first: the newest first"],
  ["uniform_cost", "Uniform cost: least cost so far first"],
  ["depth_limited", "Depth limited: at most 10 moves"],
  ["iterative_deepening", "Iterative deepening"],
  ["bidirectional", "Bidirectional: from both ends"],
  ["rbfs", "Recursive best first"],
  ["sma", "SMA*: A* with 100 positions in memory"],
  ["hill_climbing", "Hill climbing, with restarts"],
  ["annealing", "Simulated annealing"],
  ["lrta", "LRTA*: a walk that learns"],
];
export const WEIGHTS = [1, 1.2, 1.5, 2, 3, 5];
export const SECONDS = [1, 5, 10, 30, 60];

/** A number of moves in words. */
export const many = (n) => `${n} ${n === 1 ? "move" : "moves"}`;

/** The numbers of a search; `waiting` names the frontier. */
export function figures({ expanded, generated, frontier, f, seconds }, waiting) {
  const figure = (name, value) => h("div", {}, h("span", { class: "muted" }, `${name} `), h("b", {}, value));
  return [
    figure("Expanded", short(expanded)), figure("Generated", short(generated)),
    figure(waiting, short(frontier)), f !== null && figure("f", String(Number(f.toFixed(2)))),
    h("div", {}, h("b", {}, `${seconds.toFixed(1)} s`)),
  ];
}

/** The curve of the frontier over the seconds of a search. */
export function frontierCurve(history, waiting) {
  return chart([{ name: waiting, points: history }], {
    title: `${waiting} over the search: now ${history.at(-1)[1]}`,
    height: 130, width: 480, low: 0, across: "seconds", legend: false,
    upward: waiting === "Frontier" ? "positions waiting" : "moves",
  });
}

/** The way to the goal at step `at`; `act` has the functions walk(to) and toggle(). */
export function wayToGoal(solution, at, going, act) {
  if (!solution.found) {
    const advice = /^out of/.test(solution.proved) && " A larger weight finds a way sooner, though not always the cheapest.";
    return [h("p", { class: "problem" }, `No solution was found: ${solution.proved}.`, advice)];
  }
  const bound = solution.factor === null ? "nothing is proved about its cost"
    : solution.factor === 1 ? "proved to be the cheapest" : `at most ${solution.factor} times the cheapest`;
  const button = (name, title, press) =>
    h("button", { type: "button", class: "quiet", title, "aria-label": title, onclick: press }, icon(name));
  return [
    h("p", {}, h("b", { class: "large number" }, many(solution.length)),
      h("span", { class: "muted" }, ` · cost ${solution.cost}, ${bound} (${solution.proved})`)),
    h("div", { class: "row tight walk" },
      button("first", "To the position that was solved", () => act.walk(0)),
      button("previous", "Back one move", () => act.walk(at - 1)),
      h("button", { type: "button", "data-play": true, onclick: act.toggle },
        going ? "Pause" : "Show it"),
      button("next", "Forward one move", () => act.walk(at + 1)),
      button("last", "To the goal", () => act.walk(solution.length)),
      h("span", { class: "muted number" }, `${at} of ${solution.length}`)),
    h("p", { class: "pv number" }, solution.steps.map(({ move }, n) =>
      h("span", { class: n < at ? "muted" : null }, `${move} `))),
  ];
}

/** A list of values of an option of the search, which the browser keeps. */
export function choice(label, name, options, usual) {
  const value = memory.get(`solve.${name}`, usual);
  return h("label", { class: "field" }, label,
    h("select", { "data-option": name,
      onchange: (e) => memory.set(`solve.${name}`, options[e.target.selectedIndex][0]) },
    options.map(([one, text]) => h("option", { value: one, selected: one === value }, text))));
}

/** The box for the frontier of each step. */
export const stepByStep = () => h("label", { class: "check" },
  h("input", { type: "checkbox", "data-option": "trace", checked: memory.get("solve.trace", false),
    onchange: (e) => memory.set("solve.trace", e.target.checked) }),
  "Step by step, as in the textbook (at most 2,000 expansions)");

/** Show the frontier at step `at` in a place and on the board, the next position first; a pressed button keeps the
 * focus. `taken`: the steps of the search, of which the first come with the solution. */
export function showFrontier(place, board, frontiers, at, taken) {
  const { waiting, size } = frontiers[at];
  const kept = taken > frontiers.length ? `, of which the first ${frontiers.length} are kept` : "";
  const focused = document.activeElement?.getAttribute("data-step");
  const button = (name, title, to) => h("button", { type: "button", class: "quiet", title, "aria-label": title,
    "data-step": name, disabled: to < 0 || to >= frontiers.length,
    onclick: () => showFrontier(place, board, frontiers, to, taken) }, icon(name));
  const figure = ([, value, sum]) => `${sum ? `${sum} = ` : ""}${Number(value.toFixed(2))}`;
  const item = (one) =>
    h("li", {}, one[0], one[1] !== null && h("span", { class: "muted number" }, ` ${figure(one)}`));
  board.frontier?.(new Map(waiting.map((one) => [one[0], one[1] === null ? "" : figure(one)])));
  put(place,
    h("h3", {}, "Frontier step by step"),
    h("div", { class: "row tight walk" },
      button("first", "To the first step", 0), button("previous", "Back one step", at - 1),
      button("next", "Forward one step", at + 1), button("last", "To the last step", frontiers.length - 1),
      h("span", { class: "muted number", role: "status" }, `step ${at + 1} of ${taken}${kept}, ${size} waiting`)),
    h("ol", { class: "frontier" }, waiting.map(item),
      size > waiting.length && h("li", { class: "muted" }, `and ${size - waiting.length} more`)));
  const again = focused && place.querySelector(`[data-step="${focused}"]`);
  if (again instanceof HTMLElement) again.focus();
}
