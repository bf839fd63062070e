"""UBGI, and whole games of GNU Backgammon itself against our engine over loopback."""

from __future__ import annotations

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import games
from games.backgammon.fibs import fibs_text
from games.backgammon.identifiers import gnu_id, xgid
from games.backgammon.match_file import read_matches
from games.backgammon.situation import Situation, position_of
from games.record import GameRecord
from play.__main__ import main
from play.dice import Dice
from play.players.limits import Limits
from play.players.thinker import Thinker
from play.protocols.gnubg_socket import MOST_CONNECTIONS, ExternalPlayer, ExternalServer
from play.protocols.ubgi import Ubgi, steps_text

ROOT = Path(__file__).resolve().parents[2]
BACKGAMMON: Any = games.load("backgammon")
START = "4HPwATDgc/ABMA"
GNUBG = shutil.which("gnubg") or shutil.which("/usr/games/gnubg")


def thinker(depth: int = 0) -> Thinker:
    return Thinker(BACKGAMMON, "hand", Limits(depth=depth), table_mib=1)


def decider() -> Thinker:
    """Returns a thinker whose evaluator gives chances, so that it decides about the cube."""
    return Thinker(BACKGAMMON, "wide", Limits(depth=0), table_mib=1)


class Talk:
    """A UBGI engine and its output."""

    def __init__(self, asked: Thinker | None = None) -> None:
        self.said: list[str] = []
        self.engine = Ubgi(asked or thinker(), self.hear)

    def hear(self, line: str) -> None:
        self.said.append(line)

    def __call__(self, *lines: str | None) -> list[str]:
        self.said.clear()
        for line in lines:
            assert self.engine.handle(line)
            if self.engine._search is not None:
                self.engine._search.join(60)
        return list(self.said)


@pytest.fixture(scope="module")
def talk() -> Talk:
    return Talk()


# UBGI


def test_the_words_of_a_session() -> None:
    talk = Talk()
    said = talk("ubgi")
    assert said[0] == "id name Plysmith hand" and said[-1] == "ubgiok"
    assert talk("isready") == ["readyok"]
    said = talk("newgame", f"position gnubgid {START}", "dice 1 3", "go chequer")
    assert said[0].startswith("info depth 0 equity ") and said[1] == "bestmove 8/5 6/5"
    assert not talk.engine.handle("quit")


def test_moves_are_those_of_the_search_in_whole_games(talk: Talk) -> None:
    dice, own = Dice(BACKGAMMON, 3), thinker()
    for number in range(3):
        record = GameRecord(BACKGAMMON)
        stream = dice.stream(number)
        while not record.over:
            roll = dice.roll(stream, record.ply)
            situation = Situation(record.position, roll=roll)
            forms = (
                f"position gnubgid {gnu_id(situation)}",
                f"position xgid {xgid(situation)}",
                f"position fibs {fibs_text(situation)}",
            )
            best = own.think(record.position, roll=roll).move
            word = steps_text(best) or "pass"
            assert talk(forms[record.ply % 3], "go")[-1] == f"bestmove {word}"
            if best:
                assert BACKGAMMON.parse_move(record.position, word, roll) == best
            record.play(best, roll=roll)


def test_settings(talk: Talk) -> None:
    assert talk("set depth 1", "get depth", "get nodes") == ["value depth 1", "value nodes none"]
    said = talk("position startpos", "dice 3 1", "go role chequer")
    assert said[0].startswith("info depth 1")
    assert talk("setoption name Depth value 0", "get depth") == ["value depth 0"]
    assert talk("set seconds 0.5", "get seconds") == ["value seconds 0.5"]
    began = time.process_time()
    assert talk("position startpos", "dice 2 1", "go")[-1].startswith("bestmove")
    assert time.process_time() - began < 1.5
    talk("set depth 0")


def test_the_first_draft(talk: Talk) -> None:
    start = Situation(BACKGAMMON.start())
    assert talk(xgid(start)) == ["roll"]
    assert talk(xgid(Situation(BACKGAMMON.start(), roll=3))) == ["8/5 6/5"]
    assert talk(fibs_text(Situation(BACKGAMMON.start(), roll=3))) == ["8/5 6/5"]
    assert "unsupported_feature" in talk(xgid(Situation(BACKGAMMON.start(), offered="double")))[0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("rubbish", "unknown_command"),
        ("position", "bad_argument"),
        ("position gnubgid", "bad_argument"),
        ("position gnubgid AAAA", "bad_argument"),
        ("position xgid XGID=garbage", "bad_argument"),
        ("position fibs board:" + "1:" * 60, "bad_argument"),
        ("position fen B:W1:B2", "bad_argument"),
        ("dice 7 1", "bad_argument"),
        ("dice 1", "bad_argument"),
        ("dice 1 2 3", "bad_argument"),
        ("dice ６ １", "bad_argument"),
        ("set depth x", "bad_argument"),
        ("set depth -1", "bad_argument"),
        ("set depth 99", "bad_argument"),
        ("set seconds nan", "bad_argument"),
        ("set foo 1", "bad_argument"),
        ("get foo", "bad_argument"),
        ("setoption", "bad_argument"),
        ("go cube now", "bad_argument"),
        ("go somewhere", "bad_argument"),
        ("board:", "bad_argument"),
        ("x" * 60_000, "unknown_command"),
        (None, "bad_argument"),
    ],
)
def test_garbage_gets_an_error_with_a_code(talk: Talk, line: str | None, code: str) -> None:
    talk("position startpos")
    said = talk(line)
    assert len(said) == 1 and said[0].startswith(f"error {code} ") and len(said[0]) < 400
    assert talk("position startpos", "dice 3 1", "go")[-1] == "bestmove 8/5 6/5"


def test_commands_out_of_order(talk: Talk) -> None:
    fresh = Talk()
    assert fresh("go") == ["error missing_context expected dice before go"]
    assert fresh("stop") == []
    fresh("dice 3 1", "position gnubgid rubbish")
    assert fresh("go") == ["error missing_context expected a position before go"]
    assert fresh("newgame", "dice 3 1", "go")[-1] == "bestmove 8/5 6/5"
    # dice are those of one turn
    assert fresh("go") == ["error missing_context expected dice before go"]
    deep = Talk()
    deep("set depth 9", "position startpos", "dice 2 1")
    deep.engine.handle("go")
    deep.engine.handle("stop")
    assert deep.said[-1].startswith("bestmove ")


def test_a_file_of_commands_is_carried_out_to_its_end(talk: Talk) -> None:
    engine = Talk()
    turn = f"position gnubgid {START}\ndice %s\ngo chequer\n"
    engine.said.clear()
    engine.engine.serve(io.BytesIO(f"set depth 1\n{turn % '3 1'}{turn % '6 5'}".encode()))
    kinds = [line.split(" equity")[0] for line in engine.said]
    assert kinds == ["info depth 1", "bestmove 8/5 6/5", "info depth 1", "bestmove 24/18 18/13"]
    bare = Talk()  # the first draft of the protocol
    bare.engine.serve(io.BytesIO(b"XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10\n" * 2))
    assert bare.said == ["8/5 6/5"] * 2


def test_the_program_ends_with_its_input() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "play", "engine", "--ubgi", "hand"],
        cwd=ROOT,
        input=b"ubgi\nisready\n" + b"z" * (10 << 20) + b"\n\xff\0\ndice 3 1\ngo\nset de",
        capture_output=True,
        timeout=120,
        check=False,
    )
    lines = found.stdout.decode().splitlines()
    assert (found.returncode, found.stderr) == (0, b"")
    assert "readyok" in lines and "bestmove 8/5 6/5" in lines
    assert sum(line.startswith("error") for line in lines) == 3


#: X bears off its last checker; the same if O has borne off none yet; and a close race.
WON = position_of([0, 1] + [0] * 24, [2 * (point == 6) for point in range(26)], 0)
GAMMON = position_of([0, 1] + [0] * 24, [15 * (point == 20) for point in range(26)], 0)
RACE = position_of([0] * 6 + [5, 4, 3, 2] + [1] + [0] * 15, [0] * 6 + [5, 4, 3, 3] + [0] * 16, 0)


def test_ubgi_decides_about_the_cube() -> None:
    talk = Talk(decider())
    said = talk("position startpos", "go cube")
    assert said[0].startswith("info depth 0 nodouble ") and said[1:] == ["bestmove roll"]
    assert talk(f"position xgid {xgid(Situation(WON))}", "go cube")[-1] == "bestmove double"
    offered = xgid(Situation(WON, offered="double"))
    assert talk(f"position xgid {offered}", "go role cube")[-1] == "bestmove drop"
    assert talk(xgid(Situation(RACE, offered="double")))[-1] in ("take", "drop")
    assert talk(offered) == ["drop"] and talk(xgid(Situation(WON))) == ["double"]
    crawford = Situation(WON, match_length=3, score=(0, 2), crawford=True)
    assert talk(xgid(crawford)) == ["roll"]
    assert talk(f"position xgid {xgid(crawford)}", "go cube") == [
        "error missing_context expected a side that may double, found none"
    ]
    said = talk("position startpos", "dice 3 1", "go cube")
    assert said == ["error missing_context expected a position without dice before go cube"]
    assert Talk()("position startpos", "go cube") == [
        "error unsupported_feature go cube: the evaluator gives no chances"
    ]


@pytest.mark.parametrize(
    ("situation", "word"),
    [
        (Situation(WON, resigned=(1, 1)), "accept"),  # O is almost off; X has one checker left
        (Situation(GAMMON, resigned=(1, 1)), "decline"),
        (Situation(GAMMON, resigned=(1, 2)), "decline"),  # all of O is in the home of X
        (Situation(GAMMON, resigned=(1, 3)), "accept"),
        (Situation(GAMMON, resigned=(1, 1), match_length=3, score=(2, 0)), "accept"),
        (Situation(GAMMON, resigned=(1, 1), jacoby=True), "accept"),
        (Situation(BACKGAMMON.start(), roll=3, resigned=(1, 3)), "accept"),
    ],
)
def test_ubgi_answers_resignations(situation: Situation, word: str) -> None:
    assert Talk(decider())(f"position gnubgid {gnu_id(situation)}", "go cube") == [
        f"bestmove {word}"
    ]
    assert Talk()(f"position gnubgid {gnu_id(situation)}", "go cube") == [
        "error unsupported_feature a resignation: the evaluator gives no chances"
    ]


# GNU Backgammon's sockets


def test_the_socket_decides_about_the_cube_at_the_score() -> None:
    player = ExternalPlayer(decider())
    assert player.answer(fibs_text(Situation(BACKGAMMON.start()))) == "roll"
    assert player.answer(fibs_text(Situation(WON))) == "double"
    assert player.answer(fibs_text(Situation(GAMMON))) == "roll"  # too good to double
    assert player.answer(fibs_text(Situation(WON, offered="double"))) == "drop"
    # the opponent has the cube
    assert player.answer(fibs_text(Situation(WON, cube=2, owner=1))) == "roll"
    # after the Crawford game the trailing side doubles at once
    trailing = Situation(BACKGAMMON.start(), match_length=5, score=(1, 4))
    assert player.answer(fibs_text(trailing)) == "double"
    assert ExternalPlayer(thinker()).answer(fibs_text(trailing)) == "roll"


def test_a_port_that_is_taken_is_named(server: ExternalServer, capsys: Any) -> None:
    with pytest.raises(OSError, match=f"port {server.port}: expected one that is free, found"):
        ExternalServer(ExternalPlayer(thinker()), server.port)
    socket_option = ["--gnubg-socket", str(server.port)]
    assert main(["engine", *socket_option, "hand", "--depth", "0"]) == 2
    assert f"port {server.port}: expected one" in capsys.readouterr().err


@pytest.fixture
def server() -> Iterator[ExternalServer]:
    with ExternalServer(ExternalPlayer(thinker()), 0) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield found
        finally:
            found.shutdown()
            thread.join(10)


def connected(server: ExternalServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def test_boards_are_answered(server: ExternalServer) -> None:
    start = BACKGAMMON.start()
    won = position_of([0, 1] + [0] * 24, [15 * (point == 20) for point in range(26)], 0)
    cases = [
        (Situation(start, roll=3), "8/5 6/5"),
        (Situation(start), "roll"),
        (Situation(start, offered="double"), "take"),
        (Situation(won, offered="double"), "drop"),
    ]
    with connected(server) as line, line.makefile("rb") as answers:
        for number, (situation, answer) in enumerate(cases):
            line.sendall(b"\0" * (number > 0) + fibs_text(situation).encode() + b"\n")
            assert answers.readline().decode().strip() == answer


def test_a_peer_that_is_confused_or_dies(server: ExternalServer) -> None:
    good = fibs_text(Situation(BACKGAMMON.start(), roll=3)).encode() + b"\n"
    with connected(server) as line, line.makefile("rb") as answers:
        for wrong in (b"hello\n", b"board:\n", b"\0\xff\n", b"board:" + b"9:" * 50 + b"\n"):
            line.sendall(wrong)
            assert answers.readline().startswith(b"error expected")
        line.sendall(b"x" * (10 << 20) + b"\n")
        assert answers.readline().startswith(b"error expected lines of at most 65536 bytes")
        line.sendall(good)
        assert answers.readline() == b"8/5 6/5\n"
    half = connected(server)
    half.sendall(good[:40])
    half.close()
    rude = connected(server)
    rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    rude.sendall(good * 50)
    rude.close()  # resets the connection while answers are being sent
    silent = [connected(server) for _ in range(MOST_CONNECTIONS - 1)]  # these stay open and silent
    try:
        with connected(server) as line, line.makefile("rb") as answers:
            deadline = time.monotonic() + 60
            line.sendall(good)
            found = answers.readline()
            while b"too many" in found and time.monotonic() < deadline:  # until it is gone
                time.sleep(0.05)
                with connected(server) as other, other.makefile("rb") as heard:
                    other.sendall(good)
                    found = heard.readline()
            assert found == b"8/5 6/5\n"
    finally:
        for one in silent:
            one.close()


def test_too_many_connections_are_told_so(server: ExternalServer) -> None:
    lines = [connected(server) for _ in range(MOST_CONNECTIONS)]
    try:
        for line in lines:  # each is being served
            line.sendall(b"?\n")
            assert line.recv(100).startswith(b"error")
        with connected(server) as last:
            assert last.recv(100) == b"error too many connections\n"
    finally:
        for line in lines:
            line.close()


def test_silence_ends_a_connection(server: ExternalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.protocols.gnubg_socket._Connection.timeout", 0.2)
    with connected(server) as line:
        line.sendall(b"half a li")
        assert line.recv(100) == b""  # it was closed


def test_the_server_is_of_this_machine_only(server: ExternalServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    with pytest.raises(OSError):
        ExternalServer(ExternalPlayer(thinker()), server.port)


def test_the_command_serves_until_ctrl_c() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "play", "engine", "hand", "--gnubg-socket", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout and process.stderr
    try:
        port = int(process.stdout.readline().split(b"127.0.0.1:")[1].split(b";")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
            line.sendall(fibs_text(Situation(BACKGAMMON.start(), roll=3)).encode() + b"\n")
            assert line.recv(100) == b"8/5 6/5\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
        assert process.stderr.read() == b"stopped\n"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


SCRIPT = """
for text in {commands!r}:
    gnubg.command(text)
for _ in range(30):  # each plays a game, or what is left of one; nothing happens after the match
    gnubg.nextturn()
    if gnubg.posinfo()["gamestate"] >= 2:
        gnubg.command("new game")
gnubg.command("export match mat {file}")
"""


@pytest.mark.skipif(GNUBG is None, reason="GNU Backgammon is not installed")
@pytest.mark.parametrize("cube", ["off", "on"])
def test_gnu_backgammon_plays_a_match(server: ExternalServer, tmp_path: Path, cube: str) -> None:
    file = tmp_path / "match.mat"
    commands = [
        "set automatic game off",
        "set automatic roll on",
        "set automatic bearoff off",
        "set confirm new off",
        f"set cube use {cube}",
        "set player 1 gnubg",
        "set player 1 chequerplay evaluation plies 0",
        "set player 1 cubedecision evaluation plies 0",
        f"set player 0 external 127.0.0.1:{server.port}",
        "set seed 7",
        "new match 5",
    ]
    script = tmp_path / "play.py"
    script.write_text(SCRIPT.format(commands=commands, file=file), "utf-8")
    found = subprocess.run(
        [str(GNUBG), "-t", "-q", "-r", "-p", str(script)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert file.exists(), found.stdout[-2000:] + found.stderr[-2000:]
    (match,) = read_matches(file.read_text("utf-8"), BACKGAMMON)
    assert match.match_length == 5
    side = 0  # player 0 is on the left
    records = [game.record for game in match.games]
    assert all(record is not None for record in records)
    last = records[-1]
    assert last is not None and max(last.final_score() or (0, 0)) >= 5
    # each of our moves is the one that our search finds, so both programs saw the same game
    own, decisions, kinds = thinker(), 0, set()
    for record in records:
        assert record is not None
        kinds |= {(action.side == side, action.kind) for action in record.actions}
        for position, roll, move in zip(record.positions, record.rolls, record.moves, strict=False):
            if position[4] == side:
                assert roll is not None
                values = dict(own.think(position, roll=roll, all_moves=True).moves)
                assert values[move] == max(values.values())
                decisions += len(values) > 1
    assert decisions > 10
    assert "error" not in found.stdout.lower()
    if cube == "on":
        assert kinds & {(True, "take"), (True, "drop")}
