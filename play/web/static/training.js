// The page of training runs: strength of the snapshots, curves of the log, weights over time.

import { get } from "./api.js";
import { chart } from "./chart.js";
import { h, put, sentence, short } from "./dom.js";

/** The width of a chart that keeps its text readable on a phone. */
const wide = (most) => Math.max(320, Math.min(most, window.innerWidth - 64));

const OFTEN = 3000; // milliseconds between two requests for a run

export class TrainingPage {
  kind = "training";

  constructor(root) {
    this.root = root;
    this.id = "";
    this.stamp = "";
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
      this.stamp = "";
      this.found.then(() => this.refresh());
    }
    return true;
  }

  leave() {
    clearInterval(this.timer);
  }

  async refresh() {
    try {
      const { runs } = await get("/api/runs");
      this.drawList(runs);
      if (!runs.length) {
        put(this.detail, empty());
        return;
      }
      const id = runs.some((run) => run.id === this.id) ? this.id : runs[0].id;
      if (id !== this.id) {
        this.id = id;
        this.stamp = "";
        this.drawList(runs);
      }
      const stamp = this.stamp ? `&stamp=${encodeURIComponent(this.stamp)}` : "";
      const run = await get(`/api/run?id=${encodeURIComponent(id)}${stamp}`);
      if (run.unchanged || run.id !== this.id) return;
      this.stamp = run.stamp;
      this.drawRun(run);
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

  drawRun(run) {
    const { strength, log, weights, options } = run;
    const curves = Object.entries(strength.curves).map(([name, points]) => ({ name: `against ${name}`, points }));
    const points = strength.unit.startsWith("points");
    const facts = [
      ["Game", run.game],
      ["Learner", run.learner],
      ["Games", run.games ? `${short(log.games)} of ${short(run.games)}` : short(log.games)],
      ["Depth", options.depth ?? "–"],
      ["Seed", options.seed ?? "–"],
      ["State", run.state],
    ];
    const several = Object.keys(log.curves).length > 1; // several charts stand side by side
    const share = run.games ? Math.min(1, log.games / run.games) : 0;
    put(this.detail, 
      h("header", { class: "run-head" },
        h("h2", {}, run.name),
        run.state === "going on" && h("span", { class: "live" }, h("span", { class: "pulse" }), "live"),
      ),
      h("dl", { class: "facts number" }, facts.map(([name, value]) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, String(value))))),
      run.games
        ? h("div", { class: "progress", role: "progressbar", "aria-label": "Games played",
            "aria-valuenow": Math.round(100 * share), "aria-valuemin": 0, "aria-valuemax": 100 },
          h("span", { style: { width: `${100 * share}%` } }))
        : null,
      card("Strength of the snapshots", `${strength.unit}, with 95 % intervals`, curves.length &&
        chart(curves, {
          title: `Strength of the snapshots in ${strength.unit}: ${curves.map(lastOf).join(", ")}`,
          unit: strength.unit, zero: points ? 0 : 50, low: points ? undefined : 0, high: points ? undefined : 100,
          width: wide(760), height: 300,
        }), "No snapshot has been measured yet."),
      card("Weights over time", weightNote(weights),
        Object.keys(weights.curves).length > 0 && weightChart(weights.curves),
        "This run learns no weights over terms, or has no snapshot yet."),
      Object.keys(log.curves).length
        ? h("div", { class: "log-charts" }, Object.entries(log.curves).map(([name, line], n) =>
            card(words(name), log.lines > line.length ? "each point is the mean of several games" : "",
              chart([{ name, points: line, colour: `var(--c${n % 8})` }], {
                title: `${name} over the games: last ${line[line.length - 1][1].toFixed(3)}`,
                width: wide(several ? 460 : 760), height: several ? 200 : 260, legend: false,
              }))))
        : null,
      run.matches.length ? matches(run.matches) : null,
    );
  }
}

function lastOf(curve) {
  const last = curve.points[curve.points.length - 1];
  return `${curve.name} ${last[1].toFixed(2)}`;
}

function bentBy(curves) {
  return Math.max(0, ...Object.values(curves).flat().map(([, w]) => Math.abs(w))) > 1000;
}

function weightNote({ curves, left_out }) {
  const notes = [];
  if (bentBy(curves)) notes.push("on a logarithmic scale, with their sign");
  if (left_out) notes.push(`${left_out} smaller weights are not shown`);
  return notes.join("; ");
}

/** Very large weights are drawn on a logarithmic scale, with their sign. */
function weightChart(curves) {
  const bent = bentBy(curves);
  const bend = (w) => (bent ? Math.sign(w) * Math.log2(1 + Math.abs(w)) : w);
  const list = Object.entries(curves).map(([name, line]) => ({
    name: words(name), points: line.map(([game, w]) => [game, bend(w)]),
  }));
  const scale = bent ? " (±log2 of the size)" : "";
  return chart(list, {
    title: `Weights over time${scale}: ${list.map(lastOf).join(", ")}`, zero: 0, width: wide(760), height: 320,
    unit: scale,
  });
}

function card(title, note, content, otherwise = "") {
  return h("section", { class: "card chart-card", "aria-label": title },
    h("h3", {}, title, note && h("span", { class: "muted small" }, ` ${note}`)),
    content || h("p", { class: "muted" }, otherwise));
}

function matches(list) {
  const number = (value) => (typeof value === "number" ? value.toFixed(3).replace("-", "−") : "–");
  const units = [...new Set(list.map((m) => m.unit))];
  return card("Final matches", units.length === 1 ? units[0] : "",
    h("div", { class: "scroll" }, h("table", { class: "table number" },
      h("thead", {}, h("tr", {}, ["Opponent", "Games", "Won", "Drawn", "Lost", "Result", "95 % interval"].map((t, n) =>
        h("th", { scope: "col", class: n > 0 && n < 5 ? "minor" : null }, t)))),
      h("tbody", {}, list.map((m) =>
        h("tr", {}, h("th", { scope: "row" }, String(m.opponent)), h("td", { class: "minor" }, m.games), h("td", { class: "minor" }, m.wins),
          h("td", { class: "minor" }, m.draws), h("td", { class: "minor" }, m.losses), h("td", {}, number(m.value), units.length > 1 ? ` ${m.unit}` : ""),
          h("td", {}, `${number(m.low)} to ${number(m.high)}`)))))));
}

function words(name) {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

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
