"""What the first use of a game compiles, and how long that will take."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from games.contract import Game
from games.kernels.compiler import GENERATED
from games.kernels.compiling import compiling, is_made, kernels_of, new_count, size_of
from search.lookups.database import Databases

__all__ = ["FirstUse", "first_use", "kernels_of_use", "will_use"]

#: Sizes of what the searches compile, by package, of any search and of each, in bytes of bytecode
#: as counted in first uses; and the kernel that is compiled last, by its module.
ANY = {"search.root": 1426, "search.native": 1418, "search.table": 1456}
ALPHABETA = {"search.alphabeta": 8076, GENERATED: 2000}, "search.alphabeta.root"
EXPECTIMINIMAX = {"search.expectiminimax": 15672, GENERATED: 4200}, "search.expectiminimax.root"
SINGLE_AGENT = {"search.single_agent": 5500, GENERATED: 4000}, "search.single_agent.native"
MULTIPLAYER = {"search.multiplayer": 8000, GENERATED: 4400}, "search.multiplayer.kernels"
LAST = "search_depth"
#: Size of the C functions of an evaluator for each of its terms, of which outcomes have four.
TERM, OF_OUTCOMES = 86, 4
#: About the size of the C functions of a search.
OF_SEARCH = 4000
#: Nothing is said of the time before this size is compiled, which takes two or three seconds.
ENOUGH = 2500

#: The game that was used last, and a function that returns its evaluator or None.
_latest: tuple[Any, Callable[[], Any]] | None = None


@dataclass(frozen=True)
class FirstUse:
    """Compiling that is going on.

    share: the share of the work that is over, from 0 to 1; None if no game is used yet.
    seconds: about how long the rest will take; None as long as that is unknown.
    """

    share: float | None = None
    seconds: float | None = None

    @property
    def text(self) -> str:
        """A line for people, such as "compiling for the first time: 34 %, about 8 s left"."""
        left = "" if self.seconds is None else f", about {self.seconds:.0f} s left"
        return f"{self.brief}{left}"

    @property
    def brief(self) -> str:
        """The same without the time, for those who say how long more than this takes."""
        done = "" if self.share is None else f": {100 * self.share:.0f} %"
        return f"compiling for the first time{done}"


def will_use(game: Any, evaluator: Any = None) -> None:
    """Remember the game that is used next, with the evaluator if it is loaded."""
    global _latest
    if _latest is not None and _latest[0].name != game.name:
        new_count()
    _latest = game, (lambda: None) if evaluator is None else weakref.ref(evaluator)


def first_use() -> FirstUse | None:
    """Returns what is being compiled in this process now; None if nothing is.

    The rate is that of what this process has compiled until now, as busy as the machine is.
    """
    now = compiling()
    if now is None:
        return None
    if _latest is None:
        return FirstUse()
    game, evaluator = _latest
    new = [size_of(kernel) for kernel in kernels_of_use(game, evaluator()) if not is_made(kernel)]
    left = sum(new) + (_size_of_search(game, now.sizes) if game.rules is not None else 0)
    if new:
        gives = getattr(evaluator(), "gives_outcomes", bool(getattr(game, "dice", 0)))
        functions = TERM * (OF_OUTCOMES if gives else 1) * len(_terms(game, evaluator()))
        left += max(0, functions - max(0, now.generated - OF_SEARCH))
    share = now.size / max(1.0, now.size + left)
    if now.rate is None or now.size < min(ENOUGH, left):
        return FirstUse(share)
    return FirstUse(share, max(1.0, left * now.rate - now.current))


def kernels_of_use(game: Any, evaluator: Any) -> list[Any]:
    """Returns the kernels of a game, its evaluator and its usual database."""
    parts = [game.rules, getattr(game, "outcomes", None)]
    functions = [getattr(part, one.name) for part in parts if part for one in fields(part)]
    for net in getattr(evaluator, "nets", (evaluator,)):
        encoding = getattr(net, "encoding", None)
        functions += [] if encoding is None else [encoding.active]
    usual = Databases.of(game).usual
    if usual and getattr(evaluator, "gives_outcomes", evaluator is None):  # or not loaded yet
        database = Databases.of(game).named[usual]
        functions += [database.probe, database.outcomes]
    return kernels_of([*functions, *_terms(game, evaluator).values()])


def _terms(game: Any, evaluator: Any) -> dict[str, Any]:
    """Returns the terms of an evaluator by name; before it is loaded, those of the game's first."""
    sets = [getattr(net, "features", None) for net in getattr(evaluator, "nets", (evaluator,))]
    if evaluator is None:
        sets = list(game.features.values())[:1]
    return {name: term for features in sets if features for name, term in features.terms.items()}


def _size_of_search(game: Any, done: Mapping[str, int]) -> int:
    """Returns the size of what the search of a game still compiles; nothing is imported for it."""
    sizes, last = ALPHABETA if isinstance(game, Game) else SINGLE_AGENT
    if isinstance(game, Game) and (game.dice or game.players > 2):
        sizes, last = EXPECTIMINIMAX if game.dice else MULTIPLAYER
    if (kernel := getattr(sys.modules.get(last), LAST, None)) is not None and is_made(kernel):
        return 0
    sizes = {**ANY, **sizes} if isinstance(game, Game) else sizes
    return sum(max(0, size - done.get(name, 0)) for name, size in sizes.items())
