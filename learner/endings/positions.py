"""Positions of endings that occur: played games, and all that the searches of their moves visited.

Two noisy copies of an evaluator play each game to its end, so that endings of every kind occur,
drawn and decided ones. Of every position that a search visits below its root, those that a
database knows are kept: these are close to what the evaluator is asked in play, where a search
looks at many positions that no game reaches.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels.memory import load_float, native_function, store_float
from games.kernels.vectors import stack_block
from learner.positions.filters import distinct
from learner.positions.positions import noisy
from learner.positions.shards import Rows
from learner.positions.store import PositionStore
from play.match.game_loop import GameLoop
from play.match.openings import random_line
from search import AlphaBetaOptions, Engine, Evaluator, Lookup
from search.evaluators.noise import NoisyEvaluator
from search.native import call_int

__all__ = ["GAMES_AT_ONCE", "begun", "known_values", "played_endings", "sample_endings"]

#: Games whose positions are stored together; an interrupted sample goes on after the last of them.
GAMES_AT_ONCE = 100
#: Positions that the searches of a game visit, at most.
TRACE_ROOM = 1 << 16
TABLE_MIB = 1.0
#: Longer games are drawn.
MOST_PLIES = 300
#: Standard deviations of the noise, in the evaluator's unit for one of the game's; by the game.
NOISES = (0.1, 0.3, 0.6, 1.0)
#: Plies of the random opening: each game's number decides.
PLIES = (4, 16)


def known_values(game: Game, lookup: Lookup, positions: Any) -> NDArray[np.float64]:
    """Returns the value that a lookup knows of each position, and NaN where it knows none.

    positions: [positions, integers].
    """
    rows = np.ascontiguousarray(positions, dtype=np.int64)
    values = np.full(len(rows), np.nan)
    probe_at, data, keep = lookup.native(game)
    _prober(rows.shape[1])(len(rows), rows.ctypes.data, values.ctypes.data, probe_at, data)
    del keep
    return values


def played_endings(
    game: Game,
    evaluator: Evaluator,
    lookup: Lookup,
    numbers: Iterable[int],
    *,
    nodes: int = 200,
    seed: int = 0,
    visited: bool = True,
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yields for each game its number and its quiet positions that a lookup knows, each once.

    evaluator: plays the games, with noise.
    lookup: knows the endings.
    numbers: the games' numbers; with `seed` they decide the openings, the noise and so the games.
    nodes: positions searched for each move.
    seed: of openings and noise.
    visited: whether positions that only searches visited are among them.
    """
    player = NoisyEvaluator(evaluator, amplitude=0.0)
    options = AlphaBetaOptions(trace=TRACE_ROOM if visited else 0)
    engine = Engine(game, player, options, table_mib=TABLE_MIB)
    loop = GameLoop(game, engine, engine, nodes=nodes, most_plies=MOST_PLIES, traces=visited)
    for number in numbers:
        random = np.random.default_rng((seed, number))
        player.amplitude = float(random.choice(NOISES)) * evaluator.unit
        player.seed = int(random.integers(1 << 63))
        engine.clear()
        played = loop.play(random_line(game, int(random.integers(*PLIES)), random)[1])
        positions = played.positions
        if visited:
            positions = np.concatenate([positions, engine.traced()[0]])
        positions = positions[~np.isnan(known_values(game, lookup, positions))]
        positions = positions[~noisy(game, positions)]
        rows = Rows.of(positions, width=len(game.start()))
        yield number, distinct(game, rows).positions


def sample_endings(
    store: PositionStore,
    evaluator: Evaluator,
    lookup: Lookup,
    *,
    games: int,
    nodes: int = 200,
    most: int = 400,
    seed: int = 0,
    progress: Callable[[int], Any] = lambda games: None,
) -> None:
    """Fill a store with the endings of games, each position once a game, with its outcome.

    store: an empty store, or one that an interrupted sample of the same options has begun.
    evaluator: plays the games.
    lookup: knows the endings.
    games: number of games.
    nodes: positions searched for each move.
    most: positions of each game, drawn at random.
    seed: decides the openings, the noise and the positions.
    progress: called with the number of games whose positions have been stored.
    """
    game = store.game
    first = begun(store)
    progress(first)
    for begin in range(first, games, GAMES_AT_ONCE):
        numbers = range(begin, min(begin + GAMES_AT_ONCE, games))
        played = played_endings(game, evaluator, lookup, numbers, nodes=nodes, seed=seed)
        for number, positions in played:
            random = np.random.default_rng((seed, number, 1))
            if len(positions) > most:
                positions = positions[np.sort(random.permutation(len(positions))[:most])]
            values = known_values(game, lookup, positions)
            store.append(positions, value=0.0, result=np.sign(values), game_number=number)
        store.flush()
        progress(len(numbers))


def begun(store: PositionStore) -> int:
    """Cut a store back to whole batches of games; returns the number of their games."""
    if not len(store):
        return 0
    numbers = store.load().game_number
    first = int(numbers.max()) // GAMES_AT_ONCE * GAMES_AT_ONCE
    store.truncate(int((numbers < first).sum()))
    return first


def _prober(width: int) -> Callable[[int, int, int, int, int], None]:
    text = f"""
def probe_all(count, source, target, probe_at, data):
    found = stack_block(24)
    for i in range(count):
        if call_int(probe_at, (data, source, found)) != 0:
            store_float(target, i, load_float(found, 0))
        source += {8 * width}
"""
    scope = {
        "call_int": call_int,
        "load_float": load_float,
        "store_float": store_float,
        "stack_block": stack_block,
    }
    address = native_function("probe_all", text, scope, f"void({', '.join(['int64'] * 5)})")
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)(address)
