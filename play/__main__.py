"""Matches, people at a board, engines and everything else that plays: `python -m play`."""

from __future__ import annotations

import argparse
import sys

from play.commands.engine import add_engine_commands
from play.commands.judge import add_judge_command
from play.commands.match import add_match_commands
from play.commands.openings import add_openings_command
from play.commands.patterns import add_patterns_command
from play.commands.rollout import add_rollout_command
from play.commands.solve import add_solve_command
from play.commands.terminal import add_terminal_commands
from play.commands.web import add_web_command
from programs.arguments import Parser
from programs.ending import exit_status

PROGRAM = "python -m play"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the command line; each command sets `run` to the function that runs it."""
    result = Parser(prog=program, description=__doc__)
    commands = result.add_subparsers(dest="command", required=True)
    add_match_commands(commands)
    add_openings_command(commands)
    add_judge_command(commands)
    add_rollout_command(commands)
    add_solve_command(commands)
    add_patterns_command(commands)
    add_terminal_commands(commands)
    add_engine_commands(commands)
    add_web_command(commands)
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run a command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    return exit_status(program, lambda: int(options.run(options)), talks="talks" in options)


if __name__ == "__main__":
    sys.exit(main())
