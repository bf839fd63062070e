"""The binary connectives of Samuel's polynomial: two terms joined by "and" and "not".

Samuel cuts each of the two terms at 0 and joins the results, true or false. Here the value
that the evaluator reads is cut, the *difference* of a term between the sides, because the raw value
of MOB is nearly always above 0, which would make half of the connectives constant. In the
docstrings a term *leads* if its difference term(position) - term(swap_sides(position)) is above
0, so "not" includes equality. Every connective is 1 if its combination holds, else 0.

If neither term is level, "neither leads" here is "both lead" for the other side, and "only the
first" is "only the second". So among the differences that the evaluator reads, the four connectives
of a pair are two and their negatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.checkers.rules import Position, swap_sides
from games.checkers.samuel_mobility import denial, mobility, undenied_mobility
from games.checkers.samuel_terms import INITIAL_ACTIVE, SIMPLE_TERMS, centre_men
from games.kernels import family, kernel

__all__ = ["CONNECTIVES", "RESERVE"]


@kernel
def _deny_mob(position):
    """Whether DENY leads, and whether MOB does."""
    swapped = swap_sides(position)
    return denial(position) > denial(swapped), mobility(position) > mobility(swapped)


@kernel
def _mobil_deny(position):
    """Whether MOBIL leads, and whether DENY does."""
    swapped = swap_sides(position)
    deny = denial(position) - denial(swapped)
    return mobility(position) - mobility(swapped) > deny, deny > 0


@kernel
def _mobil_cent(position):
    """Whether MOBIL leads, and whether CENT does."""
    swapped = swap_sides(position)
    return (
        undenied_mobility(position) > undenied_mobility(swapped),
        centre_men(position) > centre_men(swapped),
    )


#: Placeholders: the kernel that returns which of a pair leads, and the case in which the term is 1.
LEADS, FIRST, SECOND = _deny_mob, True, True


def connective(position):
    """Returns 1 if exactly the required terms of a pair lead."""
    first, second = LEADS(position)
    return 1 if first == FIRST and second == SECOND else 0


def _pair(names: str, leads: Any, first: str, second: str) -> dict[str, Any]:
    """Returns the four connectives of a pair: both lead, only the first, only the second, neither.

    leads: kernel that returns whether each of the pair leads.
    """
    says = (
        f"{first} and {second} lead", f"{first} leads, {second} does not",
        f"{second} leads, {first} does not", f"neither {first} nor {second} leads",
    )  # fmt: skip
    combinations = ((True, True), (True, False), (False, True), (False, False))
    return {
        name: family(
            connective, doc=f"{name}: {said}. Source: Samuel 1959.", LEADS=leads, FIRST=one,
            SECOND=other,
        ).connective
        for name, said, (one, other) in zip(names.split(), says, combinations, strict=True)
    }  # fmt: skip


#: In Samuel's order.
CONNECTIVES: dict[str, Callable[[Position], float]] = {
    **_pair("DEMO DEMMO DDEMO DDMM", _deny_mob, "DENY", "MOB"),
    **_pair("MODE1 MODE2 MODE3 MODE4", _mobil_deny, "MOBIL", "DENY"),
    **_pair("MOC1 MOC2 MOC3 MOC4", _mobil_cent, "MOBIL", "CENT"),
}

#: The names in the reserve while those of `INITIAL_ACTIVE` are active, connectives last: 21, not
#: Samuel's 22, because RECAP is omitted.
RESERVE: tuple[str, ...] = tuple(
    name for name in (*SIMPLE_TERMS, *CONNECTIVES) if name not in INITIAL_ACTIVE
)
