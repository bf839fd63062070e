"""The settings that a command line asks for: of a new, resumed or repeated run."""

from __future__ import annotations

import argparse
import ast
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import games
from learner.run.opponents import pacemakers, usual_opponents
from learner.run.recipes import Runs, UsualRuns, learners_of, recipe_of, unfit
from learner.run.settings import RunSettings
from play.players.grammar import PROGRAM

__all__ = ["DEFAULTS", "WITH_RESUME", "kept_settings", "learner_options", "run_name", "settings_of"]

#: More games than any book has.
ALL = 10_000_000
#: The settings that do not depend on the game, the learner or the file of features.
DEFAULTS: dict[str, int] = {
    part.name: part.default  # type: ignore[misc]
    for part in fields(RunSettings)
    if part.name in ("seed", "snapshots", "snapshot_games", "final_games", "match_games")
}
#: The start without an evaluator or heuristic that somebody wrote.
ZERO = "zero"
#: Options that may be given together with --resume or --repeat, and with the one or the other.
WITH_A_RUN = {
    "game", "learner", "quiet", "backend", "jobs", "features", "opponents", "changed",
}  # fmt: skip
WITH_RESUME = {*WITH_A_RUN, "games", "resume"}
WITH_REPEAT = {*WITH_A_RUN, "run", "repeat"}


def kept_settings(options: argparse.Namespace, where: Path) -> RunSettings:
    """Returns the settings that the run in a folder began with.

    Only the number of games may change, when it is resumed.
    """
    name, taken = ("repeat", WITH_REPEAT) if options.resume is None else ("resume", WITH_RESUME)
    given = [name for name, value in vars(options).items() if value and name not in taken]
    if options.seed is not None and "seed" not in given:
        given.append("seed")
    if given:
        names = ", ".join(f"--{'from' if n == 'start' else n.replace('_', '-')}" for n in given)
        besides = sorted({"games", "run"} & taken)[0]
        raise ValueError(
            f"--{name} goes on as the run began: expected no other options but --{besides}, found"
            f" {names}"
        )
    settings = RunSettings.read(where)
    expected = options.game or settings.game, options.learner or settings.learner
    for part, own in (("", options.game), ("--learner ", options.learner)):
        kept = settings.learner if part else settings.game
        if own is None and ":" in kept:
            raise ValueError(
                f"{where}: the run names {kept}, and a run names no code: expected {part}{kept} as"
                " well, found none"
            )
    if (settings.game, settings.learner) != expected:
        raise ValueError(
            f"{where}: expected a run of {expected[0]} by {expected[1]}, found one of"
            f" {settings.game} by {settings.learner}"
        )
    settings = named_by_a_person(options, settings, where)
    return settings if options.games is None else replace(settings, games=options.games)


def named_by_a_person(
    options: argparse.Namespace, settings: RunSettings, where: Path
) -> RunSettings:
    """Returns the settings of a run of before with the file of features that was typed in.

    A folder may come from somebody else, and no file may name code to run. So the file of features
    and the players that start a program (`hub:COMMAND`) must be given again. Raises ValueError if
    they are missing, or if other features or opponents are given than the run began with.
    """
    features = settings.features
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
    programs = [player for player in players if PROGRAM.match(player) and player not in given]
    if programs:
        raise ValueError(
            f"{where}: the run plays against {', '.join(programs)}, but a file may not name a"
            f" program to start: expected --opponents {','.join(players)!r} as well, found"
            f" {options.opponents or 'none'}"
        )
    if set(given) - set(players):
        raise ValueError(
            f"{where}: expected --opponents {','.join(players)}, found {options.opponents}"
        )
    return settings


def settings_of(options: argparse.Namespace) -> RunSettings:
    """Returns the settings from the command line and from the recipe for the game and learner."""
    game = games.load(options.game or "")
    runs = Runs.of(game)
    learner = options.learner or UsualRuns.of(game).learner or next(iter(learners_of(game)))
    found = recipe_of(learner, game)
    for name in runs.not_taken:
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')}: expected none for the problem {game.name}, found"
                f" {getattr(options, name)}"
            )
    if not runs.takes(found, game):
        raise unfit(learner, game)
    recipe = found.run(game)
    given = learner_options(options.set)
    usual_options, usual_start = recipe.get("options", {}), recipe.get("from")
    if "tuples" in given:  # they take the place of the usual inputs, network and start
        unfit_options = {"inputs", "hidden"}
        usual_options = {k: v for k, v in usual_options.items() if k not in unfit_options}
        usual_start = None
    start = options.start or usual_start
    extra = {**usual_options, **given}
    depth, nodes = options.depth, options.nodes
    if depth is None and nodes is None:
        depth, nodes = recipe["depth"], recipe.get("nodes")
    usual = {**DEFAULTS, **{name: recipe[name] for name in DEFAULTS if name in recipe}}
    chosen = {name: getattr(options, name) for name in DEFAULTS}
    count = options.games
    if count is None:
        count = ALL if extra.get("book") else recipe["games"]
    named = recipe.get("opponents") if options.opponents is None else options.opponents.split(",")
    return RunSettings(
        game=options.game,
        learner=learner,
        games=count,
        depth=depth,
        nodes=nodes,
        start=start,
        opponents=tuple(name for name in named or usual_opponents(game) if name != ZERO),
        pacemakers=tuple(named or pacemakers(game)) if runs.measured else (),
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
