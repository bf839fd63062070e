"""Outcomes of backgammon: hand-worked positions, a slow twin, and what random games reach."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from games import kernels
from games.backgammon import Backgammon
from games.backgammon.outcomes import OUTCOMES, confine, finished, turn
from games.backgammon.phases import phase
from games.backgammon.rules import MOST_MOVES, START, legal_moves, outcome, packed, play
from games.features import Outcomes, Phases
from games.tic_tac_toe import TicTacToe

pytestmark = pytest.mark.plain

Counts = dict[int, int]
GAMES = 1600 if kernels.compiled else 8


def board(own: Counts, theirs: Counts, *, off: int | None = None, their_off: int | None = None):
    """Returns a position from {point: checkers}, each side by its own numbering.

    Checkers missing from 15 are borne off or, beyond `off` and `their_off`, on the ace point.
    """
    halves: list[int] = []
    for given, out in ((own, off), (theirs, their_off)):
        counts = [given.get(point, 0) for point in range(26)]
        missing = 15 - sum(counts)
        counts[0] = missing if out is None else out
        counts[1] += missing - counts[0]
        assert sum(counts) == 15 and min(counts) >= 0
        halves += packed(tuple(counts))
    return (*halves, 0)


def counts_of(position: Any) -> tuple[list[int], list[int]]:
    """Returns the number of checkers of each side on points 0 to 25."""
    near, far, their_near, their_far, _ = position
    return tuple(
        [(low | high << 52) >> 4 * point & 15 for point in range(26)]
        for low, high in ((near, far), (their_near, their_far))
    )


def most_lost(own: list[int], theirs: list[int]) -> int:
    """Returns the most points that a side can still lose, from where its checkers are."""
    if own[0]:
        return 1
    farthest = max(point for point in range(26) if own[point])
    # the point in the other side's numbering; checkers ahead of it can hit it
    ahead = any(theirs[point] for point in range(26) if point > 25 - farthest)
    return 3 if farthest >= 19 or ahead else 2


def confined(position: Any, probabilities: Any) -> list[float]:
    found = np.array(probabilities, dtype=np.float64)
    assert confine(position, found) == 0
    return found.tolist()


def twin(position: Any, probabilities: Any) -> list[float]:
    """Returns the result of `confine`, computed slowly."""
    own, theirs = counts_of(position)
    win, gammon, backgammon, lost, badly = (min(max(p, 0.0), 1.0) for p in probabilities)
    gains, losses = most_lost(theirs, own), most_lost(own, theirs)
    gammon, lost = gammon if gains > 1 else 0.0, lost if losses > 1 else 0.0
    backgammon, badly = backgammon if gains > 2 else 0.0, badly if losses > 2 else 0.0
    gammon, lost = min(gammon, win), min(lost, 1.0 - win)
    return [win, gammon, min(backgammon, gammon), lost, min(badly, lost)]


def events(points: float) -> list[float]:
    """Returns the five probabilities, given the points that the side to move has won."""
    return [float(points > 0), float(points > 1), float(points > 2), float(points < -1),
            float(points < -2)]  # fmt: skip


def late_position(generator: random.Random) -> Any:
    """Returns a few checkers of each side anywhere, the bar included, the others at home or off."""
    while True:
        own: Counts = Counter()
        theirs: Counts = Counter()
        for counts, others in ((own, theirs), (theirs, own)):
            for _ in range(generator.randrange(1, 9)):
                point = generator.choice([*range(1, 26), 25])
                if others[25 - point] == 0 or point == 25:
                    counts[point] += 1
        if not own or not theirs:
            continue
        off = generator.choice([None, 0]), generator.choice([None, 0])
        if (off[0] == 0 and theirs[24]) or (off[1] == 0 and own[24]):
            continue  # the ace point is held by the other side
        if (off[0] == 0 and off[1] == 0) or generator.random() < 0.7:
            return board(own, theirs, off=off[0], their_off=off[1])


def random_game(position: Any, generator: random.Random) -> list[Any]:
    """Returns all positions of a random game from a position on; the last one is finished."""
    moves = np.zeros(MOST_MOVES, dtype=np.int64)
    positions = [position]
    while outcome(positions[-1]) != outcome(positions[-1]):
        count = legal_moves(positions[-1], generator.randrange(21), moves)
        positions.append(play(positions[-1], int(moves[generator.randrange(count)])))
    return positions


def some_games(seed: int, count: int) -> Iterator[list[Any]]:
    generator = random.Random(seed)
    for number in range(count):
        begin = START if number % 8 == 0 else late_position(generator)
        yield random_game(begin, generator)


# --- what can be ------------------------------------------------------------------------------

#: The start, races and contact, with checkers borne off and on the bar.
HAND_WORKED: list[Any] = [
    START,
    board({6: 14}, {24: 2, 6: 13}, their_off=0),
    board({6: 14}, {6: 14}),
    board({18: 1, 6: 14}, {6: 15}),
    board({24: 1, 3: 14}, {0: 0}, their_off=15),
    board({19: 2, 6: 13}, {5: 10, 4: 5}, their_off=0),
    board({18: 2, 6: 13}, {5: 10, 4: 5}, their_off=0),
    board({18: 2, 6: 13}, {8: 1, 5: 9, 4: 5}, their_off=0),
    board({2: 15}, {25: 1, 6: 14}, off=0, their_off=0),
    board({2: 14}, {25: 1, 6: 14}, their_off=0),
    board({12: 1, 6: 14}, {25: 1, 6: 13}, off=0),
]


def test_probabilities_that_contradict_one_another() -> None:
    for given, expected in (
        ([0.5, 0.2, 0.1, 0.15, 0.05], [0.5, 0.2, 0.1, 0.15, 0.05]),  # these do not
        ([0.3, 0.4, 0.5, 0.8, 0.9], [0.3, 0.3, 0.3, 0.7, 0.7]),
        ([1.5, 1.2, -0.1, 0.5, 0.4], [1.0, 1.0, 0.0, 0.0, 0.0]),
        ([-0.5, 0.5, 0.5, 2.0, 2.0], [0.0, 0.0, 0.0, 1.0, 1.0]),
        ([0.6, 0.1, 0.2, 0.3, 0.35], [0.6, 0.1, 0.1, 0.3, 0.3]),
    ):
        assert confined(START, given) == expected
        assert confined(START, expected) == expected


def test_confine_is_its_twin() -> None:
    generator = random.Random(3)
    kinds: Counter[tuple[int, int]] = Counter()
    for game in some_games(11, GAMES // 4):
        for position in [*game[:-1:3], generator.choice(HAND_WORKED)]:
            probabilities = [generator.uniform(-0.3, 1.3) for _ in range(5)]
            assert confined(position, probabilities) == twin(position, probabilities)
            own, theirs = counts_of(position)
            kinds[most_lost(own, theirs), most_lost(theirs, own)] += 1
    if kernels.compiled:
        assert len(kinds) == 9  # every combination occurred


def test_what_cannot_be_never_comes() -> None:
    """The outcome of a game must be possible at every position on the way."""
    ends: Counter[float] = Counter()
    forbidden: Counter[tuple[int, int]] = Counter()
    for game in some_games(12, GAMES):
        points = outcome(game[-1])
        ends[abs(points)] += 1
        for position in reversed(game):
            truth = events(points)
            assert confined(position, truth) == truth, (position, points)
            for lost in (False, True):
                able = sum(confined(position, [0, 0, 0, 1, 1] if lost else [1, 1, 1, 0, 0]))
                forbidden[int(lost), round(able)] += 1
            points = -points
    if kernels.compiled:
        assert min(ends[1.0], ends[2.0], ends[3.0]) > 20  # every kind of outcome occurred often
        assert all(forbidden[key] > 100 for key in ((0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)))


# --- whose, and what was ----------------------------------------------------------------------


def test_turn() -> None:
    probabilities = np.array([0.7, 0.2, 0.05, 0.1, 0.01])
    assert turn(probabilities) == 0
    assert probabilities.tolist() == [1 - 0.7, 0.1, 0.01, 0.2, 0.05]
    turn(probabilities)
    assert np.allclose(probabilities, [0.7, 0.2, 0.05, 0.1, 0.01])
    for points in (-3, -2, -1, 1, 2, 3):
        turned = np.array(events(points))
        turn(turned)
        assert turned.tolist() == events(-points)


@pytest.mark.parametrize(
    ("theirs", "their_off", "points"),
    [
        ({6: 14}, None, 1),  # one borne off
        ({25: 1, 6: 13}, None, 1),  # then the one on the bar does no harm
        ({18: 5, 6: 10}, 0, 2),
        ({19: 1, 6: 14}, 0, 3),
        ({25: 1, 6: 14}, 0, 3),
    ],
)
def test_finished(theirs: Counts, their_off: int | None, points: int) -> None:
    won = board({}, theirs, their_off=their_off)
    lost = (*won[2:4], *won[:2], 0)
    for position, value in ((won, points), (lost, -points)):
        found = np.full(5, 0.5)
        assert finished(position, found) == 0
        assert found.tolist() == events(value) == confined(position, events(value))
        assert OUTCOMES.values(found) == value == outcome(position)


# --- the contract -----------------------------------------------------------------------------


def test_values() -> None:
    assert len(OUTCOMES) == 5
    assert OUTCOMES.values([0.5, 0, 0, 0, 0]) == 0.0
    # -1 + 2 * 0.6 + 0.2 + 0.1 - 0.15 - 0.05
    assert OUTCOMES.values([0.6, 0.2, 0.1, 0.15, 0.05]) == pytest.approx(0.3)
    rows: NDArray[np.float64] = np.array([events(points) for points in (-3, -2, -1, 1, 2, 3)])
    assert OUTCOMES.values(rows).tolist() == [-3, -2, -1, 1, 2, 3]
    assert OUTCOMES.values(rows.reshape(2, 3, 5)).shape == (2, 3)
    assert Backgammon().outcomes is OUTCOMES and TicTacToe().outcomes is None


def test_what_are_no_outcomes() -> None:
    parts: dict[str, Any] = {"confine": confine, "turn": turn, "finished": finished, "base": 0.0}
    Outcomes(("win",), (1.0,), **parts)
    for names, worth in (((), ()), (("win",), ()), (("win", "loss"), (1.0,))):
        with pytest.raises(ValueError, match="outcomes: expected a name for each payoff, found"):
            Outcomes(names, worth, **parts)
    for part in ("confine", "turn", "finished"):
        with pytest.raises(TypeError, match=f"outcomes: expected {part} to be a function marked"):
            Outcomes(("win",), (1.0,), **{**parts, part: lambda *_: 0})


def test_what_are_no_phases() -> None:
    assert len(Phases(("all", "none"), phase)) == 2
    with pytest.raises(ValueError, match="phases: expected at least one name, found none"):
        Phases((), phase)
    with pytest.raises(TypeError, match="phases: expected functions marked with @kernel"):
        Phases(("all",), lambda position: 0)
