"""SPSA: raise a noisy objective in several numbers at once, by two of its values a step.

All numbers are moved by a step of random sign, and the two opposite settings are compared. Sources:
J. C. Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient
approximation" (1992) and "Implementation of the simultaneous perturbation algorithm" (1998), whose
exponents these are; steps are given by their size at the end, as fishtest and OpenBench do. The
result is the mean of the path's last part, which varies less than its end (B. Polyak and A.
Juditsky, 1992).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Parameter", "Spsa", "parse_parameter"]

Floats = NDArray[np.float64]
#: Spall's exponents of the size of moves and of steps, and his A as a share of the iterations.
ALPHA, GAMMA, A = 0.602, 0.101, 0.1
#: The total movement of a number, in steps at the end, if one setting won every game.
REACH = 60.0
#: The default step as a share of the range, and the least of a whole number.
STEP, LEAST = 0.1, 0.5
#: The last part of the path, whose mean is the result.
LAST = 0.25


@dataclass(frozen=True)
class Parameter:
    """A number to tune.

    name: its name.
    start: where it begins, within the bounds.
    low, high: its bounds.
    step: distance of the settings that are compared, from the middle, at the end of the tune; NaN
        for a tenth of the range, of a whole number at least 1.
    whole: whether it is a whole number.

    Raises ValueError for bounds that cross, a start outside, and a step that is not above 0, or
    below a half of a whole number.
    """

    name: str
    start: float
    low: float
    high: float
    step: float = math.nan
    whole: bool = False

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(
                f"{self.name}: expected bounds in order, found {self.low:g} and {self.high:g}"
            )
        if not self.low <= self.start <= self.high:
            raise ValueError(
                f"{self.name}: expected a start within {self.low:g} to {self.high:g}, found"
                f" {self.start:g}"
            )
        if math.isnan(self.step):
            usual = STEP * (self.high - self.low)
            object.__setattr__(self, "step", max(usual, 1.0) if self.whole else usual)
        least = LEAST if self.whole else 0.0
        if not (0 < self.step < math.inf and self.step >= least):
            wanted = f"of at least {least}" if self.whole else "above 0"
            raise ValueError(f"{self.name}: expected a step {wanted}, found {self.step:g}")
        numbers = (self.start, self.low, self.high)
        if self.whole and any(number != round(number) for number in numbers):
            raise ValueError(
                f"{self.name}: expected whole numbers, found"
                f" {':'.join(f'{number:g}' for number in numbers)}"
            )

    def rounded(self, value: float) -> float:
        """Returns a value as it is played: whole, or of five digits, and within the bounds."""
        value = round(value) if self.whole else float(f"{value:.5g}")
        return float(min(max(value, self.low), self.high))


def parse_parameter(text: str) -> dict[str, Any]:
    """Returns the fields of a `Parameter` that NAME=START:LOW:HIGH[:STEP] gives.

    Raises ValueError for another text.
    """
    parts = re.fullmatch(r"(.+)=([^:]+):([^:]+):([^:]+)(?::([^:]+))?", text)
    try:
        if parts is None:
            raise ValueError
        numbers = [float(part) for part in parts.groups()[1:] if part is not None]
    except ValueError:
        raise ValueError(
            f"parameter: expected NAME=START:LOW:HIGH[:STEP], found {text[:80]!r}"
        ) from None
    fields = ("start", "low", "high", "step")
    return {"name": parts[1], **dict(zip(fields, numbers, strict=False))}


class Spsa:
    """The path of a tune.

    parameters: what is tuned.
    iterations: number of steps in all.
    seed: decides the signs.

    Attributes:
        done: number of steps made.
        theta: where the path is, [parameters].
    """

    def __init__(self, parameters: Sequence[Parameter], iterations: int, seed: int) -> None:
        self.parameters, self.iterations, self.seed = tuple(parameters), iterations, seed
        self.low, self.high, self.step, self.theta = (
            np.array([getattr(one, name) for one in parameters], dtype=np.float64)
            for name in ("low", "high", "step", "start")
        )
        self.done = 0
        self._sum = np.zeros_like(self.theta)

    def ask(self) -> tuple[dict[str, float], dict[str, float]]:
        """Returns the two settings to compare next, by the names of the parameters."""
        move = self._width() * self._signs()
        return self.setting(self.theta + move), self.setting(self.theta - move)

    def tell(self, lead: float) -> None:
        """Make a step: `lead` is the mean of wins less losses a game of the first setting."""
        done, whole = self.done, self.iterations
        rate = REACH / whole * ((1 + A) * whole / (A * whole + done + 1)) ** ALPHA
        width = self._width() / self.step  # a move is by the gradient: lead over width
        move = rate * self.step * lead / width * self._signs()
        self.theta = np.clip(self.theta + move, self.low, self.high)
        self.done += 1
        if self.done > (1 - LAST) * whole:
            self._sum += self.theta

    def setting(self, values: Floats) -> dict[str, float]:
        """Returns values as they are played, by the names of the parameters."""
        pairs = zip(self.parameters, values.tolist(), strict=True)
        return {one.name: one.rounded(value) for one, value in pairs}

    def tuned(self) -> dict[str, float]:
        """Returns the result, once all steps are made."""
        return self.setting(self._sum / (self.iterations - int((1 - LAST) * self.iterations)))

    def _width(self) -> Floats:
        width: Floats = self.step * (self.iterations / (self.done + 1)) ** GAMMA
        return width

    def _signs(self) -> Floats:
        random = np.random.default_rng((self.seed, self.done))
        signs: Floats = 2.0 * random.integers(0, 2, len(self.theta)).astype(np.float64) - 1.0
        return signs
