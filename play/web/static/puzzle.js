// @ts-check
// The page of puzzles: moves by hand, hints, solutions as they are found, and why a heuristic
// values a position as it does. The address holds the puzzle and the position.

import { get, lines, post, whileCompiling } from "./api.js";
import { evaluatorGroups } from "./choices.js";
import { announce, compileProgress, h, icon, memory, put, sentence, toast } from "./dom.js";
import { estimate } from "./estimate.js";
import { GridBoard, PlainBoard } from "./grid.js";
import { Picker } from "./picker.js";
import { RoadsBoard } from "./roads.js";
import {
  METHODS, SECONDS, TEXTBOOK, WEIGHTS, choice, figures, frontierCurve, many, showFrontier, stepByStep, wayToGoal,
} from "./solution.js";

const HINT_SECONDS = 5;
const PACE = 350; // milliseconds of a move that is shown

export class PuzzlePage {
  kind = "puzzle";

  constructor(root, catalogue) {
    this.root = root;
    this.catalogue = catalogue;
    this.found = get("/api/puzzles").then(({ puzzles }) => {
      this.puzzles = puzzles;
    });
    put(root, h("p", { class: "lonely", role: "status" }, "Setting up the puzzle…"));
  }

  go(name, position) {
    if (this.view && name === this.view.problem && position === this.view.position) return true;
    this.begin(name, position);
    return true;
  }

  async begin(name, position) {
    try {
      await this.found;
    } catch (error) {
      put(this.root, h("p", { class: "lonely" }, sentence(error.message)));
      return;
    }
    const names = this.puzzles.map((puzzle) => puzzle.name);
    const last = memory.get("puzzle", "sliding8");
    const wanted = [name, last, ...names].find((one) => names.includes(one));
    this.make(this.puzzles.find((puzzle) => puzzle.name === wanted));
    const content = name === wanted && position ? { position } : {};
    if (!(await this.look(content)) && content.position) this.look({});
  }

  leave() {
    this.stop();
    this.pause();
  }

  // --- the page ------------------------------------------------------------------------------

  make(puzzle) {
    this.leave();
    this.puzzle = puzzle;
    memory.set("puzzle", puzzle.name);
    Object.assign(this, { view: null, made: [], solution: null, clicked: [], at: 0 });
    this.board = new { grid: GridBoard, plain: PlainBoard, roads: RoadsBoard }[puzzle.kind]({
      step: (from, to) => this.click(to),
      back: () => {
        this.clicked.pop();
        this.drawBoard();
      },
      play: (text) => this.play(text),
      sides: () => ["dark", "light"],
      game: () => ({ light_first: false }),
    });
    this.status = h("section", { class: "card thinking", "aria-label": "State" });
    this.entry = h("input", { type: "text", name: "move", autocomplete: "off", spellcheck: "false",
      "aria-label": "Type a move", maxlength: 60 });
    this.text = h("textarea", { rows: 2, spellcheck: "false", maxlength: 400, name: "position" });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.figures = h("div", { class: "figures number" });
    this.curve = h("div");
    this.result = h("div", { class: "solution" });
    this.steps = h("div", { class: "steps" });
    this.why = h("div", { class: "why" });
    this.solveButton = h("button", { type: "button", class: "primary", "data-solve": true,
      onclick: () => (this.searching ? this.stop() : this.solve()) }, "Solve");
    put(this.root, h("div", { class: "play puzzle" },
      h("section", { class: "stage", "aria-label": "Board" },
        h("div", { class: "strip" }, h("h1", { class: "unseen" }, puzzle.title), this.chooser()),
        h("div", { class: "board-frame" }, this.board.element),
        this.tools()),
      h("div", { class: "side" }, this.status, this.solveCard(), this.whyCard(), this.positionCard())));
  }

  chooser() {
    return h("select", { "aria-label": "Puzzle", "data-puzzle": true,
      onchange: (e) => { location.hash = `#/puzzle/${encodeURIComponent(e.target.value)}`; } },
    this.puzzles.map(({ name, title }) =>
      h("option", { value: name, selected: name === this.puzzle.name }, title)));
  }

  tools() {
    const submit = async (event) => {
      event.preventDefault();
      const text = this.entry.value.trim();
      if (text && (await this.play(text))) this.entry.value = "";
    };
    const button = (what, title, act) =>
      h("button", { type: "button", title, "data-tool": what, onclick: act }, icon(what), h("span", {}, title));
    return h("div", { class: "tools" },
      button("plus", "New", () => this.look({ random: true })),
      button("undo", "Undo", () => this.undo()),
      button("first", "Restart", () => this.made.length && this.look({ position: this.made[0] })),
      button("bulb", "Hint", () => this.hint()),
      h("form", { class: "entry", onsubmit: submit }, this.entry));
  }

  /** The id of the chosen heuristic; null for a puzzle without any. */
  get heuristic() {
    const kept = memory.get(`heuristic.${this.puzzle.name}`, null);
    const known = this.catalogue.evaluators.some((e) => e.id === kept && e.game === this.puzzle.name);
    return known ? kept : this.puzzle.default;
  }

  solveCard() {
    return h("section", { class: "card puzzle-card", "aria-labelledby": "solve-title" },
      h("h2", { id: "solve-title" }, "Solve"),
      h("div", { class: "pair even" },
        this.heuristic && new Picker({
          label: "Heuristic",
          groups: evaluatorGroups(this.catalogue, this.puzzle.name),
          value: this.heuristic,
          data: { "data-heuristic": true },
          change: (id) => {
            memory.set(`heuristic.${this.puzzle.name}`, id);
            this.explain();
          },
        }).element,
        choice("Method", "method", [...METHODS, ...TEXTBOOK], "astar")),
      h("div", { class: "pair even" },
        choice("Weight of the heuristic", "weight", WEIGHTS.map((w) => [w, String(w)]), 1),
        choice("Time", "seconds", SECONDS.map((s) => [s, `${s} s`]), 10)),
      stepByStep(),
      h("div", { class: "row" }, this.solveButton,
        h("button", { type: "button", class: "quiet", onclick: () => this.clearSolution() }, "Clear")),
      this.figures, this.curve, this.result, this.steps);
  }

  whyCard() {
    return this.heuristic && h("section", { class: "card puzzle-card", "aria-labelledby": "why-title" },
      h("h2", { id: "why-title" }, "Why"), this.why);
  }

  positionCard() {
    return h("section", { class: "card puzzle-card", "aria-labelledby": "position-title" },
      h("h2", { id: "position-title" }, "Position"),
      h("label", { class: "field" }, `As text, such as ${this.puzzle.example}`, this.text),
      h("div", { class: "row" },
        h("button", { type: "button", "data-set": true,
          onclick: () => this.look({ position: this.text.value }) }, "Set up")),
      this.problem);
  }

  key(event) {
    const act = {
      u: () => this.undo(), n: () => this.look({ random: true }), h: () => this.hint(),
      m: () => this.entry.focus(), s: () => this.solveButton.click(),
      "[": () => this.walk(this.at - 1), "]": () => this.walk(this.at + 1),
    }[event.key.toLowerCase()];
    if (!act || !this.view) return;
    event.preventDefault();
    act();
  }

  // --- positions -----------------------------------------------------------------------------

  ask(action, content) {
    const asked = post(`/api/puzzles/${encodeURIComponent(this.puzzle.name)}/${action}`, content);
    if (action === "look") this.looking = asked.catch(() => {});
    return asked;
  }

  /** Show a new position; returns whether the server accepted it. */
  async look(content) {
    try {
      const view = await this.ask("look", content);
      this.stop();
      this.clearSolution();
      this.made = [];
      this.show(view);
      return true;
    } catch (error) {
      put(this.problem, sentence(error.message));
      toast(sentence(error.message));
      return false;
    }
  }

  show(view) {
    this.view = view;
    this.clicked = [];
    const address = [view.problem, view.position].map(encodeURIComponent).join("/");
    history.replaceState(null, "", `#/puzzle/${address}`);
    this.text.value = view.position;
    put(this.problem, view.unsolvable && `No solution: ${view.unsolvable}.`);
    this.entry.placeholder = `Move: ${view.moves[0]?.text ?? ""}`;
    this.board.hint(null);
    this.draw();
    this.explain();
  }

  /** Play a move by its text; returns whether it was legal. */
  async play(text) {
    if (this.playing) return false;
    const { position } = this.view;
    try {
      const view = await this.ask("look", { position, move: text });
      if (this.view.position !== position) return false; // another move was faster
      this.made.push(position);
      const next = this.solution?.steps[this.at];
      if (next?.position === view.position) this.at += 1;
      else this.clearSolution();
      this.show(view);
      announce(view.solved ? `Solved with ${many(this.made.length)}.` : `Moved ${text}.`);
      return true;
    } catch (error) {
      toast(sentence(error.message));
      this.drawBoard();
      return false;
    }
  }

  async undo() {
    const position = this.made.pop();
    if (position === undefined) return;
    const { made } = this;
    if (await this.look({ position })) this.made = made;
    this.draw();
  }

  /** Handle a click on a square: the next one of the moves that begin with the clicks so far. */
  click(square) {
    const clicks = [...this.clicked, square];
    const left = this.beginning(clicks);
    const whole = left.find((move) => move.clicks.length === clicks.length);
    this.clicked = whole ? [] : clicks;
    if (whole) this.play(whole.text);
    else this.drawBoard();
  }

  beginning(clicks) {
    return this.view.moves.filter((move) =>
      move.clicks.length >= clicks.length && clicks.every((square, n) => move.clicks[n].includes(square)));
  }

  // --- drawing -------------------------------------------------------------------------------

  draw() {
    this.drawBoard();
    const { view, made } = this;
    put(this.status,
      h("header", {}, h("h2", {}, view.solved ? `Solved${made.length ? ` in ${many(made.length)}` : ""}` : view.unsolvable ? "This cannot be solved" : "Not solved yet")),
      h("p", { class: "muted" }, view.unsolvable ? sentence(view.unsolvable) : `${many(made.length)} made`));
  }

  drawBoard() {
    const { view, clicked } = this;
    const done = clicked.length;
    const next = new Set(this.beginning(clicked).flatMap((move) => move.clicks[done] || []));
    this.board.update({
      board: { ...view.board, clicked, ways: {} },
      next: [...next].map((to) => ({ from: clicked.at(-1) ?? -1, to })),
      legal: view.moves.map((move) => move.text),
      live: !this.playing,
    });
  }

  async explain() {
    if (!this.heuristic) return;
    const { position } = this.view;
    const heuristic = this.heuristic;
    try {
      const answer = await this.ask("why", { position, heuristic });
      if (this.view.position !== position || this.heuristic !== heuristic) return;
      const heat = (parts) => this.board.heat(parts);
      heat(answer.parts);
      put(this.why, ...estimate(answer, heat));
    } catch (error) {
      put(this.why, h("p", { class: "problem" }, sentence(error.message)));
      this.board.heat(null);
    }
  }

  // --- searching -----------------------------------------------------------------------------

  /**
   * Search from the position; returns the solution, or null if it was stopped or refused.
   * @param {(news: any) => void} each
   */
  async search(options, each = () => {}) {
    this.stop();
    const control = new AbortController();
    this.searching = control;
    this.solveButton.textContent = "Stop";
    let solution = null;
    const content = { position: this.view.position, heuristic: this.heuristic, ...options };
    const path = `/api/puzzles/${encodeURIComponent(this.puzzle.name)}/solve`;
    try {
      const show = (now) => put(this.curve, compileProgress(now));
      await whileCompiling(lines(path, content, control.signal, (news) => {
        if (news.progress) each(news.progress);
        else if (news.error) throw new Error(news.error);
        else solution = news.solution;
      }), show);
    } catch (error) {
      if (!control.signal.aborted) put(this.result, h("p", { class: "problem", role: "alert" }, sentence(error.message)));
    }
    if (this.searching === control) {
      this.searching = null;
      this.solveButton.textContent = "Solve";
    }
    return control.signal.aborted ? null : solution;
  }

  stop() {
    this.searching?.abort();
    this.searching = null;
    if (this.solveButton) this.solveButton.textContent = "Solve";
  }

  async solve() {
    await this.looking; // the first position, or the one after a move, may be on its way
    if (!this.view) return;
    this.clearSolution();
    const option = (name, usual) => memory.get(`solve.${name}`, usual);
    const options = {
      method: option("method", "astar"), weight: option("weight", 1), seconds: option("seconds", 10),
    };
    const textbook = TEXTBOOK.some(([name]) => name === options.method);
    if (textbook || option("trace", false)) options.trace = true;
    // IDA* has no frontier: what it reports in its place is the length of its longest line
    const waiting = options.method === "ida" ? "Moves deep" : "Frontier";
    const history = [];
    const { position } = this.view;
    const draw = (news) => put(this.figures, ...figures(news, waiting));
    draw({ expanded: 0, generated: 0, frontier: 0, f: null, seconds: 0 });
    const solution = await this.search(options, (news) => {
      history.push([Number(news.seconds.toFixed(1)), news.frontier]);
      draw(news);
      if (history.length > 2) put(this.curve, frontierCurve(history, waiting));
    });
    if (!solution || this.view.position !== position) return;
    draw({ ...solution, f: solution.cost });
    this.solution = { ...solution, start: position };
    this.at = 0;
    this.drawSolution();
    if (solution.frontiers?.length) showFrontier(this.steps, this.board, solution.frontiers, 0, solution.taken);
    const text = solution.found ? `Solved in ${many(solution.length)}` : "No solution was found";
    announce(`${text}: ${solution.proved}.`);
  }

  clearSolution() {
    this.pause();
    this.solution = null;
    this.at = 0;
    put(this.figures);
    put(this.curve);
    put(this.result);
    put(this.steps);
    this.board?.frontier?.(new Map());
    this.board?.hint(null);
  }

  drawSolution() {
    const focused = this.result.contains(document.activeElement) && document.activeElement.matches("[data-play]");
    put(this.result, ...wayToGoal(this.solution, this.at, Boolean(this.playing), {
      walk: (to) => this.walk(to),
      toggle: () => (this.playing ? this.pause(true) : this.animate()),
    }));
    if (focused) this.result.querySelector("[data-play]")?.focus();
  }

  /** Go to a step of the solution: 0 is the position that was solved. */
  async walk(to) {
    const { solution } = this;
    if (!solution?.found) return;
    const wanted = Math.max(0, Math.min(solution.steps.length, to));
    this.pause();
    const position = wanted ? solution.steps[wanted - 1].position : solution.start;
    const view = await this.ask("look", { position });
    if (this.solution !== solution) return;
    this.at = wanted;
    this.show(view);
    this.drawSolution();
  }

  animate() {
    const { solution } = this;
    if (this.at >= solution.steps.length) return;
    const step = () => {
      const next = solution.steps[this.at];
      if (!next || this.solution !== solution) {
        this.pause(true);
        return;
      }
      this.at += 1;
      this.view = { ...this.view, board: next.board, position: next.position, moves: [] };
      this.drawBoard();
      this.drawSolution();
    };
    this.playing = setInterval(step, PACE);
    this.board.heat(null);
    step();
  }

  /** Stop showing the solution; `settle` looks at the position that is reached. */
  pause(settle = false) {
    if (!this.playing) return;
    clearInterval(this.playing);
    this.playing = null;
    if (settle) this.walk(this.at);
  }

  /** Mark the first move of the best way that a short search finds. */
  async hint() {
    await this.looking;
    if (!this.view || this.view.solved || this.playing) return;
    const { position } = this.view;
    let move = this.solution?.steps[this.at]?.move;
    let left = this.solution ? this.solution.length - this.at : 0;
    if (!move) {
      // The cheapest way if it is found soon, else a good one.
      let solution = await this.search({ weight: 1, seconds: HINT_SECONDS });
      if (solution && !solution.found) solution = await this.search({ weight: 3, seconds: HINT_SECONDS });
      if (this.view.position !== position || !solution) return;
      if (!solution.found) {
        toast(`No hint: ${solution.proved}.`);
        return;
      }
      move = solution.steps[0].move;
      left = solution.length;
    }
    const clicks = this.view.moves.find(({ text }) => text === move)?.clicks ?? [];
    this.board.hint(clicks.length ? clicks.map((squares) => squares[0]) : move);
    const text = `Hint: ${move}, then ${left - 1} more.`;
    announce(text);
    toast(text);
  }
}
