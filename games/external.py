"""`ExternalEngine`: an engine of other people that plays a game."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ExternalEngine"]


@dataclass(frozen=True)
class ExternalEngine:
    """An engine that a Python package provides, as a match may name it.

    player: the name of the player, such as `gnubg:0`.
    title: what people call it.
    package: the Python package that must be installed.
    peer: whether runs are measured against it where the package is installed.
    """

    player: str
    title: str
    package: str
    peer: bool = False
