"""What a server allows: numbers of things, sizes and rates."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Bucket", "Limits"]


@dataclass(frozen=True)
class Limits:
    """The limits of a server; all times in seconds, all sizes in bytes.

    A table that nobody looks at for `idle` ends, and one that nobody uses for `longest_idle` though
    somebody has it open. Where there are `tables` already, a new one takes the place of the table
    that was left longest ago, if that was `spare` ago; otherwise there is none. `searches` is how
    many run at a time, each with `table_mib` of transposition table. `rate` is of requests a
    second, for a table and for the server, `burst` how many more may come at once.
    """

    tables: int = 64
    idle: float = 900.0
    longest_idle: float = 6 * 3600.0
    spare: float = 60.0
    listeners: int = 8  # of one table
    moves: int = 2000  # of one game
    searches: int = field(default_factory=lambda: max(2, min(8, os.cpu_count() or 2)))
    seconds: float = 30.0  # of one search
    depth: int = 60
    table_mib: float = 8.0
    body: int = 16 << 10
    file: int = 1 << 20  # a game to load
    body_seconds: float = 10.0
    rate: float = 30.0
    burst: int = 120
    server_rate: float = 1500.0
    server_burst: int = 3000
    new_rate: float = 2.0  # tables a second
    new_burst: int = 80
    evaluators: int = 16  # kept loaded
    evaluator_bytes: int = 64 << 20
    runs: int = 200
    run_bytes: int = 8 << 20  # of one log of a run


class Bucket:
    """So many tokens a second, and at most so many at once: `take` says whether there was one."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock = clock
        self._tokens, self._filled = float(burst), clock()

    def take(self) -> bool:
        """Take a token where there is one."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._filled) * self.rate)
        self._filled = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True
