"""Endings of checkers: inputs by phase, and the positions of `benchmarks.endings`."""

from __future__ import annotations

import numpy as np
import pytest

import games
from games.board import Pieces
from games.checkers.encoding import PHASE_SQUARES, PIECE_SQUARES
from learner.positions.positions import standard_keys

CHECKERS = games.load("checkers")


@pytest.mark.plain
def test_every_phase_has_inputs_of_its_own() -> None:
    position = CHECKERS.parse_position("W:W32,31,30,29,28,K27,26,25,24,23:B1,2,3,4,5,6,7,8,9,K12")
    named = Pieces.of(CHECKERS)
    assert named.removals is not None
    pieces, phases = 20, [0] * 7 + [1] * 2 + [2] * 2 + [3] * 2 + [4] * 4 + [5] * 6
    while pieces > 3:
        places = PIECE_SQUARES.places(position)
        first = 128 * phases[pieces]
        assert PHASE_SQUARES.places(position) == [place + first for place in places]
        words = [named.input_text("piece_squares", place, position) for place in places]
        found = [named.input_text("phase_squares", place + first, position) for place in places]
        assert found == words
        position = next(iter(named.removals(position)))[2]
        pieces -= 1


def test_the_labelled_endings_are_what_they_say() -> None:
    from benchmarks.endings import RESULTS, SHARES, kind_of, known_positions, known_values

    pairs = known_positions()
    rows = np.array([position for _, position in pairs])
    assert len(np.unique(standard_keys(CHECKERS, rows))) == len(rows) == 1024
    for result in RESULTS:
        expected = sum(count for kind, count in SHARES.items() if kind[0] == result)
        assert sum(said == result for said, _ in pairs) == expected
    # those of four pieces by the database that is at hand
    values = known_values("endgame4", rows)
    known = np.flatnonzero(~np.isnan(values))
    assert len(known) > 40
    for i in known.tolist():
        kind = kind_of(pairs[i][1], values[i])
        assert kind is not None and kind[0] == pairs[i][0]
