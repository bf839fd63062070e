"""Games with dice, played by native code at static values, whole blocks of pairs in one call.

The games are those that `play.match.dice_match` plays turn by turn with seats in Python; the tests
compare the two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from games.contract import DiceGame
from games.kernels import NativeRecord, kernel
from games.kernels.memory import load_int, store_float, store_int
from play.dice import Dice
from play.match.dice_record import DiceRecord
from search import Evaluator, Lookup
from search.expectiminimax.turn import NativeTurn, copy_position, over, play_turn

__all__ = ["MOST_TURNS", "REASONS", "DiceLoop"]

#: Longer games count as undecided, with 0 points: two weak players can keep each other on the bar.
MOST_TURNS = 4000
#: The log's room for games and turns.
MOST_GAMES = 256
LOG_TURNS = 16 * MOST_TURNS

#: How a game ended.
REASONS = ("stopped", "end of the game", "most turns")
STOPPED, ENDED, TOO_LONG = range(3)

LOG = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: the start position; the stream of random numbers of each pair; for each
            # turn the move and the roll; for each game its length, how it ended and its outcome
            "start streams moves rolls plies reasons outcomes"
            # how much to play: the longest game, turns that the log has room for, pairs
            " most_turns room pairs"
            # what was played
            " games turns"
        ).split()
    ]
)


@kernel
def _play_game(log, turn, first, second):
    """Play the game that `first` begins, from the position `here`, and log it."""
    here = turn.here
    ply = 0
    reason = ENDED
    while not over(turn, here):
        if turn.stop != 0:
            reason = STOPPED
            break
        if ply >= log.most_turns:
            reason = TOO_LONG
            break
        if ply % 2 == 0:
            play_turn(turn, first, here, here, ply, 2)
            move = first.move
        else:
            play_turn(turn, second, here, here, ply, 2)
            move = second.move
        store_int(log.moves, log.turns + ply, move)
        store_int(log.rolls, log.turns + ply, turn.roll)
        ply += 1
    outcome = 0.0
    if reason == ENDED:
        outcome = turn.outcome if ply % 2 == 0 else -turn.outcome
    store_int(log.plies, log.games, ply)
    store_int(log.reasons, log.games, reason)
    store_float(log.outcomes, log.games, outcome + 0.0)
    log.games += 1
    log.turns += ply


@kernel
def _play_pairs(log, turn, first, second):
    """Play a pair for each of the streams, or as many as the log has room for."""
    log.games = 0
    log.turns = 0
    for pair in range(log.pairs):
        if log.turns + 2 * log.most_turns > log.room or log.games + 2 > MOST_GAMES:
            break
        if turn.stop != 0:
            break
        for game in range(2):
            copy_position(turn, log.start, turn.here)
            turn.state = load_int(log.streams, pair)
            if game == 0:
                _play_game(log, turn, first, second)
            else:
                _play_game(log, turn, second, first)


class DiceLoop:
    """Two players at static values, and the memory for their games.

    first, second: evaluator and lookup of each player; one without an evaluator plays at random.
    seed: decides the dice, see `Dice`.
    most_turns: the longest game; longer ones are undecided.

    Not to be used by two threads at once.
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
        self._turn = NativeTurn(game)
        self._players = [self._turn.replies(*player) for player in (first, second)]
        self._dice = Dice(game, seed)
        self._log = NativeRecord(LOG)
        self._log.pin(
            start=np.array(game.start(), dtype=np.int64),
            moves=np.zeros(LOG_TURNS, dtype=np.int64),
            rolls=np.zeros(LOG_TURNS, dtype=np.int64),
            plies=np.zeros(MOST_GAMES, dtype=np.int64),
            reasons=np.zeros(MOST_GAMES, dtype=np.int64),
            outcomes=np.zeros(MOST_GAMES),
        )
        self._log.put(most_turns=most_turns, room=LOG_TURNS)
        self.stopped = False

    def stop(self) -> None:
        """End the game under way, and refuse to begin another; callable from any thread."""
        self.stopped = True
        self._turn.put(stop=1)

    def play(self, first_pair: int, pairs: int) -> Iterator[tuple[DiceRecord, DiceRecord]]:
        """Play pairs by their numbers; ends early, after whole pairs, once it is stopped.

        In the first game of each the first player begins, in the second the other.
        """
        turn, log, done = self._turn, self._log, 0
        first, second = self._players
        while done < pairs and not self.stopped:
            numbers = range(first_pair + done, first_pair + min(pairs, done + MOST_GAMES // 2))
            streams = [self._dice.stream(pair) for pair in numbers]
            log.pin(streams=np.array(streams, dtype=np.int64))
            log.put(pairs=len(streams))
            turn.put(stop=int(self.stopped))
            _play_pairs(log.row, turn.row, first.row, second.row)
            turn.check()
            played = log.games // 2
            records = self._records(2 * played)
            for pair in range(played):
                if any(
                    game.reason == REASONS[STOPPED] for game in records[2 * pair : 2 * pair + 2]
                ):
                    return
                yield records[2 * pair], records[2 * pair + 1]
            done += played

    def _records(self, games: int) -> list[DiceRecord]:
        log = self._log.pinned
        records, place = [], 0
        for i in range(games):
            end = place + int(log["plies"][i])
            moves, rolls = (tuple(log[name][place:end].tolist()) for name in ("moves", "rolls"))
            outcome, reason = float(log["outcomes"][i]), REASONS[log["reasons"][i]]
            records.append(DiceRecord(self.game, rolls, moves, outcome, reason))
            place = end
        return records
