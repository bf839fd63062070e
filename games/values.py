"""The ranges of values: wins, static values, and the kinds of bounds.

Values are for the side to move. Kernels read these as constants.
"""

from __future__ import annotations

__all__ = ["EXACT", "LIMIT", "LOWER", "PROVEN", "UPPER", "WIN"]

#: A win in n plies has the value WIN - n, a loss in n plies has n - WIN.
WIN = 1e12
#: Values above PROVEN or below -PROVEN are proven and count plies to the end of the game.
PROVEN = WIN / 2
#: Static values lie between -LIMIT and LIMIT.
LIMIT = 1e11

#: Relation of a known value to the true one: equal, a lower bound, or an upper bound.
EXACT, LOWER, UPPER = 0, 1, 2
