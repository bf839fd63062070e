"""Arguments of programs: a parser that refuses in one line, and numbers within a range."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from programs.phrases import guessed, meant

__all__ = ["THREADS", "Parser", "in_range"]

#: The default number of threads, or of games at a time.
THREADS = 2

#: Words of argparse, and ours in their place.
_WORDS = {
    r"^argument ([^/:]+)(/\S+)?: ": r"\1: ",
    r"invalid int value: ": "expected a whole number, found ",
    r"invalid float value: ": "expected a number, found ",
    r"invalid choice: (.*) \(choose from (.*)\)": r"expected one of \2, found \1",
    r"expected (at least )?one argument$": r"expected \1one value, found none",
    r"^the following arguments are required: (.*)": r"expected \1, found none; see --help",
    r"^one of the arguments (.*) is required": r"expected one of \1, found none",
    r"not allowed with argument (\S+)$": r"expected it without \1, found both",
}


class Parser(argparse.ArgumentParser):
    """A command line that refuses in one line, as `exit_status` does, without the usage."""

    def error(self, message: str) -> NoReturn:
        for theirs, ours in _WORDS.items():
            message = re.sub(theirs, ours, message)
        self.exit(2, f"{self.prog.removeprefix('python -m ')}: {guessed(message)}\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, but of subcommands each refuses what it does not know itself."""
        options, others = super().parse_known_args(args, namespace)
        if others:
            wrong = others[0].partition("=")[0]
            names = [name for action in self._actions for name in action.option_strings]
            self.error(f"unexpected argument: {others[0]}{meant(wrong, names)}")
        return options, others


def in_range(least: float, most: float = math.inf, kind: type = int) -> Callable[[str], Any]:
    """Returns the type of an option that is a number of a kind from `least` to `most`."""

    def read(text: str) -> Any:
        number = kind(text)
        if not least <= number <= most:
            span = f"{least} to {most}" if math.isfinite(most) else f"at least {least}"
            raise argparse.ArgumentTypeError(f"expected {span}, found {text}")
        return number

    read.__name__ = kind.__name__  # argparse names it where the text is no number
    return read
