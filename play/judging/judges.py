"""Games judged side by side: each core judges one at a time."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any

from play.judging.analysis import Judged, Playouts, judge_moves
from play.judging.cube import judge_cube
from play.judging.luck import judge_rolls
from play.judging.performance import JudgedGame
from play.players.seats import Seat
from play.workers.crew import Crew, done
from programs.waiting import WorkBar

__all__ = ["judge_games"]


class _Judges(Crew[tuple[Seat]]):
    """Judges games, with a thinker for each thread, and counts their moves."""

    def __init__(self, thinkers: Sequence[Seat], playouts: Playouts | None, bar: WorkBar) -> None:
        super().__init__()
        self._thinkers, self._playouts, self._bar = list(thinkers), playouts, bar

    def new_seats(self) -> tuple[Seat]:
        return (self._thinkers.pop(),)

    def __call__(self, game: JudgedGame) -> None:
        record: Any = game.record
        playouts, cube = self._playouts, game.cube
        with self.seats() as (thinker,):
            # the longest game begins first, with empty tables
            moves = judge_moves(record, thinker, cube=cube, playouts=playouts)
            kinds: list[Iterator[Any]] = [moves]
            if record.rolls and record.rolls[0] is not None:
                kinds.append(judge_rolls(record, thinker, cube=cube))
            if cube:
                kinds.append(judge_cube(record, thinker, playouts=playouts))
            for one in heapq.merge(*kinds, key=lambda one: one.ply):
                if self.stopped.is_set():
                    return
                game.add(one)
                self._bar.update(isinstance(one, Judged))


def judge_games(
    records: Sequence[Any], thinkers: Sequence[Seat], playouts: Playouts | None, *, quiet: bool
) -> tuple[list[JudgedGame], bool]:
    """Returns the judgement of each game, and whether Ctrl-C ended it.

    thinkers: one for each thread. A single one judges the games in their order in this thread;
        several begin with the longest.
    playouts: as in `judge_moves`; only with a single thinker, since Ctrl-C ends rollouts only in
        the main thread.
    quiet: no bar of progress.
    """
    gives = bool(thinkers[0].game.cube) and thinkers[0].evaluator.gives_outcomes
    money = any(record.actions for record in records)
    # games for money in which nobody touches the cube count as played without one
    games = [JudgedGame(one, gives and (money or one.match_length > 0)) for one in records]
    with WorkBar(sum(record.ply for record in records), "moves", quiet=quiet) as bar:
        judges = _Judges(thinkers, playouts, bar)
        try:
            if len(thinkers) == 1:
                for game in games:
                    judges(game)
            else:
                longest = sorted(games, key=lambda game: -game.record.ply)
                done(judges, iter(longest), threads=len(thinkers))
        except KeyboardInterrupt:
            return games, True
    return games, False
