"""Plots of a batch fit: strength of regularisation, calibration, relevance of terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from games.whole_files import write_figure
from learner.fit.selection import TermReport
from learner.fit.validation import CalibrationBin, PathPoint, calibration_error, choose_alpha
from learner.reports.plots import new_figure

__all__ = ["plot_calibration", "plot_path", "plot_terms"]


def plot_path(path: Any, points: Sequence[PathPoint], *, chosen: float | None = None) -> None:
    """Plot the error on games held out and on games learned from, over the regularisation.

    The band is one standard error each way. `chosen` is the chosen alpha, by default the best.
    """
    figure, axes = new_figure("Error over the strength of regularisation")
    alpha, error, spread, train = np.array(
        [(p.alpha, p.error, p.standard_error, p.train_error) for p in points]
    ).T
    axes.set_xscale("log")
    axes.plot(alpha, error, marker="o", markersize=4, label="games held out")
    axes.fill_between(alpha, error - spread, error + spread, alpha=0.2)
    axes.plot(alpha, train, marker="s", markersize=3, linewidth=1, label="games learned from")
    alpha = choose_alpha(points) if chosen is None else chosen
    axes.axvline(
        alpha, color="black", linewidth=1, linestyle=":", label=f"taken: alpha = {alpha:.2g}"
    )
    axes.set_xlabel("alpha (to the right: weights held back more)")
    axes.set_ylabel("mean loss (band: one standard error)")
    axes.legend(loc="upper center")  # away from the curves and the line
    write_figure(path, figure)


def plot_calibration(path: Any, bins: Sequence[CalibrationBin]) -> None:
    """Plot results against predictions, with 95 % intervals, and the frequency of each."""
    figure, axes = new_figure(f"Calibration (mean error {calibration_error(bins):.3f})")
    figure.set_size_inches(9, 6.4)
    grid = figure.add_gridspec(2, 1, height_ratios=[3.4, 1])
    axes.set_subplotspec(grid[0])
    predicted, found, low, high, count = np.array(
        [(b.predicted, b.found, b.found_low, b.found_high, b.count) for b in bins]
    ).T
    axes.plot([0, 1], [0, 1], color="black", linewidth=1, alpha=0.6, label="as predicted")
    axes.errorbar(
        predicted,
        found,
        yerr=[found - low, high - found],
        fmt="o",
        markersize=4,
        capsize=3,
        label="found, with 95 % interval",
    )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_ylabel("expectation found")
    axes.legend(loc="upper left")
    axes.tick_params(labelbottom=False)
    below = figure.add_subplot(grid[1], sharex=axes)
    below.bar(
        [b.low for b in bins],
        100 * count / count.sum(),
        width=[b.high - b.low for b in bins],
        align="edge",
        color="grey",
        alpha=0.5,
        edgecolor="white",
    )
    below.spines[["top", "right"]].set_visible(False)
    below.set_ylabel("rows in %")
    below.set_xlabel("expectation predicted (0: lost, 1: won)")
    write_figure(path, figure)


def plot_terms(path: Any, reports: Sequence[TermReport]) -> None:
    """Plot importance, correlation, place on the L1 path and weight of every term."""
    figure, axes = new_figure("Which terms matter")
    figure.set_size_inches(9, 1.6 + 0.27 * len(reports))
    grid = figure.add_gridspec(1, 3, width_ratios=[5, 3, 2])
    axes.set_subplotspec(grid[0])
    beside, last = (figure.add_subplot(place, sharey=axes) for place in (grid[1], grid[2]))
    places = np.arange(len(reports))
    names = [f"{r.term} ({r.rank or 'fixed'})" for r in reports]
    axes.barh(
        places,
        [1000 * r.importance for r in reports],
        xerr=[1000 * r.spread for r in reports],
        height=0.65,
        color="C0",
        error_kw={"linewidth": 1, "capsize": 2},
    )
    axes.set_xscale("symlog", linthresh=1)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("rise of the loss in thousandths\nwhen shuffled")
    beside.barh(
        places,
        [r.correlation for r in reports],
        height=0.65,
        color=["C2" if r.correlation >= 0 else "C3" for r in reports],
    )
    beside.axvline(0, color="black", linewidth=1, alpha=0.6)
    beside.set_xlim(-1, 1)
    beside.set_xlabel("correlation\nwith delta")
    entered = [(place, r.entry) for place, r in enumerate(reports) if r.entry is not None]
    last.plot([e for _, e in entered], [p for p, _ in entered], "o", color="C1")
    last.set_xlabel("place on\nthe L1 path")
    beyond = last.get_yaxis_transform()
    last.text(1.08, -0.9, "weight", transform=beyond, fontsize="small", fontweight="bold")
    for place, report in enumerate(reports):
        last.text(
            1.08, place, f"{report.weight:.3g}", transform=beyond, fontsize="small", va="center"
        )
    for other in (axes, beside, last):
        other.set_axisbelow(True)
    for other in (beside, last):
        other.spines[["top", "right"]].set_visible(False)
        other.grid(alpha=0.25)
        other.tick_params(labelleft=False)
    axes.set_yticks(places, names)
    axes.set_ylim(len(reports) - 0.5, -0.5)
    write_figure(path, figure)
