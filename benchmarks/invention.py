"""How often luck is taken for a term: searches for terms in labels of noise.

    python -m benchmarks.invention checkers --runs 100

Games are random play, and every game's result is drawn from a hat; a search that accepts a term has
been deceived. With `planted`, tests make labels that one known term determines.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy.special import expit
from tqdm import tqdm

import games
from games.contract import Game
from games.features.cell_terms import CellTerm, Neighbours
from learner.invention.labels import Labels, labels_of
from learner.invention.term_search import TermSearch
from learner.positions.shards import Rows

__all__ = ["noise", "planted"]

#: Plies after which a random game is cut off.
MOST_PLIES = 120
#: The weight of a planted term.
WEIGHT = 0.7


def noise(game: Game, count: int, *, seed: int) -> Rows:
    """Returns the positions of random games, with results drawn at random for each game."""
    random = np.random.default_rng(seed)
    parts = []
    for number in range(count):
        positions: list[Any] = []
        position = game.start()
        while len(positions) < MOST_PLIES and (moves := game.legal_moves(position)):
            positions.append(position)
            position = game.play(position, moves[int(random.integers(len(moves)))])
        sides = np.array([game.to_move(p) for p in positions])
        result = int(random.integers(-1, 2)) * np.where(sides == 0, 1, -1)
        parts.append(
            Rows.of(
                np.array(positions, dtype=np.int64),
                result=result,
                ply=np.arange(len(positions)),
                game_number=number,
            )
        )
    return Rows.concatenate(parts, len(game.start()))


def planted(game: Game, rows: Rows, *truth: CellTerm) -> Labels:
    """Returns labels of positions that known terms determine, each with the weight WEIGHT."""
    assert game.cells is not None
    labels = labels_of(game, rows, blend=1.0)
    around = Neighbours(game.cells, game.cells.words(labels.positions))
    value = WEIGHT * sum(term.difference(around).astype(np.float64) for term in truth)
    return Labels(labels.positions, expit(value), labels.weights, labels.games, labels.held_out)


def main() -> None:
    """Count the searches that accept a term."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--games", type=int, default=200)
    options = parser.parse_args()
    game = games.load(options.game)
    assert game.cells is not None
    accepted = 0
    for seed in tqdm(range(options.runs), unit=" runs"):
        labels = labels_of(game, noise(game, options.games, seed=seed), blend=1.0, seed=seed)
        search = TermSearch(game.cells, labels, seed=seed)
        search.run(3)
        accepted += bool(search.terms)
    print(f"{accepted} of {options.runs} searches in noise accepted a term")


if __name__ == "__main__":
    main()
