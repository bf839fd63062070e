"""Checks by random play whether a game keeps its contract, and kernels match their source."""

from __future__ import annotations

from games.check.description import GameDescription, describe_game
from games.check.game import check_game

__all__ = ["GameDescription", "check_game", "describe_game"]
