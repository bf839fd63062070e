// @ts-check
// A rollout in the Analysis panel: the best moves played out many times, for games with dice.

import { post, whileCompiling } from "./api.js";
import { announce, chances, compileProgress, h, put, sentence, toast } from "./dom.js";

const ROUNDS = 20; // of 36 games each, until a person stops it

export class Rollout {
  constructor(page, panel) {
    this.page = page;
    this.panel = panel;
    this.button = h("button", { type: "button", "data-roll-out": true, onclick: () => this.press() });
    this.found = h("div");
    this.element = h("div", { class: "rollout" }, this.button, this.found);
    this.clear();
  }

  /** Forget the rollout of another position; `possible` is whether there is one to roll out here. */
  clear(possible = true) {
    put(this.found);
    this.element.hidden = !this.page.game.dice || !possible;
    this.run(null);
  }

  /** `going` is the rollout that goes on; null for none. */
  run(going) {
    this.going = going;
    put(this.button, going ? "Stop" : "Roll out");
    this.button.title = going ? "" : "Play the best moves out many times";
  }

  async press() {
    const { page, panel } = this;
    if (this.going) {
      this.run(null);
      if (!this.found.querySelector("li")) put(this.found);
      return;
    }
    const going = {};
    const rounds = [];
    this.run(going);
    put(this.found, h("p", { class: "muted small", role: "status" }, "Playing…"));
    const asked = { evaluator: panel.evaluator, ply: page.ply };
    try {
      while (rounds.length < ROUNDS) {
        const answer = await whileCompiling(
          post(`/api/tables/${page.view.id}/rollout`, { ...asked, round: rounds.length }),
          (now) => this.going === going && put(this.found, compileProgress(now)));
        if (this.going !== going) return;
        rounds.push(answer);
        this.show(rounds);
      }
      this.run(null);
      const [best] = means(rounds);
      announce(`Rollout: ${best.text || "the position"}, ${points(best.value)} points`);
    } catch (error) {
      if (this.going !== going) return;
      this.clear();
      toast(sentence(error.message));
    }
  }

  show(rounds) {
    const [{ name, side, games }] = rounds;
    put(this.found,
      h("p", { class: "muted small number" }, `For ${this.page.view.sides[side]}, played out by ${name} `
        + `${rounds.length * games} times each: points without the cube, ± 95 %`),
      h("ol", { class: "move-list", "aria-label": "Rollout, best first" }, means(rounds).map((one, n) =>
        h("li", { class: "legal" },
          h("span", { class: "rank number" }, n + 1),
          h("span", { class: "text number" }, one.text || "before the roll"),
          h("span"),
          h("span", { class: "value number" }, points(one.value), h("span", { class: "muted small" }, ` ± ${one.interval.toFixed(3)}`)),
          one.outcomes && h("span", { class: "chances muted number small" }, chances(one.outcomes))))));
  }
}

/** The means over rounds of as many games each, the best first. */
function means(rounds) {
  const mean = (of) => rounds.reduce((sum, { rolled }) => sum + of(rolled), 0) / rounds.length;
  return rounds[0].rolled.map(({ text, outcomes }, n) => ({
    text,
    value: mean((rolled) => rolled[n].value),
    interval: 1.96 * Math.sqrt(mean((rolled) => rolled[n].error ** 2) / rounds.length),
    // Luck-adjusted shares may lie a little outside 0 and 1.
    outcomes: outcomes?.map((_, i) => Math.min(1, Math.max(0, mean((rolled) => rolled[n].outcomes[i])))),
  })).sort((one, other) => other.value - one.value);
}

function points(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}
