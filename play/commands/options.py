"""Options and checks that several commands of `python -m play` share."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import games

__all__ = [
    "START",
    "add_features",
    "add_game",
    "check_writable",
    "load_game",
    "read_situation",
    "refuse",
    "with_features",
]

#: The start position, on the command line.
START = "start"
GAME_HELP = f"{', '.join(games.names())}, or module:Class for a game of your own"
FEATURES_HELP = "a file with terms of your own, for evaluators that were learned with them"


def add_game(command: argparse.ArgumentParser) -> None:
    """Add the arguments for the game and for the features of its evaluators."""
    command.add_argument("game", help=GAME_HELP)
    add_features(command)


def add_features(command: argparse.ArgumentParser) -> None:
    """Add the option for a file of features."""
    command.add_argument("--features", metavar="FILE", help=FEATURES_HELP)


def load_game(options: argparse.Namespace, *, problems: bool = False) -> Any:
    """Returns the game that a command line names.

    problems: whether it may be a problem for one agent; if not, a problem raises ValueError.
    """
    from games.problem import refuse_problem

    game = games.load(options.game)
    if not problems:
        refuse_problem(game)
    return with_features(game, options)


def with_features(game: Any, options: argparse.Namespace) -> Any:
    """Returns the game with the terms of `--features` added to its own; raises its errors."""
    from games import feature_file

    return feature_file.add_features(game, options.features) if options.features else game


def refuse(options: argparse.Namespace, names: tuple[str, ...], expected: str, game: Any) -> None:
    """Raises ValueError if an option was given that does not apply to this kind of game.

    names: the options, by their attributes of `options`.
    expected: the kind of game that they are for, such as "a game with dice".
    """
    for name in names:
        if getattr(options, name, None) is not None:
            option = name.replace("_", "-")
            raise ValueError(f"--{option}: expected {expected}, found {game.name}")


def check_writable(option: str, path: Path) -> None:
    """Make the folder of a file; raises OSError if the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(
            f"{option}: expected a file that can be written, found {path}: {error.strerror}"
        ) from None
    if path.is_dir():
        raise OSError(f"{option}: expected a file that can be written, found folder {path}")


def read_situation(game: Any, text: str, roll: str | None) -> tuple[Any, Any, str]:
    """Returns the position and roll of a text, and a sentence about the parts that values ignore.

    game: a game with dice.
    text: the position, or `start`.
    roll: the roll of --roll, if it is given.

    The sentence is about the score and the cube; it is empty if the text has neither. Raises
    ValueError if `roll` differs from the roll in the text.
    """
    from games.record import read_situation as read

    text = game.position_text(game.start()) if text.strip() == START else text
    position, rolled, options = read(game, text)
    given = rolled if roll is None else game.dice.parse(roll)
    if rolled is not None and given != rolled:
        dice = game.dice.text(rolled)
        raise ValueError(f"--roll: expected the dice of the position, {dice}, found {roll}")
    *_, usual = read(game, game.position_text(position))
    told = [name for name, value in options.items() if value != usual[name]]
    words = ", ".join(name.replace("_", " ") for name in told)
    left_out = f"Values are those of a game without the cube; they ignore {words}." if told else ""
    return position, given, left_out
