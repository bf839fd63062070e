"""`python -m play solve`: the moves, the text about them, and wrong input."""

from __future__ import annotations

from typing import Any

import pytest

from games.puzzles.sliding_tiles import Sliding8
from play.__main__ import main

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


def test_a_terminal_shows_the_positions_one_after_the_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("play.commands.solve.PAUSE", 0.0)
    assert main(["solve", "sliding8", TEXT]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\x1b[3A") == len(shown.splitlines()[-2].split())
    assert main(["solve", "sliding8", TEXT, "--still"]) == 0
    assert "\x1b[" not in capsys.readouterr().out


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
    assert "no bound" in capsys.readouterr().out
    assert main(["solve", "sliding15", "--nodes", "10"]) == 1
    assert "no solution: 10 positions expanded" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["checkers"], "expected a problem with one agent, found the game checkers"),
        (["sliding8", "0 2 1 3 4 5 6 7 8"], "1 swaps from the goal"),
        (["sliding8", "1 1 2 3 4 5 6 7 8"], "found 1 twice and no 0"),
        (["sliding8", "--heuristic", "nothing"], "nothing"),
        (["sliding8", "--method", "bfs"], "method: expected one of astar"),
        (["sliding8", "--weight", "0.5"], "weight: expected 1 to 1000"),
        (["sliding8", "--memory", "0"], "memory_mib: expected"),
        (["nosuch"], "expected one of"),
    ],
)
def test_wrong_input_is_one_clear_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[Any]
) -> None:
    assert main(["solve", *arguments]) != 0
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
