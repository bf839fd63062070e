"""The common part of models in torch: tensors, the steps of Adam, and a state to resume from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from learner.positions.packing import packed, unpacked

__all__ = ["NativeModel", "TorchModel", "device_named", "pairs", "threads_of_torch"]

#: Adam's running means of a weight's gradient and of its square.
_MEANS = ("exp_avg", "exp_avg_sq")


class TorchModel:
    """The base of models whose weights are tensors of float32 that learn by Adam.

    A subclass calls `_begin` in its constructor.
    """

    def _begin(
        self,
        arrays: Iterable[Any],
        device: str,
        optimiser: Any = torch.optim.Adam,
        **options: Any,
    ) -> None:
        """Take the weights and bias of each layer, which learn on a device, and their optimiser.

        device: "cpu", "cuda", or "auto" for a GPU if there is one.

        Raises ValueError if the device does not exist.
        """
        self.device = torch.device(device_named(device))
        self.parameters = [
            torch.tensor(array, dtype=torch.float32, device=self.device, requires_grad=True)
            for array in arrays
        ]
        #: averages of the weights, which are part of the state
        self.averages: list[Any] = []
        self.optimiser = optimiser(self.parameters, **options)

    def descend(self, loss: Any, rate: float) -> None:
        """Take a step of a rate down the gradient of a loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def _tensor(self, array: NDArray[Any]) -> Any:
        """Returns an array as a tensor on the device."""
        return torch.from_numpy(array).to(self.device)

    def steps_of(self, parameter: Any) -> int:
        """Returns the number of steps that a tensor has taken."""
        return int(self.optimiser.state.get(parameter, {}).get("step", 0))

    def _numbers(self) -> Iterator[Any]:
        """Yields the tensors that further steps depend on."""
        for parameter in self.parameters:
            state, none = self.optimiser.state.get(parameter, {}), torch.zeros_like(parameter)
            yield from (parameter.detach(), *(state.get(name, none) for name in _MEANS))
        yield from self.averages

    def get_state(self) -> dict[str, Any]:
        """Returns all that further steps depend on, as plain JSON values.

        These are each tensor's number of steps; and the weights and Adam's two means of each, then
        the averages, packed as float32.
        """
        parts = [part.cpu().numpy().reshape(-1) for part in self._numbers()]
        steps = [self.steps_of(parameter) for parameter in self.parameters]
        return {"steps": steps, "numbers": packed(np.concatenate(parts))}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue as the model whose `get_state` returned this state.

        Raises ValueError, and changes nothing, for the state of another model.
        """
        size = sum(part.numel() for part in self._numbers())
        steps, numbers = state["steps"], unpacked(state["numbers"], np.float32, size=size)
        whole = isinstance(steps, list) and all(type(step) is int and step >= 0 for step in steps)
        if not whole or len(steps) != len(self.parameters) or not np.isfinite(numbers).all():
            raise ValueError(
                f"state: expected {len(self.parameters)} numbers of steps and {size} finite"
                f" numbers, found {str(steps)[:60]} and {int(np.isfinite(numbers).sum())} finite"
            )
        self.optimiser.state.clear()
        for step, parameter in zip(steps, self.parameters, strict=True):
            if step:
                count = torch.tensor(float(step), device=parameter.device)
                means = {name: torch.zeros_like(parameter) for name in _MEANS}
                self.optimiser.state[parameter] = {"step": count, **means}
        place = 0
        for part in self._numbers():
            piece = numbers[place : place + part.numel()].reshape(tuple(part.shape))
            part.copy_(self._tensor(piece.copy()))
            place += part.numel()


class NativeModel(TorchModel):
    """The base of models that learn the weights of an evaluator with one net.

    A subclass has `evaluator`; it may set `averaging` to average the weights.
    """

    evaluator: Any
    averaging = 0.0

    def read(self) -> None:
        """Take the evaluator's weights, and start a new average from them."""
        with torch.no_grad():
            for parameter, array in zip(
                self.parameters, self.evaluator.nets[0].arrays, strict=True
            ):
                parameter.copy_(self._tensor(array))
        if self.averaging:
            self.averages = [parameter.detach().clone() for parameter in self.parameters]

    def write(self) -> None:
        """Give the evaluator these weights, or their average.

        Raises FloatingPointError, and writes nothing, if one is NaN or infinite.
        """
        arrays = [tensor.detach().cpu().numpy() for tensor in self.averages or self.parameters]
        if not all(np.isfinite(weights).all() for weights in arrays):
            raise FloatingPointError(
                "expected finite weights, found NaN or infinity: the learning rate is too high"
            )
        for weights, array in zip(arrays, self.evaluator.nets[0].arrays, strict=True):
            array[...] = weights


def pairs(parameters: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Returns the weights and the bias of each layer."""
    return list(zip(*[iter(parameters)] * 2, strict=True))


def device_named(device: str) -> str:
    """Returns the device that "cpu", "cuda" or "auto" (a GPU if there is one) names.

    Raises ValueError if it does not exist.
    """
    if device not in ("cpu", "cuda", "auto"):
        raise ValueError(f"device: expected cpu, cuda or auto, found {device!r}")
    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise ValueError("device: expected cpu or auto on a machine without a GPU, found cuda")
    return "cuda" if device != "cpu" and available else "cpu"


@contextmanager
def threads_of_torch(count: int = 1) -> Iterator[None]:
    """Let torch calculate in `count` threads; with one, sums are added up in one order."""
    before = torch.get_num_threads()
    if before == count:  # so that threads with the same number of threads do not disturb each other
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
