"""Pictures of ratings and other estimates with their intervals.

`python -m play ladder ... --json | python -m benchmarks.estimates FILE.png` draws a ladder.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from play.ratings.statistics import Estimate
from programs.whole_files import write_figure

__all__ = ["plot_estimates"]


def plot_estimates(
    path: Any,
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    *,
    label: str,
    room: float,
    digits: int = 0,
) -> None:
    """Write a PNG of estimates with their intervals, the first on top; an arrow is an open one.

    rows: name and estimate of each.
    title: title of the picture.
    label: label of the axis.
    room: least space beside the outermost ends, in the unit of the estimates.
    digits: decimal places of the values.

    Raises ValueError if there are no rows.
    """
    if not rows:
        raise ValueError("plot: expected one estimate or more, found none")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.4 + 0.45 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ends = [end for _, e in rows for end in (e.low, e.value, e.high)]
    finite = [end for end in ends if math.isfinite(end)]
    room += 0.08 * (max(finite) - min(finite))
    left, right = min(finite) - room, max(finite) + room
    for place, (_, estimate) in enumerate(reversed(rows)):
        interval = [max(estimate.low, left), min(estimate.high, right)]
        axes.plot(interval, [place, place], color="tab:blue", linewidth=2)
        axes.plot([estimate.value], [place], "o", color="tab:blue")
        for end, edge, arrow in ((estimate.low, left, "<"), (estimate.high, right, ">")):
            if math.isinf(end):
                axes.plot([edge], [place], arrow, color="tab:blue", clip_on=False)
        axes.annotate(
            f"{estimate.value:+.{digits}f}",
            (estimate.value, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
        )
    axes.set_yticks(range(len(rows)), [name for name, _ in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.2)
    axes.set_xlim(left, right)
    arrows = "; arrow: no bound" if len(finite) < len(ends) else ""
    figure.supxlabel(f"{label}{arrows}", fontsize="medium")  # wider than the axes, as names may be
    axes.set_title(title, loc="left")
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    write_figure(path, figure)


def main() -> None:
    """Draw the standings in the last line of standard input, JSON of a ladder."""
    found = json.loads(sys.stdin.readlines()[-1])
    elo = "ratings" in found
    rows = []
    for one in found["ratings" if elo else "standings"]:
        value, low, high = one["elo" if elo else "points_per_game"]
        ends = -math.inf if low is None else low, math.inf if high is None else high
        rows.append((one["name"], Estimate(value, *ends)))
    label = "Elo" if elo else "points per game against all others"
    room, digits = (20, 0) if elo else (0.02, 3)
    plot_estimates(sys.argv[1], rows, "", label=f"{label}, 95 % interval", room=room, digits=digits)


if __name__ == "__main__":
    main()
