"""The quality of a heuristic: expansions against cost, and its distance from the truth.

A heuristic is judged by the curve of two numbers, because any heuristic can be made to expand less
if solutions may cost more. Its correlation with the true costs is printed, but does not measure
quality.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Position
from games.problem import KernelProblem
from programs.phrases import counted
from search import solve
from search.evaluators.load import as_evaluator

__all__ = [
    "WEIGHTS",
    "Curve",
    "Point",
    "HeuristicErrors",
    "compare",
    "measure_curve",
    "plot_curves",
]

#: Weights of A* at which a heuristic is measured.
WEIGHTS = (1.0, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0)
#: Memory of a search in MiB, which ends A* early without a good heuristic.
MEMORY = 256.0


@dataclass(frozen=True)
class Point:
    """One point of a curve.

    number: weight of the heuristic in A*, or width of a beam.
    solved: share of the positions that were solved within the limit of expansions.
    cost: mean cost of the solved positions, as a multiple of the mean of their least costs, or of
        the best costs known.
    expanded: mean number of expansions of all positions.
    optimal: share of the positions that were solved at the least cost; None if the least costs are
        not known.
    """

    number: float
    solved: float
    cost: float
    expanded: float
    optimal: float | None


@dataclass(frozen=True)
class Curve:
    """The curve of a heuristic.

    name: its name.
    points: a point for each weight or width.
    """

    name: str
    points: tuple[Point, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns the same as plain values."""
        return {"name": self.name, "points": [asdict(point) for point in self.points]}

    def text(self) -> str:
        """Returns a line for people: the first point, of weight 1 or the least width."""
        point = self.points[0]
        solved = "" if point.solved == 1 else f", {100 * (1 - point.solved):.0f} % not solved"
        beside = "best known" if point.optimal is None else "least"
        optimal = "" if point.optimal is None else f", {100 * point.optimal:.3g} % optimal"
        return (
            f"{self.name}: {point.expanded:,.1f} expansions, cost {point.cost:.4f} of the"
            f" {beside}{optimal}{solved}"
        )


@dataclass(frozen=True)
class HeuristicErrors:
    """The distance of a heuristic's values from costs, which are the least ones if `proved`.

    positions: number of positions compared.
    proved: whether all their least costs are known.
    over: share of the positions whose value exceeds the cost.
    most_over: the largest excess, in the unit of costs.
    below: mean of the cost minus the value.
    correlation: of the values with the costs; not a measure of quality.
    inconsistent: share of the moves by which the value falls by more than the move costs.
    """

    positions: int
    proved: bool
    over: float
    most_over: float
    below: float
    correlation: float
    inconsistent: float

    def text(self) -> str:
        """Returns a line for people."""
        over = "never above" if self.over == 0 else f"{100 * self.over:.2g} % above"
        most = "" if self.over == 0 else f" by at most {self.most_over:g}"
        costs = "the least cost" if self.proved else "the best cost known"
        mean = f"{abs(self.below):.2f} {'below' if self.below >= 0 else 'above'}"
        return (
            f"{counted(self.positions, 'position')}: {over} {costs}{most}, {mean} it"
            f" in the mean; {100 * self.inconsistent:.2g} % of moves inconsistent; correlation"
            f" {self.correlation:.3f}, which is no yardstick"
        )


def measure_curve(
    problem: KernelProblem,
    heuristics: Mapping[str, Any],
    positions: Sequence[Position],
    *,
    weights: Sequence[float] = WEIGHTS,
    widths: Sequence[int] = (),
    nodes: int | None,
    least: Mapping[Position, float] | None = None,
) -> tuple[list[Curve], NDArray[np.float64], bool]:
    """Returns the curves of heuristics, measured by A* or beams over the same positions.

    heuristics: by name, as `search.solve` takes them.
    weights: weights of the heuristic in A*.
    widths: widths of beams that search in place of A*.
    nodes: greatest number of expansions for each position.
    least: the least cost of each position; None if they are not known.

    Also returns the least or best cost of each position, [positions], NaN without a solution; and
    whether all are proved to be the least.
    """
    numbers = widths or weights
    most: dict[str, Any] = {"nodes": nodes, "memory_mib": MEMORY}
    beams: list[dict[str, Any]] = [{"method": "beam", "width": width} for width in widths]
    each = beams or [{"weight": weight} for weight in weights]
    costs = np.full((len(heuristics), len(numbers), len(positions)), np.nan)
    expanded = np.zeros(costs.shape)
    proved = np.zeros(len(positions), dtype=bool)
    # position by position, so that the bar's estimate of time improves early
    for place, position in enumerate(positions):
        for row, heuristic in enumerate(heuristics.values()):
            for column, how in enumerate(each):
                solution = solve(problem, position, heuristic, **most, **how).whole()
                expanded[row, column, place] = solution.expanded
                if solution.moves is not None:
                    costs[row, column, place] = solution.cost
                    proved[place] |= solution.optimal
    best = np.fmin.reduce(costs.reshape(-1, len(positions)), axis=0)
    if least is not None:
        best, proved[:] = np.array([least[position] for position in positions]), True
    all_proved = bool(proved.all())
    curves = []
    for row, name in enumerate(heuristics):
        points = []
        for column, number in enumerate(numbers):
            solved = ~np.isnan(costs[row, column])
            ratio = costs[row, column][solved].sum() / best[solved].sum() if solved.any() else 1.0
            mean = float(expanded[row, column].mean())
            optimal = float((costs[row, column] <= best + 1e-9).mean()) if all_proved else None
            points.append(Point(number, float(solved.mean()), float(ratio), mean, optimal))
        curves.append(Curve(name, tuple(points)))
    return curves, best, all_proved


def compare(
    problem: KernelProblem, heuristic: Any, costs: Mapping[Position, float], *, proved: bool
) -> HeuristicErrors:
    """Returns the distance of a heuristic's values from the costs of positions.

    costs: at least two positions with their costs.
    proved: whether the costs are the least.
    """
    evaluator = as_evaluator(problem, heuristic)
    by_position = {position: max(float(evaluator(position)), 0.0) for position in costs}
    values = np.array(list(by_position.values()))
    least = np.array(list(costs.values()))
    excess = values - least
    edges = falls = 0
    for position, value in by_position.items():
        if problem.solved(position):
            continue
        for move in problem.legal_moves(position):
            edges += 1
            after = problem.play(position, move)
            left = by_position[after] if after in by_position else max(float(evaluator(after)), 0.0)
            falls += value > problem.cost(position, move) + left + 1e-9
    varied = len(values) > 1 and values.std() > 0 and least.std() > 0
    return HeuristicErrors(
        len(values),
        proved,
        float((excess > 1e-9).mean()),
        float(max(excess.max(), 0.0)),
        float(-excess.mean()),
        float(np.corrcoef(values, least)[0, 1]) if varied else 0.0,
        falls / max(edges, 1),
    )


def plot_curves(path: Any, curves: Sequence[Curve], *, title: str, numbers: str) -> None:
    """Plot expansions against cost; only points at which all positions were solved.

    numbers: the name of the points' numbers.
    """
    from matplotlib.ticker import LogFormatter

    from learner.reports.plots import new_figure

    figure, axes = new_figure(title)
    for curve in curves:
        points = [point for point in curve.points if point.solved == 1]
        if not points:
            continue
        costs = [100 * (point.cost - 1) for point in points]
        axes.plot(costs, [point.expanded for point in points], marker="o", label=curve.name)
        for cost, point in zip(costs, points, strict=True):
            axes.annotate(
                f"{point.number:g}", (cost, point.expanded), fontsize=7, alpha=0.7,
                xytext=(4, 4), textcoords="offset points",
            )  # fmt: skip
    axes.set_yscale("log")
    for axis in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        axis(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.6)))
    all_optimal = all(point.optimal is not None for curve in curves for point in curve.points)
    beside = "least" if all_optimal else "best known"
    axes.set_xlabel(f"cost above the {beside}, in % (numbers: {numbers})")
    axes.set_ylabel("expansions")
    axes.legend()
    figure.savefig(path, dpi=110)
