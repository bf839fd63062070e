"""The layout of signature tables in checkers: the 27 terms and their tables (Samuel 1967).

Terms are grouped if one changes the meaning of another: men about to crown and the pieces at home
that can stop them, the freedom to move and the losses that moves entail, kings in the centre and
kings that cannot get there. Terms that vary most between the moves of a position have seven levels.
Thresholds fill the levels in games between searches; all are mirrored at 0.
"""

from __future__ import annotations

from games.checkers.features import CLASSIC_TERMS
from games.checkers.rules import swap_sides
from games.checkers.samuel_terms import SIMPLE_TERMS
from games.features import FeatureSet
from games.kernels import kernel, popcount

__all__ = ["GROUPS", "MATERIAL", "PHASES", "SECOND", "TERMS", "THRESHOLDS", "phase"]

#: Each group has a term of seven levels, one of five and one of three.
GROUPS: tuple[tuple[str, str, str], ...] = (
    ("king_centre", "squares_1_5_6", "GUARD"),
    ("KCENT", "DIA", "trapped_kings"),
    ("CNTR", "centre", "APEX"),
    ("far_advanced", "back_row", "bridge"),
    ("runaways", "ADV", "CORN"),
    ("edge", "advance", "OREO"),
    ("MOB", "DENY", "hanging"),
    ("THRET", "NODE", "FORK"),
    ("EXPOS", "HOLE", "supported"),
)

#: Kings and the centre; advancing men, and the men left at home; freedom and danger.
SECOND: tuple[tuple[int, ...], ...] = ((0, 1, 2), (3, 4, 5), (6, 7, 8))

#: Terms outside the tables, with fixed weights.
MATERIAL = ("men", "kings", "superiority")

_TERMS = CLASSIC_TERMS | SIMPLE_TERMS

#: The 27 terms in the order of the groups, and the three of material.
TERMS = FeatureSet(
    "signature",
    {name: _TERMS[name] for name in (*(t for group in GROUPS for t in group), *MATERIAL)},
    swap_sides,
)


def _mirrored(*steps: int) -> tuple[int, ...]:
    return (*(-step for step in reversed(steps)), *steps)


_WIDE = {"advance": (3, 7), "MOB": (1, 3, 5), "CNTR": (1, 2, 4)}

#: Those not named in `_WIDE` have their levels one apart.
THRESHOLDS: dict[str, tuple[int, ...]] = {
    name: _mirrored(*_WIDE.get(name, range(1, 4 - place)))
    for group in GROUPS
    for place, name in enumerate(group)
}

PHASES = 6


@kernel
def phase(position):
    """Returns the phase: 0 or 1 without kings (more than 16 pieces, or not), 2 if one side has
    kings, and 3 to 5 if both have (more than 10 pieces, more than 6, at most 6).
    """
    own, opponent, kings, _ = position
    count = popcount(own | opponent)
    if kings == 0:
        return 0 if count > 16 else 1
    if own & kings == 0 or opponent & kings == 0:
        return 2
    return 3 + (count <= 10) + (count <= 6)
