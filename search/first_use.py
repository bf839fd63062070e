"""What the first use of a game compiles, and how long that will take."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from games.contract import Game
from games.kernels.compiling import compiling, count_kernels, new_count

__all__ = ["FirstUse", "first_use", "functions_to_compile", "will_use"]

#: Functions of a search beside those of the game and its evaluator: 69 were counted for checkers,
#: 70 for Connect Four, 76 for backgammon.
SEARCH = 70
#: Usual seconds for a function, measured on one core; the mean of those that are compiled counts
#: instead after the first ENOUGH.
FUNCTION_SECONDS, ENOUGH = 0.14, 8
#: The share of the time that the last functions take, which are the search itself: measured.
LAST = 0.5

#: The game that was used last, and a function that returns its evaluator or None.
_latest: tuple[Game, Callable[[], Any]] | None = None


@dataclass(frozen=True)
class FirstUse:
    """Compiling that is going on.

    functions: number of functions that are compiled.
    total: about how many there will be; None if no game is used yet.
    seconds: about how long it will take from now on; None if `total` is.
    share: the share of the time that is over, from 0 to 1; None if `total` is.
    """

    functions: int
    total: int | None
    seconds: float | None
    share: float | None = None

    @property
    def text(self) -> str:
        """A line for people, such as "compiling for the first time, about 8 s: 34 of …"."""
        if self.total is None or self.seconds is None:
            return f"compiling for the first time: {self.functions} functions so far"
        many = f"{self.functions} of about {self.total} functions"
        return f"compiling for the first time, about {self.seconds:.0f} s: {many}"


def will_use(game: Game, evaluator: Any = None) -> None:
    """Remember the game that is used next, with the evaluator if it is loaded."""
    global _latest
    if _latest is None or _latest[0].name != game.name:
        new_count()
    _latest = game, _none if evaluator is None else weakref.ref(evaluator)


def _none() -> None:
    return None


def first_use() -> FirstUse | None:
    """Returns what is being compiled in this process now; None if nothing is."""
    now = compiling()
    if now is None:
        return None
    if _latest is None:
        return FirstUse(now.functions, None, None)
    game, evaluator = _latest
    total = max(functions_to_compile(game, evaluator()), now.functions + 1)
    share = (1.0 - LAST) * now.functions / total
    whole = total * FUNCTION_SECONDS / (1.0 - LAST)
    if now.functions >= ENOUGH:
        whole = now.finished / share
    return FirstUse(now.functions, total, max(1.0, whole - now.seconds), share)


def functions_to_compile(game: Game, evaluator: Any) -> int:
    """Returns about how many functions a search compiles at its first use."""
    functions: list[Any] = []
    if game.rules is not None:
        functions += [getattr(game.rules, part.name) for part in fields(game.rules)]
    for net in getattr(evaluator, "nets", (evaluator,)):
        features, encoding = getattr(net, "features", None), getattr(net, "encoding", None)
        # terms that are inputs of a network are part of its function
        terms = [] if features is None or encoding is not None else features.terms.values()
        functions += terms if encoding is None else [encoding.active]
    return SEARCH + count_kernels(functions)
