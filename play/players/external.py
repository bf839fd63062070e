"""`ExternalEngines`: the external engines that play a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.extras import Extra

__all__ = ["PackagedEngine", "ExternalEngines"]


@dataclass(frozen=True)
class PackagedEngine:
    """An external engine that a Python package provides.

    player: the name of the player, such as `gnubg:0`.
    title: its name for people.
    package: the Python package that must be installed.
    peer: whether training runs are measured against it if the package is installed.
    """

    player: str
    title: str
    package: str
    peer: bool = False


@dataclass(frozen=True)
class ExternalEngines(Extra):
    """Other programs that play a game, an extra.

    protocols: line protocols that they speak for it: "hub", "gnubg-socket".
    engines: those that Python packages provide.
    """

    protocols: Sequence[str] = ()
    engines: Sequence[PackagedEngine] = ()
