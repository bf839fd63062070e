// @ts-check
// The board of checkers: where things are drawn. The rules are on the server.

import { h, s } from "./dom.js";
import { Hand } from "./hand.js";
import { arrowHead, drawArrows, grain } from "./wood.js";

const SIZE = 100;
const EDGE = 44;
const NAMES = { b: "black man", B: "black king", w: "white man", W: "white king" };

/** The row from the top and the column from the left of square 1 to 32; 1 to 4 are at the top. */
function place(square) {
  const row = (square - 1) >> 2;
  return [row, 2 * ((square - 1) % 4) + ((row + 1) % 2)];
}

function squareAt(row, column) {
  if (row < 0 || row > 7 || column < 0 || column > 7 || (row + column) % 2 === 0) return null;
  return 4 * row + (column >> 1) + 1;
}

export class CheckersBoard {
  /** `act` has the functions step(from, to) and, for setting up, edit(square). */
  constructor(act) {
    this.act = act;
    this.flip = false;
    this.selected = null;
    this.cursor = 1;
    this.next = [];
    this.cells = new Map();
    this.pieces = [];
    this.editing = false;
    this.make();
  }

  make() {
    const span = 8 * SIZE + 2 * EDGE;
    this.squares = s("g", { role: "grid", "aria-label": "Board, squares 1 to 32" });
    this.under = s("g", {});
    this.over = s("g", { class: "over" });
    this.layer = s("g", { class: "men" });
    this.labels = s("g", { class: "labels", "aria-hidden": "true" });
    this.svg = s(
      "svg",
      { class: "board checkers", viewBox: `0 0 ${span} ${span}` },
      s(
        "defs",
        {},
        arrowHead(),
        s("radialGradient", { id: "black-man", cx: 0.38, cy: 0.32, r: 0.8 },
          s("stop", { offset: 0, class: "black-1" }), s("stop", { offset: 1, class: "black-2" })),
        s("radialGradient", { id: "white-man", cx: 0.38, cy: 0.32, r: 0.85 },
          s("stop", { offset: 0, class: "white-1" }), s("stop", { offset: 1, class: "white-2" })),
      ),
      s("rect", { class: "frame", width: span, height: span, rx: 22 }),
      grain(0, 0, span, span, { seed: 7, lines: 26 }),
      s("rect", {
        class: "inlay", x: EDGE - 7, y: EDGE - 7, width: 8 * SIZE + 14, height: 8 * SIZE + 14,
        rx: 5,
      }),
      s("rect", { class: "pale", x: EDGE, y: EDGE, width: 8 * SIZE, height: 8 * SIZE }),
      grain(EDGE, EDGE, 8 * SIZE, 8 * SIZE, { seed: 3, lines: 40, across: true }),
      this.squares,
      this.labels,
      this.under,
      this.layer,
      this.over,
    );
    this.element = h("div", { class: "board-box" }, this.svg);
    this.drawSquares();
    this.hand = new Hand(this);
  }

  centre(square) {
    const [row, column] = place(square);
    const [r, c] = this.flip ? [7 - row, 7 - column] : [row, column];
    return [EDGE + (c + 0.5) * SIZE, EDGE + (r + 0.5) * SIZE];
  }

  drawSquares() {
    this.squares.replaceChildren();
    this.labels.replaceChildren();
    this.cells.clear();
    for (let row = 0; row < 8; row += 1) {
      const line = s("g", { role: "row" });
      for (let column = 0; column < 8; column += 1) {
        const [r, c] = this.flip ? [7 - row, 7 - column] : [row, column];
        const square = squareAt(r, c);
        if (square === null) continue;
        const [x, y] = this.centre(square);
        const cell = s(
          "g",
          {
            role: "gridcell",
            class: "square",
            tabindex: square === this.cursor ? 0 : -1,
            "data-square": square,
            transform: `translate(${x - SIZE / 2} ${y - SIZE / 2})`,
          },
          s("rect", { width: SIZE, height: SIZE, class: "deep" }),
          grain(0, 0, SIZE, SIZE, { seed: square * 17, lines: 7, across: true }),
          s("rect", { width: SIZE, height: SIZE, class: "wash" }),
          s("rect", { x: 4, y: 4, width: SIZE - 8, height: SIZE - 8, rx: 4, class: "ring" }),
          s("text", { x: 7, y: 19, class: "square-number", "aria-hidden": "true" }, String(square)),
        );
        cell.addEventListener("focus", () => {
          this.cursor = square;
        });
        this.cells.set(square, cell);
        line.append(cell);
      }
      this.squares.append(line);
    }
  }

  setFlip(flip) {
    if (flip === this.flip) return;
    this.flip = flip;
    this.drawSquares();
    this.layer.classList.add("still");
    for (const piece of this.pieces) this.put(piece);
    requestAnimationFrame(() => this.layer.classList.remove("still"));
  }

  /** Show a board. `next` are the possible steps; empty if no step is possible. */
  update({ board, next = [], taken = [], live = true }) {
    this.next = next;
    this.board = board;
    this.live = live;
    this.movePieces(board);
    const captured = new Set(board.captured || []);
    for (const piece of this.pieces) {
      piece.element.classList.toggle("captured", captured.has(piece.square));
    }
    // The piece that began a capture must continue it.
    if (taken.length) this.selected = taken[taken.length - 1][1];
    else if (!next.some((step) => step.from === this.selected)) this.selected = null;
    this.going = taken.length > 0;
    this.mark();
  }

  movePieces(board) {
    const wanted = new Map(board.pieces.map(([square, letter]) => [square, letter]));
    const kept = [];
    const loose = [];
    for (const piece of this.pieces) {
      const letter = wanted.get(piece.square);
      if (letter && letter.toLowerCase() === piece.letter.toLowerCase()) {
        wanted.delete(piece.square);
        this.crown(piece, letter);
        kept.push(piece);
      } else {
        loose.push(piece);
      }
    }
    for (const [square, letter] of wanted) {
      const colour = letter.toLowerCase();
      const ends = (board.trace || []).find((way) => way[way.length - 1] === square);
      let index = loose.findIndex((p) => p.letter.toLowerCase() === colour && ends?.[0] === p.square);
      if (index < 0) index = loose.findIndex((p) => p.letter.toLowerCase() === colour);
      const piece = index < 0 ? this.makePiece(letter) : loose.splice(index, 1)[0];
      piece.square = square;
      this.crown(piece, letter);
      this.put(piece);
      if (index < 0) this.layer.append(piece.element);
      kept.push(piece);
    }
    for (const piece of loose) {
      piece.element.classList.add("gone");
      setTimeout(() => piece.element.remove(), 220);
    }
    this.pieces = kept;
  }

  makePiece(letter) {
    const colour = letter.toLowerCase() === "b" ? "black" : "white";
    const element = s(
      "g",
      { class: `man ${colour}`, "aria-hidden": "true" },
      s("ellipse", { class: "shade", cx: 2, cy: 6, rx: 40, ry: 39 }),
      s("circle", { class: "body", r: 39, fill: `url(#${colour}-man)` }),
      s("circle", { class: "rim", r: 37.5 }),
      s("circle", { class: "groove", r: 30 }),
      s("circle", { class: "groove", r: 22 }),
      s("path", {
        class: "crown",
        d: "M-20 12 L-24 -12 L-11 -2 L0 -19 L11 -2 L24 -12 L20 12 Z M-19 18 H19",
      }),
    );
    return { element, letter, square: 0 };
  }

  crown(piece, letter) {
    piece.letter = letter;
    piece.element.classList.toggle("king", letter !== letter.toLowerCase());
  }

  put(piece) {
    const [x, y] = this.centre(piece.square);
    piece.element.style.transform = `translate(${x}px, ${y}px)`;
  }

  pieceAt(square) {
    return this.pieces.find((piece) => piece.square === square);
  }

  /** Mark and label the pieces that can move, the chosen piece and its goals. */
  mark() {
    const starts = new Set(this.next.map((step) => step.from));
    const ends = new Map(
      this.next.filter((step) => step.from === this.selected).map((step) => [step.to, step]),
    );
    const trace = (this.board?.trace || []).flat();
    for (const [square, cell] of this.cells) {
      const piece = this.pieceAt(square);
      cell.classList.toggle("can", this.live && starts.has(square) && !this.going);
      cell.classList.toggle("chosen", square === this.selected);
      cell.classList.toggle("goal", ends.has(square));
      cell.classList.toggle("far", Boolean(ends.get(square)?.far));
      cell.classList.toggle("passed", trace.includes(square));
      const words = [`${square}`, piece ? NAMES[piece.letter] : "empty"];
      if (square === this.selected) words.push("chosen");
      else if (ends.has(square)) words.push("can be moved to");
      else if (starts.has(square)) words.push("can move");
      cell.setAttribute("aria-label", words.join(", "));
      cell.setAttribute("aria-selected", square === this.selected);
    }
    this.under.replaceChildren();
    for (const [square, step] of ends) {
      const [x, y] = this.centre(square);
      this.under.append(s("circle", { class: `dot${step.far ? " far" : ""}`, cx: x, cy: y, r: 14 }));
    }
  }

  /** Show an arrow for a move before it is played; null removes it. */
  hint(way) {
    drawArrows(this.over, way ? [way.map((square) => this.centre(square))] : []);
  }

  /** The path of a move by its notation, as far as the text tells it. */
  way(text) {
    return text.split(/[-x]/).map(Number);
  }

  /** Colour the squares of pieces or terms by their contributions; null removes the colours. */
  heat(parts) {
    const largest = Math.max(...(parts || []).map((p) => Math.abs(p.before)), 1e-9);
    for (const [square, cell] of this.cells) {
      const [row, column] = place(square);
      const part = (parts || []).find((p) => p.before
        && (p.place ? p.place[1] === square : p.squares?.includes(63 - 8 * row - column)));
      const wash = cell.querySelector(".wash");
      wash.style.fill = part ? (part.before > 0 ? "var(--heat-good)" : "var(--heat-bad)") : "";
      wash.style.opacity = part ? 0.2 + (0.7 * Math.abs(part.before)) / largest : "";
    }
  }

  // --- by hand -----------------------------------------------------------------------------

  placeAt(x, y) {
    const [c, r] = [Math.floor((x - EDGE) / SIZE), Math.floor((y - EDGE) / SIZE)];
    return this.flip ? squareAt(7 - r, 7 - c) : squareAt(r, c);
  }

  /** The piece on a square, if it can be picked up. */
  piece(square) {
    return this.next.some((step) => step.from === square) ? this.pieceAt(square) : null;
  }

  get chosen() {
    return this.selected;
  }

  /** Choose the piece on a square, or none. The piece that began a capture stays chosen. */
  select(square) {
    if (!this.going) this.selected = square;
    this.mark();
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
    if (this.next.some((step) => step.from === this.selected && step.to === square)) {
      this.act.step(this.selected, square);
    } else if (this.next.some((step) => step.from === square) && !this.going) {
      this.select(square === this.selected ? null : square);
    } else if (this.selected !== null || this.pieceAt(square)) {
      // Not a step: the server answers with the reason.
      const target = this.next.find((step) => step.from === square)?.to ?? square;
      this.act.step(this.selected ?? square, this.selected === null ? target : square);
    }
  }

  /** The square to which an arrow key moves the cursor. */
  walk(square, key) {
    const [row, column] = place(square);
    const turn = this.flip ? -1 : 1;
    const [dr, dc] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -2], ArrowRight: [0, 2] }[key];
    const r = row + turn * dr;
    let c = column + turn * dc;
    // Playing squares of neighbouring rows are one column apart.
    if (dr) c = (r + c) % 2 === 0 ? (r % 2 === 0 ? c + 1 : c - 1) : c;
    return squareAt(r, Math.max(0, Math.min(7, c))) ?? square;
  }
}
