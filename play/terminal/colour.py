"""Colour in a terminal that supports it and allows it."""

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
    "second": "\x1b[1;38;5;75m",  # visible on black and on white
    "dark": "\x1b[48;5;22m",  # squares
    "light": "\x1b[48;5;187m",
    "dark number": "\x1b[38;5;71;48;5;22m",
    "dark first": "\x1b[1;38;5;209;48;5;22m",
    "dark second": "\x1b[1;38;5;231;48;5;22m",
    "dark move": "\x1b[38;5;226;48;5;22m",
}


@dataclass(frozen=True)
class Paint:
    """Adds colour to text, or leaves it unchanged.

    Everything that a colour says is said by letters too. `symbols` tells whether characters beyond
    ASCII may be used.
    """

    colour: bool = False
    symbols: bool = False

    def __call__(self, style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self.colour else text


def wants_colour(stream: Any, environment: Mapping[str, str]) -> bool:
    """Returns whether a stream is a terminal with colour.

    Returns False if the variable NO_COLOR is not empty (no-color.org) or TERM is "dumb".
    """
    if environment.get("NO_COLOR") or environment.get("TERM", "") in ("", "dumb"):
        return False
    return bool(stream.isatty())


def paint_for(stream: Any, environment: Mapping[str, str]) -> Paint:
    """Returns the paint for a stream."""
    colour = wants_colour(stream, environment)
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
    return Paint(colour, colour and encoding == "utf8")
