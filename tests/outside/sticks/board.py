"""For the browser: a board of its own, drawn as a grid; and usual opponents."""

from __future__ import annotations

from typing import Any

from games import extend
from games.board import Board
from games.truth import Exhaustive
from play.judging.truth import Referees
from play.players.opponents import Opponents
from play.web.faces import FaceOf
from play.web.grid_face import GridFace
from play.words import Words
from sticks.game import Sticks


class SticksFace(GridFace):
    """The grid, with the number of sticks under it."""

    def board(self, position: Any) -> dict[str, Any]:
        return {**super().board(position), "text": f"{position[0]} sticks"}


extend(
    Sticks,
    Board(1, 9, lambda p: dict.fromkeys(range(p[0]), (None, "|")), lambda p, move: [p[0] - move]),
    FaceOf(SticksFace),
    Opponents(("random", "count"), ("count",)),
    Referees({"truth": Exhaustive}),
    Words(stuck=lambda position: "has no stick left"),
)
