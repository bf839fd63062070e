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
from games.backgammon.match_file import read_matches
from games.checkers.pdn import read_games
from play.players.limits import Limits
from play.players.thinker import Thinker
from play.terminal import Paint, Session, wants_colour
from play.terminal.backgammon import BackgammonSession
from play.terminal.checkers import CheckersSession
from play.words import Words
from search.lookups.rote import RoteMemory

ROOT = Path(__file__).resolve().parents[2]
CHECKERS: Any = games.load("checkers")
BACKGAMMON: Any = games.load("backgammon")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def classic() -> Thinker:
    return Thinker(CHECKERS, "classic", Limits(depth=2), table_mib=1)


@pytest.fixture(scope="module")
def hand() -> Thinker:
    return Thinker(BACKGAMMON, "hand", Limits(depth=0), table_mib=1)


def say(session: Session, *lines: str) -> str:
    """Returns everything that is shown for these lines, including the board before the first."""
    texts = list(session.advance())
    for line in lines:
        texts += session.answer(line)
        texts += session.advance()
    return "\n".join(texts)


def test_checkers_is_played(classic: Thinker) -> None:
    session = CheckersSession(CHECKERS, classic)
    assert "Black to move" in say(session)
    shown = say(session, "11-15")
    assert re.search(r"White \(classic\): \d+-\d+   [+-]\d\.\d{3} at depth 2", shown)
    assert session.record.ply == 2 and session.side == 0
    assert session.record.annotations[1].depth == 2
    assert "11." in shown and "15b" in shown


def test_a_single_legal_move_takes_no_time() -> None:
    patient = Thinker(CHECKERS, "classic", Limits(seconds=3600.0), table_mib=1)
    shown = say(CheckersSession(CHECKERS, patient), "new W:W22,32:B18,1")
    assert "White (classic): 22x15" in shown and "at depth 1" in shown


def test_moves_that_are_illegal_change_nothing(classic: Thinker) -> None:
    session = CheckersSession(CHECKERS, classic)
    shown = say(session, "12-12", "rubbish", "11-15 22-18", "1" * 10_000, "")
    assert "expected one of 9-13" in shown and "found '12-12'" in shown
    assert "found 'rubbish'" in shown
    assert session.record.ply == 0 and len(shown) < 3000


def test_who_plays_with_a_memory_is_called_by_both_files(tmp_path: Path) -> None:
    memory = RoteMemory(CHECKERS)
    memory.store(CHECKERS.start(), 0.5, 3)
    memory.merge()
    memory.save(tmp_path / "memory.safetensors")
    name = f"data/checkers/rootstrap.json+{tmp_path / 'memory.safetensors'}"
    assert Thinker(CHECKERS, name, Limits(depth=1)).name == "rootstrap.json+memory.safetensors"


def test_undo_goes_back_to_the_person(classic: Thinker) -> None:
    session = CheckersSession(CHECKERS, classic)
    assert "expected a move of yours to take back" in say(session, "undo")
    first = say(session, "11-15")
    shown = say(session, session.completions("")[0], "undo")
    assert "Taken back." in shown
    assert session.record.ply == 2
    say(session, "undo")
    assert session.record.ply == 0
    assert say(session, "11-15").splitlines()[-1] == first.splitlines()[-1]


def test_white_sees_the_board_turned_and_replies(classic: Thinker) -> None:
    session = CheckersSession(CHECKERS, classic, frozenset({1}))
    shown = say(session)
    assert session.record.ply == 1 and session.side == 1
    rows = [line for line in shown.splitlines() if re.match(r" +\d", line)]
    assert rows[0].split()[0].startswith("32") and rows[-1].split()[-1].startswith("1b")
    assert "expected a move of yours" in say(session, "undo")
    assert say(session, "flip").split()[0] == "1b"


def test_a_board_with_one_side_is_not_turned() -> None:
    game = games.load("connect_four")
    session = Session(game, Thinker(game, "centre", Limits(depth=1)))
    shown = say(session)
    assert say(session, "flip") == "The board of Connect Four is shown from one side only."
    assert say(session, "board").startswith(shown)


@pytest.mark.parametrize("name", ["connect_four", "chinese_checkers", "tic_tac_toe", "nim"])
def test_the_side_to_move_is_said_once(name: str) -> None:
    game = games.load(name)
    nobody: Any = None  # it is a person's turn
    assert say(Session(game, nobody)).lower().count(f"{game.sides[0].lower()} to move") == 1


def test_hint_moves_why_level_and_position(classic: Thinker) -> None:
    thinker = Thinker(CHECKERS, "classic", Limits(depth=2), table_mib=1)
    session = CheckersSession(CHECKERS, thinker, frozenset({0, 1}))
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
    assert "classic has depth 3 a move." in say(session, "level depth 3")
    for wrong in (
        "level fast",
        "level depth x",
        "level depth 0",
        "level seconds -1",
        "level depth",
    ):
        assert "expected" in say(session, wrong)
    assert thinker.limits == Limits(depth=3)
    assert "undo" in say(session, "help")
    assert session.completions("9") == ["9-13", "9-14"]
    assert session.completions("qu") == ["quit"] and "help" in session.completions("")


def test_new_positions_and_the_end(classic: Thinker) -> None:
    session = CheckersSession(CHECKERS, classic)
    assert "expected the side to move first" in say(session, "new nonsense")
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


def test_games_are_saved_and_read_back(classic: Thinker, tmp_path: Path) -> None:
    session = CheckersSession(CHECKERS, classic)
    path = tmp_path / "game.pdn"
    say(session, "11-15", f"save {path}")
    (read,) = read_games(path.read_text("utf-8"), CHECKERS)
    assert read.record is not None and read.record.moves == session.record.moves
    assert read.tags["Black"] == "person" and read.tags["White"] == "classic"
    say(session, "resign", f"save {path}")  # a file of this session
    assert '[Result "1-0"]' in path.read_text("utf-8")
    other = CheckersSession(CHECKERS, classic)
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


def test_pieces_differ_by_sign_and_not_by_colour_alone(classic: Thinker) -> None:
    session = CheckersSession(CHECKERS, classic, paint=Paint(colour=True, symbols=True))
    say(session, "new B:WK29,32,31:BK4,1,2,3")
    plain = re.sub("\x1b[^m]*m", "", session.board())
    found = {sign: plain.count(sign) for sign in "●○♚♔bwBW"}
    assert found == {"●": 3, "○": 2, "♚": 1, "♔": 1, "b": 0, "w": 0, "B": 0, "W": 0}


def test_backgammon_is_played_with_dice_of_a_seed(hand: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, hand, seed=5)
    shown = say(session)
    assert re.search(r"X to play \d\d", shown)
    roll = session.roll
    move = session.completions("")[0]
    assert "expected one of" in say(session, "24/1")
    say(session, move)
    assert session.side == 0 and session.record.ply >= 2
    assert "no cube" in say(session, "double") and "no cube" in say(session, "take")
    say(session, "undo")
    assert session.record.position[4] == 0 and session.roll == roll
    again = BackgammonSession(BACKGAMMON, hand, seed=5)
    assert say(again) == shown


def test_whole_games_of_backgammon_by_first_moves(hand: Thinker, tmp_path: Path) -> None:
    reasons = set()
    for seed in range(4):
        session = BackgammonSession(BACKGAMMON, hand, seed=seed)
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


def test_dice_that_are_typed_in(hand: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, hand)
    assert session.prompt == "dice of X> "
    shown = say(session, "33", "77", "8/5 6/5", "3 1")
    assert "two different dice" in shown
    assert shown.count("expected a roll") == 2
    assert session.prompt == "X 31> "
    assert "dice of O> " == (say(session, "8/5 6/5"), session.prompt)[1]
    assert "O (hand): 66: 24/18(2) 13/7(2)" in say(session, "66")
    say(session, "undo")
    assert session.prompt == "X 31> " and session.record.ply == 0
    assert "X wins" not in say(session, "resign") and "O wins 1 point" in say(
        session, "board", "new", "resign"
    )


def test_positions_of_backgammon_are_set_up(hand: Thinker, tmp_path: Path) -> None:
    session = BackgammonSession(BACKGAMMON, hand, seed=1)
    say(session, "new XGID=-b----E-C---eE---c-e----B-:1:1:1:52:0:0:0:0:10")
    assert session.prompt == "X 52> "
    assert (session.record.cube, session.record.owner) == (2, 0)  # type: ignore[attr-defined]
    match = "XGID=-b----E-C---eE---c-e----B-:0:0:1:52:1:2:1:3:10"
    assert "A match to 3 points at 1 : 2, Crawford game" in "\n".join(
        session.answer(f"new {match}")
    )
    assert Words.of(BACKGAMMON).situation(session.record, session.roll) == match
    assert "expected a position ID" in say(session, "new XGID=rubbish")
    say(session, "new 4HPwATDgc/ABMA O")
    assert session.record.ply == 1 and session.side == 0
    # a side that is shut out cannot move with any roll
    shut = BackgammonSession(BACKGAMMON, hand, frozenset({0, 1}), seed=2)
    shown = say(shut, "new XGID=bBBBBBB---a-------------C-:0:0:-1:00:0:0:0:0:10")
    assert "O cannot move with" in shown and shut.side == 0
    assert "expected a game from the start, found " in say(shut, f"save {tmp_path / 'b.mat'}")


def test_o_sees_its_home_at_the_bottom(hand: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, hand, frozenset({1}), seed=3)
    board = say(session).split("O to play")[0].splitlines()
    assert "O: 0 off" in board[-2] if board[-1] == "" else "O: 0 off" in board[-1]
    assert "X: 0 off" in say(session, "flip").split("O to play")[-2].splitlines()[-1]


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


def test_colour_changes_no_word(classic: Thinker, hand: Thinker) -> None:
    plain = say(CheckersSession(CHECKERS, classic), "11-15")
    painted = say(CheckersSession(CHECKERS, classic, paint=Paint(True)), "11-15")
    assert "\x1b" not in plain and "\x1b" in painted
    # without colour, empty squares are shown as full stops
    assert COLOURS.sub("", painted) == re.sub(r"(?<=\d)\.(?=[ *])", " ", plain)
    first = say(BackgammonSession(BACKGAMMON, hand, seed=1))
    second = say(BackgammonSession(BACKGAMMON, hand, seed=1, paint=Paint(True, True)))
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
        until(b"must capture", b"Black> ")
        os.write(controller, b"14\t\n")  # the only move with it
        until(b"White to move, and must capture", b"White> ")
        assert b"14x23" in shown
        os.write(controller, b"\x04")
        assert process.wait(60) == 0
    finally:
        killer.cancel()
        process.kill()
        process.wait()
        os.close(controller)
