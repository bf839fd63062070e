"""Plots of a fit: calibration, relevance of terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from games.whole_files import write_figure
from learner.fit.selection import TermReport
from learner.fit.validation import CalibrationBin, calibration_error
from learner.reports.plots import new_figure

__all__ = ["plot_calibration", "plot_terms"]


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
    """Plot importance and weight of every term."""
    figure, axes = new_figure("Which terms matter")
    figure.set_size_inches(9, 1.6 + 0.27 * len(reports))
    places = np.arange(len(reports))
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
    beyond = axes.get_yaxis_transform()
    axes.text(1.02, -0.9, "weight", transform=beyond, fontsize="small", fontweight="bold")
    for place, report in enumerate(reports):
        text = f"{report.weight:.3g}"
        axes.text(1.02, place, text, transform=beyond, fontsize="small", va="center")
    axes.set_axisbelow(True)
    names = [report.term + " (fixed)" * report.fixed for report in reports]
    axes.set_yticks(places, names)
    axes.set_ylim(len(reports) - 0.5, -0.5)
    write_figure(path, figure)
