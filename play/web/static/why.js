// @ts-check
// The Why panel: the parts of a value before and after a move, by one or two evaluators.

import { entryOf, evaluatorGroups } from "./choices.js";
import { compileProgress, h, memory, put, sentence, signed, toast } from "./dom.js";
import { post, whileCompiling } from "./api.js";
import { Picker } from "./picker.js";

export class WhyPanel {
  name = "why";
  title = "Why";

  constructor(page) {
    this.page = page;
    this.asked = "";
    this.move = "";
    this.element = h("div", {
      id: "panel-why", role: "tabpanel", "aria-labelledby": "tab-why", class: "panel",
    });
    this.moves = h("select", { onchange: (e) => this.pick(e.target.value), "data-why-move": true });
    this.result = h("div", { class: "why" });
  }

  chosen(n) {
    const { game } = this.page.view;
    const kept = memory.get(`why.${game}.${n}`, null);
    if (kept === "" && n) return "";
    if (entryOf(this.page.catalogue, kept)) return kept;
    const all = this.page.catalogue.evaluators.filter((entry) => entry.game === game);
    const plays = this.page.view.seats.map((seat) => seat.evaluator).find((id) => entryOf(this.page.catalogue, id));
    const first = plays ?? this.page.catalogue.defaults[game] ?? all[0]?.id ?? "";
    if (!n) return first;
    const linear = all.filter((entry) => entry.kind.startsWith("weights") && entry.id !== first);
    return (linear.find((entry) => entry.source !== "hand-crafted") ?? linear[0])?.id ?? "";
  }

  make() {
    this.made = true;
    const { catalogue, view } = this.page;
    const groups = evaluatorGroups(catalogue, view.game);
    const nothing = { title: "", options: [{ id: "", name: "nothing" }] };
    const pick = (n) =>
      new Picker({
        label: n ? "Compare with" : "Evaluator",
        groups: n ? [nothing, ...groups] : groups,
        value: this.chosen(n),
        data: { "data-why": n },
        change: (id) => {
          memory.set(`why.${view.game}.${n}`, id);
          this.draw();
        },
      }).element;
    put(this.element, 
      h("div", { class: "pair even" }, pick(0), pick(1)),
      h("label", { class: "field" }, "Before and after the move", this.moves),
      this.result,
    );
  }

  pick(text) {
    this.move = text;
    this.draw();
  }

  draw() {
    if (!this.made) this.make();
    const { view, ply } = this.page;
    const texts = ply < view.ply ? [view.moves[ply].text] : view.legal;
    if (!texts.includes(this.move)) this.move = ply < view.ply ? texts[0] : "";
    const options = ply < view.ply ? [] : [h("option", { value: "" }, "none (the position only)")];
    put(this.moves, 
      ...options,
      ...texts.map((t) => h("option", { value: t, selected: t === this.move }, t)),
    );
    if (!texts.length && ply === view.ply) this.moves.disabled = true;
    else this.moves.disabled = false;
    const position = this.page.viewing?.position || view.position;
    if (!this.chosen(0)) {
      put(this.result, h("p", { class: "muted" }, "This game has no evaluator yet."));
      return;
    }
    const asked = [position, ply, this.move, this.chosen(0), this.chosen(1)].join(" ");
    if (asked !== this.asked) this.ask(asked, ply);
    else if (this.answer) this.show(this.answer);
  }

  hide() {
    this.page.board.heat(null);
  }

  async ask(asked, ply) {
    this.asked = asked;
    const evaluators = [this.chosen(0), this.chosen(1)].filter(Boolean);
    const content = { ply, evaluators, move: this.move || null };
    const show = (now) => this.asked === asked && put(this.result, compileProgress(now));
    try {
      const answer = await whileCompiling(post(`/api/tables/${this.page.view.id}/why`, content), show);
      if (this.asked !== asked) return;
      this.answer = answer;
      this.show(answer);
    } catch (error) {
      toast(sentence(error.message));
    }
  }

  show(answer) {
    if (this.page.tab !== "why") return;
    const side = this.page.view.sides[answer.side];
    const placed = answer.of.find((one) => one.parts.some((part) => part.place));
    this.placed = placed?.parts || null;
    this.page.board.heat(this.placed);
    put(this.result, 
      h("p", { class: "muted" },
        `Parts of the value for ${side}`,
        answer.move ? `, before and after ${answer.move}.` : "."),
      h("div", { class: `columns of-${answer.of.length}` }, answer.of.map((one) => this.column(one))),
    );
  }

  /** What shows the squares of an invented term, while the mouse or the cursor is on its row. */
  marking(part) {
    if (!part.squares.length) return {};
    const show = () => this.page.board.heat([{ ...part, value: -part.before }]);
    const hide = () => this.page.board.heat(this.placed);
    return { tabindex: 0, onmouseenter: show, onfocus: show, onmouseleave: hide, onblur: hide };
  }

  column(one) {
    const largest = Math.max(
      ...one.parts.map((p) => Math.max(Math.abs(p.before), Math.abs(p.after ?? 0))),
      1e-9,
    );
    const bar = (value, kind) =>
      h("span", { class: `part-bar ${kind} ${value < 0 ? "minus" : "plus"}` },
        h("span", { style: { width: `${(50 * Math.abs(value)) / largest}%` } }));
    const compared = one.after !== undefined;
    return h(
      "section",
      { class: "column", "aria-label": one.name },
      h("h3", { title: one.name }, one.name),
      h("p", { class: "number total" },
        h("b", { class: "large" }, signed(one.before, one.unit)),
        compared && [" → ", h("b", { class: "large" }, signed(one.after, one.unit))]),
      h("p", { class: "muted small" }, one.kind === "sum"
        ? "Term × weight; the parts add up to the value."
        : "The contribution of each part, averaged over all orders of adding them; with nothing in view they add up to the value."),
      !one.parts.length && h("p", {}, "All its terms are 0 here."),
      compared && one.parts.length > 0 &&
        h("p", { class: "heads muted small", "aria-hidden": "true" }, h("span", {}, "before"), h("span", {}, "after")),
      one.parts.length > 0 && h(
        "table",
        { class: "parts" },
        h("thead", { class: "unseen" }, h("tr", {}, h("th", {}, "Part"), h("th", {}, "Before"),
          compared && h("th", {}, "After"))),
        h("tbody", {}, one.parts.slice(0, 16).map((part) =>
          h("tr", { title: part.help, ...this.marking(part) },
            h("th", { scope: "row" }, h("span", { class: "part-name" }, words(part.name)),
              part.weight !== null &&
                h("span", { class: "muted small number" }, ` ${trim(part.term)} × ${trim(part.weight)}`)),
            h("td", {}, bar(part.before, "before"), compared && bar(part.after, "after")),
            h("td", { class: "number value" }, signed(part.before, one.unit)),
            compared && h("td", { class: `number value after ${shift(part)}` }, signed(part.after, one.unit)),
          ))),
      ),
      one.left_out + one.parts.length > 16 &&
        h("p", { class: "muted small" },
          `${one.left_out + one.parts.length - 16} smaller parts are not shown.`),
    );
  }
}

function words(name) {
  return name.replaceAll("_", " ");
}

function trim(number) {
  return String(Number(number.toPrecision(3))).replace("-", "−");
}

function shift(part) {
  const change = (part.after ?? 0) - part.before;
  return Math.abs(change) < 1e-9 ? "" : change > 0 ? "up" : "down";
}
