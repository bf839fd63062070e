"""What evaluators see of positions: feature sets, encodings, phases and outcomes."""

from __future__ import annotations

from games.features.encoding import Encoding
from games.features.feature_set import FeatureSet, Term
from games.features.outcomes import Outcomes
from games.features.phases import Phases

__all__ = ["Encoding", "FeatureSet", "Outcomes", "Phases", "Term"]
