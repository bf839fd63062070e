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
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["OutcomeModel", "largest_difference"]

#: Positions that go through a net at a time where nothing is learned.
_BLOCK = 4096
#: Adam's running means of a weight's gradient and of its square.
_MEANS = ("exp_avg", "exp_avg_sq")


class OutcomeModel:
    """The nets of an evaluator in torch; every `learn` ends with its weights in the evaluator.

    evaluator: the evaluator whose nets learn; `read` takes its weights again after a change
        elsewhere.
    batch: positions per step.
    weight_decay: share of each weight, but of no bias, that a step removes, in units of the rate
        (Loshchilov and Hutter 2019).
    equity_share: share of the squared error of the equity in the loss; the rest is the
        cross-entropy of each possible outcome.
    threads: threads of torch on the CPU; with one, results depend only on the seed.
    device: "cpu", "cuda", or "auto" for a GPU if there is one.
    """

    def __init__(
        self,
        evaluator: OutcomeNetwork,
        *,
        batch: int = 256,
        weight_decay: float = 0.0,
        equity_share: float = 0.0,
        threads: int = 1,
        device: str = "cpu",
    ) -> None:
        if batch < 1 or threads < 1:
            raise ValueError(
                f"batch, threads: expected at least 1, found batch {batch} and threads {threads}"
            )
        if not 0 <= equity_share <= 1:
            raise ValueError(f"equity_share: expected 0 to 1, found {equity_share}")
        if not 0 <= weight_decay < 1e3:
            raise ValueError(f"weight_decay: expected 0 to below 1000, found {weight_decay}")
        self.evaluator = evaluator
        self.batch = batch
        self.equity_share = equity_share
        self.threads = threads
        self.device = torch.device(_device(device))
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
        self.read()
        self._optimisers = [
            torch.optim.AdamW(
                [
                    {"params": parameters[0::2], "weight_decay": weight_decay},
                    {"params": parameters[1::2], "weight_decay": 0.0},
                ],
                lr=1e-3,
                fused=True,
            )
            for parameters in self._nets
        ]
        self._payoffs = torch.tensor(evaluator.kinds.payoffs, device=self.device)

    # --- weights ------------------------------------------------------------------------------

    def _pairs(self) -> Iterator[tuple[Any, NDArray[np.float32]]]:
        for parameters, net in zip(self._nets, self.evaluator.nets, strict=True):
            arrays = [array for layer in net.layers for array in layer]
            yield from zip(parameters, arrays, strict=True)

    def read(self) -> None:
        """Take the evaluator's weights."""
        with torch.no_grad():
            for parameter, array in self._pairs():
                parameter.copy_(torch.from_numpy(array))

    def write(self) -> None:
        """Give the evaluator these weights.

        Raises FloatingPointError, and writes nothing, if one is NaN or infinite.
        """
        pairs = [(parameter.detach().cpu().numpy(), array) for parameter, array in self._pairs()]
        if not all(np.isfinite(weights).all() for weights, _ in pairs):
            raise FloatingPointError(
                "expected finite weights, found NaN or infinity: the rate of learning is too high"
            )
        for weights, array in pairs:
            array[...] = weights

    def get_moments(self) -> tuple[list[int], NDArray[np.float32]]:
        """Returns Adam's number of steps, net by net, and its two means of every weight."""
        steps, means = [], []
        for parameters, optimiser in zip(self._nets, self._optimisers, strict=True):
            states = [optimiser.state.get(parameter) for parameter in parameters]
            steps.append(int(states[0]["step"]) if states[0] else 0)
            for parameter, state in zip(parameters, states, strict=True):
                for name in _MEANS:
                    mean = state[name] if state else torch.zeros_like(parameter)
                    means.append(mean.detach().cpu().numpy().reshape(-1))
        return steps, np.concatenate(means)

    def set_moments(self, steps: Sequence[int], means: NDArray[np.float32]) -> None:
        """Go on as the model did of which `get_moments` returned these.

        Raises ValueError for another number of them, NaN, infinity and negative numbers of steps.
        """
        size = len(_MEANS) * sum(array.size for _, array in self._pairs())
        if (
            len(steps) != len(self._nets) or any(step < 0 for step in steps)
            or len(means) != size or not np.isfinite(means).all()
        ):  # fmt: skip
            raise ValueError(f"moments: expected {size} finite numbers, and steps of each net")
        place = 0
        for step, parameters, optimiser in zip(steps, self._nets, self._optimisers, strict=True):
            for parameter in parameters:
                state = {"step": torch.tensor(float(step))}
                for name in _MEANS:
                    part = means[place : place + parameter.numel()].reshape(parameter.shape)
                    state[name] = self._tensor(part.copy())
                    place += parameter.numel()
                if step:
                    optimiser.state[parameter] = state

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
        with _threads(self.threads):
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
        optimiser = self._optimisers[number]
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
                logits = self._logits(number, _take(places, chosen), _take(terms, chosen))
                loss = self._loss(logits, target[chosen], possible[chosen])
                for group in optimiser.param_groups:
                    group["lr"] = rates.at(done, max(1, steps - 1))
                optimiser.zero_grad()
                (loss / len(chosen)).backward()
                optimiser.step()
                total += loss.detach()
                done += 1
        return float(total) - least

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
        for layer in range(0, len(parameters), 2):
            if layer:
                hidden = torch.relu(hidden)
            hidden = torch.addmm(parameters[layer + 1], hidden, parameters[layer])
        return hidden

    # --- asking -------------------------------------------------------------------------------

    def probabilities(self, examples: Examples) -> NDArray[np.float64]:
        """Returns probabilities, [positions, outcomes], as `OutcomeNetwork.outcomes` does."""
        found = np.zeros((len(examples), len(self.evaluator.kinds)))
        with _threads(self.threads), torch.no_grad():
            for number, seen in enumerate(examples.seen):
                for first in range(0, len(seen.index), _BLOCK):
                    part = _rows(seen, slice(first, first + _BLOCK))
                    places, terms, _ = self._tensors(part)
                    logits = self._logits(number, places, terms).double()
                    found[part.index] = torch.sigmoid(logits).cpu().numpy()
        return confined(self.evaluator.game, examples.positions, found)

    def equity_error(self, examples: Examples, targets: NDArray[np.float64]) -> float:
        """Returns the root mean squared difference between the nets' equities and the targets'."""
        self._check(examples, targets)
        kinds = self.evaluator.kinds
        error = kinds.values(self.probabilities(examples)) - kinds.values(targets)
        return float(np.sqrt(np.mean(error**2))) if len(error) else 0.0

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


def largest_difference(evaluator: OutcomeNetwork, positions: Any) -> float:
    """Returns the largest difference between the probabilities of torch and of native code."""
    examples = Examples(evaluator, positions)
    calculated = OutcomeModel(evaluator).probabilities(examples)
    return float(np.abs(calculated - evaluator.outcomes(examples.positions)).max(initial=0.0))


def _rows(seen: Seen, rows: slice) -> Seen:
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


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let torch calculate in `count` threads; with one, sums are added up in one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
