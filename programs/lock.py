"""A lock that one process at a time holds, and that says who holds it."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["LockedError", "alone"]

#: The byte that is locked, where a whole file cannot be: far behind the text that others read.
FAR = 1 << 20


class LockedError(OSError):
    """Raised if another process holds a lock."""


@contextlib.contextmanager
def alone(path: Any, what: str) -> Iterator[None]:
    """Hold a lock for as long as the context lasts.

    path: the file of the lock. It says which process holds it, and is removed at the end.
    what: what the lock is for, for the message: "the run in runs/mine".

    The system releases the lock of a process that ends in any way, so the file of a dead process
    blocks nobody. Raises LockedError, with the process, its host and the time since when, if
    another process holds the lock, and OSError if the file cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _held(path, what)
    try:
        file.truncate(0)
        holder = {
            "process": os.getpid(),
            "host": platform.node(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        file.write(json.dumps(holder).encode())
        file.flush()
        yield
    finally:
        if os.name == "posix":
            path.unlink(missing_ok=True)
        file.close()
        with contextlib.suppress(OSError):  # elsewhere open files cannot be removed
            path.unlink(missing_ok=True)


def _held(path: Path, what: str) -> IO[bytes]:
    while True:
        file = open(path, "a+b")
        try:
            if not _lock(file):
                raise LockedError(
                    f"{what}: expected no other process to write it, found {_holder(file)}"
                )
            # the holder before may have removed the file after it was opened here
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return file
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: IO[bytes]) -> bool:
    """Lock an open file; returns whether nobody else has."""
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_on_windows(file: IO[bytes]) -> bool:
    import importlib

    msvcrt = importlib.import_module("msvcrt")
    file.seek(FAR)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _holder(file: IO[bytes]) -> str:
    try:
        file.seek(0)
        holder = json.loads(file.read(1000))
        return f"process {holder['process']} on {holder['host']}, since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
