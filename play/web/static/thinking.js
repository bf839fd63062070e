// @ts-check
// The result of the last search, and the bar next to the board that shows who is ahead.

import { chip, seatName, tone } from "./choices.js";
import { expected, h, put, short, signed } from "./dom.js";

const THINKS = ["evaluator", "program"];

export class Thinking {
  constructor(page) {
    this.page = page;
    this.element = h("section", { class: "card thinking", "aria-label": "Thinking" });
    this.meter = h("div", { class: "meter", "aria-hidden": "true" });
  }

  draw() {
    const { view, thought } = this.page;
    put(this.element,
      h("header", {}, h("h2", {}, this.status()),
        THINKS.includes(view.waiting) && !view.paused && h("span", { class: "pulse" })),
      thought ? this.found(thought) : h("p", { class: "muted" }, this.nothing()),
    );
    this.drawMeter();
  }

  /** The static values for all players, each as a bar, in a game for more than two. */
  players({ players, name, unit, measure }) {
    if (!players?.length) return null;
    const { game, view } = this.page;
    const bounded = players.filter((value) => Math.abs(value) < 1e9).map(Math.abs);
    const largest = Math.max(unit / 10, ...bounded);
    return h("div", { class: "shares" },
      h("p", { class: "muted small" }, `Each player against the mean of all${measure && `, in ${measure}`}, by ${name} without search`),
      h("ul", {}, players.map((value, side) => h("li", {},
        chip(game, side), h("span", {}, view.sides[side]),
        h("span", { class: `part-bar ${value < 0 ? "minus" : "plus"}` },
          h("span", { style: { width: `${50 * Math.min(1, Math.abs(value) / largest)}%` } })),
        h("span", { class: "number" }, signed(value, unit))))));
  }

  status() {
    const { catalogue, view } = this.page;
    if (view.outcome !== null) return view.result;
    if (THINKS.includes(view.waiting) && !view.paused) return `${seatName(catalogue, view.seats[view.side])} is thinking`;
    if (view.waiting === "answer") return `${view.sides[view.stakes.answering]} to answer`;
    return `${view.sides[view.side]} to ${view.waiting === "roll" ? "roll" : "move"}`;
  }

  nothing() {
    const { catalogue, view } = this.page;
    if (view.outcome !== null) return "Step back through the game, or open Analysis or Why.";
    const thinker = view.seats.find((seat) => seat.kind === "evaluator");
    if (thinker) return `The search of ${seatName(catalogue, thinker)} appears here when it moves.`;
    return "Hint and Analysis show what an evaluator would play.";
  }

  found(news) {
    const { view } = this.page;
    const many = view.sides.length > 2;
    const ahead = many || news.value >= 0 ? news.side : 1 - news.side;
    const even = news.decided || (!many && !Math.abs(news.value));
    return [
      h("div", { class: "figures number" },
        h("div", {}, h("b", { class: "large" }, worth(news, view)),
          h("span", { class: "muted" }, even ? "" : ` for ${view.sides[ahead]}`)),
        h("div", {}, h("span", { class: "muted" }, "Depth "), h("b", {}, news.depth)),
        h("div", {}, h("span", { class: "muted" }, "Positions "), h("b", {}, short(news.nodes))),
        h("div", {}, h("b", {}, `${news.seconds.toFixed(1)} s`))),
      h("p", { class: "pv number", title: "Principal variation" },
        h("span", { class: "muted" }, `${news.name} expects `), news.pv.join("  ") || "nothing"),
      news.compiling && h("p", { class: "muted small" }, `Searched uncompiled and therefore not deep: ${news.compiling}`),
      this.players(news),
    ];
  }

  /** Draw the bar: the latest value as the bottom side sees it; full for a won game. */
  drawMeter() {
    const { analysis, bottom, ply, thought, view } = this.page;
    this.meter.hidden = view.sides.length > 2;
    if (this.meter.hidden) return;
    let share = 50;
    let title = "";
    if (view.outcome !== null && ply === view.ply) {
      share = 50 + 50 * Math.sign(view.outcome) * (bottom ? -1 : 1);
    } else {
      const news = analysis?.ply === ply ? analysis : thought;
      const forMover = news ? expected(news, news.unit) : 50;
      share = !news || news.side === bottom ? forMover : 100 - forMover;
      if (news?.play) title = `${view.sides[bottom]} can expect ${share.toFixed(0)} % of a result, ${news.play}`;
    }
    this.meter.title = title;
    this.meter.style.setProperty("--share", `${share}%`);
    this.meter.className = `meter ${tone(this.page.game)} bottom-${bottom}`;
  }
}

function worth(news, view) {
  if (view.sides.length > 2) return signed(news.value, news.unit);
  if (news.decided && !news.value) return "Drawn";
  if (news.decided) {
    const winner = news.value > 0 ? news.side : 1 - news.side;
    const plies = /\d+/.exec(news.value_text)?.[0];
    return `${view.sides[winner]} wins${plies ? ` in ${plies}` : ""}`;
  }
  return Math.abs(news.value) ? signed(Math.abs(news.value), news.unit) : "Even";
}
