// Moving pieces by hand, the same on every board: by clicks, by dragging, and by keys.

const FAR = 12; // how far a pointer goes before a click has become a drag

/**
 * A hand on a board. The board draws itself in `svg`, holds its pieces in `layer`, and an element
 * for each place in `cells`, of which the one at `cursor` can be reached by Tab. It says which place
 * is where (`placeAt`), which piece can be taken up there (`piece`), which place is `chosen`, and
 * where an arrow key leads (`walk`). It is told what was done: `select(place)`, null to put the
 * piece back; `choose(place)`, a click that took nothing up; `land(from, to)`; and `put(piece)`, for
 * a piece to stand where it belongs.
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

  /** Where an event is in the board's units, and on which place; null beside all of them. */
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

  /** Let the piece go to where it stood; what becomes of it then is the server's to say. */
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
