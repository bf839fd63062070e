"""Time control by a clock of the test's own: which iterations are begun, and which go on."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from marks import compiled_only
from twin import random_positions

import games
from search import Engine
from search.time_control import Allowance, TimeControl

CHECKERS = games.load("checkers")
UNIT = 2.0


class Told:
    """A search whose iterations end when the test says so."""

    def __init__(self, usual: float = 1.0, most: float = 4.0) -> None:
        self.line: Any = SimpleNamespace(
            completed=0, failed_low=0, root_count=3, depth_value=[0.0] * 99, depth_move=[0] * 99,
            settled_values=[0.0, -0.1, -0.2],
        )  # fmt: skip
        self.control = TimeControl(Allowance(usual, most), self.line, UNIT)

    def after(
        self, seconds: float, *, move: int = 7, value: float = 0.0, lead: float = 0.1
    ) -> bool:
        """An iteration has ended at that time; returns whether to stop."""
        line = self.line
        line.completed += 1
        line.depth_move[line.completed] = move
        line.depth_value[line.completed] = value
        line.settled_values[:] = [value, value - lead, value - lead - 1]
        return self.control.enough(seconds)


def test_an_iteration_that_cannot_end_is_not_begun() -> None:
    told = Told()
    assert not told.after(0.1)
    assert not told.after(0.3)  # it took twice as long: the next one until 0.7
    assert told.after(0.62)  # 0.32 s, 1.6 times as long: until 1.13
    other = Told()
    assert [other.after(0.1), other.after(0.2), other.after(0.4)] == [False, False, False]
    # a growth of 10 counts as 4, and one below 1.3 as 1.3
    slow = Told()
    assert [slow.after(0.01), slow.after(0.11)] == [False, False]
    assert [slow.control.enough(t) for t in (0.5, 0.99, 1.0)] == [False, False, True]


def test_a_new_move_and_a_fall_get_more_time() -> None:
    for change, until in (({}, 1.0), ({"move": 8}, 1.5), ({"value": -0.3 * UNIT}, 2.5)):
        told = Told()
        assert not told.after(0.2)
        assert not told.after(0.4, **change)
        assert not told.control.enough(until - 0.01)
        assert told.control.enough(until)
    capped = Told(1.0, 2.0)
    assert not capped.after(0.2)
    assert not capped.after(0.4, value=-5.0)
    assert [capped.control.enough(t) for t in (1.99, 2.0)] == [False, True]


def test_a_search_that_fails_low_goes_on_to_the_end_of_its_time() -> None:
    told = Told()
    assert not told.after(0.2)
    told.line.failed_low = 1
    assert not told.control.enough(3.99)
    assert told.control.enough(4.0)
    told.line.failed_low = 0
    assert told.control.enough(1.2)


def test_a_move_that_all_depths_agree_on_by_a_margin_is_played_soon() -> None:
    def depth_of_answer(lead: float, moves: Any) -> int:
        told = Told(usual=100.0, most=400.0)
        for depth in range(1, 40):
            if told.after(float(depth), move=moves(depth), lead=lead):
                return depth
        return 0

    alike = depth_of_answer(UNIT, lambda depth: 7)
    assert alike == 20  # a fifth of the usual time
    assert depth_of_answer(0.9 * UNIT, lambda depth: 7) == 0
    assert depth_of_answer(UNIT, lambda depth: depth // 4) == 0
    # five in a row that agree with the one before
    assert depth_of_answer(UNIT, lambda depth: depth // 24) == 20
    assert depth_of_answer(UNIT, lambda depth: depth // 18) == 23


def test_the_clock_may_be_read_between_the_only_move_and_the_end_of_its_search() -> None:
    told = Told()
    told.line.root_count = 1
    assert not told.after(0.1)


@pytest.mark.parametrize("allowance", [(0.0, 1.0), (2.0, 1.0), (-1.0, 1.0), (float("nan"), 1.0)])
def test_an_allowance_has_a_range(allowance: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="expected more than 0 seconds"):
        Allowance(*allowance)


@compiled_only
def test_a_single_legal_move_is_played_at_once_and_an_obvious_one_soon() -> None:
    engine = Engine(CHECKERS, "classic")
    hour = Allowance(3600.0, 7200.0)
    forced = CHECKERS.parse_position("W:W22,32:B18,1")
    assert len(CHECKERS.legal_moves(forced)) == 1
    result = engine.search(forced, seconds=hour)
    assert (result.depth, result.move) == (1, CHECKERS.legal_moves(forced)[0])
    wins = CHECKERS.parse_position("B:WK32:BK23,K1")
    assert engine.search(wins, seconds=hour).plies_to_end is not None  # a decided game ends it


@compiled_only
def test_the_line_says_that_an_iteration_failed_low() -> None:
    engine = Engine(CHECKERS, "classic")
    seen = set()
    positions = list(random_positions(CHECKERS, 1, 20))
    for depth, position in product(range(3, 9), positions):
        engine.clear()
        history = engine.search(position, depth=depth).history
        if len(history) < 2:
            continue
        failed = bool(engine._search.line.failed_low)
        assert not failed or history[-1].value < history[-2].value
        seen.add(failed)
    assert seen == {False, True}
