"""The textbook's worked examples, solved by the textbook's algorithms and by the engine."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from functools import reduce
from operator import xor
from typing import Any

import pytest
from errors import errors_of

import games
from games.checkers import Checkers
from games.extras import extra
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from games.tree import Chance, Explicit, Tree
from play.judging.search_tree import search_tree
from search import Engine, as_evaluator
from search.textbook.minimax import alphabeta, best_moves, expectiminimax, minimax

pytestmark = pytest.mark.plain

AIMA = [[3, 12, 8], [2, 4, 6], [14, 5, 2]]  # figure 5.2
MIN = -1  # values after MAX's move are MIN's
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


#: Examples of the course: the tree, its value for MAX, and the leaves that alpha-beta looks at.
COURSE = {
    "minimax": ("[[21,-3],[12,70,-4],[100,-73,-14]]", -3, [21, -3, 12, 70, -4, 100, -73]),
    "alpha cutoffs": ("[[21,-3],[12,-70,-4],[100,-73,-14]]", -3, [21, -3, 12, -70, 100, -73]),
    "beta cutoffs": ("min [[21,-3],[12,70,-4],[100,73,-14]]", 21, [21, -3, 12, 70, 100]),
    "letters": (
        "[[[4,[-3,-5]],-5], [3,8,[9,-6,0]], 0, [[3,5],2,[-7,-9]]]",
        3,
        [4, -3, -5, 3, 8, 9, 0, 3, 5, 2],
    ),
}


@pytest.mark.parametrize("name", COURSE)
def test_examples_of_the_course(name: str) -> None:
    text, value, looked_at = COURSE[name]
    written = Tree.from_text(text)
    tree = WatchedTree(written.root, max_begins=written.max_begins)
    sign = 1 if written.max_begins else -1
    assert alphabeta(tree, ()) == sign * value
    assert tree.leaves == looked_at
    shown = search_tree(tree, ())
    assert (shown.value, shown.leaves) == (sign * value, len(looked_at))
    assert minimax(tree, ()) == Engine(tree).search((), depth=4).value == sign * value


def test_values_of_the_min_nodes_of_the_course() -> None:
    tree = Tree.from_text(COURSE["minimax"][0])
    assert dict(best_moves(tree, ())) == {0: -3, 1: -4, 2: -73}
    letters = Tree.from_text(COURSE["letters"][0])
    assert dict(best_moves(letters, ())) == {0: -5, 1: 3, 2: 0, 3: -7}
    assert search_tree(letters, ()).all_leaves == 15


def test_intervals_of_the_second_example() -> None:
    # what is known of MIN after the 7, of MAX after the first MIN, of the second MIN after the 3
    root = search_tree(Tree(SECOND), ()).root
    first, second, third = root.children
    assert first.children[1].window == (-math.inf, 7)
    assert second.window == (5, math.inf)
    assert second.interval == (-math.inf, 3)
    assert third.children[1].window == (5, 6)
    assert root.interval == (5, 5)


@pytest.mark.parametrize("depth", range(1, 9))
@pytest.mark.parametrize("breadth", [2, 3])
def test_perfect_ordering_of_a_uniform_tree(breadth: int, depth: int) -> None:
    if breadth**depth > 2000:
        return
    generator = random.Random(depth)

    def uniform(depth: int) -> Any:
        if depth == 0:
            return generator.random()  # no two are equal
        return [uniform(depth - 1) for _ in range(breadth)]

    tree = Tree(uniform(depth))
    ordered = search_tree(tree, (), order="perfect")
    assert ordered.all_leaves == breadth**depth
    assert ordered.leaves == breadth ** math.ceil(depth / 2) + breadth ** (depth // 2) - 1
    assert ordered.leaves <= search_tree(tree, ()).leaves


# --- chance nodes ------------------------------------------------------------------------------


def aima_chances(one: float, two: float, three: float, four: float) -> Tree:
    """Returns the tree of AIMA's figure 5.12, with its leaf values transformed."""
    first = Chance((0.9, [two, two]), (0.1, [three, three]))
    second = Chance((0.9, [one, one]), (0.1, [four, four]))
    return Tree([first, second])


def values_of_moves(tree: Tree) -> list[float]:
    return [expectiminimax(tree, (move,)) * MIN for move in tree.legal_moves(())]


@pytest.mark.parametrize(
    ("leaves", "values"), [((1, 2, 3, 4), [2.1, 1.3]), ((1, 20, 30, 400), [21, 40.9])]
)
def test_chance_nodes_of_aima(leaves: Any, values: list[float]) -> None:
    tree = aima_chances(*leaves)
    assert values_of_moves(tree) == pytest.approx(values)
    assert expectiminimax(tree, ()) == pytest.approx(max(values))
    shown = search_tree(tree, ())
    assert [child.value for child in shown.root.children] == pytest.approx(values)
    assert (shown.leaves, shown.all_leaves) == (8, 8)
    assert Tree.from_text(str(tree)).root.__repr__() == repr(tree.root)
    assert (tree.to_move((0,)), tree.to_move((0, 1)), tree.to_move((0, 1, 0))) == (1, 1, 0)


def transformed(tree: Any, change: Any) -> Any:
    """Returns a tree with changed leaf values."""
    if isinstance(tree, list):
        return [transformed(branch, change) for branch in tree]
    if isinstance(tree, Chance):
        branches = [transformed(branch, change) for branch in tree.branches]
        return Chance(*zip(tree.chances, branches, strict=True))
    return change(tree)


def test_trees_as_text() -> None:
    tree = Tree.from_text(" MIN [[1, -2.5], {1/4: 3, 0.75: [None, 4]}] ")
    assert str(tree) == "min [[1, -2.5], {0.25: 3, 0.75: [None, 4]}]"
    assert str(Tree.from_text("7")) == "max 7"
    three = Tree.from_text("[[(1, 2, 6), (4, 2, 3)], [(5, 1, 1)]]")
    assert (three.players, three.outcome_vector((0, 1))) == (3, (3, 4, 2))
    assert Tree.from_text(str(three)).root == three.root
    explicit = extra(games.load("tree"), Explicit)
    assert explicit is not None
    game, position = explicit.read("[[1, 2], 3]")
    assert (minimax(game, position), str(game)) == (3, "max [[1, 2], 3]")


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
    assert minimax(Tree(AIMA), (), 1, evaluate=lambda position: -position[0]) == 2


# --- nim -------------------------------------------------------------------------------------


def misere_nim(piles: tuple[int, ...]) -> int:
    """Returns the value for the side to move by the theory (Bouton 1901)."""
    if max(piles, default=0) <= 1:
        return 1 if sum(piles) % 2 == 0 else -1
    return 1 if reduce(xor, piles) else -1


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


# --- checkers --------------------------------------------------------------------------------


class CheckersWithoutQuiescence(Checkers):
    """Checkers evaluated at exactly the requested depth, even with captures pending."""

    rules = dataclasses.replace(Checkers.rules, noisy=None)


def test_the_checkers_case_study() -> None:
    game = CheckersWithoutQuiescence()
    position = game.parse_position("W:W20,21,K31:B23,K22")
    evaluate = as_evaluator(game, "material")
    assert evaluate(position) == (5 + 2) - (5 + 1)

    def replies(text: str) -> dict[str, float]:
        after = game.play(position, game.parse_move(position, text))
        values = best_moves(game, after, 2, evaluate)
        return {game.move_text(after, move): -value for move, value in values}

    values = {
        game.move_text(position, move): value
        for move, value in best_moves(game, position, 3, evaluate)
    }
    assert values == {"20-16": 1, "21-17": 0, "31-26": -8, "31-27": -8}
    assert minimax(game, position, 3, evaluate) == 1
    assert alphabeta(game, position, 3, evaluate) == 1
    assert sorted(replies("20-16").values()) == [1, 1, 1, 2, 6, 6]
    assert replies("21-17") == {"22x13": 0}
    assert replies("31-26") == {"23x30": -8, "22x31": -4}  # the lecture's -4: alpha has cut
    assert replies("31-27") == {"23x32": -8}
    tree = search_tree(game, position, 3, evaluate)
    assert (tree.value, tree.all_leaves) == (1, 26)

    engine = Engine(game, "material")
    result = engine.analyse(position, depth=3)
    assert {game.move_text(position, move): value for move, value in result.moves} == values
    assert result.value == engine.search(position, depth=3).value == 1


test_errors = errors_of(globals())
