// @ts-check
// The games that the browser keeps, and the page that lists them with those of the server.

import { get, remove } from "./api.js";
import { chip, seatName } from "./choices.js";
import { ask, h, memory, put, sentence, toast } from "./dom.js";

const MOST = 50; // games in the browser

/** What a new table needs to go on with a game; the server keeps the same. */
function content(view) {
  const { id, game, seats, start, moves, rolled, declared, names, result } = view;
  const { play, actions, resigning, earlier } = view; // with a cube
  return {
    id, game, seats, position: start, moves, rolled, declared, names, result, play, actions,
    resigning, earlier,
  };
}

/** Keep the game of a table in the browser; the ones left longest ago make room. */
export function keepGame(view) {
  memory.set("table", view.id);
  const key = `game.${view.id}`;
  const kept = { ...content(view), saved: Date.now() / 1000 };
  const many = memory.keys("game.").length > MOST;
  if (memory.set(key, kept) && !many) return;
  const others = keptGames().filter(({ id }) => id !== view.id);
  for (const { id } of others.slice(MOST / 2)) memory.remove(`game.${id}`);
  memory.set(key, kept);
}

/** The game that the browser keeps for a table, or null. */
export function keptGame(id) {
  return memory.get(`game.${id}`, null);
}

/** All games that the browser keeps, the latest first. */
function keptGames() {
  return memory.keys("game.").map((key) => memory.get(key, null)).filter((game) => game?.id)
    .sort((a, b) => b.saved - a.saved);
}

export class GamesPage {
  kind = "games";

  constructor(root, catalogue) {
    this.root = root;
    this.catalogue = catalogue;
    this.list = h("ul", { class: "game-list" });
    put(root, h("section", { class: "card games-page", "aria-labelledby": "games-title" },
      h("h1", { id: "games-title" }, "Games"),
      h("p", { class: "muted" }, "Every game with a move is kept, here and on the server's disk. Open one to go on with it."),
      this.list));
  }

  go() {
    this.read();
    return true;
  }

  leave() {}

  async read() {
    let server = [];
    try {
      ({ games: server } = await get("/api/games"));
    } catch (error) {
      toast(sentence(error.message));
    }
    const games = new Map(keptGames().filter(({ moves }) => moves.length)
      .map((game) => [game.id, { ...game, ply: game.moves.length }]));
    for (const game of server) games.set(game.id, game);
    const known = [...games.values()].filter((game) => this.gameOf(game))
      .sort((a, b) => b.saved - a.saved);
    put(this.list, known.length
      ? known.map((game) => this.row(game))
      : h("li", { class: "muted" }, "No games yet."));
  }

  gameOf({ game }) {
    return this.catalogue.games.find(({ name }) => name === game);
  }

  row(game) {
    const { title, sides } = this.gameOf(game);
    const players = game.seats.map((seat, side) => [
      chip(this.gameOf(game), side),
      h("span", {}, game.names[sides[side]] || seatName(this.catalogue, seat)),
    ]);
    const when = new Date(1000 * game.saved);
    const moves = `${game.ply} ${game.ply === 1 ? "move" : "moves"}`;
    return h("li", {},
      h("a", { href: `#/play/${game.id}` },
        h("strong", {}, title),
        h("span", { class: "players" }, players),
        h("span", { class: "muted small" }, `${moves} · ${game.result || "going on"}`)),
      h("time", { class: "muted small", datetime: when.toISOString() },
        when.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })),
      h("button", {
        type: "button", class: "quiet",
        "aria-label": `Remove this game: ${title}, ${moves}`, onclick: () => this.remove(game, title),
      }, "Remove"));
  }

  async remove(game, title) {
    const text = `${title} with ${game.ply} moves will be gone for good.`;
    if (!(await ask("Remove this game?", text, "Remove"))) return;
    memory.remove(`game.${game.id}`);
    try {
      await remove(`/api/tables/${game.id}`);
    } catch (error) {
      if (error.status !== 404) toast(sentence(error.message));
    }
    this.read();
  }
}
