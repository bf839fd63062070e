"""External engines as players of backgammon: GNU Backgammon's networks, and pubeval.

Both are in the package `gnubg_nn` (GPL), which is imported only if a player is named that needs it:
`pubeval`, Tesauro's public benchmark, or `gnubg:0`, `gnubg:1`, `gnubg:2`, GNU Backgammon at 0, 1 or
2 plies. The package holds Python's lock while it thinks and exists once in a process, so threads
take turns with it and processes do not.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from games.backgammon import rules
from games.backgammon.outcomes import OUTCOMES
from games.contract import DiceGame
from games.errors import MoveError
from games.kernels import kernel
from play.players.external import ExternalEngines
from play.players.gnubg_program import GnubgCubeSeat
from play.players.limits import Limits
from search import Evaluator, PythonEvaluator

__all__ = [
    "GNUBG_PLIES",
    "PUBEVAL",
    "GnubgNetworks",
    "as_program",
    "board",
    "chances",
    "equity",
    "gnubg_evaluator",
]

PUBEVAL = "pubeval"
GNUBG = "gnubg"
#: Numbers of plies that GNU Backgammon may look ahead.
GNUBG_PLIES = (0, 1, 2)

_DIGITS = bytes.maketrans(b"0123456789abcdef", bytes(range(16)))


def board(position: rules.Position) -> list[list[int]]:
    """Returns the position as `gnubg_nn` takes it: the other side's checkers, then the mover's.

    Each is a list of 25 counts, from the side's own ace point to its bar.
    """
    near, far, their_near, their_far, _ = position
    return [_counts(their_near, their_far), _counts(near, far)]


def _counts(near: int, far: int) -> list[int]:
    # a hexadecimal digit is a point; the last one, the checkers borne off, is dropped
    return list(f"{far << 52 | near:026x}".encode().translate(_DIGITS))[-2::-1]


def _module(name: str) -> Any:
    try:
        return importlib.import_module("gnubg_nn")
    except ImportError:
        raise ModuleNotFoundError(
            f"player {name}: expected gnubg_nn to be installed (pip install --pre gnubg-nn), found"
            " it is not"
        ) from None


@kernel
def _move_to(position: Any, roll: Any, target: Any, moves: Any) -> Any:
    """Returns the legal move that leads to a position, or -1."""
    count = rules.legal_moves(position, roll, moves)
    for i in range(count):
        after = rules.play(position, moves[i])
        if (
            after[0] == target[0]
            and after[1] == target[1]
            and after[2] == target[2]
            and after[3] == target[3]
        ):
            return moves[i]
    return -1


def _after(position: rules.Position, steps: Sequence[tuple[int, int]]) -> rules.Position:
    """Returns the position after checkers have moved between points; 25 is the bar, 0 is off."""
    near, far, their_near, their_far, side = position
    mine = [near & 15, *_counts(near, far)]
    theirs = [their_near & 15, *_counts(their_near, their_far)]
    for source, target in steps:
        mine[source] -= 1
        mine[target] += 1
        if target != rules.OFF and theirs[rules.BAR - target] == 1:
            theirs[rules.BAR - target] = 0
            theirs[rules.BAR] += 1
    if min(mine) < 0:
        raise MoveError(
            f"expected moves that begin on points with checkers, found {steps} in {position}"
        )
    return (*rules.packed(tuple(theirs)), *rules.packed(tuple(mine)), 1 - side)


@dataclass(frozen=True)
class GnubgNetworks:
    """`pubeval` or `gnubg` with its number of plies; called with a game, it returns a seat.

    It ignores the limits of a match.
    """

    name: str
    ply: int = 0
    #: It holds Python's lock while it thinks.
    blocks_threads: ClassVar[bool] = True

    def __call__(self, game: DiceGame, limits: Limits | None = None) -> _Seat:
        if str(self) not in [engine.player for engine in ExternalEngines.of(game).engines]:
            raise ValueError(f"player {self}: expected a game of backgammon, found {game.name}")
        return _Seat(self)

    def with_cube(self, game: DiceGame) -> GnubgCubeSeat:
        """Returns a seat of GNU Backgammon itself, with its own cube; errors as `Player.seat`."""
        if self.name == PUBEVAL:
            raise ValueError(f"player: with the cube expected chances of outcomes, found {self}")
        return GnubgCubeSeat(game, self.ply)

    def __str__(self) -> str:
        return self.name if self.name == PUBEVAL else f"{self.name}:{self.ply}"


class _Seat:
    """One of these engines at play."""

    def __init__(self, program: GnubgNetworks) -> None:
        self.program = program
        self._gnubg = _module(str(program))
        self._moves = np.zeros(rules.MOST_MOVES, dtype=np.int64)

    def begin(self, stream: int, side: int) -> None:
        """Nothing to do: there is no random choice."""

    def choose(self, position: rules.Position, roll: int) -> int:
        """Returns the engine's move; raises MoveError if that is illegal."""
        high, low = rules.ROLLS[roll]
        if self.program.name == PUBEVAL:
            # points count from 0, and -1 is off
            found = self._gnubg.pub_best_move(board(position), high, low)
            pairs = zip(found[::2], found[1::2], strict=True)
            steps = [(source + 1, max(target + 1, rules.OFF)) for source, target in pairs]
        else:
            steps = self._gnubg.best_move(board(position), high, low, self.program.ply)
        target = _after(position, steps)
        move = int(_move_to(position, roll, target, self._moves))
        if move < 0:
            raise MoveError(
                f"player {self.program}: expected a legal move with {high}{low} in {position},"
                f" found {steps}"
            )
        return move


def equity(position: rules.Position, ply: int = 0) -> float:
    """GNU Backgammon's equity for the side to move, before its roll; exact if the game is over."""
    value = float(rules.outcome(position))
    if value == value:
        return value
    return float(OUTCOMES.values(chances(position, ply)))


def chances(position: rules.Position, ply: int = 0) -> tuple[float, ...]:
    """Returns GNU Backgammon's chances of the five outcomes for the side to move."""
    return tuple(_module(f"{GNUBG}:{ply}").probabilities(board(position), ply))


def as_program(text: str) -> GnubgNetworks | None:
    """Returns the engine of that name, or None for another name.

    Raises ValueError if the number of plies is not in `GNUBG_PLIES`, and ModuleNotFoundError if
    `gnubg_nn` is not installed.
    """
    name, _, ply = text.partition(":")
    if text == PUBEVAL:
        program = GnubgNetworks(PUBEVAL)
    elif name == GNUBG:
        if ply not in map(str, GNUBG_PLIES):
            names = ", ".join(f"{GNUBG}:{n}" for n in GNUBG_PLIES)
            raise ValueError(f"player: expected one of {names}, found {text!r}")
        program = GnubgNetworks(GNUBG, int(ply))
    else:
        return None
    _module(text)
    return program


def gnubg_evaluator(game: DiceGame, ply: int = 0) -> Evaluator:
    """GNU Backgammon's equities as an evaluator: strong and slow.

    Raises ValueError for another game or ply, ModuleNotFoundError if it is not installed.
    """
    if f"{GNUBG}:0" not in [engine.player for engine in ExternalEngines.of(game).engines]:
        raise ValueError(f"player {GNUBG}: expected a game of backgammon, found {game.name}")
    as_program(f"{GNUBG}:{ply}")
    return PythonEvaluator(game, functools.partial(equity, ply=ply), name=f"{GNUBG}:{ply}")
