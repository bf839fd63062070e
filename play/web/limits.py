"""The limits of a server that can be set, and a bucket that holds requests to a rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Bucket", "Limits"]


@dataclass(frozen=True)
class Limits:
    """The limits of a server that can be set.

    tables: number of tables at a time. A new one takes the place of the table that was left
        longest ago, if that was `spare` seconds ago; else it is refused.
    spare: seconds after which a table that nobody looks at may make room.
    idle: seconds after which a table that nobody looks at ends.
    moves: most moves of one game.
    rate, burst: requests a second at one table, and how many more may come at once.
    server_rate, server_burst: the same for the whole server.
    """

    tables: int = 64
    spare: float = 60.0
    idle: float = 900.0
    moves: int = 2000
    rate: float = 30.0
    burst: int = 120
    server_rate: float = 1500.0
    server_burst: int = 3000


class Bucket:
    """Tokens that come at a rate: `rate` a second, at most `burst` of them at once."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock = clock
        self._tokens, self._filled = float(burst), clock()

    def take(self) -> bool:
        """Take a token; returns whether there was one."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._filled) * self.rate)
        self._filled = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True
