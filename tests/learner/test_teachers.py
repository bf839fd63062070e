"""The targets that each learner makes from a game: worked out by hand, and by slow twins."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
from marks import compiled_only, plain
from twin import PlainFace

from games.checkers import Checkers
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from learner.gradient.root_strap import _Teacher as RootStrapTeacher
from learner.gradient.td_leaf import _Teacher as TDLeafTeacher
from learner.gradient.temporal_difference import _Teacher as TDTeacher
from learner.gradient.tree_strap import _Teacher as TreeStrapTeacher
from learner.positions.shards import UNKNOWN, Rows
from learner.rounds.tree_rows import TreeTeacher, bounded_expectations, lesson_rows
from learner.self_play import Lesson, Target, final, lambda_returns, quiet
from play.matches.game_loop import GameLoop, Played
from play.matches.openings import Openings
from search import EXACT, LOWER, UPPER, WIN, Engine, as_evaluator

CHECKERS, TIC_TAC_TOE, NIM = Checkers(), TicTacToe(), Nim((3, 4, 5))
SCALE = 1.5
#: With White, the second side, to move at the start.
WHITE_FIRST = CHECKERS.parse_position("W:W21,22,K25,30:B1,2,5,K14")


def learned(target: Target) -> list[Any]:
    assert len(target.positions) == len(target.low) == len(target.high)
    return [tuple(int(n) for n in position) for position in target.positions]


def both(target: Target) -> list[float]:
    """Targets that are values, not intervals."""
    assert target.low.tolist() == target.high.tolist()
    return cast(list[float], target.low.tolist())


# --- lambda-returns --------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("lambda_", [0.0, 0.3, 0.7, 0.99, 1.0])
@pytest.mark.parametrize("count", [0, 1, 2, 17])
def test_lambda_returns_are_values_plus_discounted_differences(lambda_: float, count: int) -> None:
    values = np.random.default_rng(count).normal(0, 1, count)
    outcome = -0.25
    found = lambda_returns(values, outcome, lambda_)
    assert found.shape == (count,)
    later = [*values.tolist(), outcome]
    for t in range(count):
        differences = [later[j + 1] - later[j] for j in range(t, count)]
        expected = later[t] + sum(lambda_**k * d for k, d in enumerate(differences))
        assert found[t] == pytest.approx(expected, abs=1e-12)


# --- games played, against slow twins --------------------------------------------------------


def games(depth: int, *, traces: bool = False, evaluator: str = "classic") -> list[Any]:
    """Games of checkers with the engine that has played them, one begun by White."""
    found = []
    openings = iter(Openings(CHECKERS, plies=3, seed=5))
    for number in range(4):
        engine = Engine(CHECKERS, evaluator, table_mib=0.5, trace=20_000 if traces else 0)
        loop = GameLoop(
            CHECKERS, engine, engine, depth=depth, most_plies=60, decide=number == 1, leaves=True,
            traces=traces,
        )  # fmt: skip
        opening, start = ((), WHITE_FIRST) if number == 0 else (next(openings), None)
        found.append((loop.play(opening, start), engine))
    assert found[0][0].game.to_move(start_of(found[0][0])) == 1
    return found


def start_of(played: Played) -> Any:
    return tuple(int(n) for n in played.positions[0])


def plies(played: Played) -> list[tuple[int, Any, float]]:
    """Number, position and sign (1 where Black is to move) of every ply that was searched."""
    rows: list[Any] = [tuple(int(n) for n in row) for row in played.positions]
    return [
        (i, rows[i], -1.0 if CHECKERS.to_move(rows[i]) else 1.0)
        for i in range(played.opening, len(played.moves))
    ]


def returns_for_black(values: list[float], outcome: float, lambda_: float) -> list[float]:
    later = [*values, outcome]
    return [
        later[t]
        + sum(lambda_ ** (j - t) * (later[j + 1] - later[j]) for j in range(t, len(values)))
        for t in range(len(values))
    ]


@compiled_only
@pytest.mark.parametrize("lambda_", [0.0, 0.6, 1.0])
def test_td_of_games(lambda_: float) -> None:
    value = as_evaluator(CHECKERS, "classic").plain()
    noisy = 0
    for played, engine in games(2):
        settled = [(p, sign) for _, p, sign in plies(played) if not CHECKERS.noisy(p)]
        noisy += len(plies(played)) - len(settled)
        for_black = [sign * math.tanh(value(p) / SCALE) for p, sign in settled]
        expected = returns_for_black(for_black, played.outcome, lambda_)
        target = TDTeacher(CHECKERS, lambda_, SCALE)(played, engine)
        assert learned(target) == [p for p, _ in settled]
        signs = [sign for _, sign in settled]
        wanted = [sign * r for sign, r in zip(signs, expected, strict=True)]
        assert both(target) == pytest.approx(wanted, abs=1e-9)
    assert noisy > 10


@compiled_only
@pytest.mark.parametrize(("depth", "lambda_"), [(1, 0.7), (2, 0.0), (3, 0.7), (4, 1.0)])
def test_tdleaf_of_games(depth: int, lambda_: float) -> None:
    parities = set()
    static = as_evaluator(CHECKERS, "classic")
    for played, engine in games(depth):
        searched = plies(played)
        for_black = [sign * math.tanh(played.values[i] / SCALE) for i, _, sign in searched]
        returns = returns_for_black(for_black, played.outcome, lambda_)
        expected = []
        for (i, _, sign), value in zip(searched, returns, strict=True):
            leaf: Any = tuple(int(n) for n in played.leaves[i])
            if abs(played.values[i]) > WIN / 2 or CHECKERS.noisy(leaf):
                continue
            same = CHECKERS.to_move(leaf) == CHECKERS.to_move(played.record().positions[i])
            if not math.isclose(static(leaf) * (1 if same else -1), played.values[i], abs_tol=1e-8):
                assert played.values[i] == 0.0  # a repetition
                continue
            assert CHECKERS.outcome(leaf) is None
            view = -1.0 if CHECKERS.to_move(leaf) else 1.0
            parities.add(view == sign)
            expected.append((leaf, view * value))
        target = TDLeafTeacher(CHECKERS, lambda_, SCALE)(played, engine)
        assert learned(target) == [leaf for leaf, _ in expected]
        assert both(target) == pytest.approx([value for _, value in expected], abs=1e-9)
        if lambda_ == 0 and depth == 2:  # the value of a leaf is that of its search
            leaves = {
                tuple(int(n) for n in played.leaves[i]): played.values[i] for i, *_ in searched
            }
            same = [abs(abs(static(end)) - abs(v)) < 1e-9 for end, v in leaves.items()]
            assert np.mean(same) > 0.9
    assert parities == {False, True}


@compiled_only
def test_rootstrap_of_games() -> None:
    for played, engine in games(3):
        target = RootStrapTeacher(CHECKERS, SCALE)(played, engine)
        settled = [(i, p) for i, p, _ in plies(played) if not CHECKERS.noisy(p)]
        assert learned(target) == [p for _, p in settled]
        wanted = [math.tanh(max(min(played.values[i], 99.0), -99.0) / SCALE) for i, _ in settled]
        assert both(target) == pytest.approx(wanted)


@compiled_only
def test_treestrap_of_games() -> None:
    teacher = TreeStrapTeacher(CHECKERS, SCALE, 100_000)
    for played, engine in games(3, traces=True):
        target = teacher(played, engine)
        positions, values, _, bounds = engine.traced()
        expected = []
        for row, value, bound in zip(positions, values, bounds, strict=True):
            inner = tuple(int(n) for n in row)
            worth = math.tanh(max(min(value, 99.0), -99.0) / SCALE)
            if not CHECKERS.noisy(inner):
                ends = {EXACT: (worth, worth), LOWER: (worth, 1.0), UPPER: (-1.0, worth)}
                expected.append((inner, *ends[int(bound)]))
        roots = RootStrapTeacher(CHECKERS, SCALE)(played, engine)
        expected += [(p, v, v) for p, v in zip(learned(roots), both(roots), strict=True)]
        assert learned(target) == [p for p, *_ in expected]
        np.testing.assert_allclose(target.low, [low for _, low, _ in expected], atol=1e-9)
        np.testing.assert_allclose(target.high, [high for *_, high in expected], atol=1e-9)
        assert (target.low <= target.high).all()
        assert (target.low < target.high).any()
        few = TreeStrapTeacher(CHECKERS, SCALE, 9)(played, engine)
        assert len(few.positions) == 9 and set(learned(few)) <= set(learned(target))


@compiled_only
def test_rows_of_search_trees() -> None:
    for number, (played, engine) in enumerate(games(4, traces=True)):
        first, last = played.opening, len(played.moves)
        deep = float(np.median(played.depths[first:last])) / 2
        expected = [
            (tuple(int(n) for n in row), np.float32(value), int(bound))
            for row, value, depth, bound in zip(*engine.traced(), strict=True)
            if depth >= deep and not CHECKERS.noisy(tuple(int(n) for n in row))
        ]
        target = TreeTeacher(CHECKERS, 10**6)(played, engine)
        rows = lesson_rows(Lesson(played, target.positions, target.low, target.high), number)
        assert len(rows) == last - first + len(expected)
        trees = rows.take(slice(last - first, None))
        positions = map(tuple, trees.positions.tolist())
        assert list(zip(positions, trees.value, trees.bound.tolist(), strict=True)) == expected
        assert {EXACT, LOWER, UPPER} == set(trees.bound)
        assert set(trees.result) == {UNKNOWN} and set(trees.game_number) == {number}
        few = TreeTeacher(CHECKERS, 9)(played, engine)
        assert 5 <= len(few.positions) <= 9
        assert {tuple(p) for p in few.positions.tolist()} <= {p for p, *_ in expected}


@plain
def test_bounds_draw_half_way_what_is_beyond_them() -> None:
    start = CHECKERS.start()
    rows = Rows.of(
        [start] * 4, value=[1.0, -1.0, 1.0, -1.0], bound=[LOWER, LOWER, UPPER, UPPER]
    )  # worth 0 by material
    found = bounded_expectations(rows, as_evaluator(CHECKERS, "material"), 2.0)
    up = 1.0 / (1.0 + math.exp(-2.0))
    assert found == pytest.approx([(0.5 + up) / 2, 0.5, 0.5, (0.5 + 1.0 - up) / 2])


def test_no_position_to_learn_from() -> None:
    """Where the search before the first move proves the end, or the opening is all there is."""
    won = CHECKERS.parse_position("B:W18:B14")
    engine = Engine(CHECKERS, "classic", table_mib=0.5, trace=100)
    for depth, start in ((5, won), (1, CHECKERS.start())):
        loop = GameLoop(CHECKERS, engine, engine, depth=depth, decide=True, leaves=True,
                        traces=True, most_plies=1000 if depth == 5 else 0)  # fmt: skip
        played = loop.play(start=start)
        assert len(played.moves) == (1 if depth == 5 else 0)  # a capture, from a noisy position
        for teacher in (TDTeacher(CHECKERS, 0.5, SCALE), TDLeafTeacher(CHECKERS, 0.5, SCALE),
                        RootStrapTeacher(CHECKERS, SCALE)):  # fmt: skip
            assert learned(teacher(played, engine)) == []
        engine.search(start, depth=1)  # which leaves no trace
        for tree in (TreeStrapTeacher(CHECKERS, SCALE, 10), TreeTeacher(CHECKERS, 10)):
            assert learned(tree(played, engine)) == []


@plain
def test_leaves_that_are_drawn_ends_teach_nothing() -> None:
    full = TIC_TAC_TOE.parse_position("XOXXOOOX. X")
    end = TIC_TAC_TOE.play(full, 256)
    assert TIC_TAC_TOE.outcome(end) == 0.0
    for game in (TIC_TAC_TOE, PlainFace(TIC_TAC_TOE)):
        assert final(game, [full, end]).tolist() == [False, True]
        assert quiet(game, [full, end]).all()
        engine = Engine(game, lambda position: 0.0, table_mib=0.5)  # as the draw is worth
        played = GameLoop(game, engine, engine, depth=2, leaves=True).play(start=full)
        assert [tuple(leaf) for leaf in played.leaves] == [end]
        assert learned(TDLeafTeacher(game, 0.5, SCALE)(played, engine)) == []
    assert final(TIC_TAC_TOE, np.array([full, end])).tolist() == [False, True]
    assert quiet(CHECKERS, []).shape == final(CHECKERS, []).shape == (0,)
