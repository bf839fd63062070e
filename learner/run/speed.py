"""How far runs of a game in plain Python look ahead, by the measured speed of its search."""

from __future__ import annotations

import random
import time
from typing import Any

from games.contract import Game, rolled
from play.players.opponents import reference
from search import Engine, LinearEvaluator, as_evaluator

__all__ = ["fitted"]

#: Seconds that a game of self-play may take: 300 games, and as many in matches, are some minutes.
SECONDS = 0.25
#: Number of positions of a random game that are searched, and its most plies.
SEARCHED, LONGEST = 4, 400
#: The fewest games of a run.
FEWEST = 20

#: What was fitted in this process, so that runs over several seeds are alike.
_fitted: dict[tuple[str, str], dict[str, Any]] = {}


def fitted(game: Game, short: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of a short run, with a depth at which a game takes `SECONDS` at most.

    Where the least depth takes longer there are fewer games. It depends on the machine.
    """
    key = game.name, str(short)
    if key not in _fitted:
        depth, seconds = _deepest(game, short["depth"])
        games = round(short["games"] * min(1.0, SECONDS / seconds))
        _fitted[key] = {**short, "depth": depth, "games": max(FEWEST, games)}
    return dict(_fitted[key])


def _deepest(game: Game, most: int) -> tuple[int, float]:
    """Returns the greatest depth that is quick enough, or the least; and the seconds of a game."""
    chance = random.Random(0)

    def roll() -> tuple[int, ...]:
        return rolled(game, lambda rolls: chance.choices(range(len(rolls)), rolls)[0])

    position = game.start()
    seen: list[Any] = []
    while game.outcome(position) is None and len(seen) < LONGEST:
        seen.append(position)
        position = game.play(position, chance.choice(game.legal_moves(position, *roll())))
    features = next(iter(game.features.values()), None)
    evaluator = as_evaluator(game, reference(game) or None)
    if features is not None:
        evaluator = LinearEvaluator(game, features, dict.fromkeys(features.names, 1.0))
    engine = Engine(game, evaluator, table_mib=1)
    searched = seen[:: max(1, len(seen) // SEARCHED)]
    least = min(most, 0 if game.dice else 1)
    depth, seconds = least, SECONDS
    for deeper in range(least, most + 1):
        began = time.perf_counter()
        for one in searched:
            engine.search(one, depth=deeper, roll=next(iter(roll()), None))
            passed = (time.perf_counter() - began) / len(searched) * len(seen)
            if deeper > least and passed > SECONDS:
                return depth, seconds
        depth, seconds = deeper, passed
    return depth, seconds
