"""Networks of outcomes that follow targets: torch calculates gradients, on a GPU if wanted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from learner.models.schedule import Schedule
from learner.models.torch_model import NativeModel, threads_of_torch
from learner.options import Choice, Range
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["PRECISIONS", "OutcomeModel"]

#: Positions that pass through a network at a time without learning, on a CPU and on a GPU.
_BLOCK, _GPU_BLOCK = 4096, 1 << 16
#: Rows of a block are filled up to a multiple of this in bfloat16, because torch prepares itself
#: again for every new number of rows.
_ROWS = 512
PRECISIONS = ("float32", "bfloat16")
#: The average of weights covers at most one part in this many of the steps.
_RECENT = 4.0


#: Positions that are measured at a time, which bounds the memory.
_CHUNK = 1 << 16


class _Seen(NamedTuple):
    """The inputs of a net, position by position.

    places: inputs of the encoding that are 1, padded with its size, [rows, most]; None without one.
    terms: values of the features, float32 [rows, terms]; None without features.
    possible: 1 for the outcomes that are still possible, else 0, float32 [rows, outcomes].
    """

    places: NDArray[np.int32] | None
    terms: NDArray[np.float32] | None
    possible: NDArray[np.float32]

    def rows(self, chosen: Any) -> _Seen:
        """Returns the inputs of the chosen positions."""
        return _Seen(*(None if part is None else part[chosen] for part in self))  # type: ignore[arg-type]


class OutcomeModel(NativeModel):
    """The net of an evaluator in torch, which learns by Adam (Kingma and Ba 2015).

    evaluator: an evaluator with one net for all phases; `write` gives it the weights, and `read`
        takes its weights again after a change elsewhere.
    batch_size: positions per step.
    equity_share: share of the squared error of the equity in the loss; the rest is the
        cross-entropy of each possible outcome.
    averaging: `write` writes an average of the weights, which keeps this share of itself at every
        step, 0 to below 1, and less in the first steps. With 0 the last weights are written.
    precision: "float32"; or "bfloat16" for the products of all layers but the last, whose sums and
        weights stay float32, which some processors multiply faster.
    threads: threads of torch on the CPU; with one, results depend only on the seed.
    device: "cpu", "cuda", or "auto" for a GPU if there is one.
    """

    def __init__(
        self,
        evaluator: OutcomeNetwork,
        *,
        batch_size: int = 256,
        equity_share: float = 0.0,
        averaging: float = 0.0,
        precision: str = "float32",
        threads: int = 1,
        device: str = "cpu",
    ) -> None:
        Range(1).check("batch_size", batch_size)
        Range(1).check("threads", threads)
        Range(0, 1).check("equity_share", equity_share)
        Range(0, below=1).check("averaging", averaging)
        if len(evaluator.nets) != 1:
            raise ValueError(f"expected a network with one net for all phases, found {evaluator!r}")
        self.evaluator: OutcomeNetwork = evaluator
        self.net = evaluator.nets[0]
        self.batch_size = batch_size
        self.averaging = averaging
        self.equity_share = equity_share
        self.threads = threads
        Choice(PRECISIONS).check("precision", precision)
        self.half = precision == "bfloat16"
        adam = {"lr": 1e-3, "weight_decay": 0.0, "fused": True}
        arrays = map(np.ascontiguousarray, self.net.arrays)
        self._begin(arrays, device, torch.optim.AdamW, **adam)
        self.read()
        self._payoffs = torch.tensor(evaluator.kinds.payoffs, device=self.device)

    # --- learning -----------------------------------------------------------------------------

    def learn(
        self,
        positions: Any,
        targets: NDArray[np.float64],
        *,
        rate: float,
        last_rate: float | None = None,
        epochs: int = 1,
        random: np.random.Generator,
    ) -> float:
        """Pass over positions in random order; the evaluator gets the weights.

        positions: [positions, integers].
        targets: probabilities [positions, outcomes] for the side to move.
        epochs: number of passes.
        rate, last_rate: the rate of the first and the last step; it changes by the same factor with
            every step.

        Returns the mean loss of the last epoch: the cross-entropy minus the targets' own entropy,
        so that 0 is perfect.
        """
        target = self._checked(positions, targets)
        if epochs < 1 or not rate > 0 or (last_rate is not None and not last_rate > 0):
            raise ValueError(
                "epochs, rate, last_rate: expected at least 1 and above 0, found"
                f" {epochs}, {rate} and {last_rate}"
            )
        rates, seen = Schedule.between(rate, last_rate, "geometric"), self._seen(positions)
        count = len(target)
        steps, done = epochs * -(-count // self.batch_size), 0
        total = torch.zeros((), device=self.device)
        with threads_of_torch(self.threads):
            for _ in range(epochs):
                total.zero_()
                order = random.permutation(count)
                for first in range(0, count, self.batch_size):
                    chosen = order[first : first + self.batch_size]
                    rate = rates.at(done, max(1, steps - 1))
                    total += self._descend(seen.rows(chosen), target[chosen], rate)
                    done += 1
            least = self._least(seen, target)
        self.write()
        return (float(total) - least) / max(1, count)

    def step(self, positions: Any, targets: NDArray[Any], rate: float) -> float:
        """Take one step of a rate by all positions, with targets as in `learn`.

        Returns the mean loss, as `learn` does. The evaluator gets the weights by `write`.
        """
        target, seen = self._checked(positions, targets), self._seen(positions)
        with threads_of_torch(self.threads):
            least = self._least(seen, target)
            return float(self._descend(seen, target, rate) - least) / max(1, len(target))

    def _least(self, seen: _Seen, targets: NDArray[np.float32]) -> float:
        """Returns the least possible loss, by the entropy of the targets."""
        target, possible = self._tensor(targets), self._tensor(seen.possible)
        entropy = -(torch.xlogy(target, target) + torch.xlogy(1.0 - target, 1.0 - target))
        return (1.0 - self.equity_share) * float((possible * entropy).sum())

    def _descend(self, seen: _Seen, targets: NDArray[np.float32], rate: float) -> Any:
        """Take a step; returns the sum of the losses before it."""
        loss = self._loss(self._logits(seen), self._tensor(targets), self._tensor(seen.possible))
        self.descend(loss / len(targets), rate)
        if self.averaging:
            steps = self.steps_of(self.parameters[0])
            keep = min(self.averaging, 1.0 - 1.0 / (1.0 + steps / _RECENT))
            with torch.no_grad():
                for mean, parameter in zip(self.averages, self.parameters, strict=True):
                    mean.lerp_(parameter, 1.0 - keep)
        return loss.detach()

    def _loss(self, logits: Any, target: Any, possible: Any) -> Any:
        """Returns the sum of the losses of a batch, including the targets' own entropy."""
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, target, weight=possible, reduction="sum"
        )
        if self.equity_share == 0.0:
            return loss
        error = (possible * (torch.sigmoid(logits) - target)) @ self._payoffs
        return (1.0 - self.equity_share) * loss + self.equity_share * (error * error).sum()

    def _logits(self, seen: _Seen) -> Any:
        """Returns the outputs of the net before the logistic function, [rows, outcomes]."""
        parameters = self.parameters
        inputs = [] if seen.terms is None else [self._tensor(seen.terms)]
        if seen.places is not None:
            size = len(parameters[0]) - (0 if seen.terms is None else seen.terms.shape[1])
            dense = torch.zeros((len(seen.places), size + 1), device=self.device)
            places = self._tensor(seen.places).long()
            inputs.insert(0, dense.scatter_(1, places, 1.0)[:, :size])
        hidden = inputs[0] if len(inputs) == 1 else torch.cat(inputs, dim=1)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half):
            for layer in range(0, len(parameters) - 2, 2):
                hidden = torch.addmm(parameters[layer + 1], hidden, parameters[layer])
                hidden = torch.relu(hidden)
        return torch.addmm(parameters[-1], hidden.float(), parameters[-2])

    # --- asking -------------------------------------------------------------------------------

    def probabilities(self, positions: Any) -> NDArray[np.float64]:
        """Returns probabilities, [positions, outcomes], as `OutcomeNetwork.outcomes` does."""
        seen = self._seen(positions)
        chances = np.zeros(seen.possible.shape)
        block = _BLOCK if self.device.type == "cpu" else _GPU_BLOCK
        with threads_of_torch(self.threads), torch.no_grad():
            for first in range(0, len(chances), block):
                rows = np.arange(first, min(first + block, len(chances)))
                size = len(rows)
                if self.half:
                    rows = np.resize(rows, -(-size // _ROWS) * _ROWS)
                logits = self._logits(seen.rows(rows))[:size].double()
                chances[first : first + size] = torch.sigmoid(logits).cpu().numpy()
        return self.evaluator.kinds.confined(positions, chances)

    def _seen(self, positions: Any) -> _Seen:
        """Returns the net's inputs of positions."""
        parts = [
            positions[first : first + _CHUNK] for first in range(0, max(1, len(positions)), _CHUNK)
        ]
        places = terms = None
        if self.net.encoding is not None:
            active = self.net.encoding.active_rows
            places = np.concatenate([active(part).astype(np.int32) for part in parts])
        if self.net.features is not None:
            measure = self.net.features.measure
            terms = np.concatenate([measure(part).astype(np.float32) for part in parts])
        half = np.full((len(positions), len(self.evaluator.kinds)), 0.5)
        possible = self.evaluator.kinds.confined(positions, half) > 0
        return _Seen(places, terms, possible.astype(np.float32))

    def _checked(self, positions: Any, targets: NDArray[Any]) -> NDArray[np.float32]:
        shape = (len(positions), len(self.evaluator.kinds))
        if targets.shape != shape:
            raise ValueError(f"targets: expected shape {shape}, found {targets.shape}")
        if targets.size and not (targets.min() >= 0 and targets.max() <= 1):  # NaN is neither
            raise ValueError(
                "targets: expected probabilities from 0 to 1, found"
                f" {targets.min()} to {targets.max()}"
            )
        return targets.astype(np.float32)
