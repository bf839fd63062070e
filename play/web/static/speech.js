// @ts-check
// Texts read aloud to people who do not see the board: moves, dice, the cube.

import { announce } from "./dom.js";

/** Say what was played. */
export function speakOfMove(before, view) {
  const move = view.moves[view.moves.length - 1];
  if (view.ply < before.ply) announce("Taken back.");
  else if (view.outcome !== null) announce(`${move ? `${move.text}. ` : ""}${view.result}.`);
  else if (move) {
    const who = view.seats[move.side].kind === "human" ? "You play" : `${view.sides[move.side]} plays`;
    const next = view.waiting === "human" ? ` ${view.sides[view.side]} to move.` : "";
    announce(`${who} ${move.text}.${next}`);
  }
}

/** Say what happened to the cube, and to offers of resignations. */
export function speakOfCube(before, { stakes, sides, side, outcome, result, ply }) {
  const old = before?.stakes;
  if (!old || before.ply > ply) return;
  if (stakes.offered && !old.offered) announce(`${sides[side]} doubles to ${2 * stakes.value}.`);
  else if (stakes.resigning && !old.resigning) announce(`${sides[1 - stakes.answering]} resigns ${stakes.resigning}.`);
  else if (stakes.value > old.value) announce(`The cube is at ${stakes.value}, with ${sides[stakes.owner]}.`);
  else if (old.resigning && outcome === null) announce("The resignation is declined.");
  else if (outcome !== null && before.outcome === null && before.ply === ply) announce(`${result}.`);
}
