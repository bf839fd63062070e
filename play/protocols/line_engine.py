"""What engine protocols have in common: lines in, lines out, and a search in between.

Commands are read while a search runs, so that it can be stopped. Whatever comes in, the engine
answers or stays silent as its protocol wants, and never ends by an error.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from play.players.lines import LONGEST_LINE, read_lines
from play.players.thinker import Thinker
from search import Result

__all__ = ["LineEngine"]


class LineEngine:
    """An engine that is spoken to in lines; a subclass for each protocol.

    `write` is given each line of an answer, from any thread, one at a time.
    """

    def __init__(self, thinker: Thinker, write: Callable[[str], None]) -> None:
        self.thinker = thinker
        self._write = write
        self._lock = threading.RLock()
        self._search: threading.Thread | None = None
        #: Whether an answer is still to come. Not whether the thread is alive: who has read the
        #: answer may send the next question before that has ended.
        self.searching = False
        self._stopping = threading.Event()

    # --- what a protocol fills in --------------------------------------------------------------

    def command(self, line: str) -> bool:
        """Do what a line says; false to end. A ValueError becomes an answer by `refuse`."""
        raise NotImplementedError

    def refuse(self, problem: str) -> None:
        """Answer that a line was wrong; `problem` is one line."""
        raise NotImplementedError

    # --- lines ---------------------------------------------------------------------------------

    def say(self, line: str) -> None:
        """Answer a line."""
        with self._lock:
            self._write(line)

    def handle(self, line: str | None) -> bool:
        """Take a line; None is one that was too long. False when the engine is to end."""
        try:
            if line is None:
                raise ValueError(f"expected lines of at most {LONGEST_LINE} bytes, found a longer")
            return self.command(line) if line else True
        except (ValueError, TypeError, ArithmeticError) as error:
            self.refuse(" ".join(str(error).split())[:300])
            return True

    def serve(self, stream: BinaryIO) -> None:
        """Answer the lines of a stream until it ends or says so; a search under way is stopped."""
        try:
            for line in read_lines(stream):
                if not self.handle(line):
                    break
        except BrokenPipeError:  # nobody listens any more
            pass
        finally:
            self.stop()

    # --- searching -----------------------------------------------------------------------------

    def start(self, answer: Callable[[Result], str], position: Any, **question: Any) -> None:
        """Search in a thread of its own, and say there what `answer` makes of the result.

        The question is that of `Thinker.think`. ValueError during a search.
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
        except Exception as error:
            self.searching = False
            self.refuse(" ".join(str(error).split())[:300])
        else:
            self.searching = False
            with contextlib.suppress(BrokenPipeError):
                self.say(line)

    def stop(self) -> None:
        """End the search that is under way, and wait for its answer."""
        search = self._search
        self._stopping.set()
        while search is not None and search.is_alive():
            # again and again, for a search that begins just now forgets that it was stopped
            self.thinker.stop()
            search.join(0.005)

    def stop_in(self, seconds: float) -> None:
        """Stop the present search after so many seconds, unless it has ended by then."""
        search = self._search

        def wait() -> None:
            if search is None:
                return
            search.join(seconds)
            if search is self._search:
                self.stop()

        threading.Thread(target=wait, daemon=True, name="clock").start()
