"""Endgame databases of checkers: build, verify, describe."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from games.program import Parser, exit_status
from games.waiting import WorkBar

if TYPE_CHECKING:
    from games.checkers.endgame.database import Endgame
    from games.checkers.endgame.numbering import Material

PROGRAM = "python -m games.checkers.endgame"
PIECES_HELP = "of both sides together, 2 to 6 (default 4); those of fewer pieces are in it"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    result = Parser(prog=program, description=__doc__)
    commands = result.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="make the file, or go on with it")
    check = commands.add_parser("verify", help="derive every value from those of its moves")
    info = commands.add_parser("info", help="positions, wins, losses, draws, longest wins")
    for command in (build, check, info):
        command.add_argument("--pieces", type=int, default=4, metavar="N", help=PIECES_HELP)
        command.add_argument(
            "--directory", metavar="FOLDER", help="of the file (default: the user's cache)"
        )
    for command in (build, check):
        command.add_argument("--threads", type=int, default=2, metavar="N", help="default 2")
    for command in (build, check):
        command.add_argument("--quiet", action="store_true", help="no progress bar")
    info.add_argument("--slices", action="store_true", help="each slice by itself")
    info.add_argument("--json", action="store_true", help="last line: the same as JSON")
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run a command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    run = {"build": _build, "verify": _verify, "info": _info}[options.command]
    return exit_status(program, lambda: run(options))


def _bar(options: argparse.Namespace) -> WorkBar:
    from games.checkers.endgame.numbering import positions_of, slices

    total = sum(map(positions_of, slices(options.pieces)))
    return WorkBar(total, "positions", quiet=options.quiet)


def _build(options: argparse.Namespace) -> int:
    from games.checkers.endgame.building import build
    from games.checkers.endgame.database import material_text, path_of
    from games.checkers.endgame.numbering import positions_of

    path_of(options.pieces)
    began = time.perf_counter()
    with _bar(options) as bar:

        def progress(materials: list[Material]) -> None:
            if materials:
                bar.note = material_text(materials[-1])
                bar.update(sum(map(positions_of, materials)))

        path = build(options.pieces, options.directory, threads=options.threads, progress=progress)
    seconds = time.perf_counter() - began
    print(f"{path}: {path.stat().st_size} bytes, {seconds:.1f} s")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from games.checkers.endgame.database import check, path_of, read

    found = read(path_of(options.pieces, options.directory), options.pieces)
    with _bar(options) as bar:
        check(found, threads=options.threads, progress=bar.update)
    print("every value is the one that the position's moves give")
    return 0


def _info(options: argparse.Namespace) -> int:
    from games.checkers.endgame.building import endgame
    from games.checkers.endgame.database import material_text, path_of
    from games.checkers.endgame.numbering import slices

    found = endgame(options.pieces, options.directory)
    path = path_of(options.pieces, options.directory)
    size = f"{path.stat().st_size} bytes" if path.exists() else "in memory alone"
    print(f"{path}: {size}")
    materials = slices(options.pieces)
    rows: list[dict[str, Any]] = []
    for pieces in range(2, options.pieces + 1):
        held = [material for material in materials if sum(material) == pieces]
        rows.append(_row(found, f"{pieces} pieces", held, sides=2))
        if options.slices:
            rows += [_row(found, material_text(material), [material]) for material in held]
    width = max(len(row["of"]) for row in rows)
    print("both sides to move together; of a slice, the side that is named first")
    for row in rows:
        print(
            f"{row['of']:{width}} {row['positions']:13,} positions, {row['wins']:13,} wins,"
            f" {row['losses']:13,} losses, {row['draws']:13,} draws;"
            f" longest win {row['longest_win']} plies, loss {row['longest_loss']}"
        )
    if options.json:
        print(json.dumps({"pieces": options.pieces, "rows": rows}))
    return 0


def _row(found: Endgame, of: str, materials: list[Material], *, sides: int = 1) -> dict[str, Any]:
    tally = found.tally(*materials)
    return {
        "of": of,
        "positions": sides * tally.positions,
        "wins": sides * tally.wins,
        "losses": sides * tally.losses,
        "draws": sides * tally.draws,
        "longest_win": tally.longest_win,
        "longest_loss": tally.longest_loss,
    }


if __name__ == "__main__":
    sys.exit(main())
