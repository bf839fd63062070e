"""Begin a game of your own: write a small game that passes the check, to be changed."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import games
from programs.arguments import Parser
from programs.ending import exit_status

PROGRAM = "python -m play.commands.new"
SKELETON = Path(__file__).with_name("skeleton.py")


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the command line."""
    result = Parser(prog=program, description=__doc__)
    result.add_argument("kind", choices=["game"], help="kind of file")
    result.add_argument("name", help="words in lower case, joined by _, such as my_game")
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run the command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    return exit_status(program, lambda: _run(options.name))


def _run(name: str) -> int:
    if not re.fullmatch(r"[a-z]\w*", name, re.ASCII) or name in (*games.names(), *games.problems()):
        raise ValueError(
            f"expected the name of a new game, such as my_game, found {name!r}; games that exist:"
            f" {', '.join(games.names())}"
        )
    title = "".join(word.capitalize() for word in name.split("_"))
    text = SKELETON.read_text("utf-8").replace("NAME:", f"{title}:")
    text = re.sub(r"# mypy.*\n\n", "", text.replace("Skeleton", title).replace("skeleton", name))
    path = Path(f"{name}.py")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ValueError(f"expected no file {path}, found one") from None
    print(f"written: {path}; plysmith check {name}:{title} --perft 4 passes")
    print(f"plysmith train {name}:{title} --learner td, plysmith play web --game {name}:{title}")
    return 0
