"""Networks of outcomes that follow targets: torch calculates gradients, on a GPU if there is one.

The nets are those of `search.evaluators.outcome_network`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from learner.models.outcome_examples import Examples, Seen, confined
from learner.models.schedule import Schedule
from learner.options import Range
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["OutcomeModel", "threads_of_torch"]

#: Positions that go through a net at a time where nothing is learned, on a CPU and on a GPU.
_BLOCK, _GPU_BLOCK = 4096, 1 << 16
#: Rows of a block are filled up to a multiple of this in bfloat16, because torch prepares itself
#: anew for every number of rows.
_ROWS = 512
#: Adam's running means of a weight's gradient and of its square.
_MEANS = ("exp_avg", "exp_avg_sq")
PRECISIONS = ("float32", "bfloat16", "auto")
#: The average of weights reaches back over at most one part in this many of the steps.
_RECENT = 4.0


class OutcomeModel:
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
        self._nets = [
            [
                torch.empty(array.shape, device=self.device)
                for layer in net.layers
                for array in layer
            ]
            for net in evaluator.nets
        ]
        for parameters in self._nets:
            for parameter in parameters:
                parameter.requires_grad_()
        self._averages: list[list[Any]] = []
        self.read()
        self._optimisers = [
            torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.0, fused=True)
            for parameters in self._nets
        ]
        self._payoffs = torch.tensor(evaluator.kinds.payoffs, device=self.device)

    # --- weights ------------------------------------------------------------------------------

    def _pairs(self, nets: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, NDArray[np.float32]]]:
        """Yields each tensor of the nets with the evaluator's array of the same weights."""
        for parameters, net in zip(nets, self.evaluator.nets, strict=True):
            arrays = [array for layer in net.layers for array in layer]
            yield from zip(parameters, arrays, strict=True)

    def read(self) -> None:
        """Take the evaluator's weights, from which an average begins anew."""
        with torch.no_grad():
            for parameter, array in self._pairs(self._nets):
                parameter.copy_(torch.from_numpy(array))
        if self.averaging:
            self._averages = [[p.detach().clone() for p in net] for net in self._nets]

    def write(self) -> None:
        """Give the evaluator these weights, or their average.

        Raises FloatingPointError, and writes nothing, if one is NaN or infinite.
        """
        nets = self._averages or self._nets
        pairs = [(tensor.detach().cpu().numpy(), array) for tensor, array in self._pairs(nets)]
        if not all(np.isfinite(weights).all() for weights, _ in pairs):
            raise FloatingPointError(
                "expected finite weights, found NaN or infinity: the rate of learning is too high"
            )
        for weights, array in pairs:
            array[...] = weights

    def get_state(self) -> tuple[list[int], NDArray[np.float32]]:
        """Returns all on which further steps depend.

        That is Adam's number of steps, net by net; and of every array of weights, net by net, the
        weights, Adam's two means, and the average, if there is one.
        """
        steps, numbers = [], []
        for parameters, optimiser in zip(self._nets, self._optimisers, strict=True):
            state = optimiser.state.get(parameters[0])
            steps.append(int(state["step"]) if state else 0)
        for parts in self._parts():
            numbers += [part.detach().cpu().numpy().reshape(-1) for part in parts]
        return steps, np.concatenate(numbers)

    def set_state(self, steps: Sequence[int], numbers: NDArray[np.float32]) -> None:
        """Go on as the model did of which `get_state` returned these.

        Raises ValueError for another number of them, NaN, infinity and negative numbers of steps.
        """
        size = sum(part.numel() for parts in self._parts() for part in parts)
        if (
            len(steps) != len(self._nets) or any(step < 0 for step in steps)
            or len(numbers) != size or not np.isfinite(numbers).all()
        ):  # fmt: skip
            raise ValueError(f"expected {size} finite numbers, and steps of each net")
        for step, parameters, optimiser in zip(steps, self._nets, self._optimisers, strict=True):
            for parameter in parameters if step else ():
                means = {name: torch.zeros_like(parameter) for name in _MEANS}
                count = torch.tensor(float(step), device=self.device)
                optimiser.state[parameter] = {"step": count, **means}
        place = 0
        with torch.no_grad():
            for parts in self._parts():
                for part in parts:
                    piece = numbers[place : place + part.numel()].reshape(part.shape)
                    part.copy_(torch.from_numpy(piece.copy()))
                    place += part.numel()

    def _parts(self) -> Iterator[list[Any]]:
        """Yields for each array of weights the tensors that `get_state` describes."""
        averages = self._averages or [[] for _ in self._nets]
        nets = zip(self._nets, averages, self._optimisers, strict=True)
        for parameters, means, optimiser in nets:
            for number, parameter in enumerate(parameters):
                state = optimiser.state.get(parameter)
                moments = [state[name] if state else torch.zeros_like(parameter) for name in _MEANS]
                yield [parameter, *moments, *means[number : number + 1]]

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
        if not len(seen.index):
            return 0.0
        places, terms, possible = self._tensors(seen)
        target = self._tensor(targets[seen.index].astype(np.float32))
        steps = epochs * -(-len(target) // self.batch)
        done = 0
        total = torch.zeros((), device=self.device)
        least = (1.0 - self.equity_share) * float((possible * _entropy(target)).sum())
        for _ in range(epochs):
            total.zero_()
            order = self._tensor(random.permutation(len(target)))
            for chosen in torch.split(order, self.batch):
                total += self._descend(
                    number, _take(places, chosen), _take(terms, chosen), target[chosen],
                    possible[chosen], rates.at(done, max(1, steps - 1)),
                )  # fmt: skip
                done += 1
        return float(total) - least

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
                if not len(seen.index):
                    continue
                places, terms, possible = self._tensors(seen)
                target = self._tensor(targets[seen.index].astype(np.float32))
                least = (1.0 - self.equity_share) * (possible * _entropy(target)).sum()
                loss = self._descend(number, places, terms, target, possible, rate)
                total += float(loss - least)
        return total / max(1, len(examples))

    def _descend(
        self, number: int, places: Any, terms: Any, target: Any, possible: Any, rate: float
    ) -> Any:
        """Take a step with a net; returns the sum of the losses before it."""
        optimiser = self._optimisers[number]
        loss = self._loss(self._logits(number, places, terms), target, possible)
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad()
        (loss / len(target)).backward()
        optimiser.step()
        if self.averaging:
            done = float(optimiser.state[self._nets[number][0]]["step"])
            keep = min(self.averaging, 1.0 - 1.0 / (1.0 + done / _RECENT))
            with torch.no_grad():
                for mean, own in zip(self._averages[number], self._nets[number], strict=True):
                    mean.lerp_(own, 1.0 - keep)
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

    def _logits(self, number: int, places: Any, terms: Any) -> Any:
        """Returns the outputs of a net before the logistic function, [rows, outcomes]."""
        parameters = self._nets[number]
        size = len(parameters[0]) - (0 if terms is None else terms.shape[1])
        inputs = [] if terms is None else [terms]
        if places is not None:
            dense = torch.zeros((len(places), size + 1), device=self.device)
            inputs.insert(0, dense.scatter_(1, places.long(), 1.0)[:, :size])
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
                    places, terms, _ = self._tensors(_rows(seen, rows))
                    logits = self._logits(number, places, terms)[: len(index)].double()
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

    def _tensors(self, seen: Seen) -> tuple[Any, Any, Any]:
        """Returns places, terms and possible outcomes on the device."""
        places = None if seen.places is None else self._tensor(seen.places)
        terms = None if seen.terms is None else self._tensor(seen.terms)
        return places, terms, self._tensor(seen.possible.astype(np.float32))


def _rows(seen: Seen, rows: NDArray[np.int64]) -> Seen:
    places = None if seen.places is None else seen.places[rows]
    terms = None if seen.terms is None else seen.terms[rows]
    return Seen(seen.index[rows], places, terms, seen.possible[rows])


def _take(tensor: Any, chosen: Any) -> Any:
    return None if tensor is None else tensor[chosen]


def _entropy(target: Any) -> Any:
    """Returns the entropy of targets, the least possible cross-entropy."""
    return -(torch.xlogy(target, target) + torch.xlogy(1.0 - target, 1.0 - target))


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


@contextmanager
def threads_of_torch(count: int) -> Iterator[None]:
    """Let torch calculate in `count` threads; with one, sums are added up in one order."""
    before = torch.get_num_threads()
    if before == count:  # so that threads which share a number do not disturb one another
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
