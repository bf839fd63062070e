"""The cube: match equities, equities with a cube, decisions; and exact endings as their measure."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from errors import errors_of

from benchmarks.cube_endings import endings
from games import PositionError, load
from games.backgammon.bear_off import rank, unrank
from games.backgammon.doubling import CubefulStakes, efficiencies, match_equities
from games.backgammon.rules import PROBABILITIES, START
from games.backgammon.situation import Situation, position_of

GAME: Any = load("backgammon")
CUBE = GAME.cube
#: Without gammons.
PLAIN = (0.0, 0.0, 0.0, 0.0)

plain = pytest.mark.plain


def outcomes(win: float, *others: float) -> tuple[float, ...]:
    return (win, *(others or PLAIN))


# --- chances to win a match -----------------------------------------------------------------------


@plain
def test_match_equities_are_those_of_rollouts_within_half_a_per_cent() -> None:
    """Kazaross's table of 2011 (GNU Backgammon's Kazaross-XG2.xml), in per cent, for the leader."""
    published = {
        1: (67.7, 75.1, 81.4, 84.2, 88.7, 90.7, 93.3, 94.4),
        2: (59.9, 66.9, 74.4, 79.9, 84.2, 87.5, 90.2),
        3: (57.1, 64.8, 71.1, 76.2, 80.5, 84.0),
        4: (57.7, 64.3, 69.9, 74.6, 78.8),
        5: (56.6, 62.6, 67.6, 72.2),
    }
    table = match_equities()
    for own, row in published.items():
        found = [100 * table.chance(own, n, crawford_over=False) for n in range(own + 1, 10)]
        assert found == pytest.approx(row, abs=0.5), own


@plain
def test_match_equities_after_the_crawford_game() -> None:
    """Those of the trailing side, which doubles at once; the leader has a free drop at 2 and 4."""
    table = match_equities()
    known = (50.0, 48.8, 32.3, 31.0, 19.0, 18.1)
    for lacking, percent in enumerate(known, 1):
        chance = table.chance(lacking, 1, crawford_over=True)
        assert abs(100 * chance - percent) < 0.5
        assert table.chance(1, lacking, crawford_over=True) == pytest.approx(1 - chance)
    assert table.chance(0, 3, crawford_over=True) == 1.0
    assert table.chance(2, -1, crawford_over=False) == 0.0
    with pytest.raises(ValueError, match="expected at most 25 points, found 26"):
        table.chance(26, 2, crawford_over=False)


# --- equities with a cube -------------------------------------------------------------------------


@plain
@pytest.mark.parametrize(
    ("live", "gammons", "take", "cash"),
    [
        (0.0, 0.0, 0.25, 0.75),  # the dead cube of the last roll
        (1.0, 0.0, 0.2, 0.8),  # the live cube of Keeler and Spencer
        (1.0, 1.0, 1.5 / 4.5, 3 / 4.5),  # every game a gammon, by Janowski's formulas
    ],
)
def test_take_points_for_money(live: float, gammons: float, take: float, cash: float) -> None:
    """A side takes where its equity with the doubled cube is that of a drop."""
    for chance, owner, value in ((take, 0, -1.0), (cash, None, 1.0)):
        shares = (chance * gammons, 0.0, (1 - chance) * gammons, 0.0)
        cube = 2 if owner == 0 else 1
        found = CubefulStakes().value([outcomes(chance, *shares)], cube, owner, live)[0]
        assert found == pytest.approx(value) or (owner is None and not live)


@plain
def test_equities_turn_round() -> None:
    """What a position is worth to one side is what it costs the other."""
    win, gammon, backgammon, lost_gammon, lost_backgammon = 0.6, 0.2, 0.01, 0.1, 0.005
    mine = [(win, gammon, backgammon, lost_gammon, lost_backgammon)]
    other = [(1 - win, lost_gammon, lost_backgammon, gammon, backgammon)]
    table = match_equities()
    for own, turned in ((0, 1), (1, 0), (None, None)):
        assert CubefulStakes().value(mine, 2, own, 0.68) == pytest.approx(
            -CubefulStakes().value(other, 2, turned, 0.68)
        )
        assert CubefulStakes.of_match(3, 6, table).value(mine, 2, own, 0.68) == pytest.approx(
            1 - CubefulStakes.of_match(6, 3, table).value(other, 2, turned, 0.68)
        )


#: Outcomes at 0 : 0 in a match to 7 points, and chances to win it without a double and after one
#: that is taken: of GNU Backgammon 1.08 at 2 plies, with its own match equity table.
GNU = [
    ((0.503635, 0.135264, 0.005951, 0.140890, 0.006297), 0.500296, 0.478995),
    ((0.529734, 0.167595, 0.006698, 0.126541, 0.005736), 0.509080, 0.492489),
    ((0.612449, 0.166305, 0.006654, 0.092971, 0.002273), 0.528272, 0.521986),
    ((0.626625, 0.185767, 0.013943, 0.103830, 0.003879), 0.533874, 0.528027),
    ((0.406016, 0.070976, 0.001178, 0.125659, 0.003322), 0.478341, 0.443768),
]


@plain
@pytest.mark.parametrize(("chances", "waiting", "taken"), GNU)
def test_match_values_are_near_those_of_gnu(chances: Any, waiting: float, taken: float) -> None:
    decision = CUBE.decision(Situation(START, match_length=7), chances)
    assert decision.chances is not None
    assert decision.chances[:2] == pytest.approx((waiting, taken), abs=0.003)


# --- decisions ------------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize(
    ("options", "chances", "action"),
    [
        ({}, outcomes(0.5), "no double, take"),
        ({}, outcomes(0.73), "double, take"),
        ({}, outcomes(0.85), "double, drop"),
        ({"cube": 2, "owner": 0}, outcomes(0.78), "redouble, take"),
        ({"cube": 2, "owner": 0}, outcomes(0.6), "no redouble, take"),
        ({}, outcomes(0.9, 0.7, 0.1, 0.0, 0.0), "too good, drop"),
        # by the Jacoby rule the gammons count after a double only
        ({"jacoby": True}, outcomes(0.9, 0.7, 0.1, 0.0, 0.0), "double, drop"),
        ({"beavers": True}, outcomes(0.3), "no double, beaver"),
        # after the Crawford game the trailing side has nothing to lose
        ({"match_length": 5, "score": (2, 4)}, outcomes(0.35), "double, take"),
        # the leader needs one point
        ({"match_length": 5, "score": (4, 2)}, outcomes(0.73), "no double, take"),
        ({"match_length": 2}, outcomes(0.55), "double, take"),
    ],
)
def test_decisions(options: Any, chances: Any, action: str) -> None:
    decision = CUBE.decision(Situation(START, **options), chances)
    assert decision.action == action, decision
    assert decision.reason
    assert decision.loss("double" if decision.double else "no double") == 0
    assert decision.loss(decision.answer) == 0
    assert decision.loss("no double" if decision.double else "double") >= 0
    assert decision.loss("drop" if decision.take else "take") >= 0


@plain
def test_the_take_point_of_a_match() -> None:
    """At 2-away, 2-away a take plays for the match, a drop leaves 1-away against 2-away."""
    table = match_equities()
    left = table.chance(2, 1, crawford_over=False)
    for win, answer in ((1 - left - 0.01, "take"), (1 - left + 0.01, "drop")):
        decision = CUBE.decision(Situation(START, match_length=2), outcomes(win))
        assert decision.answer == answer and decision.take_point == pytest.approx(left)


@plain
def test_who_may_double() -> None:
    assert CUBE.may_double(Situation(START)) and CUBE.may_double(Situation(START, cube=2, owner=0))
    assert CUBE.may_double(Situation(START, offered="double"))
    refused: tuple[dict[str, Any], ...] = (
        {"roll": 3},
        {"cube": 2, "owner": 1},
        {"match_length": 1},
        {"match_length": 3, "score": (2, 0), "crawford": True},
        {"offered": "beaver", "beavers": True},
        {"cube": 1024, "owner": 0},
    )
    for options in refused:
        situation = Situation(START, **options)
        assert not CUBE.may_double(situation)
        with pytest.raises(PositionError, match="expected"):
            CUBE.decision(situation, outcomes(0.5))
    offered = CUBE.decision(Situation(START, offered="double"), outcomes(0.85))
    assert offered == CUBE.decision(Situation(START), outcomes(0.85)) and not offered.take


# --- exact endings --------------------------------------------------------------------------------


def racing(own: int, theirs: int) -> Any:
    """Returns the position of two numbers of `rank`."""
    boards = [
        [unrank(number) >> 4 * p & 15 for p in range(7)] + [0] * 19 for number in (own, theirs)
    ]
    return position_of(boards[0], boards[1], 0)


def successors(number: int, roll: int) -> Iterator[int]:
    position = racing(number, 1)
    for move in GAME.legal_moves(position, roll):
        yield rank(GAME.play(position, move)[2])


@functools.cache
def slow(own: int, theirs: int, owner: int) -> float:
    """Returns the equity before a roll by recursion; owner 0 to move, 1 the other, 2 none."""
    value = 0.0
    for roll, chance in enumerate(PROBABILITIES):
        best = -9.0
        for after in successors(own, roll):
            best = max(best, 1.0 if after == 0 else -doubling(theirs, after, (1, 0, 2)[owner]))
        value += chance * best
    return value


def doubling(own: int, theirs: int, owner: int) -> float:
    rolling = slow(own, theirs, owner)
    return rolling if owner == 1 else max(rolling, min(1.0, 2 * slow(own, theirs, 1)))


def test_endings_are_those_of_plain_recursion() -> None:
    table = endings(2)
    for own in range(1, 20):
        for theirs in range(1, 20):
            for owner, equities in enumerate((table.own, table.theirs, table.middle)):
                assert equities[own, theirs] == pytest.approx(slow(own, theirs, owner))


@pytest.mark.thorough
def test_decisions_agree_with_exact_endings() -> None:
    """Both decisions over all endings of four checkers that are in doubt, and what errors cost."""
    table = endings(4)
    size = len(table.own)
    right, cost, count = np.zeros(3), 0.0, 0
    chance = random.Random(4)
    wins = _winning(size)
    while count < 1500:
        own, theirs = chance.randrange(1, size), chance.randrange(1, size)
        win = wins[own, theirs]
        if not 0.5 < win < 0.95:
            continue
        count += 1
        decision = CUBE.decision(Situation(racing(own, theirs)), outcomes(win))
        waiting, taken = table.middle[own, theirs], 2 * table.theirs[own, theirs]
        best = max(waiting, min(taken, 1.0))
        chosen = min(taken, 1.0) if decision.double else waiting
        right += decision.double == (min(taken, 1.0) > waiting), decision.take == (taken <= 1.0), 1
        cost += best - chosen
    assert right[0] / count > 0.96 and right[1] / count > 0.96
    assert cost / count < 0.002


def _winning(size: int) -> Any:
    from games.backgammon.bear_off_tables import build

    return 0.5 + 0.5 * build(checkers=4, both=4).equities[:size, :size].astype(float)


@plain
def test_the_cube_is_used_less_well_in_short_races() -> None:
    long = position_of([0] * 10 + [15] + [0] * 15, [0] * 10 + [15] + [0] * 15, 0)
    short = position_of([0, 2, 2] + [0] * 23, [0, 2, 2] + [0] * 23, 0)
    found = efficiencies([short, long, START])
    assert 0 < found[0] < found[1] < 1 and found[2] == 0.75


def test_an_engine_decides_about_the_cube() -> None:
    from search import Engine

    engine = Engine(GAME, "wide")
    decision = engine.cube(Situation(START), depth=0)
    assert decision.action == "no double, take" and abs(decision.no_double) < 0.3
    with pytest.raises(ValueError, match="chances of outcomes"):
        Engine(GAME, "hand").cube(Situation(START), depth=0)


test_errors = errors_of(globals())
