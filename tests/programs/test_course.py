"""The checker of the course's exercises: its own solutions, wrong answers, and files that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import ROOT, blocks

import games
import plysmith
from benchmarks import samuel_step
from games.file_form import form_of
from play.course import EXERCISES
from search import Engine

SOLUTIONS = [text for _, text in blocks((ROOT / "docs/course_exercises.md").read_text("utf-8"))]


@pytest.mark.parametrize("number", EXERCISES)
def test_the_solution_on_the_page_is_right_and_another_is_not(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(SOLUTIONS) == len(EXERCISES) == 10
    file = tmp_path / f"ex{number}.py"
    file.write_text(SOLUTIONS[number - 1])
    assert plysmith.main(["course", "check", str(file)]) == 0
    assert capsys.readouterr().out == f"ex{number}.py: right\n"
    file.write_text(f"def {EXERCISES[number].name}(*given):\n    return 'wrong'\n")
    assert plysmith.main(["course", "check", str(file)]) == 1
    answer = capsys.readouterr().out
    assert answer.startswith(f"{EXERCISES[number].name}(") and ": expected " in answer
    assert answer.endswith("found 'wrong'\n")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ex1.py", "x = 1", "ex1.py: expected a function minimax, found none"),
        ("ex1.py", "def minimax(tree):\n    return tree[9]", "IndexError: list index out of range"),
        ("ex1.py", "def minimax(tree):\n    raise ValueError('no')", "ex1.py: ValueError: no"),
        ("ex1.py", "def minimax(:", "SyntaxError: "),
        ("ex11.py", "", "expected a file ex1.py to ex10.py, found ex11.py"),
        ("ex2.py", None, "expected a file with leaves, found none"),
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
