"""Plots of a run: strength against fixed opponents, weights over time, relevance of terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from learner.arena import ELO, FIRST, POINTS, Strength
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
    measured: Mapping[int, Sequence[Strength]],
    *,
    chosen: int | None = None,
    hours: Mapping[int, float] | None = None,
) -> None:
    """Plot each snapshot's score against each opponent with 95 % intervals: per cent, or points.

    With more than two players it is the share of first places.

    chosen: the games of the snapshot that matches chose as the best, or None.
    hours: hours of processor time until each snapshot, for the upper axis, or None.
    """
    from play.ratings.statistics import expected_score

    figure, axes = new_figure("Strength of the snapshots")
    games = sorted(measured)
    opponents = [entry.opponent for entry in measured[games[0]]]
    unit = next((entry.unit for entries in measured.values() for entry in entries), ELO)
    points = unit == POINTS
    for number, opponent in enumerate(opponents):
        entries = [measured[game][number] for game in games]
        if unit != ELO:
            score, low, high = np.array([(e.value, e.low, e.high) for e in entries]).T
            score, low, high = (part if points else 100 * part for part in (score, low, high))
        else:
            score = np.array([100 * entry.score for entry in entries])
            low = np.array([100 * expected_score(entry.low) for entry in entries])
            high = np.array([100 * expected_score(entry.high) for entry in entries])
        line = axes.plot(games, score, marker="o", markersize=4, label=f"against {opponent}")
        axes.fill_between(games, low, high, alpha=0.15, color=line[0].get_color())
    if unit != FIRST:
        axes.axhline(0 if points else 50, color="black", linewidth=1, alpha=0.6)
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
    if points:
        axes.set_ylabel("points a game (band: 95 % interval)")
    else:
        what = "first places" if unit == FIRST else "score"
        axes.set_ylabel(f"{what} in % (band: 95 % interval)")
        axes.set_ylim(0, 100)
    axes.legend(loc="lower right")
    write_figure(path, figure)


def plot_weights(
    path: Any, snapshots: Sequence[tuple[int, Mapping[str, float]]], *, fixed: Sequence[str] = ()
) -> None:
    """Plot the weights of the terms over the games; those largest at the end are named.

    Weights that span many powers of two are drawn on a logarithmic axis through 0. Those of a
    single snapshot are points.
    """
    figure, axes = new_figure("Weights over time")
    games = [game for game, _ in snapshots]
    names = [name for name in snapshots[-1][1] if name not in fixed]
    columns = {name: np.array([w.get(name, np.nan) for _, w in snapshots]) for name in names}
    ranking = sorted(names, key=lambda name: -abs(float(columns[name][-1])))
    colours = dict(zip(ranking, COLOURS, strict=False))
    largest = max((float(np.nanmax(np.abs(c))) for c in columns.values()), default=0.0)
    if largest > 1000:
        axes.set_yscale("symlog", base=2, linthresh=1)
    for name in reversed(ranking):
        if name in colours:
            look: dict[str, Any] = {"linewidth": 1.8, "label": name, "color": colours[name]}
        else:
            look = {"linewidth": 0.8, "color": "grey", "alpha": 0.4}
        axes.plot(games, columns[name], marker="o" if len(games) == 1 else "", **look)
    axes.axhline(0, color="black", linewidth=1, alpha=0.6)
    axes.set_xlabel("games learned from")
    axes.set_ylabel("weight" + (f" ({', '.join(fixed)} is fixed)" if fixed else ""))
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: ranking.index(labels[i]))
    axes.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
    )
    write_figure(path, figure)
