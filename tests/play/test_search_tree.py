"""The tree of a search as text: the textbook's cutoffs, and the values of the oracle."""

from __future__ import annotations

import pytest

from games.checkers import Checkers
from games.checkers.notation import parse_position
from games.tree import Tree
from play.judging.search_tree import search_tree
from search import as_evaluator
from search.minimax import alphabeta

plain = pytest.mark.plain


@plain
def test_the_textbook_tree() -> None:
    # Russell and Norvig, figure 5.2: 7 of the 9 leaves, all but the 4 and the 6
    tree = search_tree(Tree([[3, 12, 8], [2, 4, 6], [14, 5, 2]]), (), 2)
    assert (tree.value, tree.leaves, tree.all_leaves) == (3, 7, 9)
    text = "\n".join(tree.lines)
    assert text.count("end of the game") == 7
    assert "= +4 " not in text and "= +6 " not in text
    assert text.count("cut:") == 1
    assert "2 moves not looked at" in text
    assert tree.lines[0] == "position  alpha -inf, beta +inf  = +3"


@plain
def test_values_and_windows_of_checkers() -> None:
    game = Checkers()
    evaluator = as_evaluator(game, "material")
    position = parse_position("B:W23,K22:B20,21,K31")
    for depth in (1, 2, 3):
        tree = search_tree(game, position, depth, evaluator)
        assert tree.value == alphabeta(game, position, depth, evaluator)
        assert tree.leaves <= tree.all_leaves
        assert tree.leaves == sum(" = " in line and "alpha" not in line for line in tree.lines)


@plain
def test_what_cannot_be_drawn() -> None:
    game = Checkers()
    with pytest.raises(ValueError, match="expected at least 1, found 0"):
        search_tree(game, game.start(), 0, lambda position: 0.0)
    with pytest.raises(ValueError, match="at most 50 lines"):
        search_tree(game, game.start(), 4, lambda position: 0.0, most_lines=50)
    with pytest.raises(ValueError, match="expected an evaluator"):
        search_tree(game, game.start(), 2)
