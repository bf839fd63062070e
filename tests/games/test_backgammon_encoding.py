"""Backgammon's network inputs and phases, against slow twins and hand-worked positions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from games.backgammon import rules
from games.backgammon.encoding import POINTS
from games.backgammon.phases import CONTACT, LONG, RACE, in_contact, phase
from games.backgammon.rules import START, packed
from games.kernels import uncompiled

pytestmark = pytest.mark.plain


def place(own, theirs=None, side=0):
    """Returns a position from {point: checkers} by each side's numbering; others are off."""
    boards = []
    for given in (own, own if theirs is None else theirs):
        counts = [given.get(point, 0) for point in range(26)]
        counts[0] = 15 - sum(counts[1:])
        boards += packed(tuple(counts))
    return (*boards, side)


def counts(position):
    """Returns the number of checkers of each side on points 0 to 25."""
    near, far, their_near, their_far, _ = position
    return tuple(
        tuple((low | high << 52) >> 4 * point & 15 for point in range(26))
        for low, high in ((near, far), (their_near, their_far))
    )


@pytest.fixture(scope="module")
def positions():
    """Returns every position of 40 random games, the finished ones included."""
    generator = random.Random(1979)
    moves = np.zeros(rules.MOST_MOVES, dtype=np.int64)
    found = []
    for _ in range(40):
        position = START
        while True:
            found.append(position)
            count = rules.legal_moves(position, generator.randrange(21), moves)
            if not count:
                break
            position = rules.play(position, int(moves[generator.randrange(count)]))
    return found


def inputs(position):
    """Returns the inputs as lists of 0 and 1, one after another."""
    found = []
    for side in counts(position):
        for on in side[1:25]:
            found += [on == 1, on >= 2, on >= 3, on >= 4, on >= 5, on >= 6]
        found += [side[25] >= least for least in range(1, 5)]
        found += [side[0] >= least for least in range(1, 16)]
    return found


def test_the_inputs_are_those_of_the_definition(positions):
    assert POINTS.size == 326
    dense = POINTS.dense(positions)
    assert np.array_equal(dense, np.array([inputs(position) for position in positions]))


def test_never_more_inputs_than_checkers_are_active(positions):
    full = place({1: 1}, {24: 1})  # 14 borne off and one left, on both sides
    assert len(POINTS.places(full)) == POINTS.most == 30
    rows = POINTS.active_rows([*positions, full])
    assert rows.shape == (len(positions) + 1, 30)


def test_phases_agree_with_a_slow_twin(positions):
    seen = set()
    for position in positions:
        own, theirs = counts(position)
        mine = [point for point in range(1, 26) if own[point]]
        others = [25 - point for point in range(1, 26) if theirs[point]]
        contact = any(a > b for a in mine for b in others)
        long = any(
            side[0] or not any(side[7:]) or sum(n > 1 for n in side[19:25]) > 1
            for side in (own, theirs)
        )
        expected = (LONG if long else CONTACT) if contact else RACE
        assert phase(position) == expected == uncompiled(phase)(position)
        assert in_contact(position) == contact
        other = (*position[2:4], *position[:2], 1 - position[4])
        assert phase(other) == expected
        seen.add(expected)
    assert seen == {CONTACT, LONG, RACE}
