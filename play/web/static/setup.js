// @ts-check
// The Set up panel: a position from a text or placed on the board.

import { h, put, sentence, toast } from "./dom.js";

// By the kind of the board; "named" is a grid whose squares have names.
const FORMS = {
  named: ["FEN", "B:W18,24,K10:B12,16"],
  backgammon: ["Position ID, XGID, GNU ID or FIBS board", "4HPwATDgc/ABMA"],
};
const NOTES = {
  named: "Squares are numbered from Black's side, as on the board; K marks kings.",
  backgammon: "Each side numbers the points from its own home. An XGID may bring its dice.",
};

export class SetupPanel {
  name = "setup";
  title = "Set up";

  constructor(page) {
    this.page = page;
    this.draft = null;
    this.element = h("div", {
      id: "panel-setup", role: "tabpanel", "aria-labelledby": "tab-setup", class: "panel",
    });
  }

  make() {
    this.made = true;
    const { sides, start } = this.page.view;
    const { kind } = this;
    const [form, example] = FORMS[kind] || ["Position as text", start];
    this.text = h("textarea", { rows: 3, spellcheck: "false", placeholder: example, maxlength: 1000,
      "aria-label": form, "aria-describedby": "setup-problem", name: "position",
      oninput: () => this.check() });
    this.problem = h("p", { class: "problem", id: "setup-problem", role: "status" });
    this.brush = h("div", { class: "choice brushes", role: "group", "aria-label": "Piece to place" });
    this.turn = h("select", { "aria-label": "Side to move", onchange: () => this.compose() },
      sides.map((side, n) => h("option", { value: n }, `${side} to move`)));
    this.edit = h("div", { class: "edit", hidden: true }, this.brush, h("div", { class: "row tight" }, this.turn,
      h("button", { type: "button", onclick: () => this.clear() }, "Clear"),
      h("button", { type: "button", title: "Start position", onclick: () => this.standard() }, "Start")));
    this.toggle = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.editing(!this.draft) },
      "Edit on the board");
    put(this.element, 
      h("label", { class: "field" }, form, this.text),
      this.problem,
      h("div", { class: "row tight" },
        h("button", { type: "button", class: "primary", "data-set": true, onclick: () => this.set() },
          "Play from here"),
        kind in FORMS && this.toggle,
        h("button", { type: "button", class: "quiet", onclick: () => this.copy() }, "Copy")),
      this.edit,
      h("p", { class: "muted small" }, NOTES[kind]),
    );
  }

  get kind() {
    const { kind, board } = this.page.view;
    return board.names?.length ? "named" : kind;
  }

  draw() {
    if (!this.made) this.make();
    if (this.draft) return;
    if (this.parked) {
      this.editing(true);
      return;
    }
    const { view, viewing } = this.page;
    const text = viewing?.position || view.situation || view.position;
    if (this.shown !== text) this.text.value = text;
    this.shown = text;
  }

  /** Another panel is opened: the board that is being set up waits until this one is open again. */
  hide() {
    const { draft } = this;
    if (draft) this.editing(false);
    this.parked = draft;
  }

  /** Play from the position. If it is refused, it stays for mending. */
  async set() {
    const { page } = this;
    const text = this.text.value.trim();
    let view;
    if (page.view.ply) view = await page.another({ position: text });
    else view = await page.act("position", { text });
    if (!view) return;
    if (this.draft) this.editing(false);
    if (view.id !== page.view.id) page.sit(view);
    page.open_tab("game");
  }

  /** Say what is wrong with the position, if anything is, while it is being changed. */
  check() {
    clearTimeout(this.checking);
    this.checking = setTimeout(async () => {
      const text = this.text.value.trim();
      const answer = text ? await this.page.act("check", { text }) : { error: "" };
      if (!answer || text !== this.text.value.trim()) return;
      this.problem.textContent = answer.error && sentence(answer.error);
      this.text.setAttribute("aria-invalid", Boolean(answer.error));
    }, 150);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.text.value);
      toast("Copied.");
    } catch {
      this.text.select();
    }
  }

  // --- on the board --------------------------------------------------------------------------

  editing(on) {
    const { board, view } = this.page;
    this.toggle.setAttribute("aria-pressed", on);
    this.toggle.textContent = on ? "Stop editing" : "Edit on the board";
    this.edit.hidden = !on;
    board.editing = on;
    this.page.board.element.classList.toggle("editing", on);
    if (!on) {
      this.draft = null;
      this.parked = null;
      this.page.drawBoard();
      this.shown = null;
      this.draw();
      return;
    }
    if (this.parked) {
      this.draft = this.parked;
      this.parked = null;
    } else {
      this.draft = structuredClone(this.page.viewing?.board || view.board);
      this.draft.trace = [];
      delete this.draft.captured;
      this.turn.value = String(view.side);
      this.brushes();
    }
    this.show();
  }

  /** The pieces to place, of which one is chosen. */
  brushes() {
    const { sides, board } = this.page.view;
    const men = () => sides.flatMap((name, side) =>
      Object.entries(board.words).map(([text, word]) => [[side, text], `${name} ${word}`]));
    const pieces = this.kind === "named" ? [...men(), [null, "Nothing"]]
      : [["x", "X"], ["o", "O"], ["", "Remove"]];
    this.piece = pieces[0][0];
    put(this.brush, ...pieces.map(([piece, title]) =>
      h("button", { type: "button", "aria-pressed": String(piece === this.piece),
        onclick: (e) => {
          this.piece = piece;
          for (const other of this.brush.children) other.setAttribute("aria-pressed", other === e.target);
        } }, title)));
  }

  show() {
    this.page.drawBoard();
    this.compose();
  }

  clear() {
    if (this.kind === "named") this.draft.pieces = [];
    else {
      this.draft.x = this.draft.x.map((_, p) => (p ? 0 : 15));
      this.draft.o = this.draft.o.map((_, p) => (p ? 0 : 15));
    }
    this.show();
  }

  standard() {
    if (this.kind === "named") {
      const far = this.draft.names.length - 12; // squares of both sides' men, by their numbers
      this.draft.pieces = this.draft.names.filter(([, name]) => name <= 12 || name > far)
        .map(([square, name]) => [square, Number(name > far), ""]);
    } else {
      const counts = Array(26).fill(0);
      Object.assign(counts, { 6: 5, 8: 3, 13: 5, 24: 2 });
      this.draft.x = [...counts];
      this.draft.o = [...counts];
    }
    this.show();
  }

  /** Handle a click on a place while editing. */
  place(where) {
    if (this.kind === "named") this.placeMan(where);
    else this.placeChecker(where);
    this.show();
  }

  placeMan(square) {
    const before = this.draft.pieces.find(([at]) => at === square);
    this.draft.pieces = this.draft.pieces.filter(([at]) => at !== square);
    const again = before && String(before.slice(1)) === String(this.piece);
    if (this.piece && !again) this.draft.pieces.push([square, ...this.piece]);
  }

  placeChecker(name) {
    const { board } = this.page;
    const [x, o] = [this.draft.x, this.draft.o];
    const sides = [[x, 0], [o, 1]];
    if (this.piece === "") {
      for (const [counts, side] of sides) {
        const point = board.point(side, name);
        if (point && counts[point]) {
          counts[point] -= 1;
          counts[0] += 1;
          return;
        }
      }
      return;
    }
    const side = this.piece === "x" ? 0 : 1;
    const [counts, other] = side ? [o, x] : [x, o];
    const point = board.point(side, name);
    if (!point || (point < 25 && other[25 - point])) return;
    if (!counts[0]) {
      toast("All fifteen checkers are on the board: remove one first.");
      return;
    }
    counts[0] -= 1;
    counts[point] += 1;
  }

  /** Write the text of the position on the board. */
  compose() {
    this.text.value = this.composed();
    this.check();
  }

  composed() {
    const side = Number(this.turn.value);
    if (this.kind === "named") {
      const names = new Map(this.draft.names);
      const squares = (whose) => this.draft.pieces.filter(([, owner]) => owner === whose)
        .map(([square, , text]) => [text, names.get(square)])
        .sort((a, b) => Number(a[1]) - Number(b[1])).map((parts) => parts.join("")).join(",");
      return `${"BW"[side]}:W${squares(1)}:B${squares(0)}`;
    }
    const { x, o } = this.draft;
    const letter = (p) => {
      if (p && x[p]) return String.fromCharCode(64 + x[p]);
      return p < 25 && o[25 - p] ? String.fromCharCode(96 + o[25 - p]) : "-";
    };
    const letters = Array.from({ length: 26 }, (_, p) => letter(p)).join("");
    return `XGID=${letters}:0:0:${side ? -1 : 1}:00:0:0:0:0:10`;
  }
}
