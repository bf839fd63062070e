"""Pictures of ratings and other estimates with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from games.whole_files import write_figure
from play.ratings.bradley_terry import Rating
from play.ratings.statistics import Estimate

__all__ = ["plot_estimates", "plot_ladder"]


def plot_ladder(path: Any, ratings: Sequence[Rating], title: str) -> None:
    """Write a PNG of ratings with 95 % intervals, best on top; an arrow is an open interval."""
    rows = [(rating.name, rating.elo) for rating in ratings]
    label = f"Elo, 95 % interval of the difference from {anchor_name(ratings)}"
    plot_estimates(path, rows, title, label=label, room=20)


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


def anchor_name(ratings: Sequence[Rating]) -> str:
    """Returns the player whose rating is 0 by definition."""
    for rating in ratings:
        if rating.elo.low == rating.elo.high == rating.elo.value:
            return rating.name
    return "the anchor"
