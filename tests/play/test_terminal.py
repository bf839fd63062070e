"""Games in a terminal: commands and their answers, with and without colour."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import games
from games.backgammon.identifiers import xgid
from games.backgammon.match_file import read_matches
from games.backgammon.situation import Situation, position_of
from games.checkers.pdn import read_games
from play.players.limits import Limits
from play.players.parse import seated
from play.players.seats import Seat
from play.terminal import Paint, Session, wants_colour
from play.web.cube_table import Play
from play.words import Words

ROOT = Path(__file__).resolve().parents[2]
CHECKERS: Any = games.load("checkers")
BACKGAMMON: Any = games.load("backgammon")
#: X bears off its last checker with any roll.
WON = position_of([0, 1] + [0] * 24, [2 * (point == 6) for point in range(26)], 0)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def classic() -> Seat:
    return seated(CHECKERS, "classic", Limits(depth=2), table_mib=1)


@pytest.fixture(scope="module")
def hand() -> Seat:
    return seated(BACKGAMMON, "hand", Limits(depth=0), table_mib=1)


@pytest.fixture(scope="module")
def wide() -> Seat:
    return seated(BACKGAMMON, "wide", Limits(depth=0), table_mib=1)


def say(session: Session, *lines: str) -> str:
    """Returns everything that is shown for these lines, including the board before the first."""
    texts = list(session.advance())
    for line in lines:
        texts += session.answer(line)
        texts += session.advance()
    return "\n".join(texts)


def test_checkers_is_played(classic: Seat) -> None:
    session = Session(CHECKERS, classic)
    assert "Black to move" in say(session)
    shown = say(session, "11-15")
    assert re.search(r"White \(classic\): \d+-\d+   [+-]\d\.\d{3} at depth 2", shown)
    assert session.record.ply == 2 and session.side == 0
    assert session.record.annotations[1].depth == 2
    assert "11." in shown and "15b" in shown


def test_moves_that_are_illegal_change_nothing(classic: Seat) -> None:
    session = Session(CHECKERS, classic)
    shown = say(session, "12-12", "rubbish", "11-15 22-18", "1" * 10_000, "")
    assert "expected one of 9-13" in shown and "found '12-12'" in shown
    assert "found 'rubbish'" in shown
    assert session.record.ply == 0 and len(shown) < 3000


def test_undo_goes_back_to_the_person(classic: Seat) -> None:
    session = Session(CHECKERS, classic)
    assert "expected a move of yours to take back" in say(session, "undo")
    first = say(session, "11-15")
    shown = say(session, session.completions("")[0], "undo")
    assert "Taken back." in shown
    assert session.record.ply == 2
    say(session, "undo")
    assert session.record.ply == 0
    assert say(session, "11-15").splitlines()[-1] == first.splitlines()[-1]


def test_people_see_their_own_side_at_the_bottom(classic: Seat, hand: Seat) -> None:
    session = Session(CHECKERS, classic, frozenset({1}))
    shown = say(session)
    assert session.record.ply == 1 and session.side == 1
    rows = [line for line in shown.splitlines() if re.match(r" +\d", line)]
    assert rows[0].split()[0].startswith("1b") and rows[-1].split()[-1].startswith("32w")
    assert "expected a move of yours" in say(session, "undo")
    assert say(session, "flip").split()[0] == "32w"
    assert say(Session(CHECKERS, classic)).split()[0] == "32w"
    board = say(Session(BACKGAMMON, hand, frozenset({1}), seed=3)).split("O to play")[0]
    assert "O: 0 off" in board.splitlines()[-1]


def test_a_board_with_one_side_is_not_turned() -> None:
    game = games.load("connect_four")
    session = Session(game, seated(game, "centre", Limits(depth=1)))
    shown = say(session)
    assert say(session, "flip") == "The board of Connect Four is shown from one side only."
    assert say(session, "board").startswith(shown)


@pytest.mark.parametrize("name", ["connect_four", "chinese_checkers", "tic_tac_toe", "nim"])
def test_the_side_to_move_is_said_once(name: str) -> None:
    game = games.load(name)
    nobody: Any = None  # it is a person's turn
    assert say(Session(game, nobody)).lower().count(f"{game.sides[0].lower()} to move") == 1


def test_hint_moves_why_level_and_position(classic: Seat) -> None:
    thinker = seated(CHECKERS, "classic", Limits(depth=2), table_mib=1)
    session = Session(CHECKERS, thinker, frozenset({0, 1}))
    hint = say(session, "hint").splitlines()
    best = thinker.think(CHECKERS.start(), all_moves=True)
    assert CHECKERS.move_text(CHECKERS.start(), best.moves[0][0]) in "\n".join(hint)
    chances = classic.evaluator.chances(CHECKERS.start(), best.value, best.nodes)
    play = "if both search 2,000 positions a move"
    assert chances is not None and f"({chances.text} {play})" in "\n".join(hint)
    assert "9-13, 10-14, 11-15" in say(session, "moves")
    assert "all contributions are 0" in say(session, "why")
    assert " %" not in say(session, "why").splitlines()[0]  # chances hold for searched values
    assert "B:W21" in say(session, "position")
    assert "classic@3 has depth 3 a move." in say(session, "level classic@3")
    for wrong in ("level fast", "level classic@0", "level level99", "level random"):
        assert "expected" in say(session, wrong)
    assert session.thinker.limits == Limits(depth=3)
    assert session.adviser is thinker
    assert "level2 has depth 1 a move." in say(session, "level level2")
    assert "undo" in say(session, "help")
    assert session.completions("9") == ["9-13", "9-14"]
    assert session.completions("qu") == ["quit"] and "help" in session.completions("")


def test_new_positions_and_the_end(classic: Seat) -> None:
    session = Session(CHECKERS, classic)
    assert "expected the side to move at the beginning" in say(session, "new nonsense")
    assert session.record.position == CHECKERS.start()
    shown = say(session, "new B:W18:B15", "15x22")
    assert "Black wins: White has no piece left." in shown
    assert "The game is over" in say(session, "22-25")
    assert "There are no legal moves now" in say(session, "moves")
    assert "nothing to decide" in say(session, "hint")
    assert "found it over" in say(session, "resign")
    say(session, "undo")
    assert session.record.ply == 0
    assert "White wins: Black resigned." in say(session, "resign")
    assert "Black to move" in say(session, "new")
    assert "save" in say(session, "save")
    list(session.answer("quit"))
    assert session.done


def test_games_are_saved_and_read_back(classic: Seat, tmp_path: Path) -> None:
    session = Session(CHECKERS, classic)
    path = tmp_path / "game.pdn"
    say(session, "11-15", f"save {path}")
    (read,) = read_games(path.read_text("utf-8"), CHECKERS)
    assert read.record is not None and read.record.moves == session.record.moves
    assert read.tags["Black"] == "person" and read.tags["White"] == "classic"
    say(session, "resign", f"save {path}")  # a file of this session
    assert '[Result "1-0"]' in path.read_text("utf-8")
    other = Session(CHECKERS, classic)
    before = path.read_text("utf-8")
    assert "expected a new file" in say(other, f"save {path}")
    assert path.read_text("utf-8") == before
    assert f"Saved to {path}" in say(other, f"save! {path}")
    assert "found the folder" in say(other, f"save! {tmp_path}")
    assert "null" in say(other, "save \0")
    missing = tmp_path / "no/such/game.pdn"
    for command in ("save", "save!"):
        found = say(other, f"{command} {missing}")
        assert f"expected a folder that exists, found none at {missing.parent}" in found
    assert not (tmp_path / "no").exists()


def test_pieces_differ_by_sign_and_not_by_colour_alone(classic: Seat) -> None:
    session = Session(CHECKERS, classic, paint=Paint(colour=True, symbols=True))
    say(session, "new B:WK29,32,31:BK4,1,2,3")
    plain = re.sub("\x1b[^m]*m", "", session.board())
    found = {sign: plain.count(sign) for sign in "●○♚♔bwBW"}
    assert found == {"●": 3, "○": 2, "♚": 1, "♔": 1, "b": 0, "w": 0, "B": 0, "W": 0}


def test_backgammon_is_played_with_dice_of_a_seed(hand: Seat) -> None:
    session = Session(BACKGAMMON, hand, seed=5)
    shown = say(session)
    assert re.search(r"X to play \d\d", shown)
    roll = session.table.roll
    move = session.completions("")[0]
    assert "expected one of" in say(session, "24/1")
    say(session, move)
    assert session.side == 0 and session.record.ply >= 2
    assert "no cube" in say(session, "double") and "no cube" in say(session, "take")
    say(session, "undo")
    assert session.record.position[4] == 0 and session.table.roll == roll
    again = Session(BACKGAMMON, hand, seed=5)
    assert say(again) == shown


def test_whole_games_of_backgammon_by_first_moves(hand: Seat, tmp_path: Path) -> None:
    reasons = set()
    for seed in range(4):
        session = Session(BACKGAMMON, hand, seed=seed)
        turns = 0
        shown = say(session)
        while not session.record.over:
            shown = say(session, session.completions("")[0])
            turns += 1
            assert turns < 500
        reasons.add(re.search(r"O wins (.*)\.", shown)[1])  # type: ignore[index]
        path = tmp_path / f"{seed}.mat"
        assert "Saved" in say(session, f"save {path}")
        (match,) = read_matches(path.read_text("utf-8"), BACKGAMMON)
        assert match.games[0].problems == []
        assert match.games[0].record is not None
        assert match.games[0].record.outcome() == session.record.outcome()
        assert match.games[0].record.moves == session.record.moves
    assert any("points" in reason for reason in reasons)


def test_dice_that_are_typed_in(hand: Seat) -> None:
    session = Session(BACKGAMMON, hand)
    assert session.prompt == "dice of X> "
    shown = say(session, "33", "77", "8/5 6/5", "3 1")
    assert "expected a first roll, one of 21, 31, 32, 41" in shown and "found '33'" in shown
    assert shown.count("expected a roll") == 2
    assert session.prompt == "X 31> "
    assert "dice of O> " == (say(session, "8/5 6/5"), session.prompt)[1]
    assert "O (hand): 66: 24/18(2) 13/7(2)" in say(session, "66")
    say(session, "undo")
    assert session.prompt == "X 31> " and session.record.ply == 0
    assert "X wins" not in say(session, "resign") and "O wins 1 point" in say(
        session, "board", "new", "resign"
    )


def test_positions_of_backgammon_are_set_up(hand: Seat, tmp_path: Path) -> None:
    session = Session(BACKGAMMON, hand, seed=1)
    say(session, "new XGID=-b----E-C---eE---c-e----B-:1:1:1:52:0:0:0:0:10")
    assert session.prompt == "X 52> "
    assert (session.record.cube, session.record.owner) == (2, 0)  # type: ignore[attr-defined]
    match = "XGID=-b----E-C---eE---c-e----B-:0:0:1:52:1:2:1:3:10"
    shown = say(session, f"new {match}")
    assert "X 1 : 2 O of 3, Crawford game; cube 1, in the middle" in shown
    assert Words.of(BACKGAMMON).situation(session.record, session.table.roll) == match
    offered = "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:D:0:0:0:0:10"
    assert "expected take or drop" in say(session, f"new {offered}", "31")
    assert "X takes." in say(session, "take") and session.table.record.cube == 4
    assert "expected a position ID" in say(session, "new XGID=rubbish")
    say(session, "new 4HPwATDgc/ABMA O")
    assert session.record.ply == 1 and session.side == 0
    # a side that is shut out cannot move with any roll
    shut = Session(BACKGAMMON, hand, frozenset({0, 1}), seed=2)
    shown = say(shut, "new XGID=bBBBBBB---a-------------C-:0:0:-1:00:0:0:0:0:10")
    assert "O cannot move with" in shown and shut.side == 0
    assert "expected a game from the start, found " in say(shut, f"save {tmp_path / 'b.mat'}")


def test_people_double_and_answer(wide: Seat) -> None:
    session = Session(BACKGAMMON, wide, frozenset({0, 1}), play=Play(True), first=0)
    assert session.prompt == "dice of X> "  # nobody doubles in the first turn
    say(session, "31", "8/5 6/5")
    assert session.prompt == "O: roll or double> "
    assert "Double before a roll" in say(session, "help")
    assert "expected roll or double, found take" in say(session, "take")
    assert "no double, take: the cube is worth more where it is" in say(session, "hint")
    assert "O doubles to 2." in say(session, "double")
    assert session.prompt == "X: take or drop> "
    assert "expected take or drop, found '31'" in say(session, "31")
    assert "double and take -" in say(session, "hint")
    shown = say(session, "take")
    assert "X takes." in shown and "cube 2, of X" in shown
    assert session.prompt == "dice of O> "
    say(session, "42", "8/4 6/4")
    assert session.prompt == "X: roll or double> "
    say(session, "61", "13/7 8/7")  # dice that are typed in are a roll
    assert session.prompt == "dice of O> "  # O has no access to the cube
    assert "expected dice, found double" in say(session, "double")
    assert "expected dice, found beaver" in say(session, "beaver")
    assert "expected dice, found roll" in say(session, "roll")
    say(session, "65", "13/8 13/7", "redouble")
    assert "O drops." in say(session, "drop") and session.record.outcome() == 2.0


def test_the_evaluator_doubles_and_answers(wide: Seat) -> None:
    session = Session(BACKGAMMON, wide, frozenset({1}), seed=1, play=Play(True))
    shown = say(session, f"new {xgid(Situation(WON))}")
    assert "X doubles to 2." in shown and session.prompt == "O: take or drop> "
    assert "O drops." in say(session, "drop") and session.record.outcome() == 1.0
    session = Session(BACKGAMMON, wide, frozenset({0}), seed=1, play=Play(True))
    shown = say(session, f"new {xgid(Situation(WON))}", "double")
    assert "X doubles to 2." in shown and "O drops." in shown and session.record.over
    # an even position is a take, and the evaluator then owns the cube
    shown = say(session, f"new {xgid(Situation(BACKGAMMON.start()))}", "double")
    assert "O takes." in shown and "cube 2, of O" in shown


def test_games_without_the_cube_are_as_before(wide: Seat) -> None:
    session = Session(BACKGAMMON, wide, frozenset({0, 1}), first=0)
    say(session, "31", "8/5 6/5")
    assert session.prompt == "dice of O> "
    hand = seated(BACKGAMMON, "hand", Limits(depth=0), table_mib=1)
    with pytest.raises(ValueError, match="expected an evaluator that gives chances, found hand"):
        Session(BACKGAMMON, hand, play=Play(True))


@pytest.mark.plain
def test_who_wants_colour() -> None:
    class Terminal:
        def __init__(self, answer: bool) -> None:
            self.answer = answer

        def isatty(self) -> bool:
            return self.answer

    assert wants_colour(Terminal(True), {"TERM": "xterm"})
    assert not wants_colour(Terminal(False), {"TERM": "xterm"})
    assert not wants_colour(Terminal(True), {"TERM": "xterm", "NO_COLOR": "1"})
    assert wants_colour(Terminal(True), {"TERM": "xterm", "NO_COLOR": ""})
    assert not wants_colour(Terminal(True), {"TERM": "dumb"})
    assert not wants_colour(Terminal(True), {})


def test_colour_changes_no_word(classic: Seat, hand: Seat) -> None:
    plain = say(Session(CHECKERS, classic), "11-15")
    painted = say(Session(CHECKERS, classic, paint=Paint(True)), "11-15")
    assert "\x1b" not in plain and "\x1b" in painted
    # without colour, empty squares are shown as full stops
    assert COLOURS.sub("", painted) == re.sub(r"(?<=\d)\.(?=[ *])", " ", plain)
    first = say(Session(BACKGAMMON, hand, seed=1))
    second = say(Session(BACKGAMMON, hand, seed=1, paint=Paint(True, True)))
    assert COLOURS.sub("", second) == first and second != first


def piped(text: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "play", *arguments],
        cwd=ROOT,
        input=text.encode("latin-1"),
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


def test_from_a_pipe() -> None:
    lines = "11-15\n\xff\xfe\n" + "x" * 2_000_000 + "\nhint\n"
    found = piped(lines, "checkers", "classic", "--depth", "2", PYTHONIOENCODING="ascii")
    out = found.stdout.decode("ascii")
    assert (found.returncode, found.stderr) == (0, b"")
    assert "\x1b" not in out and len(out) < 10_000
    assert "White (classic):" in out and "principal variation:" in out


def test_at_a_terminal_with_colour_and_completion() -> None:
    """In a pseudo-terminal Tab completes a move, and two Ctrl-C leave the program."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "play", "checkers", "classic", "--depth", "2", "--play", "both"],
        cwd=ROOT,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "NO_COLOR": ""},
    )
    os.close(terminal)
    killer = threading.Timer(90, process.kill)
    killer.start()
    shown = b""

    def until(*words: bytes) -> None:
        """Read until the words have come, one after the other; then the prompt reads keys."""
        nonlocal shown
        shown = b""
        place = 0
        for word in words:
            while shown.find(word, place) < 0:
                shown += os.read(controller, 4096)
            place = shown.find(word, place) + len(word)

    try:
        until(b"Black> ")
        assert b"\x1b[48;5;22m" in shown and "●".encode() in shown
        os.write(controller, b"9-14\n")
        until(b"White to move", b"White> ")
        os.write(controller, b"23\t")  # 23-18 or 23-19
        os.write(controller, b"8\n")
        until(b"a capture is mandatory", b"Black> ")
        os.write(controller, b"14\t\n")  # the only move with it
        until(b"White to move: a capture is mandatory", b"White> ")
        assert b"14x23" in shown
        os.write(controller, b"\x04")
        assert process.wait(300) == 0
    finally:
        killer.cancel()
        process.kill()
        process.wait()
        os.close(controller)
