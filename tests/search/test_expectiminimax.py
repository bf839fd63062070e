"""The search with dice: one and many decisions, outcomes, limits and wrong input."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from dice_twin import (
    BACKGAMMON,
    RACE,
    RACE_OUTCOMES,
    Bounded,
    DiceTwin,
    Lattice,
    PlainFace,
    lattice_value,
    played,
)
from errors import errors_of
from interrupts import ctrl_c, no_search_runs, stopping
from marks import compiled_only, plain

from games.contract import DiceGame
from games.kernels import uncompiled
from search import Engine, PythonEvaluator, Result, as_evaluator

# --- one decision, and many ----------------------------------------------------------------------


def test_static_values_decide_at_depth_0() -> None:
    engine = Engine(BACKGAMMON, RACE)
    evaluate = RACE.plain()
    for position, roll in played(BACKGAMMON, 1, 30):
        moves = BACKGAMMON.legal_moves(position, roll)
        values = [
            -(BACKGAMMON.outcome(after) or evaluate(after))
            for after in (BACKGAMMON.play(position, move) for move in moves)
        ]
        result = engine.search(position, roll=roll, depth=0)
        assert result.value == max(values)
        assert result.move == moves[values.index(max(values))]
        assert (result.depth, result.pv) == (0, (result.move,))
        assert result.nodes == len(moves) >= result.evaluations
        before = engine.search(position, depth=0)
        assert (before.move, before.value, before.moves) == (None, evaluate(position), ())


@plain
@pytest.mark.parametrize("face", [False, True], ids=["native", "plain"])
@pytest.mark.thorough
def test_many_decisions_of_a_small_game(face: bool) -> None:
    game: DiceGame = Lattice(5)
    evaluator: Any = Bounded(game, lattice_value)
    if face:
        game, evaluator = PlainFace(game), uncompiled(lattice_value)
    engine = Engine(game, evaluator, threads=2)
    twin = DiceTwin(game, uncompiled(lattice_value))
    positions, rolls = zip(*played(game, 3, 9, turns=3), strict=True)
    for depth in (0, 2):
        moves, values = engine.best_moves(positions, rolls, depth=depth)
        twins = [twin.moves(p, r, depth)[0] for p, r in zip(positions, rolls, strict=True)]
        assert list(zip(moves.tolist(), values.tolist(), strict=True)) == twins
        values = engine.values(positions, depth=depth)
        assert values.tolist() == [twin.value(position, depth) for position in positions]
    assert engine.best_moves([], [])[0].tolist() == engine.values([]).tolist() == []


@compiled_only
def test_to_decide_only_searches_no_single_move() -> None:
    engine = Engine(BACKGAMMON, RACE, filters="tiny")
    positions, rolls = zip(*played(BACKGAMMON, 8, 40), strict=True)
    moves, values = engine.best_moves(positions, rolls, depth=1)
    decided, shallower = engine.best_moves(positions, rolls, depth=1, decide_only=True)
    assert decided.tolist() == moves.tolist()
    _, static = engine.best_moves(positions, rolls, depth=0)
    same = shallower == values
    assert 0 < same.sum() < len(same)
    assert (shallower[~same] == static[~same]).all()


@plain
def test_equal_moves_in_an_order_by_chance() -> None:
    game = Lattice(1)
    moves = set()
    flat = {"evaluator": lambda position: 0.0}
    first = game.legal_moves(game.start(), 0)[0]
    assert Engine(game, **flat).search(game.start(), roll=0, depth=0).move == first
    for seed in range(12):
        engine = Engine(game, seed=seed, **flat)
        found = [engine.search(game.start(), roll=0, depth=0).move for _ in range(3)]
        again = Engine(game, seed=seed, **flat)
        assert found == [again.search(game.start(), roll=0, depth=0).move for _ in range(3)]
        moves |= set(found)
    assert moves == set(game.legal_moves(game.start(), 0))


# --- outcomes ------------------------------------------------------------------------------------


def outcomes_before(position: Any, depth: int) -> Any:
    """Returns the five probabilities backed up from the best replies, slowly."""
    assert BACKGAMMON.outcomes is not None
    if BACKGAMMON.outcome(position) is not None:
        found = np.zeros(5)
        uncompiled(BACKGAMMON.outcomes.finished)(position, found)
        return found
    if depth == 0:
        return RACE_OUTCOMES.outcomes([position])[0]
    total = np.zeros(5)
    for roll, chance in enumerate(BACKGAMMON.rolls):
        move = BACKGAMMON_TWIN.moves(position, roll, depth - 1)[0][0]
        total += chance * outcomes_after(position, move, depth - 1)
    return total


def outcomes_after(position: Any, move: Any, depth: int) -> Any:
    """Returns the same after a move, for the side that made it."""
    assert BACKGAMMON.outcomes is not None
    found = outcomes_before(BACKGAMMON.play(position, move), depth)
    uncompiled(BACKGAMMON.outcomes.turn)(found)
    return found


BACKGAMMON_TWIN = DiceTwin(BACKGAMMON, RACE_OUTCOMES.plain())


@compiled_only
@pytest.mark.parametrize("options", [{"prune": "none"}, {"prune": "star2"}], ids=str)
def test_outcomes_are_backed_up(options: dict[str, Any]) -> None:
    engine = Engine(BACKGAMMON, RACE_OUTCOMES, **options)
    assert BACKGAMMON.outcomes is not None
    near_end = (0x222 << 4 | 9, 0, 0x20 | 13, 0, 0)  # two checkers each on 1 to 3, against two on 1
    for position, roll in [*played(BACKGAMMON, 9, 3), (near_end, 2), (near_end, 20)]:
        for depth in (0, 1):
            result = engine.search(position, roll=roll, depth=depth)
            slow = outcomes_after(position, result.move, depth)
            assert result.outcomes == pytest.approx(slow, abs=1e-12)
            assert BACKGAMMON.outcomes.values(result.outcomes) == pytest.approx(result.value)
            before = engine.search(position, depth=depth)
            assert before.outcomes == pytest.approx(outcomes_before(position, depth), abs=1e-12)
            assert BACKGAMMON.outcomes.values(before.outcomes) == pytest.approx(before.value)


def test_an_analysis_has_the_outcomes_after_every_move() -> None:
    near_end = (0x222 << 4 | 9, 0, 0x20 | 13, 0, 0)
    engine = Engine(BACKGAMMON, RACE_OUTCOMES)
    for depth in (0, 1):
        result = engine.analyse(near_end, roll=0, depth=depth)
        assert len(result.moves) == len(result.move_outcomes) > 1
        for (move, _), outcomes in zip(result.moves, result.move_outcomes, strict=True):
            assert outcomes == pytest.approx(outcomes_after(near_end, move, depth), abs=1e-12)
        assert result.move_outcomes[0] == result.outcomes
        assert engine.search(near_end, roll=0, depth=depth).move_outcomes == ()


@compiled_only
def test_outcomes_that_a_search_keeps_are_those_of_its_positions() -> None:
    """With a prefilter outcomes are kept while a search goes on."""
    engine = Engine(BACKGAMMON, as_evaluator(BACKGAMMON, "wide"), filters="near")
    assert BACKGAMMON.outcomes is not None
    turn = uncompiled(BACKGAMMON.outcomes.turn)

    def slow(position: Any, depth: int) -> Any:
        if depth == 0 or BACKGAMMON.outcome(tuple(position)) is not None:
            return engine.dice_search.outcomes([position])[0]
        afters, counts = engine.dice_search.afters([position], inner=True)
        ends, total = np.cumsum(counts), np.zeros(5)
        values = engine.values(afters, depth=0)
        for end, count, chance in zip(ends, counts[0], BACKGAMMON.rolls, strict=True):
            best = end - count + int(values[end - count : end].argmin())
            found = slow(afters[best], depth - 1)
            turn(found)
            total += chance * found
        return total

    engine_of_all = Engine(BACKGAMMON, engine.evaluator)
    for position, roll in played(BACKGAMMON, 5, 2, turns=8):
        for depth in (1, 2):
            found = engine.search(position, depth=depth)
            assert found.outcomes == pytest.approx(slow(position, depth), abs=1e-12)
            assert found.value == pytest.approx(BACKGAMMON.outcomes.values(found.outcomes))
        result = engine_of_all.analyse(position, roll=roll, depth=1)
        for (move, _), outcomes in zip(result.moves[:3], result.move_outcomes, strict=False):
            after = slow(BACKGAMMON.play(position, move), 1)
            turn(after)
            assert outcomes == pytest.approx(after, abs=1e-12)


def test_an_evaluator_without_outcomes_gives_none() -> None:
    assert Engine(BACKGAMMON, RACE).analyse(BACKGAMMON.start(), roll=5, depth=0).move_outcomes == ()
    assert Engine(BACKGAMMON, RACE).search(BACKGAMMON.start(), roll=5, depth=0).outcomes is None


# --- limits --------------------------------------------------------------------------------------


@plain
def test_the_end_of_a_game_in_sight_ends_the_search() -> None:
    game = Lattice(5)
    result = Engine(game, Bounded(game, lattice_value)).search(game.start(), roll=1, seconds=60)
    assert result.depth == 6  # after the move six levels are left
    assert [entry.depth for entry in result.history] == list(range(7))
    assert not result.interrupted


@plain
def test_the_last_full_depth_counts() -> None:
    game = Lattice(8)
    engine = Engine(game, Bounded(game, lattice_value))
    full = [engine.analyse(game.start(), roll=1, depth=depth) for depth in range(5)]
    for nodes in (1, 5, 20, 50, 120):
        engine.clear()
        result = engine.analyse(game.start(), roll=1, nodes=nodes)
        assert result.nodes <= max(nodes, full[0].nodes)
        same = full[result.depth]
        assert (result.move, result.value, result.moves) == (same.move, same.value, same.moves)
        assert len(result.history) == result.depth + 1
        assert result.history[-1].value == result.value
    assert result.depth > 0


@plain
def test_nodes_are_always_the_same() -> None:
    game = Lattice(8)
    counts = set()
    for threads in (1, 1, 2):
        engine = Engine(game, Bounded(game, lattice_value), threads=threads)
        counts.add(engine.search(game.start(), roll=1, nodes=200).nodes)
    assert len(counts) == 1
    first = Engine(game, Bounded(game, lattice_value)).search(game.start(), roll=1, depth=3)
    again = Engine(game, Bounded(game, lattice_value)).search(game.start(), roll=1, depth=3)
    assert (first.nodes, first.evaluations) == (again.nodes, again.evaluations)


@compiled_only
@pytest.mark.parametrize("threads", [1, 2])
def test_a_time_limit_holds(threads: int) -> None:
    engine = Engine(BACKGAMMON, RACE_OUTCOMES, threads=threads)
    engine.search(BACKGAMMON.start(), roll=5, depth=1)  # all is compiled
    began = time.perf_counter()
    result = engine.search(BACKGAMMON.start(), roll=5, seconds=0.2)
    assert time.perf_counter() - began >= 0.2
    assert result.depth >= 0
    assert result.outcomes is not None
    assert not result.interrupted
    assert no_search_runs()
    full = engine.search(BACKGAMMON.start(), roll=5, depth=result.depth)
    assert (result.move, result.value) == (full.move, full.value)
    assert result.outcomes == full.outcomes


@plain
@pytest.mark.parametrize("face", [False, True], ids=["native", "plain"])
def test_stop_from_another_thread(face: bool) -> None:
    game: DiceGame = PlainFace(BACKGAMMON) if face else BACKGAMMON
    engine = Engine(game, stopping(lambda position: position[0] % 7, lambda: engine.stop(), 3000))
    result = engine.search(game.start(), roll=5, depth=20)
    assert result.interrupted
    assert result.move in game.legal_moves(game.start(), 5)
    assert no_search_runs()
    assert not engine.search(game.start(), roll=5, depth=0).interrupted


@plain
@pytest.mark.parametrize("limits", [{"depth": 20}, {"seconds": 60}, {"nodes": 10**15}], ids=str)
def test_ctrl_c_returns_what_was_found(limits: dict[str, Any]) -> None:
    engine = Engine(BACKGAMMON, RACE, threads=2)
    engine.search(BACKGAMMON.start(), roll=5, depth=1)  # all is compiled
    with ctrl_c():
        result = engine.search(BACKGAMMON.start(), roll=5, **limits)
    assert result.interrupted
    assert no_search_runs()
    assert result.move in BACKGAMMON.legal_moves(BACKGAMMON.start(), 5)


@compiled_only
def test_ctrl_c_ends_many_decisions() -> None:
    engine = Engine(BACKGAMMON, RACE, prune="none")
    engine.best_moves([BACKGAMMON.start()], [5])  # all is compiled
    with ctrl_c(), pytest.raises(KeyboardInterrupt):
        engine.best_moves([BACKGAMMON.start()] * 4000, [5] * 4000, depth=3)
    assert no_search_runs()
    assert engine.best_moves([BACKGAMMON.start()], [5])[0].shape == (1,)


@plain
@pytest.mark.parametrize("face", [False, True], ids=["native", "plain"])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_an_evaluator_raises(face: bool, threads: int) -> None:
    game: DiceGame = PlainFace(Lattice(2)) if face else Lattice(2)
    calls = 0

    def fails(position: Any) -> float:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise ZeroDivisionError("the evaluator's own")
        return float(calls % 3)

    engine = Engine(game, fails, threads=threads)
    with pytest.raises(ZeroDivisionError, match="the evaluator's own"):
        engine.search(game.start(), roll=0, depth=5)
    assert no_search_runs()
    calls = 100
    assert engine.search(game.start(), roll=0, depth=1).depth == 1
    engine.clear()
    calls = 19
    with pytest.raises(ZeroDivisionError, match="the evaluator's own"):
        engine.values([game.start()] * 3, depth=5)


# --- the end of a game, and wrong input ----------------------------------------------------------


def test_a_finished_game() -> None:
    # the side to move has borne off all its checkers; the other has 12 on points 13 to 15
    over = (15, 0, 3, 12, 0)
    engine = Engine(BACKGAMMON, RACE_OUTCOMES)
    for roll in (None, 5):
        result = engine.search(over, roll=roll, depth=2)
        assert (result.move, result.value, result.pv) == (None, BACKGAMMON.outcome(over), ())
        assert result.outcomes == (1, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="expected positions of games that go on, found"):
        engine.best_moves([BACKGAMMON.start(), over], [3, 3])
    assert engine.values([over]).tolist() == [1.0]


def lattice() -> Engine:
    """Returns an engine of which wrong things are asked: see errors/expectiminimax.txt."""
    game = Lattice(1)
    return Engine(game, Bounded(game, lattice_value))


@plain
def test_a_position_of_which_the_evaluator_knows_no_bounds() -> None:
    game = Lattice(1)
    evaluator = PythonEvaluator(game, uncompiled(lattice_value))
    result: Result = Engine(game, evaluator).search(game.start(), roll=0, depth=2)
    same = Engine(game, Bounded(game, lattice_value)).search(game.start(), roll=0, depth=2)
    assert (result.move, result.value) == (same.move, same.value)


test_errors = errors_of(globals())
