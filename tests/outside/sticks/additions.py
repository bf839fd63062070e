"""For Plysmith's programs: a command, a learner by its name and a page."""

from __future__ import annotations

from pathlib import Path

from learner import RootStrap
from programs.arguments import Parser, in_range
from programs.ending import exit_status
from sticks.game import Sticks

PAGE = Path(__file__).with_name("page.js")


class Counting(RootStrap):
    """A learner under a name of its own."""


def main(arguments: list[str], program: str) -> int:
    """Says whether a number of sticks is lost; returns the exit status."""
    parser = Parser(prog=program, description="Say whether a number of sticks is lost.")
    parser.add_argument("sticks", type=in_range(0))
    options = parser.parse_args(arguments)

    def run() -> int:
        lost = Sticks().features["sticks"].terms["lost"]((options.sticks, 0))
        print("lost" if lost else "won")
        return 0

    return exit_status(program, run)
