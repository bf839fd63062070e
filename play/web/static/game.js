// @ts-check
// The Game panel: the moves, the curve of their values, and files.

import { get, post } from "./api.js";
import { chart } from "./chart.js";
import { chip } from "./choices.js";
import { h, icon, put, sentence, signed, toast } from "./dom.js";

/** Signs of luck, as the server calls it. */
const LUCK = { "very lucky": "↑↑", lucky: "↑", unlucky: "↓", "very unlucky": "↓↓" };
const MARKS = { "?!": "dubious", "?": "error", "??": "blunder" };

export class GamePanel {
  name = "game";
  title = "Game";

  constructor(page) {
    this.page = page;
    this.asked = "";
    this.element = h("div", {
      id: "panel-game", role: "tabpanel", "aria-labelledby": "tab-game", class: "panel",
    });
    this.curve = h("div", { class: "curve-box" });
    this.moves = h("ol", { class: "moves", tabindex: 0, "aria-label": "Moves" });
    this.variations = h("ul", { class: "variations", "aria-label": "Variations" });
    this.players = h("div", { class: "players-rated number small" });
    this.file = h("input", {
      type: "file", class: "unseen", tabindex: -1, "aria-hidden": "true",
      accept: `${page.game.suffix},.txt`, onchange: () => this.read(),
    });
    this.note = h("p", { class: "muted small" });
    const button = (name, title, act) =>
      h("button", { type: "button", class: "quiet", title, "aria-label": title, onclick: act }, icon(name));
    this.element.append(
      this.curve,
      h("div", { class: "row tight walk" },
        button("first", "To the start", () => page.look(0)),
        button("previous", "Back one move", () => page.look(page.ply - 1)),
        button("next", "Forward one move", () => page.look(page.ply + 1)),
        button("last", "To the present position", () => page.back()),
        h("span", { class: "space" }),
        h("button", { type: "button", onclick: () => this.file.click() }, "Load…"),
        h("button", { type: "button", onclick: () => this.save() }, "Save")),
      this.moves,
      this.variations,
      h("div", { class: "row tight" },
        h("button", { type: "button", class: "quiet", "data-mistake": true, onclick: () => this.mistake() }, "Next mistake"),
        h("button", { type: "button", class: "quiet", "data-report": true, onclick: () => this.report() }, "Report")),
      this.players,
      this.note,
      this.file,
    );
  }

  draw() {
    this.drawMoves();
    this.drawCurve();
  }

  /** The judgement of a move, if it is known and of this game. */
  judged(n) {
    const { view } = this.page;
    return this.values?.of === view.id ? this.values.moves[n] : null;
  }

  /** The numbers of moves with marks, such as 4 for the fourth. */
  get marked() {
    return this.page.view.moves.map((_, n) => n + 1).filter((ply) => this.judged(ply - 1)?.mark);
  }

  /** Go to the next marked move; to the first one from the end of the game and after the last one. */
  mistake() {
    const { page, marked } = this;
    const next = marked.find((ply) => ply > page.ply && page.ply < page.view.ply) ?? marked[0];
    if (next === undefined) return toast("No mistakes are marked.");
    page.look(next);
    return toast(sentence(this.told(next)));
  }

  /** A marked move in words. */
  told(ply) {
    const { view } = this.page;
    const { mark, best, lost, loss } = this.judged(ply - 1);
    const { side, text } = view.moves[ply - 1];
    const size = this.values.points ? `${loss.toFixed(3)} points` : `${(100 * lost).toFixed(0)} % of a result`;
    return `${view.sides[side]}, ${text}: ${MARKS[mark]} that lost ${size}; better: ${best}`;
  }

  /** Save the accuracy of the players and the marked moves as a text. */
  report() {
    const { page, values } = this;
    const lines = this.marked.map((ply) => `Move ${ply}, ${this.told(ply)}`);
    download("report.txt", [page.game.title, page.view.result, values ? `Judged by ${values.name}${this.play()}` : "Not judged yet",
      ...[...this.players.children].map((one) => one.textContent), ...lines].filter(Boolean).join("\n") + "\n");
  }

  /** What was done with the cube before a move, with marks of errors; null if that is nothing. */
  cubes(n) {
    const { view } = this.page;
    const here = this.values?.of === view.id
      ? this.values.cubes.filter((one) => one?.ply === n && (one.action !== "no double" || one.mark)) : [];
    return here.length ? h("span", { class: "cube-said small" }, ...here.map((one) => h("span", {
      title: `${one.mark ? `lost ${one.loss.toFixed(3)}; ` : ""}right: ${one.best}`,
      "aria-label": `${view.sides[one.side]}, ${one.action}${one.mark ? `, ${MARKS[one.mark]}, right: ${one.best}` : ""}`,
    }, one.action, one.mark && h("b", { class: "mark" }, ` ${one.mark}`), " "))) : null;
  }

  drawMoves() {
    const { page } = this;
    const { view, ply } = page;
    const COLUMNS = view.sides.length > 2 ? 3 : 2;
    this.moves.style.setProperty("--columns", COLUMNS);
    this.moves.classList.toggle("many", COLUMNS > 2);
    const cells = [];
    view.moves.forEach((move, n) => {
      const players = view.sides.length;
      if (move.side % COLUMNS === 0 || n === 0) {
        const number = Math.floor((n + view.moves[0].side) / players) + 1;
        const told = move.side < COLUMNS || n === 0;
        cells.push(h("li", { class: "move-number number", "aria-hidden": "true" }, told && `${number}.`));
        for (let gap = 0; gap < move.side % COLUMNS; gap += 1) cells.push(h("li", { class: "gap" }));
      }
      const found = this.judged(n);
      cells.push(
        h("li", {},
          this.cubes(n),
          h("button",
            {
              type: "button",
              class: "move number",
              "aria-current": n + 1 === ply ? "true" : null,
              "aria-label": `${view.sides[move.side]} ${move.roll ? `rolls ${move.roll}, ` : ""}${move.text}`
                + (found?.luck_word ? `, ${found.luck_word} roll` : "")
                + (found ? `, ${found.mark ? `${MARKS[found.mark]}, ` : ""}value ${found.value_text}` : ""),
              title: [move.comment, found?.mark && `better: ${found.best}`,
                found?.mark && !this.values.points && `lost ${(100 * found.lost).toFixed(0)} % of a result${this.play()}`,
                found?.luck !== undefined && `luck ${signed(found.luck)} ${found.luck_word}`.trim(),
              ].filter(Boolean).join(" · ") || null,
              onclick: () => this.page.look(n + 1),
            },
            move.roll && h("span", { class: "roll" }, move.roll),
            players > 2 && chip(page.game, move.side),
            h("span", {},
              h("span", { class: "move-text" }, move.text),
              found?.mark && h("b", { class: "mark" }, ` ${found.mark}`),
              found?.luck_word && h("span", { class: "muted" }, ` ${LUCK[found.luck_word]}`)),
            found && h("span", { class: "move-value muted small" },
              Math.abs(found.value) >= 1e9 ? found.value_text : signed(found.value, this.values.unit)))),
      );
    });
    const last = this.cubes(view.moves.length);
    if (last) cells.push(h("li", { class: "none" }, last));
    if (!cells.length) cells.push(h("li", { class: "muted none" }, "No moves yet."));
    put(this.moves, ...cells);
    const current = this.moves.querySelector("[aria-current]");
    if (current) {
      // Not scrollIntoView, which would scroll the page as well.
      this.moves.scrollTop = current.offsetTop - this.moves.clientHeight / 2;
    }
    put(this.variations, ...view.variations.map(({ ply: from, moves }, number) => h("li", {},
      h("button", { type: "button", class: "quiet small", "data-variation": number,
        title: "Back to these moves", onclick: () => page.act("variation", { number }) },
      `${Math.floor((from + moves[0].side) / view.sides.length) + 1}${moves[from].side ? "…" : "."} ${moves.slice(from, from + 8).map((move) => move.text).join(" ")}${moves.length > from + 8 ? " …" : ""}`))));
    this.drawPlayers();
  }

  /** For what play the chances hold by which moves are judged. */
  play() {
    return this.values?.play ? `, ${this.values.play}` : "";
  }

  /** The accuracy of each player, below the moves. */
  drawPlayers() {
    const { view } = this.page;
    const known = this.values?.of === view.id ? this.values : { players: [] };
    const title = known.points ? null : `by the share of a result that each move keeps${this.play()}`;
    put(this.players, ...known.players.map((one, side) => one.decisions > 0 && h("p", { title },
      h("b", {}, view.sides[side]), one.accuracy !== null && ` accuracy ${one.accuracy.toFixed(1)} %`,
      h("span", { class: "muted" },
        `${one.accuracy === null ? ":" : " in"} ${one.decisions} ${one.decisions === 1 ? "decision" : "decisions"}`,
        one.accuracy === null && `, without marks because ${known.name} knows no chances`,
        known.points && `, ${one.lost.toFixed(3)} points lost`,
        one.luck !== null && `, luck ${signed(one.luck)}`))));
  }

  async drawCurve() {
    const { page } = this;
    const evaluator = page.panel("analysis").evaluator;
    if (!evaluator) return;
    const asked = `${page.view.id} ${page.view.version} ${page.view.ply} ${evaluator}`;
    if (asked !== this.asked) {
      this.asked = asked;
      try {
        const depth = page.game.dice ? 0 : page.game.sides.length > 2 ? 2 : 5;
        const { id } = page.view;
        const values = await post(`/api/tables/${id}/curve`, { evaluator, depth });
        this.values = { ...values, of: id };
      } catch {
        return;
      }
      if (asked !== this.asked) return;
      page.values = this.values;
      this.drawMoves();
      const { curves, moves } = this.values;
      if ([...curves[0], ...moves, ...this.values.cubes].includes(null)) {
        // Time ran out: ask again for the rest.
        this.asked = "";
        setTimeout(() => page.tab === this.name && page.view.id === this.values.of && this.drawCurve(), 100);
      }
    }
    if (!this.values) return;
    const { curves, unit, name } = this.values;
    const sides = page.view.sides;
    const finite = curves.flat().filter((v) => v !== null && Math.abs(v) < 1e8);
    const many = curves.length > 1;
    const bound = Math.max(many ? unit / 10 : unit, ...finite.map(Math.abs));
    const lines = curves.map((values, side) => ({
      name: sides[side],
      points: values.map((v, n) => [n, v === null ? null : Math.max(-bound, Math.min(bound, v))]),
      colour: many ? `var(--line-${side})` : undefined,
    }));
    if (curves[0].length < 2) {
      put(this.curve, h("p", { class: "muted" }, "The curve of values begins with the first move."));
      return;
    }
    const last = curves.map((values, side) => `${sides[side]} ${(values[page.ply] ?? 0).toFixed(2)}`);
    const whom = many ? "each player, against the mean of all" : sides[0];
    put(this.curve, 
      h("p", { class: "curve-title" },
        h("span", {}, many ? "Each player against the mean" : `Value for ${whom}`), h("span", { class: "muted" }, `by ${name}`)),
      chart(lines, {
        title: `Values of the game for ${whom} by ${name}, now ${last.join(", ")}`,
        height: 150, width: 480, zero: 0, low: -bound, high: bound, across: "move", legend: many,
        marked: page.ply, pick: (n) => page.look(n),
      }),
    );
  }

  async save() {
    try {
      const { name, text } = await get(`/api/tables/${this.page.view.id}/save`);
      download(name, text);
    } catch (error) {
      toast(sentence(error.message));
    }
  }

  async read() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    if (file.size > this.page.catalogue.limits.file) {
      toast("This file is too large.");
      return;
    }
    this.load(await file.text());
  }

  /**
   * Load a game from a file: the first of several, with a list of the others. Moves that were
   * played stay at their table, and the file's game gets another.
   */
  async load(text, number = 0) {
    const { page } = this;
    const played = page.view.ply > 0 && texts(page.view) !== this.loaded;
    const table = played ? await page.another() : page.view;
    const answer = table && (await page.act("load", { text, number }, table.id));
    if (!answer) return;
    if (played) page.sit(answer.view);
    else page.show(answer.view);
    page.panel("game").describe(text, answer);
  }

  describe(text, answer) {
    this.loaded = texts(answer.view);
    const several = answer.games.length > 1;
    put(this.note, 
      ...(several
        ? [h("label", { class: "field" }, answer.total > answer.games.length
          ? `${answer.games.length} of ${answer.total} games shown` : `The file holds ${answer.total} games`,
            h("select", { onchange: (e) => this.load(text, Number(e.target.value)) },
              answer.games.map((title, n) => h("option", { value: n, selected: n === answer.number }, title))))]
        : []),
      answer.problems.join(" "),
    );
  }
}

function download(name, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  document.body.append(link);
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
    link.remove();
  }, 1000);
}

function texts(view) {
  return view.moves.map((move) => move.text).join(" ");
}
