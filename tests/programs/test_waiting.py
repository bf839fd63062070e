"""Lines for people who wait: for a compilation in Python, and for anything at a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from games import kernels
from games.kernels import compiling
from play.terminal import loop
from programs import waiting

ROOT = Path(__file__).resolve().parents[2]
#: Compiles for a while by the clock of the listener, which is made to run fast or slowly.
COMPILES = """
import sys, time
from games.kernels import compiling, kernel
compiling.PATIENCE = float(sys.argv[1])
exec("@kernel\\ndef compiled(x):\\n    return x + 1")
with compiling.counting(type("Made", (), {"cache_hits": False})):
    time.sleep(0.3)
print(compiled(1))
"""


def test_a_wait_is_one_whatever_its_short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(compiling.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(compiling.threading, "Thread", lambda **options: SimpleNamespace(start=int))
    listener = compiling._Listener()
    assert listener.seconds() is None
    listener.on_start(None)
    listener.on_start(None)  # a function that the first one calls
    clock[0] += 2
    listener.on_end(None)
    assert listener.seconds() == 2.0
    listener.on_end(None)
    clock[0] += 0.5  # a short pause
    assert listener.seconds() == 2.5
    listener.on_start(None)
    listener.on_end(None)
    clock[0] += 2
    assert listener.seconds() is None
    listener.begin()
    listener.end(made=False)  # read from disk
    assert listener.seconds() is None


@pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("patience", "quiet", "lines"), [("0", "", 1), ("0", "1", 0), ("60", "", 0)]
)
def test_python_says_once_that_it_compiles_unless_it_is_quick_or_asked_not_to(
    patience: str, quiet: str, lines: int, tmp_path: Path
) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), waiting.QUIET: quiet}
    done = subprocess.run(
        [sys.executable, "-c", COMPILES, patience],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("2\n", (compiling.LINE + "\n") * lines)


def test_a_terminal_shows_it_and_a_pipe_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds: list[float | None] = [11.4]
    monkeypatch.setattr(waiting, "compiling_seconds", lambda: seconds[0])
    monkeypatch.setattr(waiting, "OFTEN", 0.01)
    monkeypatch.setattr(waiting, "others_tell", threading.Event())

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def shown(text: str) -> None:
        until = time.monotonic() + 30
        while text not in terminal.getvalue():
            assert time.monotonic() < until
            time.sleep(0.01)

    terminal, pipe = Terminal(), io.StringIO()
    with waiting.waiting_line(terminal), waiting.waiting_line(pipe):
        shown("compiling for the first time, 11 s")
    assert terminal.getvalue().endswith(waiting.CLEAR)
    seconds[0] = None
    with waiting.waiting_line(terminal), waiting.waiting_line(pipe), waiting.doing("searching"):
        shown("searching, 0 s")
    assert pipe.getvalue() == ""


def test_nothing_is_told_over_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "others_tell", threading.Event())
    monkeypatch.setattr(loop, "others_tell", waiting.others_tell)
    monkeypatch.setattr("builtins.input", lambda text: f"{text}{waiting.others_tell.is_set()}")
    assert loop._ask("O 31> ") == "O 31> True" and not waiting.others_tell.is_set()


def test_no_bar_tells_an_end_that_nobody_has_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(waiting, "compiling_seconds", None)
    bar: Any = waiting.WorkBar(100, "games", quiet=True)
    for _ in range(99):
        clock[0] += 20.0
        bar.update()
        bar.look()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 99 and lines[-1] == "99 of 100 games, 0.05 a second"
