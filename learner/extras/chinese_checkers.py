"""Extras of Chinese Checkers for learners: settings of runs, and ends to begin from."""

from __future__ import annotations

from typing import Any

import numpy as np

from games.chinese_checkers import ChineseCheckers, ChineseCheckers2, ChineseCheckers6, rules
from games.chinese_checkers.star import POINTS, SEATS, both_words
from games.extras import extend
from learner.multiplayer_play import LateStarts
from learner.run.making import Making, Makings
from learner.run.recipes import UsualRuns

#: Learning begins with nothing; the first eight rounds begin near the end.
_FROM_NOTHING: dict[str, Any] = {
    "games": 800,
    "depth": 2,
    "snapshots": 4,
    "snapshot_games": 30,
    "final_games": 60,
    "match_games": 150,
}
_ROUNDS = {"blend": 1.0, "round_games": 40, "keep_rounds": 5, "most_plies": 300}
RECIPES = {
    "batch": {**_FROM_NOTHING, "options": {**_ROUNDS, "alpha": 1e-3}},
    "network": {**_FROM_NOTHING, "options": {**_ROUNDS, "inputs": "race", "hidden": (16,)}},
}


def _late_position(game: ChineseCheckers, moves: int, generator: np.random.Generator) -> Any:
    """Every piece has arrived, and then each player makes 1 to `moves` random moves."""
    buffer = np.zeros(rules.MOST_MOVES, dtype=np.int64)
    points = [POINTS[(point + 3) % 6] for point in SEATS[game.players]]
    while True:
        sides = [list(point) for point in points]
        for pieces in sides:
            for _ in range(int(generator.integers(1, moves + 1))):
                low, high = both_words([cell for side in sides for cell in side])
                origin = pieces[int(generator.integers(10))]
                count = int(rules.write_moves(low, high, origin, buffer, 0))
                if count:
                    pieces.remove(origin)
                    pieces.append(int(buffer[int(generator.integers(count))]) & 127)
        if all(set(pieces) != set(point) for pieces, point in zip(sides, points, strict=True)):
            return (*(word for pieces in sides for word in both_words(pieces)), 0, 0)


MAKINGS = {
    "batch": Making(
        ("train chinese_checkers --run {folder}/run",), "run/best.json", "three minutes"
    )
}

extend(ChineseCheckers, LateStarts(_late_position), Makings(MAKINGS))
for _kind in (ChineseCheckers, ChineseCheckers2, ChineseCheckers6):
    extend(_kind, UsualRuns("batch", RECIPES))
