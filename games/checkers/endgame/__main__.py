"""Endgame databases of checkers: build, verify, describe."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from games.program import exit_status

if TYPE_CHECKING:
    from games.checkers.endgame.database import Endgame
    from games.checkers.endgame.numbering import Material

PROGRAM = "python -m games.checkers.endgame"
PIECES_HELP = "of both sides together, 2 to 6 (default 4); those of fewer pieces are in it"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    result = argparse.ArgumentParser(prog=program, description=__doc__)
    commands = result.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="make the file, or go on with it")
    pack = commands.add_parser(
        "compress", help="keep win, draw or loss alone, in a thirtieth of the bytes, or go on so"
    )
    check = commands.add_parser("verify", help="derive every value from those of its moves")
    info = commands.add_parser("info", help="positions, wins, losses, draws, longest wins")
    for command in (build, pack, check, info):
        command.add_argument("--pieces", type=int, default=4, metavar="N", help=PIECES_HELP)
        command.add_argument(
            "--directory", metavar="FOLDER", help="of the file (default: the user's cache)"
        )
    for command in (build, check):
        command.add_argument("--threads", type=int, default=2, metavar="N", help="default 2")
    for command in (check, info):
        command.add_argument(
            "--compressed", action="store_true", help="the compressed file; verify compares both"
        )
    for command in (build, pack, check):
        command.add_argument("--quiet", action="store_true", help="no progress bar")
    info.add_argument("--slices", action="store_true", help="each slice by itself")
    info.add_argument("--json", action="store_true", help="last line: the same as JSON")
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run a command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    run = {
        "build": _build,
        "compress": _compress,
        "verify": _verify,
        "info": _info,
    }[options.command]
    return exit_status(program, lambda: run(options))


def _say(text: str) -> None:
    print(text)


def _bar(options: argparse.Namespace) -> Any:
    from tqdm import tqdm

    from games.checkers.endgame.numbering import positions_of, slices

    total = sum(map(positions_of, slices(options.pieces)))
    # None: no bar unless the output is a terminal
    quiet = True if options.quiet else None
    return tqdm(total=total, unit=" positions", unit_scale=True, disable=quiet, dynamic_ncols=True)


def _build(options: argparse.Namespace) -> int:
    from games.checkers.endgame.building import build
    from games.checkers.endgame.database import material_text, path_of
    from games.checkers.endgame.numbering import positions_of

    path_of(options.pieces)
    began = time.perf_counter()
    with _bar(options) as bar:

        def progress(materials: list[Material]) -> None:
            if materials:
                bar.set_postfix_str(material_text(materials[-1]))
                bar.update(sum(map(positions_of, materials)))

        path = build(options.pieces, options.directory, threads=options.threads, progress=progress)
    seconds = time.perf_counter() - began
    _say(f"{path}: {path.stat().st_size} bytes, {seconds:.1f} s")
    return 0


def _compress(options: argparse.Namespace) -> int:
    from games.checkers.endgame.compressed import compress
    from games.checkers.endgame.database import path_of

    path_of(options.pieces)
    with _bar(options) as bar:
        path = compress(options.pieces, options.directory, progress=bar.update)
    _say(f"{path}: {path.stat().st_size} bytes")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from games.checkers.endgame.compressed import compare, read_compressed
    from games.checkers.endgame.database import path_of, read

    found = read_compressed(options.pieces, options.directory)
    source = read(path_of(options.pieces, options.directory), options.pieces)
    with _bar(options) as bar:
        compare(found, source, progress=bar.update)
    _say("every quiet position has the result of the database that was compressed")
    return 0


def _verify(options: argparse.Namespace) -> int:
    if options.compressed:
        return _compare(options)
    from games.checkers.endgame.database import check, path_of, read

    found = read(path_of(options.pieces, options.directory), options.pieces)
    with _bar(options) as bar:
        check(found, threads=options.threads, progress=bar.update)
    _say("every value is the one that the position's moves give")
    return 0


def _info(options: argparse.Namespace) -> int:
    if options.compressed:
        return _compressed_info(options)
    from games.checkers.endgame.database import material_text, path_of
    from games.checkers.endgame.numbering import slices

    found = _database(options)
    path = path_of(options.pieces, options.directory)
    size = f"{path.stat().st_size} bytes" if path.exists() else "in memory alone"
    _say(f"{path}: {size}")
    materials = slices(options.pieces)
    rows: list[dict[str, Any]] = []
    for pieces in range(2, options.pieces + 1):
        held = [material for material in materials if sum(material) == pieces]
        rows.append(_row(found, f"{pieces} pieces", held, sides=2))
        if options.slices:
            rows += [_row(found, material_text(material), [material]) for material in held]
    return _tell(options, rows, "longest win {longest_win} plies, loss {longest_loss}")


def _tell(options: argparse.Namespace, rows: list[dict[str, Any]], last: str) -> int:
    """Print rows; `last` is the form of what a row ends with."""
    width = max(len(row["of"]) for row in rows)
    _say("both sides to move together; of a slice, the side that is named first")
    for row in rows:
        _say(
            f"{row['of']:{width}} {row['positions']:13,} positions, {row['wins']:13,} wins,"
            f" {row['losses']:13,} losses, {row['draws']:13,} draws; {last.format(**row)}"
        )
    if options.json:
        _say(json.dumps({"pieces": options.pieces, "rows": rows}))
    return 0


def _compressed_info(options: argparse.Namespace) -> int:
    from games.checkers.endgame.compressed import Slice, compressed_path, read_compressed
    from games.checkers.endgame.database import material_text
    from games.checkers.endgame.numbering import positions_of, slices

    found = read_compressed(options.pieces, options.directory)
    path = compressed_path(options.pieces, options.directory)
    _say(f"{path}: {path.stat().st_size} bytes")
    rows: list[dict[str, Any]] = []

    def add(of: str, parts: list[Slice], sides: int) -> None:
        count = {
            "positions": sides * sum(positions_of(part.material) for part in parts),
            "wins": sides * sum(part.wins for part in parts),
            "losses": sides * sum(part.losses for part in parts),
            "draws": sides * sum(part.draws for part in parts),
            "bytes": sum(part.coded + 4 * part.blocks for part in parts),
        }
        rows.append({"of": of, **count})

    for pieces in range(2, options.pieces + 1):
        held = [part for part in found.slices if sum(part.material) == pieces]
        whole = sum(sum(material) == pieces for material in slices(pieces))
        add(f"{pieces} pieces, {len(held)} of {whole} slices", held, sides=2)
        if options.slices:
            for part in held:
                add(material_text(part.material), [part], sides=1)
    return _tell(options, rows, "{bytes:11,} bytes")


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


def _database(options: argparse.Namespace) -> Endgame:
    from games.checkers.endgame.building import endgame

    return endgame(options.pieces, options.directory)


if __name__ == "__main__":
    sys.exit(main())
