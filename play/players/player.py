"""Players of games with and without dice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from play.players.limits import STATIC, Limits
from play.players.seats import EvaluatorSeat, RandomSeat, SearchSeat, StaticSeat
from search import Evaluator, Lookup

__all__ = ["Player", "SeatMaker", "needs_processes"]


class SeatMaker(Protocol):
    """An external engine: called with a game and limits, it returns a seat."""

    def __call__(self, game: Any, limits: Limits, /) -> Any:
        """A new seat: a `Seat`, in games with dice a `DiceSeat`."""


@dataclass(frozen=True)
class Player:
    """A player: an evaluator, an external engine, or, with neither, random play.

    name: the player's name in results.
    evaluator: values positions for the player's search.
    lookup: consulted by the search before the evaluator.
    options: options of the `Engine` that searches.
    program: external engine that plays instead of an evaluator.
    limits: the player's own limits; None stands for the limits of the match.

    Raises ValueError if there are both an evaluator (or limits) and a program, or limits without an
    evaluator.
    """

    name: str
    evaluator: Evaluator | None = None
    lookup: Lookup | None = None
    options: dict[str, Any] = field(default_factory=dict)
    program: SeatMaker | None = None
    limits: Limits | None = None

    def __post_init__(self) -> None:
        if self.program is not None and (self.evaluator, self.limits) != (None, None):
            raise ValueError(f"player {self.name}: expected an evaluator or a program, found both")
        if self.limits is not None and self.evaluator is None:
            raise ValueError(f"player {self.name}: expected an evaluator to search with")

    @property
    def random(self) -> bool:
        """Whether the player plays any legal move."""
        return self.evaluator is None and self.program is None

    def within(self, limits: Limits) -> Limits:
        """Returns the player's limits in a match with `limits`: its own, or else those."""
        return limits if self.limits is None else self.limits

    def seat(self, game: Any, limits: Limits, *, table_mib: float | None = None) -> Any:
        """Returns a seat of the player, which plays games one at a time, in a match with `limits`.

        It is a `Seat`, in games with dice a `DiceSeat`.

        table_mib: size of the transposition table of the player's search; None for one that fits
            the limits.
        """
        if self.program is not None:
            return self.program(game, limits)
        limits = self.within(limits)
        table_mib = limits.table_mib if table_mib is None else table_mib
        options = {"lookup": self.lookup, "table_mib": table_mib, **self.options}
        if game.dice is None:
            return EvaluatorSeat(game, self.evaluator, limits, options)
        if self.evaluator is None:
            return RandomSeat(game)
        if limits == STATIC:
            return StaticSeat(game, self.evaluator, self.lookup)
        return SearchSeat(game, self.evaluator, limits, options)


def needs_processes(*players: Player) -> bool:
    """Returns whether a player is an external engine that blocks its process's other threads."""
    return any(getattr(player.program, "blocks_threads", False) for player in players)
