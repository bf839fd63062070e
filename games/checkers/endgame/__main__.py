"""Build endgame databases of checkers."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from programs.arguments import THREADS, Parser
from programs.ending import exit_status
from programs.waiting import WorkBar

if TYPE_CHECKING:
    from games.checkers.endgame.numbering import Material

PROGRAM = "python -m games.checkers.endgame"
PIECES_HELP = "pieces of both sides together, 2 to 6 (default 4); the file includes fewer pieces"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    result = Parser(prog=program, description=__doc__)
    commands = result.add_subparsers(dest="command", required=True)
    add = commands.add_parser("build", help="make the file, or continue it").add_argument
    add("--pieces", type=int, default=4, metavar="N", help=PIECES_HELP)
    add("--directory", metavar="FOLDER", help="folder of the file (default: the user's cache)")
    add("--threads", type=int, default=THREADS, metavar="N", help=f"default {THREADS}")
    add("--quiet", action="store_true", help="no progress bar")
    add = commands.add_parser("pack", help="write results of five pieces, once built").add_argument
    add(
        "file", type=Path, metavar="FILE", help="usually data/checkers/endgame5.results.safetensors"
    )
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run a command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    work = _pack if options.command == "pack" else _build
    return exit_status(program, lambda: work(options))


def _pack(options: argparse.Namespace) -> int:
    from games.checkers.endgame.results import write

    write(options.file)
    print(f"{options.file}: {options.file.stat().st_size} bytes")
    return 0


def _build(options: argparse.Namespace) -> int:
    from games.checkers.endgame.building import build
    from games.checkers.endgame.database import material_text, path_of
    from games.checkers.endgame.numbering import positions_of, slices

    path_of(options.pieces)
    began = time.perf_counter()
    total = sum(map(positions_of, slices(options.pieces)))
    with WorkBar(total, "positions", quiet=options.quiet) as bar:

        def progress(materials: list[Material]) -> None:
            if materials:
                bar.note = material_text(materials[-1])
                bar.update(sum(map(positions_of, materials)))

        path = build(options.pieces, options.directory, threads=options.threads, progress=progress)
    seconds = time.perf_counter() - began
    print(f"{path}: {path.stat().st_size} bytes, {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
