"""Whether a game keeps its contract, found out by random play; kernels against their source."""

from __future__ import annotations

from games.check.game import check_game

__all__ = ["check_game"]
