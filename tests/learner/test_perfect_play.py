"""Learners that see one ply ahead learn to play small games perfectly, from scratch.

Perfect is said of every position that any moves reach: the learned evaluator, searched one ply
deep, never chooses a move that makes the position worth less than it was, by full solution. The
openings are all positions of the game, so that self-play explores; the rest is greedy. Tables of
values (a network of one layer over whole boards) generalise nothing: each value is learned.

TDLeaf is not asked for tic-tac-toe: it learns only about the ends of principal variations, and a
right move whose end is rated too low, by chance or by early play, is never looked at again. It
learns nim, whose terms generalise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from games import kernels
from games.contract import Game
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from learner.gradient.root_strap import RootStrap
from learner.gradient.td_leaf import TDLeaf
from learner.gradient.temporal_difference import TemporalDifference
from learner.gradient.tree_strap import TreeStrap
from learner.rounds.batch import BatchFit
from learner.rounds.network_fit import NetworkFit
from search import Engine
from search.textbook.minimax import minimax

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

TIC_TAC_TOE, NIM = TicTacToe(), Nim((3, 5, 7))
#: Distinct positions that are not over; the sides of nim's count twice.
POSITIONS = {TIC_TAC_TOE: 4520, NIM: 374}


def solution(game: Game) -> Callable[[Any], float]:
    """Returns the value of each position under best play of both sides."""

    @functools.cache
    def value(position: Any) -> float:
        outcome = game.outcome(position)
        if outcome is not None:
            return outcome
        return max(-value(game.play(position, move)) for move in game.legal_moves(position))

    return value


def reachable(game: Game) -> list[Any]:
    """Returns all positions that any moves lead to and that are not over."""
    found, open_ = {game.start()}, [game.start()]
    while open_:
        position = open_.pop()
        for move in game.legal_moves(position):
            after = game.play(position, move)
            if after not in found:
                found.add(after)
                open_.append(after)
    return sorted(position for position in found if game.outcome(position) is None)


def blunders(game: Game, evaluator: Any) -> list[str]:
    """Returns the positions where one ply of search with the evaluator loses value."""
    value, engine = solution(game), Engine(game, evaluator, table_mib=0.5)
    found = []
    for position in reachable(game):
        engine.clear()
        move = engine.search(position, depth=1).move
        if -value(game.play(position, move)) < value(position):
            found.append(f"{game.position_text(position)}: {game.move_text(position, move)}")
    return found


def test_the_solution_is_minimax() -> None:
    for game in (TIC_TAC_TOE, Nim((1, 2, 3))):
        value = solution(game)
        for position in reachable(game)[-40:]:
            assert value(position) == minimax(game, position)
    assert solution(TIC_TAC_TOE)(TIC_TAC_TOE.start()) == 0.0
    assert solution(NIM)(NIM.start()) == 1.0
    assert {game: len(reachable(game)) for game in POSITIONS} == POSITIONS


@pytest.mark.parametrize(
    ("game", "least"), [(NIM, 50), pytest.param(TIC_TAC_TOE, 500, marks=pytest.mark.slow)]
)
def test_nothing_plays_badly(game: Any, least: int) -> None:
    assert len(blunders(game, lambda position: 0.0)) > least


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (TemporalDifference, {}),
        (TDLeaf, {}),
        (TDLeaf, {"depth": 2}),
        (RootStrap, {}),
        (TreeStrap, {"depth": 2}),
    ],
)
def test_nim_by_its_terms(kind: Any, options: dict[str, Any]) -> None:
    usual = {"games": 200, "depth": 1, "rate": 0.05, "inputs": "parity", "decide": False}
    learner = kind(NIM, **{**usual, "opening_plies": 1, **options}).fit()
    assert blunders(NIM, learner.evaluator_) == []


SLOW = [pytest.param(one, marks=pytest.mark.slow) for one in ({"loss": "squared"}, {"blend": 1.0})]


@pytest.mark.parametrize("options", [{}, *SLOW], ids=str)
def test_nim_by_batches(options: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"games": 200, "round_games": 50, "depth": 2, "decide": False}
    learner = BatchFit(NIM, inputs="parity", opening_plies=1, **usual, **options).fit()
    assert blunders(NIM, learner.evaluator_) == []


@pytest.mark.slow
def test_nim_by_a_network_of_its_terms() -> None:
    learner = NetworkFit(
        NIM, games=300, round_games=100, depth=1, inputs="parity", hidden=(), rate=0.1,
        batch_size=16, epochs=30, decide=False, opening_plies=0, keep_rounds=2,
    )  # fmt: skip
    assert blunders(NIM, learner.fit().evaluator_) == []


#: Learners and their options; each game begins with another of the 4520 positions.
TABLES: dict[str, tuple[Any, dict[str, Any]]] = {
    "td": (TemporalDifference, {"depth": 3, "games": 3 * 4520, "games_per_update": 64}),
    "td at one ply": (
        TemporalDifference,
        {"depth": 1, "games": 4 * 4520, "games_per_update": 64, "lambda_": 0.3, "rate": 0.2},
    ),
    "rootstrap": (RootStrap, {"depth": 4, "games": 3 * 4520, "games_per_update": 64}),
    "treestrap": (TreeStrap, {"depth": 3, "games": 2 * 4520, "games_per_update": 64}),
    "network": (
        NetworkFit,
        {"depth": 3, "games": 2 * 4520, "round_games": 4520, "epochs": 20, "blend": 0.0},
    ),
}


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(
            name, seed,
            marks=pytest.mark.whole_run if (name, seed) == ("network", 0) else pytest.mark.slow,
        )
        for name in TABLES
        for seed in (0, 1, 2)
    ],
)  # fmt: skip
def test_tic_tac_toe_by_a_table(name: str, seed: int) -> None:
    kind, options = TABLES[name]
    usual = {"inputs": "positions", "hidden": (), "rate": 0.1, "decide": False}
    learner = kind(TIC_TAC_TOE, seed=seed, opening_plies=0, **{**usual, **options})
    assert blunders(TIC_TAC_TOE, learner.fit().evaluator_) == []
