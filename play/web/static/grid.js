// @ts-check
// Boards of any game: a grid, or for a game without one its text and a list of moves. The rules are
// on the server, which sends the pieces, and the squares that can be clicked next.

import { h, put, s } from "./dom.js";
import { Hand } from "./hand.js";
import { arrowHead, drawArrows, grain } from "./wood.js";

const SIZE = 100;
const EDGE = 44;
const FLAT = 56; // height of the squares of bars
const NONE = -1; // stands for "no square" before the first click of a move
const COLOURS = ["black", "white"]; // of sides 0 and 1; reversed if the light pieces begin
const HEXAGONAL = Math.sqrt(3) / 2; // height of a row of holes by the distance of two holes in it
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class GridBoard {
  /** `act` has the functions step(from, to), back(), which takes back a click, and edit(square). */
  constructor(act) {
    this.act = act;
    this.rows = this.columns = 0;
    this.wide = this.high = 0; // of a square
    this.rowNames = this.columnNames = [];
    this.board = null;
    this.live = false;
    this.flip = false;
    this.cursor = 0;
    this.cells = new Map();
    this.next = [];
    this.clicked = [];
    this.pieces = []; // what lies on squares, unless it is a tile or a bar
    this.names = new Map();
    this.editing = false;
    this.squares = s("g", { role: "grid", "aria-label": "Board" });
    this.labels = s("g", { class: "labels", "aria-hidden": "true" });
    this.layer = s("g", { class: "men" });
    this.under = s("g", {});
    this.over = s("g", { class: "over" });
    this.wood = s("g", {});
    this.svg = s("svg", { class: "board grid" },
      s("defs", {}, arrowHead(), COLOURS.map((colour) =>
        s("radialGradient", { id: `${colour}-man`, cx: 0.38, cy: 0.32, r: 0.82 },
          s("stop", { offset: 0, class: `${colour}-1` }),
          s("stop", { offset: 1, class: `${colour}-2` })))),
      this.wood, this.squares, this.labels, this.layer, this.under, this.over);
    this.element = h("div", { class: "board-box" }, this.svg);
    this.hand = new Hand(this);
  }

  /** Draw the squares of a board, unless a board of this size is drawn already. */
  size({ rows, columns, shape, holes, tints = [], row_names, column_names, names = [] }) {
    if (rows === this.rows && columns === this.columns) return;
    [this.rows, this.columns] = [rows, columns];
    const numbers = (count) => Array.from({ length: count }, (_, n) => String(n + 1));
    this.rowNames = row_names?.length ? row_names : numbers(rows);
    this.columnNames = column_names?.length ? column_names : numbers(columns);
    this.holes = holes && new Map(holes.map((square, number) => [square, number]));
    this.tints = new Map(tints);
    this.names = new Map(names);
    if (names.length) [this.cursor] = this.names.keys();
    this.svg.classList.toggle("named", names.length > 0);
    if (holes && !this.holes.has(this.cursor)) [this.cursor] = holes;
    // Bars lie in flat squares, which make a board about as wide as it is high.
    [this.wide, this.high] = shape === "bar"
      ? [Math.max(SIZE, Math.min(6 * SIZE, (rows * FLAT) / columns)), FLAT]
      : holes ? [SIZE / 2, SIZE * HEXAGONAL] : [SIZE, SIZE];
    const [width, height] = [columns * this.wide, rows * this.high];
    this.svg.setAttribute("viewBox", `0 0 ${width + 2 * EDGE} ${height + 2 * EDGE}`);
    put(this.wood,
      s("rect", { class: "frame", width: width + 2 * EDGE, height: height + 2 * EDGE, rx: 22 }),
      grain(0, 0, width + 2 * EDGE, height + 2 * EDGE, { seed: 7, lines: 26 }),
      !holes && s("rect", { class: "inlay", x: EDGE - 7, y: EDGE - 7, width: width + 14, height: height + 14, rx: 5 }),
      names.length > 0 && [s("rect", { class: "pale", x: EDGE, y: EDGE, width, height }),
        grain(EDGE, EDGE, width, height, { seed: 3, lines: 40, across: true })]);
    this.drawSquares();
  }

  drawSquares() {
    this.cells.clear();
    const [lines, named] = [[], this.names.size > 0];
    for (let row = 0; row < this.rows; row += 1) {
      const line = s("g", { role: "row" });
      for (let column = 0; column < this.columns; column += 1) {
        const square = this.squareAt(row, column);
        if (square === null) continue;
        const cell = s("g",
          {
            role: "gridcell", class: named ? "square" : "square plain",
            "data-square": this.names.get(square) ?? square,
            tabindex: square === this.cursor ? 0 : -1,
            transform: `translate(${EDGE + column * this.wide} ${EDGE + row * this.high})`,
          },
          this.holes ? this.hole(square) : [
            s("rect", { width: this.wide, height: this.high, class: named ? "deep" : "cell" }),
            named && grain(0, 0, SIZE, SIZE, { seed: square * 17, lines: 7, across: true }),
            s("rect", { width: this.wide, height: this.high, class: "wash" }),
            s("rect", { x: 4, y: 4, width: this.wide - 8, height: this.high - 8, rx: 4, class: "ring" }),
            named && s("text", { x: 7, y: 19, class: "square-number", "aria-hidden": "true" }, this.names.get(square))]);
        cell.addEventListener("focus", () => {
          this.cursor = square;
          this.preview(square);
        });
        cell.addEventListener("pointerenter", () => this.preview(square));
        this.cells.set(square, cell);
        line.append(cell);
      }
      lines.push(line);
    }
    put(this.squares, ...lines);
    if (this.holes || named) return;
    const mark = (x, y, text) => s("text", { x, y, class: "edge-label" }, text);
    const shown = (names) => (this.flip ? names.toReversed() : names);
    put(this.labels,
      shown(this.columnNames).map((name, n) =>
        mark(EDGE + (n + 0.5) * this.wide, EDGE + this.rows * this.high + 30, name)),
      shown(this.rowNames).map((name, n) => mark(EDGE / 2, EDGE + (n + 0.5) * this.high + 7, name)));
  }

  /** What is drawn of a hole: its rim has the colour of a side if it is part of that side's goal. */
  hole(square) {
    const at = { cx: this.wide / 2, cy: this.high / 2 };
    const tint = this.tints.has(square) ? `goal-of ${this.colour(this.tints.get(square))}` : "";
    return [s("circle", { ...at, r: 30, class: `cell hole ${tint}` }),
      s("circle", { ...at, r: 42, class: "wash" }), s("circle", { ...at, r: 44, class: "ring" })];
  }

  /** The class that colours the pieces of a side. */
  colour(side) {
    if (side === null) return "neutral";
    return this.many ? `seat seat-${side}` : COLOURS[side ^ this.act.game().light_first];
  }

  /** Whether more than two sides play, each with a colour and a number. */
  get many() {
    return this.act.sides().length > 2;
  }

  squareAt(row, column) {
    if (row < 0 || row >= this.rows || column < 0 || column >= this.columns) return null;
    const number = row * this.columns + column;
    const square = this.flip ? this.rows * this.columns - 1 - number : number;
    const drawn = this.holes || (this.names.size ? this.names : null);
    return drawn && !drawn.has(square) ? null : square;
  }

  /** The row and the column in which a square is drawn. */
  placeOf(square) {
    const at = this.flip ? this.rows * this.columns - 1 - square : square;
    return [Math.floor(at / this.columns), at % this.columns];
  }

  centre(square) {
    const [row, column] = this.placeOf(square);
    return [EDGE + (column + 0.5) * this.wide, EDGE + (row + 0.5) * this.high];
  }

  setFlip(flip) {
    if (flip === this.flip) return;
    this.flip = flip;
    if (!this.rows) return;
    this.drawSquares();
    this.layer.classList.add("still");
    for (const piece of this.pieces) this.put(piece);
    if (this.board) this.update(this);
    requestAnimationFrame(() => this.layer.classList.remove("still"));
  }

  /** Show a board. `next` are the possible clicks; empty if no click is possible. */
  update({ board, next = [], live = true }) {
    this.size(board);
    Object.assign(this, { board, next, live, clicked: board.clicked || [] });
    this.under.replaceChildren();
    const trace = (board.trace || []).flat();
    if (this.holes) this.drawTrace(board.trace || []);
    const nexts = new Map(next.map((step) => [step.to, step]));
    const captured = new Set(board.captured || []);
    const standing = new Map(board.pieces.map(([square, side, text]) => [square, { side, text }]));
    this.drawPieces();
    for (const [square, cell] of this.cells) {
      const here = standing.get(square);
      const step = live ? nexts.get(square) : undefined;
      const goal = step && step.from !== NONE;
      cell.classList.toggle("can", Boolean(step) && !goal);
      cell.classList.toggle("goal", Boolean(goal));
      const chosen = board.captured ? square === this.chosen : this.clicked.includes(square);
      cell.classList.toggle("chosen", chosen);
      cell.classList.toggle("passed", trace.includes(square));
      const [row, column] = [this.rowNames[Math.floor(square / board.columns)], this.columnNames[square % board.columns]];
      const where = this.names.get(square)
        ?? (this.holes ? `hole ${this.holes.get(square)}` : `row ${row}, column ${column}`);
      const words = [where, here ? this.words(here) : "empty"];
      if (chosen) words.push("chosen");
      else if (goal) words.push("can be moved to");
      else if (step) words.push(here ? "can move" : "can be clicked");
      cell.setAttribute("aria-label", words.join(", "));
      cell.setAttribute("aria-selected", square === this.chosen);
      if (goal) this.dot(square, step.far);
    }
    for (const piece of this.pieces) piece.element.classList.toggle("captured", captured.has(piece.square));
    this.preview(this.pointed);
  }

  /** Draw the pieces. Tiles and bars are told apart by their texts, so that they slide. */
  drawPieces() {
    const { pieces, shape = "stone" } = this.board;
    if (shape === "stone" || shape === "man") {
      this.movePieces();
      return;
    }
    const texts = pieces.map(([, , text]) => text);
    const largest = Math.max(...texts.map(Number));
    const kept = new Map([...this.layer.children].map((piece) => [piece.dataset.text, piece]));
    if (texts.length !== kept.size || texts.some((text) => !kept.has(text))) {
      put(this.layer, ...texts.map((text) => this.block(shape, text, largest)));
      for (const piece of this.layer.children) kept.set(piece.dataset.text, piece);
    }
    for (const [square, , text] of pieces) {
      const [x, y] = this.centre(square);
      kept.get(text).style.transform = `translate(${x}px, ${y}px)`;
    }
  }

  /** A tile, or a bar as wide as the number in its text against the largest one. */
  block(shape, text, largest) {
    const bar = shape === "bar";
    const width = bar ? this.wide * (0.12 + (0.8 * Number(text)) / largest) : SIZE - 8;
    const height = bar ? this.high - 8 : SIZE - 8;
    const rect = (className, down) => s("rect", { class: className, x: -width / 2, y: down - height / 2,
      width, height, rx: bar ? height / 2.4 : 12 });
    return s("g", { class: `man block ${shape}`, "data-text": text, "aria-hidden": "true" },
      rect("shade", bar ? 3 : 5), rect("body", 0), rect("wash", 0),
      s("text", { class: "man-text", y: bar ? 9 : 15, "font-size": bar ? 26 : 44 }, text));
  }

  /** What a piece is called. */
  words({ side, text }) {
    const word = this.board.words?.[text];
    const owner = this.act.sides()[side];
    return word ? `${owner} ${word}`.toLowerCase() : [text || "stone", owner].filter(Boolean).join(", ");
  }

  /** Move the pieces that are drawn to where they stand now, along the last move if it tells that. */
  movePieces() {
    const wanted = new Map(this.board.pieces.map(([square, side, text]) => [square, { side, text }]));
    const looks = ({ side, text }) => `${side} ${this.board.shape === "man" ? "" : text}`;
    const [kept, loose] = [[], []];
    for (const piece of this.pieces) {
      const here = wanted.get(piece.square);
      const stays = here && looks(here) === looks(piece);
      if (stays) {
        wanted.delete(piece.square);
        this.crown(piece, here.text);
      }
      (stays ? kept : loose).push(piece);
    }
    for (const [square, here] of wanted) {
      const way = (this.board.trace || []).find((one) => one.at(-1) === square);
      const same = loose.filter((piece) => looks(piece) === looks(here));
      const old = same.find((piece) => piece.square === way?.[0]) || same[0];
      const piece = old || { element: this.man(here), ...here };
      if (old) loose.splice(loose.indexOf(old), 1);
      else this.layer.append(piece.element);
      piece.square = square;
      this.crown(piece, here.text);
      this.put(piece);
      kept.push(piece);
    }
    for (const { element } of loose) {
      element.classList.add("gone");
      setTimeout(() => element.remove(), 220);
    }
    this.pieces = kept;
  }

  man({ side, text }) {
    const colour = this.colour(side);
    const crowned = this.board.shape === "man";
    const sign = crowned ? "" : this.many && side !== null ? text || String(side + 1) : text;
    const groove = (r) => s("circle", { class: "groove", r });
    return s("g", { class: `man ${colour}`, "aria-hidden": "true" },
      s("ellipse", { class: "shade", cx: 2, cy: 6, rx: 40, ry: 39 }),
      s("circle", { class: "body", r: 39, fill: COLOURS.includes(colour) ? `url(#${colour}-man)` : null }),
      s("circle", { class: "rim", r: 37.5 }),
      sign ? s("text", { class: "man-text", y: 13, "font-size": sign.length > 1 ? 28 : 40 }, sign)
        : crowned ? [groove(30), groove(22), s("path", { class: "crown",
          d: "M-20 12 L-24 -12 L-11 -2 L0 -19 L11 -2 L24 -12 L20 12 Z M-19 18 H19" })] : groove(27));
  }

  crown(piece, text) {
    piece.text = text;
    piece.element.classList.toggle("king", this.board.shape === "man" && text !== "");
  }

  put(piece) {
    const [x, y] = this.centre(piece.square);
    piece.element.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Draw the ways of the last move. */
  drawTrace(ways) {
    for (const way of ways) {
      const points = way.map((square) => this.centre(square).join(" "));
      this.under.append(s("path", { class: "way", d: `M${points.join("L")}` }));
    }
  }

  /** Show the way of the chosen piece to a goal while the pointer or the cursor is there. */
  preview(square) {
    this.pointed = square;
    const [from] = this.clicked;
    if (!this.holes || !this.live || from === undefined) return;
    const way = Object.values(this.board.ways || {}).find((one) => one[0] === from && one.at(-1) === square);
    this.hint(way && square !== from ? way : null);
  }

  dot(square, far) {
    const [cx, cy] = this.centre(square);
    this.under.append(s("circle", { class: `dot${far ? " far" : ""}`, cx, cy, r: 14 }));
  }

  /** Mark the squares of a move before it is played; null removes the marks. */
  hint(way) {
    drawArrows(this.over, way && way.length > 1 ? [way.map((square) => this.centre(square))] : []);
    for (const old of this.over.querySelectorAll(".dot")) old.remove();
    if (way?.length === 1) {
      const [cx, cy] = this.centre(way[0]);
      this.over.append(s("circle", { class: "dot hint", cx, cy, r: 22 }));
    }
  }

  /** The squares of a move by its text. */
  way(text) {
    return this.board?.ways?.[text] || [];
  }

  /** Colour pieces by parts with squares or a place, and a cost or a contribution; null for none. */
  heat(parts) {
    if (!this.board) return;
    const heats = new Map();
    const named = new Map([...this.names].map(([square, name]) => [name, square]));
    for (const { squares: all = [], place, before, value = -before } of parts || []) {
      const squares = place ? [named.get(place[1])] : all;
      for (const square of squares) heats.set(square, (heats.get(square) || 0) + value / squares.length);
    }
    const largest = Math.max(...[...heats.values()].map(Math.abs), 1e-9);
    const blocks = new Map([...this.layer.children].map((piece) => [piece.dataset.text, piece]));
    const texts = new Map(this.board.pieces.map(([square, , text]) => [square, text]));
    for (const [square, cell] of this.cells) {
      const heat = heats.get(square) || 0;
      const wash = (blocks.get(texts.get(square)) || cell).querySelector(".wash");
      if (!wash) continue;
      wash.style.fill = heat ? (heat > 0 ? "var(--heat-bad)" : "var(--heat-good)") : "";
      wash.style.opacity = heat ? 0.1 + (0.6 * Math.abs(heat)) / largest : "";
    }
  }

  // --- by hand -----------------------------------------------------------------------------

  placeAt(x, y) {
    const [row, column] = [Math.floor((y - EDGE) / this.high), Math.floor((x - EDGE) / this.wide)];
    const found = this.squareAt(row, column);
    if (!this.holes || found !== null) return found;
    // Between two columns of holes the nearer one counts.
    const left = (x - EDGE) / this.wide - column < 0.5;
    return this.squareAt(row, column + (left ? -1 : 1)) ?? this.squareAt(row, column + (left ? 1 : -1));
  }

  /** The piece on a square, if moves begin with it. */
  piece(square) {
    const begins = this.clicked.length === 1 && this.clicked[0] === square
      || this.next.some((step) => step.from === NONE && step.to === square);
    return begins ? this.pieces.find((piece) => piece.square === square) : null;
  }

  get chosen() {
    return this.clicked.at(-1) ?? null;
  }

  /** Choose the piece on a square, or put it back. One that has begun to capture stays chosen. */
  select(square) {
    if (square === null && this.clicked.length === 1) this.act.back();
    else if (square !== null && square !== this.chosen) this.act.step(NONE, square);
  }

  land(from, to) {
    this.act.step(from, to);
  }

  /** Handle a click, or Enter, on a square. */
  choose(square) {
    if (this.editing) {
      this.act.edit(square);
      return;
    }
    if (!this.live) return;
    const step = this.next.find(({ to }) => to === square);
    if (!step && square === this.chosen) this.select(null);
    // If no move begins with it, the server answers with the reason.
    else if (step || this.chosen !== null || this.pieces.some((piece) => piece.square === square)) {
      this.act.step(step?.from ?? this.chosen ?? NONE, square);
    }
  }

  /** The square to which an arrow key moves the cursor. */
  walk(square, key) {
    const [row, column] = this.placeOf(square);
    const [down, right] = STEPS[key];
    // Holes and named squares are in every second column, and those of the next row between them.
    const aside = row % 2 ? [1, -1] : [-1, 1];
    const reach = this.holes || this.names.size ? (down ? aside : [2 * right]) : [right];
    const there = reach.map((by) => this.squareAt(row + down, column + by));
    return there.find((found) => found !== null) ?? square;
  }
}

/** The board of a game without a grid: its text and a button for each move. */
export class PlainBoard {
  /** `act` has the function play(text). */
  constructor(act) {
    this.act = act;
    this.editing = false;
    this.text = h("pre", { class: "board-text", "aria-label": "Board" });
    this.moves = h("div", { class: "board-moves", role: "group", "aria-label": "Legal moves" });
    this.svg = h("div", { class: "plain-board" }, this.text, this.moves);
    this.element = h("div", { class: "board-box" }, this.svg);
  }

  setFlip() {}

  update({ board, legal = [], live = true }) {
    this.text.textContent = board.text;
    const focused = this.moves.contains(document.activeElement);
    put(this.moves, ...(live ? legal : []).map((text) =>
      h("button", { type: "button", "data-move": text, onclick: () => this.act.play(text) }, text)));
    if (focused) this.moves.querySelector("button")?.focus();
  }

  /** Mark the button of a move; null removes the mark. */
  hint(text) {
    for (const button of this.moves.children) {
      button.classList.toggle("primary", button.dataset.move === text);
    }
  }

  way(text) {
    return text;
  }

  heat() {}
}
