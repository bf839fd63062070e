"""Games of OpenSpiel, as games in plain Python: `games.load("openspiel:NAME")`.

OpenSpiel (Lanctot et al. 2019) is imported only here, and only for such a game. Its players may
take several turns running, where sides here move in turn: then the other side passes in between.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

from games.contract import Game
from games.errors import PositionError
from games.features import Encoding
from games.kernels import kernel

__all__ = ["OpenSpiel", "SpielPosition", "game_of"]

#: The move of a side that OpenSpiel leaves out.
PASS = -1
#: Inputs of a number of the observation: 0 < x < 1 by eighths, or 1, 2, ... and at least 8.
LEVELS = 8
#: Most numbers of an observation that are not 0.
MOST_INPUTS = 4096


class SpielPosition:
    """A position: the actions that led to it, passes among them, and the side to move.

    Positions are equal if the same actions led to them, since OpenSpiel's may depend on history.
    """

    __slots__ = ("actions", "game", "mover", "state")

    def __init__(self, game: str, actions: tuple[int, ...], mover: int, state: Any) -> None:
        self.game, self.actions, self.mover, self.state = game, actions, mover, state

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SpielPosition):
            return NotImplemented
        return (self.game, self.actions) == (other.game, other.actions)

    def __hash__(self) -> int:
        return hash(self.actions)

    def __repr__(self) -> str:
        return " ".join(map(str, self.actions)) or "start"

    def __reduce__(self) -> Any:
        return _replayed, (self.game, self.actions)

    def write_inputs(self, places: Any) -> int:
        """Write the inputs of the side to move that are 1, of its observation; returns how many."""
        count = 0
        if self.state.is_terminal():
            return count
        for number, value in enumerate(self.state.observation_tensor(self.mover)):
            if value:
                whole = min(int(abs(value)), LEVELS) - 1
                level = 1 + int((LEVELS - 1) * abs(value)) if whole < 0 else whole
                places[count] = LEVELS * number + level
                count += 1
        return count


@kernel
def observation(position, places):  # type: ignore[no-untyped-def]
    """Write the inputs that OpenSpiel's observation of a position sets."""
    return position.write_inputs(places)


class OpenSpiel(Game):
    """A game of OpenSpiel for two, without chance, who see everything and play for the same stake.

    text: its name, with parameters in OpenSpiel's form, such as "breakthrough" or
        "go(board_size=9)".

    Where its players see an observation tensor, its numbers are the encoding "observation". Raises
    ValueError for another kind of game, for an unknown one, and where OpenSpiel is not installed.
    """

    name = "openspiel"

    def __init__(self, text: str) -> None:
        try:
            package: Any = importlib.import_module("pyspiel")
        except ModuleNotFoundError:
            raise ValueError(
                "game: expected OpenSpiel to be installed (pip install open_spiel), found none"
            ) from None
        kind = package.GameType
        try:
            self._spiel = package.load_game(text)
        except (package.SpielError, RuntimeError) as error:
            reason = " ".join(str(error).partition(". Available")[0].split())[:200]
            raise ValueError(
                f"game: expected a game of OpenSpiel, found {text!r}: {reason}"
            ) from None
        found = self._spiel.get_type()
        fits = (
            found.dynamics == kind.Dynamics.SEQUENTIAL
            and found.information == kind.Information.PERFECT_INFORMATION
            and found.utility == kind.Utility.ZERO_SUM
            and found.chance_mode == kind.ChanceMode.DETERMINISTIC
            and self._spiel.num_players() == 2
        )
        if not fits:
            raise ValueError(
                "game: expected one of OpenSpiel's without chance, for two who move in turn, see"
                f" everything and play for the same stake, found {text}"
            )
        self._text = text
        self.name = f"openspiel:{text}"
        self.title = found.long_name
        self.wins = (self._spiel.min_utility(), self._spiel.max_utility()) == (-1, 1)
        if found.provides_observation_tensor:
            size = LEVELS * self._spiel.observation_tensor_size()
            most = min(size, MOST_INPUTS)
            self.encodings = {"observation": Encoding("observation", size, most, observation)}

    def __reduce__(self) -> Any:
        return game_of, (self._text,)

    def start(self) -> SpielPosition:
        return SpielPosition(self._text, (), 0, self._spiel.new_initial_state())

    def position(self, state: Any) -> SpielPosition:
        """Returns the position of a state of OpenSpiel; ValueError for one of another game."""
        if str(state.get_game()) != str(self._spiel):
            raise ValueError(f"expected a state of {self._spiel}, found one of {state.get_game()}")
        return self._after(state.history(), passes=True)

    def _after(self, actions: Sequence[int], *, passes: bool = False) -> SpielPosition:
        """Returns the position after actions; with `passes` they have none, and these are added.

        Raises ValueError for an action that is not legal.
        """
        state, mover, made, left = self._spiel.new_initial_state(), 0, list[int](), list(actions)
        while True:
            legal = _legal(state, mover)
            passing = passes and legal == [PASS]
            if not (left or passing):
                return SpielPosition(self._text, tuple(made), mover, state)
            action = PASS if passing else left.pop(0)
            if action not in legal:
                raise ValueError(f"{action} is not legal after {made}"[:80])
            if action != PASS:
                state.apply_action(action)
            made.append(action)
            mover = 1 - mover

    def legal_moves(self, position: SpielPosition) -> list[int]:
        return _legal(position.state, position.mover)

    def play(self, position: SpielPosition, move: int) -> SpielPosition:
        state = position.state
        after = state if move == PASS else state.child(move)
        return SpielPosition(self._text, (*position.actions, move), 1 - position.mover, after)

    def outcome(self, position: SpielPosition) -> float | None:
        state = position.state
        return float(state.returns()[position.mover]) if state.is_terminal() else None

    def to_move(self, position: SpielPosition) -> int:
        return position.mover

    def position_text(self, position: SpielPosition) -> str:
        return repr(position)

    def parse_position(self, text: str) -> SpielPosition:
        words = text.split()
        try:
            return self._after([int(word) for word in words if words != ["start"]])
        except ValueError as error:
            raise PositionError(
                f"expected the actions of {self.name} that lead to a position, or start, found"
                f" {text[:80]!r}: {error}"
            ) from None

    def move_text(self, position: SpielPosition, move: int) -> str:
        if move == PASS:
            return "pass"
        state = position.state
        return " ".join(state.action_to_string(state.current_player(), move).split())

    def show(self, position: SpielPosition) -> str:
        return str(position.state)


@functools.cache
def game_of(text: str) -> OpenSpiel:
    """Returns the game of a text, the same one each time; raises as `OpenSpiel` does."""
    return OpenSpiel(text)


def _replayed(text: str, actions: tuple[int, ...]) -> SpielPosition:
    return game_of(text)._after(actions)


def _legal(state: Any, mover: int) -> list[int]:
    """Returns the moves of a side in a state: to pass, where OpenSpiel lets the other one go on."""
    waits = not state.is_terminal() and state.current_player() == 1 - mover
    return [PASS] if waits else state.legal_actions()
