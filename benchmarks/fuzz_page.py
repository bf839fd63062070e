"""The requests that a page in the browser sends to its table, for `benchmarks.fuzz`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from play.web.game_files import read_file
from play.web.limits import ServerLimits
from play.web.seat import WebSeat, seat_of
from play.web.table import Table

__all__ = ["WORDS", "Posted", "posted"]

WORDS = (
    "{", "}", "[", "]", ":", ",", '"', '"do": ', '"text": ', "null", "true", "-1", "1e999", "NaN",
    '"from": 11', '"to": 15', '"seat": ', '"kind": "evaluator"', '"seconds": 0.5', "9" * 30, "\\",
)  # fmt: skip


class Posted:
    """A table that is sent JSON; a request refused with ValueError changes nothing."""

    def __init__(self, game: Any) -> None:
        self.limits = ServerLimits(moves=60)
        self.table = Table(
            game, (WebSeat(), WebSeat()), chance=random.Random(1), limits=self.limits
        )

    def __call__(self, text: str) -> bool:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return False
        if not isinstance(content, dict):
            return False
        table, name = self.table, content.get("do")
        before = table.version, table.record.ply
        actions: dict[Any, Callable[[], Any]] = {
            "step": lambda: table.step(content.get("from"), content.get("to")),
            "back": table.step_back,
            "confirm": table.confirm,
            "move": lambda: table.play_text(content.get("text")),
            "roll": lambda: table.roll_dice(content.get("dice")),
            "undo": lambda: table.undo(content.get("to")),
            "position": lambda: table.set_position(content.get("text")),
            "seat": lambda: seat_of(content.get("seat")),
            "load": lambda: self._load(content),
        }
        try:
            actions.get(name if isinstance(name, str) else "", table.start)()
        except ValueError:
            assert (table.version, table.record.ply) == before
            return False
        json.dumps(table.view(), allow_nan=False)
        return True

    def _load(self, content: dict[str, Any]) -> None:
        record, _ = read_file(self.table.game, content.get("text"), content.get("number", 0))
        self.table.seat_down(record)


def posted(
    steps: Sequence[tuple[int, int]], moves: Sequence[str], positions: Sequence[str], file: str
) -> tuple[str, ...]:
    """Returns valid requests: single steps, moves, positions, a file of the game, and others."""
    seat = {"kind": "evaluator", "evaluator": "x", "seconds": 1, "depth": 3}
    plain = ({"do": "back"}, {"do": "confirm"}, {"do": "undo"}, {"do": "new"}, {"do": "roll"})
    requests: list[dict[str, Any]] = [
        *plain,
        {"do": "undo", "to": 1},
        {"do": "roll", "dice": "31"},
        {"do": "seat", "seat": seat},
        {"do": "seat", "seat": {"kind": "human"}},
        {"do": "load", "text": file, "number": 0},
        *({"do": "step", "from": source, "to": target} for source, target in steps),
        *({"do": "move", "text": text} for text in moves),
        *({"do": "position", "text": text} for text in positions),
    ]
    return tuple(map(json.dumps, requests))
