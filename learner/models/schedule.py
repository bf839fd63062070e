"""Learning rates that change during training."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Schedule"]

SHAPES = ("linear", "geometric")


@dataclass(frozen=True)
class Schedule:
    """A learning rate that changes from `first` to `share * first`.

    first: the rate at the beginning, above 0.
    share: the last rate as a share of the first; 1 for a constant rate.
    shape: "linear", or "geometric" for the same factor with every step.

    Raises ValueError for a rate or share that is not above 0, and for another shape.
    """

    first: float
    share: float = 1.0
    shape: str = "linear"

    def __post_init__(self) -> None:
        if not (self.first > 0 and self.share > 0):
            raise ValueError(
                f"rate: expected a first and a last one above 0, found {self.first} and"
                f" {self.first * self.share}"
            )
        if self.shape not in SHAPES:
            raise ValueError(f"shape: expected one of {', '.join(SHAPES)}, found {self.shape!r}")

    @classmethod
    def between(cls, first: float, last: float | None, shape: str = "linear") -> Schedule:
        """Returns the schedule from one rate to another; with `last` None the rate is constant."""
        return cls(first, 1.0 if last is None or not first > 0 else last / first, shape)

    def at(self, done: float, total: float) -> float:
        """Returns the rate after `done` of `total` steps, games or epochs."""
        if self.shape == "geometric":
            return float(self.first * self.share ** (done / total))
        # the order of operations decides the last bits of training results
        return float(self.first * (1.0 - (1.0 - self.share) * done / total))
