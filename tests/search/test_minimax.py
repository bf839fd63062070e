"""The textbook's worked examples, solved by the textbook's algorithms and by the engine."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from functools import reduce
from operator import xor
from typing import Any

import pytest

import games
from games.checkers import Checkers
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from games.tree import Tree
from search import WIN, Engine, as_evaluator
from search.minimax import alphabeta, best_moves, minimax

pytestmark = pytest.mark.plain

AIMA = [[3, 12, 8], [2, 4, 6], [14, 5, 2]]  # figure 5.2
SECOND = [[7, 6, 5], [3, None, None], [6, 5, None]]


class WatchedTree(Tree):
    """A tree that records which leaves were visited."""

    def __init__(self, root: Any, **options: Any) -> None:
        super().__init__(root, **options)
        self.leaves: list[float] = []

    def outcome(self, position: tuple[int, ...]) -> float | None:
        value = super().outcome(position)
        if value is not None:
            self.leaves.append(self._node(position))
        return value


# --- trees -----------------------------------------------------------------------------------


def test_minimax_of_aima_figure_5_2_looks_at_every_leaf() -> None:
    tree = WatchedTree(AIMA)
    assert minimax(tree, tree.start()) == 3
    assert len(tree.leaves) == 9
    assert best_moves(tree, tree.start()) == [(0, 3), (1, 2), (2, 2)]


def test_alphabeta_of_aima_figure_5_2_skips_two_leaves() -> None:
    tree = WatchedTree(AIMA)
    assert alphabeta(tree, tree.start()) == 3
    assert tree.leaves == [3, 12, 8, 2, 14, 5, 2]  # not the 4 and the 6


def test_the_second_example_never_looks_at_the_leaves_without_a_value() -> None:
    tree = WatchedTree(SECOND)
    assert alphabeta(tree, tree.start()) == 5
    assert tree.leaves == [7, 6, 5, 3, 6, 5]


def test_a_leaf_without_a_value_cannot_be_looked_at() -> None:
    tree = Tree(SECOND)
    with pytest.raises(games.PositionError, match=r"the leaf at \(1, 1\) has no value"):
        minimax(tree, tree.start())


@pytest.mark.parametrize(("root", "value"), [(AIMA, 3.0), (SECOND, 5.0)])
def test_trees_by_the_engine(root: Any, value: float) -> None:
    tree = WatchedTree(root)
    result = Engine(tree).search(tree.start(), depth=2)
    assert (result.value, result.move, result.depth) == (value, 0, 2)
    assert alphabeta(tree, tree.play(tree.start(), 0)) == -value


def test_min_may_begin() -> None:
    tree = Tree(AIMA, max_begins=False)
    # MIN chooses among the maxima 12, 6 and 14; the value is for the side to move
    assert minimax(tree, tree.start()) == alphabeta(tree, tree.start()) == -6
    assert Engine(tree).search(tree.start(), depth=2).value == -6


@pytest.mark.parametrize("leaf", [4, -4.5])
def test_a_tree_of_one_leaf(leaf: float) -> None:
    tree = Tree(leaf)
    assert minimax(tree, ()) == alphabeta(tree, ()) == leaf
    result = Engine(tree).search((), depth=3)
    assert (result.move, result.value, result.pv, result.depth) == (None, leaf, (), 0)


def test_a_window_bounds_the_value() -> None:
    tree = Tree(AIMA)
    assert alphabeta(tree, (), alpha=5.0, beta=9.0) <= 5
    assert alphabeta(tree, (), alpha=-9.0, beta=1.0) >= 1
    assert alphabeta(tree, (), alpha=2.5, beta=3.5) == 3


def test_a_limited_search_needs_an_evaluator() -> None:
    with pytest.raises(ValueError, match="expected an evaluator"):
        minimax(Tree(AIMA), (), 1)
    assert minimax(Tree(AIMA), (), 1, evaluate=lambda position: -position[0]) == 2


# --- nim -------------------------------------------------------------------------------------


def misere_nim(piles: tuple[int, ...]) -> int:
    """Returns the value for the side to move by the theory (Bouton 1901)."""
    if max(piles, default=0) <= 1:
        return 1 if sum(piles) % 2 == 0 else -1
    return 1 if reduce(xor, piles) else -1


def test_ii_nim_is_lost_for_the_first_player() -> None:
    game = Nim((2, 2))
    assert minimax(game, game.start()) == alphabeta(game, game.start()) == -1
    result = Engine(game).search(game.start(), depth=4)
    assert result.value == -WIN + result.plies_to_end
    assert result.plies_to_end == 3  # takes one stick; loses to an opponent that leaves one


@pytest.mark.parametrize("piles", [*itertools.combinations_with_replacement(range(4), 3)])
def test_misere_nim_is_decided_by_the_xor_of_the_piles(piles: tuple[int, ...]) -> None:
    game = Nim((3, 3, 3))
    position = (*piles, 0)
    expected = misere_nim(piles)
    assert alphabeta(game, position) == expected
    if sum(piles) <= 6:
        assert minimax(game, position) == expected
    assert math.copysign(1, Engine(game).search(position, depth=9).value) == expected


# --- tic-tac-toe -----------------------------------------------------------------------------

CORNERS, EDGES, CENTRE = (0, 2, 6, 8), (1, 3, 5, 7), (4,)


@pytest.mark.parametrize(
    ("depth", "value", "corner", "edge", "centre"), [(1, 4, 3, 2, 4), (2, 1, -1, -2, 1)]
)
def test_open_lines_at_one_and_two_plies(
    depth: int, value: float, corner: float, edge: float, centre: float
) -> None:
    game = TicTacToe()
    evaluate = as_evaluator(game, "open_lines")
    expected = {
        1 << square: worth
        for squares, worth in ((CORNERS, corner), (EDGES, edge), (CENTRE, centre))
        for square in squares
    }
    assert dict(best_moves(game, game.start(), depth, evaluate)) == expected
    assert minimax(game, game.start(), depth, evaluate) == value
    assert alphabeta(game, game.start(), depth, evaluate) == value
    result = Engine(game, "open_lines").analyse(game.start(), depth=depth)
    assert dict(result.moves) == expected
    assert (result.value, result.move, result.moves[0]) == (value, 1 << 4, (1 << 4, value))


def test_positions_and_games_of_tic_tac_toe() -> None:
    game = TicTacToe()

    @functools.cache
    def finished_games(position: Any) -> int:
        moves = game.legal_moves(position)
        return sum(finished_games(game.play(position, move)) for move in moves) if moves else 1

    assert finished_games(game.start()) == 255_168
    assert finished_games.cache_info().currsize == 5_478

    turned = [6, 3, 0, 7, 4, 1, 8, 5, 2]  # by 90 degrees
    mirrored = [2, 1, 0, 5, 4, 3, 8, 7, 6]
    seen: set[str] = set()
    classes = 0
    pending = [game.start()]
    visited = {game.start()}
    while pending:
        position = pending.pop()
        board = game.position_text(position)[:9]
        classes += board not in seen
        for _ in range(4):
            seen.add(board)
            seen.add("".join(board[i] for i in mirrored))
            board = "".join(board[i] for i in turned)
        for move in game.legal_moves(position):
            after = game.play(position, move)
            if after not in visited:
                visited.add(after)
                pending.append(after)
    assert (len(visited), classes) == (5_478, 765)


def test_tic_tac_toe_is_a_draw() -> None:
    game = TicTacToe()
    assert alphabeta(game, game.start()) == 0
    assert Engine(game).search(game.start(), depth=9).value == 0


# --- checkers --------------------------------------------------------------------------------


class CheckersWithoutQuiescence(Checkers):
    """Checkers evaluated at exactly the requested depth, even with captures pending."""

    rules = dataclasses.replace(Checkers.rules, noisy=None)


def test_the_checkers_case_study() -> None:
    game = CheckersWithoutQuiescence()
    position = game.parse_position("B:W23,K22:B20,21,K31")
    evaluate = as_evaluator(game, "material")
    assert evaluate(position) == (5 + 2) - (5 + 1)
    values = {
        game.move_text(position, move): value
        for move, value in best_moves(game, position, 3, evaluate)
    }
    assert values == {"20-24": 1, "21-25": 0, "31-26": -4, "31-27": 1}
    assert minimax(game, position, 3, evaluate) == 1
    assert alphabeta(game, position, 3, evaluate) == 1
    for text, reply in (("21-25", "22x29"), ("31-26", "22x31")):
        after = game.play(position, game.parse_move(position, text))
        best, _ = best_moves(game, after, 2, evaluate)[0]
        assert game.move_text(after, best) == reply

    engine = Engine(game, "material")
    result = engine.analyse(position, depth=3)
    assert {game.move_text(position, move): value for move, value in result.moves} == values
    assert result.value == engine.search(position, depth=3).value == 1


# --- an opponent who errs --------------------------------------------------------------------


def errors(game: games.Game, position: Any) -> int:
    """Returns the number of replies that are worse than the best one."""
    replies = best_moves(game, position)
    return sum(value < replies[0][1] for _, value in replies)


@pytest.mark.parametrize(
    ("root", "chosen"),
    [
        ([[3, 3, 5], [3, 4, 5], [2, 9, 9]], 1),  # two errors beat one; the third is worth less
        ([[3, 3, 3], [3, 3, 3], [3, 7, 3]], 2),
        ([[4, 4], [4, 4]], 0),
        ([[1, 9, 9], [2, 2, 2]], 1),  # the value is compared before the errors
    ],
)
def test_of_equal_moves_the_one_with_most_ways_to_go_wrong(root: Any, chosen: int) -> None:
    tree = Tree(root)
    result = Engine(tree, ties="opponent_errors").search((), depth=2)
    best = [move for move, value in best_moves(tree, ()) if value == minimax(tree, ())]
    assert chosen == max(best, key=lambda move: errors(tree, tree.play((), move)))
    assert (result.move, result.value) == (chosen, minimax(tree, ()))
    assert result.pv[0] == chosen
