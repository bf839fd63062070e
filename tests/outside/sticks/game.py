"""The rules alone, the form of its files, and what its terms are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from games import Game
from games.features import FeatureSet
from games.file_form import FileForm, ReadGame
from games.kernels import kernel
from games.record import GameRecord


@kernel
def left(position):
    """Sticks that are left."""
    return position[0]


@kernel
def lost(position):
    """1 where every move leaves the other side a win."""
    return 1 if position[0] % 4 == 0 else 0


class Sticks(Game):
    """Take 1 to 3 sticks; who takes the last one wins. A position is (sticks, side to move)."""

    title = "Sticks"
    sides = ("Ann", "Ben")
    unit = "sticks"
    features = {"sticks": FeatureSet("sticks", {"left": left, "lost": lost})}
    evaluators = {"count": ("sticks", {"left": 0.5, "lost": 0.0})}

    def start(self) -> Any:
        return (9, 0)

    def legal_moves(self, position: Any) -> list[int]:
        return list(range(1, min(3, position[0]) + 1))

    def play(self, position: Any, move: int) -> Any:
        return (position[0] - move, 1 - position[1])

    def outcome(self, position: Any) -> float | None:
        return None if position[0] else -1.0

    def to_move(self, position: Any) -> int:
        return int(position[1])


def _write(record: GameRecord, names: tuple[str, ...], tags: Mapping[str, str]) -> str:
    return f"{' - '.join(names)}: {' '.join(map(str, record.moves))}\n"


def _read(text: str, game: Sticks) -> Iterator[ReadGame]:
    for line in re.findall("[^\n]+", text):
        names, _, moves = line.partition(": ")
        record = GameRecord(game)
        for move in moves.split():
            record.play_text(move)
        yield ReadGame(record, tuple(names.split(" - ")), [], line)


Sticks.extras = (FileForm(".sticks", _write, _read, annotated=False),)
