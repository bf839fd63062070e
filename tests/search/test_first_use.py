"""The first use of a game: what is counted while kernels are compiled, and what people read."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import games
from games import waiting
from games.kernels import compiling
from play.terminal import loop
from search import Engine, first_use
from search.first_use import ANY, EXPECTIMINIMAX, TERM, FirstUse

ROOT = Path(__file__).resolve().parents[2]
MODULE = "search.first_use"
COLD = """
import sys
import games
from games.contract import given
from games.kernels.compiling import _listener
from search import Engine, as_evaluator
from search.first_use import first_use, will_use
game = games.load(sys.argv[1])
evaluator = as_evaluator(game, sys.argv[2])
will_use(game, evaluator)
game.legal_moves(game.start(), *given(0 if game.dice else None))
game.outcome(game.start())
share = first_use().share
expected = _listener._sizes.total() / share
Engine(game, evaluator).search(game.start(), depth=1)
print(_listener._sizes.total(), expected)
"""


def test_a_wait_is_counted_once_whatever_its_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(compiling.time, "monotonic", lambda: clock[0])
    listener = compiling._Listener()
    assert listener.state() is None
    function = first_use.will_use
    size = compiling.size_of(function)
    ended = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
    listener.on_start(None)
    listener.on_start(None)  # a function that the first one calls
    clock[0] += 2
    listener.on_end(ended)
    assert listener.state() == (size, {MODULE: size}, 0, 2.0 / (size + compiling.START), 0.0)
    listener.on_end(ended)
    clock[0] += 0.5  # a short pause
    assert listener.state() == (
        2 * size,
        {MODULE: 2 * size},
        0,
        2.0 / (2 * size + compiling.START),
        0.5,
    )
    clock[0] += 2
    assert listener.state() is None
    listener.on_start(None)
    clock[0] += 1
    state = listener.state()
    assert state is not None and state.current == 1.0  # goes on, without the time of the pause
    listener.new_count()
    state = listener.state()
    assert state is not None and (state.size, state.rate) == (0, 2.0 / (2 * size + compiling.START))


def test_the_time_left_is_that_of_the_size_left(monkeypatch: pytest.MonkeyPatch) -> None:
    game = games.load("backgammon")
    evaluator = Engine(game, "hand").evaluator
    now = compiling.Compiling(3000, {"search.root": 400}, first_use.OF_SEARCH + 100, 0.001, 0.5)
    monkeypatch.setattr(first_use, "compiling", lambda: now)
    monkeypatch.setattr(first_use, "is_made", lambda kernel: False)
    own = sum(map(compiling.size_of, first_use.kernels_of_use(game, evaluator)))
    own += TERM * len(evaluator.features.terms) - 100  # C functions that are made are not left
    left = own + sum((ANY | EXPECTIMINIMAX[0]).values()) - 400
    found = first_use.first_use()
    assert found is not None and found.share == pytest.approx(3000 / (3000 + left))
    assert found.seconds == pytest.approx(left / 1000 - 0.5)
    assert found.text == f"{found.brief}, about {found.seconds:.0f} s left"
    assert found.brief == f"compiling for the first time: {100 * found.share:.0f} %"
    monkeypatch.setattr(first_use, "is_made", lambda kernel: True)  # all is on disk
    found = first_use.first_use()
    assert found is not None and (found.share, found.seconds) == (1.0, 1.0)
    for early in (now._replace(size=100), now._replace(rate=None)):
        monkeypatch.setattr(first_use, "compiling", lambda early=early: early)
        monkeypatch.setattr(first_use, "is_made", lambda kernel: False)
        found = first_use.first_use()
        assert found is not None and found.seconds is None and found.text == found.brief
    monkeypatch.setattr(first_use, "compiling", lambda: None)
    assert first_use.first_use() is None


def test_a_terminal_shows_it_and_a_pipe_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    state = FirstUse(0.3, 11.0)
    monkeypatch.setattr(first_use, "first_use", lambda: state)
    monkeypatch.setattr(waiting, "OFTEN", 0.01)
    monkeypatch.setattr(waiting, "others_tell", threading.Event())

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, pipe = Terminal(), io.StringIO()
    with waiting.told(terminal), waiting.told(pipe):
        until = time.monotonic() + 30
        while state.text not in terminal.getvalue():
            assert time.monotonic() < until
            time.sleep(0.01)
    assert terminal.getvalue().endswith(waiting.CLEAR)
    monkeypatch.setattr(first_use, "first_use", lambda: None)
    with waiting.told(terminal), waiting.told(pipe):
        with waiting.doing("searching"):
            while "searching, 0 s" not in terminal.getvalue():
                assert time.monotonic() < until
                time.sleep(0.01)
    assert pipe.getvalue() == ""


def test_nothing_is_told_over_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "others_tell", threading.Event())
    monkeypatch.setattr(loop, "others_tell", waiting.others_tell)
    monkeypatch.setattr("builtins.input", lambda text: f"{text}{waiting.others_tell.is_set()}")
    assert loop._ask("O 31> ") == "O 31> True" and not waiting.others_tell.is_set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "evaluator"),
    [("checkers", "classic"), ("tic_tac_toe", "open_lines"), ("backgammon", "hand")],
)
def test_the_expected_size_is_nearly_right(
    game: str, evaluator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a process that compiles everything."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command: Any = [sys.executable, "-c", COLD, game, evaluator]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    found, expected = map(float, done.stdout.split())
    assert found == pytest.approx(expected, rel=0.2)
