"""The console command: `plysmith train checkers`, `plysmith play web`, `plysmith --version`."""

from __future__ import annotations

import importlib
import sys

__all__ = ["__version__", "main"]

__version__ = "0.1.0"

#: For each command the module whose `main` takes the rest of the line, and what it is for.
COMMANDS = {
    "train": ("learner.run.command_line", "train an evaluator by self-play and measure it"),
    "play": ("play.__main__", "play, and compare evaluators in matches; serve the browser's board"),
    "learner": (
        "learner.__main__",
        "learn chances, a prefilter or terms from games of an evaluator",
    ),
    "runs": ("learner.run.runs", "list the runs in a folder, with strengths and hours"),
    "make": ("learner.run.making", "make a shipped evaluator again"),
    "fit": ("learner.traces.command", "fit weights of any engine to traces of its positions"),
    "tune": ("learner.tuning.command", "tune numbers of a player or engine, and test the result"),
    "export": ("play.commands.export", "write an evaluator as one file of C"),
    "course": ("play.course", "check an exercise of the course, or count a small game's tree"),
    "endgame": ("games.checkers.endgame.__main__", "build endgame databases of checkers"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] in (["--version"], ["-V"]):
        print(f"plysmith {__version__}")
        return 0
    if given[:1] in ([], ["--help"], ["-h"]):
        print(usage())
        return 0 if given else 2
    if given[0] not in COMMANDS:
        expected = ", ".join(COMMANDS)
        print(f"plysmith: expected a command among {expected}; found {given[0]!r}", file=sys.stderr)
        return 2
    command = importlib.import_module(COMMANDS[given[0]][0])
    return int(command.main(given[1:], f"plysmith {given[0]}"))


def usage() -> str:
    """The text of `plysmith --help`."""
    lines = [f"  {name:<8} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    ways = ("usage: plysmith COMMAND ...", "       plysmith COMMAND --help")
    return "\n".join([*ways, "       plysmith --version", "", *lines])


if __name__ == "__main__":
    sys.exit(main())
