"""A package from outside Plysmith: a game with all that search, play and learners ask of one."""

from sticks import board, learning, searching, session
from sticks.game import Sticks

__all__ = ["Sticks", "board", "learning", "searching", "session"]
