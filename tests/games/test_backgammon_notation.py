"""Backgammon as text: identifiers, FIBS boards, moves, rolls, boards."""

from __future__ import annotations

import random
from typing import Any

import pytest
from errors import errors_of
from hypothesis import given, settings
from hypothesis import strategies as st

from games import load
from games.backgammon.fibs import fibs_text
from games.backgammon.identifiers import position_id, xgid
from games.backgammon.notation import parse_situation, pips
from games.backgammon.rules import ROLLS, START, Position
from games.backgammon.situation import Situation, checker_counts, position_of, roll_of

pytestmark = pytest.mark.plain

GAME: Any = load("backgammon")


def position(own: dict[int, int], theirs: dict[int, int], side: int = 0) -> Position:
    boards = [[points.get(point, 0) for point in range(26)] for points in (own, theirs)]
    return position_of(boards[0], boards[1], side)


def played(seed: int, games: int = 3) -> list[tuple[Position, int]]:
    """Returns positions of random games, each with a roll."""
    generator = random.Random(seed)
    found = []
    for _ in range(games):
        where: Position = (*START[:4], generator.randrange(2))
        while GAME.outcome(where) is None:
            roll = generator.randrange(21)
            found.append((where, roll))
            where = GAME.play(where, generator.choice(GAME.legal_moves(where, roll)))
    return found


PLAYED = played(5)
AFTER_31 = GAME.play(START, GAME.parse_move(START, "8/5 6/5", roll_of(3, 1)))

#: The board that a client receives in the server's documentation, as O, who has 62, sees it.
FIBS = (
    "board:You:someplayer:3:0:1:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:"
    "1:6:2:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
)


# --- positions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("4HPwATDgc/ABMA", START),
        ("4HPwATDgc/ABMA X", START),
        ("4HPwATDgc/ABMA O", (*START[:4], 1)),
        (" '4HPwATDgc/ABMA o'. ", (*START[:4], 1)),
        ("4HPwATDgc/ABMA==", START),
        ("Position ID: 4HPwATDgc/ABMA Match ID: cAngAAAAAAAE", START),
        ("4HPwATDgc/ABMA:MAngAAAAAAAE", (*START[:4], 1)),
        ("sGfwATDgc/ABMA O", AFTER_31),
        # one position as written by another program (GNU's and XG's for X to move after 42P by O)
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", START),
        ("-b----E-C---eE---c-e----B-:0:0:-1:00", (*START[:4], 1)),
        (FIBS, (*START[:4], 1)),
    ],
)
def test_positions_are_read(text: str, position: Position) -> None:
    assert GAME.parse_position(text) == position


def test_a_position_of_another_program() -> None:
    """A position that was published as position ID, match ID and XGID."""
    situation = parse_situation("XGID=-b----E-C---eE---b-d-b--B-:0:0:1:21:0:0:0:3:10")
    assert position_id(situation.position) == "mGfwATDgc/ABMA"
    assert parse_situation("mGfwATDgc/ABMA:cAllAAAAAAAE") == situation
    assert situation.roll == roll_of(2, 1)
    assert situation.match_length == 3


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("4PPgASTgc/ABMA:cAnqAAAAAAAE", "XGID=-a-a--E-C---dE---d-e----B-:0:0:1:42:0:0:0:7:10"),
        ("4HPhASLgc/ABMA:cAnnAAAAAAAE", "XGID=-a--a-E-C---dE--ac-e----B-:0:0:1:61:0:0:0:7:10"),
        ("eM4NgANs3oGDAA:cAngAAAAAAAE", "XGID=---BBcDC-----C--bcAc-d----:0:0:1:00:0:0:0:7:10"),
        ("3HsHAgD1PQ8AAA:QYnuAAAAAAAE", "XGID=-AAED-D------a-----cddc---:1:-1:1:53:0:0:0:7:10"),
        ("jGfwATDgc/ABMA:cAngAGAAKAAE", "XGID=-b----E-C---eE---b-d--b-B-:0:0:1:00:5:6:0:7:10"),
    ],
)
def test_what_gnu_backgammon_wrote_is_read(text: str, same: str) -> None:
    assert xgid(parse_situation(text)) == same


def test_the_position_id_of_gnu_backgammon() -> None:
    gnu: Any = pytest.importorskip("gnubg_nn")
    for where, _ in PLAYED:
        board = [checker_counts(*where[2:4])[1:], checker_counts(*where[:2])[1:]]
        assert position_id(where) == gnu.position_id(board)


def test_a_fibs_board() -> None:
    situation = parse_situation(FIBS)
    assert situation == Situation(
        (*START[:4], 1),
        roll=roll_of(6, 2),
        match_length=3,
        score=(1, 0),
        players=("someplayer", ""),
    )
    # Fields that repeat others or are to be ignored are written as 0.
    assert fibs_text(situation).split(":")[:49] == FIBS.split(":")[:49]


def test_a_fibs_board_seen_the_other_way_round() -> None:
    """X sees its points run from 1 to 24: direction 1, bar 0, home 25."""
    parts = fibs_text(Situation(AFTER_31, players=("me", "you"))).split(":")
    assert parts[1:3] == ["you", "me"]
    board = [int(x) for x in parts[6:32]]
    parts[6:32] = [str(x) for x in reversed(board)]
    parts[42:45] = ["1", "25", "0"]
    assert parse_situation(":".join(parts)).position == AFTER_31


#: GNU Backgammon 1.07 asks at 5-6 in a match to 7 points, with the last two fields left open.
HOST = "board:gnubg:root:7:{}:{}:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:1:0:-3:0:-5:0:0:0:0:1:0" + (
    ":-1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:{}:{}"
)


@pytest.mark.parametrize(
    ("score", "last", "crawford"),
    [
        ((5, 6), (1, 1), True),  # GNU Backgammon
        ((5, 6), (0, 0), True),  # FIBS
        ((5, 6), (0, 1), False),
        ((5, 6), (3, 0), False),  # a match without the rule
        ((5, 4), (0, 1), False),
        ((5, 4), (0, 0), False),
    ],
)
def test_the_crawford_game_on_a_fibs_board_on_which_both_sides_may_double(
    score: tuple[int, int], last: tuple[int, int], crawford: bool
) -> None:
    assert parse_situation(HOST.format(*score, *last)).crawford is crawford


@st.composite
def situations(draw: st.DrawFn, form: Any) -> Situation:
    where, roll = draw(st.sampled_from(PLAYED))
    length = draw(st.sampled_from([0, 1, 2, 7, 25]))
    most = 20 if length == 0 else length - 1
    score = draw(st.tuples(st.integers(0, most), st.integers(0, most)))
    owner = draw(st.sampled_from([None, 0, 1]))
    cube = draw(st.sampled_from([1, 2, 64])) if owner is None else 4
    offers = {xgid: ["", "double", "beaver", "raccoon"]}.get(form, ["", "double"])
    offered = draw(st.sampled_from(offers))
    one_away = max(score) == length - 1 > min(score)
    may_be = one_away and cube == 1 and owner is None and not offered
    crawford = may_be and draw(st.booleans())
    if form is fibs_text and (crawford or length == 1):
        owner, cube = None, 1
    fields: dict[str, Any] = {}
    if form is not fibs_text and not length:
        fields["jacoby"] = draw(st.booleans())
    if form is xgid:
        fields["highest_cube"] = draw(st.sampled_from([1, 2, 1024, 32768]))
        fields["beavers"] = not length and draw(st.booleans())
    if form is fibs_text:
        fields["players"] = draw(st.sampled_from([("", ""), ("Ann", "Bob"), ("", "Bob")]))
    return Situation(
        where,
        roll=draw(st.sampled_from([None, roll])) if not offered else None,
        match_length=length,
        score=score,
        cube=cube,
        owner=owner,
        offered=offered,
        crawford=crawford,
        **fields,
    )


@pytest.mark.parametrize("form", [xgid, fibs_text])
@settings(max_examples=100)
@given(data=st.data())
def test_situations_come_back(form: Any, data: st.DataObject) -> None:
    situation = data.draw(situations(form))
    assert parse_situation(form(situation)) == situation


# --- moves and rolls ------------------------------------------------------------------------------


@settings(max_examples=200)
@given(data=st.data())
def test_moves_are_read_step_by_step(data: st.DataObject) -> None:
    """Each checker's steps may be separate, in any order and case, with hits marked or not."""
    where, roll = data.draw(st.sampled_from(PLAYED))
    move = data.draw(st.sampled_from(GAME.legal_moves(where, roll)))
    blots = {25 - p for p, n in enumerate(checker_counts(*where[2:4])) if n == 1 and 0 < p < 25}
    steps, rest = [], move
    while rest:
        source, die = rest & 31, rest >> 5 & 7
        target = max(source - die, 0)
        star = "*" if target in blots and data.draw(st.booleans()) else ""
        bar = data.draw(st.sampled_from(["bar", "BAR", "25", "b"])) if source == 25 else source
        off = data.draw(st.sampled_from(["off", "Off", "0"])) if target == 0 else target
        steps.append(f"{bar}/{off}{star}")
        rest >>= 8
    steps = data.draw(st.permutations(steps))
    text = data.draw(st.sampled_from([" ", ", ", ",", "  "])).join(steps) or "cannot move"
    assert GAME.parse_move(where, text, roll) == move


HITS = position({13: 1, 8: 2, 6: 2}, {18: 1, 16: 1, 6: 5})


@pytest.mark.parametrize(
    ("where", "dice", "text", "expected"),
    [
        (START, "31", "6/5 8/5", "8/5 6/5"),
        (START, "31", "8-5,6-5", "8/5 6/5"),
        (START, "13", "8/5,6/5", "8/5 6/5"),
        (START, "66", "24/18 13/7 24/18 13/7", "24/18(2) 13/7(2)"),
        (START, "66", "24/18 (2) 13/7(2)", "24/18(2) 13/7(2)"),
        (START, "65", "24/18/13", "24/13"),
        (START, "65", "24/18 18/13", "24/13"),
        (HITS, "64", "13/7/3", "13/7*/3"),
        (HITS, "64", "13/7* 7/3", "13/7*/3"),
        (HITS, "64", "13/9/3", "13/9*/3"),
        (HITS, "64", "8/2 6/2", "8/2 6/2"),
        (position({6: 2}, {6: 2}), "65", "6/OFF 6/1", "6/1 6/off"),
        (position({6: 2}, {6: 2}), "66", "6/0(2)", "6/off(2)"),
        (position({25: 1}, {6: 2}), "43", "Bar/18", "bar/18"),
        (position({25: 2}, {1: 1, 6: 2}), "11", "bar/24*(2) 24/23(2)", "bar/24*/23 bar/23"),
    ],
)
def test_moves_that_people_write(where: Position, dice: str, text: str, expected: str) -> None:
    roll = GAME.dice.parse(dice)
    assert GAME.move_text(where, GAME.parse_move(where, text, roll)) == expected


def test_rolls() -> None:
    for roll, (high, low) in enumerate(ROLLS):
        for first, second in ((high, low), (low, high)):
            for text in ("{}{}", "{}-{}", "{} {}", "{},{}", " {}/{} ", "({}, {})", "{}{}:"):
                assert GAME.dice.parse(text.format(first, second)) == roll
        assert GAME.dice.text(roll) == f"{high}{low}"


# --- boards ---------------------------------------------------------------------------------------


def test_a_board_with_bars_and_piles() -> None:
    where = position({25: 2, 2: 11}, {25: 1, 6: 3}, side=1)
    lines = GAME.show(where).splitlines()
    assert lines[0].endswith("X: 11 off, 43 pips")
    assert lines[12].endswith("O: 2 off, 72 pips")
    assert lines[13] == "O to move"
    assert [line[20:25] for line in lines[1:6]] == ["| O |", "| O |", "|   |", "|   |", "|   |"]
    assert [line[20:25] for line in lines[7:12]] == ["|   |"] * 4 + ["| X |"]
    # on 2, the fifth home point from the left: a number stands for more than four checkers
    assert [line[37:39] for line in lines[7:12]] == ["11", " O", " O", " O", " O"]
    assert pips(where) == (72, 43)


def test_boards_say_where_everything_is() -> None:
    for where, _ in PLAYED:
        lines = GAME.show(where).splitlines()
        assert len(lines) == 14 and {len(line) for line in lines[1:12]} == {44}
        mine = "XO"[where[4]]
        assert lines[-1] == f"{mine} to move"
        for point, count in enumerate(checker_counts(*where[:2])[1:7], 1):
            column = [line[25 + 3 * (6 - point) : 28 + 3 * (6 - point)] for line in lines[7:12]]
            numbers = [int(x) for x in column if x.strip().isdigit()]
            shown = numbers[0] if numbers else sum(mine in x for x in column)
            assert shown == count


test_errors = errors_of(globals())
