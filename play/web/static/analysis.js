// @ts-check
// The Analysis panel: all legal moves with their values, updated while the search goes deeper.

import { entryOf, evaluatorGroups, timeOptions } from "./choices.js";
import { whileCompiling } from "./api.js";
import { chances, compileProgress, expected, h, memory, put, signed } from "./dom.js";
import { Picker } from "./picker.js";
import { Rollout } from "./rollout.js";

export class AnalysisPanel {
  name = "analysis";
  title = "Analysis";

  constructor(page) {
    this.page = page;
    this.asked = "";
    this.element = h("div", {
      id: "panel-analysis", role: "tabpanel", "aria-labelledby": "tab-analysis", class: "panel",
    });
    this.list = h("div", { class: "move-list-box" });
    this.summary = h("p", { class: "muted number summary" });
    this.rollout = new Rollout(page, this);
  }

  get game() {
    return this.page.view.game;
  }

  get evaluator() {
    const kept = memory.get(`judge.${this.game}`, "");
    return entryOf(this.page.catalogue, kept) ? kept : this.page.catalogue.defaults[this.game];
  }

  get seconds() {
    return memory.get("analysis.seconds", 1);
  }

  make() {
    this.made = true;
    put(this.element, 
      h(
        "div",
        { class: "pair" },
        new Picker({
          label: "Evaluator",
          groups: evaluatorGroups(this.page.catalogue, this.game),
          value: this.evaluator,
          change: (id) => this.change(`judge.${this.game}`, id),
        }).element,
        h("label", { class: "field" }, "Time a move",
          h("select", { onchange: (e) => this.change("analysis.seconds", Number(e.target.value)) },
            timeOptions(this.seconds))),
      ),
      this.summary,
      this.list,
      this.rollout.element,
    );
  }

  change(key, value) {
    memory.set(key, value);
    this.draw();
  }

  draw() {
    if (!this.made) this.make();
    const { view, ply } = this.page;
    if (!this.evaluator) {
      this.summary.textContent = "This game has no evaluator yet.";
      return;
    }
    if (ply === view.ply && view.outcome !== null) {
      this.summary.textContent = "The game is over.";
      put(this.list);
      this.rollout.clear(false);
      return;
    }
    const position = this.page.viewing?.position || view.position;
    const roll = ply === view.ply ? view.roll : view.moves[ply].roll;
    const asked = `${position} ${roll} ${this.evaluator} ${this.seconds}`;
    if (asked !== this.asked) this.ask(asked, ply);
  }

  async ask(asked, ply) {
    this.asked = asked;
    this.rollout.clear();
    this.summary.textContent = "Thinking…";
    const news = { evaluator: this.evaluator, seconds: this.seconds, ply };
    const show = (now) => put(this.list, compileProgress(now));
    const answer = await whileCompiling(this.page.act("analyse", news), show);
    if (!answer?.started) this.asked = "";
    else this.position = answer.position;
  }

  hide() {
    this.page.board.hint(null);
  }

  /** Show the best move of the position as an arrow. */
  hint() {
    this.wanted = true;
    this.asked = "";
    this.page.open_tab("analysis");
  }

  analysed(news) {
    if (news.position !== (this.page.viewing?.position || this.page.view.position)) return;
    const { view } = this.page;
    this.page.thinking.drawMeter();
    if (this.page.tab !== "analysis") return;
    const side = view.sides[news.side];
    put(this.summary,
      `Values${news.measure && ` in ${news.measure}`} for ${side} at depth ${news.depth}${news.play && `; % ${news.play}`}${news.done ? "" : " …"}`,
      news.outcomes && h("span", { class: "chances" }, "In %: win · gammon · backgammon – loss likewise"));
    const shares = this.page.thinking.players(news);
    if (!news.moves.length) {
      put(this.list, 
        h("p", { class: "large number" }, signed(news.value, news.unit)),
        h("p", { class: "muted" }, `Before the roll, for ${side}.`),
        news.outcomes && h("p", { class: "number" }, chances(news.outcomes)),
      );
      return;
    }
    if (this.wanted) {
      this.wanted = false;
      this.show(news.moves[0].text);
    }
    const rows = news.moves.map((move, n) => {
      const share = expected(move, news.unit);
      return h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "legal",
            "aria-label": `${move.text}, value ${move.value_text}${result(move, ", ")}${n ? "" : ", best"}`
              + (move.outcomes ? `, ${chances(move.outcomes)} per cent` : ""),
            onmouseenter: () => this.show(move.text),
            onmouseleave: () => this.page.board.hint(null),
            onfocus: () => this.show(move.text),
            onblur: () => this.page.board.hint(null),
            onclick: () => this.play(move.text),
          },
          h("span", { class: "rank number" }, n + 1),
          h("span", { class: "text number" }, move.text),
          h("span", { class: "bar", title: move.chances
            ? "0 to 100 % for the side to move; the line is at 50 %"
            : `Ahead or behind for the side to move; ${news.name} knows no chances` },
            h("span", { style: { width: `${share}%` } })),
          h("span", { class: "value number" },
            Math.abs(move.value) >= 1e9 || move.value_text === "drawn" ? move.value_text : signed(move.value, news.unit),
            h("span", { class: "muted small" }, result(move, " "))),
          move.outcomes && h("span", { class: "chances muted number small" }, chances(move.outcomes)),
        ),
      );
    });
    const focused = document.activeElement?.closest?.(".legal")?.getAttribute("aria-label");
    const old = this.list.querySelector("ol");
    const made = h("ol", { class: "move-list", "aria-label": "Legal moves, best first" }, rows);
    put(this.list, made, shares);
    if (old && focused) made.querySelector(".legal")?.focus();
  }

  show(text) {
    const { board } = this.page;
    board.hint(board.way(text));
  }

  play(text) {
    if (this.page.human) this.page.act("move", { text });
  }
}

/** The expected result of a move, if its chances are known. */
function result(move, before) {
  return move.chances ? `${before}${expected(move).toFixed(0)} %` : "";
}
