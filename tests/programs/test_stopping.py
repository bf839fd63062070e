"""Ctrl-C, SIGTERM and SIGHUP end every program alike: one line, its status, and nobody left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import busy, catches, session_of, usual_signals, wait_until_gone

from games import kernels
from learner.run.folder import CHECKPOINT

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc"),
]

ROOT = Path(__file__).resolve().parents[2]
INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
#: A match that lasts longer than any test.
MATCH = "--quiet --games 4000 --depth 9"
SAME = "stopped; the same command continues"
RESUME = "stopped; continue with: plysmith train --resume {tmp}/run"


def at_work(program: subprocess.Popen[str]) -> None:
    """Wait until a program that heeds SIGTERM has worked for a while, or waits for somebody."""
    until = time.monotonic() + 300
    heeds: float | None = None
    rested, before = 0, 0.0
    while time.monotonic() < until and (heeds is None or before < heeds + 0.5) and rested < 5:
        assert program.poll() is None, program.communicate()
        time.sleep(0.1)
        spent = busy(program.pid)
        if heeds is None and catches(program.pid, TERM):
            heeds = spent
        rested = rested + 1 if heeds is not None and spent == before else 0
        before = spent


#: Programs that stop each in a way of its own: processes, a server, a run. `make test` asks these,
#: and CI the others too: a search in threads, one that reads.
USUAL = [
    (f"play match checkers classic random {MATCH} --backend loky", HUP, "stopped"),
    ("play web --port 0", HUP, "stopped"),
    ("plysmith train checkers --learner samuel1959 --games 2000 --depth 2 --run {tmp}/run --quiet",
     INT, RESUME),
]  # fmt: skip
OTHERS = [
    ("play rollout backgammon 4HPwATDgc/ABMA hand --games 999999 --quiet", TERM, "stopped"),
    ("play engine --hub", TERM, "stopped"),
    ("play judge connect_four hand --referee truth --positions 50000", TERM, "stopped"),
    ("play terminal checkers classic --depth 3", HUP, "stopped"),
    ("benchmarks.techniques aspiration --results {tmp}/t.json", TERM, SAME),
    ("train checkers --learner rootstrap --backend loky --run {tmp}/run --quiet", HUP, RESUME),
]


@pytest.mark.parametrize(
    ("line", "sent", "last"),
    [*USUAL, *(pytest.param(*row, marks=pytest.mark.whole_run) for row in OTHERS)],
)
def test_every_program_stops(line: str, sent: signal.Signals, last: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", *line.format(tmp=tmp_path).split()], cwd=ROOT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=usual_signals,
    ) as program:  # fmt: skip
        try:
            at_work(program)
            while last == RESUME and not (tmp_path / "run" / CHECKPOINT).is_file():
                time.sleep(0.1)
            for _ in range(1 if sent == INT else 2):  # as `timeout` does
                os.killpg(program.pid, sent)
                time.sleep(0.01)
            _, err = program.communicate(timeout=300)
        finally:
            for left in session_of(program.pid):
                os.kill(left, signal.SIGKILL)
        assert program.returncode == 128 + sent, err
        assert err.splitlines()[-1] == last.format(tmp=tmp_path)
        assert last != RESUME or err == RESUME.format(tmp=tmp_path) + "\n"
        assert "Traceback" not in err
        assert wait_until_gone(program.pid) == []


@pytest.mark.parametrize(
    "place",
    [
        "plysmith.importlib.import_module = lambda name: stop()",
        "sys.meta_path.insert(0, SimpleNamespace(find_spec=lambda name, *rest: stop()))",
    ],
)
def test_ctrl_c_ends_a_program_that_is_still_being_imported(place: str) -> None:
    """Without a word of Python's: modules are imported, in which an exception may do anything."""
    code = "import os, sys, plysmith; from types import SimpleNamespace"
    stop = "stop = lambda: os.kill(os.getpid(), 2)"
    line = f"{code}; import signal; {stop}; {place}; plysmith.main(['play', 'web'])"
    stopped = subprocess.run(
        [sys.executable, "-c", line], cwd=ROOT, capture_output=True, text=True, check=False,
        preexec_fn=usual_signals,
    )  # fmt: skip
    assert (stopped.returncode, stopped.stderr) == (130, "stopped\n")
