"""External engines that speak Hub as players: whole games, and programs that misbehave."""

from __future__ import annotations

import gc
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from errors import errors_of

import games
import play.players.engine_player
import play.players.talk
from games.record import GameRecord
from play.commands.contest import _lost_lines, _searches
from play.matches.driver import play_match
from play.matches.openings import Openings
from play.players.clock import Clock
from play.players.engine_player import EngineCommand, EngineSeat, as_engine
from play.players.hub_words import move_word
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from play.players.talk import Talk
from play.workers import Workers

CHECKERS = games.load("checkers")
ROOT = Path(__file__).resolve().parents[2]


def program(*arguments: str) -> str:
    """Returns the text of a player that is our own engine behind Hub."""
    start = f"cd {shlex.quote(str(ROOT))} && exec {shlex.quote(sys.executable)} -m play engine"
    return "hub:" + shlex.join(["sh", "-c", f"{start} --hub {shlex.join(arguments)}"])


def script(tmp_path: Path, text: str) -> str:
    """Returns the text of a player whose program is a few lines of Python."""
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
        for pair in match.units
        for record in pair.games
    ]


def test_a_match_says_nothing_of_how_an_engine_searches() -> None:
    players = [parse_player(CHECKERS, name) for name in ("classic", program("classic"))]
    assert _searches(players) == ", classic: late_moves=1.2,singular=6"


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
    assert isinstance(seat, EngineSeat)
    record = GameRecord(CHECKERS, CHECKERS.parse_position("B:W22,K26:BK9,11"))
    record.play(CHECKERS.parse_move(record.position, "11-15"))
    record.play(CHECKERS.parse_move(record.position, "26-23"))
    record.play(CHECKERS.parse_move(record.position, "15-18"))
    seat.begin(1)
    seat.move(record)
    assert record.annotations[-1].depth == 7 and record.annotations[-1].value == -0.25
    seat.begin(2)
    assert seat._talk is not None
    process = seat._talk._process
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
HERE = "for line in sys.stdin:\n    if line == 'go think\\n': "
STAY = "import time; time.sleep(600)\n"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs start on a busy machine too, and end soon if they heed no stop."""
    monkeypatch.setattr(play.players.talk, "PATIENCE", 300.0)
    monkeypatch.setattr(play.players.engine_player, "HEED", 0.5)


def met(tmp_path: Path, text: str, patience: float = 300.0) -> None:
    """Plays against a program of a few lines, which has so many seconds to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play.players.talk, "PATIENCE", patience)
        players = [parse_player(CHECKERS, name) for name in (script(tmp_path, text), "random")]
        play_match(CHECKERS, *players, limits=Limits(seconds=0.01), games=2, threads=1)


@pytest.mark.parametrize("text", [STAY, HERE + "say('x' * (1 << 20))\n"])
def test_a_ready_program_without_a_move(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = parse_player(CHECKERS, script(tmp_path, READY + text)).seat(
        CHECKERS, Limits(seconds=0.01)
    )
    seat.begin(0)
    monkeypatch.setattr(play.players.talk, "PATIENCE", 0.5)
    with pytest.raises(ChildProcessError, match="expected 'done' within 0.51 s"):
        seat.move(GameRecord(CHECKERS))


def test_an_error_is_told_though_the_program_ended_before_it_was_spoken_to(tmp_path: Path) -> None:
    talk = Talk(EngineCommand("hub", (sys.executable, "-c", "print('error message=oh')")))
    talk._process.wait(300)
    with pytest.raises(ChildProcessError, match="it says 'error message=oh'"):
        talk.say("hub")
    talk.end()


def test_the_end_of_a_program_is_told_to_every_thread_that_waits() -> None:
    # a thread that says stop, and then the one that waits for the move
    talk = Talk(EngineCommand("hub", (sys.executable, "-c", "raise SystemExit(3)")))
    talk._process.wait(300)
    with pytest.raises(ChildProcessError, match="exit status 3"):
        talk.say("stop")
    for ask in (lambda: talk.hear("done", 20.0), talk.forget, lambda: talk.hear("done", 20.0)):
        with pytest.raises(ChildProcessError, match="exit status 3"):
            ask()
    talk.end()


#: An engine that plays the first move that `games` lists; `TOLD` is its output before that.
PLAYER = f"""
import os
os.environ["NUMBA_DISABLE_JIT"] = "1"  # so that it starts sooner
sys.path.insert(0, {str(ROOT)!r})
import games
from play.players.hub_words import arguments, hub_move, hub_position, move_word
game = games.load("checkers")
say("wait"); say("ready")
asked = 0
for line in sys.stdin:
    name, _, rest = line.strip().partition(" ")
    if name == "pos":
        given = arguments(rest)
        position = hub_position(given["pos"])
        for word in given.get("moves", "").split():
            position = game.play(position, hub_move(game, position, word))
    elif name == "go":
        asked += 1
        TOLD
        say("done move=" + move_word(game.legal_moves(position)[0]))
"""


def played(tmp_path: Path, told: str) -> tuple[GameRecord, EngineSeat]:
    """Returns the first moves of both sides by a player that prints `told`, and its seat.

    The player's answers are prepared, so that its process need not import anything heavy.
    """
    answers = [move_word(move) for move in first_moves(2).moves]
    text = f"""
say("wait"); say("ready")
answers = {answers!r}
for line in sys.stdin:
    if line.startswith("go"):
        {told}
        say("done move=" + answers.pop(0))
"""
    seat = parse_player(CHECKERS, script(tmp_path, text)).seat(CHECKERS, Limits(seconds=0.01))
    assert isinstance(seat, EngineSeat)
    seat.begin(0)
    record = GameRecord(CHECKERS)
    for _ in range(2):
        seat.move(record)
    return record, seat


def first_moves(count: int) -> GameRecord:
    record = GameRecord(CHECKERS)
    for _ in range(count):
        record.play(CHECKERS.legal_moves(record.position)[0])
    return record


@pytest.mark.parametrize(
    "told, value, depth",
    [
        ('say("info depth=3 score=0.5"); say("info depth=4 score=-1.25 pv=x")', -1.25, 4),
        ("pass", None, None),
        ('say("info depth=inf score=nan")', None, None),
        ('say("info depth=-3 score=inf")', None, None),
        ('say("info depth=1e300 score=1e300")', None, None),
        ('say("info depth=3.5 score=x")', None, None),
        ('say("info depth=3 depth=4 score=1"); say("info string the \\"best\\" move")', None, None),
        ('say("id name=x \\"y\\"")', None, None),
    ],
)
def test_what_is_made_of_what_a_program_tells(
    tmp_path: Path, told: str, value: float | None, depth: int | None
) -> None:
    record, seat = played(tmp_path, told)
    assert record.moves == first_moves(2).moves
    assert [(note.value, note.depth) for note in record.annotations] == [(value, depth)] * 2
    assert len(seat.seconds) == 2 and all(seconds > 0.0 for seconds in seat.seconds)


def test_an_answer_that_comes_twice_is_no_answer_to_the_next_question(tmp_path: Path) -> None:
    twice = 'say("done move=" + move_word(game.legal_moves(position)[-1])); say("info depth=99")'
    text = script(tmp_path, PLAYER.replace("TOLD", twice))
    seat = parse_player(CHECKERS, text).seat(CHECKERS, Limits(seconds=0.01))
    assert isinstance(seat, EngineSeat)
    seat.begin(0)
    assert seat._talk is not None
    record = GameRecord(CHECKERS)
    for _ in range(3):
        expected = CHECKERS.legal_moves(record.position)[-1]
        seat.move(record)
        assert record.moves[-1] == expected
        until = time.monotonic() + 60
        while seat._talk._lines.qsize() < 2 and time.monotonic() < until:
            time.sleep(0.01)  # the rest of its answer arrives


def test_a_match_ends_when_one_of_two_programs_fails(tmp_path: Path) -> None:
    opening = next(iter(Openings(CHECKERS, plies=2, seed=1)))
    words = " ".join(map(move_word, opening))
    # in the first game it exits, in all others it thinks for ever
    told = f"given['moves'] != {words!r} or sys.exit(3); import time; time.sleep(600)"
    player = parse_player(CHECKERS, script(tmp_path, PLAYER.replace("TOLD", told)))
    with pytest.raises(ChildProcessError, match="exit status 3"):
        play_match(
            CHECKERS, player, parse_player(CHECKERS, "random"), limits=Limits(depth=1), games=8,
            threads=2, openings=Openings(CHECKERS, plies=2, seed=1),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("at_go", "limits", "said"),
    [
        ("continue", Limits(clock=Clock(1.0)), "lost 2 games on time"),
        ("sys.exit('tired')", Limits(depth=1), "lost 2 games because it failed; the last: .*tired"),
        (
            "say('done move=1-2')",
            Limits(depth=1),
            "lost 2 games because it failed; the last: .*1-2",
        ),
    ],
)
def test_a_failing_engine_loses_its_games_and_is_started_again(
    at_go: str, limits: Limits, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play.players.talk, "HEED", 0.1)
    text = f"{READY}for line in sys.stdin:\n    if line.startswith('go'):\n        {at_go}\n"
    players = [parse_player(CHECKERS, name) for name in (script(tmp_path, text), "random")]
    match = play_match(
        CHECKERS, *players, limits=limits, games=2, threads=1, recover=limits.clock is None
    )
    assert [unit.points for unit in match.units] == [((-1.0, 1.0), (-1.0, 1.0))]
    (line,) = _lost_lines([match])
    assert re.search(said, line) and not match.failure


def alive(path: Path) -> bool:
    """Returns whether the process whose number is in the file is alive."""
    try:
        os.kill(int(path.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    number = tmp_path / "number"
    inner = tmp_path / "inner.py"
    inner.write_text(
        f"import os, signal, sys, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"open({str(number)!r}, 'w').write(str(os.getpid()))\n"
        "print('wait\\nready', flush=True)\ntime.sleep(600)\n"
    )
    shell = f"{shlex.quote(sys.executable)} {shlex.quote(str(inner))}; true"
    seat = parse_player(CHECKERS, "hub:" + shlex.join(["sh", "-c", shell])).seat(
        CHECKERS, Limits(depth=1)
    )
    seat.begin(0)
    while not number.exists() or not number.read_text():
        time.sleep(0.01)
    assert alive(number)
    del seat
    gc.collect()
    until = time.monotonic() + 60
    while alive(number) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(number)


@pytest.mark.whole_run
def test_in_processes_of_their_own(tmp_path: Path) -> None:
    player = parse_player(CHECKERS, script(tmp_path, PLAYER.replace("TOLD", "pass")))
    options: dict[str, Any] = {"limits": Limits(depth=2), "games": 4}
    with Workers("loky", 2) as workers:
        there = play_match(
            CHECKERS, player, parse_player(CHECKERS, "material"), workers=workers, **options
        )
    here = play_match(CHECKERS, player, parse_player(CHECKERS, "material"), threads=1, **options)
    assert there.scores == here.scores
    assert len(there.seconds()) == len(here.seconds()) > 0


@pytest.mark.whole_run
@pytest.mark.parametrize("deaf", [False, True])
def test_ctrl_c_keeps_what_was_played(tmp_path: Path, deaf: bool) -> None:
    told = "import time; asked < 400 or time.sleep(600)" if deaf else "pass"
    player = script(tmp_path, PLAYER.replace("TOLD", told))
    command = [
        sys.executable, "-m", "play", "match", "checkers", "random", player, "--games", "100000",
        "--depth", "1", "--threads", "1", "--pdn", str(tmp_path / "games.pdn"), "--plies", "6",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    seen, saved = b"", tmp_path / "games.pdn"
    while not deaf and not (saved.exists() and saved.stat().st_size):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    while deaf and seen.count(b" of hub:") < 2:  # the progress tells that pairs were played
        seen += os.read(process.stderr.fileno(), 4096)
    time.sleep(3.0 if deaf else 0.0)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130 and b"Traceback" not in err
    assert re.search(rb"games [1-9]", out) and saved.stat().st_size > 100


def test_programs_that_cannot_be_started(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    path.write_text("no program\n")
    path.chmod(0o755)
    with pytest.raises(ChildProcessError, match="cannot be started: Exec format error"):
        parse_player(CHECKERS, f"hub:{path}").seat(CHECKERS, Limits(depth=1)).begin(0)


def test_a_program_that_does_not_make_ready_is_stopped(tmp_path: Path) -> None:
    seat = parse_player(CHECKERS, script(tmp_path, 'say("wait")\n' + STAY)).seat(
        CHECKERS, Limits(depth=1)
    )
    timer = threading.Timer(0.5, seat.stop)
    timer.start()
    with pytest.raises(ChildProcessError, match="exit status -9"):
        seat.begin(0)
    assert not timer.is_alive()


@pytest.mark.parametrize("deaf", [False, True])
def test_a_search_is_stopped(tmp_path: Path, deaf: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not deaf:
        monkeypatch.setattr(play.players.engine_player, "HEED", 300.0)
    text = script(tmp_path, READY + STAY) if deaf else program("classic")
    found = as_engine(CHECKERS, text)
    assert isinstance(found, EngineCommand)
    seat = found(CHECKERS, Limits(seconds=600))
    seat.stop()  # before there is anything to stop
    seat.begin(0)
    record = GameRecord(CHECKERS)
    threading.Timer(0.3, seat.stop).start()
    threading.Timer(0.4, seat.stop).start()
    if deaf:
        with pytest.raises(ChildProcessError, match=r"exit status -9"):
            seat.move(record)
    else:
        seat.move(record)
        assert len(record.moves) == 1
        assert seat._heed is None  # the timer that ends an engine without an answer is off
        seat.begin(1)


test_errors = errors_of(globals())
