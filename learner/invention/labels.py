"""The labels that invented terms explain: values of an evaluator, results of games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from games.board import Board
from games.contract import DiceGame, Game
from games.extras import extra
from games.features import Cells
from games.kinds import FOR_TWO_AT_MOST
from games.problem import Problem
from learner.dice_play import DiceSelfPlay, game_seeds
from learner.positions.filters import Filter, Games, distinct
from learner.positions.shards import UNKNOWN, Rows
from learner.regression.targets import expectations, fit_scale
from search import Engine, Evaluator, solve
from search.evaluators.samples import sample_positions

__all__ = ["Labels", "cells_of", "decisions", "distances", "labels_of"]

#: Fewer positions or games say nothing about terms.
FEWEST_POSITIONS, FEWEST_GAMES = 1000, 20
#: Share of the games that are held out.
HELD_OUT = 0.2
#: The logit of the better of two moves for a point of difference between them.
SHARPNESS = 6.0
#: Moves that differ by at least this number of points are left out, because they are obvious and
#: would dominate weights.
CLEAR = 0.5
#: The logit of the nearer of two positions for a move to the goal.
NEARER = 0.2
#: Longer games are broken off.
MOST_PLIES = 400


@dataclass(frozen=True, eq=False)
class Labels:
    """Positions and their expected results, [positions] each; games follow one another.

    positions: int64 [positions, integers].
    expected: 0 to 1, for the side to move.
    weights: the number of positions of the games that each stands for.
    games: the number of each position's game.
    held_out: whether the game only tests what is learned from others.
    scale: a value v, in the unit of the values, stands for the expectation sigmoid(scale * v).
    others: positions to compare with, such as those after other moves, so that values are
        differences; default: no comparison.
    """

    positions: NDArray[np.int64]
    expected: NDArray[np.float64]
    weights: NDArray[np.float64]
    games: NDArray[np.int64]
    held_out: NDArray[np.bool_]
    scale: float = 1.0
    others: NDArray[np.int64] | None = None


def labels_of(
    game: Game, rows: Rows, *, blend: float = 0.0, most: int = 100_000, seed: int = 0
) -> Labels:
    """Returns the labels of stored positions: quiet ones, each once, that no search has decided.

    blend: share of the result in an expectation; the rest is the value.
    most: at most about this many positions, of games drawn as a whole.
    seed: chooses these games, and the fifth of them that is held out.

    Raises ValueError for too few positions or games, or without known results.
    """
    passing = Filter(quiet=True, undecided=True, known=blend > 0)
    rows = distinct(game, passing.apply(game, rows))
    if len(rows) > most:
        rows = rows.take(Games(0.0, most / len(rows), seed).holds(rows.game_number))
    count = len(np.unique(rows.game_number))
    if len(rows) < FEWEST_POSITIONS or count < FEWEST_GAMES:
        kind = " with a known result" * (blend > 0)
        raise ValueError(
            f"expected at least {FEWEST_POSITIONS} quiet positions{kind} of {FEWEST_GAMES} games,"
            f" found {len(rows)} of {count}"
        )
    scale = 1.0
    if rows.value.any() and (rows.result != UNKNOWN).any():
        scale = fit_scale(rows.value, rows.result, sample_weight=rows.count)
    elif blend < 1:
        raise ValueError("expected positions with values and known results, found none")
    rows = rows.take(np.argsort(rows.game_number, kind="stable"))
    return Labels(
        rows.positions,
        expectations(rows.value, rows.result, scale=scale, blend=blend),
        rows.count.astype(np.float64),
        rows.game_number.astype(np.int64),
        Games(0.0, HELD_OUT, seed + 1).holds(rows.game_number),
        scale,
    )


def decisions(
    game: DiceGame,
    evaluator: Evaluator,
    count: int,
    *,
    seed: int,
    watch: Callable[[], object] = lambda: None,
) -> Labels:
    """Returns positions after moves, compared with those after other moves of the same roll.

    They come from games that the evaluator plays against itself, two others drawn for each move;
    `SHARPNESS` times the difference of their static values is the logit of the expected result. A
    position's value mostly says who is ahead, which a move hardly changes.

    count: number of games.
    watch: called after each game.

    Raises ValueError for too few of them.
    """
    player = DiceSelfPlay(
        game, Engine(game, evaluator), depth=0, backups=False, most_plies=MOST_PLIES
    )
    random, pairs, numbers = np.random.default_rng(seed), [], []
    for number, seeds in zip(range(count), game_seeds(seed), strict=False):
        played = player.play(seeds)
        visited = [tuple(position) for position in np.asarray(played.positions).tolist()]
        for before, after, roll in zip(visited[:-2], visited[1:-1], played.rolls, strict=False):
            moves = game.legal_moves(before, roll)
            for move in random.choice(moves, 2) if len(moves) > 1 else []:
                other = game.play(before, int(move))
                if other != after and game.outcome(other) is None:
                    pairs.append((after, other))
                    numbers.append(number)
        watch()
    if len(pairs) < FEWEST_POSITIONS or count < FEWEST_GAMES:
        raise ValueError(
            f"expected at least {FEWEST_POSITIONS} moves to compare of {FEWEST_GAMES} games, found"
            f" {len(pairs)} of {count}"
        )
    both, of_game = np.array(pairs, dtype=np.int64), np.array(numbers)
    values = [np.asarray(evaluator.values(both[:, i]), dtype=np.float64) for i in (0, 1)]
    gain = values[0] - values[1]
    near = np.abs(gain) < CLEAR
    both, of_game = both[near], of_game[near]
    return _comparisons(both[:, 0], both[:, 1], gain[near], of_game, SHARPNESS, seed)


def distances(
    problem: Problem,
    heuristic: Any,
    count: int,
    *,
    seed: int,
    watch: Callable[[], object] = lambda: None,
) -> Labels:
    """Returns positions on ways to the goal, each compared with another that is drawn at random.

    A* solves random positions with a heuristic. The rest of a solution is a position's distance;
    `NEARER` times the difference of two distances is the logit that one is nearer.

    count: number of positions to solve.
    watch: called after each of them.

    Raises ValueError for too few solutions or positions.
    """
    random = np.random.default_rng(seed)
    visited, left, numbers = [], [], []
    for number, one in enumerate(random.integers(1 << 62, size=count)):
        position = problem.random_position(int(one))
        moves = solve(problem, position, heuristic).whole().moves or ()
        for done, move in enumerate(moves):
            visited.append(position)
            left.append(len(moves) - done)
            numbers.append(number)
            position = problem.play(position, move)
        watch()
    if len(visited) < FEWEST_POSITIONS or count < FEWEST_GAMES:
        raise ValueError(
            f"expected at least {FEWEST_POSITIONS} positions on {FEWEST_GAMES} solutions, found"
            f" {len(visited)} on {count}"
        )
    positions, far, of_number = np.array(visited, dtype=np.int64), np.array(left), np.array(numbers)
    other = random.permutation(len(far))
    nearer = far[other] - far
    return _comparisons(positions, positions[other], nearer, of_number, NEARER, seed)


def _comparisons(
    first: Any, others: Any, gain: Any, games: NDArray[np.int64], scale: float, seed: int
) -> Labels:
    """Returns the labels of positions that are better than others by the `gain` of each."""
    held_out = Games(0.0, HELD_OUT, seed + 1).holds(games)
    return Labels(first, expit(scale * gain), np.ones(len(first)), games, held_out, scale, others)


def cells_of(game: Any) -> Cells:
    """Returns a game's cells; ValueError unless they hold what its board, if any, shows."""
    board, cells = extra(game, Board), extra(game, Cells)
    FOR_TWO_AT_MOST.expect(game)
    if cells is None:
        raise ValueError(
            f"expected a game with the extra games.features.Cells, which a games.grid.Grid makes,"
            f" found {game.name} without it"
        )
    for position in sample_positions(game) if cells.of_a_board else ():
        shown = cells.shown(board, position, game.to_move(position))
        held = cells.held(position)
        if shown != held:
            square = min(s for s in {*shown, *held} if shown.get(s) != held.get(s))
            raise ValueError(
                f"cells: expected {shown.get(square, 'nothing')} as the board shows on square"
                f" {square}, found {held.get(square, 'nothing')} in {game.position_text(position)}"
            )
    return cells
