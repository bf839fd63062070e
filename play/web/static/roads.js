// @ts-check
// A map of towns and roads: the towns that a road leads to are clicked, the goal has a flag of its
// own colour, and a search by steps writes at each waiting town its value.

import { h, put, s } from "./dom.js";

const WIDTH = 1000;
const MARGIN = 45;

export class RoadsBoard {
  /** `act` has the function play(text). */
  constructor(act) {
    this.act = act;
    this.values = new Map();
    this.svg = s("svg", { class: "board roads", role: "group", "aria-label": "Map" });
    this.element = h("div", { class: "board-box" }, this.svg);
  }

  setFlip() {}

  heat() {}

  update({ board, legal = [], live = true }) {
    const focused = document.activeElement?.getAttribute("data-move");
    const across = board.towns.map(([, x]) => x);
    const up = board.towns.map(([, , y]) => y);
    const scale = (WIDTH - 2 * MARGIN) / (Math.max(...across) - Math.min(...across));
    const height = (Math.max(...up) - Math.min(...up)) * scale + 2 * MARGIN;
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
    const at = new Map(board.towns.map(([name, x, y]) =>
      [name, { x: MARGIN + (x - Math.min(...across)) * scale, y: MARGIN + (Math.max(...up) - y) * scale }]));
    const even = board.roads.every(([, , length]) => length === 1);
    const road = ([from, to, length]) => {
      const [a, b] = [at.get(from), at.get(to)];
      return s("g", { class: "road" }, s("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y }),
        !even && s("text", { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 + 6 }, String(length)));
    };
    const side = (x) => // names stand on the side that has room
      x < 0.72 * WIDTH ? { x: x + 22, "text-anchor": "start" } : { x: x - 22, "text-anchor": "end" };
    const town = ([name, { x, y }]) => {
      const open = live && legal.includes(name);
      const state = [name === board.text && "here", name === board.goal && "goal", open && "open"];
      const play = () => this.act.play(name);
      return s("g", { class: ["town", ...state.filter(Boolean)].join(" "),
        ...(open && { "data-move": name, role: "button", tabindex: 0, onclick: play,
          onkeydown: (event) => (event.key === "Enter" || event.key === " ") && play() }) },
      s("circle", { cx: x, cy: y, r: name === board.goal || open ? 15 : 10 }),
      s("text", { ...side(x), y: y - 4 }, name === board.goal ? `${name} (goal)` : name),
      s("text", { class: "value", "data-town": name, ...side(x), y: y + 20 }));
    };
    put(this.svg, board.roads.map(road), [...at].map(town));
    this.frontier(this.values);
    if (focused) this.svg.querySelector(`[data-move="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Write at each town that waits its value, by name. */
  frontier(values) {
    this.values = values;
    for (const text of this.svg.querySelectorAll("[data-town]")) {
      const value = values.get(text.dataset.town);
      text.textContent = value ?? "";
      text.parentElement.classList.toggle("waits", value !== undefined);
    }
  }

  /** Mark the town of a move; null removes the mark. */
  hint(text) {
    for (const town of this.svg.querySelectorAll("[data-move]")) {
      town.classList.toggle("hinted", town.dataset.move === text);
    }
  }

  way(text) {
    return text;
  }
}
