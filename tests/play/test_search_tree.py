"""The tree of a search as text: the textbook's cutoffs, and the values of the oracle."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from errors import errors_of
from hypothesis import given
from hypothesis import strategies as st

from games.checkers import Checkers
from games.checkers.notation import parse_position
from games.tree import Tree
from play.judging.search_tree import search_tree
from play.judging.tree_node import MAX, MIN, TreeNode
from play.judging.tree_picture import CUT, FAINT
from search import as_evaluator
from search.textbook.max_n import max_n
from search.textbook.minimax import alphabeta

plain = pytest.mark.plain


def relations_to_minimax(node: TreeNode, values: Any) -> Iterator[str]:
    """Yields the relation of each node that was searched, after a look at minimax's values."""
    assert node.value is not None
    true = minimax_of(values, node.player)
    assert {"=": true == node.value, ">=": true >= node.value, "<=": true <= node.value}[
        node.relation
    ]
    yield node.relation
    for child in node.looked_at:
        yield from relations_to_minimax(child, values[int(child.move) - 1])


def minimax_of(values: Any, player: str) -> int:
    """Returns the value of nested lists in which a player moves."""
    if isinstance(values, int):
        return values
    best, other = (max, MIN) if player == MAX else (min, MAX)
    return best(minimax_of(below, other) for below in values)


@plain
def test_values_that_are_bounds_say_so() -> None:
    draw = random.Random(7)

    def values(depth: int) -> Any:
        return [values(depth - 1) for _ in range(3)] if depth else draw.randrange(9)

    trees = [values(4) for _ in range(100)]
    found = {r for one in trees for r in relations_to_minimax(search_tree(Tree(one), ()).root, one)}
    assert found == {"=", ">=", "<="}


@plain
def test_the_picture_of_the_textbook_tree() -> None:
    tree = search_tree(Tree([[3, 12, 8], [2, 4, 6], [14, 5, 2]]), ())
    picture = ElementTree.fromstring(tree._repr_svg_())
    name = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in picture.iter(f"{name}text")]
    for value in ("12", "14", "≤ 2", "[−∞, ∞]", "[3, ∞]"):
        assert value in texts
    leaves = [box for box in picture.iter(f"{name}rect") if box.get("stroke")]
    assert len(leaves) == 9
    assert sum(box.get("stroke") == FAINT for box in leaves) == 2  # the 4 and the 6
    crosses = [path for path in picture.iter(f"{name}path") if path.get("stroke") == CUT]
    assert len(crosses) == 2
    width, height = float(picture.get("width") or 0), float(picture.get("height") or 0)
    for box in leaves:  # nothing lies outside, and no two leaves overlap
        x, y = float(box.get("x") or -1), float(box.get("y") or -1)
        assert 0 <= x <= width - float(box.get("width") or 0) and 0 <= y <= height
    places = sorted((float(b.get("x") or 0), float(b.get("width") or 0)) for b in leaves)
    assert all(a + w < b for (a, w), (b, _) in itertools.pairwise(places))


#: All players together have ten points everywhere.
SHARES = Tree([[(5, 4, 1), (1, 1, 8)], [(3, 6, 1), (9, 1, 0)], [(2, 7, 1), (0, 0, 10)]], players=3)


@plain
def test_the_tree_of_three_players_cut_by_what_two_have_together() -> None:
    tree = search_tree(SHARES, ())
    assert (tree.value, tree.root.vector) == (5, (5, 4, 1))
    assert (tree.leaves, tree.all_leaves) == (4, 6)
    # player 1 has 5 of the 10 points, so that 5 for player 2 leave no more than that
    assert tree.lines[:2] == ("position  Player 1  = (5, 4, 1)", "├ 1  Player 2  = (5, 4, 1)")
    assert "├ 2  Player 2  bound 5  >= 6" in tree.lines
    assert "│ └ cut: 1 gives 6 >= bound 5; 1 move not looked at" in tree.lines
    picture = ElementTree.fromstring(tree.svg)
    name = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in picture.iter(f"{name}text")]
    assert {"(5, 4, 1)", "≥ 6", "Player 2, bound 5", "Player 1"} <= set(texts)
    assert len(list(picture.iter(f"{name}circle"))) == 4


@plain
@given(
    st.integers(3, 4),
    st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=12, max_size=12),
    st.sampled_from(["game", "perfect"]),
)
def test_max_n_keeps_its_values_whatever_is_cut(
    players: int, leaves: list[list[int]], order: str
) -> None:
    vectors = [tuple(leaf[:players]) for leaf in leaves]
    game = Tree(
        [[vectors[:2], vectors[2:5]], [vectors[5:7], vectors[7:9], vectors[9:10]], [vectors[10:]]],
        players=players,
    )
    tree = search_tree(game, (), order=order)
    assert tree.root.vector == max_n(game, ())  # the first of equal moves in either order
    assert tree.leaves <= tree.all_leaves == 12


@plain
def test_values_and_windows_of_checkers() -> None:
    game = Checkers()
    evaluator = as_evaluator(game, "material")
    position = parse_position("W:W20,21,K31:B23,K22")
    for depth in (1, 2, 3):
        tree = search_tree(game, position, depth, evaluator)
        assert tree.value == alphabeta(game, position, depth, evaluator)
        assert tree.leaves <= tree.all_leaves
        assert tree.leaves == sum("(static)" in line for line in tree.lines)


test_errors = errors_of(globals())
