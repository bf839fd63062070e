"""Hand-crafted Connect Four evaluators: feature set and weights, by name.

`hand` is the best that we could write by hand; its weights stay as they are, so that what learning
gains can be measured against them.
"""

from __future__ import annotations

__all__ = ["EVALUATORS"]

#: The middle column, through which most lines of four go, and nothing else.
CENTRE = {"centre": 1.0, "near_centre": 0.5}

#: In squares that complete a four.
HAND = {"centre": 0.2, "near_centre": 0.1, "threats": 1.0, "ready": 2.0}

EVALUATORS = {
    "centre": ("lines", CENTRE),
    "hand": ("lines", HAND),
}
