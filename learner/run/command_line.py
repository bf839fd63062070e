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
from learner.run.recipes import Runs, recipe_of
from learner.run.request import (
    check_options,
    parser,
    settings_of,
    settings_of_run,
    with_config,
)
from learner.run.settings import RunSettings, code_in
from programs.ending import exit_status

__all__ = ["main", "train"]


def main(arguments: list[str] | None = None, program: str = "train.py") -> int:
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
    if options.changed and options.resume is None and options.repeat is None:
        raise ValueError("--changed: expected --resume or --repeat as well, found neither")
    if options.seeds is not None:
        from learner.run.seeds import run_seeds

        return run_seeds(options, train)
    if options.resume is not None:
        settings = settings_of_run(options, options.resume)
        return train(options, settings, options.resume, resume=True)
    again = options.repeat is not None
    settings = settings_of_run(options, options.repeat) if again else settings_of(options)
    new = (
        new_folder(Path("runs"), settings.name) if options.run is None else nullcontext(options.run)
    )
    with new as folder:
        if not again:
            return train(options, settings, folder)
        from learner.run.repeat import compared, expect_code

        check(options, settings)
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
def train(
    options: argparse.Namespace, settings: RunSettings, folder: Path, *, resume: bool = False
) -> int:
    """Train by the settings, in the folder of the run; returns the exit status.

    Raises ValueError for settings that do not fit each other, before anything slow is imported.
    """
    from play.workers import Workers, parse_backend

    backend, address = parse_backend(options.backend or "threads")
    check(options, settings)
    from learner.run import training

    workers = Workers(backend, options.jobs, address)
    return training.train(
        settings, folder, workers, resume=resume, changed=options.changed, quiet=options.quiet
    )


def check(options: argparse.Namespace, settings: RunSettings) -> None:
    """Raise ValueError for a learner, its options, or players that do not fit the game."""
    game = games.load(settings.game)
    runs, recipe = Runs.of(game), recipe_of(settings.learner, game)
    accepted = recipe.settings()
    check_options([accepted], settings.options)
    for name in () if "workers" in accepted else ("jobs", "backend"):
        if getattr(options, name) is not None:
            instead = ": --set threads=N for more threads" if "threads" in accepted else ""
            raise ValueError(
                f"--{name}: expected none for {settings.learner}, which learns in this"
                f" process{instead}; found {getattr(options, name)}"
            )
    if not code_in("features", settings.features):  # whose terms players may have
        runs.check_players(game, settings)
    runs.check_learner(settings.learner, recipe, game)


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
