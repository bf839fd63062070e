"""Feature sets: named terms of a position, each a kernel `term(position) -> number`."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.kernels.memory import native_function, read_position

__all__ = ["FeatureSet"]

Term = Callable[[Any], float]


@dataclass(frozen=True)
class FeatureSet:
    """Terms in a fixed order, read for the side to move.

    name: the name of the set.
    terms: the kernels term(position) by the names of the terms.
    swap: a kernel that returns the same board with the other side to move. With it, and without
        `theirs`, the value of a term is term(position) - term(swap(position)), so that an advantage
        of one side is an equal disadvantage of the other. None for term(position).
    theirs: names of terms that are read for the other side, as term(swap(position)); all others are
        then term(position), without differences. See `of_both_sides`.
    together: whether terms share so much that evaluators compute all at once, whatever the weights.
    cell_terms: the terms as data, if they are made from it (`games.features.term_file`).

    Raises ValueError if there are no terms or `theirs` does not fit, TypeError if a term is not a
    kernel.
    """

    name: str
    terms: Mapping[str, Term]
    swap: Callable[[Any], Any] | None = None
    theirs: frozenset[str] = frozenset()
    together: bool = False
    cell_terms: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = field(init=False)
    _measures: dict[tuple[int, str], Callable[[int, int, int], None]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    _plain: dict[str, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError(f"feature set {self.name}: expected at least one term, found none")
        for name, term in self.terms.items():
            if not kernels.is_kernel(term):
                raise TypeError(f"feature {name}: expected a function marked with @kernel")
        unknown = sorted(self.theirs - set(self.terms))
        if unknown or (self.theirs and self.swap is None):
            raise ValueError(
                f"feature set {self.name}: expected theirs to name terms, with a swap, found"
                f" {', '.join(unknown) or 'no swap'}"
            )
        parts = [f"{name}={kernels.fingerprint(term)}" for name, term in self.terms.items()]
        parts.append(kernels.fingerprint(self.swap) if self.swap else "one side")
        parts += [f"theirs: {name}" for name in sorted(self.theirs)]
        mark = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        object.__setattr__(self, "fingerprint", mark)

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled code is not pickled; each process compiles or loads its own.
        parts = (self.name, dict(self.terms), self.swap, self.theirs)
        return FeatureSet, (*parts, self.together, dict(self.cell_terms))

    @classmethod
    def of_both_sides(
        cls,
        name: str,
        terms: Mapping[str, Term],
        swap: Callable[[Any], Any],
        **single: Term,
    ) -> FeatureSet:
        """Returns a set with each term twice: for the side to move, and for the other side.

        name: the name of the set.
        terms: the kernels; those for the other side are named with `their_` in front.
        swap: a kernel that returns the same board with the other side to move.
        single: terms that are read only for the side to move.
        """
        theirs = {f"their_{term}": kernel for term, kernel in terms.items()}
        return cls(name, {**terms, **theirs, **single}, swap, frozenset(theirs))

    @property
    def differences(self) -> bool:
        """Whether terms are differences between the sides."""
        return self.swap is not None and not self.theirs

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the terms in order."""
        return tuple(self.terms)

    def only(self, names: Iterable[str], *, name: str | None = None) -> FeatureSet:
        """Returns a set of some of the terms, in the order given."""
        chosen = {term: self.terms[term] for term in names}
        theirs = self.theirs & set(chosen)
        swap = self.swap if self.differences or theirs else None
        data = {term: self.cell_terms[term] for term in chosen if term in self.cell_terms}
        return FeatureSet(name or self.name, chosen, swap, theirs, self.together, data)

    def measure(self, positions: Any, *, words: bool = False) -> NDArray[Any]:
        """Returns the values of all terms for a sequence of positions, [positions, terms].

        words: whether terms are words of 64 bits, which no float holds; the values are int64 then.

        Positions that are tuples of integers of one length (or an array [positions, integers])
        are measured by native code, any others by the Python interpreter.
        """
        rows = _rows(positions) if kernels.runs_compiled() else None
        kind = np.int64 if words else np.float64
        if rows is None:
            measured = [self._values(position) for position in positions]
            return np.array(measured, dtype=kind).reshape(len(measured), len(self))
        values = np.zeros((len(rows), len(self)), dtype=kind)
        store = "store_int({}, {}, int({}))" if words else "store_float({}, {}, float({}))"
        self._native_measure(rows.shape[1], store)(len(rows), rows.ctypes.data, values.ctypes.data)
        return values

    def values(self, position: Any) -> list[float]:
        """Returns the values of all terms of one position, computed by the Python interpreter."""
        return [float(value) for value in self._values(position)]

    def _values(self, position: Any) -> list[Any]:
        if not self._plain:
            twins = [kernels.uncompiled(term) for term in self.terms.values()]
            swap = kernels.uncompiled(self.swap) if self.swap else None
            self._plain.update(terms=twins, swap=swap)
        swapped = self._plain["swap"](position) if self.swap else None
        if self.differences:
            return [term(position) - term(swapped) for term in self._plain["terms"]]
        return [
            term(swapped if name in self.theirs else position)
            for name, term in zip(self.terms, self._plain["terms"], strict=True)
        ]

    def scope(self) -> dict[str, Any]:
        """Returns the kernels of this set by the names that generated code uses."""
        scope: dict[str, Any] = {f"term_{i}": t for i, t in enumerate(self.terms.values())}
        if self.swap:
            scope["swap"] = self.swap
        return scope

    def expression(self, index: int) -> str:
        """Returns text for the value of a term; it reads `position` and, with `swap`, `swapped`."""
        if self.differences:
            return f"(term_{index}(position) - term_{index}(swapped))"
        here = "swapped" if self.names[index] in self.theirs else "position"
        return f"term_{index}({here})"

    def native_terms(self, width: int) -> int:
        """Returns the address of a native int64(position, target), see `terms_text`."""
        text = self.terms_text(width)
        return native_function("terms_at", text, self.scope(), "int64(int64, int64)")

    def terms_text(self, width: int) -> str:
        """Returns the text of `terms_at(source, target)`, for `width` integers a position.

        The function writes the values of all terms as float32 one after the other, and returns 0.
        """
        lines = [
            "def terms_at(source, target):",
            f"    position = {read_position(width)}",
            *(["    swapped = swap(position)"] if self.swap else []),
            f"    terms = array_at(float32_pointer(target), ({len(self)},))",
            *(f"    terms[{i}] = float({self.expression(i)})" for i in range(len(self))),
            "    return 0",
        ]
        return "\n".join(lines)

    def _native_measure(self, width: int, store: str) -> Callable[[int, int, int], None]:
        if (width, store) in self._measures:
            return self._measures[width, store]
        lines = [
            "def measure_at(count, source, target):",
            "    for i in range(count):",
            f"        position = {read_position(width)}",
            *(["        swapped = swap(position)"] if self.swap else []),
            *(f"        {store.format('target', i, self.expression(i))}" for i in range(len(self))),
            f"        source += {8 * width}",
            f"        target += {8 * len(self)}",
        ]
        address = native_function(
            "measure_at", "\n".join(lines), self.scope(), "void(int64, int64, int64)"
        )
        signature = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
        self._measures[width, store] = signature(address)
        return self._measures[width, store]


def _rows(positions: Any) -> NDArray[np.int64] | None:
    """Returns positions as an array [positions, integers]; None if they are something else."""
    try:
        rows = np.array(positions)
    except (ValueError, OverflowError):  # of different lengths
        return None
    if rows.ndim != 2 or rows.dtype != np.int64:
        return None
    return np.ascontiguousarray(rows)
