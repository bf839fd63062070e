"""Players of games with and without dice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from play.players.limits import Limits
from play.players.seats import Seat
from search import Evaluator, Lookup

__all__ = ["Player", "SeatMaker", "needs_processes"]


class SeatMaker(Protocol):
    """An external engine: called with a game and limits, it returns a seat."""

    def __call__(self, game: Any, limits: Limits, /) -> Any:
        """A new seat, with `begin` and `stop` as `play.players.seats.Seat` has them.

        It makes moves by `move(record)`, in games with dice by `choose(position, roll)`.
        """


@dataclass(frozen=True)
class Player:
    """A player: an evaluator, an external engine, or random play if it has neither.

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
        """Returns the player's own limits, or else `limits`, those of the match."""
        return limits if self.limits is None else self.limits

    def seat(self, game: Any, limits: Limits, *, cube: bool = False, **options: Any) -> Any:
        """Returns a seat of the player, which plays games one at a time, in a match with `limits`.

        External engines have seats of their own classes, all others a `Seat`.

        cube: whether it is asked for decisions about the cube, and for moves at the score.
        options: options of the engine. Default: a transposition table that fits the limits.

        Raises ValueError with the cube if the player gives no chances of the game's outcomes, and
        ModuleNotFoundError if GNU Backgammon must be installed and is not.
        """
        if cube and self.program is not None and hasattr(self.program, "with_cube"):
            return self.program.with_cube(game)
        if cube and (self.evaluator is None or not self.evaluator.gives_outcomes):
            raise ValueError(
                f"player: with the cube expected an evaluator that gives the chances of outcomes,"
                f" found {self.name}"
            )
        if self.program is not None:
            return self.program(game, limits)
        limits = self.within(limits)
        options = {"table_mib": limits.table_mib, **options, **self.options}
        return Seat(game, self.name, self.evaluator, limits, lookup=self.lookup, **options)


def needs_processes(*players: Player) -> bool:
    """Returns whether a player is an external engine that blocks its process's other threads."""
    return any(getattr(player.program, "blocks_threads", False) for player in players)
