"""The games: rules, text forms and features; nothing here searches or learns.

Conventions of the whole project:

* A position is immutable and hashable; `play` returns a new one, seen by the new side to move.
* Values and outcomes are always for the side to move (negamax): 1 for one side is -1 for the other.
  Explicit trees are the only exception: their leaves hold MAX's values.
* History (repetition, clocks) belongs to the game record, not to the position; dice are an
  argument.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import cast

from games.check import check_game, describe_game
from games.contract import DiceGame, Game, Rules
from games.errors import ContractError, MoveError, PositionError
from games.extras import extend, extra
from games.kernel_game import KernelDiceGame, KernelGame
from games.rolls import Rolls

__all__ = [
    "ContractError",
    "Rolls",
    "DiceGame",
    "Game",
    "KernelDiceGame",
    "KernelGame",
    "MoveError",
    "PositionError",
    "Rules",
    "check_game",
    "describe_game",
    "extend",
    "extra",
    "known",
    "load",
    "modules",
    "names",
    "problems",
]

_GAMES = {
    "checkers": ("games.checkers", "Checkers"),
    "backgammon": ("games.backgammon", "Backgammon"),
    "connect_four": ("games.connect_four", "ConnectFour"),
    "tic_tac_toe": ("games.tic_tac_toe", "TicTacToe"),
    "nim": ("games.nim", "Nim"),
    "chinese_checkers": ("games.chinese_checkers", "ChineseCheckers"),
    "chinese_checkers2": ("games.chinese_checkers", "ChineseCheckers2"),
    "chinese_checkers6": ("games.chinese_checkers", "ChineseCheckers6"),
}

_PROBLEMS = {
    "pancakes10": ("games.puzzles.pancakes", "Pancakes"),
    "queens8": ("games.puzzles.queens", "Queens"),
    "road_map": ("games.puzzles.road_map", "RoadMap"),
    "romania": ("games.puzzles.road_map", "Romania"),
    "sliding15": ("games.puzzles.sliding_tiles", "Sliding15"),
    "sliding24": ("games.puzzles.sliding_tiles", "Sliding24"),
    "sliding8": ("games.puzzles.sliding_tiles", "Sliding8"),
}

#: Games that are part of the text of a position (`games.tree.Explicit`).
_EXPLICIT = {"tree": ("games.tree", "Tree")}

#: Users' own games, and those of OpenSpiel, that `load` has made, by name.
_OWN: dict[str, Callable[[], Game]] = {}


def modules() -> list[str]:
    """Returns the modules or packages of the games and problems that come with Plysmith."""
    return sorted({module for module, _ in (_GAMES | _PROBLEMS).values()})


def names() -> list[str]:
    """Returns the names of the games that come with Plysmith."""
    return list(_GAMES)


def problems() -> list[str]:
    """Returns the names of the single-agent problems that come with Plysmith."""
    return list(_PROBLEMS)


def load(name: str) -> Game:
    """Returns a game or problem by its name, or a game of your own as `package.module:Class`.

    `openspiel:NAME` is a game of OpenSpiel, see `games.openspiel`.
    The module of a game of your own is imported, from the current folder too: `name` must be what a
    person typed, never the content of a file or a request (see `known`). Raises ValueError, which
    lists the known names, if there is no such game.
    """
    module, colon, kind = str(name).partition(":")
    if not colon:
        return known(name)
    if module == "openspiel":
        from games.openspiel import game_of

        game = game_of(kind)
        _OWN[game.name] = partial(game_of, kind)
        return game
    made = _made(module, kind, folder=os.getcwd())
    if not isinstance(made, Game):
        raise ValueError(f"game: expected a subclass of games.Game, found {type(made).__name__}")
    _OWN[made.name] = type(made)
    return made


def known(name: str) -> Game:
    """Returns a game that comes with Plysmith, or that `load` has imported, by its name.

    Imports no module of the user. Raises ValueError if the name is not known.
    """
    ours = _GAMES | _PROBLEMS | _EXPLICIT
    if name in ours:
        return cast(Game, _made(*ours[name]))
    if name in _OWN:
        return _OWN[name]()
    raise ValueError(
        f"game: expected one of {', '.join(ours)}, module:Class for your own or openspiel:NAME,"
        f" found {str(name)[:60]!r}"
    )


def _made(module: str, kind: str, *, folder: str | None = None) -> object:
    """Returns an instance of a class in a module; `folder` is searched after all others."""
    if folder is not None and folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)
    try:
        return getattr(importlib.import_module(module), kind)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"game: expected a class {kind!r} in module {module}: {error}") from None
