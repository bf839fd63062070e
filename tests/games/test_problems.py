"""Problems with one agent: the contract, texts, and why positions have no solution."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from typing import Any

import pytest
from errors import errors_of

import games
from docs.examples.lights_out import LightsOut
from games.check.problem import check_problem
from games.kernels import kernel
from games.problem import Heuristic, Known, Problem, ProblemRules
from games.puzzles.pancakes import Pancakes
from games.puzzles.queens import Queens, attacks
from games.puzzles.sliding_tiles import Sliding8, Sliding15, SlidingTiles
from learner.heuristics.costs import least_costs

MADE: list[Problem] = [
    *map(games.load, games.problems()),
    SlidingTiles(2, 5),
    SlidingTiles(3, 3, (1, 2, 3, 8, 0, 4, 7, 6, 5)),
    SlidingTiles(6, 5),
    Pancakes(15),
    LightsOut(5),
]


@pytest.mark.plain
@pytest.mark.parametrize("problem", MADE, ids=lambda problem: problem.name)
def test_a_problem_keeps_the_contract(problem: Problem) -> None:
    check_problem(problem)


@pytest.mark.plain
def test_load_gives_the_problem_of_a_name() -> None:
    assert isinstance(games.load("sliding15"), Sliding15)
    assert set(games.problems()).isdisjoint(games.names())
    for name in games.problems():
        assert games.load(name).name == name


class Walk(Problem):
    """A walk to 5 along the integers; parts of it can be broken."""

    evaluators = {"distance": Heuristic(kernel(lambda position: abs(position - 5)))}

    def start(self) -> int:
        return 0

    def goal(self) -> int:
        return 5

    def legal_moves(self, position: Any) -> list[int]:
        return [-1, 1]

    def play(self, position: Any, move: Any) -> int:
        return int(position + move)

    def solved(self, position: Any) -> bool:
        return bool(position == 5)

    def undo(self, position: Any, move: Any) -> int:
        return -int(move)


@pytest.mark.plain
def test_problems_of_different_rules_have_different_names() -> None:
    assert Walk().name == "walk"
    assert SlidingTiles(3, 3).name == Sliding8().name == "sliding8"
    assert SlidingTiles(3, 2).name == "sliding_3x2"
    assert SlidingTiles(2, 2, goal=(1, 2, 3, 0)).name == "sliding3_to_1_2_3_0"


def broken_rule(name: str, broken: Any) -> None:

    check_problem(Walk())
    check_problem(type("Broken", (Walk,), {"name": "walk", name: broken})())


def truth_of(problem: Problem) -> dict[Any, float]:
    """Returns the least cost of every position, by Dijkstra's search back from all goals."""
    if isinstance(problem, Queens):  # each move puts one queen right
        rows = list(product(range(problem.size), repeat=problem.size))
        goals = [one for one in rows if problem.solved(one)]
        return {
            one: float(min(sum(a != b for a, b in zip(one, goal, strict=True)) for goal in goals))
            for one in rows
        }
    known = least_costs(problem)
    assert known is not None
    return known


SMALL: list[Problem] = [
    SlidingTiles(3, 2),
    SlidingTiles(3, 2, (1, 2, 3, 0, 4, 5)),
    Pancakes(2),
    Pancakes(6),
    LightsOut(3),
    Queens(4),
    Queens(5),
]


@pytest.mark.parametrize("problem", SMALL, ids=lambda problem: problem.name)
def test_what_a_heuristic_states_is_what_enumeration_finds(problem: Problem) -> None:
    """No value is above the least cost of any position where that is stated, and some is else."""
    truth = truth_of(problem)
    for name, heuristic in problem.evaluators.items():
        above = sum(heuristic(position) > cost for position, cost in truth.items())
        assert heuristic.known in (Known.BY_PROOF, Known.OVERESTIMATES)
        assert (above > 0) == (heuristic.known is Known.OVERESTIMATES), name


def test_every_heuristic_that_ships_states_what_is_known() -> None:
    for problem in MADE:
        for heuristic in problem.evaluators.values():
            assert heuristic.known is not Known.NOTHING


@pytest.mark.plain
def test_rules_are_kernels() -> None:
    with pytest.raises(TypeError, match="rule play: expected a function marked with @kernel"):
        one = kernel(lambda position: 1)
        ProblemRules(one, lambda position, move: position, one)


@pytest.mark.plain
def test_the_course_8_puzzle_has_no_solution_and_says_why() -> None:
    problem = SlidingTiles(3, 3, (1, 2, 3, 8, 0, 4, 7, 6, 5))
    position = problem.parse_position("5 4 _ / 6 1 8 / 7 3 2")
    assert problem.evaluators["misplaced"].value(position) == 7
    assert problem.evaluators["manhattan"].value(position) == 18
    assert "7 swaps" in problem.why_unsolvable(position)


@pytest.mark.plain
def test_half_of_the_8_puzzles_are_solvable() -> None:
    problem = Sliding8()
    boards = [problem.pack((*tiles, 6, 7, 8)) for tiles in permutations(range(6))]
    assert sum(not problem.why_unsolvable(board) for board in boards) == len(boards) // 2


@pytest.mark.plain
@pytest.mark.parametrize(("side", "quiet"), [(2, 0), (3, 0), (4, 4), (5, 2), (6, 0), (7, 0)])
def test_quiet_patterns_of_lights_out(side: int, quiet: int) -> None:
    """2 ** quiet sets of presses change nothing, so that one in 2 ** quiet boards is solvable."""
    problem = LightsOut(side)
    assert len(problem._solvable) == side * side - quiet
    if side <= 3:
        boards = range(1 << side * side)
        solvable = sum(not problem.why_unsolvable((lights,)) for lights in boards)
        assert solvable == len(boards) >> quiet


@pytest.mark.plain
def test_positions_are_drawn_evenly_and_without_walking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk takes a minute for as many positions as learning begins with."""
    stacks = Pancakes(3)
    monkeypatch.setattr(stacks, "play", None)
    drawn = Counter(stacks.random_position(seed) for seed in range(1200))
    assert len(drawn) == 6
    assert sum((count - 200) ** 2 / 200 for count in drawn.values()) < 26  # 5 degrees of freedom


@pytest.mark.plain
def test_attacks_counts_pairs() -> None:
    assert attacks((0, 1, 2, 3)) == 6
    assert attacks((1, 3, 0, 2)) == 0


test_errors = errors_of(globals())
