// @ts-check
// The parts of a heuristic's estimate of a position, on the page of puzzles.

import { h } from "./dom.js";

/** The value and its parts; `heat` colours the board by the parts that it is given. */
export function estimate({ value, name, kind, parts, left_out, rest }, heat) {
  const lowers = parts.some((part) => part.value < 0);
  const largest = Math.max(...parts.map((part) => Math.abs(part.value)), 1e-9);
  const number = (x) => `${x < 0 ? "−" : ""}${Number(Math.abs(x).toFixed(2))}`;
  const row = (part) => h("tr", {
    onmouseenter: () => heat([part]), onmouseleave: () => heat(parts),
  },
  h("th", { scope: "row" }, part.name),
  h("td", {}, h("span", { class: `part-bar ${part.value > 0 ? "minus" : "plus"} cost ${lowers ? "" : "only"}` },
    h("span", { style: { width: `${((lowers ? 50 : 100) * Math.abs(part.value)) / largest}%` } }))),
  h("td", { class: "number value" }, number(part.value)));
  return [
    h("p", { class: "number" }, h("b", { class: "large" }, number(value)),
      h("span", { class: "muted" }, ` estimated to go, by ${name}`)),
    kind === "whole" && h("p", { class: "muted small" },
      "It cannot be taken apart: it is no sum, and this puzzle has no pieces to take away."),
    parts.length > 0 && h("p", { class: "muted small" }, kind === "sum"
      ? "The parts add up to the estimate."
      : "The contribution of each part, averaged over all orders of adding them."),
    parts.length > 0 && h("div", { class: "parts-box", tabindex: 0, role: "group", "aria-label": "Parts" },
      h("table", { class: "parts" },
        h("thead", { class: "unseen" }, h("tr", {}, ["Part", "Share", "Cost"].map((t) => h("th", {}, t)))),
        h("tbody", {}, parts.map(row)))),
    left_out > 0 && h("p", { class: "muted small" }, `${left_out} smaller parts add ${number(rest)}.`),
  ];
}
