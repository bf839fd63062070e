"""The numbers that values are made of: wins, static values, and what a known value bounds.

Values are for the side to move. Kernels read these as constants.
"""

from __future__ import annotations

__all__ = ["EXACT", "LIMIT", "LOWER", "PROVEN", "UPPER", "WIN"]

#: A win in n plies has the value WIN - n, a loss in n plies n - WIN.
WIN = 1e12
#: Values beyond this one count plies to the end of the game.
PROVEN = WIN / 2
#: Static values lie between -LIMIT and LIMIT.
LIMIT = 1e11

#: How a known value bounds the true one: equal to it, a lower bound or an upper bound.
EXACT, LOWER, UPPER = 0, 1, 2
