"""Networks of outcomes that follow targets: torch calculates gradients, on a GPU if there is one.

The nets are those of `search.evaluators.outcome_network`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from learner.models.outcome_examples import Examples, Seen, confined
from learner.models.schedule import Schedule
from learner.models.torch_model import TorchModel, threads_of_torch
from learner.options import Range
from learner.positions.packing import arrays_of
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["OutcomeModel"]

#: Positions that go through a net at a time where nothing is learned, on a CPU and on a GPU.
_BLOCK, _GPU_BLOCK = 4096, 1 << 16
#: Rows of a block are filled up to a multiple of this in bfloat16, because torch prepares itself
#: anew for every number of rows.
_ROWS = 512
PRECISIONS = ("float32", "bfloat16", "auto")
#: The average of weights reaches back over at most one part in this many of the steps.
_RECENT = 4.0


class OutcomeModel(TorchModel):
    """The nets of an evaluator in torch, which learn by Adam (Kingma and Ba 2015).

    evaluator: the evaluator whose nets learn; `write` gives it their weights, and `read` takes its
        weights again after a change elsewhere.
    batch: positions per step.
    equity_share: share of the squared error of the equity in the loss; the rest is the
        cross-entropy of each possible outcome.
    averaging: share of itself that the average of the weights, which `write` writes, keeps with
        every step, 0 to below 1; less in the first steps. With 0 the last weights are written.
    precision: "float32"; "bfloat16" for the products of all layers but the last, whose sums and
        weights stay float32; or "auto" for bfloat16 where the device multiplies it faster.
    threads: threads of torch on the CPU; with one, results depend only on the seed.
    device: "cpu", "cuda", or "auto" for a GPU if there is one.
    """

    def __init__(
        self,
        evaluator: OutcomeNetwork,
        *,
        batch: int = 256,
        equity_share: float = 0.0,
        averaging: float = 0.0,
        precision: str = "float32",
        threads: int = 1,
        device: str = "cpu",
    ) -> None:
        Range(1).check("batch", batch)
        Range(1).check("threads", threads)
        Range(0, 1).check("equity_share", equity_share)
        Range(0, below=1).check("averaging", averaging)
        self.evaluator = evaluator
        self.batch = batch
        self.averaging = averaging
        self.equity_share = equity_share
        self.threads = threads
        self.device = torch.device(_device(device))
        self.half = _half(precision, self.device.type)
        arrays = [torch.empty(array.shape, device=self.device) for array in arrays_of(evaluator)]
        self._begin(arrays, torch.optim.AdamW, lr=1e-3, weight_decay=0.0, fused=True)
        ends = np.cumsum([len(net.arrays) for net in evaluator.nets])
        #: where the tensors of each net are
        self._nets = [
            slice(end - len(net.arrays), end) for end, net in zip(ends, evaluator.nets, strict=True)
        ]
        self.read()
        self._payoffs = torch.tensor(evaluator.kinds.payoffs, device=self.device)

    # --- weights ------------------------------------------------------------------------------

    def read(self) -> None:
        """Take the evaluator's weights, from which an average begins anew."""
        with torch.no_grad():
            for parameter, array in zip(self.parameters, arrays_of(self.evaluator), strict=True):
                parameter.copy_(torch.from_numpy(array))
        if self.averaging:
            self.averages = [parameter.detach().clone() for parameter in self.parameters]

    def write(self) -> None:
        """Give the evaluator these weights, or their average.

        Raises FloatingPointError, and writes nothing, if one is NaN or infinite.
        """
        found = [tensor.detach().cpu().numpy() for tensor in self.averages or self.parameters]
        if not all(np.isfinite(weights).all() for weights in found):
            raise FloatingPointError(
                "expected finite weights, found NaN or infinity: the rate of learning is too high"
            )
        for weights, array in zip(found, arrays_of(self.evaluator), strict=True):
            array[...] = weights

    # --- learning -----------------------------------------------------------------------------

    def learn(
        self,
        examples: Examples,
        targets: NDArray[np.float64],
        *,
        rate: float,
        last_rate: float | None = None,
        epochs: int = 1,
        random: np.random.Generator,
    ) -> float:
        """Pass over the examples in random order; each net has steps of its own.

        targets: probabilities [positions, outcomes] for the side to move.
        epochs: number of passes.
        rate, last_rate: the rate of the first and the last step; it changes by the same factor with
            every step.

        Returns the mean loss of the last epoch: the cross-entropy minus the targets' own entropy,
        so that 0 is perfect.
        """
        self._check(examples, targets)
        if epochs < 1 or not rate > 0 or (last_rate is not None and not last_rate > 0):
            raise ValueError(
                "epochs, rate, last_rate: expected at least 1 and above 0, found"
                f" {epochs}, {rate} and {last_rate}"
            )
        total = 0.0
        rates = Schedule.between(rate, last_rate, "geometric")
        with threads_of_torch(self.threads):
            for number, seen in enumerate(examples.seen):
                if len(seen.index):
                    total += self._learn_net(number, seen, targets, rates, epochs, random)
        self.write()
        return total / max(1, len(examples))

    def _learn_net(
        self,
        number: int,
        seen: Seen,
        targets: NDArray[np.float64],
        rates: Schedule,
        epochs: int,
        random: np.random.Generator,
    ) -> float:
        """Train one net; returns the sum of the losses of the last epoch."""
        count = len(seen.index)
        steps, done = epochs * -(-count // self.batch), 0
        total = torch.zeros((), device=self.device)
        for _ in range(epochs):
            total.zero_()
            order = random.permutation(count)
            for first in range(0, count, self.batch):
                chosen = seen.rows(order[first : first + self.batch])
                total += self._descend(number, chosen, targets, rates.at(done, max(1, steps - 1)))
                done += 1
        return float(total) - self._least(seen, targets)

    def step(self, examples: Examples, targets: NDArray[Any], rate: float) -> float:
        """Take one step by all examples, with each net that sees some.

        targets: probabilities [positions, outcomes] for the side to move.
        rate: the rate of the step.

        Returns the mean loss, as `learn` does. The evaluator gets the weights by `write`.
        """
        self._check(examples, targets)
        total = 0.0
        with threads_of_torch(self.threads):
            for number, seen in enumerate(examples.seen):
                if len(seen.index):
                    least = self._least(seen, targets)
                    total += float(self._descend(number, seen, targets, rate) - least)
        return total / max(1, len(examples))

    def _least(self, seen: Seen, targets: NDArray[Any]) -> float:
        """Returns the least possible loss, by the entropy of the targets."""
        target = self._tensor(targets[seen.index].astype(np.float32))
        possible = self._tensor(seen.possible.astype(np.float32))
        entropy = -(torch.xlogy(target, target) + torch.xlogy(1.0 - target, 1.0 - target))
        return (1.0 - self.equity_share) * float((possible * entropy).sum())

    def _descend(self, number: int, seen: Seen, targets: NDArray[Any], rate: float) -> Any:
        """Take a step with a net; returns the sum of the losses before it."""
        target = self._tensor(targets[seen.index].astype(np.float32))
        loss = self._loss(
            self._logits(number, seen), target, self._tensor(seen.possible.astype(np.float32))
        )
        self.descend(loss / len(target), rate)
        if self.averaging:
            own = self.parameters[self._nets[number]]
            keep = min(self.averaging, 1.0 - 1.0 / (1.0 + self.steps_of(own[0]) / _RECENT))
            with torch.no_grad():
                for mean, parameter in zip(self.averages[self._nets[number]], own, strict=True):
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

    def _logits(self, number: int, seen: Seen) -> Any:
        """Returns the outputs of a net before the logistic function, [rows, outcomes]."""
        parameters = self.parameters[self._nets[number]]
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

    def probabilities(self, examples: Examples) -> NDArray[np.float64]:
        """Returns probabilities, [positions, outcomes], as `OutcomeNetwork.outcomes` does."""
        found = np.zeros((len(examples), len(self.evaluator.kinds)))
        block = _BLOCK if self.device.type == "cpu" else _GPU_BLOCK
        with threads_of_torch(self.threads), torch.no_grad():
            for number, seen in enumerate(examples.seen):
                for first in range(0, len(seen.index), block):
                    rows = np.arange(first, min(first + block, len(seen.index)))
                    index = seen.index[rows]
                    if self.half:
                        rows = np.resize(rows, -(-len(rows) // _ROWS) * _ROWS)
                    logits = self._logits(number, seen.rows(rows))[: len(index)].double()
                    found[index] = torch.sigmoid(logits).cpu().numpy()
        return confined(self.evaluator.game, examples.positions, found)

    def _check(self, examples: Examples, targets: NDArray[np.float64]) -> None:
        shape = (len(examples), len(self.evaluator.kinds))
        if targets.shape != shape:
            raise ValueError(f"targets: expected shape {shape}, found {targets.shape}")
        if targets.size and not (targets.min() >= 0 and targets.max() <= 1):  # NaN is neither
            raise ValueError(
                "targets: expected probabilities from 0 to 1, found"
                f" {targets.min()} to {targets.max()}"
            )

    def _tensor(self, array: NDArray[Any]) -> Any:
        return torch.from_numpy(array).to(self.device)


def _device(device: str) -> str:
    """Returns the device of a name.

    Raises ValueError if it does not exist.
    """
    if device not in ("cpu", "cuda", "auto"):
        raise ValueError(f"device: expected cpu, cuda or auto, found {device!r}")
    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise ValueError("device: expected cpu or auto on a machine without a GPU, found cuda")
    return "cuda" if device != "cpu" and available else "cpu"


def _half(precision: str, device: str) -> bool:
    """Returns whether a device is to calculate in bfloat16.

    Raises ValueError for an unknown precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision: expected {', '.join(PRECISIONS)}, found {precision!r}")
    if precision != "auto":
        return precision == "bfloat16"
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))
