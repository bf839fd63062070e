"""Evaluators: a position goes in, its value for the side to move comes out.

Searches, matches and learners treat all kinds alike: weights over a feature set
(`LinearEvaluator`), a kernel with the arrays that it reads (`KernelEvaluator`), any Python callable
(`PythonEvaluator`), and those of files of their own, such as `search.evaluators.network`. Changing
weights in place never compiles anything.
"""

from __future__ import annotations

import ctypes
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from games import kernels
from games.contract import Game
from games.features import FeatureSet
from games.kernels.memory import native_function, read_arrays, read_position

__all__ = ["Evaluator", "KernelEvaluator", "LinearEvaluator", "PythonEvaluator", "as_evaluator"]

Fail = Callable[[BaseException], None]
SIGNATURE = "float64(int64, int64)"


class Evaluator:
    """What all evaluators have in common."""

    game: Game
    name: str
    #: How names of files that hold such an evaluator end; empty for what cannot be saved.
    suffix: str = ""
    #: How the weights came about; saved with them.
    provenance: dict[str, Any]
    #: Whether it gives the probability of each of the game's `outcomes`, and not only values.
    gives_outcomes: bool = False
    #: No value is below the first or above the second; what Star1 and Star2 prune by.
    bounds: tuple[float, float] = (-math.inf, math.inf)

    def plain(self) -> Callable[[Any], float]:
        """The evaluator as a Python function of a position."""
        raise NotImplementedError

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        """Addresses of native code and of the data it reads, and what keeps the data alive.

        `fail` is called with an exception that the evaluator raised; native code has none.
        """
        raise NotImplementedError

    def outcomes(self, positions: Any) -> NDArray[np.float64]:
        """The probabilities of the game's outcomes, [positions, outcomes].

        Raises TypeError where `gives_outcomes` is false.
        """
        raise TypeError(f"{self.name} gives values only, found no probabilities of outcomes")

    def native_outcomes(self) -> tuple[int, int, Any]:
        """As `native`, for a C function `void(data, position, target)` of three addresses.

        It writes the probabilities as float64 to `target`. TypeError as in `outcomes`.
        """
        raise TypeError(f"{self.name} gives values only, found no probabilities of outcomes")

    def __call__(self, position: Any) -> float:
        """The static value of a position, for the side to move."""
        return float(self.values([position])[0])

    def values(self, positions: Any) -> NDArray[np.float64]:
        """Static values of several positions, each for its side to move; [positions]."""
        if self.game.rules is None or not kernels.compiled:
            value = self.plain()
            return np.array([float(value(position)) for position in positions])
        errors: list[BaseException] = []
        address, data, keep = self.native(errors.append)
        call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_int64)(address)
        width = len(self.game.start())
        rows = np.ascontiguousarray(positions, dtype=np.int64)
        if len(rows) and rows.shape[1:] != (width,):
            raise ValueError(
                f"expected positions of {width} integers, found an array of shape {rows.shape}"
            )
        step = 8 * width
        values = [call(data, rows.ctypes.data + i * step) for i in range(len(rows))]
        del keep
        if errors:
            raise errors[0]
        return np.array(values)

    def copy(self) -> Evaluator:
        """The same evaluator with weights of its own; TypeError for one that is code."""
        raise TypeError(
            f"{self.name} is code, not weights: expected an evaluator that learns, found a"
            f" {type(self).__name__}"
        )

    def save(self, path: Any) -> None:
        """Write the evaluator to a file that `search.load_evaluator` reads."""
        raise TypeError(
            f"{self.name} is code, not weights: expected a linear evaluator to save, found a"
            f" {type(self).__name__}"
        )


class LinearEvaluator(Evaluator):
    """The sum of weight times term over a feature set; terms of weight 0 cost nothing.

    `weights` is an array in the order of the terms or a mapping from term to weight, in which
    terms left out are 0. `provenance` says how the weights came about; it is saved with them.
    Raises ValueError for a wrong number of weights, an unknown term, NaN or infinity.
    """

    suffix = ".json"

    def __init__(
        self,
        game: Game,
        features: FeatureSet,
        weights: Mapping[str, float] | ArrayLike,
        *,
        name: str = "linear",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.game = game
        self.features = features
        self.name = name
        self.provenance = dict(provenance or {})
        if isinstance(weights, Mapping):
            unknown = [term for term in weights if term not in features.terms]
            if unknown:
                raise ValueError(
                    f"weights: {', '.join(unknown[:8])} not in feature set {features.name}, whose"
                    f" terms are {', '.join(features.names)}"
                )
            weights = [weights.get(term, 0.0) for term in features.names]
        self.weights = np.array(weights, dtype=np.float64)
        if self.weights.shape != (len(features),):
            raise ValueError(
                f"weights: expected {len(features)} for feature set {features.name}, found shape"
                f" {self.weights.shape}"
            )
        if not np.isfinite(self.weights).all():
            bad = [n for n, w in self.term_weights().items() if not math.isfinite(w)]
            raise ValueError(f"weights: expected finite numbers, found NaN or infinity for {bad}")

    def __repr__(self) -> str:
        return f"LinearEvaluator({self.game.name}, {self.features.name}, {self.name!r})"

    def term_weights(self) -> dict[str, float]:
        """The weights by the names of their terms."""
        return dict(zip(self.features.names, self.weights.tolist(), strict=True))

    def copy(self) -> LinearEvaluator:
        """The same evaluator with weights of its own."""
        return LinearEvaluator(
            self.game, self.features, self.weights, name=self.name, provenance=self.provenance
        )

    def plain(self) -> Callable[[Any], float]:
        features, weights = self.features, self.weights

        def value(position: Any) -> float:
            total = 0.0
            for weight, term in zip(weights.tolist(), features.values(position), strict=True):
                if weight != 0.0:
                    total += weight * term
            return total

        return value

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        features = self.features
        lines = [
            "def value_at(data, source):",
            f"    position = {read_position(len(self.game.start()))}",
            *(["    swapped = swap(position)"] if features.swap else []),
            "    total = 0.0",
        ]
        for i in range(len(features)):
            lines += [
                f"    weight = load_float(data, {i})",
                "    if weight != 0.0:",
                f"        total += weight * {features.expression(i)}",
            ]
        lines.append("    return total")
        address = native_function("value_at", "\n".join(lines), features.scope(), SIGNATURE)
        return address, self.weights.ctypes.data, self.weights

    def save(self, path: Any) -> None:
        from search.evaluators.load import save_linear

        save_linear(self, path)


class KernelEvaluator(Evaluator):
    """A kernel `value(position)`, or `value(weights, position)` with an array or arrays."""

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

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        position = read_position(len(self.game.start()))
        block, weights = read_arrays(self.weights if self.weights is not None else ())
        arguments = position if self.weights is None else f"{weights}, {position}"
        text = f"def value_at(data, source):\n    return float(value({arguments}))\n"
        address = native_function("value_at", text, {"value": self.kernel}, SIGNATURE)
        return address, block.ctypes.data, (block, self.weights)


class PythonEvaluator(Evaluator):
    """Any callable that takes a position and returns a number."""

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
            # native code cannot carry an exception: it gets 0, and the search is told to stop
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


def as_evaluator(game: Game, evaluator: Any) -> Evaluator:
    """The evaluator that a name, a file, a kernel, a callable or an evaluator stands for.

    A name is one of the game's hand-crafted evaluators; None values everything 0. Raises
    FileNotFoundError for a name that is neither such nor a file, and ValueError for an evaluator of
    another game or of other rules.
    """
    if isinstance(evaluator, Evaluator):
        expected, found = _described(game), _described(evaluator.game)
        if expected != found:
            raise ValueError(f"expected an evaluator of {expected}, found one of {found}")
        return evaluator
    if evaluator is None:
        return PythonEvaluator(game, lambda position: 0.0, name="zero")
    if isinstance(evaluator, str) and evaluator in game.evaluators:
        return _hand_crafted(game, evaluator)
    if not callable(evaluator):
        from search.evaluators.load import load_evaluator

        return load_evaluator(evaluator, game=game)
    if kernels.is_kernel(evaluator):
        return KernelEvaluator(game, evaluator)
    return PythonEvaluator(game, evaluator)


def _described(game: Game) -> str:
    """What an evaluator has to share with a game: name, rules and, with kernels, the position."""
    width = f" with {len(game.start())} integers a position" if game.rules else ""
    return f"{game.name}, rules version {game.version}{width}"


def _hand_crafted(game: Game, name: str) -> Evaluator:
    entry = game.evaluators[name]
    if kernels.is_kernel(entry):
        return KernelEvaluator(game, entry, name=name)
    features, weights = entry
    if kernels.is_kernel(features):
        return KernelEvaluator(game, features, weights, name=name)
    return LinearEvaluator(game, game.features[features], weights, name=name)
