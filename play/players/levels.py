"""Levels: opponents for people, from a beginner's strength to the strongest, by name.

A level is one more name of a player, `level1` and so on, which stands for a text in the grammar of
players. Levels differ by the evaluator's terms, by the positions searched and by errors. An error
depends only on the position (`search.evaluators.noise`). So a level always plays the same move in a
position, and costlier mistakes are rarer. Only the strongest is limited by time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.contract import Game
from games.extras import Extra
from play.players.opponents import reference, usual_evaluator

__all__ = ["Levels", "levels_of", "usual_level"]

#: The levels of a game that lists none, by its usual evaluator `{}`.
GENERIC = (
    "{}@1,noise=3",
    "{}@1,noise=1",
    "{}@2,noise=0.5",
    "{}@nodes=200,noise=0.2",
    "{}@nodes=2000",
)
#: The levels of a game with dice that lists none.
GENERIC_DICE = ("{}@0,noise=4", "{}@0,noise=2", "{}@0,noise=1", "{}@0,noise=0.5", "{}@0,noise=0.2")


@dataclass(frozen=True)
class Levels(Extra):
    """The levels of a game below the strongest, an extra.

    below: players, weakest first. Default: `GENERIC` or `GENERIC_DICE`.
    """

    below: Sequence[str] = ()


def levels_of(game: Game) -> dict[str, str]:
    """Returns the players of a game's levels by name, weakest first; empty without evaluators.

    The strongest is the usual evaluator with the limits of the match. The others have limits of
    their own.
    """
    if not game.evaluators:
        return {}
    generic = GENERIC_DICE if game.dice else GENERIC
    below = Levels.of(game).below or [text.format(reference(game)) for text in generic]
    return {f"level{n}": text for n, text in enumerate([*below, usual_evaluator(game)], 1)}


def usual_level(game: Game) -> str:
    """Returns the name of the middle level, people's default opponent; empty without levels."""
    names = list(levels_of(game))
    return names[(len(names) - 1) // 2] if names else ""
