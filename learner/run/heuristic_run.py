"""A run that learns a heuristic of a problem: checkpoints, a log, and what it is worth.

The folder holds checkpoint.json and log.csv (one line a round), and at the end
heuristic.safetensors, report.json and curve.png. With the same settings a resumed run leaves the
same heuristic as one that was never interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from games.counted import counted
from games.problem import Heuristic, Problem
from learner.heuristics.admissible import Admissible
from learner.heuristics.costs import exact_costs, least_costs
from learner.heuristics.frame import HeuristicLearner, Round, find_encoding, find_problem
from learner.heuristics.report import compare, measure_curve, plot_curves
from learner.run.folder import Pace, RunError, RunFolder
from learner.run.learners import checked_options
from learner.run.recipes import HEURISTICS, UsualRuns
from learner.run.settings import RunSettings
from search.evaluators.heuristic import RoundedHeuristic

__all__ = ["HeuristicRun", "problem_settings"]

LOG = "round,steps,weight,solved,expanded,rows\n"
#: Seeds of the positions of the report, which learning does not use.
REPORT_SEED = 3_000_017
#: Most expansions of a search of the report.
REPORT_NODES = 200_000
#: Starts without a heuristic that somebody wrote.
ZERO, ABSTRACTIONS = "zero", "abstractions"
#: Settings of a run of a problem that has no recipe for the learner.
USUAL: dict[str, Any] = {"games": 5_000, "match_games": 200}
#: Options of train.py that a run of a problem does not take.
NOT_TAKEN = ("depth", "snapshots", "snapshot_games", "final_games")


def problem_settings(options: Any, problem: Problem, extra: dict[str, Any]) -> RunSettings:
    """Returns the settings of a run of a problem, from the command line and the problem's recipe.

    options: the options of train.py: `games` are positions to solve, `nodes` expansions of each
        search, `features` an encoding, `start` the heuristics to begin from, `opponents` those to
        compare with, `match_games` positions of the report.
    extra: other options of the learner.

    Raises ValueError for an option that a problem does not take, and for a learner of games.
    """
    learner = options.learner or next(iter(HEURISTICS))
    if learner not in HEURISTICS:
        raise ValueError(
            f"--learner: expected {' or '.join(HEURISTICS)} for the problem {problem.name}, found"
            f" {learner}"
        )
    for name in NOT_TAKEN:
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')}: expected none for the problem {problem.name}, found"
                f" {getattr(options, name)}"
            )
    # how much work a position is worth depends on what the learner does with it
    nodes = getattr(HEURISTICS[learner].load(), "nodes", 0)
    recipe = {**USUAL, "nodes": nodes, **UsualRuns.of(problem).settings.get(learner, {})}
    first = next(iter(problem.evaluators), ZERO)
    named = options.opponents.split(",") if options.opponents else [first]

    def chosen(name: str) -> int:
        given = getattr(options, name)
        return int(recipe[name] if given is None else given)

    return RunSettings(
        game=options.game,
        learner=learner,
        games=chosen("games"),
        depth=None,
        nodes=chosen("nodes"),
        start=options.start or first,
        options={**recipe.get("options", {}), **extra},
        features=options.features,
        seed=options.seed or 0,
        match_games=chosen("match_games"),
        opponents=tuple(name for name in named if name != ZERO),
        pacemakers=(),
    )


class HeuristicRun:
    """A learner of heuristics in a folder.

    settings: the settings, as `problem_settings` makes them.
    folder: where everything is written.
    workers: the `Workers` that search (None: this thread); the result does not depend on them.

    Raises ValueError for an unknown encoding, heuristic or option.
    """

    def __init__(self, settings: RunSettings, folder: Path, workers: Any = None) -> None:
        self.settings = settings
        self.problem = find_problem(settings.game)
        self.encoding = find_encoding(self.problem, settings.features)
        self.folder = RunFolder(folder, {"log.csv": LOG})
        self._pace = Pace()
        self.path = folder / "heuristic.safetensors"
        start = settings.start
        nobody = start in (None, ZERO, ABSTRACTIONS)
        base = () if nobody else tuple(str(start).split("+"))
        for name in (*base, *settings.opponents):
            self._check_heuristic(name)
        kind = HEURISTICS[settings.learner].load()
        options = checked_options(kind, settings.options)
        common = {"base": base, "seed": settings.seed, **options}
        if start == ABSTRACTIONS:
            if "abstractions" not in kind().get_params(deep=False):
                raise ValueError(f"--from: expected a heuristic or zero, found {start!r}")
            common["abstractions"] = True
        self.learner: HeuristicLearner | Admissible
        if issubclass(kind, HeuristicLearner):
            each = options.get("each", kind.each)
            rounds = -(-settings.games // each)
            common |= {"rounds": rounds, "nodes": settings.nodes, "workers": workers}
        self.learner = kind(self.problem, self.encoding, **common)

    def _check_heuristic(self, name: str) -> None:
        if not isinstance(self.problem.evaluators.get(name), Heuristic):
            known = [n for n, e in self.problem.evaluators.items() if isinstance(e, Heuristic)]
            raise ValueError(
                f"expected heuristics of {self.problem.name} ({', '.join(known) or 'none'}),"
                f" {ZERO} or {ABSTRACTIONS}, found {name!r}"
            )

    def learn(
        self,
        *,
        resume: bool,
        changed: bool = False,
        quiet: bool = True,
        say: Callable[[str], None] = lambda text: None,
    ) -> RoundedHeuristic:
        """Learn to the end, and write the heuristic; returns it.

        resume: whether to continue from the last checkpoint.
        changed: whether to go on even if the code has changed since the run began.
        quiet: no progress bar.
        say: gets remarks in lines for people.

        Raises LockedError if another process writes in the folder, RunError for a folder that
        cannot be used, and `learner.run.provenance.ChangedError`.
        """
        with self.folder.alone():
            state = self._load() if resume else None
            self.folder.open(
                self.problem, self.learner, self.settings, resume=resume, changed=changed, say=say
            )
            self._fit(state, quiet, say)
            return self._saved()

    def _saved(self) -> RoundedHeuristic:
        """Write the heuristic that was learned; returns it."""
        learner = self.learner
        heuristic = learner.heuristic_
        heuristic.name = self.settings.learner
        heuristic.provenance = {
            "learner": type(learner).__name__,
            "base": list(learner.base),
            "seed": learner.seed,
            "options": dict(self.settings.options),
            "positions": self.settings.games if isinstance(learner, HeuristicLearner) else 0,
        }
        heuristic.save(self.path)
        return heuristic

    def _fit(self, state: dict[str, Any] | None, quiet: bool, say: Callable[[str], None]) -> None:
        learner = self.learner
        if isinstance(learner, Admissible):
            learner.fit(watch=None if quiet else lambda one: say(one.text()))
            return
        with _bar(self.settings.games, quiet) as bar:
            learner.fit(resume=state, watch=self._watcher(learner, bar))
        self._save(learner)

    def _watcher(self, learner: HeuristicLearner, bar: Any) -> Callable[[Round], None]:
        def watch(one: Round) -> None:
            self.folder.log(
                "log.csv",
                f"{one.number},{one.steps},{one.weight:g},{one.solved:g},{one.expanded:g},"
                f"{one.rows}\n",
            )
            bar.update(min(one.number * learner.each, self.settings.games) - bar.n)
            walks = f"{one.steps} moves away" if one.steps else f"weight {one.weight:.2f}"
            bar.set_postfix_str(
                f"{100 * one.solved:.0f} % solved, {one.expanded:.0f} each, {walks}"
            )
            if self._pace.is_due():
                self._save(learner)

        return watch

    def _save(self, learner: HeuristicLearner) -> None:
        with self._pace.writing():
            self.folder.save({"learner": learner.get_state()})

    def _load(self) -> dict[str, Any]:
        state = self.folder.load().get("learner")
        if not isinstance(state, dict):
            raise RunError(f"{self.folder.path}: expected a checkpoint of a run, found {state!r}")
        return state

    @property
    def is_reported(self) -> bool:
        """Whether the folder holds the report of a run with these settings."""
        return self.folder.is_reported(self.settings.games, "lines")

    def report(self, heuristic: RoundedHeuristic) -> list[str]:
        """Measure the heuristic beside others on positions of its own; writes the report.

        Returns lines for people.
        """
        problem, count = self.problem, self.settings.match_games
        positions = [problem.random_position(REPORT_SEED + i) for i in range(count)]
        heuristics = {heuristic.name: heuristic, **{name: name for name in self.settings.opponents}}
        enumerated = self.learner.costs_ if isinstance(self.learner, Admissible) else None
        costs, how = enumerated or least_costs(problem), "the search of all positions"
        if costs is None:
            costs, how = exact_costs(problem, positions) or (None, "")
        curves, best, proved = measure_curve(
            problem, heuristics, positions, nodes=REPORT_NODES, least=costs
        )
        known = {p: c for p, c in zip(positions, best.tolist(), strict=True) if c == c}
        lines = [f"{counted(count, 'position')} by A*:", *(curve.text() for curve in curves)]
        if costs is not None:
            lines.append(f"least costs: by {how}")
        content: dict[str, Any] = {
            "heuristic": heuristic.name,
            "games_asked": self.settings.games,
            "positions": count,
            "curves": [curve.as_dict() for curve in curves],
        }
        if costs or known:
            truth = compare(problem, heuristic, costs or known, proved=proved)
            lines.append(f"{heuristic.name}: {truth.text()}")
            content["truth"] = vars(truth)
        if heuristic.proved:
            lines.append(f"proved admissible: {heuristic.proved}")
        with self.folder.alone():
            title = f"{problem.name}: {counted(count, 'position')}"
            plot_curves(self.folder.path / "curve.png", curves, title=title)
            self.folder.write_report({**content, "lines": lines})
        return lines


def _bar(total: int, quiet: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, disable=quiet, unit=" positions", dynamic_ncols=True)
