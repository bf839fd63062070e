"""The games: rules, text forms and features, and nothing of search or learning.

Conventions, said once for the whole project:

* A position is immutable and hashable; `play` returns a new one, seen by the new side to move.
* Values and outcomes are always for the side to move (negamax): what is 1 for one side is -1 for
  the other. Explicit trees are the one exception and say so: their leaves hold MAX's values.
* History (repetition, clocks) belongs to the game record, not to the position; dice are an
  argument.
"""

from __future__ import annotations

import importlib

from games.check import check_game
from games.contract import DiceGame, Game, KernelDiceGame, KernelGame, Rules
from games.errors import ContractError, MoveError, PositionError

__all__ = [
    "ContractError",
    "DiceGame",
    "Game",
    "KernelDiceGame",
    "KernelGame",
    "MoveError",
    "PositionError",
    "Rules",
    "check_game",
    "load",
    "names",
    "problems",
]

_GAMES = {
    "checkers": ("games.checkers", "Checkers"),
    "backgammon": ("games.backgammon", "Backgammon"),
    "connect_four": ("games.connect_four", "ConnectFour"),
    "tic_tac_toe": ("games.tic_tac_toe", "TicTacToe"),
    "nim": ("games.nim", "Nim"),
}

_PROBLEMS = {
    "cube2": ("games.puzzles.pocket_cube", "PocketCube"),
    "hanoi8_3": ("games.puzzles.hanoi", "Hanoi"),
    "lights_out5": ("games.puzzles.lights_out", "LightsOut"),
    "pancakes10": ("games.puzzles.pancakes", "Pancakes"),
    "queens8": ("games.puzzles.queens", "Queens"),
    "road_map": ("games.puzzles.road_map", "RoadMap"),
    "sliding15": ("games.puzzles.sliding_tiles", "Sliding15"),
    "sliding24": ("games.puzzles.sliding_tiles", "Sliding24"),
    "sliding8": ("games.puzzles.sliding_tiles", "Sliding8"),
}


def names() -> list[str]:
    """The names of the games that `load` takes."""
    return list(_GAMES)


def problems() -> list[str]:
    """The names of the problems with one agent that `load` takes."""
    return list(_PROBLEMS)


def load(name: str) -> Game:
    """The game or problem of that name, or one of your own as `package.module:Class`.

    ValueError, which lists the known names, where there is none.
    """
    module, colon, kind = str(name).partition(":")
    if not colon:
        known = _GAMES | _PROBLEMS
        if name not in known:
            raise ValueError(
                f"game: expected one of {', '.join(known)}, or module:Class for your own, found"
                f" {str(name)[:60]!r}"
            )
        module, kind = known[name]
    try:
        made = getattr(importlib.import_module(module), kind)()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"game: expected a class {kind!r} in module {module}: {error}") from None
    if not isinstance(made, Game):
        raise ValueError(f"game: expected a subclass of games.Game, found {type(made).__name__}")
    return made
