"""Hand-crafted checkers evaluators: feature set and weights, by name.

`classic` is the best that we could write by hand. Its weights were set before any learning was
measured and stay as they are, so that the gain of learning can be measured against them.
"""

from __future__ import annotations

#: Five for a king, one for a man, nothing else.
MATERIAL = {"men": 1.0, "kings": 5.0}

#: Weights in men. A king is worth a little more than a man; position decides the rest.
CLASSIC = {
    "men": 1.0,
    "kings": 1.35,
    "superiority": 2.5,
    "back_row": 0.08,
    "bridge": 0.1,
    "centre": 0.04,
    "king_centre": 0.08,
    "edge": -0.03,
    "advance": 0.015,
    "far_advanced": 0.06,
    "runaways": 0.35,
    "mobility": 0.03,
    "hanging": -0.12,
    "squares_1_5_6": 0.02,
    "trapped_kings": -0.4,
    "supported": 0.03,
}

#: Samuel's polynomial for rote learning (1959): piece advantage, denial of squares, mobility, and
#: control of the centre with advancement, each weighted far above the next; the weights are ours.
#: CENT, DENY and ADV are measured for the other side, as Samuel does, hence their signs; a man is 4
#: of PIECES.
ROTE = {"PIECES": 4096.0, "DENY": -64.0, "MOBIL": 16.0, "CENT": -4.0, "ADV": -4.0}

EVALUATORS = {
    "material": ("classic", MATERIAL),
    "classic": ("classic", CLASSIC),
    "rote": ("samuel", ROTE),
}
