"""Measures invented terms by noise, by planted truth, and by terms that people wrote.

    python -m benchmarks.invention checkers --runs 100
    python -m benchmarks.invention checkers --fit classic --store RUN/positions --last 3000
    python -m benchmarks.invention connect_four --explain solved --games 2000 --terms 30
    python -m benchmarks.invention backgammon --explain wide --fit linear --games 2000 --terms 64

The first counts the searches that take luck for a term: games are random play, and every game's
result is drawn from a hat, so that a search that accepts a term has been deceived. The second fits
the weights of a feature set, in the same way, to the positions that a run of `--learner invent` has
explained with the same seed (without --last, those that `learner invent` explains), and writes them
to SET-fit.json. The last two find terms that explain the static values of an evaluator in positions
of random games, and write invented.json. With dice the terms explain differences between the values
of moves: the move that the evaluator played against two other moves of the roll; with --fit the
weights of a feature set are fitted to the same. With `planted`, tests make labels that one known
term determines.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from tqdm import tqdm

import games
from games.contract import Game
from games.features import Cells
from games.features.cell_terms import CellTerm, Neighbours
from games.features.term_file import feature_set_of, named
from learner.invention.labels import HELD_OUT, Labels, cells_of, decisions, labels_of
from learner.invention.term_search import TermSearch, bare_pieces
from learner.positions.filters import Games, distinct
from learner.positions.shards import Rows
from learner.positions.store import PositionStore
from learner.regression.logistic import LogisticFit, measure
from search import Evaluator, LinearEvaluator, load_evaluator

__all__ = ["deceived", "fit", "noise", "planted"]

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
    labels, cells = labels_of(game, rows, blend=1.0), cells_of(game)
    around = Neighbours(cells, cells.words(labels.positions))
    value = WEIGHT * sum(term.difference(around).astype(np.float64) for term in truth)
    return Labels(labels.positions, expit(value), labels.weights, labels.games, labels.held_out)


def held_out_labels(game: Game, store: Path, seed: int, last: int | None) -> Labels:
    """Returns the labels of a store, or of this many games at its end."""
    rows = PositionStore(store, game).load()
    if last is not None:
        rows = rows.take(rows.game_number > rows.game_number.max() - last)
    return labels_of(game, rows, seed=seed)


def fit(game: Game, name: str, store: Path, seed: int, last: int | None = None) -> LinearEvaluator:
    """Returns the weights of a feature set, fitted to the labels that invented terms explain.

    last: only the positions of this many games at the end.
    """
    return fitted_to(game, name, held_out_labels(game, store, seed, last))


def explained(
    game: Game, evaluator: Evaluator, count: int, most: int, *, seed: int
) -> LinearEvaluator:
    """Returns terms that explain the static values of an evaluator in positions of random games.

    evaluator: its value v stands for the expectation sigmoid(2 v), which is tanh(v) as a result.
    count: the number of games.
    most: at most this many terms.
    """
    cells, rows = cells_of(game), distinct(game, noise(game, count, seed=seed))
    labels = Labels(
        rows.positions,
        expit(2.0 * np.asarray(evaluator.values(rows.positions), dtype=np.float64)),
        rows.count.astype(np.float64),
        rows.game_number.astype(np.int64),
        Games(0.0, HELD_OUT, seed + 1).holds(rows.game_number),
        scale=2.0,
    )
    return found_terms(game, cells, labels, most, seed=seed)


def fitted_to(game: Game, name: str, labels: Labels) -> LinearEvaluator:
    """Returns the weights of a feature set, fitted to labels as those of invented terms are."""
    features, learn, held = game.features[name], ~labels.held_out, labels.held_out
    terms = measure(features, labels.positions)
    if labels.others is not None:
        terms = terms - measure(features, labels.others)
    fitted = LogisticFit(features, scale=1.0)
    fitted.fit(terms[learn], labels.expected[learn], labels.weights[learn])
    loss = -fitted.score(terms[held], labels.expected[held], labels.weights[held])
    print(f"{name}: loss {loss:.5f} on {held.sum()} positions held out")
    return LinearEvaluator(game, features, fitted.weights_ / labels.scale, name=f"{name}-fit")


def found_terms(
    game: Game, cells: Cells, labels: Labels, most: int, *, seed: int
) -> LinearEvaluator:
    """Returns the terms that a search in labels finds, and tells them."""
    search = TermSearch(cells, labels, bare_pieces(cells, most), seed=seed)
    with tqdm(total=most, unit=" terms") as bar:
        search.run(most, lambda term, kept: bar.update(len(search.terms) - bar.n))
    for term, weight in zip(search.terms, search.weights, strict=True):
        print(f"{weight:+6.3f}  {term.text(cells)}")
    print(f"loss {search.loss:.5f} on {labels.held_out.sum()} positions held out")
    features = feature_set_of(cells, named(cells, search.terms))
    return LinearEvaluator(game, features, search.weights, name="invented")


def deceived(game: Game, runs: int, games_each: int) -> int:
    """Returns how many searches in labels of noise accept a term."""
    cells, accepted = cells_of(game), 0
    for seed in tqdm(range(runs), unit=" runs"):
        labels = labels_of(game, noise(game, games_each, seed=seed), blend=1.0, seed=seed)
        search = TermSearch(cells, labels, seed=seed)
        search.run(1)
        accepted += bool(search.terms)
    return accepted


def main() -> None:
    """Fit a feature set, or count the searches in noise that accept a term."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--fit", metavar="SET", help="fit this feature set to --store instead")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--last", type=int, metavar="GAMES", help="of the store")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--explain", metavar="EVALUATOR", help="find terms that explain its values")
    parser.add_argument("--terms", type=int, default=20)
    options = parser.parse_args()
    game = games.load(options.game)
    if options.explain:
        evaluator = load_evaluator(options.explain, game=game)
        if game.dice:
            labels = decisions(game, evaluator, options.games, seed=options.seed)
            if options.fit:
                fitted_to(game, options.fit, labels).save(f"{options.fit}-fit.json")
            found = found_terms(game, cells_of(game), labels, options.terms, seed=options.seed)
        else:
            found = explained(game, evaluator, options.games, options.terms, seed=options.seed)
        found.save("invented.json")
        return
    if options.fit:
        file = Path(f"{options.fit}-fit.json")
        fit(game, options.fit, options.store, options.seed, options.last).save(file)
        print(f"written: {file}")
        return
    accepted = deceived(game, options.runs, options.games)
    print(f"{accepted} of {options.runs} searches in noise accepted a term")


if __name__ == "__main__":
    main()
