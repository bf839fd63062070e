"""The course's commands: `plysmith course check ex3.py`, and `plysmith course count tic_tac_toe`.

The tasks of the exercises are in docs/course_exercises.md. A file of exercise 3 is called `ex3.py`
and defines one function, which is compared with ours on a few cases. The user names the file, and
it is run.
"""

from __future__ import annotations

import copy
import math
import re
import runpy
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import games
from games.kinds import WITHOUT_DICE
from games.nim import Nim
from games.puzzles.queens import attacks
from games.puzzles.road_map import MIDWEST, ROMANIA, RoadMap
from games.tree import Tree
from play.judging.search_tree import search_tree
from play.judging.tree_node import TreeNode
from programs.arguments import Parser
from programs.ending import exit_status
from search import as_evaluator
from search.textbook import Waiting, breadth_first, uniform_cost
from search.textbook.max_n import max_n
from search.textbook.minimax import alphabeta, expectiminimax, minimax

__all__ = ["EXERCISES", "Exercise", "check", "count", "main"]

#: The largest game whose tree is counted, in positions; a few seconds.
MOST = 100_000


@dataclass(frozen=True)
class Exercise:
    """An exercise.

    name: the function that the file defines.
    cases: arguments to try it with.
    expected: ours, with the same arguments.
    """

    name: str
    cases: Sequence[tuple[Any, ...]]
    expected: Callable[..., Any]


def _looked_at(tree: Any) -> list[float]:
    """Returns the leaves that alpha-beta looks at, from left to right."""

    def leaves(node: TreeNode) -> list[float]:
        below = [leaf for child in node.looked_at for leaf in leaves(child)]
        return below if node.children else [node.value or 0.0]

    return leaves(search_tree(Tree(tree), ()).root)


def _open_lines(board: str) -> float:
    game = games.load("tic_tac_toe")
    side = "X" if board.count("X") == board.count("O") else "O"
    value = as_evaluator(game, "open_lines")(game.parse_position(f"{board} {side}"))
    return value if side == "X" else -value


def _tested(roads: Any, start: str, goal: str) -> list[str]:
    queues: list[list[Waiting]] = []
    breadth_first(RoadMap(roads, start, goal), trace=queues.append)
    tested: list[str] = []
    for queue in queues:
        tested.append(next(one.position for one in queue if one.position not in tested))
    return tested


def _manhattan(tiles: Sequence[int]) -> float:
    game = games.load("sliding8")
    position = game.parse_position(" ".join(map(str, tiles)))
    return as_evaluator(game, "manhattan")(position)


AIMA, SECOND = [[3, 12, 8], [2, 4, 6], [14, 5, 2]], [[7, 6, 5], [3, 1, 2], [6, 5, 9]]
LETTERS = [[[4, [-3, -5]], -5], [3, 8, [9, -6, 0]], 0, [[3, 5], 2, [-7, -9]]]
THREE = [[[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]], [[(5, 1, 1), (1, 5, 2)], [(7, 7, 1)]]]
EXERCISES = {
    1: Exercise("minimax", [(AIMA,), (SECOND,), (LETTERS,)], lambda tree: minimax(Tree(tree), ())),
    2: Exercise("leaves", [(AIMA,), (SECOND,), (LETTERS,)], _looked_at),
    3: Exercise("open_lines", [(".........",), ("....X....",), ("X...O....",), ("XO.X.....",)],
                _open_lines),
    4: Exercise("wins", [((2, 2),), ((1, 1, 1),), ((1, 1),), ((3, 2, 1),), ((3, 3, 2),)],
                lambda piles: alphabeta(Nim(piles), (*piles, 0)) > 0),
    5: Exercise("value", [("[{0.9: [2], 0.1: [3]}, {0.9: [1], 0.1: [4]}]",),
                          ("[{0.25: [1, -4], 0.75: [2, 9]}, {1: [0, 1]}]",)],
                lambda text: expectiminimax(Tree.from_text(text), ())),
    6: Exercise("max_n", [(THREE,)], lambda tree: max_n(Tree(tree, players=3), ())),
    7: Exercise("tested", [(MIDWEST, "Rochester", "Wausau"), (MIDWEST, "Chicago", "Fargo")],
                _tested),
    8: Exercise("manhattan", [((1, 2, 5, 3, 4, 8, 6, 7, 0),), ((8, 7, 6, 5, 4, 3, 2, 1, 0),)],
                _manhattan),
    9: Exercise("cheapest", [(ROMANIA, "Arad", "Bucharest"), (ROMANIA, "Oradea", "Neamt")],
                lambda *case: uniform_cost(RoadMap(*case)).cost),
    10: Exercise("attacks", [((0, 1, 2, 3),), ((0, 4, 7, 5, 2, 6, 1, 3),), ((2, 2, 0),)], attacks),
}  # fmt: skip


def check(path: Path) -> str:
    """Runs a file of an exercise; returns the first case that is wrong, or "" if none is.

    Raises ValueError if its name is not that of an exercise, if it raises an error, or if it
    defines no function of the expected name.
    """
    number = re.fullmatch(r"ex(\d+)\.py", path.name)
    if number is None or int(number[1]) not in EXERCISES:
        raise ValueError(f"expected a file ex1.py to ex{len(EXERCISES)}.py, found {path.name}")
    exercise = EXERCISES[int(number[1])]
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file with {exercise.name}, found none")

    def tried(theirs: Callable[..., Any], *given: Any) -> Any:
        try:
            return theirs(*given)
        except Exception as error:
            raise ValueError(f"{path}: {type(error).__name__}: {error}") from error

    function = tried(runpy.run_path, str(path)).get(exercise.name)
    if not callable(function):
        raise ValueError(f"{path}: expected a function {exercise.name}, found none")
    for case in exercise.cases:
        answer, expected = tried(function, *copy.deepcopy(case)), exercise.expected(*case)
        if not tried(_equal, answer, expected):
            given = ", ".join(map(repr, case))
            return f"{exercise.name}({given}): expected {expected!r}, found {answer!r}"
    return ""


def _equal(found: Any, expected: Any) -> bool:
    close = isinstance(found, int | float) and isinstance(expected, int | float)
    return math.isclose(found, expected, abs_tol=1e-9) if close else bool(found == expected)


def count(game: games.Game) -> tuple[int, int, int]:
    """Returns the number of games that can be played from the start, of positions, and of plies.

    The last one is that of the longest games.

    Raises ValueError for a game with dice, and for one of more than `MOST` positions, which one
    without an end has too; a position counts again at each ply at which it occurs.
    """
    WITHOUT_DICE.expect(game)
    level, seen = Counter({game.start(): 1}), {game.start()}
    ended = visited = 0
    plies = -1
    while level:
        plies, visited = plies + 1, visited + len(level)
        if visited > MOST:
            raise ValueError(
                f"{game.name}: expected a game of at most {MOST:,} positions, found more"
            )
        below = Counter[Any]()
        for position, ways in level.items():
            moves = game.legal_moves(position)
            ended += 0 if moves else ways
            for move in moves:
                below[game.play(position, move)] += ways
        seen.update(below)
        level = below
    return ended, len(seen), plies


def main(arguments: list[str] | None = None, program: str = "python -m play.course") -> int:
    """Runs `course check FILE` or `course count GAME`; returns its exit status.

    The status is 1 if an answer is wrong.
    """
    parser = Parser(prog=program, description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checked = commands.add_parser("check", help="check an exercise")
    checked.add_argument(
        "file", type=Path, metavar="FILE", help="your function, in ex1.py to ex10.py"
    )
    counted = commands.add_parser("count", help="count the games and positions of a small game")
    counted.add_argument("game", metavar="GAME", help="a game's name, or module:Class")
    options = parser.parse_args(arguments)

    def run() -> int:
        if options.command == "count":
            ended, positions, plies = count(games.load(options.game))
            print(f"{ended:,} games, {positions:,} positions, at most {plies} plies")
            return 0
        wrong = check(options.file)
        print(wrong or f"{options.file.name}: right")
        return 1 if wrong else 0

    return exit_status(program, run)
