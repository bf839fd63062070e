"""Games with dice that an evaluator plays against itself and learns from, in native code."""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame, first_rolls
from games.kernels import kernel
from games.kernels.chance import cumulative, drawn, next_state, stream, uniform
from games.kernels.memory import store_int
from learner.td_gammon.descent import sweep_address
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import Replies, Sift, check_address, outcome_address
from search.native import call_float

__all__ = ["MOST_PLIES", "Table"]

#: A game that goes on for longer is dropped; backgammon of any sense takes some sixty plies.
MOST_PLIES = 1023

# the fields of a table's integers
(
    REPLY_AT, EVALUATE_AT, EVALUATOR, OUTCOME_AT, SWEEP_AT, WEIGHTS, SIFT_SWEEP_AT, SIFT_WEIGHTS,
    NUMBERS_AT, STACK_AT, MEMORY_AT, WIDTH, ROOM, ROLLS_AT, REPLAYS, KEPT, NEXT, STATE, PLIES,
    UPDATES,
) = range(20)  # fmt: skip


@kernel
def play_game(table, limits, first_limits, game, rolls):
    """Play a game into a place of the memory; returns its plies, 0 where it had no end."""
    step = 8 * table[WIDTH]
    source = game
    for ply in range(MOST_PLIES):
        table[STATE] = next_state(table[STATE])
        roll = drawn(uniform(table[STATE]), first_limits if ply == 0 else limits)
        store_int(rolls, ply, roll)
        call_float(
            table[REPLY_AT],
            (source, roll, table[STACK_AT], table[EVALUATE_AT], table[EVALUATOR], source + step),
        )
        source += step
        outcome = call_float(table[OUTCOME_AT], (source,))
        if outcome == outcome:
            return ply + 1
    return 0


@kernel
def play_and_learn(table, limits, first_limits, lengths, games):
    """Play games, and learn from each and from some of those in memory; returns squared errors.

    The memory holds the last `ROOM` games, each from the start position on; a new game takes the
    place of the oldest.
    """
    size = 8 * table[WIDTH] * (MOST_PLIES + 1)
    error = 0.0
    for _ in range(games):
        place = table[NEXT]
        plies = play_game(
            table, limits, first_limits, table[MEMORY_AT] + place * size,
            table[ROLLS_AT] + 8 * MOST_PLIES * place,
        )  # fmt: skip
        # where a game had no end nothing is left of the one whose place it took
        lengths[place] = plies
        if plies == 0:
            continue
        table[NEXT] = (place + 1) % table[ROOM]
        table[KEPT] = max(table[KEPT], place + 1)
        for replay in range(table[REPLAYS] + 1):
            if replay > 0:
                table[STATE] = next_state(table[STATE])
                place = int(uniform(table[STATE]) * table[KEPT])
            game = table[MEMORY_AT] + place * size
            error += call_float(
                table[SWEEP_AT], (table[WEIGHTS], game, lengths[place], table[NUMBERS_AT])
            )
            if table[SIFT_SWEEP_AT] != 0:
                call_float(
                    table[SIFT_SWEEP_AT],
                    (table[SIFT_WEIGHTS], game, lengths[place], table[NUMBERS_AT]),
                )
            table[UPDATES] += lengths[place]
        table[PLIES] += plies
    return error


class Table:
    """Where one worker plays and learns: an evaluator of its own, a memory of games, its dice.

    `room`: games in memory; `replays`: how many of them are learned from again after each game.
    `sift`: what keeps the replies that are looked at; its evaluator, a small network that no other
    table has, learns beside.
    """

    def __init__(
        self,
        evaluator: OutcomeNetwork,
        *,
        seed: tuple[int, ...],
        room: int,
        replays: int,
        sift: Sift | None = None,
    ) -> None:
        game = evaluator.game
        assert isinstance(game, DiceGame)
        self.game = game
        self.evaluator = evaluator
        self.width = len(game.start())
        evaluate_at, data, self._kept = evaluator.native(_never)
        self._replies = [Replies(game, evaluate_at, data, one, fail=_never) for one in (None, sift)]
        self.networks = [evaluator]
        sweeps = [sweep_address(evaluator), data, 0, 0]
        if sift is not None:
            assert isinstance(sift.evaluator, OutcomeNetwork)
            self.networks.append(sift.evaluator)
            sweeps[2:] = sweep_address(sift.evaluator), sift.evaluator.data().ctypes.data
        self._limits = cumulative(game.rolls)
        self._first_limits = cumulative(first_rolls(game))
        self._stack = np.zeros(int(getattr(game, "most_moves", 256)), dtype=np.int64)
        self.memory = np.zeros((room, MOST_PLIES + 1, self.width), dtype=np.int64)
        self.rolls = np.zeros((room, MOST_PLIES), dtype=np.int64)
        self.memory[:, 0] = game.start()
        self.lengths = np.zeros(room, dtype=np.int64)
        #: rate of learning, that of the last layer, lambda
        self.numbers = np.zeros(3)
        self._table = np.zeros(UPDATES + 1, dtype=np.int64)
        self._table[OUTCOME_AT:REPLAYS] = (
            outcome_address(game),
            *sweeps,
            self.numbers.ctypes.data,
            self._stack.ctypes.data,
            self.memory.ctypes.data,
            self.width,
            room,
            self.rolls.ctypes.data,
        )
        self._table[REPLAYS] = replays
        self._table[STATE] = stream(*seed)

    def play(
        self, games: int, *, rate: float, last_rate: float, decay: float, sift: bool = True
    ) -> float:
        """Play games and learn from them; returns the sum of the squared errors of all outputs.

        Without `sift` all replies are looked at.
        """
        self.numbers[:] = rate, last_rate, decay
        replies = self._replies[sift]
        self._table[:OUTCOME_AT] = replies.address, replies.evaluate_at, replies.evaluator
        limits = self._limits, self._first_limits
        return float(play_and_learn(self._table, *limits, self.lengths, games))

    @property
    def updates(self) -> int:
        """Positions learned from so far."""
        return int(self._table[UPDATES])

    @property
    def plies(self) -> int:
        """Plies played so far."""
        return int(self._table[PLIES])

    def last_game(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The positions of the last game, [plies + 1, integers], and the rolls between them."""
        place = (int(self._table[NEXT]) - 1) % len(self.memory)
        plies = int(self.lengths[place])
        return self.memory[place, : plies + 1].copy(), self.rolls[place, :plies].copy()

    def get_state(self) -> dict[str, Any]:
        """Memory, dice and counts, from which `set_state` goes on to the same bits."""
        lengths = self.lengths.tolist()
        kept = range(int(self._table[KEPT]))
        games = [self.memory[i, : lengths[i] + 1].reshape(-1) for i in kept]
        rolls = [self.rolls[i, : lengths[i]] for i in kept]
        none = np.zeros(0, dtype=np.int64)
        return {
            "games": np.concatenate([none, *games]),
            "rolls": np.concatenate([none, *rolls]),
            "lengths": self.lengths.copy(),
            "table": self._table[REPLAYS + 1 :].copy(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from a state.

        ValueError where it does not fit, or has games that were not played by the rules: native
        code believes what it reads.
        """
        games, rolls, lengths, table = (state[n] for n in ("games", "rolls", "lengths", "table"))
        room = len(self.lengths)
        if lengths.shape != (room,) or table.shape != (UPDATES - REPLAYS,):
            raise ValueError(f"expected a memory of {room} games, found {len(lengths)}")
        kept, following, dice, plies, updates = table.tolist()
        if not (
            0 <= kept <= room
            and following == (kept if kept < room else following % room)
            and 0 <= dice < 1 << 62
            and 0 <= plies <= updates
        ):
            raise ValueError(f"expected the counts of a table, found {table.tolist()}")
        if not ((lengths >= 0) & (lengths <= MOST_PLIES)).all() or lengths[kept:].any():
            raise ValueError(f"expected lengths of {kept} games of at most {MOST_PLIES} plies")
        counts = lengths[:kept].tolist()
        if len(games) != sum(count + 1 for count in counts) * self.width or len(rolls) != sum(
            counts
        ):
            raise ValueError(f"expected positions and rolls of {sum(counts)} plies")
        if len(rolls) and not 0 <= rolls.min() <= rolls.max() < len(self.game.rolls):
            raise ValueError("expected rolls of the game")
        kinds = [ctypes.c_int64] * 4
        is_legal = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(check_address(self.game))
        game, roll = np.ascontiguousarray(games.reshape(-1, self.width)), rolls
        for i, count in enumerate(counts):
            begins = (game[0] == self.memory[i, 0]).all()
            where = game.ctypes.data, roll.ctypes.data, count, self._stack.ctypes.data
            if not begins or (count and not is_legal(*where)):
                raise ValueError("expected games played by the rules from start to end")
            self.memory[i, : count + 1], game = game[: count + 1], game[count + 1 :]
            self.rolls[i, :count], roll = roll[:count], roll[count:]
        self.lengths[:] = lengths
        self._table[REPLAYS + 1 :] = table


def _never(error: BaseException) -> None:
    raise AssertionError("networks raise nothing") from error
