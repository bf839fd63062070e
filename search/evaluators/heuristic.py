"""Learned heuristics: an estimate of the cost to the goal, and known heuristics as lower bounds.

h = max(base heuristics, estimate plus offset). In problems whose moves all cost 1 the estimate is
rounded down to a whole number, unless it is for a beam, which gains from finer differences. If the
problem also knows whether the length of a solution is even or odd (`ProblemRules.parity`), the
number has that parity. The estimate is a sum of weights over an encoding's inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.features import Encoding
from games.kernels.memory import read_position
from games.kernels.vectors import stack_block
from games.problem import Heuristic, KernelProblem, Known
from search.evaluators.array_evaluator import ArrayEvaluator, NativeNumber
from search.evaluators.files.arrays import take_array
from search.evaluators.files.header import EvaluatorError, describe_input, find_input

__all__ = ["LearnedHeuristic"]

#: Sums of float32 weights may miss a whole number by this much.
ROUNDING = 1e-3


class LearnedHeuristic(ArrayEvaluator):
    """The sum of the weights of an encoding's inputs, rounded, and not below base heuristics.

    weights: [inputs], in the unit of costs; a copy in float32 is kept in `weights`.
    offset: added to the sum; negative to make overestimates rare.
    base: names of the problem's own heuristics; the result is at least the value of each.
    rounded: whether the estimate is rounded if all moves cost 1.
    proved: the proof that no value exceeds the least cost, in words; empty without one.

    Raises ValueError if the weights do not fit the encoding, if a number is NaN or infinite, or if
    a name in `base` is not a heuristic of the problem.
    """

    form = "plysmith-heuristic-1"
    about = "learned heuristic"
    fields: ClassVar = {"inputs": dict, "offset": float, "base": list, "proved": str}
    optional = ("rounded",)
    offset = NativeNumber()

    def __init__(
        self,
        problem: KernelProblem,
        encoding: Encoding,
        weights: Any,
        *,
        offset: float = 0.0,
        base: Iterable[str] = (),
        rounded: bool = True,
        proved: str = "",
        name: str = "learned",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(problem, name, provenance)
        self.problem = problem
        self.encoding = encoding
        self.weights: NDArray[np.float32] = np.array(weights, dtype=np.float32)
        if self.weights.shape != (encoding.size,) or not np.isfinite(self.weights).all():
            raise ValueError(
                f"weights: expected {encoding.size} finite numbers, found shape {np.shape(weights)}"
            )
        self.base = tuple(map(str, base))
        if not isinstance(rounded, bool):
            raise ValueError(f"rounded: expected true or false, found {rounded!r}")
        self.rounded = rounded
        self.proved = proved
        heuristics = [n for n, e in problem.evaluators.items() if isinstance(e, Heuristic)]
        unknown = [name for name in self.base if name not in heuristics]
        if unknown:
            raise ValueError(
                f"base: expected heuristics among {', '.join(heuristics)}, found {unknown}"
            )
        self._lay_out([self.weights], before=[0])
        self.offset = offset

    @property
    def known(self) -> Known:  # type: ignore[override]
        """The proved relation of the values to the least costs."""
        return Known.BY_ENUMERATION if self.proved else Known.NOTHING

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers, because all moves cost 1."""
        return self.rounded and self.problem.problem.cost is None

    def sums(self, positions: Any) -> NDArray[np.float64]:
        """Returns the sums of the weights of positions, without offset or rounding, [positions]."""
        padded = np.append(self.weights, np.float32(0)).astype(np.float64)
        return np.asarray(padded[self.encoding.active_rows(positions)].sum(axis=1))

    def plain(self) -> Callable[[Any], float]:
        active = kernels.uncompiled(self.encoding.active)
        room = np.zeros(self.encoding.most, dtype=np.int64)
        base = [kernels.uncompiled(self.problem.evaluators[name].value) for name in self.base]
        parity = self.problem.problem.parity
        parity = kernels.uncompiled(parity) if parity is not None else None

        def value(position: Any) -> float:
            total = self.offset
            for place in room[: active(position, room)]:
                total += float(self.weights[place])
            if self.whole:
                total = math.floor(total + ROUNDING)
                if parity is not None and (int(total) - int(parity(position))) & 1:
                    total -= 1.0
            return max(0.0, float(total), *(float(one(position)) for one in base))

        return value

    def _text(self) -> str:
        most, weight = self.encoding.most, "float(weights[uint(places[uint(i + {})])])"
        lines = [
            "def value_at(data, source):",
            f"    position = {read_position(len(self.problem.start()))}",
            "    total = load_float(data, 0)",
            f"    places = array_at(int64_pointer(stack_block({8 * most})), ({most},))",
            f"    weights = array_at(float32_pointer(load_int(data, 1)), ({self.encoding.size},))",
            "    count = int(active(position, places))",
            "    sums = (0.0, 0.0, 0.0, 0.0)",  # so that no addition waits for the one before it
            "    for i in range(0, count - 3, 4):",
            f"        sums = ({', '.join(f'sums[{k}] + {weight.format(k)}' for k in range(4))})",
            "    total += (sums[0] + sums[1]) + (sums[2] + sums[3])",
            "    for i in range(count & ~3, count):",
            f"        total += {weight.format(0)}",
        ]
        if self.whole:
            lines.append(f"    total = floor(total + {ROUNDING})")
            if self.problem.problem.parity is not None:
                lines += [
                    "    if (int(total) - int(parity(position))) & 1:",
                    "        total -= 1.0",
                ]
        lines.append("    total = max(total, 0.0)")
        lines += [
            f"    total = max(total, float(base_{i}(position)))" for i in range(len(self.base))
        ]
        return "\n".join([*lines, "    return total"])

    def scope(self) -> dict[str, Any]:
        scope = {
            "active": self.encoding.active,
            "stack_block": stack_block,
            "floor": math.floor,
            "uint": np.uint64,
        }
        scope |= {
            f"base_{i}": self.problem.evaluators[name].value for i, name in enumerate(self.base)
        }
        parity = self.problem.problem.parity
        return scope if parity is None else {**scope, "parity": parity}

    def _options(self) -> dict[str, Any]:
        options = {"offset": self.offset, "base": list(self.base), "proved": self.proved}
        return options if self.rounded else {**options, "rounded": False}

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.encoding, self.weights), self._options()

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        fields = {"inputs": describe_input(self.game, self.encoding), **self._options()}
        return fields, {"weights": self.weights}

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Any, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if not isinstance(game, KernelProblem):
            raise EvaluatorError(f"expected a problem with one agent, found {game.name}")
        encoding = find_input(content["inputs"], game, inputs)
        if not isinstance(encoding, Encoding):
            raise EvaluatorError(f"expected an encoding, found feature set {encoding.name}")
        weights = take_array(arrays, "weights", np.float32, (encoding.size,))
        options = ("offset", "base", "proved", "rounded")
        return (encoding, weights), {name: content[name] for name in options if name in content}
