"""The exercises as data: for each its lecture, task, fixed cases, and a source of random ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from games.puzzles.road_map import MIDWEST, ROMANIA
from play.course import solutions

__all__ = ["EXERCISES", "Exercise"]

AIMA, SECOND = [[3, 12, 8], [2, 4, 6], [14, 5, 2]], [[7, 6, 5], [3, 1, 2], [6, 5, 9]]
LETTERS = [[[4, [-3, -5]], -5], [3, 8, [9, -6, 0]], 0, [[3, 5], 2, [-7, -9]]]
THREE = [
    [[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]],
    [[(5, 1, 1), (1, 5, 2)], [(7, 7, 1), (5, 4, 5)]],
]
LECTURES = (
    "Games and minimax",
    "Alpha-beta",
    "Evaluation functions",
    "Chance and more players",
    "Learning",
    "Search strategies and constraints",
)
COLOURS = ("red", "green", "blue")


@dataclass(frozen=True)
class Exercise:
    """An exercise.

    lecture: the number of its lecture, from 0.
    solution: our function, whose docstring is the task; the student's has its name.
    cases: fixed arguments to try it with.
    draw: draws other arguments.
    """

    lecture: int
    solution: Callable[..., Any]
    cases: Sequence[tuple[Any, ...]]
    draw: Callable[[Random], tuple[Any, ...]]

    @property
    def name(self) -> str:
        """The function that the student defines."""
        return self.solution.__name__

    @property
    def task(self) -> str:
        """The call, and what it returns."""
        given = inspect.signature(self.solution).parameters.values()
        needed = ", ".join(one.name for one in given if one.default is one.empty)
        return f"`{self.name}({needed})`\n\n{inspect.getdoc(self.solution)}"


def _tree(lots: Random, leaf: Callable[[Random], Any], depth: int = 0) -> Any:
    """Returns a tree of up to five plies; branches are of unequal depth."""
    if depth and (depth == 5 or lots.random() < 0.15 + 0.1 * depth):
        return leaf(lots)
    return [_tree(lots, leaf, depth + 1) for _ in range(lots.choice((1, 2, 2, 3, 4)))]


def _numbers(lots: Random) -> tuple[Any]:
    """Returns a tree with numbers as leaves, now and then all below 0 or all above."""
    low, high = lots.choice(((-9, 9), (-9, 9), (-2, 2), (-9, -1), (1, 9)))
    return (_tree(lots, lambda lots: lots.randint(low, high)),)


def _threes(lots: Random) -> tuple[Any]:
    low = lots.choice((-4, -2, 0))
    return (_tree(lots, lambda lots: tuple(lots.randint(low, low + 4) for _ in range(3))),)


def _chances(lots: Random) -> tuple[str]:
    def node(depth: int) -> Any:
        if depth and (depth == 4 or lots.random() < 0.2):
            return lots.randint(-9, 9)
        if depth % 2 == 0:
            return [node(depth + 1) for _ in range(lots.randint(1, 3))]
        shares = lots.choice(((1,), (0.25, 0.75), (0.9, 0.1), (0.5, 0.2, 0.3)))
        return {share: node(depth + 1) for share in shares}

    return (repr(node(0)),)


def _board(lots: Random) -> tuple[str]:
    board, squares = ["."] * 9, lots.sample(range(9), 9)
    for ply in range(lots.choice((0, 3, 5, 7, 9, 9, 9))):
        if not solutions.result("".join(board)):
            board[squares[ply]] = "XO"[ply % 2]
    return ("".join(board),)


def _piles(highest: int, most: int) -> Callable[[Random], tuple[tuple[int, ...]]]:
    def draw(lots: Random) -> tuple[tuple[int, ...]]:
        high = lots.choice((1, highest, highest))
        return (tuple(lots.randint(1, high) for _ in range(lots.randint(1, most))),)

    return draw


def _men(lots: Random) -> tuple[str]:
    squares = lots.sample(range(1, 33), lots.randint(2, 16))
    cut = lots.randint(1, len(squares) - 1)
    sides = [
        side + ",".join(lots.choice(("", "", "K")) + str(square) for square in squares[part])
        for side, part in (("W", slice(cut)), ("B", slice(cut, None)))
    ]
    return (":".join((lots.choice("WB"), *lots.sample(sides, 2))),)


def _matrix(lots: Random) -> tuple[list[list[int]]]:
    rows, columns = lots.randint(1, 4), lots.randint(1, 4)
    return ([[lots.randint(-9, 9) for _ in range(columns)] for _ in range(rows)],)


def _towns(lots: Random, lengths: bool) -> tuple[Any, ...]:
    """Returns a map all of whose towns are connected, and two different ones of them."""
    towns = lots.sample("ABCDEFGHIJ", lots.randint(2, 10))
    roads: dict[str, dict[str, int]] = {town: {} for town in towns}
    pairs = [(town, lots.choice(towns[:at])) for at, town in enumerate(towns) if at]
    for _ in range(lots.randint(0, len(towns))):
        one, two = lots.sample(towns, 2)
        pairs.append((one, two))
    for one, two in pairs:
        roads[one][two] = roads[two][one] = lots.randint(1, 30)
    neighbours = {one: lots.sample(sorted(ends), len(ends)) for one, ends in roads.items()}
    return (roads if lengths else neighbours, *lots.sample(towns, 2))


def _estimated(lots: Random) -> tuple[Any, ...]:
    roads, start, goal = _towns(lots, True)
    estimates = dict(zip(roads, lots.sample(range(1, 99), len(roads)), strict=True)) | {goal: 0}
    return roads, estimates, start, goal


def _tiles(lots: Random) -> tuple[list[int]]:
    return (lots.sample(range(9), 9),)


def _regions(lots: Random) -> tuple[Any, ...]:
    neighbours, *_ = _towns(lots, False)
    sizes = lots.choice(((1, 1, 2, 3), (1, 2, 2, 2, 3), (1, 2, 3, 3)))
    return {one: lots.sample(COLOURS, lots.choice(sizes)) for one in neighbours}, neighbours


def _levels(lots: Random) -> tuple[list[int], list[int]]:
    sizes = [lots.randint(1, 7) for _ in range(lots.randint(1, 4))]
    return [lots.randrange(size) for size in sizes], sizes


EXERCISES = dict(
    enumerate(
        (
            Exercise(0, solutions.minimax, [(AIMA,), (SECOND,), (LETTERS,)], _numbers),
            Exercise(0, solutions.best_moves, [(AIMA,), ([[1, 2], 1, [3, [0, 1]]],)], _numbers),
            Exercise(0, solutions.line, [(AIMA,), (LETTERS,)], _numbers),
            Exercise(0, solutions.result, [("XXXOO....",), ("XOXXOOOXX",)], _board),
            Exercise(
                0, solutions.wins, [((2, 2),), ((1, 1, 1),), ((1, 1),), ((3, 2, 1),)], _piles(4, 3)
            ),
            Exercise(0, solutions.lines, [((1,),), ((2, 2),), ((1, 1, 1),)], _piles(3, 2)),
            Exercise(1, solutions.leaves, [(AIMA,), (SECOND,), (LETTERS,)], _numbers),
            Exercise(1, solutions.best_first, [(AIMA,), (SECOND,), (LETTERS,)], _numbers),
            Exercise(
                1,
                solutions.fewest,
                [(3, 2), (35, 5), (2, 0)],
                lambda lots: (lots.randint(1, 40), lots.randint(0, 9)),
            ),
            Exercise(1, solutions.positions, [((2, 2),), ((1, 1),), ((3, 2, 1),)], _piles(3, 3)),
            Exercise(
                2, solutions.open_lines, [(".........",), ("....X....",), ("X...O....",)], _board
            ),
            Exercise(
                2,
                solutions.cutoff,
                [(AIMA, 1), (LETTERS, 2), (LETTERS, 0)],
                lambda lots: (*_numbers(lots), lots.randint(0, 4)),
            ),
            Exercise(2, solutions.material, [("W:W20,21,K31:B23,K22",), ("B:B1,K2:WK30",)], _men),
            Exercise(
                3, solutions.value, [("[{0.9: [2], 0.1: [3]}, {0.9: [1], 0.1: [4]}]",)], _chances
            ),
            Exercise(3, solutions.careless, [(AIMA,), (LETTERS,)], _numbers),
            Exercise(3, solutions.max_n, [(THREE,)], _threes),
            Exercise(3, solutions.paranoid, [(THREE,)], _threes),
            Exercise(
                3,
                solutions.hits,
                [(1,), (6,), (11,), (12,), (24,)],
                lambda lots: (lots.randint(1, 24),),
            ),
            Exercise(3, solutions.security, [([[1, -1], [-1, 1]],), ([[3, 1], [2, 0]],)], _matrix),
            Exercise(
                4,
                solutions.credits,
                [([2, -1, 0], 3), ([2, -1], 0)],
                lambda lots: (
                    [lots.randint(-3, 3) for _ in range(lots.randint(1, 8))],
                    lots.randint(-2, 2),
                ),
            ),
            Exercise(4, solutions.cell, [([1, 2, 0], [3, 3, 5])], _levels),
            Exercise(
                4,
                solutions.td,
                [([0, 0.5], 1, 0.5)],
                lambda lots: (
                    [lots.randint(-8, 8) / 8 for _ in range(lots.randint(1, 6))],
                    lots.choice((-1, 0, 1)),
                    lots.choice((0.125, 0.5, 1)),
                ),
            ),
            Exercise(
                5,
                solutions.tested,
                [(MIDWEST, "Rochester", "Wausau"), (MIDWEST, "Chicago", "Fargo")],
                lambda lots: _towns(lots, False),
            ),
            Exercise(
                5,
                solutions.depth_first,
                [(MIDWEST, "Rochester", "Wausau")],
                lambda lots: _towns(lots, False),
            ),
            Exercise(
                5,
                solutions.cheapest,
                [(ROMANIA, "Arad", "Bucharest"), (ROMANIA, "Oradea", "Neamt")],
                lambda lots: _towns(lots, True),
            ),
            Exercise(
                5,
                solutions.greedy,
                [
                    (
                        ROMANIA,
                        {town: place for place, town in enumerate(sorted(ROMANIA))},
                        "Arad",
                        "Bucharest",
                    )
                ],
                _estimated,
            ),
            Exercise(
                5,
                solutions.manhattan,
                [([1, 2, 5, 3, 4, 8, 6, 7, 0],), ([8, 7, 6, 5, 4, 3, 2, 1, 0],)],
                _tiles,
            ),
            Exercise(
                5,
                solutions.solvable,
                [([1, 2, 5, 3, 4, 8, 6, 7, 0],), ([0, 2, 1, 3, 4, 5, 6, 7, 8],)],
                _tiles,
            ),
            Exercise(
                5,
                solutions.attacks,
                [([0, 1, 2, 3],), ([0, 4, 7, 5, 2, 6, 1, 3],), ([2, 2, 0],)],
                lambda lots: ([lots.randint(0, 7) for _ in range(lots.randint(1, 8))],),
            ),
            Exercise(
                5,
                solutions.arcs,
                [
                    (
                        {"WA": ["red"], "NT": list(COLOURS), "SA": ["green", "red"]},
                        {"WA": ["NT", "SA"], "NT": ["WA", "SA"], "SA": ["WA", "NT"]},
                    )
                ],
                _regions,
            ),
        ),
        1,
    )
)
