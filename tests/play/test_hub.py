"""Hub: the words of the protocol, its pitfalls, and a match run by pydraughts."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import random
import re
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import games
from games.record import GameRecord
from play.players.hub_words import arguments, hub_move, hub_position, move_word, position_word
from play.players.limits import Limits
from play.players.lines import LONGEST_LINE, read_lines
from play.players.parse import seated
from play.protocols.hub import Hub
from search import WIN
from search.time_control import Allowance

ROOT = Path(__file__).resolve().parents[2]
CHECKERS: Any = games.load("checkers")
START = "Bbbbbbbbbbbbbeeeeeeeewwwwwwwwwwww"
TURNED = "Wbbbbbbbbbbbbeeeeeeeewwwwwwwwwwww"


class Talk:
    """A Hub engine and its output."""

    def __init__(self, name: str = "classic", **options: Any) -> None:
        self.said: list[str] = []
        self.hub = Hub(seated(CHECKERS, name, Limits(depth=3), table_mib=1), self.hear, **options)

    def hear(self, line: str) -> None:
        self.said.append(line)

    def __call__(self, *lines: str | None) -> list[str]:
        """Returns the answers to `lines`, after the search has ended."""
        self.said.clear()
        for line in lines:
            assert self.hub.handle(line)
        if self.hub._search is not None:
            self.hub._search.join(60)
        return list(self.said)


@pytest.fixture(scope="module")
def talk() -> Talk:
    found = Talk()
    found("hub", "init")
    return found


def errors(said: list[str]) -> list[str]:
    return [line for line in said if line.startswith("error ")]


def test_the_words_of_a_session() -> None:
    talk = Talk()
    said = talk("hub")
    assert said[0].startswith('id name="Plysmith classic" version=1 author=')
    assert 'param name=variant value=english type=enum values="normal english"' in said
    assert said[-1] == "wait"
    assert talk("set-param name=variant value=english", "init", "ping") == ["ready", "pong"]
    said = talk(f'pos pos={START} moves="11-15 22-18"', "level depth=4", "go think")
    assert said[0].startswith("info depth=4 score=")
    assert said[1].startswith("done move=15x22x18 ponder=2")
    assert not talk.hub.handle("quit")


def test_every_info_token_has_one_equals_sign(talk: Talk) -> None:
    (info, _) = talk("pos", "level depth=3", "go")
    outside = info.split('"')[0::2]
    assert all(token.count("=") == 1 for part in outside for token in part.split()[1:] if token)
    assert '"' in info


def test_positions_and_moves(talk: Talk) -> None:
    assert hub_position(START) == CHECKERS.start()
    assert hub_position(TURNED, turned=True) == CHECKERS.start()
    assert CHECKERS.position_text(hub_position("We" + "B" + "e" * 28 + "Ww")) == "W:W32,K31:BK2"
    generator = __import__("random").Random(1)
    for _ in range(20):
        record = GameRecord(CHECKERS)
        while not record.over:
            legal = CHECKERS.legal_moves(record.position)
            for move in legal:
                found = hub_move(CHECKERS, record.position, move_word(move))
                after = CHECKERS.play(record.position, found)
                assert after == CHECKERS.play(record.position, move)
            record.play(generator.choice(legal))
            squares = ["e"] * 32
            text = CHECKERS.position_text(record.position)
            side, white, black = text.split(":")
            for letter, section in (("w", white), ("b", black)):
                for piece in filter(None, section[1:].split(",")):
                    king = piece[0] == "K"
                    squares[int(piece.lstrip("K")) - 1] = letter.upper() if king else letter
            plain = side + "".join(squares)
            assert hub_position(plain) == record.position
            assert position_word(record.position) == plain
            swap = str.maketrans("bwBW", "wbWB")
            turned = (side + "".join(reversed(squares))).translate(swap)
            assert hub_position(turned, turned=True) == record.position


@pytest.mark.parametrize(
    "line",
    [
        "rubbish",
        f"pos pos={START}b",
        'pos pos=Bb moves="11-15"',
        'pos moves="11-15 11-15"',
        'pos moves="11x15x"',
        "pos moves=" + "9-13," * 5000,
        "pos pos==",
        "pos " + '"' * 5000,
        "level depth=x",
        "level depth=0",
        "level move-time=1e999",
        "level nodes=99999999999999999999",
        "level foo=1",
        "go foo",
        "set-param",
        "set-param name=variant value=frisian",
        "set-param name=turned-pos value=maybe",
        "ponder-hit",
        "\x00\x01 = \ufffd",
        'pos pos=Beeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeb"',
        "pos pos=BWwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
    ],
)
def test_garbage_gets_one_error_each(talk: Talk, line: str) -> None:
    said = talk(line)
    assert len(said) == len(errors(said)) == 1
    assert len(said[0]) < 400 and said[0].count('"') == 2 and "\n" not in said[0]
    # and the engine plays on
    assert talk(f"pos pos={START}", "level depth=1", "go think")[-1].startswith("done move=")


def test_commands_out_of_order(talk: Talk) -> None:
    fresh = Talk()
    assert "expected init before go" in fresh("go think")[0]
    assert fresh("stop") == []
    talk("pos pos=rubbish")
    assert "expected a valid position before go" in talk("go")[0]
    assert "with a legal move" in talk("pos pos=B" + "e" * 31 + "w", "go")[-1]
    talk("pos", "level infinite")
    said = talk("go", "go", "pos", "level depth=1", "new-game", "init", "ping", "stop")
    assert len(errors(said)) == 5 and "pong" in said and said[-1].startswith("done move=")
    assert talk("stop", "stop") == []


def test_stop_ends_a_search_however_early(talk: Talk) -> None:
    talk("level infinite")
    for _ in range(20):
        said = talk("go think", "stop")
        assert said[-1].startswith("done move=") and not said[0].startswith("info depth=0")


def test_the_next_question_may_follow_the_answer_at_once() -> None:
    """A controller that has read `done` may send the next line while our thread cleans up."""
    talk = Talk()
    talk("init", "level depth=1")
    rest = ["pos", "go"] * 20

    def hear(line: str) -> None:
        talk.said.append(line)
        if line.startswith("done"):
            while rest:
                command = rest.pop(0)
                talk.hub.handle(command)
                if command == "go":
                    break

    talk.hub._write = hear
    talk.hub.handle("go")
    deadline = time.monotonic() + 60
    while sum(line.startswith("done") for line in talk.said) < 21:
        assert time.monotonic() < deadline and not errors(talk.said)
        time.sleep(0.01)


def test_ponder_and_analyze_answer_when_told(talk: Talk) -> None:
    # a forced move is found at once, but still not sent before stop
    talk(f'pos pos={START} moves="11-15 22-18"', "level depth=1")
    for word in ("ponder", "analyze"):
        talk.said.clear()
        talk.hub.handle(f"go {word}")
        time.sleep(0.2)
        assert not any(line.startswith("done") for line in talk.said)
        talk.hub.handle("stop")
        assert talk.said[-1].startswith("done move=15x22x18")
    talk("level move-time=0.1")
    talk.said.clear()
    talk.hub.handle("go ponder")
    talk.hub.handle("ponder-hit")
    assert talk.hub._search is not None
    talk.hub._search.join(60)
    assert talk.said[-1].startswith("done")


def test_time_is_kept(talk: Talk) -> None:
    talk("pos", "level move-time=0.2")
    began = time.monotonic()
    assert talk("go think")[-1].startswith("done")
    assert time.monotonic() - began > 0.1
    talk("level time=0.5 inc=0.1 moves=10")
    allowance = talk.hub._limits().time
    assert isinstance(allowance, Allowance)
    # but for a reserve of 34.5 ms, and 3 ms by which answers may be late; a move uses 0.8 of it
    assert allowance.usual == pytest.approx(0.05655 / 0.8 - 0.003)
    assert allowance.most == pytest.approx(0.4 * 0.5655 - 0.003)
    talk("level depth=7 move-time=1")
    assert (talk.hub._limits().depth, talk.hub._limits().seconds) == (7, 0.97)
    talk("level move-time=0.05")  # a fifth of which was kept in reserve once
    assert talk.hub._limits().seconds == pytest.approx(0.0465)
    talk("level time=60")
    share = (60.0 - 0.0345) / (0.8 * 20)
    assert talk.hub._limits().time == Allowance(share - 0.003, 4 * share - 0.003)


def test_scores_are_in_men_and_wins_near_100(talk: Talk) -> None:
    assert talk.hub.man_value() == pytest.approx(
        float(
            talk.hub.thinker.evaluator(
                (CHECKERS.start()[0], CHECKERS.start()[1] & (CHECKERS.start()[1] - 1), 0, 0)
            )
        )
    )
    assert talk.hub.score(talk.hub.man_value() * 2) == pytest.approx(2.0)
    assert talk.hub.score(WIN - 5) == 99.95 and talk.hub.score(5 - WIN) == -99.95
    assert talk.hub.score(1e9) == 80.0


@pytest.mark.plain
def test_arguments() -> None:
    assert arguments('a=1 b="x y"  c') == {"a": "1", "b": "x y", "c": ""}
    assert arguments('a = "1"') == {"a": "1"}
    for wrong in ("=", 'a="x', "a=1 a=2"):
        with pytest.raises(ValueError, match="expected"):
            arguments(wrong)


@pytest.mark.plain
def test_lines_are_bounded() -> None:
    data = b"one\r\n\0two\n" + b"x" * (10 << 20) + b"\nthree\n\xff\nhalf"
    assert list(read_lines(io.BytesIO(data))) == ["one", "two", None, "three", "\ufffd", "half"]
    assert list(read_lines(io.BytesIO(b"y" * (LONGEST_LINE + 5)))) == [None]


def engine(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "play", "engine", "--hub", *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, **options,
    )  # fmt: skip


def test_the_program_on_a_pipe() -> None:
    process = engine("classic")
    huge = b"pos pos=" + b"b" * (10 << 20) + b"\n"
    data = b"hub\ninit\n" + huge + b"\xff\xfe\nlevel infinite\ngo\nping\nqu"
    out, _ = process.communicate(data, timeout=120)  # the input ends within a word, during a search
    lines = out.decode().splitlines()
    assert process.returncode == 0
    assert [line for line in lines if line.startswith(("ready", "pong"))] == ["ready", "pong"]
    assert sum(line.startswith("error") for line in lines) == 3
    assert lines[-1].startswith("done move=")


def test_a_controller_that_dies_is_no_reason_to_stay() -> None:
    process = engine("classic")
    assert process.stdin and process.stdout
    process.stdin.write(b"hub\ninit\nlevel infinite\ngo\n")
    process.stdin.flush()
    while b"ready" not in process.stdout.readline():
        pass
    process.stdout.close()
    process.stdin.close()
    assert process.wait(300) == 0


@pytest.mark.whole_run
@pytest.mark.skipif(
    importlib.util.find_spec("draughts") is None, reason="pydraughts is not installed"
)
def test_pydraughts_plays_a_match(tmp_path: Path) -> None:
    script = tmp_path / "plysmith"  # as pip writes it
    script.write_text(
        f"#!{sys.executable}\nimport sys\nfrom plysmith import main\nsys.exit(main())\n", "utf-8"
    )
    script.chmod(0o755)
    page = (ROOT / "docs/play.md").read_text("utf-8")
    documented = [json.loads(words) for words in re.findall(r"^command = (.*)$", page, re.M)]
    assert [words[0] for words in documented] == [".venv/bin/plysmith", "/usr/bin/env"]
    real = {".venv/bin/plysmith": str(script), ".venv/bin/python": sys.executable}
    commands = [
        shlex.join([*(real.get(word, word) for word in words), name])
        for words, name in zip(documented, ("classic", "material"), strict=True)
    ]
    found = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "hub_controller.py"), *commands],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert found.returncode == 0, found.stderr[-2000:]
    match = json.loads(found.stdout.splitlines()[-1])
    assert match["names"] == ['"Plysmith classic"', '"Plysmith material"']
    assert match["codes"] == [0, 0]
    starts = ("B:W30,31,22,K5:B1,2,K28,11,12,9", "B:W21-32:B1-12")
    for start, game in zip(starts, match["games"], strict=True):
        position = CHECKERS.parse_position(start)
        record = GameRecord(CHECKERS, position, repetitions=None, quiet_moves=None)
        for text in game["moves"]:
            record.play_text(text)
        assert game["least_left"] > 0
        if record.over:  # there as here, a player who cannot move has lost
            assert game["over"] and game["winner"] == (1 if record.outcome() == 1.0 else 2)
    whole, timed = match["games"]
    assert whole["over"] and len(whole["moves"]) > 10 and len(timed["moves"]) == 16


COMMANDS = (
    *("hub", "init", "init", "ping", "new-game", "pos", "pos pos=bad", 'pos moves="11-15"'),
    *("level depth=3", "level infinite", "level move-time=0.02", "level time=1 inc=0.1"),
    *("level ponder", "go think", "go think", "go ponder", "go analyze", "go bad", "stop", "stop"),
    *(
        "ponder-hit",
        "set-param name=turned-pos value=true",
        "set-param name=turned-pos value=false",
    ),
    *("foo", None),
)


@pytest.mark.thorough
def test_commands_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches run and are stopped, and no thread ends with an error."""
    died: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    talk, choose = Talk(), random.Random(0)
    for _ in range(12):
        given = [choose.choice(COMMANDS) for _ in range(25)]
        for line in given:
            before, idle = [*talk.said], not talk.hub.searching
            assert talk.hub.handle(line)
            if idle and line and line.startswith("go"):  # a search began, or an error was told
                assert talk.hub.searching or len(talk.said) > len(before), given
        talk.hub.stop()
        assert not talk.hub.searching and not died, given
        talk.said.clear()
        assert talk.hub.handle("ping") and talk.said == ["pong"], given
        talk.said.clear()
