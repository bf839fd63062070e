"""Records of games with dice, the cube in records of backgammon, and .mat files."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from errors import errors_of
from hypothesis import given, settings
from hypothesis import strategies as st

from games import MoveError, load
from games.backgammon.identifiers import xgid
from games.backgammon.match_file import RecordedMatch, read_matches, write_match
from games.backgammon.record import BackgammonRecord, CubeAction
from games.backgammon.rules import START
from games.backgammon.situation import position_of
from games.record import Annotation, GameRecord

pytestmark = pytest.mark.plain

GAME: Any = load("backgammon")


def last_roll(their_points: dict[int, int], side: int = 0) -> Any:
    """Returns a position in which the side to move bears off its last checker."""
    theirs = [their_points.get(point, 0) for point in range(26)]
    return position_of([0, 1, *[0] * 24], theirs, side)


def play(record: GameRecord, *turns: str) -> Any:
    """Play turns such as `31: 8/5 6/5`; `double`, `take` and `drop` are actions of the cube."""
    for turn in turns:
        if turn in ("double", "take", "drop"):
            record.act(turn)
        else:
            dice, text = turn.split(": ")
            record.play_text(text, roll=GAME.dice.parse(dice))
    return record


OPENING = ("31: 8/5 6/5", "42: 8/4 6/4")


# --- records --------------------------------------------------------------------------------------


def test_a_record_keeps_the_rolls() -> None:
    record = play(GameRecord(GAME), *OPENING)
    assert [GAME.dice.text(roll) for roll in record.rolls] == ["31", "42"]
    assert (record.ply, record.to_move, record.outcome(), record.history) == (2, 0, None, [])
    move = record.undo()
    assert GAME.move_text(record.position, move) == "8/4 6/4"
    assert len(record.rolls) == 1
    record.play(move, roll=GAME.dice.parse("42"), value=-0.1, depth=2, comment="as usual")
    assert record.annotations[1] == Annotation(-0.1, 2, "as usual")


def test_a_record_checks_a_move_with_its_roll() -> None:
    record = GameRecord(GAME)
    move = GAME.parse_move(START, "8/5 6/5", GAME.dice.parse("31"))
    for roll in (None, -1, 21, "31"):
        with pytest.raises(MoveError, match=f"roll: expected 0 to 20, found {roll!r}"):
            record.play(move, roll=roll)  # type: ignore[arg-type]
        with pytest.raises(MoveError, match="roll: expected 0 to 20"):
            record.play_text("8/5 6/5", roll=roll)  # type: ignore[arg-type]
    with pytest.raises(MoveError, match="expected one of .*13/11 6/5.*, found "):
        record.play(move, roll=GAME.dice.parse("21"))
    assert (record.ply, record.rolls, record.annotations) == (0, [], [])
    checkers = GameRecord(load("checkers"))
    with pytest.raises(MoveError, match="expected no roll in a game without dice, found 3"):
        checkers.play_text("11-15", roll=3)
    checkers.play_text("11-15")
    assert checkers.rolls == [None]


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("theirs", "points"), [({6: 14}, 1), ({6: 15}, 2), ({6: 14, 25: 1}, 3)])
def test_outcomes_are_points_for_x(theirs: dict[int, int], points: int, side: int) -> None:
    for kind in (GameRecord, BackgammonRecord):
        record = play(kind(GAME, last_roll(theirs, side)), "21: 1/off")
        assert record.outcome() == (points if side == 0 else -points)
        assert (record.over, record.reason) == (True, "end of the game")
        with pytest.raises(MoveError, match="expected no move after the end"):
            play(record, "21: no move")


def test_a_record_of_legal_moves() -> None:
    record = play(GameRecord(GAME), *OPENING)
    positions, moves = list(record.positions), list(record.moves)
    for kind in (GameRecord, BackgammonRecord):
        copy = kind.of_legal(GAME, positions, moves, record.annotations, rolls=list(record.rolls))
        assert isinstance(copy, kind)
        assert (copy.positions, copy.rolls, copy.to_move) == (positions, record.rolls, 0)
    assert GameRecord.of_legal(GAME, positions, moves, record.annotations).rolls == [None, None]


# --- the cube -------------------------------------------------------------------------------------


def test_a_double_that_is_taken() -> None:
    record = play(BackgammonRecord(GAME, match_length=7, score=(2, 3)), *OPENING, "double")
    assert (record.offered, record.cube, record.owner) == (True, 1, None)
    assert xgid(record.situation()).split(":")[1:] == "0:0:1:D:2:3:0:7:10".split(":")
    with pytest.raises(MoveError, match="expected an answer to the double, take or drop, found"):
        play(record, "31: 8/5 6/5")
    with pytest.raises(MoveError, match="expected an answer to the double"):
        record.act("double")
    record.act("take")
    assert (record.offered, record.cube, record.owner) == (False, 2, 1)
    assert record.actions == [CubeAction(2, 0, "double"), CubeAction(2, 1, "take")]
    with pytest.raises(MoveError, match="expected a double before take"):
        record.act("take")
    play(record, "21: 13/11 6/5")
    assert xgid(record.situation(roll=3)).split(":")[1:] == "1:-1:-1:31:2:3:0:7:10".split(":")
    play(record, "double", "take")
    assert (record.cube, record.owner) == (4, 0)
    play(record, "31: 6/2")
    record.undo()
    assert (record.cube, record.owner, len(record.actions)) == (4, 0, 4)
    record.undo()
    assert (record.cube, record.owner, record.ply) == (2, 1, 2)
    record.undo()
    assert (record.cube, record.owner, record.actions) == (1, None, [])


def test_a_double_that_is_dropped() -> None:
    record = play(BackgammonRecord(GAME, match_length=5, score=(1, 0)), *OPENING, "double", "drop")
    assert (record.outcome(), record.reason, record.cube) == (1.0, "double dropped", 1)
    assert record.final_score() == (2, 0)
    record = play(BackgammonRecord(GAME), "31: 8/5 6/5", "double", "take", *OPENING[1:])
    play(record, "double", "drop")
    assert (record.outcome(), record.final_score()) == (2.0, (2, 0))
    for kind in ("take", "double", "drop"):
        with pytest.raises(MoveError):
            record.act(kind)
    record.undo()
    assert (record.over, record.cube, record.offered) == (False, 2, False)


@pytest.mark.parametrize(
    ("options", "turns", "outcome"),
    [
        ({"cube": 4}, (), 8.0),
        ({"cube": 4, "owner": 0}, ("double", "take"), 16.0),
        ({"jacoby": True}, (), 1.0),
        ({"jacoby": True}, ("double", "take"), 4.0),
    ],
)
def test_points_by_the_cube(options: Any, turns: Any, outcome: float) -> None:
    record = BackgammonRecord(GAME, last_roll({6: 15}), **options)
    assert play(record, *turns, "21: 1/off").outcome() == outcome


# --- files ----------------------------------------------------------------------------------------

#: As GNU Backgammon writes it; eXtreme Gammon uses other spaces and words.
SAMPLE = """\
; [Site "a club"]
; [Match Date "2024.05.01"]

 3 point match

 Game 1
 Ann Lee : 0                     Bob : 0
  1)                             31: 8/5 6/5
  2) 42: 8/4 6/4                 64: 24/14
  3)  Doubles => 2                Takes
  4) 65: 24/18 13/8               Doubles => 4
  5)  Drops
                                  Wins 2 points

 Game 2
 Ann Lee : 0                     Bob : 2
  1) 21: 13/11 6/5               55: 13/3(2)
  2) 11: 24/23 6/5*/4* bar/24
"""


def read_one(text: str) -> RecordedMatch:
    (match,) = read_matches(text, GAME)
    return match


def test_a_match_is_read() -> None:
    match = read_one(SAMPLE.replace("  2) 11: 24/23 6/5*/4* bar/24\n", "  2) 11:\n"))
    assert (match.match_length, match.players) == (3, ("Ann Lee", "Bob"))
    assert match.tags == {"Site": "a club", "Match Date": "2024.05.01"}
    assert match.problems == []
    (first, problems), (second, others) = match.games
    assert problems == [] and first is not None
    assert first.start == (*START[:4], 1)
    assert [GAME.dice.text(roll) for roll in first.rolls] == ["31", "42", "64", "65"]
    assert [(action.ply, action.side, action.kind) for action in first.actions] == [
        (3, 0, "double"), (3, 1, "take"), (4, 1, "double"), (4, 0, "drop"),
    ]  # fmt: skip
    assert (first.outcome(), first.final_score(), first.crawford) == (-2.0, (0, 2), False)
    # 11 can be played, so that the game breaks off here
    assert second is not None and not second.over
    assert others == ["line 18: expected a game with an end, found none"]


def test_the_words_of_other_programs() -> None:
    text = """Game 1
 White: 0     Black: 0
 1) 31: 8/5, 6/5      64: 24/18 13/9
 2) 66: 24/18(2) 13/7(2)   31: Bar/24
"""
    (game,) = read_one(text).games
    assert game.record is not None and game.record.ply == 3  # no checker is on the bar
    text = """\ufeff5 Point Match

Game 1
Ann : 0                 Bob : 0
 1) 6-1: 13/7 8/7\t\t52: 13/8 24/22
"""
    match = read_one(text)
    assert match.games[0].record is not None  # `6-1:` is not a roll and is reported
    text = "money session\r\n Game 1\r\n Ann      Bob\r\n 1) 61: 8/7 13/7   43: 24/20 13/10\r\n"
    match = read_one(text + " 2) 65: 24/13   Resigns\r\n  Wins 3 points\r\n")
    (game,) = match.games
    assert game.record is not None and game.problems == []
    assert match.players == ("Ann", "Bob") and match.match_length == 0
    assert (game.record.outcome(), game.record.reason) == (3.0, "resignation")


def test_a_side_may_resign_after_its_roll() -> None:
    text = " Game 1\n A : 0     B : 0\n 1) 61: 8/7 13/7    43:\n      Wins 1 point\n"
    ((record, problems),) = read_one(text).games
    assert record is not None and problems == []
    assert (record.ply, record.outcome()) == (1, 1.0)


def damaged(old: str, new: str) -> None:
    """Raises the problem of a damaged game, which leaves the next one as it is."""
    assert old in SAMPLE
    text = SAMPLE.replace(old, new, 1).replace("  2) 11: 24/23 6/5*/4* bar/24\n", "")
    match = read_one(text)
    assert len(match.games) == 2
    second = match.games[1].record
    assert second is not None and second.ply == 2 and second.score == (0, 2)
    raise ValueError(match.games[0].problems[0])


def mended(old: str, new: str) -> None:
    """Raises the problems of games with an error that leaves the moves in no doubt."""
    assert old in SAMPLE
    text = SAMPLE.replace(old, new, 1).replace("  2) 11: 24/23 6/5*/4* bar/24\n", "")
    match = read_one(text)
    assert all(game.record is not None for game in match.games)
    raise ValueError("; ".join(problem for game in match.games for problem in game.problems))


def test_a_drop_that_is_not_written() -> None:
    match = read_one(SAMPLE.replace("  5)  Drops\n", ""))
    record = match.games[0].record
    assert record is not None and (record.outcome(), record.reason) == (-2.0, "double dropped")


def test_files_without_games() -> None:
    assert list(read_matches("", GAME)) == []
    assert list(read_matches("\n\n", GAME)) == []
    match = read_one("this is no match\n")
    assert (match.games, len(match.problems)) == ([], 1)
    assert match.problems[0].startswith("line 1: expected a match length or a game, found")


#: Games of the dialects of servers: a title with the points for X, what is odd, and the text.
DIALECTS = re.findall(
    r"^== (.*): (\S+) points\n((?:\? .*\n)*)((?:[^=?].*\n|\n)+)",
    (Path(__file__).parent / "dialects.txt").read_text("utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(
    ("points", "odd", "text"), [row[1:] for row in DIALECTS], ids=[row[0] for row in DIALECTS]
)
def test_the_dialects_of_servers(points: str, odd: str, text: str) -> None:
    match = read_one(text)
    ((record, problems),) = match.games
    assert record is not None and [f"? {problem}" for problem in problems] == odd.splitlines()
    assert record.outcome() == int(points)


def test_the_tags_of_a_file_switch_rules() -> None:
    text = '; [Jacoby "On"]\n Game 1\n A : 0     B : 0\n  1) 31: 8/5 6/5\n      Wins 2 points\n'
    match = read_one(text)
    assert match.games[0].record is not None and match.games[0].record.jacoby
    text = '; [Crawford "Off"]\n 3 point match\n Game 1\n A : 2     B : 0\n  1) 31: 8/5 6/5\n'
    match = read_one(text)
    assert match.games[0].record is not None and not match.games[0].record.crawford


def test_scores_that_cannot_be_do_not_hide_the_moves() -> None:
    """A match whose first game was worth 2008 points goes on with scores that are possible."""
    (text,) = (row[-1] for row in DIALECTS if row[0].startswith("a hidden move and points"))
    text = text.replace("3 point", "5 point")
    text += "\n Game 2\n Ann : 2008      Bob : 0\n  1) 31: 8/5 6/5     42: 8/4 6/4\n"
    first, second = read_one(text).games
    assert first.record is not None and first.record.final_score() == (5, 0)
    assert second.record is not None and second.record.score == (4, 0)
    assert any("expected scores below the match length, 5" in line for line in second.problems)


def test_a_die_without_a_move_is_written_as_nothing() -> None:
    position = position_of([0, 0, 1, *[0] * 23], [0] * 6 + [14] + [0] * 19, 0)
    roll = GAME.dice.parse("21")
    assert GAME.parse_move(position, "2/0 0/0", roll) == GAME.parse_move(position, "2/off", roll)


def random_match(generator: random.Random, length: int) -> list[BackgammonRecord]:
    """Returns games of a match with random doubles, drops and resignations."""
    records: list[BackgammonRecord] = []
    score, seen_crawford = (0, 0), False
    while len(records) < 12 and (length == 0 or max(score) < length):
        crawford = length > 1 and not seen_crawford and max(score) == length - 1
        seen_crawford |= crawford
        start = (*START[:4], generator.randrange(2))
        record = BackgammonRecord(GAME, start, match_length=length, score=score, crawford=crawford)
        while not record.over:
            chance = generator.random()
            free = not crawford and record.cube < 64 and record.owner in (None, record.to_move)
            if record.ply and chance < 0.03 and free:
                record.act("double")
                record.act("take") if generator.random() < 0.7 else record.act("drop")
            elif record.ply and chance > 0.995:
                record.declare(generator.choice([-3.0, -1.0, 2.0]) * record.cube, "resignation")
            else:
                roll = generator.randrange(21)
                moves = GAME.legal_moves(record.position, roll)
                record.play(generator.choice(moves), roll=roll)
        records.append(record)
        after = record.final_score()
        assert after is not None
        score = after
    return records


def facts(record: BackgammonRecord) -> tuple[Any, ...]:
    return (
        record.positions, record.moves, record.rolls, record.actions, record.score,
        record.match_length, record.crawford, record.outcome(), record.cube, record.owner,
    )  # fmt: skip


@pytest.mark.parametrize(("length", "seed"), [(0, 1), (1, 2), (3, 3), (11, 4), (25, 5)])
def test_matches_come_back(length: int, seed: int) -> None:
    records = random_match(random.Random(seed), length)
    tags = {"Site": "here", "Player 1": "Ann; Lee"}
    text = write_match(records, ("Ann Lee", "Bob (2)"), tags=tags)
    match = read_one(text)
    assert (match.match_length, match.players, match.tags) == (length, ("Ann Lee", "Bob (2)"), tags)
    assert [game.problems for game in match.games] == [[]] * len(records)
    assert [facts(game.record) for game in match.games if game.record] == list(map(facts, records))
    assert (
        write_match([g.record for g in match.games if g.record], match.players, tags=tags) == text
    )
    twice = list(read_matches(text + "\n" + text, GAME))
    assert [len(match.games) for match in twice] == [len(records)] * 2


def test_tags_of_matches_in_one_file() -> None:
    generator = random.Random(6)
    sessions = [random_match(generator, 0)[:1] for _ in range(3)]
    texts = [
        write_match(records, tags={"Round": str(number)}) for number, records in enumerate(sessions)
    ]
    assert [m.tags for m in read_matches("\n".join(texts), GAME)] == [
        {"Round": "0"},
        {"Round": "1"},
        {"Round": "2"},
    ]
    (match,) = read_matches(texts[0] + '; [Site "behind it"]\n', GAME)
    assert match.tags == {"Round": "0", "Site": "behind it"}


def test_a_game_that_goes_on_comes_back() -> None:
    record = play(BackgammonRecord(GAME), *OPENING, "double")
    ((read, problems),) = read_one(write_match([record])).games
    assert read is not None and facts(read) == facts(record)
    assert problems == ["line 6: expected a game with an end, found none"]


def test_what_is_written() -> None:
    record = play(BackgammonRecord(GAME, (*START[:4], 1), match_length=1), "31: 8/5 6/5")
    record.declare(-1.0, "resignation")
    assert write_match([record], ("Ann", "Bob")).splitlines() == [
        " 1 point match",
        "",
        " Game 1",
        " Ann : 0                         Bob : 0",
        "  1)                              31: 8/5 6/5",
        "                                  Wins 1 point and the match",
    ]


def declared(outcome: float) -> BackgammonRecord:
    record = play(BackgammonRecord(GAME), *OPENING)
    record.declare(outcome, "by somebody")
    return record


@settings(max_examples=150)
@given(
    cuts=st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 9), st.text(max_size=6)), max_size=5
    )
)
def test_a_damaged_file_is_read_to_its_end(cuts: list[tuple[int, int, str]]) -> None:
    text = SAMPLE
    for place, length, instead in cuts:
        place %= len(text) + 1
        text = text[:place] + instead + text[place + length :]
    for match in read_matches(text, GAME):
        for record, problems in match.games:
            assert record is not None or problems
            assert all(problem.startswith("line ") for problem in problems)


test_errors = errors_of(globals())
