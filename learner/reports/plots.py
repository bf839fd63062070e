"""Plots of a run: strength against fixed opponents, weights over time, relevance of terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from play.web.runs import FIRST, POINTS_A_GAME
from programs.phrases import lasting
from programs.whole_files import write_figure

__all__ = ["new_figure", "plot_strength", "plot_weights"]

#: Colours of the terms that are drawn in colour and named; the others are grey.
COLOURS = tuple(f"C{number}" for number in range(10) if number != 7)  # C7 is grey

#: Snapshots whose hours are written above the plot, at most.
MOST_HOURS = 8


def new_figure(title: str) -> Any:
    """Returns a figure and its axes, with a title and a light grid."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    return figure, axes


def plot_strength(
    path: Any,
    strength: Mapping[str, Any],
    *,
    chosen: int | None = None,
    hours: Mapping[int, float] | None = None,
) -> None:
    """Plot each snapshot's score against each opponent with 95 % intervals.

    strength: the curves and their unit, as `play.web.runs.strength_of` reads them.
    chosen: the games of the snapshot that matches chose as the best, or None.
    hours: hours of processor time until each snapshot, for the upper axis, or None.
    """
    figure, axes = new_figure("Strength of the snapshots")
    unit, games = strength["unit"], []
    for opponent, curve in strength["curves"].items():
        games, score, low, high = np.array(curve).T.tolist()
        line = axes.plot(games, score, marker="o", markersize=4, label=f"against {opponent}")
        axes.fill_between(games, low, high, alpha=0.15, color=line[0].get_color())
    if unit != FIRST:
        axes.axhline(0 if unit == POINTS_A_GAME else 50, color="black", linewidth=1, alpha=0.6)
    if chosen is not None:
        axes.axvline(chosen, color="black", linewidth=1, linestyle=":", label="chosen as the best")
    axes.set_xlabel("games learned from")
    shown = [game for game in games if game in (hours or {})]
    if hours and shown:
        upper = axes.secondary_xaxis("top")
        step = -(-len(shown) // MOST_HOURS)
        shown = shown[::-step]  # with the last
        upper.set_xticks(shown, [lasting(3600 * hours[game]) for game in shown])
        upper.set_xlabel("processor time of learning")
    axes.set_ylabel(f"{unit} (band: 95 % interval)")
    if unit != POINTS_A_GAME:
        axes.set_ylim(0, 100)
    axes.legend(loc="lower right")
    write_figure(path, figure)


def plot_weights(path: Any, curves: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """Plot the weights of the terms over the games; those largest at the end are named.

    curves: [games, weight] by term, the largest at the end first, as `play.web.runs.weights_of`
        reads them. Weights that never changed are fixed and not drawn.

    Weights that span many powers of two are drawn on a logarithmic axis through 0. Those of a
    single snapshot are points.
    """
    figure, axes = new_figure("Weights over time")
    most = max(map(len, curves.values()))
    fixed = [
        name
        for name, curve in curves.items()
        if len(curve) == most > 1 and curve[0][1] and len({weight for _, weight in curve}) == 1
    ]
    moving = [name for name in curves if name not in fixed]
    colours = dict(zip(moving, COLOURS, strict=False))
    if any(abs(weight) > 1000 for name in moving for _, weight in curves[name]):
        axes.set_yscale("symlog", base=2, linthresh=1)
    for name in reversed(moving):
        if name in colours:
            look: dict[str, Any] = {"linewidth": 1.8, "label": name, "color": colours[name]}
        else:
            look = {"linewidth": 0.8, "color": "grey", "alpha": 0.4}
        axes.plot(*np.array(curves[name]).T, marker="o" if most == 1 else "", **look)
    axes.axhline(0, color="black", linewidth=1, alpha=0.6)
    axes.set_xlabel("games learned from")
    axes.set_ylabel("weight" + (f" ({', '.join(fixed)} is fixed)" if fixed else ""))
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False
    )
    write_figure(path, figure)
