"""For the terminal: a board of its own."""

from __future__ import annotations

from games import extend
from play.terminal.board import BoardText
from sticks.game import Sticks

extend(Sticks, BoardText(lambda record, bottom, paint: "sticks: " + "|" * record.position[0]))
