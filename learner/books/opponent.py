"""Fitting the model of an opponent to his games: an evaluator, and how often he errs.

The evaluator is a polynomial learned from his moves (`learner.books.book_polynomial`). The
temperature is the one under which his moves are likeliest, if he chooses a move with a probability
in proportion to exp(value / temperature): the values are those of the quiet positions after his
moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from games.contract import Game
from learner.books.agreement import Agreement, agreement
from learner.books.book import BookEntry, BookReport, read_book
from learner.books.book_polynomial import BookPolynomial
from learner.books.book_rows import BookRows
from learner.options import Range
from learner.positions.filters import Games
from play.players.opponents import reference
from search import Evaluator, Opponent, as_evaluator

__all__ = ["Foretold", "OpponentFit", "fit_opponent", "fit_temperature", "foretold"]

Floats = NDArray[np.float64]
#: The range of temperatures, as multiples of the values' spread.
COLDEST, HOTTEST = 1e-3, 1e3


@dataclass(frozen=True)
class Foretold:
    """How well a model foretells the moves of games.

    bits: mean surprise at a move, -log2 of its probability.
    uniform_bits: the same if every legal move is equally likely.
    agreement: how the evaluator alone ranks the moves.
    """

    bits: float
    uniform_bits: float
    agreement: Agreement

    def text(self) -> str:
        """Returns the figures as one line."""
        return (
            f"{self.bits:.3f} bits a move (random moves {self.uniform_bits:.3f});"
            f" {self.agreement.text()}"
        )


@dataclass(frozen=True)
class OpponentFit:
    """A model of an opponent.

    opponent: the model, which looks one ply ahead.
    learned: how it foretells the moves that it was learned from.
    held_out: how it foretells those of games that it was not learned from; None without any.
    report: the games that were read.
    """

    opponent: Opponent
    learned: Foretold
    held_out: Foretold | None
    report: BookReport


def fit_opponent(
    game: Game,
    paths: Sequence[Any],
    *,
    side: str = "both",
    evaluator: Any = None,
    held_out: float = 0.2,
    skip_plies: int = 0,
    seed: int = 0,
) -> OpponentFit:
    """Returns a model of whoever played the moves of files of games.

    paths, side, skip_plies: as for `learner.books.book.read_book`.
    evaluator: his evaluator; None for one that is learned from the same moves.
    held_out: share of the games that are not learned from, which tell how well the model foretells.
    seed: chooses these games.

    Raises ValueError if there are no moves to learn from, if `held_out` is not from 0 to below 1,
    and the errors of `read_book`.
    """
    Range(0, below=1).check("held_out", held_out)
    report = BookReport()
    entries = list(read_book(game, paths, side=side, skip_plies=skip_plies, report=report))
    kept = Games(0.0, held_out, seed) if held_out else None
    held = [entry for entry in entries if kept is not None and kept.holds(entry.game)[0]]
    learned = [entry for entry in entries if kept is None or not kept.holds(entry.game)[0]]
    if not learned:
        raise ValueError("expected games with moves to learn from, found none")
    if evaluator is None:
        theirs: Evaluator = _polynomial(game).fit(learned).evaluator_
    else:
        theirs = as_evaluator(game, evaluator)
    temperature = fit_temperature(theirs, learned)
    return OpponentFit(
        Opponent(theirs, temperature, depth=1),
        foretold(theirs, temperature, learned),
        foretold(theirs, temperature, held) if held else None,
        report,
    )


def _polynomial(game: Game) -> BookPolynomial:
    """Returns a learner of weights over the terms of the game's reference, which files can name."""
    judge = game.evaluators.get(reference(game))
    features = judge[0] if isinstance(judge, tuple) else next(iter(game.features), None)
    if features is None:
        raise ValueError(f"expected a game with features to learn from, found {game.name}")
    return BookPolynomial(game, features=features)


def fit_temperature(evaluator: Evaluator, entries: Iterable[BookEntry]) -> float:
    """Returns the temperature that makes the chosen moves likeliest (maximum likelihood).

    The likelihood has one maximum, because its logarithm is concave in 1 / temperature. The result
    lies between a thousandth and a thousand times the spread of the values. Raises ValueError if
    there are no entries.
    """
    rows = BookRows.of(entries)
    if not len(rows):
        raise ValueError("expected entries of a book, found none")
    values = _values(evaluator, rows)
    spread = float(np.std(values)) or 1.0
    found = minimize_scalar(
        lambda log: float(np.mean(_surprise(rows, values, spread * math.exp(log)))),
        bounds=(math.log(COLDEST), math.log(HOTTEST)),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return float(spread * math.exp(found.x))


def foretold(evaluator: Evaluator, temperature: float, entries: Sequence[BookEntry]) -> Foretold:
    """Returns how well an evaluator with a temperature foretells the moves of entries."""
    rows = BookRows.of(entries)
    values = _values(evaluator, rows)
    sizes = np.diff(np.append(rows.first, len(rows)))
    return Foretold(
        float(np.mean(_surprise(rows, values, temperature))) / math.log(2),
        float(np.mean(np.log2(sizes))),
        agreement(evaluator, entries),
    )


def _values(evaluator: Evaluator, rows: BookRows) -> Floats:
    """Returns the values of moves, [rows]; a win counts as the greatest value of the others."""
    values = rows.values(evaluator)
    over = ~np.isnan(rows.outcomes)
    most = float(np.max(np.abs(values[~over]), initial=0.0)) or 1.0
    values[over] = most * rows.outcomes[over]
    return values


def _surprise(rows: BookRows, values: Floats, temperature: float) -> Floats:
    """Returns minus the logarithm of each chosen move's probability, [entries]."""
    best = np.maximum.reduceat(values, rows.first)[rows.entry]
    scaled = (values - best) / temperature
    total = np.add.reduceat(np.exp(scaled), rows.first)
    return np.asarray(np.log(total) - scaled[rows.chosen])
