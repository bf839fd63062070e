"""The processes of a session, which /proc knows."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

__all__ = ["busy", "catches", "session_of", "usual_signals", "wait_until_gone"]


def session_of(leader: int) -> list[int]:
    """Returns the living processes of the session that a process leads."""
    return [number for number, _ in _stats(leader)]


def usual_signals() -> None:
    """Let a new process heed SIGINT and SIGHUP, even if the tests were started to ignore them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def busy(leader: int) -> float:
    """Returns the seconds of processor time that the processes of a session have taken."""
    ticks = sum(int(fields[11]) + int(fields[12]) for _, fields in _stats(leader))
    return ticks / os.sysconf("SC_CLK_TCK")


def catches(process: int, number: signal.Signals) -> bool:
    """Returns whether a process has a handler for a signal."""
    status = Path(f"/proc/{process}/status").read_text()
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def wait_until_gone(leader: int, seconds: float = 60.0) -> list[int]:
    """Returns the processes of a session that are still there after a while, at best none."""
    until = time.monotonic() + seconds
    while session_of(leader) and time.monotonic() < until:
        time.sleep(0.05)
    return session_of(leader)


def _stats(leader: int) -> list[tuple[int, list[str]]]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] not in "ZX":
                found.append((int(entry.name), fields))
    return found
