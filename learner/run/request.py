"""A run as it is requested: the command line, a file of options, and the settings they ask for.

    game = "checkers"
    learner = "rootstrap"
    games = 2000

    [set]
    rate = 0.5

Such a file (`--config run.toml`) is what would be typed, and what is typed takes precedence.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import games
from learner.options import Setting
from learner.run.opponents import pacemakers, usual_opponents
from learner.run.recipes import (
    HEURISTICS,
    RECIPES,
    Runs,
    UsualRuns,
    learners_of,
    outsiders,
    recipe_of,
    unknown,
)
from learner.run.settings import NAMES, ZERO, RunSettings, check_ranges, code_in, flag
from programs.arguments import Parser, in_range
from programs.phrases import meant

__all__ = ["parser", "settings_of", "settings_of_run", "typed", "with_config"]

#: More games than any book has.
ALL = 10_000_000
#: Options of learners that a run has options of its own for, or decides.
RESERVED = {"game", "games", "depth", "nodes", "seed", "workers", "store"}
#: Options that are about other runs or files.
NOT_IN_A_FILE = {"config", "resume", "repeat", "changed"}


def parser(program: str = "train.py") -> argparse.ArgumentParser:
    """Returns the parser of the command line; an option that is not typed is None or False."""
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
    kinds: dict[str, Any] = {"int": int, "int | None": int, "tuple[str, ...]": names}
    for part in fields(RunSettings):
        told = part.metadata.get("help")
        if part.name == "game":
            add("game", nargs="?", help=told)
        elif told:
            kind, metavar = kinds.get(str(part.type), str), part.metadata["metavar"]
            add(flag(part.name), dest=part.name, type=kind, help=told, metavar=metavar)
    add(
        "--set",
        action="append",
        dest="options",
        metavar="OPTION=VALUE",
        help="any other option of the learner, e.g. --set tallies=16; may be repeated",
    )
    add("--run", type=Path, metavar="FOLDER", help="folder of the run (default: under runs/)")
    add("--seeds", metavar="A..B", help="a run for each of these seeds, and the mean over them")
    add("--config", type=Path, metavar="FILE", help="a TOML file with options by these names")
    add("--resume", type=Path, metavar="FOLDER", help="continue the run in this folder")
    add("--repeat", type=Path, metavar="FOLDER", help="the run of this folder again, in another")
    add("--changed", action="store_true", help="with either: although the code has changed")
    add(
        "--backend",
        metavar="KIND",
        help="where games are played: threads, loky (processes) or dask:tcp://HOST:PORT"
        " (default: threads); not for learners that learn in this process",
    )
    add(
        "--jobs",
        type=in_range(1),
        metavar="N",
        help="games or puzzles at a time (default: 2, with dask the cluster's number of threads);"
        " not for learners that learn in this process",
    )
    add("--quiet", action="store_true", help="no progress bar, but a line a minute")
    return result


def names(text: str) -> tuple[str, ...]:
    """Returns the names of a list A,B."""
    return tuple(text.split(","))


# --- a file of options ------------------------------------------------------------------------


def with_config(
    parser: argparse.ArgumentParser, options: argparse.Namespace, arguments: Sequence[str] | None
) -> argparse.Namespace:
    """Returns the options of a file and of the command line.

    parser: the command line.
    options: what it read, with the file's name in `config`.
    arguments: what was typed. Default: the arguments of the program.

    Raises FileNotFoundError, or ValueError for a file that is not TOML, an option that does not
    exist, a wrong value, and for code that a file would name.
    """
    path: Path = options.config
    if not path.is_file():
        raise FileNotFoundError(f"--config: expected a file, found none at {path}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected options as TOML, found {error}") from None
    accepted = {NAMES.get(name, name) for name in vars(options)} - NOT_IN_A_FILE
    given = {name.replace("-", "_"): value for name, value in content.items()}
    if unknown := sorted(given.keys() - accepted):
        names = ", ".join(["game", *sorted(accepted - {"game"})])
        raise ValueError(f"{path}: expected options among {names}; found {', '.join(unknown)}")
    words = [word for name, value in given.items() for word in _words(path, name, value)]
    if options.game is not None and "game" in given:
        words.remove(given["game"])
    return parser.parse_args([*words, *(sys.argv[1:] if arguments is None else arguments)])


def _words(path: Path, name: str, value: Any) -> Iterator[str]:
    """Yields an option of a file as it is typed. Raises ValueError for other kinds and for code."""
    if name == "set":
        if not isinstance(value, dict):
            raise ValueError(f"{path}: expected [set] with options of the learner, found {value!r}")
        for option, setting in value.items():
            yield from ("--set", f"{option}={setting!r}")
        return
    if isinstance(value, list):
        value = ",".join(map(str, value))
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"{path}: {name}: expected a text or a number, found {value!r}")
    if code := code_in(name, str(value).split(",")):
        raise ValueError(
            f"{path}: a file names no code: expected {flag(name)} to be typed, found {code[0]}"
        )
    if name != "game" and value is not False:
        yield flag(name)
    if not isinstance(value, bool):
        yield str(value)


# --- settings ---------------------------------------------------------------------------------


def typed(options: argparse.Namespace) -> dict[str, Any]:
    """Returns the settings that were typed, by name; checked as far as that needs no game.

    Raises ValueError for a value outside its range, an unknown learner, or an option that it lacks.
    """
    names = [part.name for part in fields(RunSettings)]
    given = {name: value for name, value in vars(options).items() if name in names}
    given = {name: value for name, value in given.items() if value is not None}
    check_ranges(given)
    given["options"] = learner_options(given.get("options", ()))
    learner = given.get("learner")
    offered = [*outsiders().items(), *RECIPES.items(), *HEURISTICS.items()]
    recipes = [recipe for name, recipe in offered if learner in (None, name)]
    if learner is not None and not recipes and ":" not in learner:
        raise unknown(learner, dict(offered))
    if not any(recipe.own for recipe in recipes):  # whose code is loaded once all else is right
        check_options([recipe.settings() for recipe in recipes], given["options"])
    return given


def learner_options(texts: Sequence[str]) -> dict[str, Any]:
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


def settings_of(options: argparse.Namespace) -> RunSettings:
    """Returns the settings of a new run: what is typed, else what is usual for game and learner."""
    given = typed(options)
    game = games.load(given.get("game", ""))
    runs = Runs.of(game)
    learner = given.get("learner") or UsualRuns.of(game).learner or next(iter(learners_of(game)))
    recipe = recipe_of(learner, game)
    for name in runs.not_taken:
        if name in given:
            raise ValueError(
                f"{flag(name)}: expected none for the problem {game.name}, found {given[name]}"
            )
    check_options([recipe.settings()], given["options"])
    usual = recipe.usual(game)
    usual["start"], usual_options = usual.pop("from", None), usual.pop("options", {})
    if "tuples" in given["options"]:  # they take the place of the usual inputs, network and start
        usual_options = {n: v for n, v in usual_options.items() if n not in ("inputs", "hidden")}
        usual["start"] = None
    if given.keys() & {"depth", "nodes"}:
        usual |= {"depth": None, "nodes": None}
    whole = {**usual_options, **given["options"]}
    if whole.get("book"):
        usual["games"] = ALL
    named = given.get("opponents", usual.get("opponents"))
    players = {
        "opponents": tuple(name for name in named or usual_opponents(game) if name != ZERO),
        "pacemakers": tuple(named or pacemakers(game)) if "snapshots" not in runs.not_taken else (),
    }
    return RunSettings(**{**usual, **given, **players, "learner": learner, "options": whole})


def check_options(learners: Sequence[Mapping[str, Setting]], options: Mapping[str, Any]) -> None:
    """Raise ValueError for an option that none of some learners takes, or not with this value.

    learners: the settings of each, by name (`learner.run.recipes.Recipe.settings`).
    """
    for name, value in options.items() if learners else ():
        settings = [own[name] for own in learners if name in own.keys() - RESERVED]
        if not settings and len(learners) > 1:
            names = {option for own in learners for option in own.keys() - RESERVED}
            raise ValueError(f"--set: no learner has an option {name}{meant(name, names)}")
        if not settings:
            listed = ", ".join(sorted(learners[0].keys() - RESERVED))
            raise ValueError(f"--set: expected one of {listed}; found {name}")
        errors = []
        for setting in settings:
            try:
                setting.check(f"--set {name}", value)
            except ValueError as error:
                errors.append(error)
        if len(errors) == len(settings):
            raise errors[0]


def settings_of_run(options: argparse.Namespace, folder: Path) -> RunSettings:
    """Returns the settings that the run in a folder began with, to resume or repeat it.

    Settings that are typed as well must be the same, but for the number of games of a resumed run.
    A folder may come from somebody else, so code that it names, and programs to start, must be
    typed again.
    """
    settings, given = RunSettings.read(folder), typed(options)
    if options.resume is not None:
        settings = replace(settings, games=given.pop("games", settings.games))
        if options.run is not None:
            raise ValueError(f"--run: expected none with --resume, found {options.run}")
    for name in ("game", "learner", "features", "opponents", "pacemakers"):
        option = NAMES.get(name, name)
        again = code_in(option, given.get(option))
        for code in code_in(name, getattr(settings, name)):
            if code not in again and not (again and name == "features"):
                raise ValueError(
                    f"{folder}: a run names no code: expected {flag(name)} {code} to be typed as"
                    f" well, found {given.get(option, 'none')}"
                )
            if name == "features":  # perhaps the copy in the folder
                settings = replace(settings, features=given.pop(name))
    texts = given.pop("options")
    pairs = {flag(name): (getattr(settings, name), value) for name, value in given.items()}
    pairs |= {f"--set {n}": (settings.options.get(n), value) for n, value in texts.items()}
    for option, (first, value) in pairs.items():
        if isinstance(value, tuple):  # files hold lists
            first, value = (",".join(map(str, names or ())) for names in (first, value))
        if first != value:
            expected = f"no {option}" if first is None else f"{option} {first}"
            raise ValueError(f"{folder}: expected {expected}, as the run began, found {value}")
    return settings
