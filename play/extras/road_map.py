"""The extra of road maps for play: a map whose towns are clicked, if it says where they lie."""

from __future__ import annotations

from typing import Any

from games.extras import extend
from games.puzzles.road_map import RoadMap
from play.web.faces import FaceOf
from play.web.grid_face import PlainFace


class RoadsFace(PlainFace):
    """See `play.web.faces.Face`. Towns and roads as a map; a move is a click on a town."""

    kind = "roads"

    def __init__(self, game: RoadMap) -> None:
        super().__init__(game)
        roads = game.roads.items()
        lengths = {(*sorted((a, b)), cost) for a, ends in roads for b, cost in ends.items()}
        self._map = {
            "towns": [[town, *place] for town, place in (game.places or {}).items()],
            "roads": sorted(lengths),
            "goal": game.goal(),
        }

    def board(self, position: Any) -> dict[str, Any]:
        """Returns towns as [name, x, y], roads as [town, town, length], and the goal."""
        return {**super().board(position), **self._map}


extend(RoadMap, FaceOf(lambda game: PlainFace(game) if game.places is None else RoadsFace(game)))
