"""An evaluator as a bot in OpenSpiel's games: `openspiel:NAME`, or our game of the same name.

In OpenSpiel, our moves with several captures or with a double are several actions. So a move is
chosen once, by our search in our rules, and its actions are played one after the other. The package
is imported only for a bot.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from games.extras import extra
from games.openspiel import OpenSpiel
from play.players.seats import Seat

__all__ = ["OpenSpielChoice", "OpenSpielGame", "openspiel_bot"]


@dataclass(frozen=True)
class OpenSpielGame:
    """The reading of a state of OpenSpiel's game of the same name, an extra.

    position: `position(state, player)` returns our position, with a player (0 begins) to move.
    roll: `roll(state)` returns our roll of the dice; None in games without dice.
    """

    position: Callable[[Any, int], Any]
    roll: Callable[[Any], int] | None = None


def openspiel_bot(thinker: Seat) -> Any:
    """Returns a `pyspiel.Bot` that plays either side, within the limits of the thinker.

    It plays one game at a time, from OpenSpiel's start position. Raises ModuleNotFoundError if
    `pyspiel` is not installed.
    """
    base: Any = importlib.import_module("pyspiel").Bot
    choice = OpenSpielChoice(thinker)

    class Bot(base):  # type: ignore[misc]
        def __init__(self) -> None:
            base.__init__(self)

        def step(self, state: Any) -> int:
            return choice.action(state)

        def restart(self) -> None:
            choice.restart()

        def restart_at(self, state: Any) -> None:
            choice.restart()

        def inform_action(self, state: Any, player: int, action: int) -> None:
            pass  # each state holds all information

    return Bot()


class OpenSpielChoice:
    """Chooses actions in states of OpenSpiel; ValueError for a game without `OpenSpielGame`."""

    def __init__(self, thinker: Seat) -> None:
        self._same = thinker.game if isinstance(thinker.game, OpenSpiel) else None
        known = extra(thinker.game, OpenSpielGame)
        if known is None and self._same is None:
            raise ValueError(
                f"expected a game that OpenSpiel has too, such as checkers, found"
                f" {thinker.game.name}"
            )
        self.thinker = thinker
        if known is not None:
            self._position, self._roll = known.position, known.roll
        self._rest: list[tuple[list[int], int]] = []  # history and action of each step to come

    def restart(self) -> None:
        """Forget the game before."""
        self._rest = []
        self.thinker.forget()

    def action(self, state: Any) -> int:
        """Returns the action to take in a state in which a player decides."""
        if self._same is not None:
            position, roll = self._same.turn_in(state)
            return self._same.action_of(self.thinker.think(position, roll=roll).move)
        name = state.get_game().get_type().short_name
        if name != self.thinker.game.name:
            raise ValueError(f"expected a state of {self.thinker.game.name}, found one of {name}")
        history = list(state.history())
        if not self._rest or self._rest[0][0] != history:
            self._rest = self._plan(state, history)
        return self._rest.pop(0)[1]

    def _plan(self, state: Any, history: list[int]) -> list[tuple[list[int], int]]:
        """Returns the steps of the move to make, each with the history before it."""
        actions = state.legal_actions()
        if len(actions) == 1:
            return [(history, actions[0])]
        player = state.current_player()
        turns = dict(self._turns(state, player, ()))
        target = self._target(state, player)
        if target not in turns:
            # called in the middle of a move: choose among the positions still within reach
            target = min(turns, key=self._value)
        steps = turns[target]
        return [(history + list(steps[:i]), step) for i, step in enumerate(steps)]

    def _target(self, state: Any, player: int) -> Any:
        """Returns the position after the best move by a search; None without a legal move."""
        game: Any = self.thinker.game
        position = self._position(state, player)
        roll = None if self._roll is None else self._roll(state)
        if not (game.legal_moves(position) if roll is None else game.legal_moves(position, roll)):
            return None
        return game.play(position, self.thinker.think(position, roll=roll).move)

    def _value(self, position: Any) -> float:
        outcome = self.thinker.game.outcome(position)
        return self.thinker.think(position).value if outcome is None else outcome * 1e12

    def _turns(
        self, state: Any, player: int, before: tuple[int, ...]
    ) -> Iterator[tuple[Any, tuple[int, ...]]]:
        """The positions within reach in this turn, for the other side, each with its actions."""
        for action in state.legal_actions():
            child = state.child(action)
            steps = (*before, action)
            if not child.is_terminal() and child.current_player() == player:
                yield from self._turns(child, player, steps)
            else:
                yield self._position(child, 1 - player), steps
