"""Hand-crafted Connect Four evaluators: feature set and weights, by name.

`hand` is the best that we could write by hand. Its weights stay as they are, so that the gain of
learning can be measured against them.
"""

from __future__ import annotations

__all__ = ["CALIBRATIONS", "EVALUATORS"]

#: Only the middle columns, through which most lines of four go.
CENTRE = {"centre": 1.0, "near_centre": 0.5}

#: Weights in squares that complete a four.
HAND = {"centre": 0.2, "near_centre": 0.1, "threats": 1.0, "ready": 2.0}

EVALUATORS = {
    "centre": ("lines", CENTRE),
    "hand": ("lines", HAND),
}

#: By `python -m learner calibrate connect_four hand --games 400 --nodes 2000 --plies 4`. The
#: results of `centre` against itself do not rise with its values.
CALIBRATIONS = {"hand": {"scale": (3.357,), "draw": (1.372,), "evidence": {"nodes": 2000}}}
