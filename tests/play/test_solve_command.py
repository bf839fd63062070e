"""`python -m play solve`: the moves, the text about them, and wrong input."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from interrupts import ctrl_c

from games.puzzles.queens import Queens, attacks
from games.puzzles.sliding_tiles import Sliding8
from play.__main__ import main
from search import solve
from search.single_agent.solve import _Search
from search.textbook import STRATEGIES

pytestmark = pytest.mark.plain

TEXT = "1 2 5 3 4 8 6 7 0"


def test_the_moves_lead_to_the_goal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "sliding8", TEXT]) == 0
    moves, facts = capsys.readouterr().out.splitlines()
    problem = Sliding8()
    position = problem.parse_position(TEXT)
    for text in moves.split():
        position = problem.play(position, problem.parse_move(position, text))
    assert problem.solved(position)
    assert facts.startswith(f"cost {len(moves.split())}: optimal (manhattan never overestimates);")


@pytest.mark.thorough
def test_a_terminal_shows_the_state_of_a_long_search(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    hard = "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"
    main(["solve", "sliding15", hard, "--heuristic", "misplaced", "--seconds", "1.5"])
    shown = capsys.readouterr().err
    assert " expanded, " in shown and " waiting, f = " in shown
    assert shown.endswith("\r\x1b[K")


def test_weights_and_limits_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "sliding8", "--weight", "2"]) == 0
    assert "at most 2 times the optimum" in capsys.readouterr().out
    assert main(["solve", "sliding8", "--method", "greedy"]) == 0
    assert "no proof of optimality (costs so far were left aside)" in capsys.readouterr().out
    assert main(["solve", "sliding15", "--nodes", "10"]) == 1
    assert "no solution: 10 positions expanded" in capsys.readouterr().out


def test_a_position_that_cannot_be_solved_is_an_answer_with_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The course's 8-puzzle, with the course's goal; with the usual goal it can be solved."""
    start = "5 4 _ / 6 1 8 / 7 3 2"
    goal = ["--goal", "1 2 3 / 8 _ 4 / 7 6 5"]
    assert main(["solve", "sliding8", start, *goal]) == 1
    answer = capsys.readouterr().out
    assert answer.startswith("cannot be solved: the tiles are 7 swaps from the goal and the blank")
    assert main(["solve", "sliding8", "4 5 _ / 6 1 8 / 7 3 2", *goal]) == 0
    assert ": optimal (manhattan never overestimates); " in capsys.readouterr().out
    assert main(["solve", "sliding8", "0 2 1 3 4 5 6 7 8"]) == 1
    assert "the tiles are 1 swap from the goal and the blank is 0 steps" in capsys.readouterr().out
    assert main(["solve", "road_map", "--goal", "Fargo"]) == 0
    assert capsys.readouterr().out.startswith("Sioux Falls Fargo\ncost 2: optimal")


def test_ctrl_c_while_the_search_is_compiled_ends_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    searches = []

    def interrupted(*asked: Any, **limits: Any) -> Any:
        searches.append(limits["nodes"])
        return replace(solve(*asked, **limits), moves=None, proved="interrupted")

    monkeypatch.setattr("search.solve", interrupted)
    assert main(["solve", "sliding8", TEXT]) == 130
    assert searches == [1] and capsys.readouterr() == ("", "stopped\n")


def test_ctrl_c_says_how_far_the_search_came(capsys: pytest.CaptureFixture[str]) -> None:
    with ctrl_c():
        status = main(["solve", "sliding24", "--heuristic", "misplaced"])
    said = capsys.readouterr()
    assert (status, said.err) == (130, "stopped\n")
    assert said.out.startswith("no solution: interrupted; ")


#: The queues of the course on its map, and of Russell and Norvig (figures 3.23, 3.24, 3.14).
TRACES = {
    ("road_map", "breadth_first"): "[Minneapolis, La Crosse, Dubuque, Fargo, Rochester]",
    ("road_map", "depth_first"): "[Dubuque, La Crosse, Minneapolis, Sioux Falls]",
    ("romania", "greedy"): "[Bucharest 0, Rimnicu Vilcea 193, Timisoara 329, Zerind 374, Oradea",
    ("romania", "astar"): "[Pitesti 417, Timisoara 447, Zerind 449, Bucharest 450, Craiova 526, Or",
    ("romania", "uniform_cost"): "[Bucharest 418]",
    ("romania", "ida"): "[Arad 366, Sibiu 393, Rimnicu Vilcea 413, Pitesti 417, Bucharest 418]",
    ("romania", "rbfs"): "[Arad 366, Sibiu 393, Rimnicu Vilcea 413, Pitesti 417, Bucharest 418]",
    ("romania", "sma"): "[Bucharest 418, Timisoara 447, Zerind 449, Bucharest 450, Craiova 526, Cr",
    ("romania", "hill_climbing"): "[Fagaras 176]",
    ("romania", "lrta"): "[Rimnicu Vilcea 193]",
    ("romania", "depth_limited"): "[Arad, Sibiu, Fagaras, Bucharest]",
    ("romania", "iterative_deepening"): "[Arad, Sibiu, Fagaras, Bucharest]",
    ("romania", "bidirectional"): "[Arad, Bucharest]",
    ("romania", "beam"): "[Sibiu 393, Timisoara 447, Zerind 449]",
    ("romania", "annealing"): "[Arad 366]",
}


@pytest.mark.parametrize(("problem", "method"), TRACES)
def test_a_trace_shows_the_frontier_at_each_step(
    problem: str, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {method for _, method in TRACES} == set(STRATEGIES)
    assert main(["solve", problem, "--method", method, "--trace"]) == 0
    lines = capsys.readouterr().out.splitlines()
    steps = [line.split(maxsplit=1)[1] for line in lines if line.lstrip()[:1].isdigit()]
    assert any(step.startswith(TRACES[problem, method]) for step in steps)
    cheapest = {"astar", "uniform_cost", "ida", "rbfs", "sma"} if problem == "romania" else set()
    assert method not in cheapest or lines[-1].startswith("cost 418: optimal")
    assert method != "greedy" or lines[-1].startswith("cost 450: no proof of optimality")


def test_a_trace_says_what_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["solve", "sliding15", "--trace", "--method", "breadth_first", "--nodes", "250"]) == 1
    )
    shown = capsys.readouterr().out
    assert "steps after 200 are not shown" in shown and " more]" in shown
    assert main(["solve", "sliding8", "0 2 1 3 4 5 6 7 8", "--method", "rbfs"]) == 1
    assert capsys.readouterr().out.startswith("cannot be solved: the tiles are 1 swap")


def test_compiling_is_no_part_of_the_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[None] = []

    def record(self: Any, blocks: int) -> Any:
        if not compiled:
            compiled.append(time.sleep(2.0))  # as the first search of a problem
        return original(self, blocks)

    original = _Search._record
    monkeypatch.setattr(_Search, "_record", record)
    assert main(["solve", "sliding8", TEXT, "--seconds", "60"]) == 0
    seconds = re.search(r" at most, (\S+) s\n", capsys.readouterr().out)
    assert seconds and float(seconds[1]) < 2.0


def test_a_heuristic_that_overestimates_proves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Each move puts one queen right, so that the nearest of all solutions is known: 7 moves."""
    assert main(["solve", "queens8"]) == 0
    answer = capsys.readouterr().out.splitlines()[1]
    assert answer.startswith("cost 10: no proof of optimality (attacks is known to overestimate); ")
    queens = [rows for rows in permutations(range(8)) if not attacks(rows)]
    start = Queens(8).start()
    assert len(queens) == 92
    assert min(sum(a != b for a, b in zip(start, rows, strict=True)) for rows in queens) == 7


@pytest.mark.parametrize("method", ["astar", "ida"])
def test_a_search_that_is_cut_short_says_what_it_knows(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hard = "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"  # Korf's first: 57 moves
    assert main(["solve", "sliding15", hard, "--method", method, "--nodes", "20000"]) == 1
    bound = re.search(r"; any solution costs at least (\d+);", capsys.readouterr().out)
    assert bound and 41 < int(bound[1]) <= 57
    options = ["--method", method, "--nodes", "1", "--heuristic"]
    assert main(["solve", "queens8", *options, "attacks"]) == 1
    answer = capsys.readouterr().out
    assert "at least" not in answer and "1 position expanded" in answer
