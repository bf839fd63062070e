"""`Words`: how a game's ends and situations are told to people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from games.contract import Position
from games.extras import Extra

__all__ = ["Words"]


def _stuck(position: Position) -> str:
    return "cannot move"


def _no_situation(record: Any, roll: int | None = None) -> str | None:
    return None


@dataclass(frozen=True)
class Words(Extra):
    """The words of a game, an extra.

    outcomes: words for outcomes by their size in points, such as {2.0: "a gammon"}.
    stuck: `stuck(position)` tells why the side to move has lost in a game that ends when a side has
        no move.
    situation: `situation(record, roll)` returns the last position of a record as other programs
        read it, with dice, score and so on; None if they cannot. The roll may be None.
    """

    outcomes: Mapping[float, str] = field(default_factory=dict)
    stuck: Callable[[Position], str] = _stuck
    situation: Callable[..., str | None] = _no_situation
