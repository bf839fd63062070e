// Charts as SVG: axes with round numbers, curves with bands, and the values under the pointer.

import { h, s, short } from "./dom.js";

const COLOURS = 8;

/** Round numbers from low to high, about `count` of them; `whole` allows only integers. */
function ticks(low, high, count, whole = false) {
  const span = high - low || 1;
  const rough = whole ? Math.max(span / count, 1) : span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power)
    .find((x) => x >= rough && (!whole || Number.isInteger(x)));
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step / 1e6; x += step) {
    found.push(Math.abs(x) < step / 1e6 ? 0 : x);
  }
  return found;
}

function label(value) {
  if (Math.abs(value) >= 1000) return short(Math.round(value));
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/**
 * A chart of curves {name, points: [[x, y, low?, high?]], colour?}. `zero` draws a line at that
 * value, `low` and `high` bound the vertical axis, and `title` describes the chart to screen readers.
 */
export function chart(curves, { title, width = 640, height = 260, unit = "", zero = null, low, high,
  across = "games", pick = null, marked = null, legend = true } = {}) {
  const [left, right, top, bottom] = [52, 14, 12, 34];
  const all = curves.flatMap((curve) => curve.points);
  const xs = all.map((p) => p[0]);
  const ys = all.flatMap((p) => p.slice(1)).filter((y) => y !== null);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  let [y0, y1] = [low ?? Math.min(...ys), high ?? Math.max(...ys)];
  if (zero !== null) [y0, y1] = [Math.min(y0, zero), Math.max(y1, zero)];
  if (y0 === y1) [y0, y1] = [y0 - 1, y1 + 1];
  const room = low === undefined ? (y1 - y0) * 0.06 : 0;
  [y0, y1] = [y0 - room, y1 + room];
  const px = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - right);
  const py = (y) => top + ((y1 - y) / (y1 - y0)) * (height - top - bottom);

  const svg = s("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title,
  });
  for (const y of ticks(y0, y1, 5)) {
    svg.append(
      s("line", { class: "rule", x1: left, x2: width - right, y1: py(y), y2: py(y) }),
      s("text", { class: "tick", x: left - 8, y: py(y) + 4, "text-anchor": "end" }, label(y)),
    );
  }
  // Games and moves are counted in whole numbers.
  for (const x of ticks(x0, x1, Math.max(3, Math.round(width / 130)), true)) {
    svg.append(
      s("text", { class: "tick", x: px(x), y: height - 12, "text-anchor": "middle" }, label(x)),
    );
  }
  if (zero !== null) {
    svg.append(s("line", { class: "zero", x1: left, x2: width - right, y1: py(zero), y2: py(zero) }));
  }
  if (marked !== null) {
    svg.append(s("line", { class: "marked", x1: px(marked), x2: px(marked), y1: top,
      y2: height - bottom }));
  }
  curves.forEach((curve, n) => {
    const colour = curve.colour || `var(--c${n % COLOURS})`;
    const points = curve.points.filter((p) => p[1] !== null);
    if (points[0]?.length > 3) {
      const upper = points.map((p) => `${px(p[0])} ${py(Math.min(p[3], y1))}`);
      const lower = points.map((p) => `${px(p[0])} ${py(Math.max(p[2], y0))}`).reverse();
      svg.append(s("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z`,
        style: { fill: colour } }));
    }
    const line = points.map((p) => `${px(p[0]).toFixed(1)} ${py(p[1]).toFixed(1)}`).join("L");
    svg.append(s("path", { class: "curve", d: `M${line}`, style: { stroke: colour } }));
    if (points.length < 40) {
      for (const p of points) {
        svg.append(s("circle", { class: "spot", cx: px(p[0]), cy: py(p[1]), r: 3,
          style: { fill: colour } }));
      }
    }
  });
  const hair = s("line", { class: "hair", y1: top, y2: height - bottom, visibility: "hidden" });
  svg.append(hair);
  const reading = h("p", { class: "reading number", "aria-hidden": "true" }, "\u00a0");
  const points = [...new Set(xs)].sort((a, b) => a - b);

  function nearest(event) {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    return points.reduce((a, b) => (Math.abs(px(b) - x) < Math.abs(px(a) - x) ? b : a), points[0]);
  }

  svg.addEventListener("pointermove", (event) => {
    const x = nearest(event);
    if (x === undefined) return;
    hair.setAttribute("x1", px(x));
    hair.setAttribute("x2", px(x));
    hair.setAttribute("visibility", "visible");
    const values = curves
      .map((c) => [c.name, c.points.find((p) => p[0] === x)])
      .filter(([, p]) => p && p[1] !== null)
      .slice(0, 6)
      .map(([name, p]) => `${name} ${label(p[1])}`);
    reading.textContent = `${across} ${label(x)}: ${values.join(", ")} ${unit}`;
  });
  svg.addEventListener("pointerleave", () => {
    hair.setAttribute("visibility", "hidden");
    reading.textContent = "\u00a0";
  });
  if (pick) {
    svg.classList.add("pickable");
    svg.addEventListener("click", (event) => pick(nearest(event)));
  }
  return h(
    "figure",
    { class: "figure" },
    svg,
    reading,
    legend && curves.length > 0 &&
      h("ul", { class: "legend" }, curves.map((curve, n) =>
        h("li", {}, h("span", { class: "swatch", style: {
          background: curve.colour || `var(--c${n % COLOURS})` } }), curve.name))),
  );
}
