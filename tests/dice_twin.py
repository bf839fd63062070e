"""Games with dice on which searches are tested, and slow and obvious twins of these searches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from games.backgammon import Backgammon
from games.backgammon.rules import checkers
from games.contract import DiceGame, Rules
from games.kernel_game import KernelDiceGame
from games.kernels import kernel, product
from games.kernels.memory import native_function, read_position
from games.kernels.vectors import stack_block
from games.rolls import Rolls
from search import Evaluator, KernelEvaluator, MoveFilters

BACKGAMMON = Backgammon()


# --- backgammon by pips --------------------------------------------------------------------------


@kernel
def race_value(position):
    """Returns the lead in pips, distorted a little so that few positions have equal values."""
    near, far, their_near, their_far, _ = position
    total = 0.0
    for point in range(1, 26):
        total += checkers(their_near, their_far, point) * (point + 0.001 * point * point)
        total -= checkers(near, far, point) * (point + 0.0013 * point * point)
    return min(max(total / 60.0, -2.9), 2.9)


@kernel
def race_outcomes(position, probabilities):
    """Write five probabilities whose value is near `race_value`, before they are confined."""
    value = race_value(position)
    win = 0.5 + value / 6.0
    probabilities[0] = win
    probabilities[1] = win * win
    probabilities[2] = win * win * win / 2
    probabilities[3] = (1.0 - win) * (1.0 - win)
    probabilities[4] = (1.0 - win) * (1.0 - win) * (1.0 - win) / 3


CONFINE = BACKGAMMON.outcomes.confine  # type: ignore[union-attr]


class Race(KernelEvaluator):
    """An evaluator that declares its bounds."""

    bounds = (-3.0, 3.0)


VALUE = "-1.0 + 2.0 * p[0] + p[1] + p[2] - p[3] - p[4]"


class RaceOutcomes(Evaluator):
    """An evaluator that returns five probabilities, and the value that follows from them."""

    game = BACKGAMMON
    name = "race outcomes"
    gives_outcomes = True
    bounds = (-3.0, 3.0)
    scope: Mapping[str, Any] = {
        "found": race_outcomes,
        "confine": CONFINE,
        "stack_block": stack_block,
    }

    def native(self, fail: Any) -> tuple[int, int, Any]:
        text = f"""
def value_at(data, source):
    position = {read_position(5)}
    p = array_at(float64_pointer(stack_block(40)), (5,))
    found(position, p)
    confine(position, p)
    return {VALUE}
"""
        return native_function("value_at", text, self.scope, "float64(int64, int64)"), 0, None

    def native_outcomes(self) -> tuple[int, int, Any]:
        text = f"""
def outcomes_at(data, source, target):
    position = {read_position(5)}
    p = array_at(float64_pointer(target), (5,))
    found(position, p)
    confine(position, p)
    return 0
"""
        signature = "int64(int64, int64, int64)"
        return native_function("outcomes_at", text, self.scope, signature), 0, None

    def plain(self) -> Callable[[Any], float]:
        return lambda position: float(eval(VALUE, {"p": self.outcomes([position])[0].tolist()}))

    def outcomes(self, positions: Any) -> Any:
        result = np.zeros((len(positions), 5))
        for position, probabilities in zip(positions, result, strict=True):
            race_outcomes(tuple(position), probabilities)
            CONFINE(tuple(position), probabilities)
        return result


RACE = Race(BACKGAMMON, race_value, name="race")
RACE_OUTCOMES = RaceOutcomes()


# --- a small game in which many lines meet -------------------------------------------------------

LEVELS, PLACES = 7, 4


@kernel
def number(seed, level, place, salt):
    """Returns pseudorandom bits."""
    mixed = product(seed * 8191 + level * 127 + place * 31 + salt + 1, 0x1E3779B97F4A7C15)
    mixed = product(mixed ^ (mixed >> 29) & 0x7FFFFFFFF, 0x3C79AC492BA7B653)
    return (mixed >> 33) & 0xFFFF


@kernel
def lattice_value(position):
    """Returns one of few values, so that many positions have equal values."""
    seed, level, place = position
    return (number(seed, level, place, 50) % 9 - 4) / 2.0


@kernel
def lattice_outcome(position):
    """Returns a value at the last level and at a few positions before it."""
    seed, level, place = position
    if level == LEVELS or (level > 1 and number(seed, level, place, 40) % 13 == 0):
        return (number(seed, level, place, 60) % 9 - 4) / 2.0
    return float("nan")


@kernel
def lattice_moves(position, roll, moves):
    """Write one to three of the places of the next level."""
    seed, level, place = position
    if lattice_outcome(position) == lattice_outcome(position):
        return 0
    count = 1 + number(seed, level, place, 7 + roll) % 3
    first = number(seed, level, place, 17 + roll) % PLACES
    for i in range(count):
        moves[i] = (first + i) % PLACES
    return count


@kernel
def lattice_play(position, move):
    """Returns the position at a place of the next level."""
    seed, level, _ = position
    return seed, level + 1, move


@kernel
def lattice_order(position):
    """Returns values that differ from `lattice_value`, as a cheap evaluator's may."""
    seed, level, place = position
    return number(seed, level, place, 70) % 5 - 2.0


class Lattice(KernelDiceGame):
    """Positions (seed, level, place) with rolls of unequal probability, one of them 0."""

    name = "lattice"
    wins = False
    dice = Rolls((0.5, 0.25, 0.0, 0.25))
    rules = Rules(legal_moves=lattice_moves, play=lattice_play, outcome=lattice_outcome)
    most_moves = 4

    def __init__(self, seed: int) -> None:
        self.start_position = (seed, 0, 0)
        super().__init__()

    def to_move(self, position: Any) -> int:
        return position[1] % 2


class PlainFace(DiceGame):
    """A game written as kernels, presented as a game in plain Python."""

    def __init__(self, game: DiceGame) -> None:
        self.name, self.version, self.wins = game.name, game.version, game.wins
        self.dice, self.outcomes = game.dice, game.outcomes
        for name in ("start", "legal_moves", "play", "outcome", "to_move"):
            setattr(self, name, getattr(game, name))


class Bounded(KernelEvaluator):
    """An evaluator of the lattice."""

    bounds = (-2.0, 2.0)


# --- positions and twins -------------------------------------------------------------------------


def played(game: DiceGame, seed: int, count: int, turns: int = 80) -> Iterator[tuple[Any, int]]:
    """Returns unfinished positions, each from a different random game, with a roll."""
    generator = random.Random(seed)
    for _ in range(count):
        position = game.start()
        for _ in range(generator.randrange(turns)):
            roll = generator.randrange(len(game.rolls))
            after = game.play(position, generator.choice(game.legal_moves(position, roll)))
            if game.outcome(after) is not None:
                break
            position = after
        yield position, generator.randrange(len(game.rolls))


class DiceTwin:
    """Expectiminimax with filters, and with nothing else but a memory of values it returned."""

    def __init__(
        self,
        game: DiceGame,
        evaluate: Callable[[Any], float],
        filters: MoveFilters | None = None,
    ) -> None:
        self.game = game
        self.evaluate = evaluate
        self.filters = filters or MoveFilters()
        self.known: dict[Any, float] = {}

    def value(self, position: Any, depth: int) -> float:
        """Returns the value of a position before its roll."""
        if (position, depth) not in self.known:
            self.known[position, depth] = self._value(position, depth)
        return self.known[position, depth]

    def _value(self, position: Any, depth: int) -> float:
        outcome = self.game.outcome(position)
        if outcome is not None:
            return outcome
        if depth == 0:
            return self.evaluate(position)
        total = 0.0
        for roll, chance in enumerate(self.game.rolls):
            if chance > 0:
                moves = self.replies(position, roll, depth)
                total += chance * max(self.after(position, move, depth - 1) for move in moves)
        return total

    def after(self, position: Any, move: Any, depth: int) -> float:
        """Returns the value of a move, with the position after it searched to `depth`."""
        return -self.value(self.game.play(position, move), depth)

    def replies(self, position: Any, roll: int, depth: int) -> list[Any]:
        """Returns the moves with a roll that pass the filters."""
        moves = self.game.legal_moves(position, roll)
        if depth == 1 or self.filters.replies is None:
            return moves
        return _kept(
            moves, [self.after(position, move, 0) for move in moves], *self.filters.replies
        )

    def moves(self, position: Any, roll: int, depth: int) -> list[tuple[Any, float]]:
        """Returns every legal move with its value, best first; no filter applies at the root."""
        moves = self.game.legal_moves(position, roll)
        values = [(move, self.after(position, move, depth)) for move in moves]
        return sorted(values, key=lambda item: -item[1])

    def decide(self, position: Any, roll: int, depth: int) -> tuple[Any, float]:
        """Returns the best move and its value, with filters at the root as well."""
        order = self.game.legal_moves(position, roll)
        moves = list(order)
        for d in range(depth + 1):
            moves.sort(key=lambda move: (-self.after(position, move, d), order.index(move)))
            keep = self.filters.moves[d] if d < len(self.filters.moves) else None
            if keep is not None and d < depth:
                moves = _kept(moves, [self.after(position, move, d) for move in moves], *keep)
        return moves[0], self.after(position, moves[0], depth)


def _kept(moves: list[Any], promises: list[float], keep: int, margin: float) -> list[Any]:
    ranked = sorted(range(len(moves)), key=lambda i: -promises[i])[:keep]
    return [moves[i] for i in ranked if promises[i] >= promises[ranked[0]] - margin]
