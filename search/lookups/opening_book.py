"""Opening books: positions with the values that searches and their successors gave them.

A book is a graph. Every position that was expanded leads to all of its successors, and its value
is the best of theirs; the others, the leaves, have the value of a search. Positions that are the
same by symmetry, or that different lines lead to, are one. `play.book_building` makes books; a
search asks them by `search.lookups.opening_lookup`.

Which leaf is expanded next is decided by drop-out expansion (Lincke, Strategies for the automatic
construction of opening books, 2000): the one whose line from the root is the shortest, where a
ply counts 1 and what a move is worse than the best one there counts `weight` times the difference.
Good lines so grow deep, and bad ones until they are seen to be bad.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from games.contract import DiceGame, Game
from games.values import PROVEN, WIN
from search.evaluators.array_files import load_arrays, save_arrays, take_array
from search.evaluators.header import EvaluatorError, check_fields, short
from search.evaluators.samples import value_mark
from search.evaluators.shipped import find_file

__all__ = ["DECIDED", "BookError", "BookSettings", "OpeningBook"]

FORMAT = "plysmith-book-1"
#: The depth of what no search can change: a finished game, or all lines to the end of games.
DECIDED = 1000


class BookError(ValueError):
    """A file that holds no opening book, or one that does not fit."""


@dataclass(frozen=True)
class BookSettings:
    """What decides, with the game, which book comes out; a file keeps it.

    player: who searches the leaves, as the text of a player of a match, and `mark` the values of
    its evaluator (`search.evaluators.samples.value_mark`), which may come to have another name.
    depth, nodes, seconds: the limits of a leaf. weight: what a move worse by 1 costs in plies, at
    least 0. plies: so many from the root are expanded whatever they are worth, and count nothing.
    batch: leaves expanded at a time. techniques: those of the player, spelt out, for what
    `selective` means may change.
    """

    player: str = ""
    mark: str = ""
    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    weight: float = 10.0
    plies: int = 0
    batch: int = 8
    techniques: str = ""

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1e9:
            raise ValueError(f"weight: expected 0 to 1e9, found {self.weight}")
        if not 0 <= self.plies <= 40:
            raise ValueError(f"plies: expected 0 to 40, found {self.plies}")
        if not 1 <= self.batch <= 1 << 16:
            raise ValueError(f"batch: expected 1 to {1 << 16}, found {self.batch}")


class OpeningBook:
    """The positions of a book, numbered in the order in which they came into it; 0 is the root.

    It begins with the root (the game's start unless given) as a leaf of value 0 that nobody has
    searched. `values` and `depths` hold what was found of each position as a leaf, `successors` the
    numbers of what an expanded one leads to and None for a leaf, `worth` and `worth_depths` values
    and depths backed up to each, which `settle` brings up to date. Values are for the side to move.

    Raises ValueError for a game with dice and for a root in which the game is over.
    """

    def __init__(
        self, game: Game, settings: BookSettings | None = None, *, root: Any = None
    ) -> None:
        if isinstance(game, DiceGame):
            raise ValueError(f"opening book: expected a game without dice, found {game.name}")
        self.game = game
        self.settings = settings or BookSettings()
        self.positions: list[Any] = []
        self.values: list[float] = []
        self.depths: list[int] = []
        self.successors: list[tuple[int, ...] | None] = []
        #: numbers of positions in the order in which they were expanded
        self.expanded: list[int] = []
        self.worth: list[float] = []
        self.worth_depths: list[int] = []
        self._numbers: dict[Any, int] = {}
        root = self.standard(game.start() if root is None else root)
        if game.outcome(root) is not None:
            raise ValueError(f"root: expected a position in which the game goes on, found {root}")
        self._add(root, 0.0, 0)
        self.settle()

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.expanded, self.values, self.depths
        return _restored, (self.game, self.settings, self.positions[0], *state)

    def __len__(self) -> int:
        """How many positions the book holds."""
        return len(self.positions)

    def standard(self, position: Any) -> Any:
        """The position that stands for all that are the same by symmetry."""
        rules = self.game.rules
        if rules is None or rules.standard is None:
            return position
        return tuple(int(x) for x in rules.standard(position))

    def number(self, position: Any) -> int | None:
        """The number of a position; None where the book does not hold it."""
        return self._numbers.get(self.standard(position))

    def is_open(self, number: int) -> bool:
        """Whether a position is a leaf in which the game is not decided."""
        return (
            self.successors[number] is None
            and self.depths[number] < DECIDED
            and abs(self.values[number]) <= PROVEN
        )

    # --- growing -----------------------------------------------------------------------------

    def unknown(self, number: int) -> list[Any]:
        """What a position leads to and the book does not hold: what has to be searched.

        Finished games are not among it, for they need no search.
        """
        following = dict.fromkeys(self._following(self.positions[number]))
        return [
            after
            for after in following
            if after not in self._numbers and self.game.outcome(after) is None
        ]

    def expand(self, number: int, found: Mapping[Any, tuple[float, int]]) -> None:
        """Make a leaf lead to all of its successors; `found` has (value, depth) of the unknown.

        What is backed up is old until `settle`. Raises ValueError for what is no open leaf, for a
        value that is none and a depth below 0, KeyError where `found` lacks a position.
        """
        if not self.is_open(number):
            raise ValueError(f"expected an open leaf, found position {number}")
        following = dict.fromkeys(self._following(self.positions[number]))
        new = {after: self._leaf(after, found) for after in following if after not in self._numbers}
        for after, (value, depth) in new.items():
            self._add(after, value, depth)
        self.expanded.append(number)
        self.successors[number] = tuple(self._numbers[after] for after in following)

    def take_back(self, expansions: int, positions: int) -> None:
        """Make the book what it was with so many expansions and positions, and settle it.

        For a book that was interrupted while it grew, and so may be in between.
        """
        for number in self.expanded[expansions:]:
            self.successors[number] = None
        for position in self.positions[positions:]:
            self._numbers.pop(position, None)
        columns = (self.positions, self.values, self.depths, self.successors)
        for column in columns:
            del column[positions:]
        del self.expanded[expansions:]
        self.settle()

    def _leaf(self, position: Any, found: Mapping[Any, tuple[float, int]]) -> tuple[float, int]:
        """Value and depth of a position that is new."""
        outcome = self.game.outcome(position)
        if outcome is not None:
            won = self.game.wins and outcome
            return math.copysign(WIN, outcome) if won else outcome, DECIDED
        value, depth = found[position]
        if not abs(value) <= WIN or not 0 <= depth <= DECIDED:
            raise ValueError(
                f"expected a value of -{WIN:g} to {WIN:g} and a depth of 0 to {DECIDED}, found"
                f" {value} and {depth}"
            )
        return value, depth

    def _following(self, position: Any) -> Iterable[Any]:
        for move in self.game.legal_moves(position):
            yield self.standard(self.game.play(position, move))

    def _add(self, position: Any, value: float, depth: int) -> None:
        self.positions.append(position)
        self.values.append(value + 0.0)
        self.depths.append(depth)
        self.successors.append(None)
        self._numbers[position] = len(self._numbers)

    def before(self, value: float) -> float:
        """What a move is worth that leads to a position of that value for the other side."""
        if self.game.wins and value > PROVEN:
            value -= 1.0
        elif self.game.wins and value < -PROVEN:
            value += 1.0
        return -value + 0.0

    def settle(self) -> None:
        """Back up values and depths from the leaves.

        A position is worth its best move, and its depth is a ply more than the least of its
        successors', at most `DECIDED`: as deep as it is sure that every line was looked at. Play
        that comes round for ever is worth 0. Values start from there and only improve for whoever
        can force more, so that the order in which positions are gone through does not matter.
        """
        worth = [
            0.0 if after is not None else value
            for after, value in zip(self.successors, self.values, strict=True)
        ]
        depths = [
            DECIDED if after is not None else depth
            for after, depth in zip(self.successors, self.depths, strict=True)
        ]
        changed = True
        while changed:
            changed = False
            for number in reversed(self.expanded):
                after = self.successors[number] or ()
                value = max(self.before(worth[i]) for i in after)
                depth = min(DECIDED, 1 + min(depths[i] for i in after))
                if value != worth[number] or depth != depths[number]:
                    worth[number], depths[number] = value, depth
                    changed = True
        self.worth, self.worth_depths = worth, depths

    # --- which leaf is next ------------------------------------------------------------------

    def priorities(self) -> dict[int, float]:
        """The priority of every open leaf by its number: the least is expanded first.

        It is the sum over the moves from the root of 1 + weight * (value of the best move - value
        of the move), along the way on which that is least; moves from positions less than
        `settings.plies` from the root count 0.
        """
        lengths = self.lengths()
        costs = {0: 0.0}
        queue = [(0.0, 0)]
        done: set[int] = set()
        while queue:
            cost, number = heapq.heappop(queue)
            if number in done:
                continue
            done.add(number)
            for after in self.successors[number] or ():
                drop = self.worth[number] - self.before(self.worth[after])
                step = (
                    0.0
                    if lengths[number] < self.settings.plies
                    else 1.0 + self.settings.weight * drop
                )
                if cost + step < costs.get(after, math.inf):
                    costs[after] = cost + step
                    heapq.heappush(queue, (cost + step, after))
        return {number: cost for number, cost in costs.items() if self.is_open(number)}

    def next_leaves(self, count: int) -> list[int]:
        """Up to so many open leaves of least priority; of equal ones the first to come in."""
        best = heapq.nsmallest(count, ((c, number) for number, c in self.priorities().items()))
        return [number for _, number in best]

    def lengths(self) -> list[int]:
        """How many plies each position is from the root at least."""
        lengths = {0: 0}
        queue = [0]
        for number in queue:
            for after in self.successors[number] or ():
                if after not in lengths:
                    lengths[after] = lengths[number] + 1
                    queue.append(after)
        return [lengths[number] for number in range(len(self))]

    # --- asking ------------------------------------------------------------------------------

    def moves(self, position: Any) -> list[tuple[Any, float, int]]:
        """(move, value, depth) of all legal moves, best first; none unless it was expanded.

        Depths are those of the positions that the moves lead to.
        """
        number = self.number(position)
        if number is None or self.successors[number] is None:
            return []
        rows = []
        for move in self.game.legal_moves(position):
            after = self._numbers[self.standard(self.game.play(position, move))]
            rows.append((move, self.before(self.worth[after]), self.worth_depths[after]))
        return sorted(rows, key=lambda row: -row[1])

    def line(self, position: Any) -> list[Any]:
        """The best moves from a position on, until they leave the book or come round."""
        played: list[Any] = []
        seen = set()
        while (rows := self.moves(position)) and self.number(position) not in seen:
            seen.add(self.number(position))
            played.append(rows[0][0])
            position = self.game.play(position, rows[0][0])
        return played

    def check_evaluator(self, evaluator: Any) -> None:
        """ValueError for an evaluator with other values than those the book was built with."""
        mark = value_mark(self.game, evaluator)
        if mark != self.settings.mark:
            raise ValueError(
                f"opening book: expected an evaluator with the values of {self.settings.player}"
                f" (mark {self.settings.mark}), found {evaluator.name} (mark {mark})"
            )

    # --- files -------------------------------------------------------------------------------

    def identity(self) -> str:
        """A few letters that stand for all positions, in their order."""
        return _digest(self.positions)

    def save(self, path: Any) -> None:
        """Write the book as safetensors, replacing the file as a whole; the same book, same bytes.

        It holds numbers of expanded positions in their order, and values and depths of all; which
        position has which number follows from the rules. Raises OSError where it cannot be written.
        """
        arrays = {
            "expanded": np.array(self.expanded, dtype=np.int32),
            "values": np.array(self.values, dtype=np.float64),
            "depths": np.array(self.depths, dtype=np.int16),
        }
        header = {
            "format": FORMAT,
            "game": self.game.name,
            "rules": self.game.version,
            "root": self.game.position_text(self.positions[0]),
            "identity": self.identity(),
            "checksum": _digest([self.expanded, self.values, self.depths]),
            "settings": asdict(self.settings),
        }
        save_arrays(path, header, arrays)

    @classmethod
    def load(cls, game: Game, path: Any) -> OpeningBook:
        """The book in a file, or a shipped one by its name, such as "checkers/book".

        Raises FileNotFoundError if there is no such file, BookError if it does not fit the game.
        """
        path = find_file(path, game.name)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: expected an opening book, found no file")
        try:
            content, arrays = load_arrays(path)
            if content.get("format") != FORMAT:
                found = short(content.get("format"))
                raise BookError(f"{path}: expected an opening book ({FORMAT}), found {found!r}")
            kinds = {
                "game": str, "rules": int, "root": str, "identity": str, "checksum": str,
                "settings": dict,
            }  # fmt: skip
            check_fields(path, content, kinds)
            expected, there = (game.name, game.version), (content["game"], content["rules"])
            if there != expected:
                raise BookError(
                    f"{path}: expected an opening book of {expected[0]}, rules {expected[1]}, found"
                    f" {short(there[0])}, rules {there[1]}"
                )
            columns = []
            for name, kind in (("expanded", "int32"), ("values", "float64"), ("depths", "int16")):
                size = (len(arrays.get(name, ())),)
                columns.append(take_array(path, arrays, name, np.dtype(kind), size).tolist())
            if arrays:
                raise BookError(f"{path}: expected no array but three, found {sorted(arrays)[:4]}")
        except EvaluatorError as error:
            raise BookError(str(error)) from None
        if _digest(columns) != content["checksum"]:
            raise BookError(
                f"{path}: expected an opening book with checksum {short(content['checksum'])},"
                f" found a damaged one ({_digest(columns)})"
            )
        try:
            root = game.parse_position(content["root"])
            book = _restored(game, _settings(content["settings"]), root, *columns)
        except (ValueError, TypeError, IndexError) as error:
            raise BookError(
                f"{path}: expected an opening book, found a damaged one: {short(error)}"
            ) from None
        if book.identity() != content["identity"]:
            raise BookError(
                f"{path}: expected the positions that the rules of {game.name} lead to (identity"
                f" {book.identity()}), found others ({short(content['identity'])})"
            )
        return book


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def _settings(content: dict[str, Any]) -> BookSettings:
    """Settings from a file; ValueError or TypeError where they are none."""
    settings = BookSettings(**content)
    for name, kinds in {
        "player": str, "mark": str, "depth": int | None, "nodes": int | None,
        "seconds": float | None, "weight": float, "plies": int, "batch": int, "techniques": str,
    }.items():  # fmt: skip
        value = getattr(settings, name)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise ValueError(f"{name}: expected {kinds}, found {short(value)}")
    return settings


def _restored(
    game: Game,
    settings: BookSettings,
    root: Any,
    expanded: list[int],
    values: list[float],
    depths: list[int],
) -> OpeningBook:
    """The book of such expansions; ValueError or IndexError where there can be none."""
    book = OpeningBook(game, settings, root=root)
    if len(depths) != len(values) or not values:
        raise ValueError(f"expected as many depths as values, found {len(depths)}, {len(values)}")
    book.values[0], book.depths[0] = values[0], depths[0]
    for number in expanded:
        if not 0 <= number < len(book):
            raise ValueError(f"expected a position from 0 to {len(book) - 1}, found {number}")
        following = dict.fromkeys(book._following(book.positions[number]))
        new = [after for after in following if after not in book._numbers]
        found = {after: (values[i], depths[i]) for i, after in enumerate(new, len(book))}
        book.expand(number, found)
    if len(book) != len(values) or book.values != values or book.depths != depths:
        raise ValueError(f"expected values of {len(book)} positions, found {len(values)} or others")
    book.settle()
    return book
