// @ts-check
// The strips next to the board: each side's name, player, score and turn.

import { chip, seatName } from "./choices.js";
import { h, put } from "./dom.js";

/** The text beside the name of a side. */
const DETAILS = {
  backgammon: (board, side) => `${board.pips[side]} pips`,
  grid: (board, side) => {
    const goal = new Set((board.tints || []).filter(([, whose]) => whose === side).map(([square]) => square));
    const own = board.pieces.filter(([, whose]) => whose === side);
    if (!goal.size) return pieces(own.length);
    return `${own.filter(([square]) => goal.has(square)).length} of ${goal.size} home`;
  },
  plain: () => "",
};

/** Draw the strips of a page with a board. */
export function drawStrips(page) {
  const { view } = page;
  const { bottom } = page;
  const order = page.many ? view.sides.map((_, side) => side) : [bottom, 1 - bottom];
  order.forEach((side, n) => {
    const seat = view.seats[side];
    const board = page.viewing?.board || view.board;
    const detail = DETAILS[view.kind](board, side);
    const limit =
      seat.kind === "evaluator" && !seat.evaluator.startsWith("level:") ? (seat.depth === null ? `${seat.seconds} s` : `depth ${seat.depth}`) : "";
    const acting = view.stakes?.answering ?? view.side;
    const turn = view.outcome === null && acting === side && !page.viewing;
    const what = { roll: "to roll", answer: "to answer", evaluator: "thinking…", program: "thinking…" };
    put(page.strips[n],
      chip(page.game, side),
      h("strong", {}, view.sides[side]),
      h("span", { class: "who" }, view.names[view.sides[side]] || seatName(page.catalogue, seat),
        limit && h("span", { class: "muted" }, ` · ${limit}`)),
      h("span", { class: "muted number count" }, [score(view.stakes, side), detail].filter(Boolean).join(" · ")),
      turn ? h("span", { class: "turn" }, (!view.paused && what[view.waiting]) || "to move") : null,
    );
    page.strips[n].classList.toggle("active", turn);
  });
}

/** The score of a side in a match; empty without a match. */
function score(stakes, side) {
  if (!stakes?.match_length) return "";
  return `${stakes.score[side]} of ${stakes.match_length}`;
}

function pieces(count) {
  return `${count} ${count === 1 ? "piece" : "pieces"}`;
}
