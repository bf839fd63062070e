// @ts-check
// Places on the board of backgammon: its points, bar and trays, and the checkers on them.

export const [WIDE, BARW, TRAY, EDGE] = [72, 66, 80, 34];
export const HEIGHT = 770;
export const TALL = 292; // height of a point
export const R = 32; // radius of a checker
export const SPAN = EDGE * 3 + 12 * WIDE + BARW + TRAY;
export const BAR = 25;
export const OFF = 0;

/** The places of a board by name: p1 to p24 as the bottom side counts them, bar-0, bar-1, off-0, off-1. */
export class Points {
  constructor() {
    this.flip = false; // whether O sits at the bottom
    this.places = new Map();
  }

  /** The left edge of point 1 to 24, as the bottom side counts, and whether it is at the top. */
  spot(point) {
    const top = point > 12;
    const column = top ? point - 13 : 12 - point; // from the left
    const x = EDGE + column * WIDE + (column > 5 ? BARW : 0);
    return { x, top };
  }

  /** The side at the bottom, 0 or 1. */
  get bottom() {
    return this.flip ? 1 : 0;
  }

  /** The name of the place of a point as a side counts it. */
  name(side, point) {
    if (point === OFF) return side === this.bottom ? "off-0" : "off-1";
    // Checkers of the bottom side enter at the top.
    if (point === BAR) return side === this.bottom ? "bar-1" : "bar-0";
    return `p${side === this.bottom ? point : 25 - point}`;
  }

  /** The point of a place as a side counts it; null if the place belongs to the other side. */
  point(side, name) {
    if (name.startsWith("p")) {
      const number = Number(name.slice(1));
      return side === this.bottom ? number : 25 - number;
    }
    const own = (name.endsWith("0")) === (side === this.bottom);
    if (name.startsWith("off")) return own ? OFF : null;
    return own ? null : BAR;
  }

  /** The centre of checker n on a place with `count` checkers. */
  stand(name, n, count) {
    const place = this.places.get(name);
    const x = place.x + place.width / 2;
    if (name.startsWith("off")) {
      const step = 20;
      const y = name === "off-1" ? place.y + 14 + n * step : place.y + place.height - 14 - n * step;
      return [x, y];
    }
    const room = name.startsWith("bar") ? 3 : 5;
    const step = count > room ? ((room - 1) * 2 * R * 0.98) / (count - 1) : 2 * R * 0.9;
    if (name.startsWith("bar")) {
      const y = name === "bar-1" ? HEIGHT / 2 - 70 - n * step : HEIGHT / 2 + 70 + n * step;
      return [x, y];
    }
    const top = this.spot(Number(name.slice(1))).top;
    return [x, top ? EDGE + R + 2 + n * step : HEIGHT - EDGE - R - 2 - n * step];
  }

  middle(side, point) {
    const name = this.name(side, point);
    const place = this.places.get(name);
    if (!name.startsWith("p")) return [place.x + place.width / 2, place.y + place.height / 2];
    const top = this.spot(Number(name.slice(1))).top;
    return [place.x + place.width / 2, top ? EDGE + TALL * 0.62 : HEIGHT - EDGE - TALL * 0.62];
  }

  placeAt(x, y) {
    for (const [name, p] of this.places) {
      if (x >= p.x && x < p.x + p.width && y >= p.y && y < p.y + p.height) return name;
    }
    return null;
  }

  /** The place to which an arrow key moves the cursor. */
  walk(name, key) {
    const points = (first, last) => range(first, last).map((p) => `p${p}`);
    const top = [...points(13, 18), "bar-1", ...points(19, 24), "off-1"];
    const low = [...points(12, 7), "bar-0", ...points(6, 1), "off-0"];
    const here = top.includes(name) ? top : low;
    const row = { ArrowUp: top, ArrowDown: low }[key] || here;
    const at = here.indexOf(name) + ({ ArrowLeft: -1, ArrowRight: 1 }[key] || 0);
    return row[Math.max(0, Math.min(row.length - 1, at))];
  }
}

export function range(first, last) {
  const step = first <= last ? 1 : -1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, n) => first + n * step);
}
