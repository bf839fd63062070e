"""The ranges of values: wins, static values, and the kinds of bounds.

Values are for the side to move. Kernels read these as constants.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

__all__ = [
    "EXACT",
    "GRID",
    "LIMIT",
    "LOWER",
    "PROVEN",
    "RESULT_ONLY",
    "UPPER",
    "WIN",
    "places",
    "places_text",
    "proven_text",
    "proven_value",
    "independent",
    "value_text",
]

#: A win in n plies has the value WIN - n, a loss in n plies has n - WIN.
WIN = 1e12
#: Values above PROVEN or below -PROVEN are proven and count plies to the end of the game.
PROVEN = WIN / 2
#: The depth that a lookup gives for a win or loss of unknown length, whose value is 1 or -1.
RESULT_ONLY = -1
#: Static values lie between -LIMIT and LIMIT.
LIMIT = 1e11

#: Outcomes of more than two sides that add up to a constant are multiples of 1 / GRID, so that sums
#: of them are exact.
GRID = 65536.0

#: Relation of a known value to the true one: equal, a lower bound, or an upper bound.
EXACT, LOWER, UPPER = 0, 1, 2

Value = TypeVar("Value")

_PROVEN = re.compile(r"(won|lost)(?: in ([0-9]{1,9}) (?:ply|plies))?")


def proven_text(value: float) -> str:
    """Returns a proven value as text: `won in 5 plies`, `lost in 1 ply`; empty for other values.

    A game that is over is `won` or `lost`.
    """
    plies = WIN - abs(value)
    if not 0 <= plies < WIN - PROVEN or plies % 1:
        return ""
    end = "won" if value > 0 else "lost"
    return f"{end} in {plies:.0f} {'ply' if plies == 1 else 'plies'}" if plies else end


def proven_value(text: str) -> float | None:
    """Returns the value that `proven_text` wrote, or None for another text."""
    match = _PROVEN.fullmatch(text)
    if match is None:
        return None
    value = WIN - int(match[2] or 0)
    return value if match[1] == "won" else -value


def value_text(value: float) -> str:
    """Returns a value as text: `won in 5 plies`, `lost in 4 plies`, or a number with its sign."""
    proven = proven_text(value)
    if proven:
        return proven
    if abs(value) >= 1000:
        return f"{value:+.0f}"
    return f"{value:+.3f}"


def independent(outcomes: Sequence[Value]) -> Sequence[Value]:
    """Returns the outcomes that say all: of two sides the first, as the second is its negative."""
    return outcomes[:1] if len(outcomes) == 2 else outcomes


def places(outcomes: Sequence[float]) -> tuple[float, ...]:
    """Returns the place of each side, from 1; sides with equal outcomes share the mean of theirs.

    outcomes: of a finished game, one for each side.
    """
    return tuple(
        sum(other > own for other in outcomes) + (list(outcomes).count(own) + 1) / 2
        for own in outcomes
    )


def places_text(names: Sequence[str], outcomes: Sequence[float]) -> str:
    """Returns who came first, second and so on: `A is first, then B and C`.

    Sides with equal outcomes are named together; the result is empty if all have the same one.
    """
    groups = [
        " and ".join(name for name, own in zip(names, outcomes, strict=True) if own == outcome)
        for outcome in sorted(set(outcomes), reverse=True)
    ]
    if len(groups) < 2:
        return ""
    verb = "is" if list(outcomes).count(max(outcomes)) == 1 else "are"
    return f"{groups[0]} {verb} first, then {', then '.join(groups[1:])}"
