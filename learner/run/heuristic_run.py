"""A run that learns a heuristic of a problem, and says what it is worth.

Beside what every run leaves (`learner.run.run`) the folder holds heuristic.safetensors, report.json
and curve.png.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from learner.heuristics.costs import exact_costs, least_costs
from learner.heuristics.report import compare, measure_curve, plot_curves
from learner.run.run import REPORT_SEED, Run
from programs.phrases import counted
from search.evaluators.heuristic import LearnedHeuristic

__all__ = ["HeuristicRun"]

#: Maximum expansions of a search of the report.
REPORT_NODES = 200_000


class HeuristicRun(Run):
    """A learner of a heuristic in a folder."""

    made = "heuristic"

    @property
    def path(self) -> Path:
        return self.folder.path / "heuristic.safetensors"

    def _keep(self) -> None:
        learner, settings = self.learner, self.settings
        heuristic: LearnedHeuristic = learner.evaluator_
        heuristic.name = settings.learner if settings else type(learner).__name__.lower()
        heuristic.provenance = {"learner": learner.identity(), "positions": self.games_asked}
        heuristic.save(self.path)

    def results(self, learned: LearnedHeuristic) -> Iterator[str]:
        """Measure the heuristic and those of the settings on positions of their own."""
        settings = self.settings
        assert settings is not None
        heuristic, positions = learned, settings.match_games
        problem = self.game
        starts = [problem.random_position(REPORT_SEED + i) for i in range(positions)]
        heuristics = {heuristic.name: heuristic, **{name: name for name in settings.opponents}}
        enumerated = getattr(self.learner, "costs_", None)
        costs, how = enumerated or least_costs(problem), "the search of all positions"
        if costs is None:
            costs, how = exact_costs(problem, starts) or (None, "")
        width = int(getattr(self.learner, "width", 0))  # 0 for A*
        widths = (width, 4 * width) if width else ()
        curves, best, proved = measure_curve(
            problem, heuristics, starts, widths=widths, nodes=None if width else REPORT_NODES,
            least=costs,
        )  # fmt: skip
        least = {p: c for p, c in zip(starts, best.tolist(), strict=True) if c == c}
        by = f"a beam of {width}" if width else f"A*, at most {REPORT_NODES:,} expansions each"
        yield f"{counted(positions, 'position')} by {by}:"
        yield from (curve.text() for curve in curves)
        if costs is not None:
            yield f"least costs: by {how}"
        if costs or least:
            truth = compare(problem, heuristic, costs or least, proved=proved)
            yield f"{heuristic.name}: {truth.text()}"
            self.entries["truth"] = vars(truth)
        if heuristic.proved:
            yield f"proved admissible: {heuristic.proved}"
        title = f"{problem.name}: {counted(positions, 'position')}"
        numbers = "width of the beam" if width else "weight of the heuristic"
        plot_curves(self.folder.path / "curve.png", curves, title=title, numbers=numbers)
        self.entries |= {
            "heuristic": heuristic.name,
            "positions": positions,
            "curves": [curve.as_dict() for curve in curves],
        }
