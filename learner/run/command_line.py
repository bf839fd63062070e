"""The command line of training: `python train.py checkers`.

Shows progress, keeps everything in a folder under runs/, and ends with matches of the trained
evaluator against hand-crafted ones, with error bars. `--resume` continues a run that was stopped.
"""

from __future__ import annotations

import argparse
import ast
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import games
from games.problem import Problem
from games.program import exit_status
from learner.run.opponents import pacemakers, usual_opponents
from learner.run.recipes import HEURISTICS, RECIPES, UsualRuns, learners_of, recipe_of
from learner.run.settings import RunSettings
from play.players.grammar import HUB

__all__ = ["main", "parser", "settings_of"]

#: The name of the program in usage and errors if none is given.
PROGRAM = "train.py"
#: More games than any book has.
ALL = 10_000_000
#: The settings that do not depend on the game, the learner or the file of features.
DEFAULTS: dict[str, int] = {
    part.name: part.default  # type: ignore[misc]
    for part in fields(RunSettings)
    if part.name in ("seed", "snapshots", "snapshot_games", "final_games", "match_games")
}
#: Options that a run of a problem does not take.
NOT_TAKEN = ("depth", "snapshots", "snapshot_games", "final_games")
#: The start without an evaluator or heuristic that somebody wrote.
ZERO = "zero"
#: Options that may be given together with --resume.
WITH_RESUME = {
    "game", "learner", "games", "resume", "quiet", "backend", "jobs", "features",
    "opponents", "changed",
}  # fmt: skip


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    result = argparse.ArgumentParser(
        prog=program,
        description="Train an evaluator by self-play and measure it.",
        epilog="\n".join(
            [
                "learners:",
                *(f"  {name:<10} {recipe.summary}" for name, recipe in RECIPES.items()),
                "learners of a heuristic, for problems with one agent:",
                *(f"  {name:<10} {recipe.summary}" for name, recipe in HEURISTICS.items()),
            ]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    known = ", ".join([*games.names(), *games.problems()])
    add("game", help=f"{known}, or module:Class for your own")
    add(
        "--learner",
        metavar="NAME",
        help="see below, or module:Class for your own (default: the game's usual one)",
    )
    add("--games", type=int, metavar="N", help="games of self-play")
    add("--depth", type=int, metavar="PLIES", help="plies of every search")
    add("--nodes", type=int, metavar="N", help="positions of every search, instead of a depth")
    add("--seed", type=int, metavar="N", help="decides everything left to chance (default: 0)")
    add(
        "--features",
        metavar="NAME",
        help="feature set or encoding to learn over, or a file my_features.py with kernels of your"
        " own: adds your terms to the learner's; afterwards the run is repeated without them and"
        " compared",
    )
    add(
        "--from",
        dest="start",
        metavar="FILE",
        help="evaluator to start from, or zero; for a puzzle also abstractions",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="any other option of the learner, e.g. --set tallies=16; may be repeated",
    )
    add("--run", type=Path, metavar="FOLDER", help="folder of the run (default: under runs/)")
    add("--resume", type=Path, metavar="FOLDER", help="go on with the run in this folder")
    add("--changed", action="store_true", help="with --resume: although the code has changed")
    add("--snapshots", type=int, metavar="N", help="evaluators measured on the way (default: 24)")
    add("--opponents", metavar="A,B", help="players to measure against")
    for name, meaning in (
        ("snapshot_games", "games of a snapshot against each opponent"),
        ("final_games", "games of each of the best snapshots, to choose among them"),
        ("match_games", "games of each match at the end"),
    ):
        option = "--" + name.replace("_", "-")
        add(option, type=int, metavar="N", help=f"{meaning} (default: {DEFAULTS[name]})")
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
    options = parser(program).parse_args(arguments)
    from play.waiting import told_of_compiling

    with told_of_compiling():
        return exit_status(program, lambda: run(options), stopped="stopped; go on with --resume")


def run(options: argparse.Namespace) -> int:
    """Train as the options say."""
    if options.resume is not None:
        settings, folder = resumed_settings(options), options.resume
        check_placement(options, settings)
    elif options.changed:
        raise ValueError("--changed: expected --resume as well, found none")
    else:
        settings, folder = settings_of(options), options.run
        check_placement(options, settings)
        if folder is None:
            with new_folder(Path("runs"), run_name(settings)) as folder:
                return train(options, settings, folder)
    return train(options, settings, folder)


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
    known = kind().get_params(deep=False)
    if "workers" in known:
        return
    instead = ": --set threads=N for more threads" if "threads" in known else ""
    for name in ("jobs", "backend"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name}: expected none for {settings.learner}, which learns in this"
                f" process{instead}; found {getattr(options, name)}"
            )


def resumed_settings(options: argparse.Namespace) -> RunSettings:
    """Returns the settings that a run began with; only the number of games may change."""
    given = [name for name, value in vars(options).items() if value and name not in WITH_RESUME]
    if options.seed is not None and "seed" not in given:
        given.append("seed")
    if given:
        names = ", ".join(f"--{'from' if n == 'start' else n.replace('_', '-')}" for n in given)
        raise ValueError(
            f"--resume goes on as the run began: expected no other options but --games, found"
            f" {names}"
        )
    settings = RunSettings.read(options.resume)
    expected = options.game, options.learner or settings.learner
    if options.learner is None and settings.learner not in RECIPES | HEURISTICS:
        raise ValueError(
            f"{options.resume}: the run learns by {settings.learner}, and a run names no code:"
            f" expected --learner {settings.learner} as well, found none"
        )
    if (settings.game, settings.learner) != expected:
        raise ValueError(
            f"{options.resume}: expected a run of {expected[0]} by {expected[1]}, found one of"
            f" {settings.game} by {settings.learner}"
        )
    settings = named_by_a_person(options, settings)
    return settings if options.games is None else replace(settings, games=options.games)


def named_by_a_person(options: argparse.Namespace, settings: RunSettings) -> RunSettings:
    """Returns the settings of a resumed run with the file of features that was typed in.

    A folder may come from somebody else, and no file may name code to run. So the file of features
    and the players that start a program (`hub:COMMAND`) must be given again. Raises ValueError if
    they are missing, or if other features or opponents are given than the run began with.
    """
    where, features = options.resume, settings.features
    if (features or "").endswith(".py"):
        if not (options.features or "").endswith(".py"):
            raise ValueError(
                f"{where}: the run learns with features of {features}, and a run names no code:"
                f" expected --features FILE as well (its copy is {where / 'features.py'}), found"
                f" {'none' if options.features is None else options.features}"
            )
        settings = replace(settings, features=options.features)
    elif options.features not in (None, features):
        raise ValueError(
            f"{where}: expected {f'--features {features}' if features else 'no --features'}, found"
            f" {options.features}"
        )
    given = options.opponents.split(",") if options.opponents else []
    players = dict.fromkeys([*settings.opponents, *settings.pacemakers])
    programs = [player for player in players if player.startswith(HUB) and player not in given]
    if programs:
        raise ValueError(
            f"{where}: the run plays against {', '.join(programs)}, and a run names no program to"
            f" start: expected --opponents {','.join(players)!r} as well, found"
            f" {options.opponents or 'none'}"
        )
    if set(given) - set(players):
        raise ValueError(
            f"{where}: expected --opponents {','.join(players)}, found {options.opponents}"
        )
    return settings


def settings_of(options: argparse.Namespace) -> RunSettings:
    """Returns the settings from the command line and from the recipe for the game and learner."""
    game = games.load(options.game)
    problem = isinstance(game, Problem)
    learner = options.learner or UsualRuns.of(game).learner or next(iter(learners_of(game)))
    found = recipe_of(learner, game)
    for name in NOT_TAKEN:
        if problem and getattr(options, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')}: expected none for the problem {game.name}, found"
                f" {getattr(options, name)}"
            )
    if not problem and game.players > 2 and not found.takes_many():
        able = [name for name, other in RECIPES.items() if other.takes_many()]
        raise ValueError(
            f"--learner: expected {' or '.join(able)} for {game.name} with its {game.players}"
            f" players, found {learner}"
        )
    recipe = found.run(game)
    start = options.start or recipe.get("from")
    extra = {**recipe.get("options", {}), **learner_options(options.set)}
    depth, nodes = options.depth, options.nodes
    if depth is None and nodes is None:
        depth, nodes = recipe["depth"], recipe.get("nodes")
    usual = {**DEFAULTS, **{name: recipe[name] for name in DEFAULTS if name in recipe}}
    chosen = {name: getattr(options, name) for name in DEFAULTS}
    count = options.games
    if count is None:
        count = ALL if extra.get("book") else recipe["games"]
    named = options.opponents.split(",") if options.opponents else recipe.get("opponents")
    return RunSettings(
        game=options.game,
        learner=learner,
        games=count,
        depth=depth,
        nodes=nodes,
        start=start,
        opponents=tuple(name for name in named or usual_opponents(game) if name != ZERO),
        pacemakers=() if problem else tuple(named or pacemakers(game)),
        options=extra,
        features=options.features,
        **{name: usual[name] if n is None else n for name, n in chosen.items()},
    )


def learner_options(texts: list[str]) -> dict[str, Any]:
    """Returns the options given as OPTION=VALUE; a value is a Python literal or a text."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"--set: expected OPTION=VALUE, found {text!r}")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def run_name(settings: RunSettings) -> str:
    """Returns the name of the folder of a new run."""
    game, learner = (name.rpartition(":")[2] for name in (settings.game, settings.learner))
    return f"{game.lower()}-{learner.lower()}"


@contextmanager
def new_folder(parent: Path, name: str) -> Iterator[Path]:
    """Yields a folder NAME, NAME-2, NAME-3 ... that is new; removed at the end if it is empty.

    It is made at once, so that two runs that begin at the same time have a folder each.
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
            folder.rmdir()
