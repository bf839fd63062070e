"""n-tuple networks that learn: every weight has a step size of its own (temporal coherence).

The weights of the tables that a position looks up share the correction of its error. A weight whose
corrections agree in sign learns at the full rate; if they cancel, it comes to rest. The rate
therefore needs no schedule, and rarely used weights learn as fast as common ones.

Sources: D. F. Beal and M. C. Smith, "Temporal Coherence and Prediction Decay in TD Learning"
(1999); S. Bagheri, M. Thill, P. Koch and W. Konen, "Online Adaptable Learning Rates for the Game
Connect-4" (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.extras import extra
from games.features import Cells, TupleLayout
from games.features.walks import WALKS, Squares, walks
from games.kernels import kernel
from learner.positions.packing import packed, unpacked
from search import as_evaluator
from search.evaluators.tuples import TupleEvaluator, Tuples, find_indices

__all__ = ["TupleModel", "tuple_model"]


def tuple_model(
    game: Game,
    tuples: Any,
    *,
    scale: float,
    start: Any = None,
    name: str = "tuples",
    seed: int = 0,
) -> TupleModel:
    """Returns a model of an n-tuple network.

    tuples: a layout, the name of one of the game's, or "walks:N,L" for N groups of L squares drawn
        from the game's cells.
    scale: the value that is squashed to tanh(1).
    start: an evaluator of the same layout, whose weights are copied (default: all weights are 0).
    seed: of the groups that are drawn.

    Raises ValueError for an unknown layout, or a `start` of another kind.
    """
    named = Tuples.of(game).named
    layout = named.get(tuples) if isinstance(tuples, str) else tuples
    own = extra(game, Cells)
    cells = own if own is not None and own.of_a_board else extra(game, Squares)
    if isinstance(tuples, str) and tuples.startswith(WALKS) and cells is not None:
        layout = walks(cells, tuples, seed)
    if layout is None and cells is None and not named:
        raise ValueError(
            "tuples: expected a game with an extra games.features.Cells (a games.grid.Grid makes"
            " it), games.features.walks.Squares or search.evaluators.tuples.Tuples, found"
            f" {game.name} without them"
        )
    if not isinstance(layout, TupleLayout):
        layouts = [*named, *["walks:N,L"] * (cells is not None)]
        raise ValueError(
            f"tuples: expected {' or '.join(layouts) or 'none'} for {game.name}, found {tuples!r}"
        )
    if start is None:
        return TupleModel(TupleEvaluator(game, layout, name=name), scale=scale)
    source = as_evaluator(game, start)
    if not isinstance(source, TupleEvaluator) or source.layout != layout:
        raise ValueError(
            f"expected an n-tuple network of the same layout to start from, found {source!r}"
        )
    return TupleModel(TupleEvaluator(game, layout, source.weights, name=name), scale=scale)


@kernel(
    signature="float64(int64[:, ::1], float64[::1], float64[::1], int64[::1], int64, int32[::1],"
    " int32[:, ::1], float32[::1], float32[::1], float32[::1], int32[::1], float64, float64)"
)
def _descend(
    rows, low, high, order, turn, starts, offsets, weights, sums, sizes, indices, rate, scale
):  # fmt: skip
    """Pass over positions in an order; returns the sum of the squared errors before each step.

    rows: [positions, most], active inputs, padded with the number of inputs.
    turn: the input by which the sum of the weights is negated, see `TupleLayout`.
    low, high: intervals of squashed values.
    weights, sums, sizes: [weights], the weights, the sums of their corrections and of the sizes of
        these.
    indices: [lookups], room for the indices of a position.
    """
    total = 0.0
    padding = len(offsets) - 1
    lookups = len(starts)
    for i in order:
        count = 0
        while count < rows.shape[1] and rows[i, count] != padding:
            count += 1
        sign = find_indices(rows[i], count, turn, starts, offsets, indices)
        value = 0.0
        for index in indices:
            value += weights[index]
        squashed = np.tanh(sign * value / scale)
        error = min(max(squashed, low[i]), high[i]) - squashed
        if error == 0.0:
            continue
        total += error * error
        # the slope is raised by a tenth of its distance from 1, so that values far out return
        change = sign * error * (1.0 - 0.9 * squashed * squashed)
        for index in indices:
            share = abs(sums[index]) / sizes[index] if sizes[index] > 0.0 else 1.0
            weights[index] += rate * scale * share * change / lookups
            sums[index] += change
            sizes[index] += abs(change)
    return total


class TupleModel:
    """An n-tuple network that follows targets, position by position.

    evaluator: the evaluator that learns.
    scale: the value that is squashed to tanh(1).
    """

    def __init__(self, evaluator: TupleEvaluator, *, scale: float) -> None:
        self.evaluator: TupleEvaluator = evaluator
        self.inputs = evaluator.layout.encoding
        self.scale = scale
        self._sums = np.zeros_like(evaluator.weights)
        self._sizes = np.zeros_like(evaluator.weights)

    def learn(
        self,
        rows: NDArray[Any],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        rate: float,
        random: np.random.Generator,
    ) -> float:
        """As in `Model`; rows: active inputs; rate: the share of an error that one step corrects,
        while all weights agree.
        """
        starts, offsets = self.evaluator.layout.lookups
        low, high = (np.ascontiguousarray(bound, dtype=np.float64) for bound in (low, high))
        total = _descend(
            np.ascontiguousarray(rows, dtype=np.int64), low, high, random.permutation(len(rows)),
            self.evaluator.layout.turn, starts, offsets, self.evaluator.weights,
            self._sums, self._sizes, np.zeros(len(starts), dtype=np.int32), rate, self.scale,
        )  # fmt: skip
        return float(total) / max(1, len(rows))

    def get_state(self) -> dict[str, Any]:
        """Returns the weights and the sums of their corrections, packed as text."""
        return {
            "weights": packed(self.evaluator.weights),
            "sums": packed(self._sums),
            "sizes": packed(self._sizes),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state; the evaluator keeps its array of weights."""
        parts = {}
        for name in ("weights", "sums", "sizes"):
            parts[name] = unpacked(state[name], np.float32, size=len(self._sums))
            if not np.isfinite(parts[name]).all():
                raise ValueError(f"{name}: expected finite numbers, found NaN or infinity")
        self.evaluator.weights[:] = parts["weights"]
        self._sums[:], self._sizes[:] = parts["sums"], parts["sizes"]
