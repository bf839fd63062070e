"""`Opponents`: the players that a game is usually played and measured against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.contract import Game
from games.extras import Extra

__all__ = ["Opponents", "reference", "usual_evaluator"]


@dataclass(frozen=True)
class Opponents(Extra):
    """The usual opponents of a game, an extra.

    usual: players that the result of a training run is measured against.
    pacemakers: players that its snapshots are measured against; () for the usual ones.
    shipped: the short name of the shipped evaluator that people play against; empty for none.
    openings: the short name of the shipped balanced openings of matches; empty for random ones.
    lookup: the database that `shipped` consults against people; empty for the usual one
        (`search.lookups.database.usual_lookup`).
    """

    usual: Sequence[str] = ("random",)
    pacemakers: Sequence[str] = ()
    shipped: str = ""
    openings: str = ""
    lookup: str = ""


def reference(game: Game) -> str:
    """Returns the hand-crafted evaluator that judges positions by default; empty without one.

    It is the last hand-crafted one among the usual opponents, else the game's first.
    """
    usual = [name for name in reversed(Opponents.of(game).usual) if name in game.evaluators]
    return next(iter([*usual, *game.evaluators]), "")


def usual_evaluator(game: Game) -> str:
    """Returns the default opponent of people, as `EVALUATOR` or `EVALUATOR+LOOKUP`.

    It is the game's shipped evaluator, or else that of `reference`. Raises ValueError if the game
    has no evaluators.
    """
    opponents = Opponents.of(game)
    if opponents.shipped and opponents.lookup:
        return f"{opponents.shipped}+{opponents.lookup}"
    name = opponents.shipped or reference(game)
    if not name:
        raise ValueError(
            f"{game.name} has no evaluator of its own: expected the name or file of an evaluator"
        )
    return name
