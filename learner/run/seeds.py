"""The same run from several seeds: `plysmith train checkers --seeds 0..9`.

Each has a folder of its own. Stopped, the same command continues: a seed that is finished is not
run again.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from learner.options import Range
from learner.run.folder import CHECKPOINT, RunError
from learner.run.request import settings_of
from learner.run.settings import RunSettings
from play.web.runs import report_of

__all__ = ["lines_of", "run_seeds", "seeds_of"]

#: More seeds than anybody has time for.
MOST = 1000


def seeds_of(text: str) -> range:
    """Returns the seeds that A..B names, both included. Raises ValueError for another text."""
    span = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    first, last = map(int, span.groups()) if span else (1, 0)
    if not 0 < last - first + 1 <= MOST:
        raise ValueError(f"--seeds: expected A..B with at most {MOST} seeds, found {text!r}")
    return range(first, last + 1)


def run_seeds(options: argparse.Namespace, train: Callable[..., int]) -> int:
    """Train from each seed, and print the means over the seeds; returns the exit status.

    train: trains by the options, the settings and the folder of one run, which may be to `resume`,
        and returns the exit status.
    """
    seeds = seeds_of(options.seeds)
    for name in ("seed", "resume", "repeat"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name}: expected none with --seeds, found {getattr(options, name)}"
            )
    Range(2).check("--seeds", len(seeds))
    settings = settings_of(options)
    folder = options.run or Path("runs", f"{settings.name}-seeds")
    for seed in seeds:
        place, mine = folder / str(seed), replace(settings, seed=seed)
        print(f"seed {seed}, in {place}", flush=True)
        again = (place / CHECKPOINT).is_file()
        if again and (other := mine.unlike(RunSettings.read(place))):
            raise RunError(
                f"{place}: expected a run by these options, found one with another"
                f" {', '.join(other)}; give another --run"
            )
        try:
            status = train(options, mine, place, resume=again)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped; the same command continues") from None
        if status:
            return status
    for line in lines_of([folder / str(seed) for seed in seeds]):
        print(line)
    return 0


def lines_of(folders: list[Path]) -> list[str]:
    """Returns for each opponent the mean over runs, with its interval, and the value of each run.

    The values are shares of the points, or with dice points a game. The interval is Student's t
    over the seeds, so that it holds for a seed that was not run.
    """
    from play.ratings.statistics import Estimate, mean_interval

    scores: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for folder in folders:
        for match in report_of(folder).get("matches", ()):
            scores.setdefault(match["opponent"], []).append(float(match["score"]))
            units[match["opponent"]] = str(match["unit"])
    lines = []
    for opponent, values in scores.items():
        share = units[opponent] == "Elo"
        form, unit = (".1%", "of the points") if share else ("+.3f", units[opponent])
        each = ", ".join(format(value, form) for value in values)
        interval = mean_interval(values)
        if share:  # few seeds give no interval, but every share lies within these
            interval = Estimate(interval.value, max(interval.low, 0.0), min(interval.high, 1.0))
        alike = f"{format(interval.value, form)} (all alike)"
        mean = alike if min(values) == max(values) else interval.text(form)
        lines.append(f"against {opponent:>8}: {mean} {unit}, {len(values)} seeds: {each}")
    return lines or ["no matches were played"]
