"""Games with dice, played by native code: static values, whole blocks of pairs in one call.

What happens is what `play.match.dice_match` does turn by turn with seats in Python, and the tests
compare the two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from games.contract import DiceGame
from games.kernels import kernel
from games.kernels.chance import drawn, next_state, uniform
from games.kernels.memory import load_int, store_float, store_int
from play.dice import Dice
from play.match.dice_record import DiceRecord
from search import Evaluator, Lookup
from search.expectiminimax.static import DiceTable, best_move
from search.native import call_float, call_int

__all__ = ["MOST_TURNS", "REASONS", "DiceLoop"]

#: Longer games count as undecided: 0 points. Two weak players can keep each other on the bar.
MOST_TURNS = 4000
#: Games that the log has room for, and turns.
MOST_GAMES = 256
LOG_TURNS = 16 * MOST_TURNS

#: How a game ended.
REASONS = ("stopped", "end of the game", "most turns")
STOPPED, ENDED, TOO_LONG = range(3)


@kernel
def _move(table, seat, roll, chance):
    """The move of a seat in the present position; `chance` decides where it plays at random."""
    if seat.evaluate_at != 0:
        return best_move(table, seat, table.here, roll, True)
    count = call_int(table.legal_at, (table.here, roll, table.stack))
    return load_int(table.stack, int(chance * count))


@kernel
def _play_game(table, first, second, state):
    """Play the game that `first` begins, from the position `here`, and log it."""
    here = table.here
    turn = 0
    outcome = 0.0
    reason = TOO_LONG
    while True:
        value = call_float(table.outcome_at, (here,))
        if value == value:
            outcome = value if turn % 2 == 0 else -value
            reason = ENDED
            break
        if table.stop != 0:
            reason = STOPPED
            break
        if turn >= table.most_turns:
            break
        state = next_state(state)
        if turn == 0:
            roll = drawn(uniform(state), table.first_limits)
        else:
            roll = drawn(uniform(state), table.limits)
        state = next_state(state)
        if turn % 2 == 0:
            move = _move(table, first, roll, uniform(state))
        else:
            move = _move(table, second, roll, uniform(state))
        store_int(table.moves, table.turns + turn, move)
        store_int(table.rolls, table.turns + turn, roll)
        call_int(table.play_at, (here, move, table.after))
        for i in range(table.width):
            store_int(here, i, load_int(table.after, i))
        turn += 1
    store_int(table.plies, table.games, turn)
    store_int(table.reasons, table.games, reason)
    store_float(table.outcomes, table.games, outcome + 0.0)
    table.games += 1
    table.turns += turn


@kernel
def _play_pairs(table, first, second, start):
    """Play a pair for each of the streams, or as many as the log has room for."""
    table.games = 0
    table.turns = 0
    for pair in range(table.pairs):
        if table.turns + 2 * table.most_turns > table.room or table.games + 2 > MOST_GAMES:
            break
        if table.stop != 0:
            break
        state = load_int(table.streams, pair)
        for game in range(2):
            for i in range(table.width):
                store_int(table.here, i, load_int(start, i))
            if game == 0:
                _play_game(table, first, second, state)
            else:
                _play_game(table, second, first, state)


class DiceLoop:
    """Two players at static values (None plays at random), and the memory for their games.

    first, second: evaluator and lookup of each. Not to be used by two threads at once.
    """

    def __init__(
        self,
        game: DiceGame,
        first: tuple[Evaluator | None, Lookup | None],
        second: tuple[Evaluator | None, Lookup | None],
        *,
        seed: int = 0,
        most_turns: int = MOST_TURNS,
    ) -> None:
        if not 1 <= most_turns <= MOST_TURNS:
            raise ValueError(f"most_turns: expected 1 to {MOST_TURNS}, found {most_turns}")
        self.game = game
        self._table = DiceTable(game)
        self._seats = [self._table.seat(*player) for player in (first, second)]
        self._dice = Dice(game, seed)
        self._start = np.array(game.start(), dtype=np.int64)
        self._turns = np.zeros((2, LOG_TURNS), dtype=np.int64)
        self._games = np.zeros((2, MOST_GAMES), dtype=np.int64)
        self._outcomes = np.zeros(MOST_GAMES, dtype=np.float64)
        self.stopped = False
        self._table.put(
            moves=self._turns[0].ctypes.data,
            rolls=self._turns[1].ctypes.data,
            plies=self._games[0].ctypes.data,
            reasons=self._games[1].ctypes.data,
            outcomes=self._outcomes.ctypes.data,
            most_turns=most_turns,
            room=LOG_TURNS,
        )

    def stop(self) -> None:
        """End the game under way, and refuse to begin another; callable from any thread."""
        self.stopped = True
        self._table.put(stop=1)

    def play(self, first_pair: int, pairs: int) -> Iterator[tuple[DiceRecord, DiceRecord]]:
        """Play pairs by their numbers; ends early, after whole pairs, once it is stopped.

        In the first game of each the first player begins, in the second the other.
        """
        table, done = self._table, 0
        while done < pairs and not self.stopped:
            numbers = range(first_pair + done, first_pair + min(pairs, done + MOST_GAMES // 2))
            streams = np.array([self._dice.stream(pair) for pair in numbers], dtype=np.int64)
            table.put(streams=streams.ctypes.data, pairs=len(streams), stop=int(self.stopped))
            record, seats = table.record[0], [seat[0][0] for seat in self._seats]
            _play_pairs(record, seats[0], seats[1], self._start.ctypes.data)
            table.check()
            played = int(record["games"]) // 2
            records = self._records(2 * played)
            for pair in range(played):
                if any(
                    game.reason == REASONS[STOPPED] for game in records[2 * pair : 2 * pair + 2]
                ):
                    return
                yield records[2 * pair], records[2 * pair + 1]
            done += played

    def _records(self, games: int) -> list[DiceRecord]:
        found, place = [], 0
        for i in range(games):
            end = place + int(self._games[0, i])
            moves, rolls = self._turns[:, place:end].tolist()
            outcome, reason = float(self._outcomes[i]), REASONS[self._games[1, i]]
            found.append(DiceRecord(self.game, tuple(rolls), tuple(moves), outcome, reason))
            place = end
        return found
