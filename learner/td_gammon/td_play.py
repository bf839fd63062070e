"""Games with dice that an evaluator plays against itself and learns from, in native code."""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.kernels import NativeRecord, kernel
from games.kernels.chance import stream
from games.kernels.memory import load_int, store_int
from learner.td_gammon.descent import sweep_address
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import Prefilter, check_function
from search.expectiminimax.turn import NativeTurn, next_number, over, play_turn
from search.native import call_float

__all__ = ["MOST_PLIES", "ActorLearner"]

#: Longer games are dropped; a sensible game of backgammon takes some sixty plies.
MOST_PLIES = 1023

LEARNING = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: what learns from a game and the weights that it changes, the same for the
            # small network of the prefilter (0: none), and the numbers that both read
            "sweep_at weights small_sweep_at small_weights numbers"
            # addresses: positions, rolls and lengths of the games in memory, room for each
            " positions rolls lengths room"
            # games to learn from again after each new one
            " replays"
            # games in memory, the place of the next one; plies played, positions learned from
            " kept next plies updates"
        ).split()
    ]
)


@kernel
def play_game(turn, replies, game, rolls):
    """Play a game into a slot of the memory; returns its plies, or 0 if it did not end."""
    step = 8 * turn.width
    source = game
    for ply in range(MOST_PLIES):
        play_turn(turn, replies, source, source + step, ply, 1)
        store_int(rolls, ply, turn.roll)
        source += step
        if over(turn, source):
            return ply + 1
    return 0


@kernel
def play_and_learn(turn, replies, learning, games):
    """Play games, learn from each and from some of those in memory; returns squared errors.

    The memory holds the last `room` games, each from the start position on; a new game replaces the
    oldest.
    """
    size = 8 * turn.width * (MOST_PLIES + 1)
    error = 0.0
    for _ in range(games):
        place = learning.next
        game = learning.positions + place * size
        plies = play_game(turn, replies, game, learning.rolls + 8 * MOST_PLIES * place)
        # a game that did not end leaves nothing of the one whose place it took
        store_int(learning.lengths, place, plies)
        if plies == 0:
            continue
        learning.next = (place + 1) % learning.room
        learning.kept = max(learning.kept, place + 1)
        for replay in range(learning.replays + 1):
            if replay > 0:
                place = int(next_number(turn) * learning.kept)
            length = load_int(learning.lengths, place)
            lesson = (learning.positions + place * size, length, learning.numbers)
            error += call_float(learning.sweep_at, (learning.weights, *lesson))
            if learning.small_sweep_at != 0:
                call_float(learning.small_sweep_at, (learning.small_weights, *lesson))
            learning.updates += length
        learning.plies += plies
    return error


class ActorLearner:
    """One worker that plays and learns: an evaluator of its own, a memory of games, and its dice.

    evaluator: plays and learns.
    seed: seed of the dice and the replays.
    room: number of games in memory.
    replays: number of games of the memory that are learned from again after each new one.
    prefilter: values only the replies that it keeps; its evaluator, a small network that no other
        worker has, learns too.
    """

    def __init__(
        self,
        evaluator: OutcomeNetwork,
        *,
        seed: tuple[int, ...],
        room: int,
        replays: int,
        prefilter: Prefilter | None = None,
    ) -> None:
        game: Any = evaluator.game
        self.game = game
        self.evaluator = evaluator
        self.networks = [evaluator]
        self.width = len(game.start())
        self._turn = NativeTurn(game)
        self._turn.put(state=stream(*seed))
        self._replies = [
            self._turn.replies(evaluator, prefilter=candidate) for candidate in (None, prefilter)
        ]
        #: rate of learning, that of the last layer, lambda
        self.numbers = np.zeros(3)
        self.memory = np.zeros((room, MOST_PLIES + 1, self.width), dtype=np.int64)
        self.memory[:, 0] = game.start()
        self.rolls = np.zeros((room, MOST_PLIES), dtype=np.int64)
        self.lengths = np.zeros(room, dtype=np.int64)
        self._learning = NativeRecord(LEARNING)
        self._learning.pin(
            weights=evaluator.data(),
            numbers=self.numbers,
            positions=self.memory,
            rolls=self.rolls,
            lengths=self.lengths,
        )
        self._learning.put(sweep_at=sweep_address(evaluator), room=room, replays=replays)
        if prefilter is not None:
            small = prefilter.evaluator
            assert isinstance(small, OutcomeNetwork)
            self.networks.append(small)
            self._learning.pin(small_weights=small.data())
            self._learning.put(small_sweep_at=sweep_address(small))

    def play(
        self, games: int, *, rate: float, last_rate: float, lambda_: float, prefilter: bool = True
    ) -> float:
        """Play games and learn from them; returns the sum of the squared errors of all outputs.

        rate: step size of gradient descent.
        last_rate: step size of the last layer.
        lambda_: the lambda of TD(lambda).
        prefilter: whether to use the prefilter; otherwise all replies are valued.
        """
        self.numbers[:] = rate, last_rate, lambda_
        replies = self._replies[prefilter]
        return float(play_and_learn(self._turn.row, replies.row, self._learning.row, games))

    @property
    def updates(self) -> int:
        """Positions learned from so far."""
        return int(self._learning.updates)

    @property
    def plies(self) -> int:
        """Plies played so far."""
        return int(self._learning.plies)

    def last_game(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the last game's positions, [plies + 1, integers], and the rolls between."""
        place = (self._learning.next - 1) % len(self.memory)
        plies = int(self.lengths[place])
        return self.memory[place, : plies + 1].copy(), self.rolls[place, :plies].copy()

    def get_state(self) -> dict[str, Any]:
        """Returns memory, dice and counts, from which `set_state` continues to the same bits."""
        learning = self._learning
        lengths = self.lengths.tolist()
        slots = range(learning.kept)
        games = [self.memory[i, : lengths[i] + 1].reshape(-1) for i in slots]
        rolls = [self.rolls[i, : lengths[i]] for i in slots]
        none = np.zeros(0, dtype=np.int64)
        return {
            "games": np.concatenate([none, *games]),
            "rolls": np.concatenate([none, *rolls]),
            "lengths": self.lengths.copy(),
            "table": np.array(
                [learning.kept, learning.next, self._turn.state, learning.plies, learning.updates],
                dtype=np.int64,
            ),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state of `get_state`.

        Raises ValueError for a state that does not fit, or that holds games not played by the
        rules, because native code trusts what it reads.
        """
        games, rolls, lengths, table = (state[n] for n in ("games", "rolls", "lengths", "table"))
        room = len(self.lengths)
        if lengths.shape != (room,) or table.shape != (5,):
            raise ValueError(f"expected a memory of {room} games, found {len(lengths)}")
        kept, following, dice, played, updates = table.tolist()
        if not (
            0 <= kept <= room
            and following == (kept if kept < room else following % room)
            and 0 <= dice < 1 << 62
            and 0 <= played <= updates
        ):
            raise ValueError(f"expected the counts of a worker, found {table.tolist()}")
        if not ((lengths >= 0) & (lengths <= MOST_PLIES)).all() or lengths[kept:].any():
            raise ValueError(f"expected lengths of {kept} games of at most {MOST_PLIES} plies")
        plies = lengths[:kept].tolist()
        if len(games) != sum(count + 1 for count in plies) * self.width or len(rolls) != sum(plies):
            raise ValueError(f"expected positions and rolls of {sum(plies)} plies")
        if len(rolls) and not 0 <= rolls.min() <= rolls.max() < len(self.game.rolls):
            raise ValueError("expected rolls of the game")
        is_legal = check_function(self.game)
        moves = self._replies[0].moves
        game, roll = np.ascontiguousarray(games.reshape(-1, self.width)), rolls
        for i, count in enumerate(plies):
            begins = (game[0] == self.memory[i, 0]).all()
            where = game.ctypes.data, roll.ctypes.data, count, moves
            if not begins or (count and not is_legal(*where)):
                raise ValueError("expected games played by the rules from start to end")
            self.memory[i, : count + 1], game = game[: count + 1], game[count + 1 :]
            self.rolls[i, :count], roll = roll[:count], roll[count:]
        self.lengths[:] = lengths
        self._turn.put(state=dice)
        self._learning.put(kept=kept, next=following, plies=played, updates=updates)
