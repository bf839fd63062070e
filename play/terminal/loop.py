"""Input and output of a session: completion at a terminal, plain lines from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from play.terminal.session import Session
from programs.ending import is_ending
from programs.waiting import others_tell

__all__ = ["run_session"]


def run_session(session: Session) -> int:
    """Play until the person leaves or the input ends; returns the exit status 0.

    Ctrl-C while the evaluator thinks makes it play the best move found so far. At a prompt it drops
    the line, during a command it ends the command, and twice in a row it ends the session. SIGTERM
    and SIGHUP end it at once. Lines from a pipe are printed as they are read, so that the output
    looks like that of a terminal.
    """
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            # Undecodable bytes become characters that no move contains.
            stream.reconfigure(errors="replace")
    interrupted = False
    with _reader(session) as read:
        while not session.done:
            for text in session.advance():
                print(text, flush=True)
            if is_ending():  # the signal came during a search, which it only shortened
                return 0
            try:
                for text in session.answer(read(session.prompt)):
                    print(text, flush=True)
            except EOFError:
                print(flush=True)
                return 0
            except KeyboardInterrupt:
                if interrupted or is_ending():
                    raise
                interrupted = True
                print("\nCtrl-C once more, or quit, to leave.", flush=True)
                continue
            interrupted = False
    return 0


@contextmanager
def _reader(session: Session) -> Iterator[Callable[[str], str]]:
    """A function that asks for a line of input."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield _read_piped
        return
    try:
        import readline
    except ImportError:  # as on Windows
        readline = None  # type: ignore[assignment]
    if readline is None:
        yield _ask
        return
    before = readline.get_completer(), readline.get_completer_delims()
    lines: list[str] = []

    def complete(text: str, state: int) -> str | None:
        if state == 0:
            lines[:] = session.completions(text)
        return lines[state] if state < len(lines) else None

    readline.set_completer(complete)
    readline.set_completer_delims("")  # a move of backgammon has several words
    readline.parse_and_bind("tab: complete")
    try:
        yield _ask
    finally:
        readline.set_completer(before[0])
        readline.set_completer_delims(before[1])


def _ask(prompt: str) -> str:
    """Returns a line typed at the terminal; no progress is printed over the prompt."""
    others_tell.set()
    sys.stdout.write("")  # removes the line that was shown
    try:
        return input(prompt)
    finally:
        others_tell.clear()


def _read_piped(prompt: str) -> str:
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    print(line.rstrip("\n")[:200], flush=True)
    return line
