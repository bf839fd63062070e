"""Games played by native code against the same games played move by move."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain
from twin import PlainFace

from games.checkers import Checkers
from games.nim import Nim
from games.record import GameRecord
from games.tic_tac_toe import TicTacToe
from play.matches.game_loop import GameLoop, Played
from play.matches.openings import Openings
from search import WIN, Engine

CHECKERS = Checkers()


def loops(game: Any, first: Any, second: Any, **options: Any) -> tuple[GameLoop, GameLoop]:
    """Returns a loop in native code and its twin that plays move by move."""
    made = []
    for _ in range(2):
        engines = [Engine(game, evaluator, table_mib=0.5) for evaluator in (first, second)]
        made.append(GameLoop(game, *engines, **options))
    made[1].native = False
    return made[0], made[1]


def rows(positions: Any) -> list[Any]:
    return [tuple(int(n) for n in position) for position in positions]


def assert_same(found: Played, expected: Played) -> None:
    assert found.moves == expected.moves
    assert rows(found.positions) == rows(expected.positions)
    assert (found.outcome, found.reason) == (expected.outcome, expected.reason)
    assert found.opening == expected.opening
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.depths, expected.depths)
    if found.leaves is not None:
        np.testing.assert_array_equal(found.leaf_plies, expected.leaf_plies)
        assert rows(found.leaves) == rows(expected.leaves)


@compiled_only
@pytest.mark.parametrize(
    ("game", "first", "second", "options"),
    [
        (CHECKERS, "classic", "rote", {"depth": 4, "leaves": True}),
        (CHECKERS, "material", "material", {"depth": 3, "most_plies": 30}),
        (CHECKERS, "material", "classic", {"nodes": 200, "quiet_moves": 10}),
        (CHECKERS, "material", "classic", {"depth": 2, "repetitions": 2, "leaves": True}),
        (CHECKERS, "classic", "material", {"depth": 3, "decide": True}),
        (CHECKERS, "rote", "material", {"depth": 3, "repetitions": None, "quiet_moves": 12}),
        (TicTacToe(), None, None, {"depth": 2, "leaves": True}),
        (Nim((3, 4, 5)), None, None, {"depth": 3}),
    ],
)
def test_native_games_are_those_played_move_by_move(
    game: Any, first: Any, second: Any, options: dict[str, Any]
) -> None:
    fast, slow = loops(game, first, second, **options)
    assert fast.native
    reasons = set()
    for opening in islice(Openings(game, seed=3, plies=2), 12):
        found, expected = fast.play(opening), slow.play(opening)
        assert_same(found, expected)
        reasons.add(found.reason)
    assert reasons


@compiled_only
def test_the_same_engine_on_both_sides_and_another_start() -> None:
    start = CHECKERS.parse_position("W:W21,22,K25,30:B1,2,5,K14")
    made = []
    for native in (True, False):
        engine = Engine(CHECKERS, "classic", table_mib=0.5)
        loop = GameLoop(CHECKERS, engine, engine, depth=4)
        loop.native = native
        made.append(loop.play(start=start))
    assert_same(*made)
    # outcomes are for Black, who is not to move at the start
    record = made[0].record()
    assert record.outcome() == made[0].outcome
    assert made[0].outcomes()[0] == -made[0].outcome


def test_every_search_of_a_game_counts_for_itself() -> None:
    options = {"table_mib": 0.5, "techniques": "singular=4"}
    engine = Engine(CHECKERS, "classic", **options)
    played = GameLoop(CHECKERS, engine, engine, depth=4, most_plies=15).play()
    slow = Engine(CHECKERS, "classic", **options)
    record = GameRecord(CHECKERS)
    for move in played.moves:
        last = slow.search(record.position, depth=4, history=record.history)
        record.play(move)
    line = engine._search.line  # type: ignore[union-attr]
    counted = (line.nodes, line.probes, line.hits, line.lookups, line.lookup_hits)
    assert counted == (last.nodes, last.probes, last.hits, last.lookups, last.lookup_hits)
    assert last.probes > last.hits > 0


@plain
def test_a_record_says_the_same() -> None:
    engines = [Engine(CHECKERS, name, table_mib=0.5) for name in ("classic", "material")]
    played = GameLoop(CHECKERS, *engines, depth=2).play()
    record = played.record()
    assert isinstance(record, GameRecord)
    assert record.over
    assert record.outcome() == played.outcome
    assert len(record.moves) == len(played.moves)
    assert record.annotations[3].value == played.values[3]
    assert played.outcomes()[-1] == (-1) ** len(played.moves) * played.outcome


@plain
def test_a_proved_win_ends_the_game() -> None:
    start = CHECKERS.parse_position("B:WK32:BK23,K18,K14")
    engines = [Engine(CHECKERS, "material", table_mib=0.5) for _ in range(2)]
    played = GameLoop(CHECKERS, *engines, depth=5, decide=True).play(start=start)
    assert played.reason == "decided"
    assert played.outcome == 1.0


@plain
def test_longest_game() -> None:
    game = PlainFace(CHECKERS)
    engine = Engine(game, lambda position: 0.0)
    played = GameLoop(game, engine, engine, depth=1, most_plies=7).play()
    assert (len(played.moves), played.outcome, played.reason) == (7, 0.0, "most plies")


def test_stopping_from_another_thread() -> None:
    engine = Engine(CHECKERS, "classic")
    loop = GameLoop(CHECKERS, engine, engine, depth=30)
    timer = threading.Timer(0.3, loop.stop)
    timer.start()
    played = loop.play()
    timer.join()
    assert (played.outcome, played.reason) == (0.0, "stopped")
    assert loop.play().reason == "stopped"
    assert not played.moves or abs(played.values[0]) < WIN


def test_traces_of_a_game() -> None:
    engine = Engine(CHECKERS, "classic", trace=100_000)
    GameLoop(CHECKERS, engine, engine, depth=3, most_plies=20, traces=True).play()
    whole = len(engine.traced()[0])
    GameLoop(CHECKERS, engine, engine, depth=3, most_plies=10, traces=True).play()
    assert 0 < len(engine.traced()[0]) < whole


test_errors = errors_of(globals())
