"""Hand-crafted Connect Four evaluators: feature set and weights, by name.

`hand` is the best that we could write by hand. Its weights stay as they are, so that the gain of
learning can be measured against them.
"""

from __future__ import annotations

__all__ = ["EVALUATORS"]

#: Only the middle columns, through which most lines of four go.
CENTRE = {"centre": 1.0, "near_centre": 0.5}

#: Weights in squares that complete a four.
HAND = {"centre": 0.2, "near_centre": 0.1, "threats": 1.0, "ready": 2.0}

EVALUATORS = {
    "centre": ("lines", CENTRE),
    "hand": ("lines", HAND),
}
