"""Fits the chances of win, draw and loss that an evaluator's values stand for, by self-play.

    python -m learner calibrate checkers runs/…/best.json

plays games of the evaluator against itself, after random openings or with dice, fits
`search.evaluators.calibration.Calibration` to the values of its searches and to the results, and
writes the numbers into the evaluator's file. Its values do not change. With several numbers of
`--nodes` the chances take the size of a search into account (`learner.regression.played`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from games import kernels
from games.contract import Game
from learner.options import CALIBRATION_GAMES, CALIBRATION_NODES, CALIBRATION_PLIES
from learner.regression.validation import CalibrationBin, calibration, calibration_error
from learner.self_play import Task, games_of
from play.matches.dice_loop import MOST_TURNS
from play.matches.game_loop import Played
from play.workers import Workers
from programs.arguments import THREADS
from search import PROVEN, as_evaluator
from search.evaluators.calibration import KNOTS, TERMS, Calibration, parts_of, terms_of

__all__ = [
    "CalibrationSample",
    "calibration_of",
    "fit_calibration",
    "held_out_shares",
    "reliability",
    "sample_of",
    "self_play_sample",
    "shares",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: A phase with fewer positions gets the numbers of all phases.
FEWEST = 200
#: Longer games without dice are drawn.
MOST_PLIES = 300
#: Chances in the loss are at least this large, so that a single game cannot decide a fit.
LEAST = 1e-6
#: Coefficients of terms are held near 0, those of 1 near 1, by this times their squares.
RESTRAINT = 1e-5


@dataclass(frozen=True)
class CalibrationSample:
    """Positions of games with undecided values; arrays have one entry a position.

    values: values of searches, for the side to move.
    results: 1, 0 or -1 for the side to move.
    phases: number of the position's phase.
    games: number of its game.
    nodes: positions searched for the move; None if all searches had the same limit.
    pieces: number of pieces left, by `Phases.pieces`; None without `nodes`.
    origin: how the games were made.
    """

    values: Floats
    results: Floats
    phases: Ints
    games: Ints
    nodes: Ints | None = None
    pieces: Ints | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def only(self, chosen: NDArray[np.bool_]) -> CalibrationSample:
        """Returns the chosen positions."""
        columns = (
            self.values, self.results, self.phases, self.games, self.nodes, self.pieces
        )  # fmt: skip
        return CalibrationSample(*(None if one is None else one[chosen] for one in columns))  # type: ignore[arg-type]


def calibration_of(sample: CalibrationSample, game: Game) -> Calibration:
    """Returns the calibration that fits games best, with the quality of its chances in `evidence`.

    There, `log_loss` is that of the chances in nats a position and `error` the mean distance of
    expected and found results, both on the half of the games that the numbers were not fitted to
    (each half in turn); `guess` is the log loss of the mean chances. Raises ValueError as
    `fit_calibration`.
    """
    fitted = fit_calibration(sample, game)
    loss, table = reliability(sample, game)
    shares = np.array([(sample.results == result).mean() for result in (1, 0, -1)])
    shares = shares[shares > 0]
    evidence = {
        **sample.origin,
        "positions": len(sample),
        "log_loss": round(loss, 4),
        "guess": round(float(-(shares * np.log(shares)).sum()), 4),
        "error": round(calibration_error(table), 4),
    }
    return replace(fitted, evidence=evidence)


def self_play_sample(
    game: Game,
    evaluator: Any,
    *,
    games: int = CALIBRATION_GAMES,
    nodes: int = CALIBRATION_NODES,
    plies: int = CALIBRATION_PLIES,
    seed: int = 0,
    threads: int = THREADS,
    workers: Workers | None = None,
    progress: Callable[[int], Any] | None = None,
) -> CalibrationSample:
    """Returns the undecided positions of games of self-play, which end when a win is proved.

    games: number of games of self-play.
    nodes: positions searched for each move; with dice moves are chosen by static values, and values
        are averages over the rolls.
    plies: length of the shortest random openings; unused with dice.
    seed: decides their order, or the dice.
    threads, workers: number of threads, or workers instead; they do not change the result.
    progress: called with the number of games done after some of them.
    """
    if games < 2 or nodes < 1:
        raise ValueError(f"expected at least 2 games and 1 node, found {games} and {nodes}")
    limits: tuple[int | None, int | None, int] = (None, nodes, MOST_PLIES + plies)
    searched = {"nodes": nodes, "opening_plies": plies}
    if game.dice:
        limits, searched = (0, None, MOST_TURNS), {"depth": 1}
    task = Task(game, as_evaluator(game, evaluator), None, *limits, decide=True)
    shared: Any = {"threads": threads, "workers": workers, "progress": progress}
    played = list(games_of(task, games=games, plies=plies, seed=seed, **shared))
    origin = {"games": len(played), **searched, "seed": seed}
    return replace(sample_of(game, enumerate(played)), origin=origin)


def sample_of(
    game: Game, played: Iterable[tuple[int, Played]], nodes: int | None = None
) -> CalibrationSample:
    """Returns the undecided positions of games, each with its number.

    nodes: positions searched for a move, if the chances should follow the size of the search.
    """
    phases: Any = game.phases
    phase = kernels.uncompiled(phases.phase) if phases else None
    left = kernels.uncompiled(phases.pieces) if phases and phases.pieces else None
    rows: list[tuple[float, ...]] = []
    for number, one in played:
        results = np.sign(one.outcomes())
        for ply in range(one.opening, len(one.moves)):
            value = float(one.values[ply])
            if abs(value) > PROVEN:
                continue
            at = one.positions[ply]
            position = tuple(at.tolist()) if isinstance(at, np.ndarray) else at
            place = phase(position) if phase else 0
            pieces = left(position) if left and nodes else 1
            rows.append((value, float(results[ply]), place, number, nodes or 0, pieces))
    values, found, *counts = np.array(rows, dtype=np.float64).reshape(-1, 6).T
    places, numbers, *sizes = (column.astype(np.int64) for column in counts)
    return CalibrationSample(values, found, places, numbers, *(sizes if nodes else (None, None)))


def fit_calibration(sample: CalibrationSample, game: Game) -> Calibration:
    """Returns the calibration with the least log loss, to four digits.

    Raises ValueError if there are no positions, or results do not rise with the values.
    """
    if not sample.values.any():
        raise ValueError("calibration: expected positions with a value that is not 0, found none")
    if (sample.values * sample.results).sum() <= 0:
        raise ValueError("calibration: expected results that rise with the values, but they do not")
    if sample.nodes is not None:
        return _fitted_to_searches(sample)
    whole = _fitted(sample.values, sample.results)
    pairs = [whole]
    if game.phases is not None:
        pairs = []
        for number in range(len(game.phases)):
            part = sample.only(sample.phases == number)
            rises = (part.values * part.results).sum() > 0
            enough = len(part) >= FEWEST and rises
            pairs.append(_fitted(part.values, part.results) if enough else whole)
    scale, draw = zip(*pairs, strict=True)
    return Calibration(scale, draw)


def _fitted(values: Floats, results: Floats) -> tuple[float, float]:
    """Returns the scale and the draw with the least log loss; a draw of 0 if no game was drawn."""
    unit = float(np.sqrt(np.mean(values**2)))

    drawn = bool((results == 0).any())

    def loss(logs: Floats) -> float:
        scale, draw = unit * np.exp(logs) * (1.0, drawn)
        win, loss = expit((values - draw) / scale), expit((-values - draw) / scale)
        return float(_losses(results, win, loss).mean())

    best = minimize(loss, [-1.0, -1.0], method="L-BFGS-B", bounds=[(-6.0, 3.0), (-9.0, 3.0)])
    scale, draw = unit * np.exp(best.x) * (1.0, drawn)
    return _digits(scale), _digits(draw)


def _fitted_to_searches(sample: CalibrationSample) -> Calibration:
    """Returns the calibration with terms of nodes and pieces that has the least log loss.

    Each number of nodes counts as much as another, however many positions it has.
    """
    assert sample.nodes is not None and sample.pieces is not None
    size = _digits(float(np.sqrt(np.mean(sample.values**2))))
    _, level = np.unique(sample.nodes, return_inverse=True)
    shares = 1.0 / np.bincount(level)[level]
    # A result that is turned with its value is the same; values to half a hundredth are enough.
    side = np.where(sample.values < 0, -1.0, 1.0)
    steps = np.rint(np.abs(sample.values) / size * 200.0)
    columns = np.stack([sample.nodes, sample.pieces, steps, sample.results * side], axis=1)
    rows, which = np.unique(columns, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), shares / shares.sum())
    terms, parts, results = terms_of(rows[:, 0], rows[:, 1]), parts_of(rows[:, 2] / 200), rows[:, 3]
    usual = np.zeros((1 + len(KNOTS), len(TERMS)))
    usual[:, 0] = 1.0

    def loss(flat: Floats) -> tuple[float, Floats]:
        logs = flat.reshape(usual.shape) @ terms
        inside = np.abs(logs) < 20.0  # as far as `Calibration` takes them
        draw, *slopes = np.exp(np.clip(logs, -20.0, 20.0))
        worths = np.array(slopes) * parts
        worth = worths.sum(axis=0)
        win, lost = expit(worth - draw), expit(-worth - draw)
        even = np.maximum(1.0 - win - lost, LEAST)
        # derivatives of the log chance by the arguments of the two logistic functions
        by_win = np.where(results > 0, 1 - win, np.where(results < 0, 0.0, -win * (1 - win) / even))
        by_loss = np.where(
            results < 0, 1 - lost, np.where(results > 0, 0.0, -lost * (1 - lost) / even)
        )
        by_log = np.array([-(by_win + by_loss) * draw, *((by_win - by_loss) * worths)]) * inside
        chance = np.where(results > 0, win, np.where(results < 0, lost, even))
        away = flat - usual.ravel()
        mean = -weights @ np.log(np.maximum(chance, LEAST)) + RESTRAINT * float(away @ away) / 2
        return float(mean), (-(by_log * weights) @ terms.T).ravel() + RESTRAINT * away

    best = minimize(loss, usual.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    numbers = best.x.reshape(usual.shape).T.tolist()
    return Calibration(
        (size,), (size,),
        terms={name: tuple(map(_digits, row)) for name, row in zip(TERMS, numbers, strict=True)},
        size=size,
        nodes=(int(sample.nodes.min()), int(sample.nodes.max())),
        pieces=(int(sample.pieces.min()), int(sample.pieces.max())),
    )  # fmt: skip


def _digits(number: float) -> float:
    """Returns a number to four digits, so that files are the same on all machines."""
    return float(f"{number:.4g}")


def _losses(results: Floats, win: Floats, loss: Floats) -> Floats:
    """Returns minus the logarithm of the chance of each result, [positions]."""
    chance = np.where(results > 0, win, np.where(results < 0, loss, 1.0 - win - loss))
    return np.asarray(-np.log(np.maximum(chance, LEAST)))


def shares(fitted: Calibration, sample: CalibrationSample) -> tuple[Floats, Floats]:
    """Returns the chances of a win and of a loss by a calibration, [positions] each."""
    ones = np.ones(len(sample), np.int64)
    nodes, pieces = (ones if one is None else one for one in (sample.nodes, sample.pieces))
    places = np.minimum(sample.phases, len(fitted.scale) - 1)
    return fitted.shares(sample.values, places, nodes, pieces)


def reliability(sample: CalibrationSample, game: Game) -> tuple[float, list[CalibrationBin]]:
    """Returns the log loss and the table of expected and found results (0 to 1) on unseen games.

    The numbers fitted to the games of even number are tested on the others, and the reverse.
    """
    win, loss = held_out_shares(sample, game)
    table = calibration(
        (1.0 + win - loss) / 2.0, (sample.results + 1.0) / 2.0, bins=10, groups=sample.games
    )
    return float(_losses(sample.results, win, loss).mean()), table


def held_out_shares(sample: CalibrationSample, game: Game) -> tuple[Floats, Floats]:
    """Returns the chances of a win and of a loss, [positions] each, by fits to other games.

    Those of the games of even number are fitted to the others, and the reverse.
    """
    win, loss = np.empty((2, len(sample)))
    for half in (0, 1):
        held_out = sample.games % 2 == half
        fitted = fit_calibration(sample.only(~held_out), game)
        win[held_out], loss[held_out] = shares(fitted, sample.only(held_out))
    return win, loss
