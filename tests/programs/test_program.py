"""How programs end: a one-line message after a mistake, Ctrl-C, and a reader that has gone."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import usual_signals

from programs.ending import ENDING, exit_status, signals_held


def raising(error: BaseException) -> int:
    raise error


@pytest.mark.plain
@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (ValueError("depth: expected 1, found 0"), 2, "name: depth: expected 1, found 0\n"),
        (FileNotFoundError(2, "No such file", "x.json"), 2, "name: x.json: no such file\n"),
        (MemoryError(), 2, "name: out of memory\n"),
        (KeyboardInterrupt(), 130, "go on with --resume\n"),
        (KeyboardInterrupt("the match is in x"), 130, "the match is in x\n"),
    ],
)
def test_what_a_user_causes_is_one_line(
    error: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = exit_status("name", lambda: raising(error), stopped="go on with --resume")
    assert found == status
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    ("text", "terminal", "shown"),
    [
        ("\x1b[31mred\x1b[0m", False, "?[31mred?[0m"),
        ("\x1b[31mred\x1b[0m\r\x1b[K", True, "\x1b[31mred\x1b[0m\r\x1b[K"),
        ("\x1b]0;title\x07\x9b2J\x1b[2J\tend", True, "?]0;title??2J?[2J\tend"),
    ],
)
def test_no_control_character_of_a_text_reaches_the_terminal(
    text: str, terminal: bool, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = [io.StringIO(), io.StringIO()]
    for name, stream in zip(("stdout", "stderr"), streams, strict=True):
        monkeypatch.setattr(stream, "isatty", lambda: terminal)
        monkeypatch.setattr(sys, name, stream)

    def run() -> int:
        print(text)
        raise ValueError(text)

    assert exit_status("name", run) == 2
    assert [stream.getvalue() for stream in streams] == [f"{shown}\n", f"name: {shown}\n"]


def test_a_status_is_handed_on_and_a_defect_is_not_hidden() -> None:
    assert exit_status("name", lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        exit_status("name", lambda: raising(ZeroDivisionError()))


@pytest.mark.plain
@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_has_gone_is_not_a_mistake(lines: int) -> None:
    text = f"""
import sys
from programs.ending import ENDING, exit_status, signals_held

def run():
    sys.stdin.read()
    for _ in range({lines}):
        print("a line of text")
    return 0

sys.exit(exit_status("name", run))
"""
    with subprocess.Popen(
        [sys.executable, "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdin and program.stdout and program.stderr
        program.stdout.close()
        program.stdin.close()
        assert program.stderr.read() == b""
        assert program.wait(300) == 0


# --- signals ---------------------------------------------------------------------------------

#: A program that says "ready" once a signal may come.
WAITING = """
import os, signal, sys, time
from programs.ending import exit_status, is_ending, signals_held

def ready():
    print("ready", flush=True)

def run():
    {work}
    return 0

sys.exit(exit_status("name", run))
"""
SLEEP = "ready(); time.sleep(60)"
#: A server that takes SIGTERM over and hands it on at its end, as uvicorn does.
SERVE = """
    ended = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: ended.append(number))
    ready()
    while not ended:
        time.sleep(0.01)
    print("requests ended", flush=True)
    signal.signal(signal.SIGTERM, before)
    signal.raise_signal(signal.SIGTERM)
"""
SWALLOW = """
    try:
        ready()
        time.sleep(60)
    except KeyboardInterrupt:
        print("goes on", is_ending(), flush=True)
"""
HELD = """
    with signals_held():
        ready()
        time.sleep(1)
        print("whole", flush=True)
    time.sleep(60)
"""
#: Python drops what a finalizer raises.
FINALIZER = """
    class Dropped:
        def __del__(self):
            ready()
            time.sleep(60)
    Dropped()
    time.sleep(60)
"""
#: The finalizers of objects that are half made complain, as those of a compiler's do.
HALVES = """
    class Half:
        def __init__(self, cyclic):
            self.cycle = self if cyclic else None
            if not cyclic:
                self.other = Half(True)
            ready()
            time.sleep(60)
            self.whole = True
        def __del__(self):
            self.whole
    {work}
"""
CAUGHT = """
    try:
        Half(False)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.plain
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("work", "sent", "status", "said"),
    [
        (SLEEP, [signal.SIGINT], 130, ""),
        (SLEEP, [signal.SIGTERM], 143, ""),
        (SLEEP, [signal.SIGTERM] * 3, 143, ""),  # timeout sends it twice
        (SLEEP, [signal.SIGHUP], 129, ""),
        (SLEEP, [signal.SIGHUP, signal.SIGTERM], 129, ""),
        (SERVE, [signal.SIGTERM], 143, "requests ended\n"),
        (SERVE, [signal.SIGHUP], 129, "requests ended\n"),
        (SWALLOW, [signal.SIGTERM], 143, "goes on True\n"),
        (SWALLOW, [signal.SIGINT], 0, "goes on False\n"),
        (HELD, [signal.SIGTERM], 143, "whole\n"),
        (HELD, [signal.SIGINT], 130, "whole\n"),
        (FINALIZER, [signal.SIGTERM], 143, ""),
        (FINALIZER, [signal.SIGINT], 130, ""),
        (HALVES.format(work="Half(False)"), [signal.SIGTERM], 143, ""),
        (HALVES.format(work="Half(False)"), [signal.SIGINT], 130, ""),
        (HALVES.format(work=CAUGHT.strip()), [signal.SIGTERM], 143, ""),
    ],
)
def test_signals_end_a_program_as_ctrl_c_does(
    work: str, sent: list[signal.Signals], status: int, said: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING.format(work=work.strip())],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=usual_signals,
    ) as program:  # fmt: skip
        assert program.stdout and program.stderr
        assert program.stdout.readline() == "ready\n"
        for number in sent:
            program.send_signal(number)
        out, err = program.communicate(timeout=300)
    assert (program.returncode, out) == (status, said)
    assert err == ("stopped\n" if status else "")


@pytest.mark.plain
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_within_generated_code_leaves_the_exit_status(tmp_path: Path) -> None:
    work = "exec('os.kill(os.getpid(), signal.SIGTERM)')"
    (tmp_path / "generated.py").write_text(WAITING.format(work=work))
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).resolve().parents[2])])
    found = subprocess.run(
        [sys.executable, "-m", "generated"],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )
    assert (found.returncode, found.stderr) == (143, b"stopped\n")


@pytest.mark.plain
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_that_is_ignored_stays_so() -> None:
    work = "os.kill(os.getpid(), signal.SIGHUP)"
    found = subprocess.run(
        [sys.executable, "-c", WAITING.format(work=work)],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # as nohup starts it
    assert found.returncode == 0


@pytest.mark.plain
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in ENDING]
    assert exit_status("name", lambda: 0) == 0
    with signals_held():
        pass
    assert [signal.getsignal(number) for number in ENDING] == before


@pytest.mark.plain
@pytest.mark.skipif(not Path("/dev/ptmx").exists(), reason="needs pseudo-terminals")
def test_a_closed_terminal_is_no_error() -> None:
    import pty

    work = """
    try:
        ready()
        time.sleep(60)
    finally:
        print("a report of what was done", flush=True)
        sys.stderr.write("a bar that is closed")
    """
    child, terminal = pty.fork()
    if child == 0:
        usual_signals()
        os.execv(sys.executable, [sys.executable, "-c", WAITING.format(work=work.strip())])
    assert b"ready" in os.read(terminal, 100)
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 129
