"""Hand-crafted backgammon evaluators: feature set and weights, by name.

`hand` is the best that we could write by hand. Its weights were set before any learning was
measured and stay as they are, so that the gain of learning can be measured against them.
"""

from __future__ import annotations

#: A player that only runs home: pips in contact, rolls in a race. Its unit is arbitrary.
PIPS = {"lead": 1.0, "race_rolls": 1.0}

#: In points. Terms with `race` in their names and `borne_off_lead` decide races; all others are for
#: contact. `damage` is the cost of a hit; the side to move hits a turn before the other.
HAND = {
    "lead": 1.0,
    "race": 1.0,
    "race_rolls": 0.5,
    "race_gammons": 1.0,
    "borne_off_lead": 0.3,
    "gammon_lag": -0.15,
    "board": 0.6,
    "outposts": 0.15,
    "primes": 0.3,
    "barriers": 0.4,
    "anchors": 0.25,
    "prisoners": -0.3,
    "stragglers": -0.4,
    "shut_outs": -0.6,
    "bars": -0.1,
    "loose_home_blots": -0.05,
    "stacks": -0.1,
    "dead_checkers": -0.35,
    "more_builders": 0.15,
    "shots": 0.1,
    "their_shots": -0.1,
    "damage": 0.3,
    "their_damage": -0.1,
}

EVALUATORS = {
    "pips": ("linear", PIPS),
    "hand": ("linear", HAND),
}
