// @ts-check
// Charts as SVG: axes with titles and round numbers, curves with bands, the values under the pointer,
// and the same values as a table.

import { h, put, s, short } from "./dom.js";

const COLOURS = 8;
const MOST_ROWS = 40; // of a table

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
  if (Math.abs(value) >= 1000) return (value < 0 ? "−" : "") + short(Math.round(Math.abs(value)));
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/** Scales of the vertical axis: even, or logarithmic on both sides of 0. */
const EVEN = { bend: (y) => y, ticks };
const BOTH_SIDES = {
  bend: (y) => Math.sign(y) * Math.log10(1 + Math.abs(y)),
  ticks: (low, high) => {
    const step = Math.max(1, Math.ceil(Math.log10(1 + Math.max(Math.abs(low), Math.abs(high))) / 4));
    const powers = Array.from({ length: 12 }, (_, n) => 10 ** (n * step)).filter((x) => x > 1);
    return [...powers.map((x) => -x).reverse(), 0, ...powers].filter((x) => x >= low && x <= high);
  },
};

/** The bounds of an axis, moved outwards to round numbers. */
function rounded(low, high, count) {
  const [first, second] = ticks(low, high, count);
  const step = second - first;
  if (!(step > 0)) return [low, high];
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

/**
 * A chart of curves {name, points: [[x, y, low?, high?]], colour?, dash?: 0 to 3}.
 *
 * title: describes the chart to screen readers.
 * across, upward: titles of the axes; `unit` follows the values under the pointer.
 * zero: a value at which a line is drawn; low, high: bounds of the vertical axis.
 * log: whether the vertical axis is logarithmic, on both sides of 0.
 * pick: called with the horizontal value that is clicked; marked: one that is marked.
 * table: whether the values can be read as a table too.
 * @param {any[]} curves
 * @param {Object<string, any>} options
 */
export function chart(curves, { title, width = 640, height = 260, unit = "", zero = null, low, high,
  across = "games", upward = "", pick = null, marked = null, legend = true, log = false, table = false } = {}) {
  const [left, right, top, bottom] = [upward ? 70 : 52, 14, 12, 48];
  const scale = log ? BOTH_SIDES : EVEN;
  const all = curves.flatMap((curve) => curve.points);
  const xs = all.map((p) => p[0]);
  const ys = all.flatMap((p) => p.slice(1)).filter((y) => y !== null);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  let [y0, y1] = [low ?? Math.min(...ys), high ?? Math.max(...ys)];
  if (zero !== null) [y0, y1] = [Math.min(y0, zero), Math.max(y1, zero)];
  if (y0 === y1) [y0, y1] = [y0 - 1, y1 + 1];
  if (!log) {
    const [round0, round1] = rounded(y0, y1, 5);
    [y0, y1] = [low ?? round0, high ?? round1];
  }
  const px = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - right);
  const [b0, b1] = [scale.bend(y0), scale.bend(y1)];
  const py = (y) => top + ((b1 - scale.bend(y)) / (b1 - b0)) * (height - top - bottom);

  const svg = s("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title,
  });
  for (const y of scale.ticks(y0, y1, 5)) {
    svg.append(
      s("line", { class: "rule", x1: left, x2: width - right, y1: py(y), y2: py(y) }),
      s("text", { class: "tick", x: left - 8, y: py(y) + 4, "text-anchor": "end" }, label(y)),
    );
  }
  // Games and moves are counted in whole numbers.
  const whole = xs.every(Number.isInteger);
  for (const x of ticks(x0, x1, Math.max(3, Math.round(width / 130)), whole)) {
    svg.append(
      s("text", { class: "tick", x: px(x), y: height - 27, "text-anchor": "middle" }, label(x)),
    );
  }
  const middle = [(left + width - right) / 2, (top + height - bottom) / 2];
  svg.append(s("text", { class: "axis-title", x: middle[0], y: height - 6, "text-anchor": "middle" }, across));
  if (upward) {
    svg.append(s("text", { class: "axis-title", "text-anchor": "middle",
      transform: `translate(14 ${middle[1]}) rotate(-90)` }, upward));
  }
  if (zero !== null) {
    svg.append(s("line", { class: "zero", x1: left, x2: width - right, y1: py(zero), y2: py(zero) }));
  }
  if (marked !== null) {
    svg.append(s("line", { class: "marked", x1: px(marked), x2: px(marked), y1: top,
      y2: height - bottom }));
  }
  const colours = curves.map((curve, n) => curve.colour || `var(--c${n % COLOURS})`);
  curves.forEach((curve, n) => {
    const colour = colours[n];
    const points = curve.points.filter((p) => p[1] !== null);
    if (points[0]?.length > 3) {
      const upper = points.map((p) => `${px(p[0])} ${py(Math.min(p[3], y1))}`);
      const lower = points.map((p) => `${px(p[0])} ${py(Math.max(p[2], y0))}`).reverse();
      svg.append(s("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z`,
        style: { fill: colour } }));
    }
    const line = points.map((p) => `${px(p[0]).toFixed(1)} ${py(p[1]).toFixed(1)}`).join("L");
    if (line) svg.append(s("path", { class: `curve ${curve.dash ? `dashed dash-${curve.dash}` : ""}`, d: `M${line}`, style: { stroke: colour } }));
    if (points.length < 40) {
      for (const p of points) {
        svg.append(s("circle", { class: "spot", cx: px(p[0]), cy: py(p[1]), r: 3,
          style: { fill: colour } }));
      }
    }
  });

  const hair = s("line", { class: "hair", y1: top, y2: height - bottom, visibility: "hidden" });
  const spots = s("g", {});
  svg.append(hair, spots);
  const reading = h("div", { class: "reading number", "aria-hidden": "true", hidden: true });
  const places = [...new Set(xs)].sort((a, b) => a - b);

  function nearest(list, x, of) {
    return list.reduce((a, b) => (Math.abs(of(b) - x) < Math.abs(of(a) - x) ? b : a), list[0]);
  }

  function place(event) {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    return nearest(places, x, px);
  }

  svg.addEventListener("pointermove", (event) => {
    const x = place(event);
    if (x === undefined) return;
    hair.setAttribute("x1", px(x));
    hair.setAttribute("x2", px(x));
    hair.setAttribute("visibility", "visible");
    // A curve that has no point there is read at its own nearest one, if that is near.
    const near = curves
      .map((curve, n) => [curve, colours[n], nearest(curve.points.filter((p) => p[1] !== null), x, (p) => p[0])])
      .filter(([, , p]) => p && Math.abs(px(p[0]) - px(x)) < 12)
      .sort(([, , p], [, , q]) => q[1] - p[1]);
    spots.replaceChildren(...near.map(([, colour, p]) =>
      s("circle", { class: "spot", cx: px(p[0]), cy: py(p[1]), r: 5, style: { fill: colour } })));
    put(reading, h("b", {}, `${label(x)} ${across}`),
      near.slice(0, 12).map(([curve, colour, p]) => h("span", {},
        h("span", { class: "swatch", style: { background: colour } }), ` ${curve.name} `,
        h("b", {}, label(p[1])), p.length > 3 && ` ${label(p[2])} to ${label(p[3])}`)),
      unit && h("span", { class: "muted" }, unit));
    reading.hidden = false;
    const share = px(x) / width;
    Object.assign(reading.style, share > 0.5
      ? { left: "auto", right: `${100 * (1 - share) + 2}%` } : { left: `${100 * share + 2}%`, right: "auto" });
  });
  svg.addEventListener("pointerleave", () => {
    hair.setAttribute("visibility", "hidden");
    spots.replaceChildren();
    reading.hidden = true;
  });
  if (pick) {
    svg.classList.add("pickable");
    svg.addEventListener("click", (event) => pick(place(event)));
  }
  return h(
    "figure",
    { class: "figure" },
    svg,
    reading,
    legend && curves.length > 0 &&
      h("ul", { class: "legend" }, curves.map((curve, n) =>
        h("li", {}, h("span", { class: `swatch ${curve.dash ? `dashed dash-${curve.dash}` : ""}`, style: {
          background: colours[n], color: colours[n] } }), curve.name))),
    table && asTable(curves, places, across),
  );
}

/** The values of a chart as a table, made when it is opened. */
function asTable(curves, places, across) {
  const box = h("div", { class: "scroll values-table", tabindex: 0, role: "group", "aria-label": "Values" });
  const found = curves.map((curve) => new Map(curve.points.map((p) => [p[0], p[1]])));
  const step = Math.ceil(places.length / MOST_ROWS);
  const details = h("details", { ontoggle: () => details.open && put(box,
    h("table", { class: "table number" },
      h("thead", {}, h("tr", {}, [across, ...curves.map((c) => c.name)].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, places.filter((_, n) => n % step === 0 || n === places.length - 1).map((x) =>
        h("tr", {}, h("th", { scope: "row" }, label(x)),
          found.map((values) => h("td", {}, values.has(x) && values.get(x) !== null ? label(values.get(x)) : "–"))))))),
  }, h("summary", {}, "Values as a table"), box);
  return details;
}
