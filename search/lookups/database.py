"""Databases: positions of a game whose values are known, such as endgames, as lookups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from games.contract import Game
from games.extras import Extra
from games.kernels import runs_compiled
from search.evaluators.evaluator import Evaluator
from search.lookups.lookup import Lookup

__all__ = ["Database", "DatabaseLookup", "Databases", "usual_lookup"]


def _always() -> bool:
    return True


@dataclass(frozen=True)
class Database:
    """Known values of positions of a game; `DatabaseLookup` makes a lookup of one.

    title: its name for people.
    probe: a kernel `probe(tables, position)` that returns (found, value, depth), as
        `search.lookups.lookup` describes them.
    tables: a function that returns the array or tuple of arrays that `probe` reads, from a file or
        freshly built; it is called only when a lookup is made.
    outcomes: a kernel `outcomes(tables, position, target)` for games with outcomes, or None.
    forget: a function of the tables that forgets what probes wrote to them; None if they only read.
    at_hand: whether `tables` returns within seconds, so that a picker may offer the database.
    """

    title: str
    probe: Callable[..., Any]
    tables: Callable[[], Any]
    outcomes: Callable[..., Any] | None = None
    forget: Callable[[Any], None] | None = None
    at_hand: Callable[[], bool] = _always


@dataclass(frozen=True)
class Databases(Extra):
    """The databases of a game, an extra.

    named: by the name that players give them, `EVALUATOR+NAME`.
    usual: the one that evaluators with chances of outcomes consult if no player's text names one;
        empty for none.
    consulting: names of other evaluators that consult it too.
    """

    named: Mapping[str, Database] = field(default_factory=dict)
    usual: str = ""
    consulting: Collection[str] = ()

    def usual_for(self, evaluator: Evaluator) -> str:
        """Returns the name of the database that an evaluator consults unasked, or an empty text."""
        asks = evaluator.gives_outcomes or evaluator.name in self.consulting
        return self.usual if asks else ""


class DatabaseLookup(Lookup):
    """The database of a game with a name, such as "endgame" of checkers.

    The constructor reads or builds the tables (after `games.kernels.hurry` the first probe does). A
    copy in another process does so again, because the tables are not sent to it. Raises ValueError
    if the game declares no such database, and any error of building the tables.
    """

    def __init__(self, game: Game, name: str) -> None:
        named = Databases.of(game).named
        if name not in named:
            names = ", ".join(named) or "no name, for it has no databases"
            raise ValueError(f"lookup of {game.name}: expected {names}; found {name!r:.60}")
        self.game = game
        self.name = name
        self._known = named[name]
        super().__init__(self._known.probe, outcomes=self._known.outcomes)
        del self.tables
        if runs_compiled():
            self.__getattr__("tables")

    def __getattr__(self, name: str) -> Any:
        if name != "tables":
            raise AttributeError(name)
        self.tables = self._known.tables()
        return self.tables

    def __reduce__(self) -> tuple[Any, ...]:
        return DatabaseLookup, (self.game, self.name)

    def clear(self) -> None:
        """As in `Lookup`."""
        if self._known.forget is not None and "tables" in vars(self):
            self._known.forget(self.tables)


def usual_lookup(game: Game, evaluator: Evaluator) -> DatabaseLookup | None:
    """Returns the lookup of `Databases.usual_for`, None without one.

    Raises any error of building the tables.
    """
    name = Databases.of(game).usual_for(evaluator)
    return DatabaseLookup(game, name) if name else None
