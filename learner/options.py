"""Options of learners: each declares its allowed values, which are checked in one place."""

from __future__ import annotations

import math
from dataclasses import MISSING, Field, dataclass, field
from numbers import Integral, Real
from typing import Any

__all__ = [
    "CALIBRATION_GAMES",
    "LOSSES",
    "CALIBRATION_NODES",
    "CALIBRATION_PLIES",
    "Choice",
    "Range",
    "Setting",
    "check_options",
    "choice",
    "ranged",
    "settings_of_class",
]

#: For chances: the usual games of self-play, positions searched for a move, and plies of a random
#: opening.
CALIBRATION_GAMES, CALIBRATION_NODES, CALIBRATION_PLIES = 200, 500, 6
#: The losses that fits to results and values minimise.
LOSSES = ("cross_entropy", "squared")
#: Types that also accept the values of another type.
WIDER = {"int": "float", "list": "tuple"}


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


@dataclass(frozen=True)
class Setting:
    """An option of a learner.

    type: its type as written, such as "int | None".
    default: its default; None also if it cannot be read without importing.
    allowed: the values of the type that it may have, if not all.
    """

    type: str
    default: Any = None
    allowed: Range | Choice | None = None

    @classmethod
    def of(cls, hint: str, made: Any, before: Setting | None = None) -> Setting:
        """Returns the option of a field of a dataclass.

        made: the field, or its default.
        before: the option of the base class; if only the default differs, its range stays.
        """
        allowed = None if before is None else before.allowed
        if isinstance(made, Field):
            allowed = made.metadata.get("allowed", allowed)
            made = None if made.default is MISSING else made.default
        return cls(hint, made, allowed)

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError for a value of another type, or one that is not allowed."""
        kinds = {part.partition("[")[0] for part in self.type.split(" | ")}
        given = "None" if value is None else type(value).__name__
        if isinstance(value, Real) and not isinstance(value, bool):
            given = "int" if isinstance(value, Integral) else "float"
        if not kinds & {"Any", given, WIDER.get(given)}:
            raise ValueError(f"{name}: expected {self.type}, found {value!r}")
        if self.allowed is not None and value is not None:
            self.allowed.check(name, value)


def settings_of_class(kind: type) -> dict[str, Setting]:
    """Returns the options of a dataclass by name."""
    result: dict[str, Setting] = {}
    for part in reversed(kind.__mro__):
        for name, entry in vars(part).get("__dataclass_fields__", {}).items():
            result[name] = Setting.of(str(entry.type), entry, result.get(name))
    return {name: setting for name, setting in result.items() if _is_option(kind, name)}


def _is_option(kind: Any, name: str) -> bool:
    entry: Field[Any] = kind.__dataclass_fields__[name]
    return entry.init and not str(entry.type).startswith("ClassVar")


def check_options(options: Any) -> None:
    """Raise ValueError for the first option of a dataclass that its field does not allow."""
    for name, setting in settings_of_class(type(options)).items():
        if setting.allowed is not None:
            setting.check(name, getattr(options, name))
