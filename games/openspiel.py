"""Games of OpenSpiel, as games in plain Python: `games.load("openspiel:NAME")`.

OpenSpiel (Lanctot et al. 2019) is imported only here, and only for such a game. Its players may
take several turns running, where sides here move in turn: then the other side passes in between.

With dice a move is the number of OpenSpiel's outcome of chance, or NONE, and the action after it,
or to pass: a side passes too where the dice let the other one decide.
"""

from __future__ import annotations

import functools
import importlib
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from games.contract import DiceGame, Game
from games.errors import PositionError, stripped
from games.features import Encoding
from games.features.walks import Squares
from games.kernels import kernel
from games.rolls import Rolls

__all__ = ["OpenSpiel", "OpenSpielDice", "SpielPosition", "game_of"]

#: The move of a side that OpenSpiel leaves out.
PASS = -1
#: Inputs for a number of the observation: the eighths between 0 and 1, then 1, 2, ... and at least
#: 8.
LEVELS = 8
#: The maximum count of numbers of an observation that are not 0.
MOST_INPUTS = 4096
#: The outcome of a turn without dice.
NONE = -1
#: Random games that show which dice a game has, and the most actions of each.
LOOKS, MOST_ACTIONS = 10, 1000
#: The word before the actions of a game that the second side began.
SECOND = "second"


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
        mine, theirs = (self.game, self.mover), (other.game, other.mover)
        return mine == theirs and self.actions == other.actions

    def __hash__(self) -> int:
        return hash(self.actions)

    def __reduce__(self) -> Any:
        return _replayed, (self.game, repr(self))

    def __repr__(self) -> str:
        return game_of(self.game).position_text(self)

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

    def write_squares(self, places: Any) -> int:
        """Write the state of each square for the side to move, and who it is; returns how many."""
        count = 0
        if self.state.is_terminal():
            return count
        planes, squares = game_of(self.game).planes
        numbers = np.abs(self.state.observation_tensor(self.mover))
        if planes == 1:  # numbers, not pieces
            numbers = np.minimum(np.ceil(numbers), LEVELS) == np.arange(1, LEVELS + 1)[:, None]
            planes = LEVELS
        pieces = numbers.reshape(planes, squares) > 0
        for square in np.flatnonzero(pieces.any(axis=0)):
            places[count] = squares * int(pieces[:, square].argmax()) + square
            count += 1
        if self.mover:
            places[count] = squares * planes
            count += 1
        return count


@kernel
def observation(position, places):  # type: ignore[no-untyped-def]
    """Write the inputs that OpenSpiel's observation of a position sets."""
    return position.write_inputs(places)


@kernel
def squares(position, places):  # type: ignore[no-untyped-def]
    """Write the inputs of n-tuples: the states of a position's squares, and the side to move."""
    return position.write_squares(places)


class OpenSpiel(Game):
    """A game of OpenSpiel for two, without chance, who see everything and play for the same stake.

    text: its name, with parameters in OpenSpiel's form, such as "breakthrough" or
        "go(board_size=9)".

    If its players see an observation tensor, its numbers are the encoding "observation". The
    encoding "squares" is for n-tuples: the state of a square is the first of the tensor's planes in
    which it is not 0; without planes each number is a square, whose state is its size. Raises
    ValueError for another kind of game, for an unknown one, and where OpenSpiel is not installed.
    """

    name = "openspiel"
    chance_mode = "DETERMINISTIC"

    def __init__(self, text: str) -> None:
        package, self._spiel = _loaded(text)
        kind, properties = package.GameType, self._spiel.get_type()
        fits = (
            properties.dynamics == kind.Dynamics.SEQUENTIAL
            and properties.information == kind.Information.PERFECT_INFORMATION
            and properties.utility == kind.Utility.ZERO_SUM
            and properties.chance_mode.name == self.chance_mode
            and self._spiel.num_players() == 2
        )
        if not fits:
            raise ValueError(
                "game: expected one of OpenSpiel's for two who move in turn, see everything and"
                f" play for the same stake, found {text}"
            )
        self._text = text
        self.name = f"openspiel:{text}"
        self.title = properties.long_name
        self.wins = (self._spiel.min_utility(), self._spiel.max_utility()) == (-1, 1)
        if properties.provides_observation_tensor:
            size = LEVELS * self._spiel.observation_tensor_size()
            most = min(size, MOST_INPUTS)
            shape = self._spiel.observation_tensor_shape()
            planes, rows, columns = shape if len(shape) == 3 else (1, 1, size // LEVELS)
            #: how many numbers the observation has of a square, and how many squares there are
            self.planes = planes, rows * columns
            states = planes if planes > 1 else LEVELS
            cells = Encoding("squares", rows * columns * states + 1, rows * columns + 1, squares)
            self.encodings = {
                "observation": Encoding("observation", size, most, observation),
                "squares": cells,
            }
            self.extras = (Squares(rows, columns, cells),)

    def __reduce__(self) -> Any:
        return game_of, (self._text,)

    def start(self) -> SpielPosition:
        return SpielPosition(self._text, (), 0, self._spiel.new_initial_state())

    def turn_in(self, state: Any) -> tuple[SpielPosition, int | None]:
        """Returns the position of a state of OpenSpiel in which a player decides, and the roll.

        Raises ValueError for a state of another game.
        """
        if str(state.get_game()) != str(self._spiel):
            raise ValueError(f"expected a state of {self._spiel}, found one of {state.get_game()}")
        return self._reached(state)

    def action_of(self, move: Any) -> int:
        """Returns OpenSpiel's action of a move."""
        return int(move)

    def _reached(self, state: Any) -> tuple[SpielPosition, int | None]:
        return self._after(state.history(), passes=True), None

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

    def legal_moves(self, position: SpielPosition) -> list[Any]:
        return _legal(position.state, position.mover)

    def play(self, position: SpielPosition, move: Any) -> SpielPosition:
        state = position.state
        after = state if move == PASS else state.child(move)
        return SpielPosition(self._text, (*position.actions, move), 1 - position.mover, after)

    def outcome(self, position: SpielPosition) -> float | None:
        state = position.state
        return float(state.returns()[position.mover]) if state.is_terminal() else None

    def to_move(self, position: SpielPosition) -> int:
        return position.mover

    def position_text(self, position: SpielPosition) -> str:
        return " ".join(map(str, position.actions)) or "start"

    def parse_position(self, text: str) -> SpielPosition:
        words = stripped(text).split()
        try:
            return self._after([int(word) for word in words if words != ["start"]])
        except ValueError as error:
            raise PositionError(
                f"expected the actions of {self.name} that lead to a position, or start, found"
                f" {text[:80]!r}: {error}"
            ) from None

    def move_text(self, position: SpielPosition, move: Any) -> str:
        if move == PASS:
            return "pass"
        state = position.state
        return " ".join(state.action_to_string(state.current_player(), move).split())

    def show(self, position: SpielPosition) -> str:
        return str(position.state)


class OpenSpielDice(OpenSpiel, DiceGame):
    """As `OpenSpiel`, with dice.

    Chance may decide who begins. In a game in which chance sets up the board, `start` is the first
    of OpenSpiel's set-ups, and a state of OpenSpiel may have another. Raises ValueError for a game
    whose chances change, such as one that turns up hidden pieces.
    """

    chance_mode = "EXPLICIT_STOCHASTIC"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        root = self._spiel.new_initial_state()
        while root.is_chance_node() and root.child(root.legal_actions()[0]).is_chance_node():
            root.apply_action(root.legal_actions()[0])
        self._setup = tuple(root.history())
        sides = {root.child(action).current_player() for action in root.legal_actions()}
        #: whether the first roll says who begins
        self._drawn = root.is_chance_node() and sides == {0, 1}
        chances = {
            tuple(chance for _, chance in state.chance_outcomes()) for state in self._looks()
        }
        first = self._begin(self._setup, 0)
        firsts = self._outcomes(first) if self._drawn else []
        if len(chances) != 1 or len(firsts) > len(rolls := chances.pop()):
            raise ValueError(f"game: expected dice that stay the same, found {text}")
        self.dice = Rolls(rolls)
        if self._drawn:
            one = [1 / len(firsts)] * len(firsts) + [0.0] * (len(rolls) - len(firsts))
            self.dice = Rolls(rolls, one, (first, self._begin(self._setup, 1)))

    def _looks(self) -> Any:
        """Yields states of random games in which there is chance, but not those of the set-up."""
        chance = random.Random(0)
        for _ in range(LOOKS):
            state = self._spiel.new_initial_state()
            for number in range(MOST_ACTIONS):
                if state.is_terminal():
                    break
                if state.is_chance_node() and number >= len(self._setup) + self._drawn:
                    yield state
                state.apply_action(chance.choice(state.legal_actions()))

    def _begin(self, setup: Sequence[int], side: int) -> SpielPosition:
        state = self._spiel.new_initial_state()
        for outcome in setup:
            if outcome not in state.legal_actions():
                raise ValueError(f"{outcome} is no outcome of the set-up")
            state.apply_action(outcome)
        return SpielPosition(self._text, tuple(setup), side, state)

    def _outcomes(self, position: SpielPosition) -> list[int]:
        """Returns the outcomes of the chance of a position by the number of the roll."""
        state, begins = position.state, len(position.actions) == len(self._setup)
        outcomes: list[int] = state.legal_actions()
        if begins and self._drawn:
            return [o for o in outcomes if state.child(o).current_player() == position.mover]
        return outcomes

    def start(self) -> SpielPosition:
        return self._begin(self._setup, 0)

    def legal_moves(
        self, position: SpielPosition, roll: int | None = None
    ) -> list[tuple[int, int]]:
        state, outcome = position.state, NONE
        if state.is_terminal():
            return []
        if state.is_chance_node():
            outcomes = self._outcomes(position)
            outcome = outcomes[(roll or 0) % len(outcomes)]
            state = state.child(outcome)
        decides = not state.is_terminal() and state.current_player() == position.mover
        return [(outcome, action) for action in (state.legal_actions() if decides else [PASS])]

    def play(self, position: SpielPosition, move: tuple[int, int]) -> SpielPosition:
        state = position.state
        for action in move:
            state = state if action < 0 else state.child(action)
        return SpielPosition(self._text, (*position.actions, *move), 1 - position.mover, state)

    def action_of(self, move: Any) -> int:
        return int(move[1])

    def _reached(self, state: Any) -> tuple[SpielPosition, int | None]:
        history = list(state.history())
        setup, left = history[: len(self._setup)], history[len(self._setup) :]
        position = self._begin(setup, 0)
        if self._drawn and left and left[0] not in self._outcomes(position):
            position = self._begin(setup, 1)
        while left or not position.state.is_chance_node():
            roll = 0
            if position.state.is_chance_node():
                roll = self._outcomes(position).index(left.pop(0))
            moves = self.legal_moves(position, roll)
            passes = moves and moves[0][1] == PASS
            if not (moves and (left or passes)):
                return position, roll
            move = moves[0] if passes else (moves[0][0], left.pop(0))
            position = self.play(position, move)
        return position, 0

    def position_text(self, position: SpielPosition) -> str:
        turns = (len(position.actions) - len(self._setup)) // 2
        begun = (position.mover + turns) % 2
        words = [SECOND] * begun + [*map(str, position.actions)]
        return "start" if position.actions == self._setup and not begun else " ".join(words)

    def parse_position(self, text: str) -> SpielPosition:
        words = stripped(text).split()
        begun = words[:1] == [SECOND]
        try:
            if begun and not self._drawn:
                raise ValueError("the first side begins")
            actions = list(self._setup) if words == ["start"] else [*map(int, words[begun:])]
            position = self._begin(actions[: len(self._setup)], int(begun))
            left = actions[len(self._setup) :]
            while left:
                move = left[0], *left[1:2]
                chances = position.state.is_chance_node()
                outcomes = self._outcomes(position) if chances else [NONE]
                if move[0] not in outcomes:
                    raise ValueError(f"{move[0]} is no outcome of the dice")
                if move not in self.legal_moves(position, outcomes.index(move[0])):
                    raise ValueError(f"{move[1:]} is no action after it")
                position, left = self.play(position, move), left[2:]
        except ValueError as error:
            raise PositionError(
                f"expected the outcomes and actions of {self.name} that lead to a position, or"
                f" start, found {text[:80]!r}: {error}"
            ) from None
        return position

    def move_text(self, position: SpielPosition, move: tuple[int, int]) -> str:
        outcome, action = move
        if action == PASS:
            return "pass"
        state = position.state if outcome < 0 else position.state.child(outcome)
        return " ".join(state.action_to_string(state.current_player(), action).split())


@functools.cache
def game_of(text: str) -> OpenSpiel:
    """Returns the game of a text, the same one each time; raises as `OpenSpiel` does."""
    package, spiel = _loaded(text)
    if spiel.get_type().chance_mode == package.GameType.ChanceMode.DETERMINISTIC:
        return OpenSpiel(text)
    return OpenSpielDice(text)


def _loaded(text: str) -> tuple[Any, Any]:
    """Returns OpenSpiel's package and its game of a text."""
    try:
        package: Any = importlib.import_module("pyspiel")
    except ModuleNotFoundError:
        raise ValueError(
            "game: expected OpenSpiel to be installed (pip install open_spiel), found none"
        ) from None
    try:
        if text.partition("(")[0] not in package.registered_names():  # it would print all of them
            raise RuntimeError("unknown game")
        return package, package.load_game(text)
    except (package.SpielError, RuntimeError) as error:
        reason = " ".join(str(error).partition(". Available")[0].split())[:200]
        raise ValueError(f"game: expected a game of OpenSpiel, found {text!r}: {reason}") from None


def _replayed(text: str, position: str) -> SpielPosition:
    return game_of(text).parse_position(position)


def _legal(state: Any, mover: int) -> list[int]:
    """Returns the moves of a side in a state: to pass, if the other moves again in OpenSpiel."""
    waits = not state.is_terminal() and state.current_player() == 1 - mover
    return [PASS] if waits else state.legal_actions()
