"""Judges heuristics that the computer learns, by A*: `python -m benchmarks.heuristics`.

For each seed a heuristic is learned, and positions that learning never saw are solved with it:
random ones, or those whose least costs Korf published: instances 1 to 30 of the 15-puzzle and 1 to
50 of the 24-puzzle (`--korf`). The table shows mean expansions, and mean cost as a multiple of the
mean least cost, which of others A* with the problem's first heuristic finds, or IDA* with a pattern
database (`--least FILE`). Where neither can, `--beside W` shows weighted A* with the first
heuristic, and costs are mean costs. `--beam WIDTH` judges by a beam, for problems that A* cannot
solve, and `--judge NAME` a heuristic that is there, a file or one of the problem's own. Learning
time is processor time; the learner's options are those of train.py. `--learner all` takes every
learner of train.py that learns in rounds in turn; with `--games` each learns from as many positions
as the others, in place of as long.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from typing import Any

import numpy as np

import games
from benchmarks.patterns import instances
from games.problem import KernelProblem
from learner.frame import Progress
from learner.heuristics.bootstrap import HeuristicBootstrap
from learner.run.recipes import HEURISTICS, UsualRuns
from learner.run.request import learner_options
from play.ratings.statistics import mean_interval
from search import solve
from search.evaluators.load import as_evaluator

#: The test positions come from seeds that learning does not use.
FIRST_SEED = 1_000_000
#: Most expansions of a search that judges.
NODES = 1_000_000


class _Enough(Exception):
    """Ends learning when its time is over."""


def learn(
    options: argparse.Namespace, name: str, problem: KernelProblem, seed: int
) -> tuple[Any, str]:
    """Returns the heuristic that a learner learned, and words about its learning."""
    begin = time.process_time()
    kind = HEURISTICS[name].load()

    def watch(_: Progress) -> None:
        if not options.games and time.process_time() - begin >= options.seconds:
            raise _Enough

    recipe = UsualRuns.of(problem).settings.get(name, {})
    nodes = {"nodes": recipe["nodes"]} if "nodes" in recipe else {}
    settings = {**nodes, **recipe.get("options", {}), **learner_options(options.set)}
    if options.games:
        settings["games"] = options.games
    learner = kind(
        problem,
        options.encoding,
        base=(options.base,) if options.base else (),
        seed=seed,
        **settings,
    )
    with contextlib.suppress(_Enough):
        learner.fit(watch=watch)
    spent = time.process_time() - begin
    return learner.evaluator_, f"{len(learner.rounds_)} rounds, {spent:.1f} s"


def judge(
    problem: KernelProblem,
    positions: list[Any],
    heuristic: Any,
    weight: float,
    least: float,
    beam: int | None = None,
) -> tuple[float, float, str]:
    """Returns mean expansions, mean cost over `least`, and a line about these and the time.

    The search is A* with a weight, or a beam of this width.
    """
    how: dict[str, Any] = {"weight": weight, "nodes": NODES}
    if beam is not None:
        how = {"method": "beam", "width": beam}
    found, seconds = [], []
    for position in positions:
        begin = time.process_time()
        found.append(solve(problem, position, heuristic, **how).whole())
        seconds.append(time.process_time() - begin)
    solved = [one.cost for one in found if one.moves is not None]
    expanded = float(np.mean([one.expanded for one in found]))
    cost = float(np.mean(solved or [np.nan])) / least
    return (
        expanded,
        cost,
        (
            f"solved {len(solved)}/{len(found)}   expansions {expanded:9.1f}   cost {cost:.4f}"
            f"   {np.mean(seconds):.3f} s each, {max(seconds):.2f} at most"
        ),
    )


def learners() -> list[str]:
    """Returns the names of the learners that learn in rounds."""
    kinds = {name: recipe.load() for name, recipe in HEURISTICS.items()}
    return [name for name, kind in kinds.items() if issubclass(kind, HeuristicBootstrap)]


def main() -> int:
    """Learn, judge and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.heuristics", description=__doc__)
    add = parser.add_argument
    add("problem", nargs="?", default="sliding8", help="default sliding8")
    add("--encoding", help="default: the problem's first")
    add("--base", default="", help="heuristic to begin from (default: none)")
    add("--learner", default="bootstrap", choices=[*learners(), "all"], help="default bootstrap")
    add("--games", type=int, metavar="N", help="positions to learn from, instead of --seconds")
    add("--seconds", type=float, default=10.0, help="of learning (default 10)")
    add("--seeds", type=int, default=5, help="heuristics learned (default 5)")
    add("--positions", type=int, default=400, help="that judge (default 400)")
    add("--korf", action="store_true", help="published instances judge instead")
    add("--judge", nargs="+", default=[], metavar="NAME", help="heuristics or files; none learned")
    add("--least", metavar="FILE", help="pattern database for the least costs")
    add("--beside", type=float, nargs="+", metavar="W", help="weights of the first heuristic's A*")
    add("--weight", type=float, default=1.0, help="of A* with the learned heuristic (default 1)")
    add("--beam", type=int, metavar="WIDTH", help="judge the learned heuristic by a beam instead")
    add("--lower", type=float, default=0.0, help="lower the offset by this to judge (default 0)")
    add("--set", action="append", default=[], metavar="OPTION=VALUE", help="of the learner")
    add("--save", metavar="FILE", help="where the last heuristic goes")
    options = parser.parse_args()
    problem = games.load(options.problem)
    if not isinstance(problem, KernelProblem):
        raise SystemExit(f"expected a problem whose rules are kernels, found {problem}")
    positions = [problem.random_position(FIRST_SEED + i) for i in range(options.positions)]
    least, first, known = 1.0, next(iter(problem.evaluators)), None
    if options.korf:
        published = instances(len(problem.position_text(problem.start()).split()))
        positions = [problem.parse_position(tiles) for _, _, tiles in published]
        known = np.array([cost for _, cost, _ in published])
    for weight in options.beside or ():
        print(f"{first} * {weight:g}  {judge(problem, positions, first, weight, least)[2]}")
    if not options.beside and known is None:
        method = "ida" if options.least else "astar"
        best = [solve(problem, at, options.least, method=method).whole() for at in positions]
        if not all(one.optimal for one in best):
            raise SystemExit(
                f"expected least costs, found that {options.least or first} proves none"
            )
        known = np.array([one.cost for one in best])
        if not options.least:
            print(f"{first}  expansions {np.mean([one.expanded for one in best]):9.1f}   cost 1")
    if known is not None:
        least = float(known.mean())
    for name in options.judge:
        heuristic = as_evaluator(problem, name)
        text = judge(problem, positions, heuristic, options.weight, least, options.beam)[2]
        print(f"{name}  {text}", flush=True)
    if options.judge:
        return 0
    for name in learners() if options.learner == "all" else [options.learner]:
        compare(options, name, problem, positions, least, known)
    return 0


def compare(
    options: argparse.Namespace,
    name: str,
    problem: KernelProblem,
    positions: list[Any],
    least: float,
    known: Any,
) -> None:
    """Learn from each seed, judge and print; `known` are least costs, [positions], or None."""
    judged = []
    for seed in range(options.seeds):
        heuristic, learning = learn(options, name, problem, seed)
        heuristic.offset -= options.lower
        *numbers, text = judge(problem, positions, heuristic, options.weight, least, options.beam)
        above = np.nan
        if known is not None:
            values = as_evaluator(problem, heuristic).values(positions)
            above = 100 * float((values > known + 1e-9).mean())
        judged.append([*numbers, above])
        print(
            f"{name} {seed}  {text}   {above:.1f} % above the least cost   {learning}", flush=True
        )
        if options.save:
            heuristic.save(options.save)
    parts = (
        f"{what} {mean_interval(column).text(f'.{digits}f')}"
        for what, column, digits in zip(
            ("expansions", "cost", "% above"), np.transpose(judged), (1, 4, 1), strict=True
        )
        if not np.isnan(column).any()
    )
    print(name, "mean", "   ".join(parts), flush=True)


if __name__ == "__main__":
    sys.exit(main())
