// @ts-check
// The page that lists the games that the server keeps.

import { get, remove } from "./api.js";
import { chip, seatName } from "./choices.js";
import { ask, h, put, sentence, toast } from "./dom.js";

export class GamesPage {
  kind = "games";

  constructor(root, catalogue) {
    this.root = root;
    this.catalogue = catalogue;
    this.list = h("ul", { class: "game-list" });
    put(root, h("section", { class: "card games-page", "aria-labelledby": "games-title" },
      h("h1", { id: "games-title" }, "Games"),
      h("p", { class: "muted" }, "Every game with a move is kept on the server's disk. Open one to continue it, in any browser."),
      this.list));
  }

  go() {
    this.read();
    return true;
  }

  leave() {}

  async read() {
    let kept = [];
    try {
      ({ games: kept } = await get("/api/games"));
    } catch (error) {
      toast(sentence(error.message));
    }
    const games = kept.filter((game) => this.gameOf(game));
    put(this.list, games.length
      ? games.map((game) => this.row(game))
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
    try {
      await remove(`/api/tables/${game.id}`);
    } catch (error) {
      if (error.status !== 404) toast(sentence(error.message));
    }
    this.read();
  }
}
