"""An evaluator as a bot in OpenSpiel's games of checkers and backgammon.

In OpenSpiel a move with several captures, or with a double, takes several actions. So a move is
chosen once, by our search in our rules, and its actions are played one after the other. The package
is imported only for a bot.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from games.backgammon.situation import position_of, roll_of
from games.checkers.notation import parse_position
from play.players.thinker import Thinker

__all__ = ["OpenSpielChoice", "backgammon_position", "checkers_position", "openspiel_bot"]


def openspiel_bot(thinker: Thinker) -> Any:
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
    """Chooses actions in states of OpenSpiel's checkers or backgammon; ValueError for others."""

    def __init__(self, thinker: Thinker) -> None:
        readers = {"checkers": checkers_position, "backgammon": backgammon_position}
        if thinker.game.name not in readers:
            raise ValueError(f"expected checkers or backgammon, found {thinker.game.name}")
        self.thinker = thinker
        self._position: Callable[[Any, int], Any] = readers[thinker.game.name]
        self._rest: list[tuple[list[int], int]] = []  # history and action of each step to come

    def restart(self) -> None:
        """Forget the game before."""
        self._rest = []
        self.thinker.forget()

    def action(self, state: Any) -> int:
        """Returns the action to take in a state in which a player decides."""
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
        roll = _roll(state) if game.name == "backgammon" else None
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


def checkers_position(state: Any, player: int) -> Any:
    """Our position of a state of OpenSpiel's checkers, with a player (0 is Black) to move.

    OpenSpiel's first player sits at rank 1 and ours at the top, so the board is turned by 180°.
    """
    lines = str(state).splitlines()[:8]
    pieces: dict[str, list[str]] = {"B": [], "W": []}
    kinds = {"o": ("B", ""), "8": ("B", "K"), "+": ("W", ""), "*": ("W", "K")}
    for rank in range(8):
        for file in range(8):
            sign = lines[7 - rank][1 + file]
            if sign in kinds:
                colour, king = kinds[sign]
                pieces[colour].append(f"{king}{4 * rank + (7 - file) // 2 + 1}")
    text = f"{'BW'[player]}:W{','.join(pieces['W'])}:B{','.join(pieces['B'])}"
    return parse_position(text)


def backgammon_position(state: Any, player: int) -> Any:
    """Our position of a state of OpenSpiel's backgammon, with a player (0 is X) to move.

    An observation holds, for X and then for O, four numbers for each of 24 points (whether there
    are 1, 2 or 3 checkers, and the number beyond 3); then bar, borne off and turn for X and for O;
    then the dice.
    """
    seen = [int(number) for number in state.observation_tensor(0)]
    boards = []
    for side in (0, 1):
        counts = [0] * 26
        for index in range(24):
            one, two, three, more = seen[96 * side + 4 * index :][:4]
            point = index + 1 if side else 24 - index
            counts[point] = one + 2 * two + 3 * three + (more + 3 if more else 0)
        counts[25] = seen[192 + 3 * side]
        boards.append(counts)
    return position_of(boards[player], boards[1 - player], player)


def _roll(state: Any) -> int:
    first, second = (int(number) for number in state.observation_tensor(0)[198:200])
    return roll_of(first, second)
