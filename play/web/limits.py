"""Limits of the web server, and a token bucket that limits rates of requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Bucket", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits of the web server that can be set.

    tables: most tables at a time. A new table replaces the one that was left longest ago, if that
        was at least `spare` seconds ago; otherwise it is refused.
    spare: seconds after which a table that nobody looks at may be replaced.
    idle: seconds after which a table that nobody looks at ends.
    moves: most moves of one game.
    rate: requests a second at one table.
    burst: requests that may come at once at one table.
    server_rate: requests a second for the whole server.
    server_burst: requests that may come at once for the whole server.
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
    """A token bucket: `rate` new tokens a second, at most `burst` of them kept."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock = clock
        self._tokens, self._filled = float(burst), clock()

    def take(self) -> bool:
        """Take a token. Returns whether there was one."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._filled) * self.rate)
        self._filled = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True
