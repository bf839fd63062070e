"""Compares a student's function with ours, on fixed cases and on random ones from a seed.

The file runs in a process of its own, with a limit of time. Only answers come back, as JSON.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from play.course import answers
from play.course.exercises import EXERCISES
from programs.phrases import listed, shortened

__all__ = ["RANDOM", "SECONDS", "Verdict", "check", "marks"]

#: Random cases of an exercise.
RANDOM = 60
#: Seconds for all cases of a file.
SECONDS = 10.0
#: The maximum length of arguments and answers in messages, in characters.
SHOWN = 200


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case.

    case: the call.
    wrong: the reason why its answer is wrong; empty if it is right.
    """

    case: str
    wrong: str

    def __str__(self) -> str:
        return f"{self.case}: {self.wrong or 'right'}"


def exercise_of(path: Path) -> int:
    """Returns the number of a file's exercise; raises ValueError if the name contains none."""
    number = re.fullmatch(r"ex([1-9]\d*)\.py", path.name, re.ASCII)
    if number is None or int(number[1]) not in EXERCISES:
        raise ValueError(f"expected a file ex1.py to ex{len(EXERCISES)}.py, found {path.name}")
    return int(number[1])


def check(path: Path, seed: int = 0, seconds: float = SECONDS) -> list[Verdict]:
    """Runs a file of an exercise; returns a verdict for each case.

    seed: of the random cases.
    seconds: limit of time for all cases.

    Raises ValueError if its name is not that of an exercise, if the file raises an error or ends
    Python, or if it defines no function of the expected name.
    """
    exercise = EXERCISES[exercise_of(path)]
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file with {exercise.name}, found none")
    lots = Random(seed)
    cases = [*exercise.cases, *(exercise.draw(lots) for _ in range(RANDOM))]
    verdicts = []
    replies = answered(path, exercise.name, cases, seconds)
    for case in cases:
        expected = exercise.solution(*case)
        answer = next(replies, {"error": "not tried, because the case before it did not end"})
        wrong = answer.get("error", "")
        if not wrong and not equal(answer["answer"], answers.plain(expected)):
            theirs = shortened(repr(answer["answer"]), SHOWN)
            wrong = f"expected {shortened(repr(expected), SHOWN)}, found {theirs}"
        given = shortened(", ".join(map(repr, case)), SHOWN)
        verdicts.append(Verdict(f"{exercise.name}({given})", shortened(wrong, 3 * SHOWN)))
    return verdicts


def answered(
    path: Path, name: str, cases: Sequence[tuple[Any, ...]], seconds: float
) -> Iterator[dict[str, Any]]:
    """Runs a file; yields the answer or the error of its function for each case.

    The last one belongs to the case in which the process ended or was stopped.
    """
    process = subprocess.Popen(
        [sys.executable, answers.__file__, str(path.resolve()), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    ended = f"no answer within {seconds:g} s"
    try:
        text, _ = process.communicate("".join(f"{case!r}\n" for case in cases), seconds)
        ended = f"the file ended Python (status {process.returncode}) without an answer"
    except subprocess.TimeoutExpired:
        _end(process)
        text, _ = process.communicate()
    finally:
        _end(process)
    begins, *replies = [json.loads(line) for line in text.splitlines()] or [{"error": ended}]
    if "error" in begins:
        raise ValueError(f"{path}: {begins['error']}")
    yield from replies
    if len(replies) < len(cases):
        yield {"error": ended}


def _end(process: subprocess.Popen[str]) -> None:
    """End a process, and those that it began."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    process.kill()


def equal(answer: Any, expected: Any) -> bool:
    """Returns whether an answer is ours; lists are tuples, and numbers may differ by rounding."""
    if isinstance(answer, int | float) and isinstance(expected, int | float):
        return math.isclose(answer, expected, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(answer, list) and isinstance(expected, list):
        return len(answer) == len(expected) and all(map(equal, answer, expected))
    return bool(answer == expected)


def marks(folder: Path, seed: int = 0, seconds: float = SECONDS) -> Iterator[list[str]]:
    """Checks the files of students, one folder each; yields the rows of a sheet of marks.

    The first one has the titles. A mark is the per cent of the cases that are right, rounded down;
    0 for a file that does not run, empty without one. The last column is the number of exercises
    with 100.

    Raises ValueError if no folder in `folder` has a file of an exercise.
    """
    files = {
        student: {exercise_of(file): file for file in student.glob("ex*.py") if _is_one(file)}
        for student in sorted(folder.iterdir())
        if student.is_dir()
    }
    handed_in = sorted({number for one in files.values() for number in one})
    if not handed_in:
        raise ValueError(
            f"{folder}: expected folders of students with files ex1.py to ex{len(EXERCISES)}.py, "
            f"found {listed([one.name for one in files]) or 'no folder'}"
        )
    yield ["student", *(f"ex{number}" for number in handed_in), "right"]
    for student, papers in files.items():
        row = {number: _mark(file, seed, seconds) for number, file in papers.items()}
        texts = [str(row.get(number, "")) for number in handed_in]
        # a spreadsheet would compute a name that begins with these
        name = f"'{student.name}" if student.name[0] in "=+-@" else student.name
        yield [name, *texts, str(sum(mark == 100 for mark in row.values()))]


def _is_one(file: Path) -> bool:
    try:
        return exercise_of(file) > 0
    except ValueError:
        return False


def _mark(file: Path, seed: int, seconds: float) -> int:
    try:
        verdicts = check(file, seed, seconds)
    except ValueError:
        return 0
    return 100 * sum(not verdict.wrong for verdict in verdicts) // len(verdicts)
