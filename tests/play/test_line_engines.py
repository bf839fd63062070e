"""UBGI and Hub: commands in any order, while searches run and are stopped."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import games
from games.backgammon.identifiers import gnu_id, xgid
from games.backgammon.situation import Situation
from play.players.limits import Limits
from play.players.thinker import Thinker
from play.protocols.hub import Hub
from play.protocols.line_engine import LineEngine
from play.protocols.ubgi import Ubgi

BACKGAMMON: Any = games.load("backgammon")
START = BACKGAMMON.start()
RACE = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:7:10"

UBGI = (
    *("ubgi", "isready", "newgame", "stop", "stop", "go", "go cube", "go cube", "go chequer"),
    *(
        "go elsewhere",
        "position startpos",
        "position",
        "position xgid bad",
        f"position xgid {RACE}",
    ),
    f"position xgid {RACE}",
    f"position xgid {xgid(Situation(START, offered='double', match_length=7))}",
    f"position gnubgid {gnu_id(Situation(START, resigned=(1, 2)))}",
    *("dice 3 1", "dice 7 1", "set depth 0", "set depth 2", "set seconds 0.01", "get depth"),
    *("foo", RACE, xgid(Situation(START, roll=3)), "", None),
)
HUB = (
    *("hub", "init", "init", "ping", "new-game", "pos", "pos pos=bad", 'pos moves="11-15"'),
    *(
        "level depth=3",
        "level infinite",
        "level move-time=0.02",
        "level time=1 inc=0.1",
        "level ponder",
    ),
    *("go think", "go think", "go ponder", "go analyze", "go bad", "stop", "stop", "ponder-hit"),
    *("set-param name=turned-pos value=true", "set-param name=turned-pos value=false", "foo", None),
)


@pytest.fixture
def deaths(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The errors with which threads ended."""
    died: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    return died


def ubgi(write: Callable[[str], None], depth: int = 1) -> Ubgi:
    return Ubgi(Thinker(BACKGAMMON, "wide", Limits(depth=depth), table_mib=1), write)


def hub(write: Callable[[str], None]) -> Hub:
    return Hub(Thinker(games.load("checkers"), "classic", Limits(depth=3), table_mib=1), write)


@pytest.mark.parametrize("end", ["stop", "quit"])
def test_a_cube_decision_that_is_stopped_is_answered(deaths: list[Any], end: str) -> None:
    said: list[str] = []
    engine = ubgi(said.append, depth=2)
    for line in (f"position xgid {RACE}", "go cube"):
        engine.handle(line)
    assert engine.handle(end) == (end == "stop")
    engine.stop()  # as at the end of the input
    assert said[-1] in ("bestmove double", "bestmove roll") and not engine.searching
    assert not deaths


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("make", "commands", "ask", "answer"),
    [(ubgi, UBGI, "isready", "readyok"), (hub, HUB, "ping", "pong")],
)
def test_commands_in_any_order(
    deaths: list[Any],
    make: Callable[[Callable[[str], None]], LineEngine],
    commands: Sequence[str | None],
    ask: str,
    answer: str,
) -> None:
    said: list[str] = []
    engine = make(said.append)
    choose = random.Random(0)
    for _ in range(12):
        given = [choose.choice(commands) for _ in range(25)]
        for line in given:
            before = [*said]
            idle = not engine.searching
            assert engine.handle(line)
            if idle and line and line.startswith("go"):  # a search began, or an error was told
                assert engine.searching or len(said) > len(before), given
        engine.stop()
        assert not engine.searching and not deaths, given
        said.clear()
        assert engine.handle(ask) and said == [answer], given
        said.clear()
