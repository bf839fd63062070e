"""The exact value of every position of Connect Four, by search to the end of the game.

A score follows Pons's convention: k if the side to move wins with k of its own stones left to play
(22 minus those that it has played by then), -k if it loses so, 0 for a draw.

Sources: P. Pons, "Solving Connect 4: how to build a perfect AI" (2015), for alpha-beta with null
windows over bitboards, in which moves that make more threats come first and moves that lose at once
are left out; J. Schaeffer and A. Plaat, "New Advances in Alpha-Beta Searching" (1996), for looking
every move up in the table before one is searched. The game was solved by J. D. Allen and by
V. Allis in 1988.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from games.connect_four.features import completing
from games.connect_four.rules import (
    ALL,
    BOTTOM,
    COLUMNS,
    ROWS,
    Position,
    has_four,
    legal_moves,
    play,
)
from games.connect_four.zugzwang import EVEN_ROWS, ODD_ROWS, UNKNOWN, proven
from games.kernels import kernel, popcount, product
from games.kernels.bits import native
from games.kernels.memory import prefetch

__all__ = [
    "BOOK",
    "FILE",
    "SPREAD",
    "SQUARES",
    "Solver",
    "bounds_of",
    "entry_of",
    "key_of",
    "known_bounds",
    "plies_left",
    "score_of",
    "search",
]

SQUARES = COLUMNS * ROWS
#: An entry of the table: 49 bits of a key, then two bounds of its score, each plus 32.
LOW, HIGH = 49, 55
KEY = (1 << LOW) - 1
EVEN = 32
#: Positions of at most this many stones are kept apart, where later ones cannot displace them.
BOOK = 12
#: Bounds of scores of such positions, which took minutes; `benchmarks.solver --book` adds to them.
FILE = Path(__file__).parents[2] / "data" / "connect_four" / "openings.bounds.safetensors"
#: More positions than any search looks at.
ENDLESS = 1 << 56
#: Spreads keys over the table: 2**64 divided by the golden ratio, as a signed number.
SPREAD = -7046029254386353131


@kernel(signature="int64(int64)")
def _mirrored(key):
    """Returns a board of columns in the opposite order."""
    mirrored = 0
    for column in range(7):
        mirrored = mirrored << 7 | (key >> 7 * column & 127)
    return mirrored


@kernel(signature="int64(int64, int64)")
def key_of(own, stones):
    """Returns a number that a position shares only with its mirror image."""
    key = own + stones + BOTTOM
    return min(key, _mirrored(key))


@kernel(signature="int64(int64, int64, int64, int64)")
def _key_after(key, mirrored, move, column):
    """Returns the key with one stone more; key, mirrored: the sums of `key_of` without it."""
    return min(key + move, mirrored + (move >> 7 * column << 7 * (6 - column)))


@kernel(signature="int64(int64, int64[::1])")
def _place(key, table):
    """Returns where in the table the two entries are that a key may have."""
    return (product(int(key), SPREAD) >> 36) & (len(table) - 2)


def _expect(key, table):
    """Prefetch the entry of a key that will soon be looked up."""


@native(_expect)
def _compiled_expect(key, table):
    return prefetch(table.ctypes.data, _place(key, table))


@kernel(signature="int64(int64, int64[::1])")
def _probe(key, table):
    """Returns the entry of a key; 0 if the table has none."""
    first = _place(key, table)
    if table[first] & KEY == key:
        return table[first]
    if table[first + 1] & KEY == key:
        return table[first + 1]
    return 0


@kernel(signature="void(int64, int64, int64, int64[::1])")
def _store(key, low, high, table):
    """Keep the bounds of a score in the first of two entries, and what it held in the second."""
    first = _place(key, table)
    if table[first] & KEY != key:
        table[first + 1] = table[first]
    table[first] = key | (low + EVEN) << LOW | (high + EVEN) << HIGH


@kernel
def bounds_of(entry):
    """Returns the bounds of a score in an entry."""
    return (entry >> LOW & 63) - EVEN, (entry >> HIGH & 63) - EVEN


@kernel(signature="void(int64[::1], int64[::1])")
def _enter(entries, table):
    """Store entries in a table."""
    for entry in entries:
        low, high = bounds_of(entry)
        _store(entry & KEY, low, high, table)


@kernel
def score_of(found):
    """Returns the bound in what a search returned."""
    return (found & 63) - EVEN


@kernel(signature="int64(int64, int64, int64, int64, int64[::1], int64[::1], int64[::1])")
def search(own, opponent, beta, left, table, book, stop):
    """Returns a lower bound of the score if that is at least `beta`, else an upper bound.

    The side to move must have no move that completes a four. left: the number of positions that may
    be searched. table, book: entries, a power of two; the book has those of at most `BOOK` stones.
    stop: [1], anything but 0 to end the search.

    The bound is `score_of` of what is returned, and what is left of `left` stands above it; -1 if
    the search ended before it knew.
    """
    left -= 1
    if left < 0 or stop[0] != 0:
        return -1
    stones = own | opponent
    count = popcount(stones)
    reached = (stones + BOTTOM) & ALL
    against = completing((opponent, own, 0))
    forced = reached & against
    if forced:
        reached = forced if forced & forced - 1 == 0 else 0
    reached &= ~(against >> 1)  # a stone below a four of the other side's lets it be completed
    if reached == 0:
        return left << 6 | EVEN - (42 - count) // 2
    if count >= 40:
        return left << 6 | EVEN
    low, high = -((40 - count) // 2), (41 - count) // 2
    key = key_of(own, stones)
    own_table = book if count <= BOOK else table
    next_table = book if count < BOOK else table
    entry = _probe(key, own_table)
    if entry:
        low, high = bounds_of(entry)
    if low >= beta:
        return left << 6 | low + EVEN
    if high < beta:
        return left << 6 | high + EVEN
    before_move = opponent + stones + BOTTOM
    mirrored = _mirrored(before_move)
    rows = EVEN_ROWS if count & 1 else ODD_ROWS
    if count < 36:  # while the entries of all moves come from memory, the moves are sorted
        for column in range(7):
            move = reached & 63 << 7 * column
            if move:
                _expect(_key_after(before_move, mirrored, move, column), next_table)
    best = -SQUARES
    kept = 0
    order = 0  # eight bits for each move: its column, and above it what it is sorted by
    for column in (3, 2, 4, 1, 5, 0, 6):
        move = reached & 63 << 7 * column
        if move:
            fours = completing((own | move, opponent, 0))
            known = proven(opponent, own | move, against & ~move, fours, 1 - beta)
            if known != UNKNOWN:
                if -known >= beta:
                    return left << 6 | EVEN - known
                best = max(best, -known)
                reached ^= move
                continue
            # sorted by the squares that complete a four afterwards, those of one's own rows first
            scored = 2 * popcount(fours) + popcount(fours & rows) << 3 | column
            place = 8 * kept
            while place > 0 and order >> place - 5 & 31 < scored >> 3:
                place -= 8
            before = order & (1 << place) - 1
            order = before | scored << place | order >> place << place + 8
            kept += 1
    if count < 36:
        for column in range(7):
            move = reached & 63 << 7 * column
            if move:
                entry = _probe(_key_after(before_move, mirrored, move, column), next_table)
                if entry and EVEN - (entry >> HIGH & 63) >= beta:
                    return left << 6 | 2 * EVEN - (entry >> HIGH & 63)
    for _ in range(kept):
        move = reached & 63 << 7 * (order & 7)
        order >>= 8
        found = search(opponent, own | move, 1 - beta, left, table, book, stop)
        if found < 0:
            return found
        left = found >> 6
        best = max(best, -score_of(found))
        if best >= beta:
            break
    if best >= beta:
        _store(key, best, high, own_table)
    else:
        _store(key, low, best, own_table)
    return left << 6 | best + EVEN


@kernel(
    signature="int64(int64, int64, int64, int64, int64[::1], int64[::1], int64[::1], int64[::1])"
)
def _solve(own, opponent, low, high, table, book, nodes, stop):
    """Returns the score by null windows; a number beyond `low` or `high` if the score is.

    nodes: [1], to which the number of positions that were searched is added.

    The windows close in on 0 last: one far from 0 asks only about quick wins, which is cheaper. A
    search that is stopped leaves no meaning in the result.
    """
    count = popcount(own | opponent)
    if own | opponent == ALL:
        return 0
    if completing((own, opponent, 0)) & ((own | opponent) + BOTTOM):
        return (43 - count) // 2
    low, high = max(low, -((42 - count) // 2)), min(high, (41 - count) // 2)
    while low < high:
        middle = low + (high - low) // 2
        if low < 0 < high:
            middle = 0
        elif low < 0 == high:
            middle = -1
        elif middle <= 0 and low // 2 < middle:
            middle = low // 2
        elif middle >= 0 and high // 2 > middle:
            middle = high // 2
        found = search(own, opponent, middle + 1, ENDLESS, table, book, stop)
        if found < 0:
            break
        nodes[0] += ENDLESS - (found >> 6)
        if score_of(found) > middle:
            low = score_of(found)
        else:
            high = score_of(found)
    return low


def entry_of(position: Position, low: int, high: int) -> int:
    """Returns the entry of a position whose score has these bounds."""
    own, opponent, _ = position
    return int(key_of(own, own | opponent)) | low + EVEN << LOW | high + EVEN << HIGH


@functools.cache
def known_bounds(name: str = "entries") -> NDArray[np.int64]:
    """Returns the shipped entries, in ascending order.

    name: "entries" for those of at most `BOOK` stones, "later" for the others.
    """
    entries: NDArray[np.int64] = safetensors.numpy.load_file(FILE)[name]
    return entries


@kernel
def plies_left(stones, score):
    """Returns the number of plies until the game ends, if both sides play for their score.

    stones: number of stones on the board.
    """
    if score == 0:
        return 42 - stones
    # the winner's last stone is its (22 - |score|)th, one ply after as many of the other side
    return 2 * (22 - abs(score)) - stones - ((stones % 2 == 0) == (score > 0))


class Solver:
    """Exact values of positions; one thread at a time.

    table_mib: size of the table in MiB, rounded down to a power of two; that of positions of at
        most `BOOK` stones beside it has a sixteenth of it, and at least 4 MiB.
    book: bounds of positions of at most `BOOK` stones to begin with, as `bounds` returns them
        (None: the shipped ones).

    `nodes` counts the positions that were searched. The table stays from one position to the next,
    which `clear` empties but for the book. The score of a position of 14 stones takes about five
    milliseconds, who wins there one. The book has who wins in each position of eight stones; the
    score of one of few stones may take more than a minute.

    Raises ValueError if `table_mib` is not positive.
    """

    #: The numbers of stones of positions that are solved in a moment.
    plies = (14, 30)
    unit = "stones of Pons's score"

    def __init__(self, *, table_mib: float = 32.0, book: Any = None) -> None:
        if not table_mib > 0:
            raise ValueError(f"table_mib: expected more than 0, found {table_mib}")
        entries = max(2, int(table_mib * (1 << 17)))
        self._table = np.zeros(1 << entries.bit_length() - 1, dtype=np.int64)
        self._known = known_bounds() if book is None else np.array(book, dtype=np.int64)
        self._book = np.zeros(max(1 << 19, len(self._table) >> 4), dtype=np.int64)
        self._nodes, self._stop = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        _enter(self._known, self._book)

    @property
    def nodes(self) -> int:
        """Number of positions searched so far."""
        return int(self._nodes[0])

    def clear(self) -> None:
        """Forget all positions but those of the book, and count nodes from 0 again."""
        self._table[:] = 0
        self._book[:] = 0
        _enter(self._known, self._book)
        self._nodes[0] = 0

    def bounds(self) -> NDArray[np.int64]:
        """Returns the entries of positions of at most `BOOK` stones, in ascending order."""
        return np.sort(self._book[self._book != 0])

    def stop(self) -> None:
        """End the search under way, which then raises KeyboardInterrupt; callable by any thread."""
        self._stop[0] = 1

    def value(self, position: Position, low: int = -SQUARES, high: int = SQUARES) -> int:
        """Returns the score of a position for its side to move.

        low, high: scores beyond these are returned as `low` and `high`; -1 and 1 ask only who wins,
            which takes less time.
        """
        own, opponent, _ = position
        count = (own | opponent).bit_count()
        if has_four(opponent):
            found = -((44 - count) // 2)
        else:
            buffers = (self._table, self._book, self._nodes, self._stop)
            found = int(_solve(own, opponent, low, high, *buffers))
        if self._stop[0]:
            raise KeyboardInterrupt
        return min(high, max(low, found))

    def values(self, position: Position) -> dict[int, int]:
        """Returns the score of each legal move for the side to move; empty after the end."""
        return {move: -self.value(after) for move, after in _moves(position)}

    def best(self, position: Position) -> list[int]:
        """As in `games.truth.Truth`; other moves are only proven worse, which takes less time."""
        moves = _moves(position)
        score = self.value(position) if moves else 0
        return [m for m, after in moves if self.value(after, -score, 1 - score) == -score]

    def known(self) -> NDArray[np.int64]:
        """As in `games.truth.Truth`; of each two mirror images of at most `BOOK` stones one."""
        entries = self.bounds()
        low, high = (entries >> LOW & 63) - EVEN, (entries >> HIGH & 63) - EVEN
        proved = (low > 0) | (high < 0) | (low == high)
        own, stones = _stones_of(entries[proved] & KEY)
        side = np.bitwise_count(stones) & 1
        return np.stack([own, stones ^ own, side, np.sign(low + high)[proved]], axis=1)

    def classes(self, position: Position) -> dict[int, int]:
        """As in `games.truth.Truth`."""
        return {move: -self.value(after, -1, 1) for move, after in _moves(position)}


def _stones_of(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns own stones and all stones of positions that have these keys."""
    own, stones = np.zeros_like(keys), np.zeros_like(keys)
    for column in range(0, 7 * COLUMNS, 7):
        height = keys >> column & 127
        for above in (1, 2, 4):
            height |= height >> above
        stones |= height >> 1 << column
        own |= ((keys >> column & 127) ^ (height + 1 >> 1)) << column
    return own, stones


def _moves(position: Position) -> list[tuple[int, Position]]:
    """Returns the legal moves and the positions after them."""
    moves = np.zeros(COLUMNS, dtype=np.int64)
    legal = moves[: legal_moves(position, moves)].tolist()
    return [(move, _after(position, move)) for move in legal]


def _after(position: Position, move: int) -> Position:
    own, opponent, side = play(position, move)
    return int(own), int(opponent), int(side)
