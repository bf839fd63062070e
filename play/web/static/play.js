// @ts-check
// The page with a board: the state of a table, and the actions of people at it.

import { drawActions, drawTools, hint } from "./actions.js";
import { get, post, Refusal, Stream } from "./api.js";
import { AnalysisPanel } from "./analysis.js";
import { BackgammonBoard } from "./backgammon.js";
import { newGame, usual } from "./choices.js";
import { announce, h, memory, put, sentence, toast } from "./dom.js";
import { GamePanel } from "./game.js";
import { GridBoard, PlainBoard } from "./grid.js";
import { SetupPanel } from "./setup.js";
import { speakOfCube, speakOfMove } from "./speech.js";
import { drawStrips } from "./strips.js";
import { Tabs } from "./tabs.js";
import { Thinking } from "./thinking.js";
import { WhyPanel } from "./why.js";

const BOARDS = {
  backgammon: BackgammonBoard, grid: GridBoard, plain: PlainBoard,
};

const EXAMPLES = { backgammon: "8/5 6/5" };

export class PlayPage {
  kind = "play";

  constructor(root, catalogue) {
    this.root = root;
    this.catalogue = catalogue;
    this.view = null;
    this.viewing = null; // the earlier position that is shown; null for the present one
    this.thought = null;
    this.analysis = null;
    this.values = null;
    this.panels = [];
    this.sending = Promise.resolve();
  }

  /** Go to a table; without an id to the running game, or to a new one if there is none. */
  go(id) {
    const wanted = id || this.view?.id || memory.get("table", "");
    if (wanted && wanted === this.view?.id) {
      this.address(wanted);
      return true;
    }
    this.stream?.close();
    this.stream = null;
    if (wanted) this.join(wanted, Boolean(id));
    else this.fresh();
    return true;
  }

  leave() {
    this.stream?.close();
    this.banner("");
  }

  address(id) {
    history.replaceState(null, "", `#/play/${id}`);
  }

  /** Open a table for the game played last, with its players. */
  fresh() {
    const names = this.catalogue.games.map((game) => game.name);
    const last = memory.get("game", names[0]);
    const game = names.includes(last) ? last : names[0];
    this.open({ game, seats: usual(this.catalogue, game), play: memory.get(`play.${game}`, undefined) });
  }

  /** Open a new table. */
  async open(content) {
    put(this.root, h("p", { class: "lonely", role: "status" }, "Setting up the board…"));
    try {
      this.sit(await post("/api/tables", content));
    } catch (error) {
      put(this.root,
        h("p", { class: "lonely" }, `${sentence(error.message)} `,
          h("button", { type: "button", onclick: () => this.open(content) }, "Try again")),
      );
    }
  }

  /** Go to a table by its id; `named` if its address says so, and not only the browser's memory. */
  async join(id, named = true) {
    try {
      this.sit(await get(`/api/tables/${id}`));
    } catch (error) {
      if (error.status === 404 && !named) this.fresh();
      else this.lonely(error);
    }
  }

  lonely(error) {
    const text = error.status === 404 ? "This game is no longer kept." : sentence(error.message);
    put(this.root,
      h("h1", { class: "unseen" }, "A game that cannot be shown"),
      h("p", { class: "lonely" }, `${text} `,
        h("button", { type: "button", class: "primary", onclick: () => this.fresh() }, "New table")),
    );
  }

  /** Show a table and listen to its news. */
  sit(view) {
    this.address(view.id);
    this.start(view);
    this.banner("");
    this.stream?.close();
    this.stream = new Stream(view.id, {
      view: (news) => this.show(news),
      thought: (news) => {
        this.thought = news;
        this.thinking.draw();
      },
      analysis: (news) => {
        this.analysis = news;
        for (const panel of this.panels) panel.analysed?.(news);
      },
      problem: (news) => toast(sentence(news.error)),
      ended: () => this.ended(),
      gone: () => this.restore(),
      lost: () => this.banner("The connection is lost. Trying again…"),
      found: () => {
        this.banner("");
        announce("Connected again.");
      },
    });
  }

  /** Say that the server has put the game away, because nobody has moved for hours. */
  ended() {
    this.stream?.close();
    const button = h("button", { type: "button", onclick: () => this.restore() }, "Continue this game");
    this.banner("This table has ended; its game is kept.", button);
  }

  /** Continue the game as the server keeps it; one without a move is not kept. */
  restore() {
    this.join(this.view.id, this.view.ply > 0);
  }

  banner(text, ...more) {
    const element = document.getElementById("banner");
    put(element, text, ...more);
    element.hidden = !text;
  }

  // --- actions -------------------------------------------------------------------------------

  /** Send an action to the server. Shows the reason and returns null if it is refused. */
  act(action, content = {}, id = this.view.id) {
    return this.send(`/api/tables/${id}/${action}`, content);
  }

  /** A new table of the same game and players, so that the moves of this one stay; null if refused. */
  another(content = {}) {
    const { game, seats, play } = this.view;
    return this.send("/api/tables", { game, seats, play, ...content }, false);
  }

  send(path, content, show = true) {
    const doing = this.sending.then(async () => {
      try {
        const answer = await post(path, content);
        if (answer.id && show) this.show(answer);
        return answer;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.status === 404) this.restore();
        else if (error.status === 0) this.banner("The connection is lost. Trying again…");
        else {
          toast(sentence(error.message));
          this.board.update(this.boardView());
        }
        return null;
      }
    });
    this.sending = doing.catch(() => null);
    return doing;
  }

  get human() {
    return this.view.waiting === "human" && this.viewing === null;
  }

  async step(from, to) {
    if (!this.human) return;
    await this.act("step", { from, to });
  }

  undo() {
    this.back();
    this.act("undo");
  }

  roll() {
    if (this.view.waiting === "roll" && this.mine) this.act("roll");
  }

  double() {
    if (this.view.stakes?.may_double && this.mine) this.act("cube", { kind: "double" });
  }

  /** Whether a person must answer a double or a resignation. */
  get answering() {
    const side = this.view.stakes?.answering ?? null;
    return side !== null && this.view.seats[side].kind === "human";
  }

  get mine() {
    return this.view.seats[this.view.side].kind === "human";
  }

  /** Whether only computers play. */
  get watched() {
    return this.view.seats.every((seat) => seat.kind !== "human");
  }

  pause() {
    if (this.watched) this.act("pause", { on: !this.view.paused });
  }

  advance() {
    if (this.view.paused) this.act("advance");
  }

  flip() {
    this.flipped = !this.flipped;
    this.drawBoard();
    drawStrips(this);
  }

  again() {
    const { game, seats, ply, play } = this.view;
    newGame(this.catalogue, { game, seats: structuredClone(seats), moves: ply, play }, (chosen) => {
      this.stream?.close();
      this.open(chosen);
    });
  }

  /** Show the position after `ply` moves; after the last one, the present position. */
  async look(ply) {
    const last = this.view.ply;
    const wanted = Math.max(0, Math.min(last, ply));
    if (wanted === last) {
      this.back();
      return;
    }
    try {
      this.viewing = await get(`/api/tables/${this.view.id}/board?ply=${wanted}`);
    } catch (error) {
      toast(sentence(error.message));
      return;
    }
    const move = this.view.moves[wanted - 1];
    announce(move ? `After ${this.view.sides[move.side]}'s ${move.text}` : "Start of the game");
    this.draw();
  }

  back() {
    if (this.viewing === null) return;
    this.viewing = null;
    this.draw();
  }

  /** The side at the bottom, 0 or 1. */
  get bottom() {
    return this.flipped ? 1 - this.base : this.base;
  }

  get ply() {
    return this.viewing?.ply ?? this.view.ply;
  }

  key(event) {
    if (!this.stream) return;
    const keys = {
      u: () => this.undo(),
      f: () => this.flip(),
      n: () => this.again(),
      r: () => this.roll(),
      d: () => this.view.ready && this.act("confirm"),
      m: () => this.entry.focus(),
      h: () => hint(this),
      c: () => this.double(),
      e: () => this.panel("game").mistake(),
      "[": () => this.look(this.ply - 1),
      "]": () => this.look(this.ply + 1),
      p: () => this.pause(),
      s: () => this.advance(),
      Backspace: () => this.view.taken.length && this.act("back"),
    };
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  panel(name) {
    return this.panels.find((panel) => panel.name === name);
  }

  // --- drawing -------------------------------------------------------------------------------

  start(view) {
    this.view = null;
    this.viewing = null;
    this.thought = null;
    this.analysis = null;
    const human = view.seats.findIndex((seat) => seat.kind === "human");
    this.base = human < 0 ? 0 : human;
    this.flipped = false;
    this.game = this.catalogue.games.find((game) => game.name === view.game);
    this.board = new BOARDS[view.kind]({
      step: (from, to) => this.step(from, to),
      back: () => this.act("back"),
      play: (text) => this.act("move", { text }),
      sides: () => this.view.sides,
      game: () => this.game,
      edit: (place) => this.panel("setup").place(place),
    });
    this.strips = view.sides.map(() => h("div", { class: "strip" }));
    this.many = view.sides.length > 2;
    this.actions = h("div", { class: "actions" });
    this.entry = h("input", {
      type: "text",
      name: "move",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: `Move: ${EXAMPLES[view.kind] || view.legal[0] || ""}`,
      "aria-label": "Type a move",
      maxlength: 100,
      onkeydown: (event) => event.key === "Escape" && this.entry.blur(),
    });
    this.tools = h("div", { class: "tools" });
    this.thinking = new Thinking(this);
    this.panels = [new GamePanel(this), new AnalysisPanel(this), new WhyPanel(this), new SetupPanel(this)];
    this.tab = memory.get("tab", "game");
    if (!this.panel(this.tab) || this.tab === "setup") this.tab = "game";
    this.tabs = new Tabs(this.panels, (name) => this.open_tab(name));
    put(this.root,
      h(
        "div",
        { class: `play ${view.kind} ${this.many ? "many" : ""}` },
        h("h1", { class: "unseen" }, this.game.title),
        h(
          "section",
          { class: "stage", "aria-label": "Board" },
          !this.many && this.strips[1],
          h("div", { class: "board-frame" }, this.thinking.meter, this.board.element),
          this.many && h("div", { class: "strips" }, this.strips),
          h("div", { class: "under-board" }, !this.many && this.strips[0], this.actions),
          this.tools,
        ),
        h(
          "div",
          { class: "side" },
          this.thinking.element,
          h(
            "section",
            { class: "card panels", "aria-label": "Panels" },
            this.tabs.element,
            this.panels.map((panel) => panel.element),
          ),
        ),
      ),
    );
    drawTools(this);
    this.open_tab(this.tab, false);
    this.show(view);
  }

  open_tab(name, remember = true) {
    this.panel(this.tab)?.hide?.();
    this.tab = name;
    if (remember) memory.set("tab", name);
    this.tabs.show(name);
    if (this.view) {
      this.board.heat(null);
      this.panel(name).draw();
    }
  }

  /** Take over a new state of the table; an older one, or another table's, is ignored. */
  show(view) {
    if (this.view && (view.id !== this.view.id || view.version < this.view.version)) return;
    const before = this.view;
    this.view = view;
    if (before?.version !== view.version) this.advice = null;
    memory.set("table", view.id);
    if (before && view.ply !== before.ply) {
      this.viewing = null;
      this.board.hint(null);
      speakOfMove(before, view);
    } else if (before && view.roll && view.roll !== before.roll && !this.mine) {
      announce(`${view.sides[view.side]} rolls ${view.roll}.`);
    } else if (before && view.roll && view.roll !== before.roll) {
      announce(`You roll ${view.roll}.`);
    }
    if (view.stakes) speakOfCube(before, view);
    const free = view.waiting === "roll" && this.mine && !view.stakes?.may_double;
    if (free && memory.get("autoroll", false)) this.roll();
    this.draw();
  }

  draw() {
    this.drawBoard();
    drawStrips(this);
    this.thinking.draw();
    for (const button of this.tools.querySelectorAll("[data-when]")) {
      button.disabled = !this.when(button.dataset.when);
    }
    this.panel(this.tab).draw();
  }

  when(what) {
    const { view } = this;
    if (what === "undo") return view.ply > 0;
    if (what === "resign") return view.waiting === "human" || (view.waiting === "roll" && this.mine);
    return true;
  }

  boardView() {
    const { draft } = this.panel("setup");
    if (draft) return { board: draft, next: [], taken: [], live: false };
    if (this.viewing) return { board: this.viewing.board, next: [], taken: [], live: false };
    const { board, next, taken, roll, side, waiting, legal, stakes } = this.view;
    return {
      board, next: this.human ? next : [], taken, live: this.human, roll, side, waiting, legal, stakes,
    };
  }

  drawBoard() {
    const { bottom } = this;
    const turns = this.view.kind === "backgammon" || this.view.board.turns;
    this.board.setFlip(turns ? bottom === 1 : this.flipped);
    this.board.update(this.boardView());
    drawActions(this);
  }
}
