"""Options of a run in a file: `plysmith train --config run.toml`.

    game = "checkers"
    learner = "rootstrap"
    games = 2000

    [set]
    rate = 0.5

Typed options take precedence. No file names code: a game, a learner or features of one's
own, and players that start a program, are typed.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from play.players.grammar import PROGRAM

__all__ = ["with_config"]

#: Options that are about other runs or files.
NOT_IN_A_FILE = ("config", "resume", "repeat", "changed")


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
    accepted = {"from" if name == "start" else name for name in vars(options)}
    accepted.difference_update(NOT_IN_A_FILE)
    given = {name.replace("-", "_"): value for name, value in content.items()}
    if unknown := sorted(given.keys() - accepted):
        names = ", ".join(["game", *sorted(accepted - {"game"})])
        raise ValueError(f"{path}: expected options among {names}; found {', '.join(unknown)}")
    game = given.pop("game", None)
    words = [word for name, value in given.items() for word in _typed(path, name, value)]
    read = parser.parse_args([*words, *(sys.argv[1:] if arguments is None else arguments)])
    if game is not None and read.game is None:
        read.game = _text(path, "game", game)
    return read


def _typed(path: Path, name: str, value: Any) -> Iterator[str]:
    """Yields an option as it is typed."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        if value:
            yield option
        return
    if name == "set":
        if not isinstance(value, dict):
            raise ValueError(f"{path}: expected [set] with options of the learner, found {value!r}")
        for one, setting in value.items():
            yield from (option, f"{one}={setting!r}")
        return
    yield from (option, _text(path, name, value))


def _text(path: Path, name: str, value: Any) -> str:
    """Returns the text of a value. Raises ValueError for other kinds and for code."""
    if isinstance(value, list):
        value = ",".join(map(str, value))
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"{path}: {name}: expected a text or a number, found {value!r}")
    text = str(value)
    code = (
        (name in ("game", "learner") and ":" in text)
        or (name == "features" and text.endswith(".py"))
        or (name == "opponents" and PROGRAM.search(text))
    )
    if code:
        raise ValueError(
            f"{path}: a file names no code: expected --{name} to be typed, found {text}"
        )
    return text
