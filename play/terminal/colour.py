"""Colour in a terminal, where one is there and wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Paint", "wants_colour"]

_RESET = "\x1b[0m"
_STYLES = {
    "strong": "\x1b[1m",
    "faint": "\x1b[2m",
    "good": "\x1b[32m",
    "bad": "\x1b[31m",
    "first": "\x1b[1;38;5;203m",  # pieces of the side that begins
    "second": "\x1b[1;38;5;75m",  # seen on black and on white
    "dark": "\x1b[48;5;22m",  # squares
    "light": "\x1b[48;5;187m",
    "dark number": "\x1b[38;5;71;48;5;22m",
    "dark first": "\x1b[1;38;5;209;48;5;22m",
    "dark second": "\x1b[1;38;5;231;48;5;22m",
    "dark move": "\x1b[38;5;226;48;5;22m",
}


@dataclass(frozen=True)
class Paint:
    """Paints text, or leaves it as it is; `symbols` tells whether signs beyond ASCII may be used.

    What is said by colour is always said by letters too.
    """

    colour: bool = False
    symbols: bool = False

    def __call__(self, style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self.colour else text


def wants_colour(stream: Any, environment: Mapping[str, str]) -> bool:
    """Whether a stream is a terminal with colour.

    A variable NO_COLOR that is not empty says no (no-color.org), and so does TERM=dumb.
    """
    if environment.get("NO_COLOR") or environment.get("TERM", "") in ("", "dumb"):
        return False
    return bool(stream.isatty())


def paint_for(stream: Any, environment: Mapping[str, str]) -> Paint:
    """The paint for a stream."""
    colour = wants_colour(stream, environment)
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
    return Paint(colour, colour and encoding == "utf8")
