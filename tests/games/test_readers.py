"""Readers keep what is certain of texts that people and other programs write."""

from __future__ import annotations

from typing import Any

import pytest

import games
from games.errors import PositionError
from games.file_form import form_of
from games.record import read_situation

pytestmark = pytest.mark.plain

MAT = " 5 point match\n\n Game 1\n{}  1) 31: 8/5 6/5                 42: 8/4 6/4\n{}"
HEAD = " Ann : 3     Ben : 2\n"
GNU = "GNU Backgammon  Position ID: 4HPwATDgc/ABMA\n                 Match ID   : {}\n +13-14-"
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:3:0:10"
FOURS = "......./......./......./......./...O.../..OXX.. X"


def read(name: str, text: str) -> list[Any]:
    game = games.load(name)
    return list(form_of(game).read(text, game))


@pytest.mark.parametrize(
    ("name", "text", "plies", "problem"),
    [
        ("checkers", "1. 11-15 22-18 2. 15x22 9-9 25x18 1-0", 3, "line 1: move 4 of the game: exp"),
        ("checkers", "1. 11-15 22-18\n2. what 15x22 1-0", 2, "line 2: expected a move, found 'wha"),
        ("checkers", '1. 11-15 23-19 /FEN "B:W22:B1"/ 2. 1-6 *', 2, "line 1: expected a move, found"
         " another position (/FEN): make it a game with a tag FEN"),
        ("checkers", '[FEN "B:W14,15,22,23:B10,1"]\n1. 10x26 23-19 *', 2,
         "line 2: expected a move, found '10x26': only 10x17x26 fits the moves after it"),
        ("checkers", '[FEN "B:W14,15,22,23:B10,1"]\n1. 10x26 1-0', 0, "line 2: move 1 of the game:"
         " expected one of 10x17x26, 10x19x26, found '10x26', which names them all"),
        ("checkers", "1. 11-15 23-19 2. 8-11 { a { b } c } 22-17 *", 4, ""),
        ("checkers", "1. 11-15 { a { b } 23-19 { c } *", 2, ""),
        ("backgammon", MAT.format(HEAD, "  2) 61:\n"), 2, "line 6: expected a game with an end"),
        ("backgammon", MAT.format(HEAD, "  2) 61:\n\n Game 2\n" + HEAD), 2, "line 6: expected a "),
        ("backgammon", MAT.format(HEAD, "  2) 61: 9/1\n  Wins 1 point"), 2, "line 6: expected one"),
        ("backgammon", MAT.replace("5 p", "4 p").format(" Ann : 3     Ben : 3\n", ""), 2,
         "line 5: expected a game with an end"),  # nobody is further ahead: no Crawford game
        ("backgammon", MAT.format(HEAD, "  2) 12: Illegal play (7;0;) 51: 24/23 23/18\n"), 2,
         "line 6: expected a game from the start, found a position that was set up"),
        ("tic_tac_toe", "1\n4\n2\n4\n* resignation 1\n", 3, "line 4: expected one of "),
    ],
)  # fmt: skip
def test_a_game_comes_back_up_to_its_fault(name: str, text: str, plies: int, problem: str) -> None:
    one = read(name, text)[0]
    assert (one.record.ply if one.record else 0) == plies
    assert one.record is None or one.record.outcome() is None
    assert (one.problems[0] if one.problems else "").startswith(problem) and len(one.problems) < 3
    assert bool(problem) == bool(one.problems)


TAGS = '[Event "a"]\n[Black "Ann"]\n[White "Ben"]\n[Event "b"]\n[Result "*"]\n\n1. 11-15 23-19 *'


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("checkers", TAGS, [("Ann", "Ben")]),
        ("checkers", '[Red "Ann"]\n[White "Ben"]\n\n1. 11-15 *', [("Ann", "Ben")]),
        ("checkers", '[FEN "W:W5:B14"]\n[FEN "W:W6:B14"]\n', [("?", "?")] * 2),
        ("backgammon", MAT.format(" Ann : 3\n Ben : 2\n", ""), [("Ann", "Ben")]),
    ],
)
def test_a_heading_is_of_one_game(name: str, text: str, names: list[tuple[str, str]]) -> None:
    found = read(name, text)
    assert [one.names for one in found] == names
    assert name == "checkers" or found[0].record.score == (3, 2)


@pytest.mark.parametrize(
    ("moves", "kind"),
    [
        ("1. 21-17 12-16", "White begins, as in Italian or Brazilian draughts (.*W:W21-32:B1-12"),
        ("1. 24-20 12-16", "White begins, as in Italian or Brazilian draughts (.*W:W21-32:B1-12"),
        ("1. 32-28 19-23", "international draughts (GameType 20)"),
        ("1. 35-30 20-25", "international draughts (GameType 20)"),
    ],
)
def test_another_variant_is_named(moves: str, kind: str) -> None:
    with pytest.raises(ValueError, match="found 2 of .*" + kind.replace("(G", r"\(G").strip(")")
                       .replace("(.*", r"\(.*")):  # fmt: skip
        read("checkers", f"{moves} *\n\n" * 2)


@pytest.mark.parametrize(
    ("name", "text", "same"),
    [
        ("checkers", '[FEN "B:W22:B1"]', "B:W22:B1"),
        ("checkers", "Black to move (B:W22,K5:B1), he wins in 9", "B:W22,K5:B1"),
        ("checkers", "W:W21,22:B1,2:H0:F1", "W:W21,22:B1,2"),
        ("checkers", "W:W21,22:B1,2 0 1", "W:W21,22:B1,2"),
        ("checkers", "W:W:W21,22:B1,2", "W:W21,22:B1,2"),
        ("backgammon", GNU.format("cAkAAAAAAAAA"), "4HPwATDgc/ABMA"),
        ("backgammon", "see [4HPwATDgc/ABMA:cAkAAAAAAAAA]!", "4HPwATDgc/ABMA"),
        ("backgammon", f"{XGID}\n\nX:Ann   O:Ben\nScore is X:0 O:0.", "4HPwATDgc/ABMA"),
        ("backgammon", "the position id is 4HPwATDgc/ABMA and the match id is cAkAAAAAAAAA. Hit?",
         "4HPwATDgc/ABMA"),
        ("connect_four", "4453", FOURS),
        ("connect_four", "4453 -2", FOURS),
        ("connect_four", "[4, 4, 5, 3]", FOURS),
        ("connect_four", "+-+\n| 0 | 1 | 2 | 3 | 4 | 5 | 6 |\n" + "# | | | | | | | |\n" * 4
         + "| | | |0| | | |\n│ │.│o│x│x│ │ │ \n", FOURS),
        ("connect_four", "0-based: 3342", FOURS),
        ("connect_four", FOURS.upper().replace("/", "\n")[:-2].lower(), FOURS),
        ("connect_four", ",".join("bbbbbb" * 2 + "obbbbb" + "xobbbb" + "xbbbbb" + "bbbbbb" * 2)
         + ",win", FOURS),
        ("connect_four", str([0] * 31 + [2] + [0] * 5 + [2, 1, 1, 0, 0][:5]), FOURS),
    ],
)  # fmt: skip
def test_a_position_is_found_in_the_words_around_it(name: str, text: str, same: str) -> None:
    game = games.load(name)
    position, _, _ = read_situation(game, text)
    assert game.position_text(position) == same


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("checkers", "B:W22:B1 or B:W23:B1", "expected one position, found 'B:W22:B1' and 'B:W23:"),
        ("checkers", "B:W21:B1 2", "expected a square such as 18, K18 or 1-12, found '1 2'"),
        ("backgammon", XGID + " " + XGID[:-1] + "1", "expected one position, found 'XGID="),
        ("backgammon", "XGID=-aaa------------------AAA-:0:0:1:52:0:0:3:0:10", "as in hypergammon"),
        (
            "backgammon",
            XGID.replace("0:0:3:0", "6:6:1:7"),
            "expected a Crawford game with one side",
        ),
        ("connect_four", "33420", "expected columns 1 to 7, or 0-based before them, found 0 as"),
        ("connect_four", "1111111", "expected a legal move, found 1 as move 7"),
        ("connect_four", FOURS[:-1] + "Z", "expected X or O to move, found Z"),
    ],
)
def test_an_unclear_position_is_refused_by_name(name: str, text: str, message: str) -> None:
    with pytest.raises(PositionError) as caught:
        games.load(name).parse_position(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("game", "black_first"),
    [
        ('[FEN "B:W30,31,K3:B9"]\n\n1. 9-13 1-0\n\n', False),  # a king and a man ahead
        ('[FEN "B:W30,31,K3:B9"]\n\n1. 9-13 0-1\n\n', True),
        ('[GameType "21"]\n\n1. 11-15 22-18 1-0\n\n', False),
        ("1. 11-15 22-18 1-0\n\n", None),
    ],
)
def test_whom_results_name_first_by_the_strength_of_evidence(
    game: str, black_first: bool | None
) -> None:
    (one,) = read("checkers", game)
    assert (one.order.black_first if one.order.clear else None) == black_first, one.order
    assert (one.record.outcome() is None) == (black_first is None)
