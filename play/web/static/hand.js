// @ts-check
// Moving pieces on any board by clicks, dragging and keys.

const FAR = 12; // distance in pixels from which a click is a drag

/**
 * Input for a board. The board draws itself in `svg` and provides
 *
 * - `layer`: the element that holds the pieces;
 * - `cells`: an element for each place; Tab reaches the one at `cursor`;
 * - `placeAt(...)`: the place at a point;
 * - `piece(place)`: the piece that can be picked up there;
 * - `chosen`: the chosen place;
 * - `walk(...)`: the place to which an arrow key leads.
 *
 * It is called with the actions of the person: `select(place)`, with null to put the piece back;
 * `choose(place)` after a click that picked nothing up; `land(from, to)` after a move; and
 * `put(piece)` to draw a piece at its own place again.
 */
export class Hand {
  constructor(board) {
    this.board = board;
    this.held = null;
    board.svg.addEventListener("pointerdown", (event) => this.down(event));
    board.svg.addEventListener("pointermove", (event) => this.drag(event));
    board.svg.addEventListener("pointerup", (event) => this.up(event));
    board.svg.addEventListener("pointercancel", () => this.drop());
    board.svg.addEventListener("keydown", (event) => this.key(event));
  }

  /** The point of an event in the board's units, and its place; null outside all places. */
  at(event) {
    const { svg } = this.board;
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    return { x, y, place: this.board.placeAt(x, y) };
  }

  down(event) {
    const { board } = this;
    const { x, y, place } = this.at(event);
    if (place === null || event.button) return;
    const piece = board.live && !board.editing ? board.piece(place) : null;
    if (!piece) {
      board.choose(place);
      return;
    }
    this.held = { piece, x, y, place, moved: false, was: board.chosen === place };
    board.svg.setPointerCapture(event.pointerId);
    board.select(place);
  }

  drag(event) {
    const { held } = this;
    if (!held) return;
    const { x, y } = this.at(event);
    if (!held.moved && Math.hypot(x - held.x, y - held.y) < FAR) return;
    if (!held.moved) {
      held.moved = true;
      held.piece.element.classList.add("held");
      this.board.layer.append(held.piece.element);
    }
    held.piece.element.style.transform = `translate(${x}px, ${y}px)`;
  }

  up(event) {
    const { board, held } = this;
    if (!held) return;
    const { place } = this.at(event);
    this.drop();
    if (held.moved && place !== null && place !== held.place) board.land(held.place, place);
    else if (held.was && !held.moved) board.select(null);
  }

  /** Drop the piece. It returns to its place until the server confirms the move. */
  drop() {
    if (!this.held) return;
    this.held.piece.element.classList.remove("held");
    this.board.put(this.held.piece);
    this.held = null;
  }

  key(event) {
    const { board } = this;
    const place = [...board.cells.keys()].find((one) => board.cells.get(one) === event.target);
    if (place === undefined) return;
    if (event.key === "Enter" || event.key === " ") board.choose(place);
    else if (event.key === "Escape" && board.chosen !== null) board.select(null);
    else if (event.key.startsWith("Arrow")) this.focus(board.walk(place, event.key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focus(place) {
    const { board } = this;
    board.cells.get(board.cursor)?.setAttribute("tabindex", -1);
    board.cursor = place;
    board.cells.get(place).setAttribute("tabindex", 0);
    board.cells.get(place).focus();
  }
}
