"""Rollouts of games with dice: positions played out many times, luck-adjusted.

Results depend on the positions, the evaluator, the options and the seed alone, not on the number of
threads or on other positions. The mean is that of games between players of this evaluator and
depth. Stratified dice and variance reduction do not change it, but make its error fall faster.
Sources: Tesauro and Galperin 1996; D. Montgomery, "Variance reduction", 2000; GNU Backgammon, whose
options are the same.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame, Game
from play.matches.dice_loop import MOST_TURNS
from play.players.limits import check_depth
from play.rollout.dice import BLOCK, RolloutDice, advantage, mean_and_error
from play.rollout.native import rollout_table
from play.rollout.plain import Block, RolloutTable, play_in_step
from play.workers import Workers
from play.workers.crew import Crew
from programs.arguments import THREADS
from search import Engine, Evaluator, Lookup, as_evaluator
from search.expectiminimax.move_filters import MoveFilters, as_filters

__all__ = ["Blocks", "RolloutResult", "best_candidates", "rollout"]

#: Size of the transposition tables of the engines that choose moves.
TABLE_MIB = 4.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RolloutResult:
    """The result of a rollout by position; if moves are compared, for the side that moves.

    equity: mean values, [positions].
    equity_error: their standard errors, from the dice alone, not from the players' errors.
    outcomes: mean probabilities of the game's outcomes, [positions, outcomes], None if the
        evaluator gives no outcomes; if luck-adjusted, they may lie outside 0 to 1.
    outcome_errors: their standard errors.
    games: number of games of each position, [positions].
    moves: the candidates; empty if positions were given.
    lead: probability that the best candidate is better than each, by the standard error of the mean
        difference over the same dice; 1/2 for itself; empty without candidates.
    plies: number of moves played.
    seconds: wall time.
    interrupted: whether Ctrl-C ended the rollout, which then covers the games done.
    """

    equity: Floats
    equity_error: Floats
    outcomes: Floats | None
    outcome_errors: Floats | None
    games: NDArray[np.int64]
    moves: tuple[Any, ...]
    lead: Floats
    plies: int
    seconds: float
    interrupted: bool

    @property
    def best(self) -> int:
        """The index of the highest equity among positions with the most games."""
        return best_of(self.equity, self.games)

    @property
    def plies_per_second(self) -> float:
        """Moves played per second of wall time."""
        return self.plies / max(self.seconds, 1e-9)


def best_of(equity: Floats, games: NDArray[np.int64]) -> int:
    """Returns the index of the highest equity among candidates with the maximum number of games."""
    return int(np.argmax(np.where(games == games.max(), np.nan_to_num(equity), -np.inf)))


def rollout(
    game: DiceGame,
    positions: Any,
    evaluator: Any,
    *,
    roll: int | None = None,
    moves: Sequence[Any] | None = None,
    games: int = 1296,
    depth: int = 0,
    truncate: int | None = None,
    variance_reduction: bool = True,
    lookup: Lookup | None = None,
    filters: MoveFilters | str | None = None,
    threads: int = THREADS,
    workers: Workers | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> RolloutResult:
    """Play positions out, each `games` times with the same dice.

    positions: positions before their rolls, a list or an array [positions, integers]; with `roll`,
        one position.
    evaluator: anything that `search.as_evaluator` takes; it plays both sides.
    roll: compare the moves for this roll; results are then for the side that moves.
    moves: the candidates to compare (default: all legal moves).
    games: games of each position; best a multiple of 36, or 1296, because dice are stratified
        over the first two rolls.
    depth: GNU Backgammon's plies; at 0 the move with the best static value is played, in native
        code, deeper ones by an `Engine`.
    truncate: break a game off after this many plies and count its value by a search of `depth`.
    variance_reduction: luck-adjust results by one look ahead; a game at depth 0 takes about 20
        times as long.
    lookup: consulted before the evaluator; a game ends if the lookup knows its exact value.
    filters: move filters of the `Engine`.
    threads: threads of this process that play.
    workers: processes or a cluster that play instead of threads.
    seed: decides the dice.
    progress: called with the number of games done since the last call.

    Ctrl-C ends the rollout with the games done, marked as interrupted. Raises ValueError for
    options out of range and for illegal moves; exceptions of a Python evaluator pass through.
    """
    for name, number in (("games", games), ("threads", threads)):
        if operator.index(number) < 1:
            raise ValueError(f"{name}: expected at least 1, found {number}")
    if roll is None and moves is not None:
        raise ValueError("expected a roll, because moves are compared")
    blocks = Blocks(
        game, as_evaluator(game, evaluator), lookup, depth, filters, truncate,
        variance_reduction, seed,
    )  # fmt: skip
    candidates: tuple[Any, ...] = ()
    if roll is not None:
        candidates = legal_candidates(game, positions, roll, moves)
        positions = [game.play(positions, move) for move in candidates]
    places = checked_positions(game, positions)
    alone = threads == 1 or workers is not None
    with nullcontext(workers) if alone else Workers(jobs=threads) as players:
        return _roll_out(blocks, places, players, games, candidates, progress)


def legal_candidates(
    game: DiceGame, position: Any, roll: int, moves: Sequence[Any] | None
) -> tuple[Any, ...]:
    """Returns the moves to compare.

    Raises ValueError if there is no move, if one is illegal or repeated, or if `roll` is not a roll
    of the game.
    """
    if not 0 <= operator.index(roll) < len(game.rolls):
        raise ValueError(f"roll: expected 0 to {len(game.rolls) - 1}, found {roll}")
    legal = game.legal_moves(position, roll)
    candidates = tuple(legal if moves is None else moves)
    bad = [move for move in candidates if move not in legal]
    if bad or not candidates or len(set(candidates)) < len(candidates):
        raise ValueError(
            f"moves: expected different legal moves with {game.dice.text(roll)} in"
            f" {game.position_text(position)}, found {bad or list(candidates)}"
        )
    return candidates


def best_candidates(
    game: DiceGame, position: Any, roll: int, evaluator: Evaluator, lookup: Lookup | None, most: int
) -> list[Any]:
    """Returns the `most` best legal moves for a roll by their static values, the best first."""
    moves = game.legal_moves(position, roll)
    values = Engine(game, evaluator, lookup=lookup, table_mib=0.001).values(
        [game.play(position, move) for move in moves]
    )
    return [moves[n] for n in np.argsort(values, kind="stable")[:most]]


def checked_positions(game: DiceGame, positions: Any) -> list[Any]:
    """Returns the positions of a list or an array as tuples; raises ValueError for other shapes."""
    if game.rules is None:
        return list(positions)
    width = len(game.start())
    rows = np.asarray(positions)
    if rows.size == 0 and rows.ndim < 2:
        return []
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype.kind not in "iu":
        raise ValueError(
            f"positions: expected [positions, {width}] integers, found {rows.dtype} of shape"
            f" {rows.shape}"
        )
    return [tuple(row) for row in rows.tolist()]


#: A position, whether the results are for the side that waits, a block and its games.
Task = tuple[Any, bool, int, int]


class Blocks(Crew[tuple[RolloutTable, Engine | None]]):
    """Rolls out blocks of games; each thread has a table of its own."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        lookup: Lookup | None,
        depth: int,
        filters: MoveFilters | str | None,
        truncate: int | None,
        variance_reduction: bool,
        seed: int,
    ) -> None:
        self.dice = RolloutDice(game, seed)
        check_depth(depth)
        as_filters(filters)
        if truncate is not None and not 1 <= operator.index(truncate) <= MOST_TURNS:
            raise ValueError(f"truncate: expected 1 to {MOST_TURNS} plies, found {truncate}")
        super().__init__(
            game, evaluator, lookup, depth, filters, truncate, variance_reduction, seed
        )
        self.game: Any = game
        self.evaluator = evaluator
        self.count = len(game.outcomes) if evaluator.gives_outcomes and game.outcomes else 0
        self._dealing = Lock()

    def __call__(self, task: Task) -> Block | None:
        """Results [games, outcomes + 1] and plies [games]; None if stopped."""
        position, later, number, games = task
        _, _, _, depth, _, truncate, look, _ = self._options
        with self._dealing:
            streams, rolls = self.dice.block(number)
        dice = streams[:games], rolls[:games]
        options: dict[str, Any] = {
            "later": later,
            "most_plies": MOST_TURNS if truncate is None else truncate,
            "look": look,
        }
        with self.seats() as (table, engine):
            if engine is None:
                return table.block(position, dice, **options)

            def choose(positions: list[Any], rolls: list[int]) -> Any:
                return engine.best_moves(positions, rolls, depth=depth, decide_only=True)[0]

            def settle(position: Any) -> Floats:
                result = engine.search(position, depth=depth).whole()
                return np.array([*(result.outcomes or ()), result.value])

            engine.clear()
            return play_in_step(
                table, self.dice, choose, settle, position, dice,
                stopped=self.stopped.is_set, **options,
            )  # fmt: skip

    def new_seats(self) -> tuple[RolloutTable, Engine | None]:
        """Returns a table, and the engine that chooses moves at a depth above 0, or None."""
        game, evaluator, lookup, depth, filters, *_ = self._options
        engine = None
        if depth:
            engine = Engine(game, evaluator, lookup=lookup, table_mib=TABLE_MIB, filters=filters)
        return rollout_table(game, evaluator, lookup, self.dice), engine

    def play(
        self, positions: Sequence[Any], later: bool, games: int, players: Workers | None
    ) -> Generator[tuple[int, Block], None, None]:
        """Yields the blocks of the rollouts of all positions, each with its position's index."""
        order = [(number, i) for number in range(-(-games // BLOCK)) for i in range(len(positions))]
        tasks = (
            (positions[i], later, number, min(BLOCK, games - BLOCK * number)) for number, i in order
        )
        done = (self(task) for task in tasks) if players is None else players.map(self, tasks)
        with closing(done):
            for (_, i), block in zip(order, done, strict=True):
                if block is None:
                    raise KeyboardInterrupt
                yield i, block


def _roll_out(
    blocks: Blocks,
    positions: list[Any],
    players: Workers | None,
    games: int,
    candidates: tuple[Any, ...],
    progress: Callable[[int], None] | None,
) -> RolloutResult:
    began = time.perf_counter()
    parts: list[list[Floats]] = [[np.zeros((0, blocks.count + 1))] for _ in positions]
    plies, interrupted = 0, False
    try:
        with closing(blocks.play(positions, bool(candidates), games, players)) as done:
            for i, (results, its_plies) in done:
                parts[i].append(results)
                plies += int(its_plies.sum())
                if progress is not None:
                    progress(len(results))
    except KeyboardInterrupt:
        interrupted = True
    samples = [np.concatenate(part) for part in parts]
    estimates = [mean_and_error(one, blocks.dice.rolls(len(one))) for one in samples]
    means, errors = (
        np.array([pair[which] for pair in estimates]).reshape(len(positions), blocks.count + 1)
        for which in (0, 1)
    )
    told = blocks.count > 0
    return RolloutResult(
        means[:, -1],
        errors[:, -1],
        means[:, :-1] if told else None,
        errors[:, :-1] if told else None,
        np.array([len(one) for one in samples], dtype=np.int64),
        candidates,
        _leads(samples, blocks.dice) if candidates else np.zeros(0),
        plies,
        time.perf_counter() - began,
        interrupted,
    )


def _leads(samples: list[Floats], dice: RolloutDice) -> Floats:
    """The probability that the best is better than each, by the games that both have, [samples]."""
    games = np.array([len(one) for one in samples])
    if not games.all():
        return np.full(len(samples), 0.5)
    best = samples[best_of(np.array([one[:, -1].mean() for one in samples]), games)]
    return np.array(
        [advantage(best[: len(one), -1], one[:, -1], dice.rolls(len(one))) for one in samples]
    )
