"""The course's commands: check, marks and tasks of its exercises, and counts of small games.

`plysmith course check ex3.py` runs a student's file, `marks FOLDER` those of a class.
"""

from __future__ import annotations

import csv
import inspect
import sys
from pathlib import Path

import games
from play.course.check import RANDOM, SECONDS, check, marks
from play.course.count import count
from play.course.exercises import EXERCISES, LECTURES
from programs.arguments import Parser, in_range
from programs.ending import exit_status
from programs.phrases import counted

__all__ = ["main", "sheet"]


def sheet(lecture: int | None = None, solutions: bool = False) -> str:
    """Returns a sheet of tasks.

    lecture: the number of the lecture, from 1, or None for all.
    solutions: whether to add our solutions.
    """
    parts = ["A tree is nested lists with numbers as leaves, in which MAX moves at the root."]
    for place, title in enumerate(LECTURES):
        if lecture in (None, place + 1):
            parts.append(f"# {place + 1}. {title}")
            for number, exercise in EXERCISES.items():
                if exercise.lecture == place:
                    source = f"```python\n{inspect.getsource(exercise.solution)}```"
                    task = source if solutions else exercise.task
                    parts.append(f"## ex{number}.py\n\n{task}")
    return "\n\n".join(parts)


def main(arguments: list[str] | None = None, program: str = "python -m play.course.command") -> int:
    """Runs a command of the course; returns its exit status, which is 1 if an answer is wrong."""
    parser = Parser(prog=program, description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checked = commands.add_parser("check", help="check an exercise")
    checked.add_argument(
        "file", type=Path, metavar="FILE", help=f"your function, in ex1.py to ex{len(EXERCISES)}.py"
    )
    marked = commands.add_parser("marks", help="print a sheet of marks (CSV) of a class")
    marked.add_argument("folder", type=Path, metavar="FOLDER", help="a folder for each student")
    for one in (checked, marked):
        one.add_argument(
            "--seed", type=int, default=0, help=f"seed of the {RANDOM} random cases (default: 0)"
        )
        one.add_argument(
            "--seconds",
            type=in_range(0.1, 3600, float),
            default=SECONDS,
            help=f"limit of time for a file (default: {SECONDS:g})",
        )
    tasks = commands.add_parser("tasks", help="print the tasks as Markdown")
    tasks.add_argument("--lecture", type=in_range(1, len(LECTURES)), help="only of this lecture")
    tasks.add_argument("--solutions", action="store_true", help="add our solutions")
    counts = commands.add_parser("count", help="count the games and positions of a small game")
    counts.add_argument("game", metavar="GAME", help="a game's name, or module:Class")
    options = parser.parse_args(arguments)

    def run() -> int:
        if options.command == "count":
            ended, positions, plies = count(games.load(options.game))
            print(f"{ended:,} games, {positions:,} positions, at most {plies} plies")
        elif options.command == "tasks":
            print(sheet(options.lecture, options.solutions))
        elif options.command == "marks":
            rows = csv.writer(sys.stdout, lineterminator="\n")
            rows.writerows(marks(options.folder, options.seed, options.seconds))
        else:
            verdicts = check(options.file, options.seed, options.seconds)
            wrong = sum(bool(verdict.wrong) for verdict in verdicts)
            if wrong:
                print("\n".join(map(str, verdicts)))
            right = f"{len(verdicts) - wrong} of {len(verdicts)} right" if wrong else "right"
            print(
                f"{options.file.name}: {right} ({counted(len(verdicts), 'case')}, seed "
                f"{options.seed})"
            )
            return 1 if wrong else 0
        return 0

    return exit_status(program, run)


if __name__ == "__main__":
    sys.exit(main())
