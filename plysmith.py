"""The console command: `plysmith train checkers`, `plysmith play web`, `plysmith --version`."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

__all__ = ["__version__", "main"]

__version__ = "0.1.0"

#: Our commands, before those of other packages: for each the module whose `main` takes the rest of
#: the line, and what it is for.
COMMANDS = {
    "train": ("learner.run.command_line", "train an evaluator by self-play and measure it"),
    "play": ("play.__main__", "play, and compare evaluators in matches; serve the browser's board"),
    "learner": (
        "learner.__main__",
        "learn chances, a prefilter or terms from games of an evaluator",
    ),
    "runs": ("learner.run.runs", "list the runs in a folder, with strengths and hours"),
    "make": ("learner.run.making", "make a shipped evaluator again"),
    "check": ("play.commands.check", "check the rules of a game of your own, and count its lines"),
    "new": ("play.commands.new", "begin a game of your own: a file that passes the check"),
    "fit": ("learner.traces.command", "fit weights of any engine to traces of its positions"),
    "tune": ("learner.tuning.command", "tune numbers of a player or engine, and test the result"),
    "export": ("play.commands.export", "write an evaluator as one file of C"),
    "course": ("play.course.command", "tasks of the course, a checker, marks; count a small tree"),
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
    import signal

    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if usual:
            signal.signal(signal.SIGINT, end_at_once)
    except ValueError:  # not the main thread, to which no signal comes
        usual = False
    try:
        return _run(given[0], given[1:])
    finally:
        if usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def end_at_once(number: int, frame: Any) -> None:
    """End at Ctrl-C before `exit_status` runs the command: modules are imported, nothing is lost.

    Its module is one of them, and so this stands here.
    """
    os.write(2, b"stopped\n")
    os._exit(128 + number)


def _run(name: str, rest: list[str]) -> int:
    """Run a command with the rest of the line; returns its exit status."""
    if name in COMMANDS:
        command = importlib.import_module(COMMANDS[name][0])
        return int(command.main(rest, f"plysmith {name}"))
    from programs.outside import added, additions

    others = additions("commands")
    try:
        if name in others:
            return int(added(others[name])(rest, f"plysmith {name}"))
        expected = ", ".join([*COMMANDS, *others])
        raise ValueError(f"expected a command among {expected}; found {name!r}")
    except ValueError as error:
        from programs.phrases import guessed

        print(f"plysmith: {guessed(str(error))}", file=sys.stderr)
        return 2


def usage() -> str:
    """The text of `plysmith --help`."""
    from programs.outside import additions, provider

    lines = [f"  {name:<8} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    others = {name: entry for name, entry in additions("commands").items() if name not in COMMANDS}
    lines += [f"  {name:<8} by {provider(entry)}" for name, entry in others.items()]
    ways = ("usage: plysmith COMMAND ...", "       plysmith COMMAND --help")
    return "\n".join([*ways, "       plysmith --version", "", *lines])


if __name__ == "__main__":
    sys.exit(main())
