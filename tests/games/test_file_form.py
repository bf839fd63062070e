"""Files of games in the form that each game names, and each game's own answers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from errors import errors_of

import games
from games.board import Pieces
from games.contract import DiceGame, Game
from games.file_form import PLAIN_TEXT, form_of
from games.record import GameRecord, new_record
from play.players.opponents import Opponents

pytestmark = pytest.mark.plain

NAMES = games.names()


def played(game: Game, seed: int = 0, most: int = 12) -> GameRecord:
    """Returns a game of random moves with values, resigned after `most` plies."""
    chance = random.Random(seed)
    record = new_record(game)
    while not record.over and record.ply < most:
        if isinstance(game, DiceGame):
            chances = game.dice.first if record.ply == 0 else game.rolls
            roll = chance.choices(range(len(game.rolls)), list(chances))[0]
            moves = game.legal_moves(record.position, roll)
            record.play(chance.choice(moves), roll=roll)
        else:
            record.play(chance.choice(game.legal_moves(record.position)), value=0.25, depth=3)
    if not record.over:
        record.declare(1.0, "resignation")
    return record


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_read_as_it_was_written(name: str) -> None:
    game = games.load(name)
    form = form_of(game)
    record = played(game)
    names = ("anna", "otto", "carl", "dora", "emil", "frida")[: game.players]
    text = form.write(record, names, {"Event": "test"})
    (read,) = form.read(text, game)
    assert read.problems == [] and read.record is not None
    assert read.names == names and "anna" in read.title
    assert read.record.moves == record.moves and read.record.rolls == record.rolls
    assert read.record.outcome() == record.outcome()
    assert len(list(form.read(text + "\n" + text, game))) == 2


def test_plain_text_names_all_players_and_the_outcome_of_each() -> None:
    game = games.load("chinese_checkers6")
    record = GameRecord(game)
    record.play_text("6-14")
    record.forfeit(4, "resignation")
    names = ("a", "b", "c", "d", "e", "f")
    text = PLAIN_TEXT.write(record, names, {})
    assert '[Sixth "f"]' in text and text.endswith("* resignation 0.2 0.2 0.2 0.2 -1 0.2\n")
    (read,) = PLAIN_TEXT.read(text, game)
    assert read.record == record and read.names == names and read.problems == []


def plain(text: str, game: Game) -> Any:
    return list(PLAIN_TEXT.read(text, game))


@pytest.fixture
def toe() -> Iterator[Game]:
    yield games.load("tic_tac_toe")


def test_plain_text_keeps_values_comments_start_and_resignation(toe: Game) -> None:
    record = new_record(toe, toe.parse_position("X........ O"))
    record.play_text("5")
    record.annotate(value=-0.5, depth=4, comment="the middle\nof it")
    record.declare(-1.0, "resignation")
    text = PLAIN_TEXT.write(record, ("a", "b"), {"Event": 'a "cup"'})
    assert text.splitlines()[-2:] == ["5 ; -0.5 4 the middle of it", "* resignation -1"]
    ((again, names, problems, *_),) = plain(text, toe)
    assert (names, problems) == (("a", "b"), [])
    assert again.start == record.start and again.moves == record.moves
    assert (again.outcome(), again.reason) == (-1.0, "resignation")
    note = again.annotations[0]
    assert (note.value, note.depth, note.comment) == (-0.5, 4, "the middle of it")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10\n*\n", "line 1: expected one of 1, "),
        ('[Game "nim"]\n\n1\n*\n', "line 3: expected a game of tic_tac_toe, found one of 'nim'"),
        ('[Position "XX"]\n\n1\n*\n', "line 3: expected 9 squares of X, O"),
        ("1 ; nan 3\n*\n", "line 1: expected a finite number, found 'nan'"),
        ("1\n2\n4\n5\n7\n8\n*\n", "line 6: expected no move after the end"),
        ("1\n* resignation inf\n", "line 2: expected a finite number"),
    ],
)
def test_damaged_games_come_up_to_their_fault(text: str, said: str, toe: Game) -> None:
    damaged, whole = plain(text + "\n5\n*\n", toe)
    assert damaged.problems[0].startswith(said), damaged.problems
    line = int(said.split(":")[0].split()[1])
    moves = [] if damaged.record is None else damaged.record.moves
    assert len(moves) == (line - 1 if damaged.record else 0)
    assert whole.record is not None and whole.record.moves == [1 << 4]


def test_what_contradicts_the_moves_is_said(toe: Game) -> None:
    won = "1\n4\n2\n5\n3\n"
    (read,) = plain(won + "* end of the game -1\n", toe)
    assert read.record.outcome() == 1.0
    assert read.problems == ["line 6: expected the outcome 1, found -1"]
    (read,) = plain(won, toe)
    assert read.problems == ["line 5: expected a line with *, found the end of the file"]


def test_what_plain_text_cannot_hold_is_refused(toe: Game) -> None:
    with pytest.raises(ValueError, match="tag Event: expected printable"):
        PLAIN_TEXT.write(new_record(toe), ("a", "b"), {"Event": "a\nb"})


@pytest.mark.parametrize("name", NAMES)
def test_games_answer_for_themselves(name: str) -> None:
    game = games.load(name)
    assert len(set(game.sides)) == game.players == len(game.sides) and game.unit
    record = new_record(game)
    assert isinstance(record, GameRecord) and record.game is game
    opponents = Opponents.of(game)
    assert set(opponents.pacemakers) <= set(opponents.usual)
    for player in opponents.usual:
        assert player == "random" or player in game.evaluators
    removals = Pieces.of(game).removals
    for part in removals(record.position) if removals is not None else ():
        words, count, without = part
        assert words and count >= 1 and without != record.position


test_errors = errors_of(globals())
