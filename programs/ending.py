"""The end of programs: the exit status, and the signals that ask for it.

SIGTERM (`kill`, `timeout`, a shutdown) and SIGHUP (a closed terminal) do what Ctrl-C does: they
raise KeyboardInterrupt in the main thread, so work that is saved on Ctrl-C is saved then too.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import FrameType
from typing import Any, TypeVar

from programs.phrases import guessed
from programs.streams import shown
from programs.waiting import QUIET, doing, waiting_line

__all__ = [
    "ENDING",
    "LOOK",
    "exit_status",
    "is_ending",
    "result_of",
    "said",
    "signals_held",
]

Result = TypeVar("Result")

#: The signals that ask a program to end; Windows has no SIGHUP.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

#: Maximum seconds for which the main thread waits without a look at signals. One that comes just
#: before it begins to wait, or that another thread receives, does not wake it.
LOOK = 1.0

#: The signal other than SIGINT by which this program was asked to end.
_received: int | None = None


def exit_status(
    name: str, run: Callable[[], int], *, stopped: str = "stopped", talks: bool = False
) -> int:
    """Run a program; returns its exit status.

    name: the program as it was called; errors begin with it, without a leading "python -m".
    run: does the work and returns 0, or another status. An error that it raises because of bad
        input, or for want of memory, is printed as one line on standard error, and the status
        is 2.
    stopped: the line that is printed after Ctrl-C, SIGTERM or SIGHUP, unless the KeyboardInterrupt
        that `run` raises has a text of its own. The status is then 128 plus the number of the
        signal: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
    talks: whether the program waits for people or other programs. If not, a line at the terminal
        reports how long it has worked in silence.

    Control characters in its output, such as those of a name in a file, become question marks.
    If the reader of the output goes away (`... | head`), the program ends in silence with 0.
    """
    os.environ.setdefault(QUIET, "1")  # in worker processes, too
    with shown(), _asked_to_end():
        try:
            with waiting_line(), doing("" if talks else "working"):
                status = run()
            sys.stdout.flush()
            if is_ending():  # the signal ended the work, but no KeyboardInterrupt got here
                raise KeyboardInterrupt
        except BrokenPipeError:
            # the interpreter flushes once more when it ends, into a pipe without a reader
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt as asked:
            sys.unraisablehook = _hide
            print(str(asked) or stopped, file=sys.stderr)
            return 128 + (_received or signal.SIGINT)
        except MemoryError:
            print(f"{name.removeprefix('python -m ')}: out of memory", file=sys.stderr)
            return 2
        except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
            print(f"{name.removeprefix('python -m ')}: {guessed(said(error))}", file=sys.stderr)
            return 2
    return status


def said(error: Exception) -> str:
    """Returns an error as a text for people who type options: its `typed` if it has one.

    Python's errors of files begin with a number, which is left out.
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return str(getattr(error, "typed", "") or error)


def is_ending() -> bool:
    """Returns whether SIGTERM or SIGHUP has asked this program to end.

    Code that continues after a KeyboardInterrupt, as a prompt does, must not do so then.
    """
    return _received is not None


def result_of(future: Future[Result]) -> Result:
    """Returns the result of a future, once it is there; raises its error.

    Unlike `future.result()`, Ctrl-C always ends the wait, within `LOOK` seconds.
    """
    while True:
        try:
            return future.result(LOOK)
        except TimeoutError:
            if future.done():  # the error is the task's own, or the result has just come
                return future.result()


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold back the signals of `ENDING` for a moment, in the main thread.

    Processes that are started meanwhile never receive them, unless they unblock them.
    """
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        yield
        return
    came: list[int] = []

    def keep(number: int, frame: FrameType | None) -> None:
        came.append(number)

    before = {number: signal.signal(number, keep) for number in ENDING}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for number in came[:1]:
            signal.raise_signal(number)


@contextlib.contextmanager
def _asked_to_end() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, unless they are ignored (as by nohup)."""
    global _received
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _received = None
    others = {
        number: signal.signal(number, _end)
        for number in ENDING
        if number != signal.SIGINT and signal.getsignal(number) == signal.SIG_DFL
    }
    if getattr(signal.getsignal(signal.SIGINT), "__name__", "") == "end_at_once":  # of plysmith.py
        others[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    hook = sys.unraisablehook
    sys.unraisablehook = functools.partial(_ask_again, hook)
    try:
        yield
    finally:
        if sys.unraisablehook is _hide:
            gc.collect()  # now, in silence
        sys.unraisablehook = hook
        for number, handler in others.items():
            # the same signal once more must not change the exit status
            signal.signal(number, signal.SIG_IGN if is_ending() else handler)
        # A KeyboardInterrupt that leaves code given as a string (that of a dataclass, a named
        # tuple, a kernel) is marked as unhandled even if it is caught, and `python -m` then ends
        # by SIGINT whatever its exit status; the next such code takes the mark away.
        exec("")


def _end(number: int, frame: FrameType | None) -> None:
    global _received
    if _received is not None:  # `timeout` sends its signal twice
        return
    _received = number
    if number != signal.SIGTERM:
        _leave_lost_terminal()
        if signal.getsignal(signal.SIGTERM) is not _end:
            # a server has taken this signal over, and ends its requests first
            signal.raise_signal(signal.SIGTERM)
            return
    raise KeyboardInterrupt


def _ask_again(hook: Callable[[Any], object], unraisable: Any) -> None:
    """Send a signal again whose KeyboardInterrupt was raised in a finalizer, where Python drops it.

    It is sent from another thread and a moment later, when the finalizer has ended.
    """
    if unraisable.exc_type is not KeyboardInterrupt:
        (_hide if is_ending() else hook)(unraisable)
        return

    def send() -> None:
        global _received
        number, _received = _received or signal.SIGINT, None
        if hasattr(signal, "pthread_kill"):  # ends a wait of the main thread, too
            signal.pthread_kill(threading.main_thread().ident or 0, number)
        else:
            signal.raise_signal(number)

    again = threading.Timer(0.01, send)
    again.daemon = True
    again.start()


def _hide(unraisable: Any) -> None:
    """Say nothing of an object whose finalizer fails because a signal came while it was made."""


def _leave_lost_terminal() -> None:
    """Let output go nowhere if its terminal was closed: writing to it would be an error."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            descriptor = stream.fileno()
            # a closed terminal is still a device, but no terminal any more
            if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
