"""The trace of a search: every position searched, with value, depth and bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from twin import PlainFace, Twin, random_positions

from games.checkers import Checkers
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from search import EXACT, LOWER, UPPER, WIN, Engine, as_evaluator

plain = pytest.mark.plain


def clipped(value: float) -> float:
    """Returns a decided value without its number of plies, which depends on the root."""
    return float(np.sign(value)) * WIN if abs(value) > WIN / 2 else value


@plain
@pytest.mark.parametrize(
    ("game", "evaluator", "depth"),
    [
        (TicTacToe(), None, 5),
        (PlainFace(TicTacToe()), lambda position: float(sum(map(hash, position)) % 7), 4),
        (Nim((3, 4, 5)), None, 4),
        (Checkers(), "classic", 4),
    ],
    ids=["tic_tac_toe", "plain", "nim", "checkers"],
)
def test_values_are_those_of_minimax(game: Any, evaluator: Any, depth: int) -> None:
    engine = Engine(game, evaluator, equal_depth=True, repetition=False, trace=50_000)
    twin = Twin(game, as_evaluator(game, evaluator).plain())
    bounds: set[int] = set()
    for position in [game.start(), *random_positions(game, 4, 5)]:
        if game.outcome(position) is not None:
            continue
        engine.clear()
        engine.search(position, depth=depth)
        positions, values, depths, kinds = engine.traced()
        assert len(positions) == len(values) == len(depths) == len(kinds)
        for row, value, left, kind in zip(positions, values, depths, kinds, strict=True):
            found = tuple(row.tolist()) if isinstance(row, np.ndarray) else row
            expected, value = clipped(twin.value(found, int(left))), clipped(float(value))
            assert 1 <= left < depth
            if kind == EXACT:
                assert value == pytest.approx(expected, abs=1e-9)
            elif kind == LOWER:
                assert value <= expected + 1e-9
            else:
                assert kind == UPPER
                assert value >= expected - 1e-9
            bounds.add(int(kind))
    assert {LOWER, UPPER} <= bounds


@plain
def test_the_trace_changes_nothing_and_ends_where_its_room_does() -> None:
    game = Checkers()
    without = Engine(game, "classic").search(game.start(), depth=5)
    engine = Engine(game, "classic", trace=40)
    found = engine.search(game.start(), depth=5)
    assert (found.move, found.value, found.nodes) == (without.move, without.value, without.nodes)
    assert 20 < len(engine.traced()[0]) <= 40  # the previous iteration used some of its room
    assert len(Engine(game, "classic").traced()[0]) == 0


@plain
@pytest.mark.parametrize("nodes", [500, 1000, 2500, 3000])
def test_an_iteration_cut_short_leaves_the_trace_of_the_one_before(nodes: int) -> None:
    game = Checkers()
    engine = Engine(game, "classic", trace=10_000)
    found = engine.search(game.start(), nodes=nodes)
    cut = [rows.tolist() if isinstance(rows, np.ndarray) else rows for rows in engine.traced()[:2]]
    engine.clear()
    engine.search(game.start(), depth=found.depth)
    whole = [r.tolist() if isinstance(r, np.ndarray) else r for r in engine.traced()[:2]]
    assert found.depth >= 3
    assert cut == whole


@plain
def test_only_the_last_iteration_of_the_last_search_is_kept() -> None:
    game = Checkers()
    engine = Engine(game, "classic", trace=10_000)
    engine.search(game.start(), depth=5)
    engine.search(game.start(), depth=1)
    assert len(engine.traced()[0]) == 0
