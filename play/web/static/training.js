// @ts-check
// The page of training runs: strength of the snapshots, curves of the log, weights over time.

import { get, post } from "./api.js";
import { chart } from "./chart.js";
import { h, put, sentence, short, toast } from "./dom.js";
import { Picker } from "./picker.js";

/** The width of a chart that keeps its text readable on a phone. */
const wide = (most) => Math.max(320, Math.min(most, window.innerWidth - 64));

const OFTEN = 3000; // milliseconds between two requests for a run
const USUAL_WEIGHTS = 8; // drawn until a person chooses others
const MOST_OTHERS = 3; // runs that are compared with one: there are as many kinds of dashes

/** A run, if it has changed since `stamp`; nothing for no id. */
async function read(id, stamp) {
  if (!id) return { unchanged: true };
  return get(`/api/run?id=${encodeURIComponent(id)}${stamp ? `&stamp=${encodeURIComponent(stamp)}` : ""}`);
}

export class TrainingPage {
  kind = "training";

  constructor(root, catalogue) {
    this.root = root;
    this.catalogue = catalogue;
    this.runs = [];
    this.others = []; // the runs that are compared with: {id, stamp, run}, in the order of choice
    this.shown = null; // the names of the weights that are drawn; null until a run is shown
    this.id = "";
    this.stamp = "";
    this.drawnRuns = ""; // the ids of the runs that are on the page
    this.list = h("div", { class: "runs" });
    this.detail = h("div", { class: "run-detail" });
    root.replaceChildren(
      h("div", { class: "training" },
        h("aside", { class: "card run-list", "aria-label": "Runs" }, h("h1", {}, "Training runs"), this.list),
        this.detail),
    );
    this.timer = setInterval(() => !document.hidden && this.refresh(), OFTEN);
    this.found = this.refresh();
  }

  go(id = "") {
    this.wanted = id;
    if (id !== this.id) {
      this.id = id;
      this.reset();
      this.found.then(() => this.refresh());
    }
    return true;
  }

  reset() {
    Object.assign(this, { stamp: "", run: null, others: [], shown: null, player: "" });
  }

  leave() {
    clearInterval(this.timer);
  }

  async refresh() {
    try {
      const { runs } = await get("/api/runs");
      this.runs = runs;
      this.drawList(runs);
      if (!runs.length) {
        put(this.detail, empty());
        return;
      }
      const id = runs.some((run) => run.id === this.id) ? this.id : runs[0].id;
      if (id !== this.id) {
        this.id = id;
        this.reset();
        this.drawList(runs);
      }
      const { others } = this;
      const [run, ...more] = await Promise.all(
        [read(id, this.stamp), ...others.map((other) => read(other.id, other.run?.stamp))]);
      const drawing = [id, ...others.map((other) => other.id)].join(" ");
      if (id !== this.id || others !== this.others) return;
      if (drawing === this.drawnRuns && [run, ...more].every((one) => one.unchanged)) return;
      if (!run.unchanged) this.run = run;
      more.forEach((one, n) => {
        if (!one.unchanged) others[n].run = one;
      });
      this.stamp = this.run.stamp;
      // A field in use is not replaced under the hands of a person.
      if (this.detail.contains(document.activeElement) && document.activeElement.matches("input, select")) {
        this.stamp = "";
        if (this.drawnRuns === drawing) return;
      }
      this.drawnRuns = drawing;
      const held = this.detail.contains(document.activeElement) && document.activeElement.matches("[data-without]");
      this.drawRun();
      if (held) this.detail.querySelector("[data-without]")?.focus();
      document.getElementById("banner").hidden = true;
    } catch (error) {
      const banner = document.getElementById("banner");
      put(banner, sentence(error.message));
      banner.hidden = false;
    }
  }

  drawList(runs) {
    const key = JSON.stringify([this.id, runs.map((r) => [r.id, r.state, ago(r.age)])]);
    if (key === this.drawn) return;
    this.drawn = key;
    put(this.list, 
      h("ul", {},
        runs.map((run) =>
          h("li", {},
            h("a", { href: `#/training/${encodeURIComponent(run.id)}`,
              "aria-current": run.id === this.id ? "true" : null },
            h("strong", {}, run.name),
            h("span", { class: "muted" }, `${run.game} · ${run.learner}`),
            h("span", { class: `state ${run.state.replace(" ", "-")}` },
              run.state === "going on" ? "live" : ago(run.age)))))),
    );
  }

  drawRun() {
    const { run } = this;
    const { strength, log, weights, options } = run;
    const all = [run, ...this.others.map((other) => other.run)];
    const several = all.length > 1;
    const points = strength.unit.startsWith("points");
    const measured = all.filter((one) => one.strength.unit === strength.unit);
    const same = measured.length === all.length;
    const curves = measured.flatMap((one) => Object.entries(one.strength.curves).map(([name, list]) => ({
      name: `${several ? `${one.name} ` : ""}against ${name}`, points: list, dash: all.indexOf(one),
    })));
    const puzzle = this.catalogue.evaluators.some((e) => e.game === run.game)
      && !this.catalogue.games.some((game) => game.name === run.game);
    const facts = [
      ["Game", run.game],
      ["Learner", run.learner],
      puzzle ? ["Positions", short(log.games)]
        : ["Games", run.games ? `${short(log.games)} of ${short(run.games)}` : short(log.games)],
      !puzzle && ["Depth", options.depth ?? "–"],
      ["Seed", options.seed ?? "–"],
      ["State", run.state],
      run.state === "going on" && run.left !== null && ["Time left", about(run.left)],
    ];
    const beside = Object.keys(log.curves).length > 1; // several charts stand side by side
    const share = run.games ? Math.min(1, log.games / run.games) : 0;
    put(this.detail, 
      h("header", { class: "run-head" },
        h("h2", {}, run.name),
        run.state === "going on" && h("span", { class: "live" }, h("span", { class: "pulse" }), "live"),
      ),
      h("dl", { class: "facts number" }, facts.filter(Boolean).map(([name, value]) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, String(value))))),
      run.games && !puzzle
        ? h("div", { class: "progress", role: "progressbar", "aria-label": "Games played",
            "aria-valuenow": Math.round(100 * share), "aria-valuemin": 0, "aria-valuemax": 100 },
          h("span", { style: { width: `${100 * share}%` } }))
        : null,
      run.state === "stopped" && h("p", { class: "muted" }, "To continue it: ",
        h("code", {}, `plysmith train --resume ${run.folder}`)),
      this.tools(),
      puzzle ? card("Report", "", run.lines.length && run.lines.map((line) => h("p", {}, line)),
        "The heuristic is judged when the run has ended.")
      : card("Strength of the snapshots", `${strength.unit}, with 95 % intervals${same ? "" : "; runs measured in another unit are left out"}`,
        curves.length && chart(curves, {
          title: `Strength of the snapshots in ${strength.unit}: ${curves.map(lastOf).join(", ")}`,
          upward: strength.unit, zero: points ? 0 : strength.unit === "% of the points" ? 50 : null, low: points ? undefined : 0, high: points ? undefined : 100,
          width: wide(760), height: 300, table: true, pick: (game) => this.pickSnapshot(game),
        }), "No snapshot has been measured yet."),
      !puzzle && card("Weights over time", weightNote(weights),
        Object.keys(weights.curves).length > 0 && this.weights(all),
        "This run learns no weights over terms, or has no snapshot yet."),
      Object.keys(log.curves).length
        ? h("div", { class: "log-charts" }, Object.entries(log.curves).map(([name, line], n) => {
          const drawn = all.map((one, dash) => ({ name: several ? one.name : name, points: one.log.curves[name],
            dash, colour: `var(--c${(n + dash) % 8})` })).filter((one) => one.points);
          return card(words(name), log.lines > line.length ? "each point is the mean of several games" : "",
            chart(drawn, {
              title: `${name} over the ${puzzle ? "positions" : "games"}: last ${line[line.length - 1][1].toFixed(3)}`,
              upward: words(name), width: wide(beside ? 460 : 760), height: beside ? 200 : 260, legend: drawn.length > 1,
              across: puzzle ? "positions" : "games",
            }));
        }))
        : null,
      run.matches.length ? matches(run.matches) : null,
    );
  }

  /** Comparing with other runs, and playing against an evaluator of this one. */
  tools() {
    const { run } = this;
    const chosenIds = this.others.map((other) => other.id);
    const left = this.runs.filter((one) => one.game === run.game && ![run.id, ...chosenIds].includes(one.id));
    const played = this.catalogue.games.some((game) => game.name === run.game) ? run.players : [];
    const chosen = played.some((one) => one.id === this.player) ? this.player : played[0]?.id;
    this.select = played.length > 0 && h("select", { "data-player": true, onchange: (e) => { this.player = e.target.value; } },
      played.map(({ id, name }) => h("option", { value: id, selected: id === chosen }, name)));
    return h("div", { class: "run-tools" },
      left.length > 0 && chosenIds.length < MOST_OTHERS && new Picker({
        label: chosenIds.length ? "Compare with another" : "Compare with",
        groups: [{ title: "", options: [{ id: "", name: chosenIds.length ? "no further run" : "no other run" }] },
          { title: "Runs", options: left.map((one) => ({ id: one.id, name: one.name, about: `${one.learner}, ${ago(one.age)}` })) }],
        value: "",
        data: { "data-compare": true },
        change: (id) => this.compare([...this.others, { id }]),
      }).element,
      this.others.map((other) => h("button", { type: "button", class: "quiet", "data-without": other.id,
        "aria-label": `Compare no longer with ${other.run.name}`,
        onclick: () => this.compare(this.others.filter((one) => one !== other)) }, `${other.run.name} ×`)),
      this.select && h("label", { class: "field" }, "Evaluator of this run", this.select),
      this.select && h("button", { type: "button", class: "primary", "data-play-it": true,
        onclick: () => this.play(this.select.value) }, "Play against it"));
  }

  /** Choose the snapshot that is nearest to a number of games. */
  pickSnapshot(game) {
    const snapshots = this.run.players.filter((one) => one.game !== null);
    if (!this.select || !snapshots.length) return;
    const near = snapshots.reduce((a, b) => (Math.abs(b.game - game) < Math.abs(a.game - game) ? b : a));
    this.player = near.id;
    this.select.value = near.id;
  }

  async play(evaluator) {
    const seats = [{ kind: "human" }, { kind: "evaluator", evaluator, seconds: 1, depth: null }];
    try {
      const view = await post("/api/tables", { game: this.run.game, seats });
      location.hash = `#/play/${view.id}`;
    } catch (error) {
      toast(sentence(error.message));
    }
  }

  async compare(others) {
    this.others = others;
    this.stamp = "";
    await this.refresh();
    this.detail.querySelector("[data-compare], [data-without]")?.focus();
  }

  /** The chosen weights of the runs as a chart, above the choice. */
  weights(all) {
    const [run] = all;
    const names = [...new Set(all.flatMap((one) => Object.keys(one.weights.curves)))];
    this.shown ??= new Set(names.slice(0, USUAL_WEIGHTS));
    const box = h("div");
    const draw = () => {
      const shown = names.filter((name) => this.shown.has(name));
      const curves = all.flatMap((one, dash) => shown.filter((name) => one.weights.curves[name]).map((name) => ({
        name: `${words(name)}${one === run ? "" : ` (${one.name})`}`, points: one.weights.curves[name],
        dash, colour: `var(--c${shown.indexOf(name) % 8})`,
      })));
      put(box, curves.length ? weightChart(curves) : h("p", { class: "muted" }, "No weight is chosen."));
    };
    draw();
    return h("div", {}, box,
      h("details", { open: this.choosing, ontoggle: (e) => { this.choosing = e.target.open; } },
        h("summary", {}, `Choose among ${names.length} weights`),
        h("fieldset", { class: "choices" }, h("legend", { class: "unseen" }, "Weights that are drawn"),
          names.map((name) => h("label", { class: "check" },
            h("input", { type: "checkbox", checked: this.shown.has(name), onchange: (e) => {
              if (e.target.checked) this.shown.add(name);
              else this.shown.delete(name);
              draw();
            } }), words(name))))));
  }
}

function lastOf(curve) {
  const last = curve.points[curve.points.length - 1];
  return `${curve.name} ${last[1].toFixed(2)}`;
}

function bentBy(lines) {
  return Math.max(0, ...lines.flat().map(([, w]) => Math.abs(w))) > 1000;
}

function weightNote({ curves, left_out }) {
  const notes = [];
  if (bentBy(Object.values(curves))) notes.push("on a logarithmic scale, with their sign");
  if (left_out) notes.push(`${left_out} smaller weights are not offered`);
  return notes.join("; ");
}

/** Very large weights are drawn on a logarithmic scale, with their sign. */
function weightChart(curves) {
  return chart(curves, {
    title: `Weights over time: ${curves.map(lastOf).join(", ")}`, zero: 0, width: wide(760), height: 320,
    upward: "weight", log: bentBy(curves.map((curve) => curve.points)), table: true,
  });
}

function card(title, note, content, otherwise = "") {
  return h("section", { class: "card chart-card", "aria-label": title },
    h("h3", {}, title, note && h("span", { class: "muted small" }, ` ${note}`)),
    content || h("p", { class: "muted" }, otherwise));
}

function matches(list) {
  const number = (value, unit) =>
    typeof value === "number" ? value.toFixed(unit === "Elo" ? 0 : 3).replace("-", "−") : "–";
  const interval = ({ low, high, unit }) => low === null && high === null ? "no bounds"
    : high === null ? `at least ${number(low, unit)}` : low === null ? `at most ${number(high, unit)}`
    : `${number(low, unit)} to ${number(high, unit)}`;
  const units = [...new Set(list.map((m) => m.unit))];
  return card("Final matches", units.length === 1 ? units[0] : "",
    h("div", { class: "scroll" }, h("table", { class: "table number" },
      h("thead", {}, h("tr", {}, ["Opponent", "Games", "Won", "Drawn", "Lost", "Result", "95 % interval"].map((t, n) =>
        h("th", { scope: "col", class: n > 0 && n < 5 ? "minor" : null }, t)))),
      h("tbody", {}, list.map((m) =>
        h("tr", {}, h("th", { scope: "row" }, String(m.opponent)), h("td", { class: "minor" }, m.games), h("td", { class: "minor" }, m.wins),
          h("td", { class: "minor" }, m.draws), h("td", { class: "minor" }, m.losses), h("td", {}, number(m.value, m.unit), units.length > 1 ? ` ${m.unit}` : ""),
          h("td", {}, interval(m))))))));
}

function words(name) {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const about = (seconds) => (seconds < 90 ? "1 min" : seconds < 5400 ? `${Math.round(seconds / 60)} min`
  : `${Math.round(seconds / 3600)} h`);

function ago(seconds) {
  if (seconds < 90) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

function empty() {
  return h("div", { class: "card lonely" },
    h("h2", {}, "No runs yet"),
    h("p", { class: "muted" }, "Learning curves appear here, live, as soon as a run begins:"),
    h("p", {}, h("code", {}, "plysmith train checkers")));
}
