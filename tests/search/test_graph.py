"""The textbook search strategies against printed queues, known distances, and one another."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from games.problem import Heuristic, Known, Problem
from games.puzzles.pancakes import Pancakes
from games.puzzles.queens import Queens, attacks
from games.puzzles.road_map import ROMANIA, RoadMap, Romania
from games.puzzles.sliding_tiles import Sliding8, SlidingTiles
from search import textbook
from search.textbook import Solution

pytestmark = pytest.mark.plain


nothing = Heuristic(lambda position: 0.0, known=Known.BY_PROOF)


def check(problem: Problem, solution: Solution, position: Any = None) -> None:
    """Check that a solution leads to a goal, and that its cost is the sum of its moves' costs."""
    assert solution.moves is not None
    place, cost = problem.start() if position is None else position, 0.0
    for move in solution.moves:
        assert move in problem.legal_moves(place)
        cost += problem.cost(place, move)
        place = problem.play(place, move)
    assert problem.solved(place)
    assert solution.cost == pytest.approx(cost)
    assert solution.factor >= 1.0
    assert solution.proved


def traced(search: Any) -> tuple[list[list[str]], Solution]:
    """Returns the queues of a search of the course's map, and its solution."""
    queues: list[list[textbook.Waiting]] = []
    solution = search(RoadMap(), trace=queues.append)
    return [[one.position for one in queue] for queue in queues], solution


def test_the_course_map_breadth_first() -> None:
    queues, solution = traced(textbook.breadth_first)
    assert queues[:4] == [
        ["Rochester"],
        ["Sioux Falls", "Minneapolis", "La Crosse", "Dubuque"],
        ["Minneapolis", "La Crosse", "Dubuque", "Fargo", "Rochester"],
        ["La Crosse", "Dubuque", "Fargo", "Rochester", "St. Cloud", "Duluth", "Wausau",
         "La Crosse", "Rochester"],
    ]  # fmt: skip
    assert queues[8][:5] == ["Wausau", "La Crosse", "Rochester", "Minneapolis", "Green Bay"]
    assert len(queues) == 9
    assert solution.moves == ("Minneapolis", "Wausau") and solution.optimal


@pytest.mark.parametrize("lengths", [(1,), (7,), (1, 7), (3, 5, 9)])
def test_iterative_deepening_proves_what_breadth_first_proves_and_both_truly(
    lengths: tuple[int, ...],
) -> None:
    agreed = 0
    for seed in range(20):
        lots = random.Random(seed)
        roads: dict[str, dict[str, float]] = {town: {} for town in "ABCDEFGH"}
        for at, town in enumerate("BCDEFGH", 1):
            for other in sorted({lots.choice("ABCDEFGH"[:at]), lots.choice("ABCDEFGH"[:at])}):
                roads[town][other] = roads[other][town] = lots.choice(lengths)
        problem = RoadMap(roads, "A", "H")
        one, other = textbook.breadth_first(problem), textbook.iterative_deepening(problem)
        least = textbook.uniform_cost(problem).cost
        assert all(found.cost == least for found in (one, other) if found.optimal)
        if one.cost == other.cost:  # it may expand fewer positions, and so see no other cost
            assert other.factor <= one.factor
            agreed += one.optimal == (len(lengths) == 1)
    assert agreed > 5


def test_a_heuristic_without_a_name_is_called_the_given_one() -> None:
    given = Heuristic(lambda town: 0.0, known=Known.BY_PROOF)
    assert textbook.astar(RoadMap(), given).proved == "the given heuristic never overestimates"


def test_the_course_map_depth_first() -> None:
    queues, solution = traced(textbook.depth_first)
    assert queues[1:3] == [
        ["Dubuque", "La Crosse", "Minneapolis", "Sioux Falls"],
        ["Rockford", "La Crosse", "Rochester", "La Crosse", "Minneapolis", "Sioux Falls"],
    ]
    assert queues[4] == [
        "Green Bay", "Madison", "Chicago", "Rockford", "Chicago", "Madison", "Dubuque",
        "La Crosse", "Rochester", "La Crosse", "Minneapolis", "Sioux Falls",
    ]  # fmt: skip
    assert queues[5][:3] == ["Wausau", "La Crosse", "Milwaukee"]
    assert solution.moves == ("Dubuque", "Rockford", "Milwaukee", "Green Bay", "Wausau")
    assert not solution.optimal and solution.factor == math.inf


def test_a_complete_search_of_the_unsolvable_8_puzzle_sees_all_positions() -> None:
    problem = SlidingTiles(3, 2)
    tiles = problem.tiles(problem.goal())
    tiles[1], tiles[2] = tiles[2], tiles[1]
    solution = textbook.breadth_first(problem, problem.pack(tiles))
    assert (solution.moves, solution.expanded) == (None, math.factorial(6) // 2)
    assert "360 positions" in solution.proved


def test_search_from_both_ends_counts_each_position_once() -> None:
    problem = SlidingTiles(3, 2)
    tiles = problem.tiles(problem.goal())
    tiles[1], tiles[2] = tiles[2], tiles[1]
    solution = textbook.bidirectional(problem, problem.pack(tiles))
    assert solution.moves is None and "no goal among all 360 positions" in solution.proved


STRATEGIES: dict[str, Any] = {
    "breadth first": lambda p, h, s: textbook.breadth_first(p, s),
    "uniform cost": lambda p, h, s: textbook.uniform_cost(p, s),
    "iterative deepening": lambda p, h, s: textbook.iterative_deepening(p, s),
    "bidirectional": lambda p, h, s: textbook.bidirectional(p, s),
    "A*": lambda p, h, s: textbook.astar(p, h, s),
    "IDA*": lambda p, h, s: textbook.ida_star(p, h, s),
    "RBFS": lambda p, h, s: textbook.recursive_best_first(p, h, s),
    "SMA*": lambda p, h, s: textbook.sma_star(p, h, s, memory=400),
    "depth first": lambda p, h, s: textbook.depth_first(p, s),
    "depth limited": lambda p, h, s: textbook.depth_limited(p, s, depth=11),
    "greedy": lambda p, h, s: textbook.greedy(p, h, s),
    "weighted A*": lambda p, h, s: textbook.astar(p, h, s, weight=2.0),
    "beam": lambda p, h, s: textbook.beam(p, h, s, width=20),
    "LRTA*": lambda p, h, s: textbook.lrta_star(p, h, s),
}
OPTIMAL = list(STRATEGIES)[:8]


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_solve_pancakes(name: str) -> None:
    """All 120 stacks of five, whose distances come from a search that starts at the goal."""
    problem = Pancakes(5)
    distances = {problem.goal(): 0}
    layer = [problem.goal()]
    while layer:
        layer = [
            after
            for position in layer
            for move in problem.legal_moves(position)
            if (after := problem.play(position, move)) not in distances
            and distances.setdefault(after, distances[position] + 1)
        ]
    assert len(distances) == 120 and max(distances.values()) == 5
    heuristic = problem.evaluators["gap"]
    for position, distance in list(distances.items())[::5]:
        solution = STRATEGIES[name](problem, heuristic, position)
        check(problem, solution, position)
        assert solution.cost >= distance
        assert not distance or solution.cost <= solution.factor * distance
        if name in OPTIMAL:
            assert solution.optimal and solution.cost == distance


@pytest.mark.parametrize("name", [n for n in STRATEGIES if n != "LRTA*"])
def test_where_no_goal_can_be_reached(name: str) -> None:
    problem = RoadMap({"a": ["b"], "b": ["a"], "c": []}, "a", "c")
    solution = STRATEGIES[name](problem, nothing, "a")
    assert solution.moves is None and solution.cost == math.inf


@pytest.mark.parametrize("name", ["breadth first", "A*", "IDA*", "greedy", "iterative deepening"])
def test_strategies_stop_at_their_limit(name: str) -> None:
    problem = Sliding8()
    start = problem.random_position(1)
    one = {
        "breadth first": lambda: textbook.breadth_first(problem, start, nodes=50),
        "A*": lambda: textbook.astar(problem, nothing, start, nodes=50),
        "IDA*": lambda: textbook.ida_star(problem, nothing, start, nodes=50),
        "greedy": lambda: textbook.greedy(problem, nothing, start, nodes=50),
        "iterative deepening": lambda: textbook.iterative_deepening(problem, start, nodes=50),
    }[name]()
    assert one.moves is None and one.expanded == 50 and "50" in one.proved


def test_sma_star_in_too_little_memory() -> None:
    """The shortest path has eight positions: memory for seven is too little, for eight enough."""
    problem = SlidingTiles(3, 2)
    start = problem.parse_position("3 2 5 0 4 1")
    assert textbook.sma_star(problem, nothing, start, memory=7).moves is None
    solution = textbook.sma_star(problem, nothing, start, memory=8)
    check(problem, solution, start)
    assert solution.cost == 7
    assert solution.largest_frontier <= 8
    with pytest.raises(ValueError, match="at least 2"):
        textbook.sma_star(problem, nothing, memory=1)


def test_depth_limited_search_ends_at_its_depth() -> None:
    problem = SlidingTiles(3, 2)
    start = problem.parse_position("3 0 2 4 1 5")  # three moves from the goal
    assert textbook.depth_limited(problem, start, depth=2).moves is None
    check(problem, textbook.depth_limited(problem, start, depth=3), start)


def test_lrta_star_learns_the_way() -> None:
    """Trials get shorter, and the last one is a shortest path."""
    problem = Sliding8()
    heuristic = problem.evaluators["manhattan"].value
    start = problem.parse_position("1 2 5 3 4 8 6 7 0")
    best = textbook.astar(problem, heuristic, start).cost
    learned: dict[Any, float] = {}
    costs = [textbook.lrta_star(problem, heuristic, start, learned=learned).cost for _ in range(60)]
    assert costs[-1] == best == min(costs)
    assert all(value <= textbook.astar(problem, heuristic, place).cost
               for place, value in list(learned.items())[::20])  # fmt: skip


def test_hill_climbing_stops_in_a_local_minimum_and_restarts() -> None:
    problem = Queens(8)
    stuck = textbook.hill_climbing(problem, attacks)
    assert stuck.moves is None and "local minimum" in stuck.proved

    def restart(chance: random.Random) -> Any:
        return problem.random_position(chance.randrange(1 << 30))

    solution = textbook.hill_climbing(problem, attacks, restarts=200, restart=restart, seed=1)
    again = textbook.hill_climbing(problem, attacks, restarts=200, restart=restart, seed=1)
    assert solution.moves is not None and solution.moves == again.moves
    with pytest.raises(ValueError, match="expected a function that gives new positions"):
        textbook.hill_climbing(problem, attacks, restarts=1)


def test_simulated_annealing_solves_eight_queens() -> None:
    problem = Queens(8)
    solution = textbook.simulated_annealing(
        problem, attacks, temperature=lambda step: 2 * 0.999**step if step < 20000 else 0, seed=3
    )
    check(problem, solution)
    cold = textbook.simulated_annealing(problem, attacks, temperature=lambda step: 0.0)
    assert cold.moves is None and "after 0 steps" in cold.proved


def test_bidirectional_search_needs_a_goal_to_walk_back_from() -> None:
    with pytest.raises(TypeError, match="names its goal"):
        textbook.bidirectional(Queens(4))


def test_straight_lines_of_romania_never_overestimate() -> None:
    """And they are consistent: no road is shorter than what it brings nearer."""
    problem = Romania()
    line = problem.evaluators["straight_line"]
    assert sum(len(ends) for ends in ROMANIA.values()) == 2 * 23
    for town, ends in ROMANIA.items():
        assert line(town) <= textbook.uniform_cost(problem, town).cost
        assert all(ROMANIA[end][town] == length for end, length in ends.items())
        assert all(line(town) <= length + line(end) for end, length in ends.items())
