"""Pattern databases: the exact costs of abstract problems as a lower bound of the true cost.

h = the largest of several sums of tables, each the least cost to solve a problem in which only some
pieces are distinguished. If tables count only the moves of their own pieces, tables without a
common piece may be added. In a problem with a mirror image the value of that is a lower bound too.

Sources: Culberson and Schaeffer 1998; Korf and Felner 2002 (sums); Felner, Korf and Hanan 2004.
"""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.kernels.memory import read_position
from games.problem import KernelProblem, Known, Pattern
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.files.arrays import MOST_FILE_BYTES, take_array
from search.evaluators.files.header import EvaluatorError

__all__ = ["PatternDatabase", "Sums", "checked_sums"]

#: Several sums of patterns, each of which is a sequence of pieces.
Sums = Sequence[Sequence[Sequence[int]]]


def checked_sums(problem: KernelProblem, sums: Sums) -> list[list[Pattern]]:
    """Returns the patterns of sums; those of a sum of several count only their own pieces' moves.

    Raises ValueError without patterns, if patterns of one sum share a piece, if the problem has no
    such patterns, or if the tables are too large for a file.
    """
    if not sums or not all(sums):
        raise ValueError("patterns: expected at least one")
    for group in sums:
        seen: set[int] = set()
        for pieces in group:
            shared = seen & set(pieces)
            if shared:
                raise ValueError(
                    f"patterns: expected patterns without a common piece in a sum, found"
                    f" {min(shared)} in two"
                )
            seen |= set(pieces)
    patterns = [
        [problem.pattern(part, additive=len(group) > 1) for part in group] for group in sums
    ]
    size = sum(pattern.size // pattern.fold for group in patterns for pattern in group)
    if size > MOST_FILE_BYTES:
        raise ValueError(
            f"patterns: expected tables of at most {MOST_FILE_BYTES >> 20} MiB, found"
            f" {size / 2**20:,.0f} MiB"
        )
    return patterns


class PatternDatabase(ArrayEvaluator):
    """The estimated cost to the goal as the largest of several sums of tables; never too high.

    sums: the patterns of each sum, each a sequence of pieces. A sum of one pattern counts all
        moves, a sum of several those of their own pieces.
    tables: for each pattern its costs, int8, [size / fold of the pattern].
    mirrored: whether the value is at least that of the mirror image.

    Raises ValueError if a sum has patterns with a common piece, if the tables do not fit, or if
    the problem has no mirror image.
    """

    form = "plysmith-patterns-1"
    about = "pattern database"
    fields: ClassVar = {"goal": str, "patterns": list, "mirrored": int}
    known = Known.BY_PROOF

    def __init__(
        self,
        problem: KernelProblem,
        sums: Sums,
        tables: Sequence[Any],
        *,
        mirrored: bool = False,
        name: str = "patterns",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(problem, name, provenance)
        self.problem = problem
        self.patterns = checked_sums(problem, sums)
        self.mirrored = mirrored
        parts = [pattern for group in self.patterns for pattern in group]
        if mirrored and any(pattern.mirror_index is None for pattern in parts):
            raise ValueError(
                f"mirrored: expected a problem with a mirror image, found {problem.name}"
            )
        self.tables: list[NDArray[np.int8]] = [np.asarray(table) for table in tables]
        expected = [(pattern.size // pattern.fold,) for pattern in parts]
        if [table.shape for table in self.tables] != expected or any(
            table.dtype != np.int8 for table in self.tables
        ):
            raise ValueError(
                f"tables: expected int8 of shapes {expected}, found"
                f" {[(str(table.dtype), table.shape) for table in self.tables]}"
            )
        for pattern, table in zip(parts, self.tables, strict=True):
            if table.min() < 0 or table[pattern.place(problem.goal())] != 0:
                raise ValueError(
                    f"table of {pattern.pieces}: expected costs from 0 on, and 0 for the goal"
                )
        self._lay_out(self.tables)

    @property
    def sums(self) -> list[list[list[int]]]:
        """The pieces of the patterns of each sum."""
        return [[list(pattern.pieces) for pattern in group] for group in self.patterns]

    def _indices(self) -> list[list[list[tuple[int, Any]]]]:
        """Returns for each image, and each sum, the number of each table and its index kernel."""
        images = []
        for mirrored in (False, True)[: 1 + self.mirrored]:
            number = itertools.count()
            images.append([
                [(next(number), part.mirror_index if mirrored else part.index) for part in group]
                for group in self.patterns
            ])  # fmt: skip
        return images

    def plain(self) -> Callable[[Any], float]:
        view = kernels.uncompiled(self.patterns[0][0].view)
        groups = [
            [(self.tables[number], kernels.uncompiled(index)) for number, index in group]
            for image in self._indices()
            for group in image
        ]

        def value(position: Any) -> float:
            seen = view(position)
            return max(
                float(sum(int(table[index(seen)]) for table, index in group)) for group in groups
            )

        return value

    def largest_sum(self, position: Any) -> tuple[bool, list[tuple[tuple[int, ...], int]]]:
        """Returns the sum that gives a position's value: the pieces and the cost of each table.

        The first entry says whether the sum is that of the mirror image, whose pieces are others.
        """
        seen = kernels.uncompiled(self.patterns[0][0].view)(position)
        sums = []
        for mirrored, image in enumerate(self._indices()):
            for group, patterns in zip(image, self.patterns, strict=True):
                costs = [
                    (pattern.pieces, int(self.tables[number][kernels.uncompiled(index)(seen)]))
                    for (number, index), pattern in zip(group, patterns, strict=True)
                ]
                sums.append((bool(mirrored), costs))
        return max(sums, key=lambda one: sum(cost for _, cost in one[1]))

    def _text(self) -> str:
        lines = [
            "def value_at(data, source):",
            f"    seen = view({read_position(len(self.problem.start()))})",
            "    best = 0",
        ]
        lines += [
            f"    table_{i} = array_at(int8_pointer(load_int(data, {i})), ({len(table)},))"
            for i, table in enumerate(self.tables)
        ]
        for side, image in enumerate(self._indices()):
            for group in image:
                terms = [f"int(table_{i}[index_{side}_{i}(seen)])" for i, _ in group]
                lines.append(f"    best = max(best, {' + '.join(terms)})")
        return "\n".join([*lines, "    return float(best)"])

    def scope(self) -> dict[str, Any]:
        scope = {
            f"index_{side}_{i}": index
            for side, image in enumerate(self._indices())
            for group in image
            for i, index in group
        }
        return {**scope, "view": self.patterns[0][0].view}

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.sums, [table.copy() for table in self.tables]), {"mirrored": self.mirrored}

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        fields = {
            "goal": self.problem.position_text(self.problem.goal()),
            "patterns": self.sums,
            "mirrored": int(self.mirrored),
        }
        return fields, {f"table_{i}": table for i, table in enumerate(self.tables)}

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Any, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if not isinstance(game, KernelProblem):
            raise EvaluatorError(f"expected a problem with one agent, found {game.name}")
        goal = game.position_text(game.goal())
        if content["goal"] != goal:
            raise EvaluatorError(
                f"expected patterns of the goal {goal}, found {content['goal'][:80]!r}"
            )
        sums = content["patterns"]
        if not _are_sums(sums):
            raise EvaluatorError(
                f"expected lists of pieces as patterns, found {reprlib.repr(sums)}"
            )
        parts = [pattern for group in checked_sums(game, sums) for pattern in group]
        tables = [
            take_array(arrays, f"table_{i}", np.int8, (pattern.size // pattern.fold,))
            for i, pattern in enumerate(parts)
        ]
        return (sums, tables), {"mirrored": bool(content["mirrored"])}


def _are_sums(found: Any) -> bool:
    """Whether an entry of a file holds lists of lists of lists of whole numbers."""
    return isinstance(found, list) and all(
        isinstance(group, list)
        and all(isinstance(part, list) and all(type(x) is int for x in part) for part in group)
        for group in found
    )
