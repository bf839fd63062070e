"""A line at the terminal while a program loads and compiles, so that it never looks stuck."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, TextIO

__all__ = ["CLEAR", "compiling_text", "doing", "others_tell", "told_of_compiling"]

#: Seconds between two looks, and number of looks before the first line.
OFTEN, PATIENCE = 0.25, 4
CLEAR = "\r\x1b[K"

#: Set once something else says in each second what goes on, such as the progress of a run.
others_tell = threading.Event()
#: What goes on without a word in this process, and since when, the last at the end.
_silent = [("", 0.0)]


@contextlib.contextmanager
def doing(text: str) -> Iterator[None]:
    """Let `told_of_compiling` say what goes on without a word during a block, and how long."""
    _silent.append((text, time.monotonic()))
    try:
        yield
    finally:
        _silent.pop()


def compiling_text(*, brief: bool = False) -> str:
    """Returns what is being compiled in this process now, or nothing; brief: without the time."""
    module: Any = sys.modules.get("search.first_use")  # not imported before it is needed
    look = getattr(module, "first_use", None)
    now = None if look is None else look()
    return "" if now is None else now.brief if brief else now.text


@contextlib.contextmanager
def told_of_compiling(stream: TextIO | None = None, *, loading: bool = False) -> Iterator[None]:
    """Write a line that changes while this process loads and compiles, during a block.

    stream: where to write; None for standard error. Nothing is written if it is no terminal.
    loading: whether all that goes on before `others_tell` is loading or compiling.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield
        return
    done = threading.Event()
    what = stream, done, loading
    thread = threading.Thread(target=_tell, args=what, daemon=True, name="waiting")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tell(stream: TextIO, done: threading.Event, loading: bool) -> None:
    looks, shown, began = 0, False, time.monotonic()
    while not done.wait(OFTEN):
        text = ""
        if not others_tell.is_set():
            unloaded = loading or "search.first_use" not in sys.modules
            what, since = ("loading", began) if unloaded else _silent[-1]
            text = compiling_text() or (what and f"{what}, {time.monotonic() - since:.0f} s")
        looks = looks + 1 if text else 0
        if text and looks > PATIENCE:
            stream.write(CLEAR + text)
            shown = True
        elif shown:
            stream.write(CLEAR)
            shown = False
        else:
            continue
        stream.flush()
    if shown:
        stream.write(CLEAR)
        stream.flush()
