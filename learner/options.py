"""Options of learners: what each may be is declared with it, and checked in one place."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, field
from numbers import Integral, Real
from typing import Any

__all__ = [
    "CALIBRATION_GAMES",
    "LOSSES",
    "CALIBRATION_NODES",
    "CALIBRATION_PLIES",
    "Choice",
    "Range",
    "check_options",
    "choice",
    "ranged",
]

#: For chances: the usual games of self-play, positions searched for a move, and plies of a random
#: opening.
CALIBRATION_GAMES, CALIBRATION_NODES, CALIBRATION_PLIES = 200, 500, 6
#: The losses that fits to results and values minimise.
LOSSES = ("cross_entropy", "squared")


@dataclass(frozen=True)
class Range:
    """Finite numbers from `low` or above `above`, to `high` or below `below`."""

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None

    def __str__(self) -> str:
        if self.above is not None:
            high = "" if self.high is None else f" and at most {self.high}"
            below = "" if self.below is None else f" and below {self.below}"
            return f"more than {self.above}{high}{below}"
        if self.high is not None:
            return f"{self.low} to {self.high}"
        return f"at least {self.low}" if self.below is None else f"{self.low} to below {self.below}"

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, Real) or not math.isfinite(value):
            return False
        number = float(value)
        return (
            (self.low is None or number >= self.low)
            and (self.high is None or number <= self.high)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError for a value outside."""
        if value not in self:
            raise ValueError(f"{name}: expected {self}, found {value}")


@dataclass(frozen=True)
class Choice:
    """One of some names."""

    names: tuple[str, ...]

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError for any other value."""
        if value not in self.names:
            raise ValueError(f"{name}: expected one of {', '.join(self.names)}, found {value!r}")


def ranged(
    default: Any = MISSING,
    low: float | None = None,
    high: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    init: bool = True,
) -> Any:
    """Returns a dataclass field with a range; a subclass with another default keeps the range."""
    metadata = {"allowed": Range(low, high, above, below)}
    return field(default=default, init=init, metadata=metadata)


def choice(default: str, names: tuple[str, ...]) -> Any:
    """Returns a dataclass field that takes one of some names."""
    return field(default=default, metadata={"allowed": Choice(names)})


def check_options(options: Any) -> None:
    """Raise ValueError for the first option of a dataclass that is not what its field allows.

    None is allowed where the type of the field has it; int means a whole number.
    """
    kind = type(options)
    allowed = {
        name: entry.metadata["allowed"]
        for part in reversed(kind.__mro__)
        for name, entry in vars(part).get("__dataclass_fields__", {}).items()
        if "allowed" in entry.metadata
    }
    for name, rule in allowed.items():
        value, hint = getattr(options, name), str(kind.__dataclass_fields__[name].type)
        if value is None and "None" in hint:
            continue
        rule.check(name, value)
        if hint.startswith("int") and not isinstance(value, Integral):
            raise ValueError(f"{name}: expected {rule}, found {value}")
