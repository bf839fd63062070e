"""The binary connectives of Samuel's polynomial: two terms joined by "and" and "not".

Samuel cuts each of the two terms at 0 and joins the results, true or false. Here the value
that the evaluator reads is cut, the *difference* of a term between the sides, because the raw value
of MOB is nearly always above 0, which would make half of the connectives constant. In the
docstrings a term *leads* if its difference term(position) - term(swap_sides(position)) is above
0, so "not" includes equality. Every connective is 1 if its combination holds, else 0.

If neither term is level, "neither leads" here is "both lead" for the other side, and likewise
"only the first" and "only the second": in the differences that the evaluator reads, the four
connectives of a pair are then two and their negatives.
"""

from __future__ import annotations

from collections.abc import Callable

from games.checkers.rules import Position, swap_sides
from games.checkers.samuel_mobility import denial, mobility, undenied_mobility
from games.checkers.samuel_terms import INITIAL_ACTIVE, SIMPLE_TERMS, centre_men
from games.kernels import kernel

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


@kernel
def demo(position):
    """DEMO: DENY and MOB lead. Source: Samuel 1959."""
    deny, mob = _deny_mob(position)
    return 1 if deny and mob else 0


@kernel
def demmo(position):
    """DEMMO: DENY leads, MOB does not. Source: Samuel 1959."""
    deny, mob = _deny_mob(position)
    return 1 if deny and not mob else 0


@kernel
def ddemo(position):
    """DDEMO: MOB leads, DENY does not. Source: Samuel 1959."""
    deny, mob = _deny_mob(position)
    return 1 if mob and not deny else 0


@kernel
def ddmm(position):
    """DDMM: neither DENY nor MOB leads. Source: Samuel 1959."""
    deny, mob = _deny_mob(position)
    return 0 if deny or mob else 1


@kernel
def mode_1(position):
    """MODE1: MOBIL and DENY lead. Source: Samuel 1959."""
    mobil, deny = _mobil_deny(position)
    return 1 if mobil and deny else 0


@kernel
def mode_2(position):
    """MODE2: MOBIL leads, DENY does not. Source: Samuel 1959."""
    mobil, deny = _mobil_deny(position)
    return 1 if mobil and not deny else 0


@kernel
def mode_3(position):
    """MODE3: DENY leads, MOBIL does not. Source: Samuel 1959."""
    mobil, deny = _mobil_deny(position)
    return 1 if deny and not mobil else 0


@kernel
def mode_4(position):
    """MODE4: neither MOBIL nor DENY leads. Source: Samuel 1959."""
    mobil, deny = _mobil_deny(position)
    return 0 if mobil or deny else 1


@kernel
def moc_1(position):
    """MOC1: MOBIL and CENT lead. Source: Samuel 1959."""
    mobil, cent = _mobil_cent(position)
    return 1 if mobil and cent else 0


@kernel
def moc_2(position):
    """MOC2: MOBIL leads, CENT does not. Source: Samuel 1959."""
    mobil, cent = _mobil_cent(position)
    return 1 if mobil and not cent else 0


@kernel
def moc_3(position):
    """MOC3: CENT leads, MOBIL does not. Source: Samuel 1959."""
    mobil, cent = _mobil_cent(position)
    return 1 if cent and not mobil else 0


@kernel
def moc_4(position):
    """MOC4: neither MOBIL nor CENT leads. Source: Samuel 1959."""
    mobil, cent = _mobil_cent(position)
    return 0 if mobil or cent else 1


#: In Samuel's order: both lead, only the first, only the second, neither.
CONNECTIVES: dict[str, Callable[[Position], float]] = {
    "DEMO": demo,
    "DEMMO": demmo,
    "DDEMO": ddemo,
    "DDMM": ddmm,
    "MODE1": mode_1,
    "MODE2": mode_2,
    "MODE3": mode_3,
    "MODE4": mode_4,
    "MOC1": moc_1,
    "MOC2": moc_2,
    "MOC3": moc_3,
    "MOC4": moc_4,
}

#: The names that wait while those of `INITIAL_ACTIVE` are active, connectives last: 21 rather than
#: Samuel's 22, because RECAP is omitted.
RESERVE: tuple[str, ...] = tuple(
    name for name in (*SIMPLE_TERMS, *CONNECTIVES) if name not in INITIAL_ACTIVE
)
