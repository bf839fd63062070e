"""Limits of a search, and what it returns when it is cut short."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from interrupts import ctrl_c, no_search_runs, stopping
from marks import compiled_only, plain
from twin import PlainFace, random_positions

from games.backgammon import Backgammon
from games.checkers import Checkers
from games.connect_four import ConnectFour
from games.contract import Game
from play.matches.openings import random_line
from search import AlphaBetaOptions, Engine, Result, Techniques, as_evaluator

CHECKERS, BACKGAMMON = Checkers(), Backgammon()


@plain
def test_a_search_that_is_cut_short_reports_no_loss_while_a_move_is_unsearched() -> None:
    """All moves but one lose at once, and no limit lets one of these be the result."""
    game, random = ConnectFour(), np.random.default_rng(5)
    engine, tested = Engine(game, "hand"), 0
    while tested < 12:
        position, _ = random_line(game, int(random.integers(8, 20)), random)
        if position is None or game.outcome(position) is not None:
            continue
        moves = game.legal_moves(position)
        if sum(not loses_at_once(game, position, move) for move in moves) != 1 or len(moves) < 2:
            continue
        tested += 1
        for nodes in range(10, 60):
            engine.clear()
            result = engine.search(position, nodes=nodes)
            lost = result.value < 0 and result.plies_to_end == 2
            assert not lost, (position, nodes)


def loses_at_once(game: Game, position: Any, move: Any) -> bool:
    after = game.play(position, move)
    return game.outcome(after) is None and any(
        game.outcome(game.play(after, reply)) == -1 for reply in game.legal_moves(after)
    )


#: The expected type or range of each option of an engine, and values that it refuses.
REFUSED: dict[str, tuple[str, list[Any]]] = {
    "trace": ("0 to 16777216 positions", [-1, 1 << 30, 1.5, math.nan]),
    "techniques": ("Techniques or their text", [5]),
    "prune": ("one of none, star1, star2", ["star3", 1]),
    "filters": ("one of tiny, narrow, normal", ["wide", 5]),
    "table_mib": ("0 to 65536 MiB", [0, -1, 65537, math.nan]),
    "threads": ("1 to 64", [0, 65, 1.5]),
    "seed": ("at least 0", [-1, 1.5, "x"]),
}
#: Options that other tests cover where they are used: switches, evaluators and lookups.
UNRANGED = {"equal_depth", "repetition", "lookup"}
#: Options that engines of all games take.
SHARED = {"lookup", "table_mib", "threads", "seed"}


def takes(game: Game) -> set[str]:
    """Returns the options of an engine of this game."""
    kind = type(Engine(game).options)
    return {field.name for field in dataclasses.fields(kind)} | SHARED


@plain
@pytest.mark.parametrize("option", REFUSED)
def test_options_out_of_range(option: str) -> None:
    text, values = REFUSED[option]
    for game in (game for game in (CHECKERS, BACKGAMMON) if option in takes(game)):
        for value in values:
            wrong_type = option == "techniques"
            with pytest.raises(TypeError if wrong_type else ValueError) as refused:
                Engine(game, **{option: value})
            message = str(refused.value)
            assert message.startswith(f"{option}: expected {text}"), value
            assert message.endswith(f", found {value!r}"), value


@plain
def test_every_option_of_an_engine_is_tried() -> None:
    assert {*REFUSED, *UNRANGED} == takes(CHECKERS) | takes(BACKGAMMON)


@plain
def test_options_come_as_their_dataclass_by_name_or_both() -> None:
    start = CHECKERS.start()
    options = AlphaBetaOptions(techniques="singular", equal_depth=True)
    expected = Engine(CHECKERS, "classic", techniques="singular", equal_depth=True)
    found = Engine(CHECKERS, "classic", options)
    both = Engine(CHECKERS, "classic", options, techniques="late_moves=1.0")
    assert found.options == expected.options
    assert found.search(start, depth=6).nodes == expected.search(start, depth=6).nodes
    assert both.options == AlphaBetaOptions(techniques=Techniques(late_moves=1.0), equal_depth=True)


@plain
@pytest.mark.parametrize("nodes", [1, 2, 10, 300, 1200])
def test_a_node_limit_holds(nodes: int) -> None:
    for position in random_positions(CHECKERS, 2, 3):
        result = Engine(CHECKERS, "classic").search(position, nodes=nodes)
        assert result.nodes <= nodes + 50
        assert result.move in CHECKERS.legal_moves(position)
        assert result.pv[0] == result.move
        assert not result.interrupted
        assert result.depth == len(result.history)


@plain
def test_the_limit_reached_first_ends_the_search() -> None:
    engine = Engine(CHECKERS, "classic")
    assert engine.search(CHECKERS.start(), depth=2, nodes=10**18, seconds=1e18).depth == 2
    assert engine.search(CHECKERS.start(), depth=60, nodes=500).nodes < 600


@plain
def test_a_time_limit_holds() -> None:
    engine = Engine(CHECKERS, "material")
    began = time.perf_counter()
    result = engine.search(CHECKERS.start(), seconds=0.3)
    assert time.perf_counter() - began >= 0.3
    assert result.move in CHECKERS.legal_moves(CHECKERS.start())
    assert result.depth >= 1
    assert not result.interrupted
    assert no_search_runs()


@plain
@pytest.mark.parametrize("game", [CHECKERS, PlainFace(CHECKERS)], ids=["native", "plain"])
@pytest.mark.parametrize("in_main", [True, False], ids=["main thread", "other thread"])
def test_stop_from_another_thread(game: Game, in_main: bool) -> None:
    material = as_evaluator(CHECKERS, "material").plain()
    engine = Engine(game, stopping(material, lambda: engine.stop(), 3000))
    results: list[Result] = []

    def search() -> None:
        results.append(engine.search(game.start(), depth=90))

    if in_main:
        search()
    else:
        thread = threading.Thread(target=search)
        thread.start()
        thread.join(timeout=60)
    assert results[0].interrupted
    assert no_search_runs()
    assert results[0].depth >= 1
    assert results[0].move == results[0].pv[0]
    # the next search is not stopped
    assert not engine.search(game.start(), depth=2).interrupted


@plain
@pytest.mark.parametrize("limits", [{"depth": 90}, {"seconds": 3600}], ids=str)
def test_ctrl_c_returns_what_was_found(limits: dict[str, Any]) -> None:
    engine = Engine(CHECKERS, "classic")
    with ctrl_c():
        result = engine.search(CHECKERS.start(), **limits)
    assert result.interrupted
    assert no_search_runs()
    assert result.depth >= 1
    assert result.move in CHECKERS.legal_moves(CHECKERS.start())


@plain
@pytest.mark.parametrize("limits", [{"depth": 5}, {"nodes": 50_000}], ids=str)
def test_ctrl_c_ends_a_search_with_a_slow_evaluator(limits: dict[str, Any]) -> None:
    asked = 0

    def slow(position: Any) -> float:
        nonlocal asked
        asked += 1
        time.sleep(0.02)
        return 0.0

    with ctrl_c():
        result = Engine(CHECKERS, slow).search(CHECKERS.start(), **limits)
    assert result.interrupted
    assert no_search_runs()
    assert asked < 500


@compiled_only
def test_a_stopped_analysis_holds_the_values_of_the_last_full_depth() -> None:
    for nodes in range(2_000, 60_000, 7_003):
        engine = Engine(CHECKERS, "classic")
        stopped = engine.analyse(CHECKERS.start(), nodes=nodes)
        full = Engine(CHECKERS, "classic").analyse(CHECKERS.start(), depth=stopped.depth)
        assert stopped.nodes > full.nodes
        assert (stopped.moves, stopped.value, stopped.move) == (full.moves, full.value, full.move)
        assert stopped.history == full.history


@compiled_only
def test_a_stopped_search_is_no_worse_than_the_last_full_depth() -> None:
    """The move is that of the last full depth, or one that the next depth found to be better."""
    for nodes in range(5_000, 60_000, 6_007):
        stopped = Engine(CHECKERS, "classic").search(CHECKERS.start(), nodes=nodes)
        full = Engine(CHECKERS, "classic").search(CHECKERS.start(), depth=stopped.depth)
        deeper = Engine(CHECKERS, "classic").analyse(CHECKERS.start(), depth=stopped.depth + 1)
        values = dict(deeper.moves)
        assert stopped.move == full.move or values[stopped.move] > values[full.move]


# --- games that are hard on the search -------------------------------------------------------


class Endless(Game):
    """A game whose positions are always tactical."""

    wins = False

    def start(self) -> int:
        return 0

    def legal_moves(self, position: int) -> list[int]:
        return [1, 2]

    def play(self, position: int, move: int) -> int:
        return 3 * position + move

    def outcome(self, position: int) -> float | None:
        return None

    def noisy(self, position: int) -> bool:
        return True


@plain
def test_a_game_that_never_gets_quiet_can_be_stopped() -> None:
    result = Engine(Endless(), lambda position: 1.0).search(0, seconds=0.3)
    assert result.move == 1
    assert Engine(Endless(), lambda position: 1.0).search(0, nodes=1000).nodes < 1300


class Stuck(Endless):
    name = "stuck"

    def legal_moves(self, position: int) -> list[int]:
        return []


test_errors = errors_of(globals())
