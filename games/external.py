"""`ExternalEngine`: an external engine that plays a game."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ExternalEngine"]


@dataclass(frozen=True)
class ExternalEngine:
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
