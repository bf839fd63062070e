// @ts-check
// Wood grain: a few lines, the same on every visit.

import { s } from "./dom.js";

function chance(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

/** Lines of grain across a rectangle, darker and lighter than the wood. */
export function grain(x, y, width, height, { seed = 1, lines = 14, across = false } = {}) {
  const next = chance(seed);
  const group = s("g", { class: "grain", "aria-hidden": "true" });
  const length = across ? height : width;
  const breadth = across ? width : height;
  for (let n = 0; n < lines; n += 1) {
    const at = ((n + 0.2 + 0.6 * next()) / lines) * breadth;
    const swing = breadth * (0.01 + 0.03 * next());
    const phase = next() * 6;
    const points = [];
    for (let step = 0; step <= 6; step += 1) {
      const along = (step / 6) * length;
      const off = Math.max(0, Math.min(breadth, at + swing * Math.sin(phase + step * 0.9)));
      points.push(across ? [x + off, y + along] : [x + along, y + off]);
    }
    const path = points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`);
    group.append(
      s("path", {
        d: path.join(""),
        class: next() < 0.5 ? "dark" : "light",
        "stroke-width": (0.6 + 1.6 * next()).toFixed(2),
      }),
    );
  }
  return group;
}

/** Draw arrows along paths of points; they replace earlier arrows. */
export function drawArrows(layer, ways) {
  for (const old of layer.querySelectorAll(".arrow")) old.remove();
  for (const points of ways) {
    const path = points.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("");
    layer.append(s("path", { d: path, class: "arrow", "marker-end": "url(#arrow-head)" }));
  }
}

/** The marker for arrow heads, which an SVG needs once. */
export function arrowHead() {
  return s(
    "marker",
    { id: "arrow-head", viewBox: "0 0 10 10", refX: 6, refY: 5, markerWidth: 3.4, markerHeight: 3.4,
      orient: "auto-start-reverse" },
    s("path", { d: "M0 1L9 5L0 9z", class: "arrow-head" }),
  );
}
