"""Opening books made by the program itself, and corrected by the games that it plays.

`build_book` expands the leaves that drop-out expansion names (`search.lookups.opening_book`); every
new position is searched by itself, so that the book is the same whoever does the searches, and how
many at a time. `learn_games` goes on where games have left the book (Buro, Toward opening book
learning, 1999: what follows a move of a game, and what could have been played instead, is added).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from games.contract import Game
from games.record import GameRecord
from play.crew import Crew
from play.players.limits import Limits
from play.players.player import Player
from play.workers import Workers
from search import Engine, as_techniques
from search.evaluators.samples import value_mark
from search.lookups.opening_book import OpeningBook

__all__ = ["LeafSearch", "build_book", "learn_games"]

#: Positions that a book may hold.
MOST_POSITIONS = 1 << 24


class LeafSearch(Crew[tuple[Engine]]):
    """What searches the leaves of a book: a player with limits, for `Workers.map`.

    Each search is as in a new engine. Raises ValueError for a player without an evaluator, for one
    whose wins are not proved (a book looks at nothing behind them), and for one that searches on
    several threads, which find something else each time; leaves are searched side by side instead.
    """

    def __init__(self, game: Game, player: Player, limits: Limits, table_mib: float = 16.0) -> None:
        super().__init__(game, player, limits, table_mib)
        if player.evaluator is None:
            raise ValueError(f"expected a player with an evaluator, found {player.name}")
        threads = player.options.get("threads", 1)
        if threads != 1:
            raise ValueError(f"threads: expected 1 in a book, found {threads}")
        techniques = as_techniques(player.options.get("techniques"))
        if not techniques.proves:
            raise ValueError(
                f"expected a player whose techniques prove wins, found {player.name} ({techniques})"
            )
        if player.limits is not None:
            raise ValueError(f"expected a player with the limits of the book, found {player.name}")
        limits.check(game)
        self.game = game
        self.player = player
        #: those of the search, spelt out, in the settings of a book
        self.techniques = str(techniques)
        self.limits = limits
        self._table_mib = table_mib

    def mark(self) -> str:
        """What stands for the evaluator's values in the settings of a book."""
        return value_mark(self.game, self.player.evaluator)

    def __call__(self, position: Any) -> tuple[float, int]:
        """Value and depth of a position; KeyboardInterrupt where the search was stopped."""
        limits = self.limits
        with self.seats() as (engine,):
            engine.clear()
            result = engine.search(
                position, depth=limits.depth, nodes=limits.nodes, seconds=limits.seconds
            )
        if result.interrupted or self.stopped.is_set():
            raise KeyboardInterrupt
        return result.value, result.depth

    def new_seats(self) -> tuple[Engine]:
        """An engine of a thread's own."""
        player = self.player
        options = {"table_mib": self._table_mib, **player.options}
        return (Engine(self.game, player.evaluator, lookup=player.lookup, **options),)


def build_book(
    book: OpeningBook,
    search: Callable[[Any], tuple[float, int]],
    expansions: int,
    *,
    workers: Workers,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Expand leaves until at least so many more are, or none is open; returns how many were.

    `search` gives (value, depth) of a position, such as a `LeafSearch`. Leaves are chosen
    `settings.batch` at a time, and a batch is finished, so that a book that is stopped and goes on
    comes to be the same. Whenever `progress` is called, with how many were expanded since, the book
    is whole. So it is after an exception, with which the batch under way is lost: KeyboardInterrupt
    when stopped, and what the search raised.
    """
    if expansions < 0:
        raise ValueError(f"expansions: expected at least 0, found {expansions}")
    done = 0
    while done < expansions and len(book) < MOST_POSITIONS:
        leaves = book.next_leaves(book.settings.batch)
        if not leaves:
            break
        _expand(book, search, leaves, workers)
        done += len(leaves)
        if progress is not None:
            progress(len(leaves))
    return done


def _expand(
    book: OpeningBook,
    search: Callable[[Any], tuple[float, int]],
    leaves: Sequence[int],
    workers: Workers,
) -> None:
    """Expand leaves: all, or none where it is interrupted or a search raises."""
    unknown = list(dict.fromkeys(after for number in leaves for after in book.unknown(number)))
    found = dict(zip(unknown, workers.map(search, unknown), strict=True))
    before = len(book.expanded), len(book)
    try:
        for number in leaves:
            book.expand(number, found)
        book.settle()
    except BaseException:  # Ctrl-C among others
        book.take_back(*before)
        raise


def learn_games(
    book: OpeningBook,
    search: Callable[[Any], tuple[float, int]],
    records: Iterable[GameRecord],
    *,
    workers: Workers,
    plies: int = 6,
    margin: float = 0.5,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Expand the book along games that left it; returns how many positions were expanded.

    The position in which a game left the book, a leaf, is expanded. So are those behind it, up to
    `plies` of them, as long as the game's result says something else than the book now does: that
    a side lost, drew or won where its value was not below -margin, between, or above margin. What
    is backed up from there corrects the moves that led there. Games that do not come through the
    book's root teach nothing, and those without a result one position. Raises ValueError for games
    of another game, and as `build_book`; `progress` is called after each game.
    """
    if plies < 1:
        raise ValueError(f"plies: expected at least 1, found {plies}")
    if not margin >= 0:
        raise ValueError(f"margin: expected at least 0, found {margin}")
    total = 0
    for record in records:
        if record.game.name != book.game.name:
            raise ValueError(f"expected games of {book.game.name}, found {record.game.name}")
        done = 0
        # the position in which the game ended has nothing behind it that was played
        for ply, position in enumerate(record.positions[:-1]):
            number = book.number(position)
            if number is None or book.successors[number] is not None:
                continue
            if not book.is_open(number) or done == plies:
                break
            _expand(book, search, [number], workers)
            done += 1
            if not _surprising(record, ply, book.worth[number], margin):
                break
        total += done
        if progress is not None:
            progress(done)
    return total


def _surprising(record: GameRecord, ply: int, value: float, margin: float) -> bool:
    """Whether a game ended otherwise than the value of the position at `ply` says."""
    outcome = record.outcome()
    if outcome is None:
        return False
    first = record.game.to_move(record.start)
    result = outcome if (first + ply) % 2 == 0 else -outcome
    return (result > 0) != (value > margin) or (result < 0) != (value < -margin)
