"""Engines of others that speak Hub as players: whole games, and programs that misbehave."""

from __future__ import annotations

import gc
import shlex
import sys
import threading
import time
from pathlib import Path

import pytest

import games
import play.hub_player
from games.errors import MoveError
from games.record import GameRecord
from play.hub_player import HubProgram, HubSeat, as_hub_program
from play.match import play_match
from play.openings import Openings
from play.player import Limits, Player, parse_player

CHECKERS = games.load("checkers")
ROOT = Path(__file__).resolve().parent.parent


def program(*arguments: str) -> str:
    """The text of a player: our own engine behind Hub."""
    start = f"cd {shlex.quote(str(ROOT))} && exec {shlex.quote(sys.executable)} -m play engine"
    return "hub:" + shlex.join(["sh", "-c", f"{start} --hub {shlex.join(arguments)}"])


def script(tmp_path: Path, text: str) -> str:
    """The text of a player that is a few lines of Python."""
    path = tmp_path / "engine.py"
    path.write_text("import sys\nsay = lambda *words: print(*words, flush=True)\n" + text)
    return "hub:" + shlex.join([sys.executable, str(path)])


def moves_of(first: Player, second: Player) -> list[tuple[tuple[int, ...], list[float | None]]]:
    openings = Openings(CHECKERS, plies=4, seed=3)
    match = play_match(
        CHECKERS, first, second, limits=Limits(depth=3), games=4, openings=openings, threads=1,
        table_mib=16,
    )  # fmt: skip
    return [
        (tuple(record.moves), [note.depth for note in record.annotations])
        for pair in match.pairs
        for record in pair.games
    ]


def test_the_same_games_as_within_one_process() -> None:
    material = parse_player(CHECKERS, "material")
    there = parse_player(CHECKERS, program("classic@exact"))
    found = moves_of(there, material)
    assert found == moves_of(parse_player(CHECKERS, "classic@exact"), material)
    assert len(found) == 4 and len({moves for moves, _ in found}) == 4


def test_what_a_program_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = f"""
log = open({str(log)!r}, "w")
for line in sys.stdin:
    print(line, end="", file=log, flush=True)
    if line == "hub\\n":
        say("id name=x"); say("hello, people"); say("param name=variant values='normal american'")
        say('param name=variant type=enum values="normal american"'); say("wait")
    elif line == "init\\n":
        say("ready")
    elif line == "go think\\n":
        say("info depth=7 score=-0.25"); say("done move=22x15x18")
    elif line == "quit\\n":
        break
"""
    seat = parse_player(CHECKERS, script(tmp_path, text)).seat(
        CHECKERS, Limits(depth=9, nodes=1000, seconds=0.5)
    )
    assert isinstance(seat, HubSeat)
    record = GameRecord(CHECKERS, CHECKERS.parse_position("B:W22,K26:BK9,11"))
    record.play(CHECKERS.parse_move(record.position, "11-15"))
    record.play(CHECKERS.parse_move(record.position, "26-23"))
    record.play(CHECKERS.parse_move(record.position, "15-18"))
    seat.begin(1)
    seat.move(record)
    assert record.annotations[-1].depth == 7 and record.annotations[-1].value == -0.25
    seat.begin(2)
    process = seat._process
    assert process is not None
    del seat
    gc.collect()
    assert process.poll() == 0
    assert log.read_text().splitlines() == [
        "hub",
        "set-param name=variant value=american",
        "init",
        "new-game",
        'pos pos=BeeeeeeeeBebeeeeeeeeeeweeeWeeeeee moves="11-15 26-23 15-18"',
        "level depth=9 nodes=1000 move-time=0.5",
        "go think",
        "new-game",
        "quit",
    ]


READY = 'say("wait"); say("ready")\n'


@pytest.mark.parametrize(
    "text, error, expected",
    [
        ("", ChildProcessError, "found that it ended"),
        ('say("error message=oh")\n', ChildProcessError, "it says 'error message=oh'"),
        ("sys.stdin.read()\n", ChildProcessError, "expected an answer within 0.5 s, found none"),
        (READY + "sys.stdin.read()\n", ChildProcessError, "within 0.51 s"),
        (READY + 'say("done move=1-2")\nsys.stdin.read()\n', MoveError, "expected one of"),
        (READY + 'say("done")\nsys.stdin.read()\n', MoveError, "such as 11-15"),
        (READY + 'say("info =")\nsys.stdin.read()\n', ChildProcessError, "expected name=value"),
        (READY + 'say("x" * (1 << 20))\nsys.stdin.read()\n', ChildProcessError, "within 0.51 s"),
        (
            'say("param name=variant values=frisian"); say("wait")\nsys.stdin.read()\n',
            ChildProcessError,
            "plays English checkers .* found one that plays frisian",
        ),
    ],
)
def test_programs_that_misbehave(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    error: type[Exception],
    expected: str,
) -> None:
    monkeypatch.setattr(play.hub_player, "PATIENCE", 0.5)
    player = parse_player(CHECKERS, script(tmp_path, text))
    with pytest.raises(error, match=expected):
        play_match(
            CHECKERS, player, parse_player(CHECKERS, "random"), limits=Limits(seconds=0.01),
            games=2, threads=1,
        )  # fmt: skip


@pytest.mark.parametrize(
    "game, text, error, expected",
    [
        ("checkers", "hub:", ValueError, "found no command"),
        ("checkers", "hub:'x", ValueError, "No closing quotation"),
        (
            "checkers",
            "hub:no-such-program",
            FileNotFoundError,
            "found no program 'no-such-program'",
        ),
        ("nim", "hub:cat", ValueError, "expected a game of checkers, found nim"),
    ],
)
def test_texts_that_name_no_program(
    game: str, text: str, error: type[Exception], expected: str
) -> None:
    with pytest.raises(error, match=expected):
        parse_player(games.load(game), text)


def test_a_search_is_stopped() -> None:
    found = as_hub_program(CHECKERS, program("classic"))
    assert isinstance(found, HubProgram)
    seat = found(CHECKERS, Limits(seconds=600))
    seat.begin(0)
    record = GameRecord(CHECKERS)
    threading.Timer(0.3, seat.stop).start()
    began = time.perf_counter()
    seat.move(record)
    assert len(record.moves) == 1 and time.perf_counter() - began < 60
