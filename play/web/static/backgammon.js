// @ts-check
// The board of backgammon: where things are drawn. The rules are on the server.

import { h, s } from "./dom.js";
import { Hand } from "./hand.js";
import { BAR, BARW, EDGE, HEIGHT, OFF, Points, R, SPAN, TALL, TRAY, WIDE, range } from "./points.js";
import { arrowHead, drawArrows, grain } from "./wood.js";

const PIPS = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [1, 1], [-1, 1], [1, -1]],
  5: [[-1, -1], [1, 1], [-1, 1], [1, -1], [0, 0]],
  6: [[-1, -1], [1, 1], [-1, 1], [1, -1], [-1, 0], [1, 0]],
};

export class BackgammonBoard extends Points {
  /** `act` has the functions step(from, to) and, for setting up, edit(side, point). */
  constructor(act) {
    super();
    this.act = act;
    this.selected = null; // a point as the side to move counts it
    this.next = [];
    this.side = 0;
    this.cursor = "p24";
    this.cells = new Map();
    this.men = [];
    this.editing = false;
    this.make();
  }

  make() {
    this.field = s("g", { role: "group", "aria-label": "Board, points 1 to 24" });
    this.layer = s("g", { class: "men" });
    this.over = s("g", { class: "over" });
    this.under = s("g", {});
    this.counts = s("g", { class: "counts", "aria-hidden": "true" });
    this.dice = s("g", { class: "dice", "aria-hidden": "true" });
    this.cube = s("g", { class: "cube", role: "img" });
    this.svg = s(
      "svg",
      { class: "board backgammon", viewBox: `0 0 ${SPAN} ${HEIGHT}` },
      s(
        "defs",
        {},
        arrowHead(),
        s("radialGradient", { id: "x-man", cx: 0.38, cy: 0.32, r: 0.85 },
          s("stop", { offset: 0, class: "white-1" }), s("stop", { offset: 1, class: "white-2" })),
        s("radialGradient", { id: "o-man", cx: 0.38, cy: 0.32, r: 0.8 },
          s("stop", { offset: 0, class: "black-1" }), s("stop", { offset: 1, class: "black-2" })),
      ),
      s("rect", { class: "frame", width: SPAN, height: HEIGHT, rx: 22 }),
      grain(0, 0, SPAN, HEIGHT, { seed: 11, lines: 24 }),
      this.half(EDGE),
      this.half(EDGE + 6 * WIDE + BARW),
      s("rect", {
        class: "tray", x: SPAN - EDGE - TRAY, y: EDGE, width: TRAY, height: TALL + 24, rx: 8,
      }),
      s("rect", {
        class: "tray", x: SPAN - EDGE - TRAY, y: HEIGHT - EDGE - TALL - 24, width: TRAY,
        height: TALL + 24, rx: 8,
      }),
      this.field,
      this.under,
      this.layer,
      this.counts,
      this.over,
      this.dice,
      this.cube,
    );
    this.element = h("div", { class: "board-box wide" }, this.svg);
    this.drawPlaces();
    this.hand = new Hand(this);
  }

  half(x) {
    return s("rect", {
      class: "felt", x, y: EDGE, width: 6 * WIDE, height: HEIGHT - 2 * EDGE, rx: 6,
    });
  }

  drawPlaces() {
    this.field.replaceChildren();
    this.places.clear();
    this.cells.clear();
    // In the order of the arrow keys: along the top from the left, then back along the bottom.
    for (const point of [...range(13, 24), ...range(12, 1)]) {
      const { x, top } = this.spot(point);
      const tip = top ? EDGE + TALL : HEIGHT - EDGE - TALL;
      const foot = top ? EDGE : HEIGHT - EDGE;
      this.addPlace(`p${point}`, x, top ? EDGE : HEIGHT / 2, WIDE, HEIGHT / 2 - EDGE, [
        s("path", {
          class: `point ${point % 2 ? "odd" : "even"}`,
          d: `M${x + 3} ${foot}L${x + WIDE - 3} ${foot}L${x + WIDE / 2} ${tip}Z`,
        }),
        s("text", {
          class: "point-number", x: x + WIDE / 2, y: top ? EDGE - 9 : HEIGHT - EDGE + 25,
          "aria-hidden": "true",
        }, String(point)),
      ]);
    }
    const bar = EDGE + 6 * WIDE;
    this.addPlace("bar-1", bar, EDGE, BARW, HEIGHT / 2 - EDGE, []);
    this.addPlace("bar-0", bar, HEIGHT / 2, BARW, HEIGHT / 2 - EDGE, []);
    const tray = SPAN - EDGE - TRAY;
    this.addPlace("off-1", tray, EDGE, TRAY, TALL + 24, []);
    this.addPlace("off-0", tray, HEIGHT - EDGE - TALL - 24, TRAY, TALL + 24, []);
  }

  addPlace(name, x, y, width, height, drawn) {
    const cell = s(
      "g",
      { role: "button", class: "place", tabindex: name === this.cursor ? 0 : -1, "data-place": name },
      drawn,
      s("rect", { class: "wash", x, y, width, height, rx: 6 }),
      s("rect", { class: "ring", x: x + 2, y: y + 2, width: width - 4, height: height - 4, rx: 6 }),
    );
    cell.addEventListener("focus", () => {
      this.cursor = name;
    });
    this.places.set(name, { x, y, width, height });
    this.cells.set(name, cell);
    this.field.append(cell);
  }

  setFlip(flip) {
    if (flip === this.flip) return;
    this.flip = flip;
    if (this.last) this.update(this.last);
  }

  update(view) {
    const { board, next = [], taken = [], live = true } = view;
    this.last = view;
    this.board = board;
    this.next = next;
    this.live = live;
    this.side = board.side;
    if (!next.some((step) => step.from === this.selected)) this.selected = null;
    const ends = new Set(next.map((step) => step.from));
    if (ends.size === 1 && live && taken.length === 0 && ends.has(BAR)) this.selected = BAR;
    this.moveMen(board);
    this.mark();
    this.markLast(board);
    this.drawDice(view);
    this.drawCube(view);
  }

  /** Draw the cube on the bar: in the middle, or by its owner; a double lies before who must answer. */
  drawCube({ stakes }) {
    this.cube.replaceChildren();
    if (!stakes?.cube || stakes.crawford) {
      this.cube.setAttribute("aria-label", stakes?.crawford ? "No cube: Crawford game" : "No cube");
      return;
    }
    const { value, owner, offered, answering } = stakes;
    const bar = EDGE + 6 * WIDE + BARW / 2;
    const low = (side) => side === this.bottom;
    let [x, y] = [bar, HEIGHT / 2];
    if (offered) [x, y] = [EDGE + 3 * WIDE + (low(answering) ? 6 * WIDE + BARW : 0), HEIGHT / 2];
    else if (owner !== null) y = low(owner) ? HEIGHT - EDGE - 34 : EDGE + 34;
    const shown = offered ? 2 * value : value;
    const where = owner === null ? "in the middle" : `with ${"XO"[owner]}`;
    this.cube.setAttribute("aria-label",
      offered ? `Cube offered to ${"XO"[answering]} at ${shown}` : `Cube ${shown}, ${where}`);
    this.cube.append(
      s("rect", { class: offered ? "offered" : "", x: x - 28, y: y - 28, width: 56, height: 56, rx: 9 }),
      s("text", { x, y: y + 10, class: shown > 99 ? "small" : "" }, String(shown)),
    );
  }

  /** Draw rings where checkers of the last move arrived, and dots where they started. */
  markLast(board) {
    for (const old of this.over.querySelectorAll(".last")) old.remove();
    const side = board.trace_side;
    const ends = new Map();
    const starts = new Set();
    for (const [source, target] of board.trace || []) {
      starts.add(source);
      if (ends.has(source)) ends.set(source, ends.get(source) - 1);
      ends.set(target, (ends.get(target) || 0) + 1);
    }
    for (const source of starts) {
      const name = this.name(side, source);
      const count = (side ? board.o : board.x)[source];
      const [x, y] = this.stand(name, Math.min(count, 4), count + 1);
      if (!ends.get(source)) this.over.append(s("circle", { class: "last from", cx: x, cy: y, r: 7 }));
    }
    for (const [target, many] of ends) {
      const name = this.name(side, target);
      const count = (side ? board.o : board.x)[target];
      if (target === OFF) continue;
      for (let n = count - many; n < count; n += 1) {
        const [x, y] = this.stand(name, Math.max(n, 0), count);
        this.over.append(s("circle", { class: "last to", cx: x, cy: y, r: 9 }));
      }
    }
  }

  moveMen(board) {
    const wanted = [];
    this.counts.replaceChildren();
    for (const [side, counts] of [[0, board.x], [1, board.o]]) {
      counts.forEach((count, point) => {
        const name = this.name(side, point);
        for (let n = 0; n < count; n += 1) wanted.push({ side, name, n, count });
        if (count > (point === BAR ? 3 : 5) && point !== OFF) {
          const [x, y] = this.stand(name, count - 1, count);
          this.counts.append(
            s("text", { x, y: y + 9, class: side ? "on-o" : "on-x" }, String(count)),
          );
        }
      });
    }
    const loose = [...this.men];
    const found = [];
    const open = [];
    for (const one of wanted) {
      const index = loose.findIndex(
        (m) => m.side === one.side && m.name === one.name && m.n === one.n,
      );
      if (index < 0) open.push(one);
      else found.push([loose.splice(index, 1)[0], one]);
    }
    for (const one of open) {
      const index = loose.findIndex((m) => m.side === one.side);
      found.push([index < 0 ? this.makeMan(one.side) : loose.splice(index, 1)[0], one]);
    }
    for (const man of loose) man.element.remove();
    this.men = found.map(([man, one]) => {
      Object.assign(man, one);
      this.put(man);
      return man;
    });
    // Checkers higher in a pile are drawn over those below.
    for (const man of [...this.men].sort((a, b) => a.n - b.n)) {
      if (man.element.parentNode !== this.layer) this.layer.append(man.element);
    }
  }

  makeMan(side) {
    const colour = side ? "o" : "x";
    const element = s(
      "g",
      { class: `man ${side ? "black" : "white"}`, "aria-hidden": "true" },
      s("ellipse", { class: "shade", cx: 1, cy: 4, rx: R, ry: R }),
      s("circle", { class: "body", r: R - 1, fill: `url(#${colour}-man)` }),
      s("circle", { class: "rim", r: R - 2 }),
      s("circle", { class: "groove", r: R - 10 }),
      s("rect", { class: "edge-on", x: -R + 1, y: -9, width: 2 * R - 2, height: 18, rx: 5 }),
    );
    return { element, side };
  }

  put(man) {
    const [x, y] = this.stand(man.name, man.n, man.count);
    man.element.classList.toggle("off", man.name.startsWith("off"));
    man.element.style.transform = `translate(${x}px, ${y}px)`;
  }

  mark() {
    const starts = new Set(this.next.map((step) => this.name(this.side, step.from)));
    const ends = new Map(
      this.next
        .filter((step) => step.from === this.selected)
        .map((step) => [this.name(this.side, step.to), step]),
    );
    const { chosen } = this;
    for (const [name, cell] of this.cells) {
      cell.classList.toggle("can", this.live && starts.has(name));
      cell.classList.toggle("chosen", name === chosen);
      cell.classList.toggle("goal", ends.has(name));
      const words = [this.words(name)];
      if (name === chosen) words.push("chosen");
      else if (ends.has(name)) words.push("can be moved to");
      else if (starts.has(name)) words.push("can move");
      cell.setAttribute("aria-label", words.join(", "));
      cell.setAttribute("aria-pressed", name === chosen);
    }
    this.under.replaceChildren();
    for (const name of starts) {
      if (!this.live) break;
      const top = this.men.filter((m) => m.name === name && m.side === this.side).length;
      if (!top) continue;
      const [x, y] = this.stand(name, top - 1, top);
      this.under.append(s("circle", { class: "can-halo", cx: x, cy: y, r: R + 4 }));
    }
    for (const [name, step] of ends) {
      const count = this.men.filter((m) => m.name === name && m.side === this.side).length;
      const [x, y] = name.startsWith("off")
        ? this.middle(this.side, OFF)
        : this.stand(name, Math.min(count, 5), Math.max(count + 1, 1));
      this.under.append(s("circle", { class: `dot${step.far ? " far" : ""}`, cx: x, cy: y, r: 13 }));
    }
  }

  words(name) {
    const { x, o } = this.board;
    if (name.startsWith("off") || name.startsWith("bar")) {
      const own = name.endsWith("0");
      const offSide = own ? this.bottom : 1 - this.bottom;
      const side = name.startsWith("off") ? offSide : 1 - offSide;
      const count = (side ? o : x)[name.startsWith("off") ? OFF : BAR];
      return `${"XO"[side]} ${name.startsWith("off") ? "borne off" : "on the bar"}: ${count}`;
    }
    const own = this.point(0, name);
    const mine = x[own];
    const theirs = o[25 - own];
    const number = name.slice(1);
    if (!mine && !theirs) return `Point ${number}, empty`;
    return `Point ${number}, ${mine || theirs} ${mine ? "X" : "O"}`;
  }

  drawDice({ roll, board, side = this.side }) {
    this.dice.replaceChildren();
    if (!roll) return;
    const left = [...(board.dice_left || [])];
    let shown = [...roll].map(Number);
    if (shown[0] === shown[1]) shown = [...shown, ...shown];
    const used = [];
    for (const die of shown) {
      const index = left.indexOf(die);
      if (index >= 0) left.splice(index, 1);
      used.push(board.dice_left !== undefined && index < 0);
    }
    const right = side === this.bottom;
    const middle = EDGE + 3 * WIDE + (right ? 6 * WIDE + BARW : 0);
    shown.forEach((die, n) => {
      const x = middle + (n - (shown.length - 1) / 2) * 72;
      this.dice.append(
        s(
          "g",
          {
            class: `die ${side ? "o" : "x"}${used[n] ? " used" : ""}`,
            transform: `translate(${x} ${HEIGHT / 2})`,
          },
          s("rect", { x: -27, y: -27, width: 54, height: 54, rx: 12 }),
          PIPS[die].map(([a, b]) => s("circle", { cx: a * 14, cy: b * 14, r: 5 })),
        ),
      );
    });
  }

  /** Show arrows for a move before it is played; null removes them. */
  hint(ways) {
    const all = ways || [];
    const apart = (n) => 22 * (n - (all.length - 1) / 2); // or one would cover another on its line
    drawArrows(this.over, all.map((way, n) => way.map((point) => {
      const [x, y] = this.middle(this.side, point);
      return [x, y + apart(n)];
    })));
  }

  /** The paths of a move by its notation, such as 24/18*\/13 bar/20(2). */
  way(text) {
    if (!/\d|bar/.test(text)) return [];
    return text.split(" ").flatMap((part) => {
      const [way, times] = part.replaceAll("*", "").split("(");
      const points = way.split("/").map((word) => (word === "bar" ? BAR : word === "off" ? OFF : Number(word)));
      return Array(Number.parseInt(times ?? "1", 10)).fill(points);
    });
  }

  /** Colour the points of checkers by their contributions; null removes the colours. */
  heat(parts) {
    const largest = Math.max(...(parts || []).map((p) => Math.abs(p.before)), 1e-9);
    for (const cell of this.cells.values()) {
      const wash = cell.querySelector(".wash");
      wash.style.fill = "";
      wash.style.opacity = "";
    }
    for (const part of parts || []) {
      if (!part.before) continue;
      // The squares of a term are points as X counts them; 0 is the bar of O.
      const points = part.place ? [part.place] : (part.squares || []).map((n) => n ? ["x", n] : ["o", BAR]);
      for (const [letter, point] of points) {
        const wash = this.cells.get(this.name(letter === "x" ? 0 : 1, point)).querySelector(".wash");
        wash.style.fill = part.before > 0 ? "var(--heat-good)" : "var(--heat-bad)";
        wash.style.opacity = 0.12 + (0.5 * Math.abs(part.before)) / largest;
      }
    }
  }

  // --- by hand -----------------------------------------------------------------------------

  /** The topmost checker of a place, if it can be picked up; a goal is not picked up. */
  piece(name) {
    const point = this.point(this.side, name);
    const goal = this.next.some((step) => step.from === this.selected && step.to === point);
    if (goal || !this.next.some((step) => step.from === point)) return null;
    return this.men
      .filter((m) => m.name === name && m.side === this.side)
      .sort((a, b) => b.n - a.n)[0];
  }

  /** The place of the chosen point. */
  get chosen() {
    return this.selected === null ? null : this.name(this.side, this.selected);
  }

  select(name) {
    this.selected = name === null ? null : this.point(this.side, name);
    this.mark();
  }

  land(from, to) {
    const target = this.point(this.side, to);
    if (target !== null) this.send(this.point(this.side, from), target);
  }

  /** Handle a click, or Enter, on a place. */
  choose(name) {
    if (this.editing) {
      this.act.edit(name);
      return;
    }
    const point = this.point(this.side, name);
    if (!this.live || point === null) return;
    if (this.next.some((step) => step.from === this.selected && step.to === point)) {
      this.send(this.selected, point);
    } else if (this.next.some((step) => step.from === point)) {
      this.select(point === this.selected ? null : name);
    } else if (this.selected !== null) {
      this.send(this.selected, point);
    } else if (this.next.length) {
      this.send(point, Math.max(0, point - 1));
    }
  }

  /** Take a step. The next one can be chosen before the answer arrives. */
  send(source, target) {
    this.selected = null;
    this.mark();
    this.act.step(source, target);
  }

}
