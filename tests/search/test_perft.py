"""Numbers of leaves: published counts, and native against plain counting."""

from __future__ import annotations

import pytest
from twin import PlainFace

import games
from games import kernels
from games.checkers import Checkers
from games.nim import Nim
from games.tree import Tree
from search.perft import perft

CHECKERS = Checkers()
#: A pass is a ply; the first comes at ply 9, and the first end of a game at ply 10.
OTHELLO = [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800]
LEAVES = [1, 7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680]
KINGS = "W:W18,K5:B10,11,K32"


@pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
@pytest.mark.parametrize("bulk", [True, False])
@pytest.mark.parametrize(("depth", "leaves"), [*enumerate(LEAVES)])
def test_checkers_from_the_start(depth: int, leaves: int, bulk: bool) -> None:
    assert perft(CHECKERS, CHECKERS.start(), depth, bulk=bulk) == leaves


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "leaves"), [(10, 18391564), (11, 85242128), (12, 388623673)])
def test_checkers_deep(depth: int, leaves: int) -> None:
    assert perft(CHECKERS, CHECKERS.start(), depth) == leaves


@pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
@pytest.mark.parametrize("depth", [*range(1, 11), pytest.param(11, marks=pytest.mark.slow)])
def test_othello_from_the_start(depth: int) -> None:
    game = games.load("docs.examples.othello:Othello")
    assert perft(game, game.start(), depth, ends=True) == OTHELLO[depth - 1]


@pytest.mark.plain
@pytest.mark.parametrize("bulk", [True, False])
@pytest.mark.parametrize("game", [CHECKERS, PlainFace(CHECKERS)], ids=["native", "plain"])
def test_native_and_plain_counts(game: games.Game, bulk: bool) -> None:
    assert [perft(game, CHECKERS.start(), depth, bulk=bulk) for depth in range(5)] == LEAVES[:5]
    assert perft(game, CHECKERS.parse_position(KINGS), 5, bulk=bulk) == 517


@pytest.mark.plain
def test_lines_that_end_sooner_are_not_counted() -> None:
    game = games.load("tic_tac_toe")
    assert perft(game, game.start(), 5) == 9 * 8 * 7 * 6 * 5
    assert perft(game, game.parse_position("XXXOO.... O"), 1) == 0
    hexapawn = games.load("docs.examples.hexapawn:Hexapawn")
    assert [perft(hexapawn, hexapawn.start(), depth) for depth in range(4)] == [1, 3, 10, 28]
    assert perft(hexapawn, hexapawn.start(), 7) > 0 == perft(hexapawn, hexapawn.start(), 8)
    tree = Tree([[1, 2], 3, [4, [5, 6]]])
    assert [perft(tree, (), depth) for depth in range(5)] == [1, 3, 4, 2, 0]
    assert [perft(tree, (), depth, ends=True) for depth in range(5)] == [1, 3, 5, 6, 6]
    assert len({perft(hexapawn, hexapawn.start(), depth, ends=True) for depth in (7, 8, 9)}) == 1


@pytest.mark.skipif(not kernels.compiled, reason="plain counting has no such limit")
def test_too_deep_for_the_line() -> None:
    with pytest.raises(ValueError, match="depth: expected at most 128 plies, found 129"):
        perft(CHECKERS, CHECKERS.start(), 129)
    many = Nim([63] * 15)  # 945 moves a position: the stack of moves holds 17 such lists
    with pytest.raises(ValueError, match="depth: expected fewer plies"):
        perft(many, many.start(), 20)
