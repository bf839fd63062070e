"""Evaluators: a position goes in, its value for the side to move comes out.

Searches, matches and learners treat all kinds alike. This file holds the kinds that are code: a
kernel with the arrays that it reads (`KernelEvaluator`) and any Python callable
(`PythonEvaluator`). Each kind with weights has a file of its own, such as
`search.evaluators.linear`, and `search.evaluators.load` knows all of them. Changing weights in
place never compiles anything.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.kernels.memory import native_function, read_arrays, read_position
from games.problem import Known
from games.values import PROVEN
from search.evaluators.calibration import Calibration, Chances
from search.native import call_float

__all__ = [
    "MOST_KEPT",
    "Evaluator",
    "KernelEvaluator",
    "NativeText",
    "Prefilter",
    "PythonEvaluator",
    "rows_of",
]

Fail = Callable[[BaseException], None]
SIGNATURE = "float64(int64, int64)"
#: Evaluates rows natively, which other threads need not wait for as they would for calls of Python.
VALUES_TEXT = """
def values_at(evaluate_at, data, count, bytes_of_row, source, target):
    for i in range(count):
        store_float(target, i, call_float(evaluate_at, (data, source + bytes_of_row * i)))
"""
#: Greatest number of moves that a prefilter can keep.
MOST_KEPT = 1024


@functools.cache
def _values_of_rows() -> Callable[..., None]:
    signature = f"void({', '.join(['int64'] * 6)})"
    address = native_function("values_at", VALUES_TEXT, {"call_float": call_float}, signature)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 6)(address)


class Evaluator:
    """The base of all evaluators."""

    game: Game
    name: str
    #: The suffix of files that hold such an evaluator; empty if it cannot be saved.
    suffix: str = ""
    #: The origin of the weights; saved with them.
    provenance: dict[str, Any]
    #: The proved relation of the values to the least costs, for a heuristic of a problem.
    known: Known = Known.NOTHING
    #: Whether it gives the probabilities of the game's `outcomes`; values are then mean payoffs.
    gives_outcomes: bool = False
    #: The smallest and the greatest value possible, by which Star1 and Star2 prune.
    bounds: tuple[float, float] = (-math.inf, math.inf)
    #: The chances that its values stand for; saved with the weights. None if they are not known.
    calibration: Calibration | None = None
    #: Chooses, in games with dice, the moves that are worth valuing; saved with the weights.
    prefilter: Prefilter | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game.name}, {self.name!r})"

    @property
    def unit(self) -> float:
        """The value of one of the game's units (`Game.unit`), such as one man more in checkers."""
        return 1.0

    def in_units(self, value: float) -> float:
        """Returns a value in the game's unit, as people read it; a proven one as it is."""
        return value if abs(value) > PROVEN else value / self.unit

    def chances(
        self, position: Any, value: float | None = None, nodes: int | None = None
    ) -> Chances | None:
        """Returns the chances of a position for its side to move; None if they are not known.

        value: a value of the position, searched by this evaluator. Default: its static value.
        nodes: positions that were searched for the value; None if that is not known, for which
            the most count that the calibration knows. A static value has 1.

        An evaluator that gives probabilities of outcomes needs no calibration: without `value` its
        own chance of winning is returned, the first of the game's outcomes.
        """
        if self.gives_outcomes and value is None:
            return Chances.of_win(float(self.outcomes([position])[0][0]))
        if self.calibration is None:
            return None
        value, nodes = (self(position), 1) if value is None else (value, nodes)
        return self.calibration.chances_at(self.game, position, value, nodes)

    def plain(self) -> Callable[[Any], float]:
        """Returns the evaluator as a Python function of a position."""
        raise NotImplementedError

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        """Returns the addresses of native code and of its data, and an owner of the data.

        fail: called with an exception that the evaluator raised, because native code cannot raise.
        """
        raise NotImplementedError

    def native_text(self) -> NativeText:
        """Returns the source of the native code; TypeError if it is a call of Python."""
        raise TypeError(
            f"{self.name}: expected an evaluator in native code, found a {type(self).__name__}"
        )

    def outcomes(self, positions: Any) -> NDArray[np.float64]:
        """Returns the probabilities of the game's outcomes, [positions, outcomes].

        Raises TypeError if `gives_outcomes` is false.
        """
        raise TypeError(f"{self.name} gives values only, found no probabilities of outcomes")

    def native_outcomes(self) -> tuple[int, int, Any]:
        """As `native`, for a C function `void(data, position, target)` of three addresses.

        The function writes the probabilities as float64 to `target`. Raises TypeError if
        `gives_outcomes` is false.
        """
        raise TypeError(f"{self.name} gives values only, found no probabilities of outcomes")

    def __call__(self, position: Any) -> float:
        """Returns the static value of a position, for the side to move."""
        return float(self.values([position])[0])

    def values(self, positions: Any) -> NDArray[np.float64]:
        """Returns the static values [positions] of several positions, each for its side to move."""
        if self.game.rules is None or not kernels.runs_compiled():
            value = self.plain()
            return np.array([float(value(position)) for position in positions])
        errors: list[BaseException] = []
        address, data, keep = self.native(errors.append)
        rows = rows_of(self.game, positions)
        values = np.empty(len(rows))
        places = rows.ctypes.data, values.ctypes.data
        _values_of_rows()(address, data, len(rows), rows.strides[0], *places)
        del keep
        if errors:
            raise errors[0]
        return values

    def copy(self) -> Evaluator:
        """Returns the same evaluator with weights of its own; raises TypeError if it is code.

        The copy has neither calibration nor prefilter, because its weights may be changed.
        """
        raise TypeError(
            f"{self.name} is code, not weights: expected an evaluator that learns, found a"
            f" {type(self).__name__}"
        )

    def save(self, path: Any) -> None:
        """Write the evaluator to a file for `search.load_evaluator`; TypeError if it is code."""
        raise TypeError(
            f"{self.name} is code, not weights: expected a linear evaluator to save, found a"
            f" {type(self).__name__}"
        )


@dataclass(frozen=True, eq=False)
class NativeText:
    """The source of an evaluator's native code, which is also what is translated to C.

    text: defines `value_at(data, source)`.
    scope: the kernels and constants that it refers to, by name.
    data: the words that it reads: numbers, and addresses of the arrays.
    arrays: the arrays.
    terms: by their place in `data`, feature sets whose `native_terms` it calls.
    """

    text: str
    scope: Mapping[str, Any]
    data: NDArray[np.int64]
    arrays: Sequence[NDArray[Any]] = ()
    terms: Mapping[int, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Prefilter:
    """Only the moves with a roll that a cheap evaluator ranks highest are valued by a dear one.

    evaluator: the cheap evaluator.
    keep: number of moves kept, and all others that are equal to the last of these.
    margin: greatest distance of a move kept from the best one, by the cheap evaluator.
    evidence: the origin of the numbers and the loss by the prefilter; saved with them.

    Outcomes, and values that a lookup knows, rank a move in place of the cheap evaluator. GNU
    Backgammon has such "pruning nets". Raises ValueError if `keep` is below 1 or above
    `MOST_KEPT`, or `margin` is not above 0.
    """

    evaluator: Evaluator
    keep: int = 8
    margin: float = math.inf
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.keep <= MOST_KEPT:
            raise ValueError(f"keep: expected 1 to {MOST_KEPT}, found {self.keep}")
        if not self.margin > 0:
            raise ValueError(f"margin: expected more than 0, found {self.margin}")


class KernelEvaluator(Evaluator):
    """A kernel as an evaluator.

    game: the game.
    kernel: value(position), or value(weights, position).
    weights: an array or a tuple of arrays, or None for a kernel without weights.
    name: the name of the evaluator; empty for that of the kernel.

    Raises TypeError if it is not a kernel, or its parameters do not fit `weights`.
    """

    def __init__(
        self, game: Game, kernel: Callable[..., Any], weights: Any = None, *, name: str = ""
    ) -> None:
        if not kernels.is_kernel(kernel):
            raise TypeError(f"expected a function marked with @kernel, found {kernel!r}")
        parameters = len(inspect.signature(kernel).parameters)
        if parameters != (1 if weights is None else 2):
            raise TypeError(
                f"evaluator {kernel.__name__}: expected value(position), or value(weights,"
                f" position) together with weights; found {parameters} parameters and"
                f" {'no ' if weights is None else ''}weights"
            )
        self.game = game
        self.kernel = kernel
        self.weights = weights
        self.name = name or kernel.__name__

    def plain(self) -> Callable[[Any], float]:
        value = kernels.uncompiled(self.kernel)
        weights = self.weights
        if weights is None:
            return lambda position: float(value(position))
        return lambda position: float(value(weights, position))

    def native_text(self) -> NativeText:
        position = read_position(len(self.game.start()))
        block, weights = read_arrays(self.weights if self.weights is not None else ())
        arguments = position if self.weights is None else f"{weights}, {position}"
        text = f"def value_at(data, source):\n    return float(value({arguments}))\n"
        given = () if self.weights is None else self.weights
        arrays = (given,) if isinstance(given, np.ndarray) else tuple(given)
        return NativeText(text, {"value": self.kernel}, block, arrays)

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        made = self.native_text()
        address = native_function("value_at", made.text, made.scope, SIGNATURE)
        return address, made.data.ctypes.data, made


class PythonEvaluator(Evaluator):
    """Any callable from a position to a number as an evaluator.

    game: the game.
    function: the callable.
    name: the name of the evaluator; empty for that of the callable.

    Raises TypeError if `function` is not callable. A search raises the errors of `function`, and
    ValueError if it returns NaN.
    """

    def __init__(self, game: Game, function: Callable[[Any], float], *, name: str = "") -> None:
        if not callable(function):
            raise TypeError(f"expected a callable as evaluator, found {function!r}")
        self.game = game
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)

    def plain(self) -> Callable[[Any], float]:
        return self._checked

    def _checked(self, position: Any) -> float:
        value = float(self.function(position))
        if value != value:
            raise ValueError(f"evaluator {self.name} returned NaN for {position}")
        return value

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        function = self.function

        def guarded(position: Any) -> float:
            # native code cannot pass on an exception: it gets 0, and the search is stopped
            try:
                value = float(function(position))
                if value == value:
                    return value
                raise ValueError(f"evaluator {self.name} returned NaN for {position}")
            except BaseException as error:
                fail(error)
                return 0.0

        width = len(self.game.start())
        text = f"def value_at(data, source):\n    return call_python(data, source, {width})\n"
        return native_function("value_at", text, {}, SIGNATURE), id(guarded), guarded


def rows_of(game: Game, positions: Any) -> NDArray[np.int64]:
    """Returns positions as an array [positions, integers]; ValueError if they do not fit."""
    rows = np.ascontiguousarray(positions, dtype=np.int64)
    width = len(game.start())
    if len(rows) and rows.shape[1:] != (width,):
        raise ValueError(
            f"expected positions of {width} integers, found an array of shape {rows.shape}"
        )
    return rows.reshape(-1, width)
