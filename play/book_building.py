"""Opening books made by the program itself.

`build_book` expands the leaves that drop-out expansion names (`search.lookups.opening_book`). Every
new position is searched by itself, so the book depends neither on the backend nor on the number of
workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from games.contract import Game
from play.crew import Crew
from play.players.limits import Limits
from play.players.player import Player
from play.workers import Workers
from search import Engine, as_techniques
from search.evaluators.samples import value_mark
from search.lookups.opening_book import OpeningBook

__all__ = ["LeafSearch", "build_book"]

#: Positions that a book may hold.
MOST_POSITIONS = 1 << 24


class LeafSearch(Crew[tuple[Engine]]):
    """The search of a book's leaves by a player within limits, for `Workers.map`.

    Each search is as in a new engine.

    Raises ValueError for a player

    - without an evaluator,
    - with limits of its own,
    - or with several threads for one search, because such searches are not reproducible; leaves are
      searched side by side instead.
    """

    def __init__(self, game: Game, player: Player, limits: Limits, table_mib: float = 16.0) -> None:
        super().__init__(game, player, limits, table_mib)
        if player.evaluator is None:
            raise ValueError(f"expected a player with an evaluator, found {player.name}")
        threads = player.options.get("threads", 1)
        if threads != 1:
            raise ValueError(f"threads: expected 1 in a book, found {threads}")
        techniques = as_techniques(player.options.get("techniques"), game)
        if player.limits is not None:
            raise ValueError(f"expected a player with the limits of the book, found {player.name}")
        limits.check(game)
        self.game = game
        self.player = player
        #: the techniques of the search, spelt out, as in the settings of a book
        self.techniques = str(techniques)
        self.limits = limits
        self._table_mib = table_mib

    def mark(self) -> str:
        """Returns the mark of the evaluator's values in the settings of a book."""
        return value_mark(self.game, self.player.evaluator)

    def __call__(self, position: Any) -> tuple[float, int]:
        """Returns (value, depth) of a position; raises KeyboardInterrupt if it was stopped."""
        with self.seats() as (engine,):
            engine.clear()
            result = engine.search(position, **self.limits.options)
        if result.interrupted or self.stopped.is_set():
            raise KeyboardInterrupt
        return result.value, result.depth

    def new_seats(self) -> tuple[Engine]:
        """Returns an engine for one thread."""
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
    """Expand at least `expansions` more leaves, or all open ones; returns the number expanded.

    Leaves are chosen and expanded in batches of `settings.batch`, so that a book that is stopped
    and continued comes out the same.

    book: the book to grow.
    search: returns (value, depth) of a position, such as a `LeafSearch`.
    workers: run the searches.
    progress: called after each batch with the number of leaves expanded since the last call; the
        book is then consistent.

    An exception (KeyboardInterrupt when stopped, or an error of the search) loses the batch under
    way and leaves the book consistent. Raises ValueError if `expansions` is negative.
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
    """Expand all of these leaves, or none if a search raises or is interrupted."""
    unknown = list(dict.fromkeys(after for number in leaves for after in book.unknown(number)))
    values = dict(zip(unknown, workers.map(search, unknown), strict=True))
    before = len(book.expanded), len(book)
    try:
        for number in leaves:
            book.expand(number, values)
        book.settle()
    except BaseException:  # Ctrl-C among others
        book.take_back(*before)
        raise
