"""Whole games of GNU Backgammon itself against our engine over loopback."""

from __future__ import annotations

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
from games.backgammon.match_file import read_matches
from games.backgammon.situation import Situation, position_of
from play.__main__ import main
from play.players.limits import Limits
from play.players.parse import seated
from play.players.seats import Seat
from play.protocols.gnubg_socket import MOST_CONNECTIONS, ExternalPlayer, ExternalServer

ROOT = Path(__file__).resolve().parents[2]
BACKGAMMON: Any = games.load("backgammon")
GNUBG = shutil.which("gnubg") or shutil.which("/usr/games/gnubg")


def thinker(depth: int = 0) -> Seat:
    return seated(BACKGAMMON, "hand", Limits(depth=depth), table_mib=1)


def decider() -> Seat:
    """Returns a thinker whose evaluator gives chances, so that it decides about the cube."""
    return seated(BACKGAMMON, "wide", Limits(depth=0), table_mib=1)


#: X bears off its last checker; and the same if O has borne off none yet.
WON = position_of([0, 1] + [0] * 24, [2 * (point == 6) for point in range(26)], 0)
GAMMON = position_of([0, 1] + [0] * 24, [15 * (point == 20) for point in range(26)], 0)


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
    with pytest.raises(ConnectionRefusedError):  # it listens on one address only
        socket.create_connection(("127.0.0.2", server.port), timeout=120)
    with pytest.raises(OSError, match=f"port {server.port}: expected a free port, found"):
        ExternalServer(ExternalPlayer(thinker()), server.port)
    socket_option = ["--gnubg-socket", str(server.port)]
    assert main(["engine", *socket_option, "hand", "--depth", "0"]) == 2
    assert f"port {server.port}: expected a free port" in capsys.readouterr().err


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
    return socket.create_connection(("127.0.0.1", server.port), timeout=120)


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
        with socket.create_connection(("127.0.0.1", port), timeout=120) as line:
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
