"""Road maps: towns, roads between them and their lengths; in plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.errors import PositionError, stripped
from games.problem import Heuristic, Known, Problem

__all__ = ["MIDWEST", "ROMANIA", "RoadMap", "Romania"]

#: A course's map of the Midwest; neighbours are tried in this order.
MIDWEST: Mapping[str, Sequence[str]] = {
    "Rochester": ("Sioux Falls", "Minneapolis", "La Crosse", "Dubuque"),
    "Sioux Falls": ("Fargo", "Rochester"),
    "Minneapolis": ("St. Cloud", "Duluth", "Wausau", "La Crosse", "Rochester"),
    "La Crosse": ("Minneapolis", "Green Bay", "Dubuque", "Rochester"),
    "Dubuque": ("Rochester", "La Crosse", "Rockford"),
    "Fargo": ("Grand Forks", "St. Cloud", "Sioux Falls"),
    "Grand Forks": ("International Falls", "Bemidji", "Fargo"),
    "Bemidji": ("Grand Forks", "International Falls", "Duluth", "St. Cloud"),
    "International Falls": ("Grand Forks", "Bemidji", "Duluth"),
    "St. Cloud": ("Bemidji", "Duluth", "Minneapolis", "Fargo"),
    "Duluth": ("International Falls", "Bemidji", "St. Cloud", "Minneapolis"),
    "Wausau": ("Minneapolis", "Green Bay"),
    "Green Bay": ("Milwaukee", "La Crosse", "Wausau"),
    "Milwaukee": ("Rockford", "Chicago", "Madison", "Green Bay"),
    "Rockford": ("Dubuque", "Madison", "Chicago", "Milwaukee"),
    "Madison": ("Rockford", "Milwaukee"),
    "Chicago": ("Rockford", "Milwaukee"),
}

#: The places of its towns: miles east and north of Chicago, to draw the map.
_MIDWEST_PLACES: Mapping[str, tuple[float, float]] = {
    "Rochester": (-241, 145), "Sioux Falls": (-448, 115), "Minneapolis": (-279, 212),
    "La Crosse": (-179, 131), "Dubuque": (-152, 41), "Fargo": (-439, 345),
    "Grand Forks": (-446, 417), "Bemidji": (-346, 386), "International Falls": (-274, 464),
    "St. Cloud": (-324, 253), "Duluth": (-218, 339), "Wausau": (-99, 213),
    "Green Bay": (-18, 181), "Milwaukee": (-13, 80), "Rockford": (-74, 27),
    "Madison": (-88, 82), "Chicago": (0, 0),
}  # fmt: skip

#: Roads of Romania in km (Russell and Norvig, figure 3.2), each named once.
_ROMANIA: Mapping[str, Mapping[str, float]] = {
    "Arad": {"Zerind": 75, "Sibiu": 140, "Timisoara": 118},
    "Bucharest": {"Urziceni": 85, "Pitesti": 101, "Giurgiu": 90, "Fagaras": 211},
    "Craiova": {"Drobeta": 120, "Rimnicu Vilcea": 146, "Pitesti": 138},
    "Drobeta": {"Mehadia": 75},
    "Eforie": {"Hirsova": 86},
    "Fagaras": {"Sibiu": 99},
    "Hirsova": {"Urziceni": 98},
    "Iasi": {"Vaslui": 92, "Neamt": 87},
    "Lugoj": {"Timisoara": 111, "Mehadia": 70},
    "Oradea": {"Zerind": 71, "Sibiu": 151},
    "Pitesti": {"Rimnicu Vilcea": 97},
    "Rimnicu Vilcea": {"Sibiu": 80},
    "Urziceni": {"Vaslui": 142},
}
#: Both directions of each road; neighbours are tried in the order of the alphabet.
ROMANIA: Mapping[str, Mapping[str, float]] = {
    town: {
        end: _ROMANIA.get(town, {}).get(end) or _ROMANIA[end][town]
        for end in sorted(
            {*_ROMANIA.get(town, {}), *(one for one in _ROMANIA if town in _ROMANIA[one])}
        )
    }
    for town in sorted({*_ROMANIA, *(end for ends in _ROMANIA.values() for end in ends)})
}
#: The places of its towns, by the alphabet: east and north of a corner, to draw the map.
_PLACES = ((91, 492), (400, 327), (253, 288), (165, 299), (562, 293), (305, 449), (375, 270),
           (534, 350), (473, 506), (165, 379), (168, 339), (406, 537), (131, 571), (320, 368),
           (233, 410), (207, 457), (94, 410), (456, 350), (509, 444), (108, 531))  # fmt: skip
#: Straight lines to Bucharest in km, in the order of the alphabet (figure 3.16).
_STRAIGHT = (366, 0, 160, 242, 161, 176, 77, 151, 226, 244, 241, 234, 380, 100, 193, 253, 329, 80,
             199, 374)  # fmt: skip


def _straight_line(town: str) -> int:
    """The straight line to Bucharest in km."""
    return _STRAIGHT[list(ROMANIA).index(town)]


class RoadMap(Problem):
    """The way from one town to another; a position is a town, a move the next town.

    roads: for each town its neighbours in the order in which they are tried, or a mapping from its
        neighbours to the length of the road.
    start, goal: towns of the map.
    places: for each town how far east and north it lies, to draw the map; by default it is not
        drawn, unless the map is the usual one.

    Raises ValueError for a town that is not on the map or has no place on it, or a road whose
    length is not positive.
    """

    name = "road_map"
    title = "Road map"

    def __init__(
        self,
        roads: Mapping[str, Sequence[str] | Mapping[str, float]] = MIDWEST,
        start: str = "Rochester",
        goal: str = "Wausau",
        places: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.roads: dict[str, dict[str, float]] = {
            town: dict(ends) if isinstance(ends, Mapping) else dict.fromkeys(ends, 1.0)
            for town, ends in roads.items()
        }
        for town in (start, goal, *(end for ends in self.roads.values() for end in ends)):
            if town not in self.roads:
                raise ValueError(f"expected a town of the map, found {town!r}")
        short = [(t, e) for t, ends in self.roads.items() for e, cost in ends.items() if cost <= 0]
        if short:
            raise ValueError(f"expected roads longer than 0, found one of {short[0]} that is not")
        if places is None and roads is MIDWEST:
            places = _MIDWEST_PLACES
        missing = [] if places is None else [town for town in self.roads if town not in places]
        if missing:
            raise ValueError(f"expected a place for each town, found none for {missing[0]!r}")
        self.places = places
        self._start, self._goal = start, goal

    def start(self) -> str:
        return self._start

    def goal(self) -> str:
        return self._goal

    def with_goal(self, position: Any) -> RoadMap:
        """Returns the same map with another town as its goal."""
        return RoadMap(self.roads, self._start, position, self.places)

    def legal_moves(self, position: Any) -> list[str]:
        return list(self.roads[position])

    def play(self, position: Any, move: Any) -> str:
        return str(move)

    def solved(self, position: Any) -> bool:
        return bool(position == self._goal)

    def cost(self, position: Any, move: Any) -> float:
        return self.roads[position][move]

    def undo(self, position: Any, move: Any) -> str:
        """Returns the move back; raises TypeError if the road is one-way."""
        if position not in self.roads[move]:
            raise TypeError(f"expected a road from {move} to {position} too, found none")
        return str(position)

    def parse_position(self, text: str) -> str:
        if stripped(text) not in self.roads:
            raise PositionError(
                f"expected a town of the map such as {self._start}, found {text.strip()[:40]!r}"
            )
        return text.strip()

    def position_text(self, position: Any) -> str:
        return str(position)


class Romania(RoadMap):
    """The roads of Romania, whose lengths differ, with straight lines to Bucharest to guide."""

    name = "romania"
    title = "Roads of Romania"

    def __init__(self) -> None:
        super().__init__(ROMANIA, "Arad", "Bucharest", dict(zip(ROMANIA, _PLACES, strict=True)))
        # No road is shorter than the straight line; the tests compare every town.
        straight = Heuristic(_straight_line, known=Known.BY_ENUMERATION)
        self.evaluators = {"straight_line": straight}
