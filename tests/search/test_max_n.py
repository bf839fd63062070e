"""Searches for more than two players: textbook examples, and Li's nim as an exact oracle."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from toys import ThreeInARow

from docs.examples.li_nim import LiNim
from games import ContractError, PositionError, check_game
from games.nim import Nim
from games.record import GameRecord
from games.tic_tac_toe import TicTacToe
from games.tree import Tree
from search import Engine
from search.textbook.max_n import best_reply, for_every_player, max_n, paranoid
from search.textbook.minimax import minimax

pytestmark = pytest.mark.plain

# Three players, vectors of utilities: A moves, then B, then C (Russell and Norvig, chapter 5).
LEAVES = [(1, 2, 6), (4, 2, 3), (6, 1, 2), (7, 4, 1), (5, 1, 1), (1, 5, 2), (7, 7, 1), (5, 4, 5)]
AIMA = [[LEAVES[0:2], LEAVES[2:4]], [LEAVES[4:6], LEAVES[6:8]]]


def seen_by_a(vector: tuple[float, ...], mover: int) -> tuple[float, ...]:
    return tuple(vector[(player - mover) % 3] for player in range(3))


def test_each_player_of_the_textbook_tree_chooses_for_itself() -> None:
    tree = Tree(AIMA, players=3)
    of_c = [seen_by_a(max_n(tree, path), 2) for path in itertools.product((0, 1), repeat=2)]
    assert of_c == [(1, 2, 6), (6, 1, 2), (1, 5, 2), (5, 4, 5)]
    assert [seen_by_a(max_n(tree, (move,)), 1) for move in (0, 1)] == [(1, 2, 6), (1, 5, 2)]
    # a tie for A, and the first move decides what the others get
    assert max_n(tree, ()) == (1, 2, 6)
    assert paranoid(tree, ()) == 1
    assert tree.show((0, 0)) == "[(1, 2, 6), (4, 2, 3)]"


def test_which_of_two_equal_moves_comes_first_decides_max_n() -> None:
    assert max_n(Tree(AIMA[::-1], players=3), ()) == (1, 5, 2)


def test_leaves_of_a_tree_for_three_are_three_numbers() -> None:
    tree = Tree([[[(1, 2), 3]]], players=3)
    with pytest.raises(PositionError, match="expected 3 numbers, found"):
        tree.outcome((0, 0, 0))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_li_says_who_wins_nim(players: int) -> None:
    found: dict[Any, tuple[float, ...]] = {}

    def solve(game: LiNim, position: Any) -> tuple[float, ...]:
        # max^n with a memory: 216 positions are met again and again
        piles = tuple(sorted(position[:-1]))
        if piles not in found:
            vector = game.outcome_vector(position)
            for move in game.legal_moves(position):
                after = solve(game, game.play(position, move))
                if vector is None or after[-1] > vector[0]:
                    vector = (*after[-1:], *after[:-1])
            assert vector is not None
            found[piles] = vector
        return found[piles]

    game = LiNim((5, 5, 5), players)
    for piles in itertools.product(range(6), repeat=3):
        value = solve(game, (*piles, 0))
        assert (value[-1] == players - 1) == LiNim.balanced(piles, players), piles
        if sum(piles) <= 5:
            assert max_n(game, (*piles, 0)) == value


def test_with_two_players_all_three_are_minimax() -> None:
    nim = Nim((1, 2, 2))
    for move in nim.legal_moves(nim.start()):
        after = nim.play(nim.start(), move)
        value = minimax(nim, after)
        assert max_n(nim, after) == (value, -value)
        assert paranoid(nim, after) == value
    two = LiNim((1, 2, 2), 2)
    assert best_reply(two, two.start()) == minimax(two, two.start())


def unfolded(game: Any, position: Any, first: int) -> Any:
    """Returns the tree of a game for three below a position, side `first` first in its leaves."""
    vector = game.outcome_vector(position)
    if vector is not None:
        behind = first - game.to_move(position)
        return tuple(vector[(behind + player) % 3] for player in range(3))
    moves = game.legal_moves(position)
    return [unfolded(game, game.play(position, move), first) for move in moves]


def test_tic_tac_toe_for_three_on_its_tree() -> None:
    game = ThreeInARow()
    check_game(game, games=4)
    # X threatens to fill the first row, O the second, and it is Z's move, who has one reply: the
    # first row, whose owner moves next, and then has to stop O himself
    position = ("X.XOO...Z", 2)
    tree = Tree(unfolded(game, position, 2), players=3)
    assert max_n(tree, ()) == max_n(game, position) == (0, 0, 0)
    # were both against Z, X would let O win
    assert paranoid(tree, ()) == paranoid(game, position) == -1
    found = Engine(game, lambda _: 0.0, method="max_n").analyse(position, depth=4)
    values = dict(found.moves)
    assert values == {1: 0, 5: -1, 6: -1, 7: -1}


def test_the_best_of_replies_may_see_wins_that_are_none() -> None:
    game = ThreeInARow()
    for squares, found in (("Z..X..XO.", 0), ("..XZ...OX", -1), (".X.X.Z..O", 2)):
        assert max_n(game, (squares, 1)) == (0, 0, 0) and paranoid(game, (squares, 1)) == 0
        assert best_reply(game, (squares, 1)) == found


def test_the_others_pass_in_best_reply_search() -> None:
    # One pile of one: A takes it and is first. Of two single sticks A takes one; then B or C, out
    # of turn, takes the other, which leaves A second or third: the reply that A likes least counts.
    game = LiNim((1, 1), 3)
    assert best_reply(game, (1, 0, 0)) == 2
    assert max_n(game, (1, 1, 0))[0] == 0
    assert best_reply(game, (1, 1, 0)) == -2


def test_a_value_for_every_player_is_that_of_the_turned_positions() -> None:
    game = LiNim((3, 2), 3)
    values = for_every_player(game, lambda position: 10.0 * position[-1] + position[0])
    assert values((3, 2, 1)) == (13.0, 23.0, 3.0)
    with pytest.raises(NotImplementedError, match="tic_tac_toe: expected a game that defines turn"):
        for_every_player(TicTacToe(), lambda position: 0.0)((0, 0, 0))


def test_check_game_knows_any_number_of_players() -> None:
    for players in (2, 3, 4):
        check_game(LiNim((2, 2, 3), players), games=4)

    class Short(LiNim):
        def outcome_vector(self, position: Any) -> Any:
            vector = super().outcome_vector(position)
            return None if vector is None else vector[:2]

    with pytest.raises(ContractError, match="outcome_vector returns a number for each player"):
        check_game(Short((1, 1), 3), games=1)

    class Still(LiNim):
        def turn(self, position: Any) -> Any:
            return position

    with pytest.raises(ContractError, match="turn gives the move to the next side"):
        check_game(Still((1, 1), 3), games=1)


def test_a_record_tells_the_outcome_of_each_side() -> None:
    record = GameRecord(LiNim((1, 1), 3))
    for text in ("1 from 1", "1 from 2"):
        assert record.outcomes() is None
        record.play_text(text)
    # B moved last and is first, A second; C is last
    assert record.to_move == 2 and record.outcomes() == (0.0, 2.0, -2.0)
    assert record.outcome() == 0.0
    other = GameRecord(LiNim((1, 1), 3))
    other.declare(0.0, "agreed")
    assert other.outcomes() == (0.0, 0.0, 0.0)
