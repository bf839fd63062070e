"""The command line of training: `python train.py checkers`.

Shows progress, keeps everything in a folder under runs/, and ends with matches of the trained
evaluator against hand-crafted ones, with error bars. `--resume` continues a run that was stopped.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import games
from games.problem import Problem
from learner.run.asked import DEFAULTS, kept_settings, run_name, settings_of
from learner.run.config import with_config
from learner.run.recipes import HEURISTICS, RECIPES, outsiders, recipe_of
from learner.run.settings import RunSettings
from programs.arguments import Parser
from programs.ending import exit_status

__all__ = ["main", "parser"]

#: The name of the program in usage and errors if none is given.
PROGRAM = "train.py"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    result = Parser(
        prog=program,
        description="Train an evaluator by self-play and measure it.",
        epilog="\n".join(
            [
                "learners:",
                *(f"  {name:<10} {recipe.summary}" for name, recipe in RECIPES.items()),
                "learners of a heuristic, for problems with one agent:",
                *(f"  {name:<10} {recipe.summary}" for name, recipe in HEURISTICS.items()),
                *(f"  {name:<10} {recipe.summary}" for name, recipe in outsiders().items()),
            ]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    names = ", ".join([*games.names(), "sliding8, sliding15, sliding24, pancakes10"])
    add("game", nargs="?", help=f"{names}, or module:Class for your own")
    add(
        "--learner",
        metavar="NAME",
        help="see below, or module:Class for your own (default: the game's usual one)",
    )
    add("--games", type=int, metavar="N", help="games of self-play")
    add("--depth", type=int, metavar="PLIES", help="plies of every search")
    add("--nodes", type=int, metavar="N", help="most positions of a search; a depth only if given")
    add("--seed", type=int, metavar="N", help="decides everything left to chance (default: 0)")
    add(
        "--features",
        metavar="NAME",
        help="feature set or encoding to learn over, or a file my_features.py with kernels of your"
        " own: adds your terms to the learner's; afterwards the run is repeated without them and"
        " compared",
    )
    add("--from", dest="start", metavar="FILE", help="evaluator to start from, or zero")
    add(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="any other option of the learner, e.g. --set tallies=16; may be repeated",
    )
    add("--run", type=Path, metavar="FOLDER", help="folder of the run (default: under runs/)")
    add("--seeds", metavar="A..B", help="a run for each of these seeds, and the mean over them")
    add("--config", type=Path, metavar="FILE", help="a TOML file with options by these names")
    add("--resume", type=Path, metavar="FOLDER", help="go on with the run in this folder")
    add("--repeat", type=Path, metavar="FOLDER", help="the run of this folder again, in another")
    add("--changed", action="store_true", help="with either: although the code has changed")
    add("--snapshots", type=int, metavar="N", help="evaluators measured on the way (usually 24)")
    add("--opponents", metavar="A,B", help="players to measure against")
    for name, meaning in (
        ("snapshot_games", "games of a snapshot against each opponent"),
        ("final_games", "games of each of the best snapshots, to choose among them"),
        ("match_games", "games of each match at the end"),
    ):
        option = "--" + name.replace("_", "-")
        add(option, type=int, metavar="N", help=f"{meaning} (usually {DEFAULTS[name]})")
    add(
        "--backend",
        metavar="KIND",
        help="where games are played: threads, loky (processes) or dask:tcp://HOST:PORT"
        " (default: threads); not for learners that learn in this process",
    )
    add(
        "--jobs",
        type=int,
        metavar="N",
        help="games or puzzles at a time (default: 2, with dask the cluster's number of threads);"
        " not for learners that learn in this process",
    )
    add("--quiet", action="store_true", help="no progress bar, but a line a minute")
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run the program; returns its exit status. `program` is the name in usage and errors."""
    # For matrices as small as ours more threads only stand in each other's way, and in that of the
    # games; NumPy asks once, when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    read = parser(program)
    options = read.parse_args(arguments)

    def go() -> int:
        return run(options if options.config is None else with_config(read, options, arguments))

    return exit_status(program, go)


def run(options: argparse.Namespace) -> int:
    """Train as the options say."""
    if options.resume is not None and options.repeat is not None:
        raise ValueError("expected --resume or --repeat, found both")
    if options.seeds is not None:
        from learner.run.seeds import run_seeds

        return run_seeds(options, run)
    if options.resume is not None:
        settings = kept_settings(options, options.resume)
        check_placement(options, settings)
        return train(options, settings, options.resume)
    if options.repeat is not None:
        settings = kept_settings(options, options.repeat)
    elif options.changed:
        raise ValueError("--changed: expected --resume or --repeat as well, found neither")
    else:
        settings = settings_of(options)
    check_placement(options, settings)
    new = new_folder(Path("runs"), run_name(settings))
    with new if options.run is None else nullcontext(options.run) as folder:
        if options.repeat is None:
            return train(options, settings, folder)
        from learner.run.repeat import compared, expect_code

        expect_code(folder, options.repeat)
        status = train(options, settings, folder)
        print(compared(options.repeat, folder))
        return status


def resumable(train: Callable[..., int]) -> Callable[..., int]:
    """Let a function of (options, settings, folder) say after Ctrl-C how its run continues."""

    @functools.wraps(train)
    def run(options: Any, settings: RunSettings, folder: Path, **more: Any) -> int:
        try:
            return train(options, settings, folder, **more)
        except KeyboardInterrupt:
            from learner.run.folder import CHECKPOINT

            if not (folder / CHECKPOINT).is_file():
                raise
            again = f"plysmith train --resume {shlex.quote(str(folder))}"
            raise KeyboardInterrupt(f"stopped; continue with: {again}") from None

    return run


@resumable
def train(options: argparse.Namespace, settings: RunSettings, folder: Path) -> int:
    """Train by the settings, in the folder of the run."""
    from learner.run.steps import train_evaluator, train_heuristic, train_rote
    from play.workers import Workers, parse_backend

    resume = options.resume is not None
    how = {"resume": resume, "changed": options.changed, "quiet": options.quiet}
    backend, address = parse_backend(options.backend or "threads")
    workers = Workers(backend, options.jobs, address)
    if isinstance(games.load(settings.game), Problem):
        return train_heuristic(settings, folder, workers, **how)
    if settings.learner == "rote":
        return train_rote(settings, folder, **how)
    return train_evaluator(settings, folder, workers, **how)


def check_placement(options: argparse.Namespace, settings: RunSettings) -> None:
    """Raises ValueError if --jobs or --backend is given for a learner that hands out no work."""
    kind = recipe_of(settings.learner, games.load(settings.game)).load()
    accepted = kind().get_params(deep=False)
    if "workers" in accepted:
        return
    instead = ": --set threads=N for more threads" if "threads" in accepted else ""
    for name in ("jobs", "backend"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name}: expected none for {settings.learner}, which learns in this"
                f" process{instead}; found {getattr(options, name)}"
            )


@contextmanager
def new_folder(parent: Path, name: str) -> Iterator[Path]:
    """Yields a folder NAME, NAME-2, NAME-3 ... that is new; removed at the end if it is empty.

    So is its parent. It is made at once, so that two runs that begin together have a folder each.
    """
    folder, number = parent / name, 1
    while True:
        try:
            folder.mkdir(parents=True)
            break
        except FileExistsError:
            number += 1
            folder = parent / f"{name}-{number}"
    try:
        yield folder
    finally:
        with suppress(OSError):  # it holds a run
            os.removedirs(folder)
