"""A run that learns a heuristic of a problem, and says what it is worth.

Beside what every run leaves (`learner.run.run`) the folder holds heuristic.safetensors, report.json
and curve.png.
"""

from __future__ import annotations

from typing import Any

from learner.heuristics.costs import exact_costs, least_costs
from learner.heuristics.report import compare, measure_curve, plot_curves
from learner.run.run import Run
from programs.phrases import counted
from search.evaluators.heuristic import LearnedHeuristic

__all__ = ["HeuristicRun"]

#: Seeds of the positions of the report, which learning does not use.
REPORT_SEED = 3_000_017
#: Maximum expansions of a search of the report.
REPORT_NODES = 200_000


class HeuristicRun(Run):
    """A learner of a heuristic in a folder."""

    @property
    def width(self) -> int:
        """The width of the beams that solve; 0 for A*."""
        return int(getattr(self.learner, "width", 0))

    @property
    def path(self) -> Any:
        """The file of the heuristic."""
        return self.folder.path / "heuristic.safetensors"

    def is_finished(self) -> bool:
        return self.folder.is_reported(self.asked, "lines")

    def _keep(self) -> None:
        learner, settings = self.learner, self.settings
        heuristic: LearnedHeuristic = learner.evaluator_
        heuristic.name = settings.learner if settings else type(learner).__name__.lower()
        heuristic.provenance = {"learner": learner.identity(), "positions": self.asked}
        heuristic.save(self.path)

    def report(self, heuristic: LearnedHeuristic, others: Any, *, positions: int) -> list[str]:
        """Measure the heuristic and others on positions of its own; writes the report.

        others: names of heuristics of the problem.
        positions: number of positions.

        Returns lines for people.
        """
        problem = self.game
        starts = [problem.random_position(REPORT_SEED + i) for i in range(positions)]
        heuristics = {heuristic.name: heuristic, **{name: name for name in others}}
        enumerated = getattr(self.learner, "costs_", None)
        costs, how = enumerated or least_costs(problem), "the search of all positions"
        if costs is None:
            costs, how = exact_costs(problem, starts) or (None, "")
        width = self.width
        widths = (width, 4 * width) if width else ()
        curves, best, proved = measure_curve(
            problem, heuristics, starts, widths=widths, nodes=None if width else REPORT_NODES,
            least=costs,
        )  # fmt: skip
        least = {p: c for p, c in zip(starts, best.tolist(), strict=True) if c == c}
        by = f"a beam of {width}" if width else f"A*, at most {REPORT_NODES:,} expansions each"
        lines = [f"{counted(positions, 'position')} by {by}:", *(curve.text() for curve in curves)]
        if costs is not None:
            lines.append(f"least costs: by {how}")
        content: dict[str, Any] = {}
        if costs or least:
            truth = compare(problem, heuristic, costs or least, proved=proved)
            lines.append(f"{heuristic.name}: {truth.text()}")
            content["truth"] = vars(truth)
        if heuristic.proved:
            lines.append(f"proved admissible: {heuristic.proved}")
        title = f"{problem.name}: {counted(positions, 'position')}"
        numbers = "width of the beam" if width else "weight of the heuristic"
        plot_curves(self.folder.path / "curve.png", curves, title=title, numbers=numbers)
        self.write_report(
            heuristic=heuristic.name,
            positions=positions,
            curves=[curve.as_dict() for curve in curves],
            **content,
            lines=lines,
        )
        return lines
