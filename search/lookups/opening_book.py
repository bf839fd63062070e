"""Opening books: positions with values from searches, or backed up from their successors.

A book is a graph. An expanded position leads to all of its successors, and its value is backed up
from theirs; the other positions, the leaves, have the value of a search. Positions that are equal
by symmetry, or are reached by different lines, are one. `play.book_building` makes books; searches
read them through `search.lookups.opening_lookup`.

Drop-out expansion (Lincke, Strategies for the automatic construction of opening books, 2000)
chooses the leaf to expand next: the one with the shortest line from the root, where each ply counts
1 plus `weight` times the difference between the best move there and the move played. Good lines
thus grow deep, and bad ones only until they are seen to be bad.
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
#: The depth of values that no search can change: of finished games, or of lines that all end.
DECIDED = 1000


class BookError(ValueError):
    """Raised for a file that is not an opening book, or is one that does not fit."""


@dataclass(frozen=True)
class BookSettings:
    """The settings that, with the game, determine a book; its file holds them.

    player: the player that searches the leaves, written as in matches.
    mark: digest of the values of its evaluator (`search.evaluators.samples.value_mark`), because
        the evaluator's name may change.
    depth, nodes, seconds: limits of the search of a leaf; None for no limit.
    weight: plies that a move worse by 1 costs, at least 0.
    plies: positions fewer than `plies` plies from the root are expanded whatever their values, and
        their moves cost nothing.
    batch: number of leaves that are expanded together.
    techniques: the player's techniques spelt out, because the meaning of `selective` may change.

    Raises ValueError if a setting is out of range.
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
    """The positions of a book, numbered in the order in which they were added; 0 is the root.

    game: a game without dice.
    settings: the settings of the book; None for the defaults.
    root: the first position; None for the game's start. It begins as an unsearched leaf of value 0.

    Attributes, each with one entry for a position; values are for the side to move:
        positions: the positions.
        values, depths: the value of each position from its search as a leaf, and its depth.
        successors: the numbers of an expanded position's successors; None for a leaf.
        backed_up, backed_up_depths: backed-up values and depths, brought up to date by `settle`.

    Raises ValueError if the game has dice, or is over at the root.
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
        #: Numbers of positions, in the order in which these were expanded.
        self.expanded: list[int] = []
        self.backed_up: list[float] = []
        self.backed_up_depths: list[int] = []
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
        """Number of positions in the book."""
        return len(self.positions)

    def standard(self, position: Any) -> Any:
        """Returns the position that represents all that are equal by symmetry."""
        rules = self.game.rules
        if rules is None or rules.standard is None:
            return position
        return tuple(int(x) for x in rules.standard(position))

    def number(self, position: Any) -> int | None:
        """Returns the number of a position; None if the book does not contain it."""
        return self._numbers.get(self.standard(position))

    def is_open(self, number: int) -> bool:
        """Returns whether a position is a leaf in which the game is not decided."""
        return (
            self.successors[number] is None
            and self.depths[number] < DECIDED
            and abs(self.values[number]) <= PROVEN
        )

    # --- growing -----------------------------------------------------------------------------

    def unknown(self, number: int) -> list[Any]:
        """Returns the successors of a position that must be searched: not in the book, not over."""
        following = dict.fromkeys(self._following(self.positions[number]))
        return [
            after
            for after in following
            if after not in self._numbers and self.game.outcome(after) is None
        ]

    def expand(self, number: int, searched: Mapping[Any, tuple[float, int]]) -> None:
        """Add all successors of a leaf to the book.

        number: the number of the leaf.
        searched: (value, depth) of each position that `unknown` returns for the leaf.

        Backed-up values are out of date until `settle`. Raises ValueError if the position is not an
        open leaf or a value or depth is out of range, KeyError if `searched` lacks a position.
        """
        if not self.is_open(number):
            raise ValueError(f"expected an open leaf, found position {number}")
        following = dict.fromkeys(self._following(self.positions[number]))
        unknown = [after for after in following if after not in self._numbers]
        new = {after: self._leaf(after, searched) for after in unknown}
        for after, (value, depth) in new.items():
            self._add(after, value, depth)
        self.expanded.append(number)
        self.successors[number] = tuple(self._numbers[after] for after in following)

    def take_back(self, expansions: int, positions: int) -> None:
        """Undo all but the first `expansions` expansions and `positions` positions, and settle.

        It repairs a book that was interrupted in the middle of an expansion.
        """
        for number in self.expanded[expansions:]:
            self.successors[number] = None
        for position in self.positions[positions:]:
            self._numbers.pop(position, None)
        for column in (self.positions, self.values, self.depths, self.successors):
            del column[positions:]
        del self.expanded[expansions:]
        self.settle()

    def _leaf(self, position: Any, searched: Mapping[Any, tuple[float, int]]) -> tuple[float, int]:
        """Returns the value and depth of a new position."""
        outcome = self.game.outcome(position)
        if outcome is not None:
            won = self.game.wins and outcome
            return math.copysign(WIN, outcome) if won else outcome, DECIDED
        value, depth = searched[position]
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
        """Returns the value of a move after which the position has `value` for the opponent."""
        if self.game.wins and value > PROVEN:
            value -= 1.0
        elif self.game.wins and value < -PROVEN:
            value += 1.0
        return -value + 0.0

    def settle(self) -> None:
        """Back up values and depths from the leaves.

        The value of a position is that of its best move. Its depth is one ply more than the
        smallest depth of its successors, at most `DECIDED`: every line was searched at least that
        deep. Play that repeats for ever has the value 0. Values start at 0 and change only for a
        side that can force more, so the order in which positions are visited does not matter.
        """
        backed_up = [
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
                value = max(self.before(backed_up[i]) for i in after)
                depth = min(DECIDED, 1 + min(depths[i] for i in after))
                if value != backed_up[number] or depth != depths[number]:
                    backed_up[number], depths[number] = value, depth
                    changed = True
        self.backed_up, self.backed_up_depths = backed_up, depths

    # --- which leaf is next ------------------------------------------------------------------

    def priorities(self) -> dict[int, float]:
        """Returns the priority of every open leaf by its number; the smallest is expanded first.

        It is the sum of 1 + weight * (value of the best move - value of the move) over the moves
        from the root, along the line for which the sum is smallest. Moves from positions fewer than
        `settings.plies` plies from the root count 0.
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
                drop = self.backed_up[number] - self.before(self.backed_up[after])
                free = lengths[number] < self.settings.plies
                step = 0.0 if free else 1.0 + self.settings.weight * drop
                if cost + step < costs.get(after, math.inf):
                    costs[after] = cost + step
                    heapq.heappush(queue, (cost + step, after))
        return {number: cost for number, cost in costs.items() if self.is_open(number)}

    def next_leaves(self, count: int) -> list[int]:
        """Returns at most `count` open leaves of smallest priority; of equal ones the oldest."""
        best = heapq.nsmallest(count, ((c, number) for number, c in self.priorities().items()))
        return [number for _, number in best]

    def lengths(self) -> list[int]:
        """Returns the distance of each position from the root, in plies."""
        lengths = {0: 0}
        queue = [0]
        for number in queue:
            for after in self.successors[number] or ():
                if after not in lengths:
                    lengths[after] = lengths[number] + 1
                    queue.append(after)
        return [lengths[number] for number in range(len(self))]

    # --- reading -----------------------------------------------------------------------------

    def moves(self, position: Any) -> list[tuple[Any, float, int]]:
        """Returns (move, value, depth) of all legal moves, best first.

        Depths are those of the positions that the moves lead to. The list is empty if the position
        is not expanded.
        """
        number = self.number(position)
        if number is None or self.successors[number] is None:
            return []
        rows = []
        for move in self.game.legal_moves(position):
            after = self._numbers[self.standard(self.game.play(position, move))]
            rows.append((move, self.before(self.backed_up[after]), self.backed_up_depths[after]))
        return sorted(rows, key=lambda row: -row[1])

    def line(self, position: Any) -> list[Any]:
        """Returns the best moves from a position on, until they leave the book or repeat."""
        played: list[Any] = []
        seen = set()
        while (rows := self.moves(position)) and self.number(position) not in seen:
            seen.add(self.number(position))
            played.append(rows[0][0])
            position = self.game.play(position, rows[0][0])
        return played

    def check_evaluator(self, evaluator: Any) -> None:
        """Raises ValueError if the evaluator's values differ from those that built the book."""
        mark = value_mark(self.game, evaluator)
        if mark != self.settings.mark:
            raise ValueError(
                f"opening book: expected an evaluator with the values of {self.settings.player}"
                f" (mark {self.settings.mark}), found {evaluator.name} (mark {mark})"
            )

    # --- files -------------------------------------------------------------------------------

    def identity(self) -> str:
        """Returns a digest of all positions in their order."""
        return _digest(self.positions)

    def save(self, path: Any) -> None:
        """Write the book as safetensors, replacing the file atomically; the same book, same bytes.

        The positions follow from the numbers of the expanded ones and the rules. Raises OSError if
        the file cannot be written.
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
        """Returns the book in a file, or a shipped one by its name, such as "checkers/book".

        Raises FileNotFoundError if the file does not exist, BookError if it does not fit the game.
        """
        path = find_file(path, game.name)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: expected an opening book, found no file")
        try:
            content, arrays = load_arrays(path, most=WIN)
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
    """Returns the settings in a file; raises ValueError or TypeError if they are invalid."""
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
    """Returns the book with these expansions; ValueError or IndexError if they are impossible."""
    book = OpeningBook(game, settings, root=root)
    if len(depths) != len(values) or not values:
        raise ValueError(f"expected as many depths as values, found {len(depths)}, {len(values)}")
    book.values[0], book.depths[0] = values[0], depths[0]
    for number in expanded:
        if not 0 <= number < len(book):
            raise ValueError(f"expected a position from 0 to {len(book) - 1}, found {number}")
        following = dict.fromkeys(book._following(book.positions[number]))
        new = [after for after in following if after not in book._numbers]
        searched = {after: (values[i], depths[i]) for i, after in enumerate(new, len(book))}
        book.expand(number, searched)
    if len(book) != len(values) or book.values != values or book.depths != depths:
        raise ValueError(f"expected values of {len(book)} positions, found {len(values)} or others")
    book.settle()
    return book
