"""The first use of a game: what is counted while kernels are compiled, and what people read."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import games
from games.kernels import compiling
from play import waiting
from search import Engine, first_use
from search.first_use import FirstUse, functions_to_compile

ROOT = Path(__file__).resolve().parents[2]
COLD = """
import sys
import games
from games.kernels.compiling import compiling
from search import Engine
from search.first_use import functions_to_compile
game = games.load(sys.argv[1])
engine = Engine(game, sys.argv[2])
for ask in (engine.search, engine.analyse):
    ask(game.start(), depth=1)
print(compiling().functions, functions_to_compile(game, engine.evaluator))
"""


def test_a_wait_is_counted_once_whatever_its_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(compiling.time, "monotonic", lambda: clock[0])
    listener = compiling._Listener()
    assert listener.state() is None
    listener.on_start(None)
    listener.on_start(None)  # a function that the first one calls
    clock[0] += 2
    listener.on_end(None)
    assert listener.state() == (1, 2.0, 2.0)
    listener.on_end(None)
    clock[0] += 0.5  # a short pause
    assert listener.state() == (2, 2.5, 2.0)
    clock[0] += 2
    assert listener.state() is None
    listener.on_start(None)
    clock[0] += 1
    assert listener.state() == (2, 3.0, 2.0)  # goes on, without the time of the pause
    listener.new_count()
    assert listener.state() == (0, 0.0, 0.0)


def test_the_time_left_is_that_of_the_functions_left(monkeypatch: pytest.MonkeyPatch) -> None:
    checkers = games.load("checkers")
    engine = Engine(checkers, "classic")
    total = functions_to_compile(checkers, engine.evaluator)
    monkeypatch.setattr(first_use, "compiling", lambda: compiling.Compiling(20, 10.0, 10.0))
    now = first_use.first_use()
    assert now is not None and (now.functions, now.total) == (20, total)
    share = (1 - first_use.LAST) * 20 / total
    assert now.share == pytest.approx(share)
    assert now.seconds == pytest.approx(10 / share - 10)
    assert now.text.startswith("compiling for the first time, about ")
    assert now.text.endswith(f" s: 20 of about {total} functions")
    monkeypatch.setattr(first_use, "compiling", lambda: None)
    assert first_use.first_use() is None


@pytest.mark.parametrize(
    ("game", "evaluator", "whole", "seen"),
    [  # seconds and functions of a first table, from an empty cache
        ("backgammon", "wide", 40.8, ((10.9, 34), (16.0, 55), (20.6, 66), (25.2, 82))),
        ("connect_four", "solved", 31.6, ((5.2, 45), (8.8, 57), (11.8, 71))),
        ("checkers", "quantised", 37.6, ((7.7, 44), (12.4, 58), (16.8, 73))),
    ],
)
def test_the_countdown_of_a_first_table_is_one(
    game: str, evaluator: str, whole: float, seen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a factor of 2.5 of what was left, with the same total and a bar that only grows."""
    engine = Engine(games.load(game), evaluator)
    shares, totals = [0.0], set()
    for seconds, functions in seen:
        known = compiling.Compiling(functions, seconds, seconds)
        monkeypatch.setattr(first_use, "compiling", lambda known=known: known)
        now = first_use.first_use()
        assert now is not None and now.seconds is not None and now.share is not None
        assert (whole - seconds) / 2.5 < now.seconds < (whole - seconds) * 2.5
        assert shares[-1] < now.share < 1
        shares.append(now.share)
        totals.add(now.total)
    assert totals == {functions_to_compile(engine.game, engine.evaluator)}


def test_a_terminal_shows_it_and_a_pipe_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    state = FirstUse(3, 80, 11.0)
    monkeypatch.setattr(first_use, "first_use", lambda: state)
    monkeypatch.setattr(waiting, "OFTEN", 0.01)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, pipe = Terminal(), io.StringIO()
    with waiting.told_of_compiling(terminal), waiting.told_of_compiling(pipe):
        until = time.monotonic() + 30
        while state.text not in terminal.getvalue():
            assert time.monotonic() < until
            time.sleep(0.01)
    assert terminal.getvalue().endswith(waiting.CLEAR)
    assert pipe.getvalue() == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "evaluator"), [("checkers", "classic"), ("tic_tac_toe", "open_lines")]
)
def test_the_expected_number_of_functions_is_nearly_right(
    game: str, evaluator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a process that compiles everything."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command: Any = [sys.executable, "-c", COLD, game, evaluator]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    found, expected = map(int, done.stdout.split())
    assert found == pytest.approx(expected, rel=0.2)
