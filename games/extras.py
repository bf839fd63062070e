"""Extras: what search, play and learners want to know of a game besides its rules.

An extra is a small frozen object of a class that stands where it is used, such as
`search.lookups.database.Databases` or `play.players.opponents.Opponents`. A game lists its own in
`Game.extras`; `extend` adds more from any other module, so that a package from outside brings its
boards and its recipes, and no file here changes.

A layer's own extras for the built-in games are in a package of that layer, a module each with the
name of the game's. The layer registers the package when it is imported itself, by `companions`; a
module of it is imported when an extra of that layer is first asked for.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any, Self, TypeVar

from games.contract import Game

__all__ = ["Extra", "companions", "extend", "extra"]

Kind = TypeVar("Kind")

#: The packages that layers have registered, by the layer.
_companions: dict[str, str] = {}


class Extra:
    """The base of kinds of extras whose default stands for a game without one."""

    @classmethod
    def of(cls, game: Game) -> Self:
        """Returns the extra of a game; the default if it has none. Raises as `extra` does."""
        return extra(game, cls) or cls()


def companions(package: str) -> None:
    """Register a layer's package of extras for the built-in games."""
    _companions[package.partition(".")[0]] = package


def extend(game: type[Game], *extras: Any) -> None:
    """Add extras to a class of games, and so to its subclasses that have none of the same kind.

    Raises ValueError if the class has one of the same kind already.
    """
    own = vars(game).get("extras", ())
    for one in extras:
        if any(type(other) is type(one) for other in own):
            raise ValueError(
                f"extras of {game.__name__}: expected one {type(one).__name__}, found two"
            )
        own = (*own, one)
    game.extras = own


def extra(game: Game, kind: type[Kind]) -> Kind | None:
    """Returns the extra of a kind: the game's own, else that of its class or the nearest base.

    None if nobody gives one.
    """
    package = _companions.get(kind.__module__.partition(".")[0])
    for holder in (game, *type(game).__mro__):
        if package and isinstance(holder, type):
            _meet(package, holder.__module__)
        for one in vars(holder).get("extras", ()):
            if isinstance(one, kind):
                return one
    return None


@functools.cache
def _meet(package: str, module: str) -> None:
    """Import what a layer keeps about the games of a module of this repository."""
    folder, _, name = module.rpartition(".")
    if folder.partition(".")[0] != __name__.partition(".")[0]:
        return
    companion = f"{package}.{name}"
    if importlib.util.find_spec(companion) is not None:
        importlib.import_module(companion)
