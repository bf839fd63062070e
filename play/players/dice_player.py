"""Players of games with dice: static values, a search, moves by chance, or another program.

A player sits down in a seat, which is asked for one move after another: `choose(position, roll)`.
Depths are GNU Backgammon's plies: at depth 0 the positions after each legal move are valued; at
depth 1 each is searched over the other side's rolls and best replies; and so on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from games.contract import DiceGame
from play.dice import choice
from play.players.limits import check_depth
from search import Engine, Evaluator, Lookup, as_evaluator
from search.expectiminimax.move_filters import as_filters
from search.expectiminimax.static import StaticChoice
from search.lookups.database import DatabaseLookup

__all__ = ["DicePlayer", "DiceSeat", "parse_dice_player"]

RANDOM = "random"


class DiceSeat(Protocol):
    """Who makes the moves of one side; to be used by one thread at a time."""

    def begin(self, stream: int, side: int) -> None:
        """A new game: its stream of chance, and whether this side begins (0) or not (1)."""

    def choose(self, position: Any, roll: int) -> Any:
        """A legal move of a position that has one."""


@dataclass(frozen=True)
class DicePlayer:
    """Who plays: an evaluator with its lookup, or another program; neither plays at random.

    depth: where it is not None, the player's own, whatever that of the match. program: makes the
    seat of another program, which has a strength of its own. options: of the `Engine` that
    searches for it.
    """

    name: str
    evaluator: Evaluator | None = None
    lookup: Lookup | None = None
    depth: int | None = None
    program: Callable[[DiceGame], DiceSeat] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_depth(self.depth or 0)
        if self.program is not None and (self.evaluator, self.depth) != (None, None):
            raise ValueError(f"player {self.name}: expected an evaluator or a program, found both")
        if self.depth is not None and self.evaluator is None:
            raise ValueError(f"player {self.name}: expected an evaluator to search with")

    @property
    def static(self) -> bool:
        """Whether native code can play for it at depth 0."""
        return self.program is None

    def plies(self, depth: int) -> int:
        """How deep it looks in a match of that depth."""
        return depth if self.depth is None else self.depth

    def seat(self, game: DiceGame, depth: int) -> DiceSeat:
        """The player ready to play games, one at a time."""
        if self.program is not None:
            return self.program(game)
        if self.evaluator is None:
            return RandomSeat(game)
        if self.plies(depth) == 0:
            return StaticSeat(game, self.evaluator, self.lookup)
        return SearchSeat(game, self.evaluator, self.lookup, self.plies(depth), self.options)


class RandomSeat:
    """Any legal move, each as likely; the same turn of a stream has the same chance."""

    def __init__(self, game: DiceGame) -> None:
        self._game = game
        self.begin(0, 0)

    def begin(self, stream: int, side: int) -> None:
        """A new game."""
        self._stream, self._turn = stream, side

    def choose(self, position: Any, roll: int) -> Any:
        """A legal move."""
        moves = self._game.legal_moves(position, roll)
        move = moves[int(choice(self._stream, self._turn) * len(moves))]
        self._turn += 2
        return move


class StaticSeat(StaticChoice):
    """Depth 0: see `search.expectiminimax.static`."""

    def begin(self, stream: int, side: int) -> None:
        """Nothing is left to chance, nor remembered."""


class SearchSeat:
    """A search at a depth of 1 ply or more."""

    def __init__(
        self,
        game: DiceGame,
        evaluator: Evaluator,
        lookup: Lookup | None,
        depth: int,
        options: dict[str, Any],
    ) -> None:
        options = {"table_mib": 4.0, **options}
        self.engine: Any = Engine(game, evaluator, lookup=lookup, **options)
        self.depth = depth

    def begin(self, stream: int, side: int) -> None:
        """Forget the last game, so that games do not depend on those before."""
        self.engine.clear()

    def choose(self, position: Any, roll: int) -> Any:
        """The move that the search finds best."""
        return self._search(position, roll).move

    def worth(self, position: Any) -> float:
        """The value of a position for the side to move, before its roll, as deep."""
        return float(self._search(position, None).value)

    def _search(self, position: Any, roll: int | None) -> Any:
        result = self.engine.search(position, roll=roll, depth=self.depth)
        if result.interrupted:
            raise KeyboardInterrupt
        return result


def parse_dice_player(game: DiceGame, text: str) -> DicePlayer:
    """The player that a text names.

    `random`; an evaluator by its name or its file; `EVALUATOR+bearoff` with
    the bear-off databases; any of these evaluators with `@PLIES` at the end, to search as deep
    whatever the depth of the match, or `@PLIES:FILTERS`, with move filters of `search.FILTERS`;
    or, where `gnubg_nn` is installed, `pubeval`, `gnubg:0`, `gnubg:1` and `gnubg:2`.

    Raises ValueError, OSError or ModuleNotFoundError with what was expected and what was found.
    """
    from play.players.gnubg import as_program

    if text == RANDOM:
        return DicePlayer(RANDOM)
    program = as_program(text)
    if program is not None:
        return DicePlayer(text, program=program)
    name, depth, options = _split(text)
    if depth is not None and name == RANDOM:
        raise ValueError(f"player: expected EVALUATOR@PLIES, found {text!r}")
    evaluator, plus, lookup = name.rpartition("+")
    if not plus or lookup not in game.lookups:
        return DicePlayer(text, as_evaluator(game, name), depth=depth, options=options)
    database = DatabaseLookup(game, lookup)
    return DicePlayer(text, as_evaluator(game, evaluator), database, depth, options=options)


def _split(text: str) -> tuple[str, int | None, dict[str, Any]]:
    """Evaluator, depth and engine options of `EVALUATOR@PLIES:FILTERS`."""
    found = re.fullmatch(r"(.+)@([0-9]+)(?::(\w+))?", text)
    if found is None:
        return text, None, {}
    name, plies, filters = found.groups()
    if filters is not None:
        as_filters(filters)
    return name, int(plies), {} if filters is None else {"filters": filters}
