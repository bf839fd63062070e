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
]

_GAMES = {
    "checkers": ("games.checkers", "Checkers"),
    "backgammon": ("games.backgammon", "Backgammon"),
    "connect_four": ("games.connect_four", "ConnectFour"),
    "tic_tac_toe": ("games.tic_tac_toe", "TicTacToe"),
    "nim": ("games.nim", "Nim"),
}


def names() -> list[str]:
    """The names that `load` takes."""
    return list(_GAMES)


def load(name: str) -> Game:
    """The game of that name, or a game of your own as `package.module:Class`.

    ValueError, which lists the known names, where there is none.
    """
    module, colon, kind = str(name).partition(":")
    if not colon:
        if name not in _GAMES:
            raise ValueError(
                f"game: expected one of {', '.join(_GAMES)}, or module:Class for your own, found"
                f" {str(name)[:60]!r}"
            )
        module, kind = _GAMES[name]
    try:
        made = getattr(importlib.import_module(module), kind)()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"game: expected a class {kind!r} in module {module}: {error}") from None
    if not isinstance(made, Game):
        raise ValueError(f"game: expected a subclass of games.Game, found {type(made).__name__}")
    return made
