"""Every strategy against Dijkstra's search, over random graphs and maps with costs of any size."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Mapping
from typing import Any

import pytest

import search
from games.kernels import kernel
from games.problem import Heuristic, KernelProblem, Known, Problem, ProblemRules
from search import textbook

pytestmark = pytest.mark.plain

SCALES = (0.01, 0.1, 1.0, 1000.0)
TOWNS = 14


class Roads(Problem):
    """Towns in a plane or none, and roads with a cost, of which two may join the same towns."""

    name = "roads"

    def __init__(self, roads: Mapping[int, list[tuple[int, float]]], places: Any = None) -> None:
        self.roads = roads
        self.least = least_costs(roads, TOWNS - 1)
        self.evaluators = {"nothing": Heuristic(lambda town: 0.0, known=Known.BY_PROOF)}
        if places is not None:
            self.evaluators["straight"] = Heuristic(
                lambda town: math.dist(places[town], places[-1]), known=Known.BY_PROOF
            )
        # admissible, but not consistent: true costs shrunk by a share that differs by town
        shrunk = {town: cost * random.Random(town).random() for town, cost in self.least.items()}
        self.evaluators["shrunk"] = Heuristic(
            lambda town: shrunk.get(town, 0.0), known=Known.BY_ENUMERATION
        )

    def start(self) -> int:
        return 0

    def goal(self) -> int:
        return TOWNS - 1

    def legal_moves(self, position: Any) -> list[int]:
        return list(range(len(self.roads[position])))

    def play(self, position: Any, move: Any) -> int:
        return self.roads[position][move][0]

    def cost(self, position: Any, move: Any) -> float:
        return self.roads[position][move][1]

    def solved(self, position: Any) -> bool:
        return bool(position == TOWNS - 1)

    def undo(self, position: Any, move: Any) -> int:
        town = self.roads[position][move][0]
        return next(i for i, (end, _) in enumerate(self.roads[town]) if end == position)


def least_costs(roads: Mapping[int, list[tuple[int, float]]], goal: int) -> dict[int, float]:
    """Returns the least cost from every town to the goal, by Dijkstra's search."""
    into: dict[int, list[tuple[int, float]]] = {town: [] for town in roads}
    for town, ends in roads.items():
        for end, cost in ends:
            into[end].append((town, cost))
    known: dict[int, float] = {}
    waiting = [(0.0, goal)]
    while waiting:
        cost, town = heapq.heappop(waiting)
        if town not in known:
            known[town] = cost
            for before, step in into[town]:
                heapq.heappush(waiting, (cost + step, before))
    return known


def random_graph(seed: int, scale: float) -> Roads:
    """Towns with three roads each to anywhere, with a way back of another cost."""
    chance = random.Random(seed)
    roads: dict[int, list[tuple[int, float]]] = {town: [] for town in range(TOWNS)}
    for town in range(TOWNS):
        for _ in range(2):
            end = chance.choice([other for other in range(TOWNS) if other != town])
            roads[town].append((end, scale * (0.01 + chance.random())))
            roads[end].append((town, scale * (0.01 + chance.random())))
    return Roads(roads)


def random_map(seed: int, scale: float) -> Roads:
    """Towns in a square, with straight roads to those nearest."""
    chance = random.Random(seed)
    places = [(scale * chance.random(), scale * chance.random()) for _ in range(TOWNS)]
    roads: dict[int, list[tuple[int, float]]] = {town: [] for town in range(TOWNS)}
    for town in range(TOWNS):
        nearest = sorted(range(TOWNS), key=lambda end: math.dist(places[town], places[end]))[1:4]
        for end in nearest:
            if all(end != other for other, _ in roads[town]):
                cost = math.dist(places[town], places[end])
                roads[town].append((end, cost))
                roads[end].append((town, cost))
    return Roads(roads, places)


STRATEGIES: dict[str, Any] = {
    "solve A*": lambda p, h: search.solve(p, heuristic=h),
    "solve IDA*": lambda p, h: search.solve(p, heuristic=h, method="ida", nodes=200_000),
    "solve weighted": lambda p, h: search.solve(p, heuristic=h, weight=1.3),
    "solve greedy": lambda p, h: search.solve(p, heuristic=h, method="greedy"),
    "solve beam": lambda p, h: search.solve(p, heuristic=h, method="beam", width=4),
    "breadth first": lambda p, h: textbook.breadth_first(p),
    "depth first": lambda p, h: textbook.depth_first(p),
    "uniform cost": lambda p, h: textbook.uniform_cost(p),
    "iterative deepening": lambda p, h: textbook.iterative_deepening(p, nodes=20_000),
    "bidirectional": lambda p, h: textbook.bidirectional(p),
    "A*": lambda p, h: textbook.astar(p, p.evaluators[h]),
    "weighted A*": lambda p, h: textbook.astar(p, p.evaluators[h], weight=1.3),
    "greedy": lambda p, h: textbook.greedy(p, p.evaluators[h]),
    "beam": lambda p, h: textbook.beam(p, p.evaluators[h], width=4),
    "IDA*": lambda p, h: textbook.ida_star(p, p.evaluators[h], nodes=20_000),
    "RBFS": lambda p, h: textbook.recursive_best_first(p, p.evaluators[h], nodes=20_000),
    "SMA*": lambda p, h: textbook.sma_star(p, p.evaluators[h], memory=60, nodes=2_000),
    "SMA* in little memory": lambda p, h: textbook.sma_star(
        p, p.evaluators[h], memory=4, nodes=2_000
    ),
    "LRTA*": lambda p, h: textbook.lrta_star(p, p.evaluators[h], nodes=20_000),
}
EXACT = ("solve A*", "uniform cost", "A*", "RBFS")


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", STRATEGIES)
def test_no_strategy_claims_more_than_is_true(name: str, scale: float) -> None:
    """What is called optimal is, what is called bounded is, and costs are those of the moves."""
    optimal = 0
    for seed in range(12):
        for problem in (random_graph(seed, scale), random_map(seed, scale)):
            heuristic = list(problem.evaluators)[seed % len(problem.evaluators)]
            least = problem.least.get(0)
            found = STRATEGIES[name](problem, heuristic)
            if found.moves is None:
                assert least is None or found.factor == math.inf, found
                continue
            assert least is not None
            town, cost = 0, 0.0
            for move in found.moves:
                town, cost = problem.play(town, move), cost + problem.cost(town, move)
            assert problem.solved(town) and found.cost == pytest.approx(cost, rel=1e-12)
            assert found.cost >= least * (1 - 1e-9)
            if found.factor < math.inf:
                assert found.cost <= found.factor * least * (1 + 1e-9), (seed, heuristic, found)
            optimal += found.optimal
            assert found.optimal or name not in EXACT
    assert optimal or name not in ("solve IDA*", "IDA*", "SMA*")


@pytest.mark.parametrize("name", ["A*", "weighted A*", "IDA*", "RBFS", "SMA*"])
def test_of_a_plain_function_nothing_is_known(name: str) -> None:
    problem = random_map(1, 1.0)
    problem.evaluators["mine"] = lambda town: 0.0
    found = STRATEGIES[name](problem, "mine")
    assert found.moves is not None and (found.factor, found.optimal) == (math.inf, False)
    assert found.proved == "nothing is known of the given heuristic"


def test_sma_star_does_not_call_a_way_cheapest_that_is_only_short_enough() -> None:
    """In memory for three positions the way of four is left aside, though it is the cheapest."""
    roads = {0: [(1, 1.0), (TOWNS - 1, 10.0)], 1: [(2, 1.0)], 2: [(3, 1.0)], 3: [(TOWNS - 1, 1.0)]}
    problem = Roads({town: roads.get(town, []) for town in range(TOWNS)})
    little = textbook.sma_star(problem, problem.evaluators["nothing"], memory=3)
    assert (little.cost, little.optimal) == (10.0, False) and "left aside" in little.proved
    enough = textbook.sma_star(problem, problem.evaluators["nothing"], memory=6)
    assert (enough.cost, enough.optimal) == (4.0, True)


def test_the_last_move_may_be_cheaper_elsewhere() -> None:
    """Of two ways of two moves the first that is met is the dearer one, and all moves so far alike.

    Iterative deepening and search from both ends know the fewest moves only.
    """
    last = TOWNS - 1
    roads = {0: [(1, 10.0), (2, 10.0)], 1: [(0, 10.0), (last, 10.0)], 2: [(0, 10.0), (last, 1.0)],
             last: [(1, 10.0), (2, 10.0)]}  # fmt: skip
    problem = Roads({town: roads.get(town, []) for town in range(TOWNS)})
    for found in (textbook.iterative_deepening(problem), textbook.bidirectional(problem)):
        assert len(found.moves or ()) == 2
        assert found.cost == 11.0 or not found.optimal


# --- native search, over a grid whose squares have heights ----------------------------------------

SIDE = 24


@kernel
def grid_moves(position, moves):
    """Write the steps up, left, right and down."""
    count = 0
    for step in range(4):
        row = position[0] + (step == 3) - (step == 0)
        column = position[1] + (step == 2) - (step == 1)
        if 0 <= row < SIDE and 0 <= column < SIDE:
            moves[count] = step
            count += 1
    return count


@kernel
def grid_play(position, move):
    """Returns the square after a step."""
    return (
        position[0] + (move == 3) - (move == 0),
        position[1] + (move == 2) - (move == 1),
        position[2],
    )


@kernel
def grid_solved(position):
    """Returns whether the last corner is reached."""
    return position[0] == SIDE - 1 and position[1] == SIDE - 1


@kernel
def grid_cost(position, move):
    """Returns 1 to 2 times the third integer, in hundredths, as irregular as a hash."""
    mixed = (position[0] * 7919 + position[1] * 104729 + move * 1299709) % 10007
    return position[2] * 0.01 * (1.0 + mixed / 10007)


@kernel
def grid_steps(position):
    """Returns the least cost of the steps that are needed."""
    return position[2] * 0.01 * (2 * SIDE - 2 - position[0] - position[1])


class Grid(KernelProblem):
    """A walk over a grid; the third integer is the scale of the costs."""

    name = "grid"
    problem = ProblemRules(grid_moves, grid_play, grid_solved, grid_cost)
    start_position = (0, 0, 100)
    most_moves = 4
    evaluators = {"steps": Heuristic(grid_steps, known=Known.BY_PROOF)}


@pytest.mark.parametrize("scale", [1, 10, 100, 100_000])
def test_native_search_is_exact_at_every_scale(scale: int) -> None:
    """Squares are as many as buckets here, so that these grow too."""
    problem, start = Grid(), (0, 0, scale)
    best = textbook.uniform_cost(problem, start).cost
    found = search.solve(problem, start, memory_mib=4)
    assert found.optimal and found.cost == pytest.approx(best, rel=1e-12)
    for weight in (1.1, 2.0):
        loose = search.solve(problem, start, weight=weight, memory_mib=4)
        assert best * (1 - 1e-9) <= loose.cost <= weight * best * (1 + 1e-9)
    greedy = search.solve(problem, start, method="greedy", memory_mib=4)
    assert greedy.cost >= best * (1 - 1e-9) and not greedy.optimal
