"""The command `python -m play patterns`: builds a pattern database of a puzzle."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from play.commands.solve import PROBLEM_HELP
from programs.phrases import counted
from programs.waiting import WorkBar

__all__ = ["add_patterns_command"]


def add_patterns_command(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "patterns", help="a pattern database: a lower bound for a puzzle", description=__doc__
    )
    add = command.add_argument
    add("game", metavar="problem", help=PROBLEM_HELP)
    add("file", type=Path, help="where it goes; `solve --heuristic FILE` reads it")
    add(
        "--sum",
        action="append",
        metavar="P",
        help="a shipped sum by name, such as 5-5-5, or patterns to add, each as its pieces,"
        " such as 1,2,3/4,5,6; the largest of several --sum counts (default: the"
        " problem's first)",
    )
    add("--mirror", action=argparse.BooleanOptionalAction,
        help="look up the mirror image too (default: if there is one)")  # fmt: skip
    add("--memory", type=float, default=4096.0, metavar="MIB", help="maximum memory (default 4096)")
    add("--overwrite", action="store_true", help="replace the file")
    add("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=run_patterns)


def run_patterns(options: argparse.Namespace) -> int:
    """Run `patterns`: build and save a database, and report its size."""
    import games
    from games.problem import KernelProblem
    from search.single_agent.patterns import build_patterns

    problem = games.load(options.game)
    if not isinstance(problem, KernelProblem):
        raise ValueError(f"expected a problem with kernels, found {problem.name}")
    if options.file.suffix != ".safetensors":
        raise ValueError(f"file: expected a name that ends with .safetensors, found {options.file}")
    if options.file.exists() and not options.overwrite:
        raise ValueError(f"expected a new file, found {options.file}: --overwrite replaces it")
    sums = [_sum(problem, text) for text in options.sum or ()] or None
    with WorkBar(None, "positions", quiet=options.quiet) as bar:

        def progress(known: int, total: int) -> None:
            bar.total = total
            bar.update(known - bar.done)

        made = build_patterns(
            problem,
            sums,
            mirrored=options.mirror,
            memory_mib=options.memory,
            progress=progress,
            name=options.file.stem,
        )
    made.save(options.file)
    count = sum(len(table) for table in made.tables)
    patterns = counted(len(made.tables), "pattern")
    print(f"{counted(count, 'cost')} of {patterns} written to {options.file}.")
    return 0


def _sum(problem: Any, text: str) -> list[list[int]]:
    """Returns the patterns that a text names."""
    if text in problem.patterns:
        return [list(part) for part in problem.patterns[text]]
    try:
        return [[int(piece) for piece in part.split(",")] for part in text.split("/")]
    except ValueError:
        names = ", ".join(problem.patterns) or "patterns"
        raise ValueError(
            f"--sum: expected {names}, or pieces such as 1,2,3/4,5,6, found {text!r}"
        ) from None
