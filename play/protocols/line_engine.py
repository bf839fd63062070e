"""The base of engine protocols: lines in, lines out, and a search in between.

Commands are read while a search runs, so that it can be stopped. For any input the engine answers
or stays silent as its protocol demands, and never ends with an error.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from play.players.lines import LONGEST_LINE, read_lines
from play.players.thinker import Thinker
from search import Result

__all__ = ["LineEngine"]


class LineEngine:
    """An engine with a protocol of lines; each protocol is a subclass.

    thinker: searches.
    write: called with each line of an answer, from any thread, one at a time.
    """

    def __init__(self, thinker: Thinker, write: Callable[[str], None]) -> None:
        self.thinker = thinker
        self._write = write
        self._lock = threading.RLock()
        self._search: threading.Thread | None = None
        #: Whether an answer is still to come. The thread may live longer than that, because the
        #: next question may come before it has ended.
        self.searching = False
        self._stopping = threading.Event()

    # --- methods of a protocol -----------------------------------------------------------------

    def command(self, line: str) -> bool:
        """Run a command; returns whether to go on. A ValueError is answered by `refuse`."""
        raise NotImplementedError

    def refuse(self, problem: str) -> None:
        """Answer a wrong line with a one-line message."""
        raise NotImplementedError

    def end_of_input(self) -> None:
        """Do what is left to do when the input ends; by default nothing."""

    # --- lines ---------------------------------------------------------------------------------

    def say(self, line: str) -> None:
        """Answer a line."""
        with self._lock:
            self._write(line)

    def handle(self, line: str | None) -> bool:
        """Handle a line (None: one that was too long); returns whether to go on."""
        try:
            if line is None:
                raise ValueError(f"expected lines of at most {LONGEST_LINE} bytes, found a longer")
            return self.command(line) if line else True
        except (ValueError, TypeError, ArithmeticError) as error:
            self.refuse(" ".join(str(error).split())[:300])
            return True

    def serve(self, stream: BinaryIO) -> None:
        """Answer the lines of a stream to its end or to a command to quit, then stop the search."""
        try:
            for line in read_lines(stream):
                if not self.handle(line):
                    return
            self.end_of_input()
        except BrokenPipeError:  # the reader is gone
            pass
        finally:
            self.stop()

    # --- searching -----------------------------------------------------------------------------

    def start(self, answer: Callable[[Result], str], position: Any, **question: Any) -> None:
        """Start a search in a thread of its own, which then says the line `answer(result)`.

        answer: makes the line of a result.
        position, question: the arguments of `Thinker.think`.

        Raises ValueError during a search.
        """
        if self.searching:
            raise ValueError("expected no other command than stop during a search")
        self.searching = True
        self._stopping.clear()
        self._search = threading.Thread(
            target=self._work, args=(answer, position, question), daemon=True, name="engine"
        )
        self._search.start()

    def _work(
        self, answer: Callable[[Result], str], position: Any, question: dict[str, Any]
    ) -> None:
        try:
            line = answer(self.thinker.think(position, **question))
        except BrokenPipeError:
            self.searching = False
        except (Exception, KeyboardInterrupt) as error:
            self.searching = False
            self.refuse(" ".join(str(error).split())[:300] or "the search was stopped")
        else:
            self.searching = False
            with contextlib.suppress(BrokenPipeError):
                self.say(line)

    def wait(self) -> None:
        """Wait for the answer of the search under way, unless the parent process ends before."""
        parent = os.getppid()
        while self._search is not None and self._search.is_alive() and os.getppid() == parent:
            self._search.join(0.5)

    def stop(self) -> None:
        """End the search that is under way, and wait for its answer."""
        search = self._search
        self._stopping.set()
        while search is not None and search.is_alive():
            # again and again, because a search that is only just beginning misses it
            self.thinker.stop()
            search.join(0.005)

    def stop_in(self, seconds: float) -> None:
        """Stop the present search after `seconds`, unless it has ended by then."""
        search = self._search

        def wait() -> None:
            if search is None:
                return
            search.join(seconds)
            if search is self._search:
                self.stop()

        threading.Thread(target=wait, daemon=True, name="clock").start()
