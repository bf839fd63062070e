"""Checks of a game in kernels: each kernel is compared with its own source in Python."""

from __future__ import annotations

import math
import numbers
import sys
from typing import Any

from games.contract import Rules, given

__all__ = ["KernelCheck", "same"]

MOST_TRIED = 32  # number of moves of a position that are played
MOST_INTEGERS = 16  # in a position of a game written as kernels
ROOM = 4096  # moves beyond `most_moves` that can still be counted
MOST_LINES = 300_000  # of Python that one call of a rule may run
ENDS = (
    "an end (Python's integers have more than 64 bits, so that `left &= left - 1` never becomes 0"
    " once bit 63 is set: write `left ^= bit(lowest(left))`)"
)


class KernelCheck:
    """The kernels of a game, each compared with its own source run by the Python interpreter."""

    def __init__(self, check: Any, rules: Rules) -> None:
        import numpy as np

        from games.kernels import uncompiled

        self.check = check
        self.width = len(check.game.start())
        self.most_moves = int(getattr(check.game, "most_moves", 256))
        self.buffer = np.zeros(self.most_moves + ROOM, dtype=np.int64)
        self.native = {name: rule for name, rule in vars(rules).items() if rule is not None}
        self.source = {
            name: self.bounded(name, uncompiled(rule)) for name, rule in self.native.items()
        }
        self.of_position: list[str] = [
            n for n in ("outcome", "key", "noisy", "standard", "turn") if n in self.native
        ]
        self.of_move: list[str] = [n for n in ("play", "irreversible", "gain") if n in self.native]
        self.keys: dict[int, Any] = {}

    def bounded(self, name: str, source: Any) -> Any:
        """Returns a rule that fails the check once it has run MOST_LINES lines of Python."""

        def run(position: Any, *rest: Any) -> Any:
            lines = 0

            def count(frame: Any, event: str, argument: Any) -> Any:
                nonlocal lines
                lines += 1
                if lines > MOST_LINES:
                    self.endless(name, position)
                return count

            if sys.gettrace() is not None:  # a debugger's
                return source(position, *rest)
            sys.settrace(count)
            try:
                return source(position, *rest)
            finally:
                sys.settrace(None)

        return run

    def endless(self, name: str, position: Any) -> None:
        self.check.fail(f"{name} ends uncompiled", position, ENDS, "an endless loop")

    def position(self, position: Any, rolls: list[int | None]) -> None:
        """Compare all kernels on a position, and the kernels of moves with each of `rolls`."""
        native, source = self.native, self.source
        self.integers("a position is a tuple of integers", position, position)
        counts = [self.moves_with(position, roll) for roll in rolls]
        for name in self.of_position:
            self.same(name, position, source[name](position), native[name](position))
        if "outcome_vector" in source and not math.isnan(source["outcome"](position)):
            self.vector(position)
        if "key" in source:
            self.key(position, rolls)
        if "standard" in source:
            self.standard(position, rolls, counts)

    def vector(self, position: Any) -> None:
        import numpy as np

        both = []
        for rules in (self.source, self.native):
            values = np.full(self.check.game.players, np.nan)
            rules["outcome_vector"](position, values)
            both.append(values.tolist())
        self.same("outcome_vector", position, *both)

    def moves_with(self, position: Any, roll: int | None) -> int:
        """Compare the kernels on the moves of a position; returns the number of moves."""
        check, native, source = self.check, self.native, self.source
        # The source runs first: it raises when out of bounds, while native code overwrites memory.
        moves = self.moves(position, roll, source["legal_moves"])
        if len(moves) > self.most_moves:
            rule = f"no position has more than most_moves, {self.most_moves}"
            check.fail(rule, position, "no more", len(moves))
        found = self.moves(position, roll, native["legal_moves"])
        self.same("legal_moves", position, moves, found)
        for move in moves if len(moves) <= MOST_TRIED else moves[:: len(moves) // MOST_TRIED]:
            after = source["play"](position, move)
            self.integers(f"playing {move} leads to a tuple of integers", position, after)
            for name in self.of_move:
                found = native[name](position, move)
                self.same(f"{name} of {move}", position, source[name](position, move), found)
        return len(moves)

    def key(self, position: Any, rolls: list[int | None]) -> None:
        key = int(self.source["key"](position))
        other = self.keys.setdefault(key, position)
        if other == position or not self.same_by_symmetry(position, other, rolls):
            self.check.equal(
                f"different positions have different keys ({key})", position, position, other
            )

    def same_by_symmetry(self, position: Any, other: Any, rolls: list[int | None]) -> bool:
        """Whether both positions have the same `standard` and the same number of moves."""
        standard, legal_moves = self.source.get("standard"), self.source["legal_moves"]
        return (
            standard is not None
            and standard(position) == standard(other)
            and all(
                self.moves(position, roll, legal_moves) == self.moves(other, roll, legal_moves)
                for roll in rolls
            )
        )

    def integers(self, rule: str, where: Any, position: Any) -> None:
        if not isinstance(position, tuple) or not all(map(_is_integer, position)):
            self.check.fail(rule, where, "a tuple of integers", position)
        if len(position) != self.width or self.width > MOST_INTEGERS:
            expected = f"{self.width} integers as at the start, and at most {MOST_INTEGERS}"
            self.check.fail(rule, where, expected, position)
        if not all(-(1 << 63) <= x < 1 << 63 for x in position):
            self.check.fail(rule, where, "integers of 64 bits", position)

    def moves(self, position: Any, roll: int | None, legal_moves: Any) -> list[int]:
        try:
            count = int(legal_moves(position, *given(roll), self.buffer))
        except OverflowError as error:
            self.check.fail("moves are integers of 64 bits", position, "such", error)
        except IndexError as error:
            if f"size {len(self.buffer)}" in str(error):  # it wrote moves for ever
                self.endless("legal_moves", position)
            raise
        return [int(move) for move in self.buffer[:count]]

    def same(self, rule: str, position: Any, source: Any, native: Any) -> None:
        if not same(source, native):
            rule = f"{rule} compiled is the same as uncompiled"
            self.check.fail(rule, position, repr(source), native)

    def evaluator(self, name: str, entry: Any, positions: list[Any]) -> None:
        """Compare an evaluator that is a kernel, alone or with weights, on some positions."""
        from games.kernels import is_kernel, uncompiled

        kernel, *weights = entry if isinstance(entry, tuple) else (entry,)
        if not is_kernel(kernel):
            return
        source = uncompiled(kernel)
        for position in positions:
            value = source(*weights, position)
            self.same(f"evaluator {name}", position, value, kernel(*weights, position))

    def standard(self, position: Any, rolls: list[int | None], counts: list[int]) -> None:
        check, source = self.check, self.source
        image = source["standard"](position)
        self.integers("standard returns a tuple of integers", position, image)
        again = source["standard"](image)
        check.equal("standard of a standard position is itself", position, image, again)
        for roll, count in zip(rolls, counts, strict=True):
            found = len(self.moves(image, roll, source["legal_moves"]))
            check.equal(f"standard, {image}, keeps the number of moves", position, count, found)


def _is_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral)


def same(one: Any, other: Any) -> bool:
    """Whether numbers, or lists or tuples of numbers, are equal up to rounding."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if _is_integer(one) and _is_integer(other):
        return bool(one == other)
    if one != one or other != other:
        return bool(one != one and other != other)
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
