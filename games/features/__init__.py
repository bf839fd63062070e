"""Inputs of evaluators: feature sets, encodings, phases, outcomes and cells."""

from __future__ import annotations

from games.features.cells import Cells, Kind
from games.features.encoding import Encoding
from games.features.feature_set import FeatureSet, Term
from games.features.outcomes import Outcomes
from games.features.phases import Phases
from games.features.tuples import Group, TupleLayout, blocks, straight_lines

__all__ = [
    "Cells",
    "Encoding",
    "FeatureSet",
    "Group",
    "Kind",
    "Outcomes",
    "Phases",
    "Term",
    "TupleLayout",
    "blocks",
    "straight_lines",
]
