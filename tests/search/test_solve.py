"""`search.solve`: native against plain and the textbook, published counts, limits, wrong input."""

from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import pytest
from errors import errors_of

import games
import search
from benchmarks.patterns import instances
from docs.examples.lights_out import LightsOut
from games.kernels import kernel
from games.problem import KernelProblem, Problem, ProblemRules
from games.puzzles.pancakes import Pancakes
from games.puzzles.queens import Queens
from games.puzzles.road_map import RoadMap
from games.puzzles.sliding_tiles import Sliding8, Sliding15, SlidingTiles
from search import textbook
from search.single_agent import store
from search.textbook.solution import SearchProgress

#: Korf 1985: number, optimal cost, tiles.
KORF = {
    1: (57, "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"),
    2: (55, "13 5 4 10 9 12 8 14 2 3 7 1 0 15 11 6"),
    9: (46, "3 14 9 11 5 4 8 2 13 12 6 7 10 1 15 0"),
}


class PlainFace(Problem):
    """A problem with its kernels hidden, which is searched in plain Python."""

    def __init__(self, problem: KernelProblem) -> None:
        for name in ("start", "goal", "legal_moves", "play", "solved", "cost", "undo"):
            setattr(self, name, getattr(problem, name))
        self.evaluators = problem.evaluators
        self.name = problem.name


def check(problem: Problem, solution: Any, position: Any) -> None:
    """Check that a solution leads to a goal, and that its cost is the sum of its moves' costs."""
    assert solution.moves is not None
    cost = 0.0
    for move in solution.moves:
        assert move in problem.legal_moves(position)
        cost += problem.cost(position, move)
        position = problem.play(position, move)
    assert problem.solved(position)
    assert solution.cost == pytest.approx(cost)


@pytest.mark.plain
@pytest.mark.parametrize("name", ["sliding15", "sliding24"])
def test_published_costs_are_possible(name: str) -> None:
    """As even or odd as every solution is, and not below a bound."""
    problem: Any = games.load(name)
    rows = instances(problem.width * problem.height)
    assert [number for number, *_ in rows] == list(
        range(1, {"sliding15": 31, "sliding24": 51}[name])
    )
    for _, cost, tiles in rows:
        position = problem.parse_position(tiles)
        assert not problem.why_unsolvable(position)
        assert (cost - problem.evaluators["manhattan"](position)) % 2 == 0
        assert problem.evaluators["linear_conflict"](position) <= cost


def test_the_shipped_heuristic_of_the_24_puzzle_is_near_the_published_costs() -> None:
    problem = games.load("sliding24")
    excess = 0.0
    for _, cost, tiles in instances(25)[::5]:
        position = problem.parse_position(tiles)
        found = search.solve(problem, position, "sliding24/bootstrap", method="beam", width=500)
        check(problem, found, position)
        assert found.cost >= cost and not found.optimal
        excess += found.cost / cost - 1
    assert excess / 10 < 0.05


@kernel
def line_moves(position, moves):
    """Write a step of each length that does not pass the end."""
    count = 0
    for step in range(1, 4):
        if position[0] + step <= 20:
            moves[count] = step
            count += 1
    return count


@kernel
def line_play(position, move):
    """Returns the place after a step."""
    return (position[0] + move,)


@kernel
def line_solved(position):
    """Returns whether the end is reached."""
    return position[0] == 20


@kernel
def line_cost(position, move):
    """Returns the cost: short steps are cheaper for their length, except at every fifth place."""
    return move * move + (10.0 if (position[0] + move) % 5 == 4 else 0.0)


class Line(KernelProblem):
    """A line with moves of different costs, one way only."""

    problem = ProblemRules(line_moves, line_play, line_solved, line_cost)
    start_position = (0,)
    most_moves = 3


@pytest.mark.plain
@pytest.mark.parametrize("method", ["astar", "ida", "greedy", "beam"])
@pytest.mark.parametrize(
    "problem",
    [SlidingTiles(3, 2), Pancakes(5), LightsOut(2), Line()],
    ids=lambda problem: problem.name,
)
def test_native_and_plain_searches_are_the_same(problem: Any, method: str) -> None:
    starts = [problem.start()]
    if problem.goal_position is not None:
        starts += [problem.random_position(seed) for seed in range(3)]
    for start in starts:
        native = search.solve(problem, start, method=method, memory_mib=4)
        plain = search.solve(PlainFace(problem), start, method=method, memory_mib=4)
        check(problem, native, start)
        for part in ("moves", "cost", "expanded", "generated", "largest_frontier", "factor"):
            assert getattr(native, part) == getattr(plain, part), part
        best = textbook.uniform_cost(problem, start).cost
        if method in ("astar", "ida"):
            assert native.cost == best and native.optimal
        assert native.cost >= best


@pytest.mark.plain
def test_a_change_kernel_makes_no_difference() -> None:
    problem = Sliding8()
    manhattan = problem.evaluators["manhattan"]
    for seed in range(3):
        start = problem.random_position(seed)
        with_change = search.solve(problem, start, "manhattan", method="ida")
        without = search.solve(problem, start, manhattan.value, method="ida")
        assert with_change.moves == without.moves
        assert with_change.generated == without.generated


def test_korf_9_takes_the_published_number_of_nodes() -> None:
    """1,650,696 including the first position (Korf 1985)."""
    problem = Sliding15()
    cost, text = KORF[9]
    solution = search.solve(problem, problem.parse_position(text), "manhattan", method="ida")
    assert (solution.cost, solution.generated + 1, solution.optimal) == (cost, 1_650_696, True)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "generated"), [(1, 276_361_933), (2, 15_300_442)])
def test_korf_1_and_2_take_the_published_number_of_nodes(number: int, generated: int) -> None:
    problem = Sliding15()
    cost, text = KORF[number]
    solution = search.solve(problem, problem.parse_position(text), "manhattan", method="ida")
    assert (solution.cost, solution.generated + 1) == (cost, generated)


@pytest.mark.plain
@pytest.mark.parametrize("method", ["astar", "ida", "greedy"])
def test_a_complete_search_without_a_goal_says_so(method: str) -> None:
    problem = RoadMap({"a": ["b"], "b": ["c"], "c": [], "d": []}, "a", "d")
    solution = search.solve(problem, method=method)
    assert (solution.moves, solution.factor) == (None, 1.0)
    assert "no goal can be reached" in solution.proved
    assert solution.expanded == (6 if method == "ida" else 3)


@pytest.mark.plain
@pytest.mark.parametrize("method", ["astar", "ida", "greedy", "beam"])
def test_limits_end_a_search_with_an_answer(method: str) -> None:
    problem = Sliding15()
    start = problem.parse_position(KORF[1][1])
    solution = search.solve(problem, start, "misplaced", method=method, nodes=200, memory_mib=4)
    assert solution.moves is None and solution.expanded == 200 and "200" in solution.proved
    width = 1 << 20 if method == "beam" else None
    solution = search.solve(problem, start, "misplaced", method=method, width=width,
                            seconds=0.2, memory_mib=256)  # fmt: skip
    if method != "greedy":
        assert solution.moves is None and "out of" in solution.proved


@pytest.mark.plain
@pytest.mark.parametrize("method", ["astar", "beam"])
def test_too_little_memory_is_an_answer(method: str) -> None:
    problem = Sliding15()
    start = problem.parse_position(KORF[1][1])
    width = 5000 if method == "beam" else None
    solution = search.solve(problem, start, method=method, width=width, memory_mib=0.2)
    assert solution.moves is None and "out of memory" in solution.proved
    assert solution.factor == math.inf


@pytest.mark.plain
@pytest.mark.parametrize("method", ["astar", "ida"])
def test_progress_is_reported_and_may_end_a_search(method: str) -> None:
    seen: list[SearchProgress] = []

    def watch(progress: SearchProgress) -> bool:
        seen.append(progress)
        return len(seen) > 2 and progress.expanded > 0

    problem = Sliding15()
    hard = problem.parse_position(KORF[1][1])
    found = search.solve(problem, hard, "misplaced", method=method, seconds=60, progress=watch)
    assert found.moves is None and found.proved.startswith("interrupted") and found.interrupted
    assert [one.expanded for one in seen] == sorted(one.expanded for one in seen)
    assert seen[-1].expanded <= found.expanded and seen[-1].frontier > 0
    assert seen[-1].f is not None and seen[-1].f >= 14  # of the start: tiles out of place


def test_heuristics_of_any_kind() -> None:
    problem = Sliding8()
    start = problem.random_position(7)
    manhattan = problem.evaluators["manhattan"].value
    best = search.solve(problem, start, "manhattan", memory_mib=32)
    for heuristic in (manhattan, lambda position: float(manhattan(position))):
        solution = search.solve(problem, start, heuristic, memory_mib=32)
        assert (solution.cost, solution.expanded) == (best.cost, best.expanded)
        assert (solution.factor, solution.optimal) == (math.inf, False)
        assert solution.proved.startswith("nothing is known of the heuristic ")
    blind = search.solve(problem, start, lambda position: -1.0, memory_mib=128)
    assert blind.cost == best.cost and blind.expanded > best.expanded


@pytest.mark.plain
def test_what_a_heuristic_raises_comes_out() -> None:
    def broken(position: Any) -> float:
        raise RuntimeError("no value")

    with pytest.raises(RuntimeError, match="no value"):
        search.solve(Sliding8(), heuristic=broken, memory_mib=4)


@pytest.mark.plain
def test_a_solved_position_needs_no_moves() -> None:
    for problem in (Sliding8(), Queens(1)):
        goal = problem.start() if isinstance(problem, Queens) else problem.goal()
        solution = search.solve(problem, goal)
        assert (solution.moves, solution.cost, solution.expanded) == ((), 0.0, 0)


def test_a_search_leaves_its_memory_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a gibibyte, which is too much to wait for the garbage collector."""
    made = []
    make = store.Store.__init__

    def noted(self: Any, *args: Any, **options: Any) -> None:
        make(self, *args, **options)
        made.append(weakref.ref(self))

    monkeypatch.setattr(store.Store, "__init__", noted)
    problem = Sliding8()
    gc.disable()
    try:
        assert search.solve(problem, problem.random_position(1)).moves is not None
        assert [one() for one in made] == [None]
    finally:
        gc.enable()


test_errors = errors_of(globals())
