"""Write an evaluator as C99 without dependencies, or with --engine a whole engine in one file."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import games
from play.commands.options import FEATURES_HELP, GAME_HELP, with_features
from programs.arguments import Parser
from programs.ending import exit_status
from programs.phrases import counted

PROGRAM = "python -m play.commands.export"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the command line."""
    result = Parser(prog=program, description=__doc__)
    add = result.add_argument
    add("evaluator", help="a file, GAME/NAME for one that is shipped, or a name with --game")
    add("folder", type=Path, metavar="DIR", help="where the files go")
    add("--game", help=f"{GAME_HELP} (default: the game that the file names)")
    add("--features", metavar="FILE", help=f"with --game: {FEATURES_HELP}")
    add("--name", help="prefix of all names in C (default: the evaluator's name)")
    add(
        "--engine",
        action="store_true",
        help="write a program that also has the rules and the search",
    )
    add(
        "--techniques",
        metavar="TEXT",
        help="with --engine: techniques of its search, such as selective",
    )
    add(
        "--page",
        action="store_true",
        help="with --engine: also a page that plays in a browser, without a server (needs ziglang)",
    )
    add("--overwrite", action="store_true", help="replace files of these names")
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run the command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    return exit_status(program, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    from search.evaluators.load import as_evaluator, load_evaluator
    from search.export.engine import engine_files
    from search.export.export import VECTORS, c_files, export

    if options.techniques is not None and not options.engine:
        raise ValueError("--techniques: expected --engine as well, found none")
    if options.page and not options.engine:
        raise ValueError("--page: expected --engine as well, found none")
    made = c_files
    if options.engine:
        made = partial(engine_files, techniques=options.techniques, page=options.page)
    if options.game is None:
        if options.features is not None:
            raise ValueError("--features: expected --game as well, found none")
        evaluator = load_evaluator(options.evaluator)
    else:
        game = games.load(options.game)
        evaluator = as_evaluator(with_features(game, options), options.evaluator)
    try:
        paths = export(
            evaluator, options.folder, name=options.name, overwrite=options.overwrite, made=made
        )  # fmt: skip
    except TypeError as error:
        raise ValueError(str(error)) from None
    print("written: " + ", ".join(map(str, paths)))
    if options.engine:
        program = paths[0].with_suffix("")
        print(f"to build it: cc -std=c99 -O3 -march=native {paths[0]} -o {program} -lm")
        return 0
    test = paths[-1]
    print(
        f"{counted(VECTORS, 'position')} to test it: cc -std=c99 -O3 {test} {paths[1]} -lm"
        f" -o selftest && ./selftest"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
