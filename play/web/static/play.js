// The page with a board: the state of a table, and the actions of people at it.

import { get, post, Refusal, Stream, whileCompiling } from "./api.js";
import { AnalysisPanel } from "./analysis.js";
import { BackgammonBoard } from "./backgammon.js";
import { CheckersBoard } from "./checkers.js";
import { chip, newGame, seatName, usual } from "./choices.js";
import { announce, ask, choose, compileProgress, h, icon, memory, put, sentence, toast } from "./dom.js";
import { GamePanel } from "./game.js";
import { keepGame, keptGame } from "./games.js";
import { GridBoard, PlainBoard } from "./grid.js";
import { SetupPanel } from "./setup.js";
import { Thinking } from "./thinking.js";
import { WhyPanel } from "./why.js";

const BOARDS = {
  checkers: CheckersBoard, backgammon: BackgammonBoard, grid: GridBoard, plain: PlainBoard,
};

const EXAMPLES = { checkers: "11-15", backgammon: "8/5 6/5" };

/** The text beside the name of a side. */
const DETAILS = {
  checkers: (board, side) => pieces(board.pieces.filter(([, p]) => p.toLowerCase() === "bw"[side]).length),
  backgammon: (board, side) => `${board.pips[side]} pips`,
  grid: (board, side) => {
    const goal = new Set((board.tints || []).filter(([, whose]) => whose === side).map(([square]) => square));
    const own = board.pieces.filter(([, whose]) => whose === side);
    if (!goal.size) return pieces(own.length);
    return `${own.filter(([square]) => goal.has(square)).length} of ${goal.size} home`;
  },
  plain: () => "",
};

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

  /** Open a new table, or one that the server no longer has. */
  async open(content) {
    put(this.root, h("p", { class: "lonely", role: "status" }, "Setting up the board…"));
    try {
      const show = (now) => put(this.root, h("div", { class: "lonely" }, compileProgress(now)));
      this.sit(await whileCompiling(post("/api/tables", content), show));
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
      const kept = error.status === 404 ? keptGame(id) : null;
      if (kept) this.open(kept);
      else if (error.status === 404 && !named) this.fresh();
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

  /** Continue the game although the server may not know it: it may have lost its disk. */
  restore() {
    this.join(this.view.id);
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
    this.drawStrips();
  }

  again() {
    const { game, seats, ply, play } = this.view;
    newGame(this.catalogue, { game, seats: structuredClone(seats), moves: ply, play }, (chosen) => {
      this.stream?.close();
      this.open(chosen);
    });
  }

  /** Show the best move, or what is right about the cube, and why. */
  async hint() {
    const { stakes } = this.view;
    const cube = this.answering || (stakes?.may_double && this.mine);
    if (!cube || this.viewing) {
      this.panel("analysis").hint();
      return;
    }
    const found = await this.act("cube-hint", { evaluator: this.panel("analysis").evaluator });
    if (!found) return;
    this.advice = h("p", { class: "advice", role: "status" },
      h("strong", {}, sentence(found.text)), ` ${sentence(found.reason)} `,
      h("span", { class: "muted number" }, found.figures && sentence(found.figures)));
    this.drawActions();
  }

  async resign() {
    const { ply, side, sides, stakes } = this.view;
    if (stakes) {
      const kinds = ["A single game", "A gammon", "A backgammon"];
      const kind = await choose(`Resign as ${sides[side]}?`,
        `${sides[1 - side]} may decline. What do you resign?`, kinds);
      if (kind !== null) this.act("resign", { kind: kind + 1 });
      return;
    }
    const text = sides.length > 2 ? `The game ends, with ${sides[side]} last.` : `${sides[1 - side]} wins this game.`;
    if (!ply || (await ask(`Resign as ${sides[side]}?`, text, "Resign"))) this.act("resign");
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
      h: () => this.hint(),
      c: () => this.double(),
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
    });
    this.tools = h("div", { class: "tools" });
    this.thinking = new Thinking(this);
    this.panels = [new GamePanel(this), new AnalysisPanel(this), new WhyPanel(this), new SetupPanel(this)];
    this.tab = memory.get("tab", "game");
    if (!this.panel(this.tab) || this.tab === "setup") this.tab = "game";
    this.tabs = h(
      "div",
      { class: "tabs", role: "tablist", "aria-label": "About this game", onkeydown: (e) => this.tabKey(e) },
      this.panels.map((panel) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${panel.name}`,
            "aria-controls": `panel-${panel.name}`,
            onclick: () => this.open_tab(panel.name),
          },
          panel.title,
        ),
      ),
    );
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
            this.tabs,
            this.panels.map((panel) => panel.element),
          ),
        ),
      ),
    );
    this.drawTools();
    this.open_tab(this.tab, false);
    this.show(view);
  }

  open_tab(name, remember = true) {
    this.panel(this.tab)?.hide?.();
    this.tab = name;
    if (remember) memory.set("tab", name);
    for (const panel of this.panels) {
      const here = panel.name === name;
      panel.element.hidden = !here;
      const tab = this.tabs.querySelector(`#tab-${panel.name}`);
      tab.setAttribute("aria-selected", here);
      tab.setAttribute("tabindex", here ? 0 : -1);
    }
    if (this.view) {
      this.board.heat(null);
      this.panel(name).draw();
    }
  }

  tabKey(event) {
    const names = this.panels.map((panel) => panel.name);
    const at = names.indexOf(this.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const name = names[(to + names.length) % names.length];
    this.open_tab(name);
    this.tabs.querySelector(`#tab-${name}`).focus();
  }

  /** Take over a new state of the table; an older one, or another table's, is ignored. */
  show(view) {
    if (this.view && (view.id !== this.view.id || view.version < this.view.version)) return;
    const before = this.view;
    this.view = view;
    if (before?.version !== view.version) this.advice = null;
    keepGame(view);
    if (before && view.ply !== before.ply) {
      this.viewing = null;
      this.board.hint(null);
      this.speak(before, view);
    } else if (before && view.roll && view.roll !== before.roll && !this.mine) {
      announce(`${view.sides[view.side]} rolls ${view.roll}.`);
    } else if (before && view.roll && view.roll !== before.roll) {
      announce(`You roll ${view.roll}.`);
    }
    if (view.stakes) this.speakOfCube(before, view);
    const free = view.waiting === "roll" && this.mine && !view.stakes?.may_double;
    if (free && memory.get("autoroll", false)) this.roll();
    this.draw();
  }

  /** Say what happened to the cube, and to offers of resignations. */
  speakOfCube(before, { stakes, sides, side, outcome, result, ply }) {
    const old = before?.stakes;
    if (!old || before.ply > ply) return;
    if (stakes.offered && !old.offered) announce(`${sides[side]} doubles to ${2 * stakes.value}.`);
    else if (stakes.resigning && !old.resigning) announce(`${sides[1 - stakes.answering]} resigns ${stakes.resigning}.`);
    else if (stakes.value > old.value) announce(`The cube is at ${stakes.value}, with ${sides[stakes.owner]}.`);
    else if (old.resigning && outcome === null) announce("The resignation is declined.");
    else if (outcome !== null && before.outcome === null && before.ply === ply) announce(`${result}.`);
  }

  speak(before, view) {
    const move = view.moves[view.moves.length - 1];
    if (view.ply < before.ply) announce("Taken back.");
    else if (view.outcome !== null) announce(`${move ? `${move.text}. ` : ""}${view.result}.`);
    else if (move) {
      const who = view.seats[move.side].kind === "human" ? "You play" : `${view.sides[move.side]} plays`;
      const next = view.waiting === "human" ? ` ${view.sides[view.side]} to move.` : "";
      announce(`${who} ${move.text}.${next}`);
    }
  }

  draw() {
    this.drawBoard();
    this.drawStrips();
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
    // On an unturned board of checkers White, on the high numbers, is at the bottom.
    const { kind } = this.view;
    this.board.setFlip(kind === "checkers" ? bottom === 0 : kind === "backgammon" ? bottom === 1 : this.flipped);
    this.board.update(this.boardView());
    this.drawActions();
  }

  /** The buttons for what comes next. They stand below the board, so that they cover no piece. */
  drawActions() {
    const { view } = this;
    const buttons = [];
    if (view.stakes?.crawford && view.outcome === null) {
      buttons.push(h("span", { class: "muted small" }, "Crawford game"));
    }
    if (this.viewing) {
      buttons.push(
        h("button", { type: "button", onclick: () => this.back() }, "Back to the game"),
      );
    } else if (this.answering) {
      buttons.push(...this.answers());
    } else if (view.waiting === "roll" && this.mine) {
      buttons.push(
        h("button", { type: "button", class: "primary", "data-roll": true, onclick: () => this.roll() },
          icon("dice"), "Roll"),
      );
      if (view.stakes?.may_double) {
        buttons.push(h("button", { type: "button", "data-cube": "double", onclick: () => this.double() },
          `Double to ${2 * view.stakes.value}`));
      }
    } else if (view.waiting === "human") {
      // On a grid a second click on the square does the same, and a button would hide squares.
      if (view.taken.length && view.kind !== "grid") {
        buttons.push(
          h("button", { type: "button", "data-back": true, onclick: () => this.act("back") },
            icon("undo"), "Step back"),
        );
      }
      if (view.ready) {
        const nothing = view.taken.length === 0;
        buttons.push(
          h("button", { type: "button", class: "primary", "data-done": true,
            onclick: () => this.act("confirm") },
          icon("done"), nothing ? "No move: pass" : "Done"),
        );
      }
    } else if (view.outcome === null && this.watched) {
      const { paused } = view;
      buttons.push(h("button", { type: "button", "data-pause": true, onclick: () => this.pause() },
        icon(paused ? "next" : "pause"), paused ? "Go on" : "Pause"));
      if (paused) {
        buttons.push(h("button", { type: "button", "data-advance": true, onclick: () => this.advance() },
          icon("last"), "One move"));
      }
    } else if (view.outcome !== null) {
      buttons.push(h("p", { class: "result" }, view.result));
      if (view.stakes?.match_goes_on) {
        buttons.push(h("button", { type: "button", class: "primary", "data-cube": "next",
          onclick: () => this.act("cube", { kind: "next" }) }, "Next game"));
      } else {
        buttons.push(
          h("button", { type: "button", class: "primary", onclick: () => this.again() }, "New game"),
        );
      }
    }
    if (this.advice && !this.viewing) buttons.push(this.advice);
    const focused = [...this.actions.children].indexOf(document.activeElement);
    put(this.actions, ...buttons);
    const left = this.actions.querySelectorAll("button");
    if (focused >= 0) (left[Math.min(focused, left.length - 1)] || this.board.svg.querySelector("[tabindex='0'], button"))?.focus();
  }

  /** What was offered to a person, and buttons for the answers. */
  answers() {
    const { stakes, sides } = this.view;
    const { answering, resigning, value } = stakes;
    const other = sides[1 - answering];
    const text = resigning ? `${other} resigns ${resigning}.` : `${other} doubles to ${2 * value}.`;
    const kinds = resigning ? [["accept", "Accept"], ["decline", "Decline"]]
      : [["take", "Take"], ["drop", "Drop"], ...(stakes.may_beaver ? [["beaver", "Beaver"]] : [])];
    return [
      h("p", { class: "offer" }, text),
      kinds.map(([kind, words], n) =>
        h("button", { type: "button", class: n ? "" : "primary", "data-cube": kind,
          onclick: () => this.act("cube", { kind }) }, words)),
    ].flat();
  }

  /** The score of a side in a match; empty without a match. */
  score(side) {
    const { stakes } = this.view;
    if (!stakes?.match_length) return "";
    return `${stakes.score[side]} of ${stakes.match_length}`;
  }

  drawStrips() {
    const { view } = this;
    const { bottom } = this;
    const order = this.many ? view.sides.map((_, side) => side) : [bottom, 1 - bottom];
    order.forEach((side, n) => {
      const seat = view.seats[side];
      const board = this.viewing?.board || view.board;
      const detail = DETAILS[view.kind](board, side);
      const limit =
        seat.kind === "evaluator" ? (seat.depth === null ? `${seat.seconds} s` : `depth ${seat.depth}`) : "";
      const acting = view.stakes?.answering ?? view.side;
      const turn = view.outcome === null && acting === side && !this.viewing;
      const what = { roll: "to roll", answer: "to answer", evaluator: "thinking…", program: "thinking…" };
      put(this.strips[n], 
        chip(this.game, side),
        h("strong", {}, view.sides[side]),
        h("span", { class: "who" }, view.names[view.sides[side]] || seatName(this.catalogue, seat),
          limit && h("span", { class: "muted" }, ` · ${limit}`)),
        h("span", { class: "muted number count" }, [this.score(side), detail].filter(Boolean).join(" · ")),
        turn ? h("span", { class: "turn" }, (!view.paused && what[view.waiting]) || "to move") : null,
      );
      this.strips[n].classList.toggle("active", turn);
    });
  }

  drawTools() {
    const submit = async (event) => {
      event.preventDefault();
      const text = this.entry.value.trim();
      if (text && (await this.act("move", { text }))) this.entry.value = "";
    };
    const button = (what, title, act, when) =>
      h("button", { type: "button", title, "data-when": when, "data-tool": what, onclick: act },
        icon(what), h("span", {}, title));
    put(this.tools, 
      button("plus", "New", () => this.again()),
      button("undo", "Undo", () => this.undo(), "undo"),
      button("flip", "Flip", () => this.flip()),
      button("bulb", "Hint", () => this.hint()),
      button("flag", "Resign", () => this.resign(), "resign"),
      h("form", { class: "entry", onsubmit: submit }, this.entry),
      this.game.dice &&
        h("label", { class: "check" },
          h("input", { type: "checkbox", checked: memory.get("autoroll", false),
            onchange: (e) => {
              memory.set("autoroll", e.target.checked);
              this.roll();
            } }),
          "Roll for me"),
    );
  }
}

function pieces(count) {
  return `${count} ${count === 1 ? "piece" : "pieces"}`;
}
