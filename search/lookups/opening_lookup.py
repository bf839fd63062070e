"""Opening books as lookups."""

from __future__ import annotations

from typing import Any

import numpy as np

from games.contract import Game
from games.kernels import kernel
from games.values import EXACT
from search.lookups.lookup import Lookup
from search.lookups.opening_book import OpeningBook
from search.slots import find, place_all, standard_key

__all__ = ["BookLookup"]


class BookLookup(Lookup):
    """The positions of an opening book with their backed-up values and depths, all exact.

    It is a copy of the book as it is now; later changes of the book have no effect on it.
    """

    def __init__(self, book: OpeningBook) -> None:
        self.book = book
        if book.game.rules is None:
            super().__init__(_plain_probe(book))
            return
        key_of, probe = _kernels(book.game)
        slots = 1024
        while slots < 4 * len(book):
            slots *= 2
        keys = np.zeros(slots, dtype=np.int64)
        values = np.zeros(slots, dtype=np.float64)
        depths = np.zeros(slots, dtype=np.int64)
        own = np.array([key_of(position) for position in book.positions], dtype=np.int64)
        places = np.zeros(len(book), dtype=np.int64)
        place_all(keys, slots - 1, own, places)
        values[places], depths[places] = book.backed_up, book.backed_up_depths
        super().__init__(probe, (keys, values, depths))

    def __reduce__(self) -> tuple[Any, ...]:
        return BookLookup, (self.book,)


def _plain_probe(book: OpeningBook) -> Any:
    def probe(tables: Any, position: Any) -> tuple[bool, float, int, int]:
        number = book.number(position)
        if number is None:
            return (False, 0.0, 0, EXACT)
        return (True, book.backed_up[number], book.backed_up_depths[number], EXACT)

    return probe


def _kernels(game: Game) -> tuple[Any, Any]:
    """Returns the kernels `key(position)` and `probe(tables, position)` for a game."""
    if game.rules is None:
        raise TypeError(f"{game.name}: expected a game written as kernels")
    key = standard_key(game.rules)

    @kernel
    def probe(tables, position):
        keys, values, depths = tables
        slot = find(keys, len(keys) - 1, key(position))
        if keys[slot] == 0:
            return (False, 0.0, 0, EXACT)
        return (True, values[slot], depths[slot], EXACT)

    return key, probe
