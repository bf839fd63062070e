"""Checks by random play whether a game keeps its contract, and kernels match their source."""

from __future__ import annotations

from games.check.game import check_game

__all__ = ["check_game"]
