"""Games of GNU Backgammon as .sgf files."""

from __future__ import annotations

import random
from typing import Any

import pytest

from games import load
from games.backgammon.game_tree import TreeGame, is_game_tree, read_game_trees
from games.backgammon.identifiers import xgid
from games.file_form import form_of
from games.record import new_record

pytestmark = pytest.mark.plain

GAME: Any = load("backgammon")

#: Two games of a match as GNU Backgammon writes them, with its analysis.
TREES = r"""(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.08.003]MI[length:3][game:0][ws:0][bs:0]
PW[Ann \]Lee]PB[Bob]DT[2025-11-08]RU[Crawford]RE[B+2R]GS[M:2 2][D:0 -inf]
;B[31heqr]A[0][heqr E ver 3 0.5 0.1 0.0 0.1 0.0 -0.004723 2C 0 1 0.000000 1]MR[]LU[-inf]
;W[42hdfd]DA[E ver 3 2C 1 0.0 1 0.5 0.1]C[so \
it goes; (really)]
;B[double]
;W[take]
;B[61lrqr]
)
(;FF[4]GM[6]MI[length:3][game:1][ws:0][bs:2]PW[Ann \]Lee]PB[Bob]RU[Crawford:CrawfordGame]RE[W+1]
;W[31hefe]
;B[55lqlqaf]
)
"""


def read(text: str) -> list[TreeGame]:
    return list(read_game_trees(text, GAME))


def test_games_of_a_match_are_read() -> None:
    trees = TREES.replace("heqr", "qtst").replace("lqlqaf", "lqlqqvqv")
    first, second = read(trees)
    assert first.players == ("Ann ]Lee", "Bob") and first.tags == {"Date": "2025-11-08"}
    record = first.game.record
    assert record is not None and first.game.problems == []
    assert record.start[4] == 1 and record.match_length == 3
    texts = [
        GAME.dice.text(roll) + " " + GAME.move_text(position, move)
        for position, move, roll in zip(record.positions, record.moves, record.rolls, strict=False)
    ]
    assert texts == ["31 8/5 6/5", "42 8/4 6/4", "61 13/7 8/7"]
    assert [(action.ply, action.side, action.kind) for action in record.actions] == [
        (2, 1, "double"), (2, 0, "take"),
    ]  # fmt: skip
    assert (record.outcome(), record.final_score(), record.reason) == (-2.0, (0, 2), "resignation")
    record = second.game.record
    assert record is not None and record.crawford and record.score == (0, 2)
    assert record.outcome() == 1.0 and record.ply == 2


def test_the_same_game_in_both_forms() -> None:
    """Each move of a random game is written in letters, and both readers find the same record."""
    chance = random.Random(7)
    record = new_record(GAME)
    nodes = []
    while not record.over:
        roll = chance.randrange(21)
        move = chance.choice(GAME.legal_moves(record.position, roll))
        side, text, rest = record.to_move, "", move
        while rest:
            source, die = rest & 31, rest >> 5 & 7
            target = max(source - die, 0)
            for point in (source, target):
                number = 25 - point if side and 0 < point < 25 else point
                text += "y" if point == 25 else "z" if point == 0 else chr(96 + number)
            rest >>= 8
        nodes.append(f"{'WB'[side]}[{GAME.dice.text(roll)}{text}]")
        record.play(move, roll=roll)
    ((tree),) = read("(;GM[6];" + ";".join(nodes) + ")")
    assert tree.game.record is not None and tree.game.problems == []
    form = form_of(GAME)
    (again,) = form.read(form.write(record, ("A", "B"), {}), GAME)
    assert again.record is not None
    assert tree.game.record.positions == again.record.positions == record.positions
    assert tree.game.record.rolls == record.rolls


def test_a_position_that_is_set_up() -> None:
    text = (
        "(;FF[4]GM[6]PW[A]PB[B]RU[Jacoby]\n"
        ";AE[a:y]AW[a][a][b]AB[x][w:x][y]PL[B]CV[2]CP[b]\n;B[31yccd])"
    )
    (tree,) = read(text)
    record = tree.game.record
    assert record is not None, tree.game.problems
    record.undo()
    assert xgid(record.situation()).split(":")[1:4] == ["1", "-1", "-1"]
    assert record.jacoby and record.cube == 2 and record.owner == 1
    assert GAME.position_text(record.position).endswith(" O")
    own = [record.position[0] >> 4 * point & 15 for point in range(4)]
    assert own[1] == 2 and own[2] == 1  # O's ace point is x, its two point w


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(;GM[1];B[pd])", r"line 1: expected backgammon (GM[6]), found GM[1]"),
        ("(;GM[6]\n;W[31hefe]\n;W[42hdfd])", "line 3: expected a move of O, found one of X"),
        ("(;GM[6]\n;W[31hefz])", "line 2: expected one of"),
        ("(;GM[6]\n;W[beaver])", "line 2: expected a roll with its moves, double, take or drop"),
        ("(;GM[6]\n;W[71hefe])", "line 2: expected a roll with its moves"),
        (
            "(;GM[6]\n;AE[f][s]AW[a]AB[a];W[31hefe])",
            "line 1: expected checkers of one side on a point",
        ),
        ("(;GM[6];W[31hefe]\n;AW[a])", "line 2: expected a position before the first move only"),
        ("(;GM[6]CV[3];W[31hefe])", "line 1: expected a cube that is a power of 2"),
        ("(;GM[6];W[take])", "line 1: expected a double to take, found none"),
    ],
)
def test_damaged_games(text: str, problem: str) -> None:
    (tree, *_) = read(text)
    assert tree.game.record is None and tree.game.problems[0].startswith(problem)


def test_what_leaves_the_moves_in_no_doubt() -> None:
    (tree,) = read("(;GM[6]RE[W+7];W[31hefe]")
    assert tree.game.record is not None and tree.game.record.outcome() == 3.0
    assert tree.game.problems == [
        "line 1: expected ) after a game, found the end of the file",
        "line 1: expected 1, 2 or 3 points, found 7, counted as 3",
    ]
    (tree,) = read("(;GM[6](;W[31hefe](;B[31qtst])(;B[42]))(;W[21]))")
    assert tree.game.record is not None and tree.game.record.ply == 2


def test_which_texts_are_trees() -> None:
    assert is_game_tree("\ufeff (\n;FF[4]") and not is_game_tree(" 5 point match")


def test_mutilated_trees_are_read_to_their_end() -> None:
    chance = random.Random(3)
    trees = TREES.replace("lqlqaf", "lqlqqvqv")
    for _ in range(300):
        text = trees
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(text))
            cut = chance.choice((0, 1, 1, 5, 60))
            text = (
                text[:place]
                + chance.choice(("", "(", ")", ";", "[", "]", "\\", "B[", "y", "\0"))
                + (text[place + cut :])
            )
        for tree in read(text):
            assert tree.game.record is not None or tree.game.problems
            assert all(problem.startswith("line ") for problem in tree.game.problems)
    assert read("(" * 100_000 + ";GM[6]" + ")" * 100_000)[0].game.record is not None
