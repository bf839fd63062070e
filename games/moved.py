"""Attributes that games once had and that are extras now: a game with one of them is refused."""

from __future__ import annotations

from typing import Any

__all__ = ["refuse_moved"]

#: By the kinds of extras that have taken their place.
MOVED = {
    "Board": "board",
    "FileForm": "file_form",
    "Explicit": "read",
    "RecordKind": "record_kind",
    "Databases": "lookups usual_lookup",
    "UnitTerms": "unit_terms",
    "Calibrations": "calibrations",
    "Selective": "selective",
    "SignatureLayout": "signature",
    "Tuples": "tuples",
    "Programs": "protocols engines",
    "Opponents": "shipped openings opponents pacemakers reference",
    "Referees": "referees",
    "Pieces": "input_text removals",
    "Words": "outcome_names stuck_text situation_text",
    "UsualRuns": "usual_learner recipes",
    "RareKinds": "kinds",
    "LateStarts": "late_position",
}
_KINDS = {name: kind for kind, names in MOVED.items() for name in names.split()}


def refuse_moved(holder: Any) -> None:
    """Raise ValueError if a game or a class has an attribute in place of an extra."""
    for name in _KINDS.keys() & vars(holder).keys():
        raise ValueError(
            f"{getattr(holder, '__name__', type(holder).__name__)}: expected the extra"
            f" {_KINDS[name]} (games/contract.py), found the attribute {name}, which nothing reads"
        )
