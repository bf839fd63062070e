"""Games with dice, played by native code at static values, whole blocks of pairs in one call.

They are the games that `play.matches.loop` plays turn by turn with seats in Python; the tests
compare the two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame, starts
from games.kernels import NativeRecord, kernel
from games.kernels.memory import load_int, store_int
from games.record import Annotation, GameRecord
from play.dice import OTHER, Dice
from search import Evaluator, Lookup
from search.expectiminimax.turn import NativeTurn, copy_position, over, play_turn

__all__ = ["MOST_TURNS", "REASONS", "DiceLoop"]

#: Longer games are undecided, with 0 points, because weak players can keep each other on the bar.
MOST_TURNS = 4000
#: The log's room for games and turns.
MOST_GAMES = 256
LOG_TURNS = 16 * MOST_TURNS

#: The ways in which a game ends.
REASONS = ("stopped", "end of the game", "most turns")
STOPPED, ENDED, TOO_LONG = range(3)

LOG = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: for each pair the start position, the side to move in it, whether it is an
            # opening, and the stream of random numbers; positions, game after game, one more than
            # turns; for each turn the move and the roll; for each game its length and the way it
            # ended
            "starts sides openings streams positions moves rolls plies reasons"
            # the work: the longest game, room of the log in turns, number of pairs, and whether
            # both players choose at random
            " most_turns room pairs random"
            # what was played
            " games turns"
        ).split()
    ]
)


@kernel
def _play_game(log, turn, first, second, pair):
    """Play the game of a pair that `first` begins, with the present random numbers, and log it."""
    step = 8 * turn.width
    source = log.positions + step * (log.turns + log.games)
    copy_position(turn, log.starts + step * pair, source)
    opening = load_int(log.openings, pair)
    ply = 0
    reason = ENDED
    while not over(turn, source):
        if turn.stop != 0:
            reason = STOPPED
            break
        if ply >= log.most_turns:
            reason = TOO_LONG
            break
        if ply % 2 == 0:
            play_turn(turn, first, source, source + step, ply + opening, 2)
            move = first.move
        else:
            play_turn(turn, second, source, source + step, ply + opening, 2)
            move = second.move
        store_int(log.moves, log.turns + ply, move)
        store_int(log.rolls, log.turns + ply, turn.roll)
        source += step
        ply += 1
    store_int(log.plies, log.games, ply)
    store_int(log.reasons, log.games, reason)
    log.games += 1
    log.turns += ply


@kernel
def _play_pairs(log, turn, first, second):
    """Play a pair for each of the streams, as far as the log has room."""
    log.games = 0
    log.turns = 0
    for pair in range(log.pairs):
        if log.turns + 2 * log.most_turns > log.room or log.games + 2 > MOST_GAMES:
            break
        if turn.stop != 0:
            break
        for game in range(2):
            turn.state = load_int(log.streams, pair)
            turn.other = OTHER if log.random and game == 1 else 0
            if game == load_int(log.sides, pair):
                _play_game(log, turn, first, second, pair)
            else:
                _play_game(log, turn, second, first, pair)


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
        if most_turns < 1:
            raise ValueError(f"most_turns: expected at least 1, found {most_turns}")
        self.game = game
        self._turn = NativeTurn(game)
        self._players = [self._turn.replies(*player) for player in (first, second)]
        self._dice = Dice(game, seed)
        self._log = NativeRecord(LOG)
        room = max(LOG_TURNS, 2 * most_turns)
        self._log.pin(
            positions=np.zeros((room + MOST_GAMES, len(game.start())), dtype=np.int64),
            moves=np.zeros(room, dtype=np.int64),
            rolls=np.zeros(room, dtype=np.int64),
            plies=np.zeros(MOST_GAMES, dtype=np.int64),
            reasons=np.zeros(MOST_GAMES, dtype=np.int64),
        )
        random = first[0] is None and second[0] is None
        self._log.put(most_turns=most_turns, room=room, random=int(random))
        self._begin([game.start()])
        self.stopped = False

    def stop(self) -> None:
        """End the game under way, and refuse to begin another; callable from any thread."""
        self.stopped = True
        self._turn.put(stop=1)

    def _begin(self, positions: list[Any]) -> None:
        """Let each pair begin with its position."""
        game = self.game
        self._log.pin(
            starts=np.array(positions, dtype=np.int64),
            sides=np.array([game.to_move(one) for one in positions], dtype=np.int64),
            openings=np.array([one not in starts(game) for one in positions], dtype=np.int64),
        )

    def play(
        self, first_pair: int, pairs: int, openings: Sequence[Any] = ()
    ) -> Iterator[tuple[GameRecord, GameRecord]]:
        """Play pairs by their numbers; ends early, after whole pairs, once it is stopped.

        openings: the position with which each pair begins. Default: the start of the game.

        In the first game of each pair the first player has side 0, in the second the other.
        """
        turn, log, done = self._turn, self._log, 0
        begun = list(openings) or [self.game.start()] * pairs
        first, second = self._players
        while done < pairs and not self.stopped:
            numbers = range(first_pair + done, first_pair + min(pairs, done + MOST_GAMES // 2))
            streams = [self._dice.stream(pair) for pair in numbers]
            log.pin(streams=np.array(streams, dtype=np.int64))
            self._begin(begun[done : done + len(streams)])
            log.put(pairs=len(streams))
            turn.put(stop=int(self.stopped))
            _play_pairs(log.row, turn.row, first.row, second.row)
            turn.check()
            played = 0
            for number in range(0, log.games, 2):
                if STOPPED in log.pinned["reasons"][number : number + 2]:
                    return
                one = self._record(number, played)
                other = self._record(number + 1, played + one.ply)
                played += one.ply + other.ply
                yield one, other
            done += log.games // 2

    def play_one(self, state: int) -> tuple[NDArray[np.int64], list[int], list[int]]:
        """Play a game that the first player begins, with the random numbers of a stream.

        Returns (positions [plies + 1, integers], moves, rolls).
        """
        turn, log = self._turn, self._log
        first, second = self._players
        self._begin([self.game.start()])
        log.put(games=0, turns=0)
        turn.put(state=state, other=0, stop=int(self.stopped))
        _play_game(log.row, turn.row, first.row, second.row, 0)
        turn.check()
        positions, moves, rolls = self._game(0, 0, log.turns)
        return positions.copy(), moves.tolist(), rolls.tolist()

    def _game(self, number: int, turns: int, plies: int) -> tuple[NDArray[np.int64], ...]:
        """Positions, moves and rolls of a logged game; `turns` were played before it."""
        log = self._log.pinned
        positions = log["positions"][turns + number : turns + number + plies + 1]
        return positions, log["moves"][turns : turns + plies], log["rolls"][turns : turns + plies]

    def _record(self, number: int, turns: int) -> GameRecord:
        """Returns a logged game; `turns` were played before it."""
        log = self._log.pinned
        plies = int(log["plies"][number])
        positions, moves, rolls = self._game(number, turns, plies)
        record = GameRecord.of_legal(
            self.game,
            positions.copy(),
            moves.tolist(),
            [Annotation()] * plies,
            rolls=rolls.tolist(),
            repetitions=None,
            quiet_moves=None,
        )
        if log["reasons"][number] != ENDED:
            record.declare(0.0, REASONS[log["reasons"][number]])
        return record
