"""The course's exercises: our solutions, right and wrong answers, files that fail, and marks."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from course_mutants import drawn, right_answers
from pages import ROOT

import games
import plysmith
from benchmarks import samuel_step
from games.file_form import form_of
from games.nim import Nim
from games.puzzles.queens import attacks
from games.puzzles.road_map import RoadMap
from games.puzzles.sliding_tiles import SlidingTiles
from games.tree import Tree
from play.course import solutions
from play.course.check import check, equal
from play.course.count import count
from play.course.exercises import EXERCISES
from play.judging.search_tree import search_tree
from play.judging.tree_node import TreeNode
from search import Engine, as_evaluator
from search.textbook import breadth_first, depth_first, greedy, uniform_cost
from search.textbook.constraints import Constraints, ac3
from search.textbook.max_n import max_n, paranoid
from search.textbook.minimax import against, alphabeta, best_moves, expectiminimax, minimax
from search.textbook.opponent import Opponent

TIC_TAC_TOE, EIGHT = games.load("tic_tac_toe"), SlidingTiles(3, 3)


def looked_at(tree: Any) -> list[float]:
    def leaves(node: TreeNode) -> list[float]:
        below = [leaf for child in node.looked_at for leaf in leaves(child)]
        return below if node.children else [node.value or 0.0]

    return leaves(search_tree(Tree(tree), ()).root)


def best(tree: Any) -> list[int]:
    moves = best_moves(Tree(tree), ())
    return [move for move, value in moves if value == max(value for _, value in moves)]


def best_line(tree: Any) -> list[int]:
    game, path = Tree(tree), ()
    while game.legal_moves(path):
        moves = best_moves(game, path)
        path = game.play(path, max(moves, key=lambda one: one[1])[0])
    return list(path)


def open_lines(board: str) -> float:
    side = "X" if board.count("X") == board.count("O") else "O"
    value = as_evaluator(TIC_TAC_TOE, "open_lines")(TIC_TAC_TOE.parse_position(f"{board} {side}"))
    return value if side == "X" else -value


def in_order(search: Callable[..., Any], problem: RoadMap) -> list[str]:
    """The towns that a search tests, each once; the one that it takes next stands first."""
    tested: list[str] = []
    search(
        problem,
        trace=lambda queue: tested.append(
            next(one.position for one in queue if one.position not in tested)
        ),
    )
    return tested


def estimated(roads: Any, estimates: Any, start: str, goal: str) -> float:
    return greedy(RoadMap(roads, start, goal), estimates.__getitem__).cost


def consistent(colours: Any, neighbours: Any) -> Any:
    left = {region: sorted(values) for region, values in colours.items()}
    problem = Constraints(left, neighbours, lambda _one, a, _other, b: a != b)
    return left if ac3(problem, left) else None


#: The same answers from the searches and games of this repository.
ORACLES: dict[str, Callable[..., Any]] = {
    "minimax": lambda tree: minimax(Tree(tree), ()),
    "best_moves": best,
    "line": best_line,
    "wins": lambda piles: alphabeta(Nim(piles), (*piles, 0)) > 0,
    "lines": lambda piles: count(Nim(piles))[0],
    "leaves": looked_at,
    "open_lines": open_lines,
    "value": lambda text: expectiminimax(Tree.from_text(text), ()),
    "careless": lambda tree: against(Tree(tree), (), Opponent(temperature=math.inf)),
    "max_n": lambda tree: max_n(Tree(tree, players=3), ()),
    "paranoid": lambda tree: paranoid(Tree(tree, players=3), ()),
    "tested": lambda *case: in_order(breadth_first, RoadMap(*case)),
    "depth_first": lambda *case: in_order(depth_first, RoadMap(*case)),
    "cheapest": lambda *case: uniform_cost(RoadMap(*case)).cost,
    "greedy": estimated,
    "manhattan": lambda tiles: EIGHT.evaluators["manhattan"](
        EIGHT.parse_position(" ".join(map(str, tiles)))
    ),
    "solvable": lambda tiles: (
        not EIGHT.why_unsolvable(EIGHT.parse_position(" ".join(map(str, tiles))))
    ),
    "attacks": lambda rows: attacks(tuple(rows)),
    "arcs": consistent,
}


@pytest.mark.parametrize("number", EXERCISES)
def test_our_solution_is_that_of_the_searches_and_its_case_is_not_changed(number: int) -> None:
    exercise, lots = EXERCISES[number], Random(number)
    oracle = ORACLES.get(exercise.name, exercise.solution)
    for case in [*exercise.cases, *(exercise.draw(lots) for _ in range(40))]:
        before = repr(case)
        answer = exercise.solution(*case)
        assert equal(answer, oracle(*case)), case
        assert repr(case) == before


def test_there_are_thirty_exercises_over_all_lectures() -> None:
    assert len(EXERCISES) == 30
    assert [solutions.hits(far) for far in (1, 6, 7, 12, 24)] == [11, 17, 6, 3, 1]
    assert {exercise.lecture for exercise in EXERCISES.values()} == set(range(6))


def test_right_answers_of_any_style_are_called_right(tmp_path: Path) -> None:
    for place, (number, text) in enumerate(right_answers()):
        file = tmp_path / f"ex{number}.py"
        file.write_text(text)
        assert [str(one) for one in check(file, seed=place) if one.wrong] == [], text


#: Wrong answers that teachers meet; a checker with a few fixed cases called some of them right.
TYPICAL = {
    "two plies only": (
        1,
        "def minimax(t):\n    return max(min(c) if isinstance(c, list) else c "
        "for c in t if not isinstance(c, list) or all(isinstance(x, int) "
        "for x in c))",
    ),
    "begins at 0": (
        1,
        "def minimax(t, m=True):\n    if not isinstance(t, list):\n        return t"
        "\n    b = 0 if m else 99\n    for c in t:\n        "
        "b = (max if m else min)(b, minimax(c, not m))\n    return b",
    ),
    "if not best": (
        1,
        "def minimax(t, m=True):\n    if not isinstance(t, list):\n        return t"
        "\n    b = None\n    for c in t:\n        v = minimax(c, not m)\n        "
        "if not b or (v > b if m else v < b):\n            b = v\n    return b",
    ),
    "no deep cutoffs": (
        7,
        "def leaves(t):\n    seen = []\n\n    def of(n, bound, m):\n"
        "        if not isinstance(n, list):\n            seen.append(n)\n"
        "            return n\n        b = None\n        for c in n:\n"
        "            v = of(c, b, not m)\n"
        "            b = v if b is None else (max if m else min)(b, v)\n"
        "            if bound is not None and (b >= bound if m else b <= bound)"
        ":\n                break\n        return b\n\n"
        "    of(t, None, True)\n    return seen",
    ),
    "last of equal moves": (
        16,
        "def max_n(t, p=0):\n    if isinstance(t, tuple):\n"
        "        return t\n    return max((max_n(c, (p + 1) % 3) "
        "for c in reversed(t)), key=lambda v: v[p])",
    ),
    "the sum": (
        16,
        "def max_n(t, p=0):\n    return t if isinstance(t, tuple) else "
        "max((max_n(c) for c in t), key=sum)",
    ),
    "nim from a table": (
        5,
        "def wins(p):\n    return {(2, 2): False, (1, 1, 1): False, "
        "(1, 1): True, (3, 2, 1): False}[tuple(p)]",
    ),
    "sys.exit": (5, "import sys\n\n\ndef wins(p):\n    sys.exit(0)"),
    "os._exit": (5, "import os\n\n\ndef wins(p):\n    os._exit(0)"),
    "changes its tree": (2, "def best_moves(t):\n    t.clear()\n    return []"),
    "odd answers": (1, "def minimax(t):\n    return '\\x1b[31m' if t else object()"),
}


@pytest.mark.parametrize("slip", TYPICAL)
def test_a_typical_wrong_answer_has_a_verdict_for_each_case(
    slip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number, text = TYPICAL[slip]
    file = tmp_path / f"ex{number}.py"
    file.write_text(text)
    assert plysmith.main(["course", "check", str(file)]) == 1
    *verdicts, summary = capsys.readouterr().out.splitlines()
    assert len(verdicts) == len(check(file)) and all(": " in one for one in verdicts)
    wrong = sum(not one.endswith(": right") for one in verdicts)
    assert f": {len(verdicts) - wrong} of {len(verdicts)} right" in summary and wrong
    assert "\x1b" not in "".join(verdicts)


def test_an_endless_answer_ends_with_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "ex9.py"
    file.write_text("def fewest(b, d):\n    while d == 5:\n        pass\n    return 5")
    verdicts = [one.wrong for one in check(file, seconds=0.5)]
    assert verdicts[:2] == ["", "no answer within 0.5 s"]
    assert set(verdicts[2:]) == {"not tried, because the case before it did not end"}


def test_wrong_answers_that_a_generator_makes_are_refused(tmp_path: Path) -> None:
    assert [text for _, text, refused in drawn(8, 1, tmp_path) if not refused] == []


@pytest.mark.slow
def test_98_of_100_such_answers_are_refused(tmp_path: Path) -> None:
    refused = [refused for _, _, refused in drawn(300, 20261129, tmp_path)]
    assert sum(refused) >= 0.98 * len(refused)


def test_a_sheet_of_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = Path(solutions.__file__).read_text("utf-8")
    for name, text in {
        "ann/ex1.py": ours,
        "ann/ex9.py": ours,
        "=ben/ex1.py": "import sys\nsys.exit(0)",
        "=ben/ex12.py": ours,
        "cy/notes.txt": "",
        "ann/exam.py": "",
        "ex1.py": ours,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert plysmith.main(["course", "marks", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "student,ex1,ex9,ex12,right",
        "'=ben,0,,100,1",
        "ann,100,100,,2",
        "cy,,,,0",
    ]
    assert plysmith.main(["course", "marks", str(tmp_path / "cy")]) == 2
    assert "found no folder" in capsys.readouterr().err


def test_task_sheets_have_all_tasks_and_no_solution(capsys: pytest.CaptureFixture[str]) -> None:
    assert plysmith.main(["course", "tasks"]) == 0
    sheet = capsys.readouterr().out
    assert sheet.count("## ex") == 30 and "return " not in sheet and "def " not in sheet
    assert "`minimax(tree)`" in sheet and "`td(values, outcome, rate)`" in sheet
    assert plysmith.main(["course", "tasks", "--lecture", "5", "--solutions"]) == 0
    sheet = capsys.readouterr().out
    assert sheet.count("def ") == sheet.count("## ex") == 3


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ex1.py", "x = 1", "ex1.py: NameError: expected a function minimax, found none"),
        ("ex1.py", "def minimax(:", "SyntaxError: "),
        ("ex1.py", "import sys\nsys.exit(0)", "ex1.py: SystemExit: 0"),
        ("ex1.py", "import os\nos._exit(0)", "the file ended Python (status 0) without an answer"),
        ("ex31.py", "", "expected a file ex1.py to ex30.py, found ex31.py"),
        ("ex2.py", None, "expected a file with best_moves, found none"),
    ],
)
def test_a_file_that_fails_is_one_line(
    name: str, text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    assert plysmith.main(["course", "check", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("plysmith course: ") and message in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("game", "status", "said"),
    [
        ("tic_tac_toe", 0, "255,168 games, 5,478 positions, at most 9 plies\n"),
        ("checkers", 2, "expected a game of at most 100,000 positions, found more\n"),
        ("backgammon", 2, "expected a game without dice, found backgammon\n"),
    ],
)
def test_small_games_are_counted(
    game: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plysmith.main(["course", "count", game]) == status
    assert "".join(capsys.readouterr()).endswith(said)


def test_the_picture_of_samuels_step_has_the_numbers_of_the_page() -> None:
    page = (ROOT / "docs/course.md").read_text("utf-8")
    picture = samuel_step.picture()
    assert picture == samuel_step.PATH.read_text("utf-8")
    assert samuel_step.POSITION in page and "difference +32848" in page
    assert ">+32,848<" in picture and picture.count(", credited<") == 5


def test_the_game_of_samuels_program_has_the_values_of_the_network_that_ships() -> None:
    checkers = games.load("checkers")
    text = (ROOT / "docs/examples/samuel_nealy_1962.pdn").read_text("utf-8")
    record = next(iter(form_of(checkers).games_in(text, checkers, False))).record
    page = " ".join((ROOT / "docs/course.md").read_text("utf-8").split())
    for ply in (8, 31, 42, 49):
        position, played = record.positions[ply], record.moves[ply]
        found = Engine(checkers, "quantised").search(position, depth=11)
        move, value = checkers.move_text(position, found.move), found.value_text.split()[0]
        assert record.annotations[ply].comment.endswith(f": {move} {value}")
        assert checkers.move_text(position, played) in page
