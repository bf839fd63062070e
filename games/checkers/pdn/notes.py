"""Notes on moves as the comments of PDN: value/depth, then a text."""

from __future__ import annotations

import math
import re

from games.record import Annotation
from games.values import proven_text, proven_value

__all__ = ["note_of", "note_text"]

_PROVEN = r"(?:won|lost)(?: in [0-9]{1,9} (?:ply|plies))?"
_NOTE = re.compile(rf"(-|[+-]?[0-9]{{1,15}}\.[0-9]{{1,15}}|{_PROVEN})/(-|[0-9]{{1,9}})(?: (.*))?")


def note_text(note: Annotation) -> str:
    """Returns a note as the text of a comment; empty if there is nothing to write.

    Values are rounded to four decimals; a proven end counts plies: `won in 17 plies/17`.
    Raises ValueError if PDN cannot hold the value or the depth.
    """
    value, depth = note.value, note.depth
    comment = " ".join(note.comment.split())
    if value is not None and not (math.isfinite(value) and abs(value) < 1e15):
        raise ValueError(f"expected a finite value below 1e15, found {value!r}")
    if depth is not None and not 0 <= depth < 10**9:
        raise ValueError(f"expected a depth from 0 to 999999999, found {depth!r}")
    if value is None and depth is None and _NOTE.fullmatch(comment) is None:
        return comment
    number = "-" if value is None else proven_text(value) or _decimals(value)
    return f"{number}/{'-' if depth is None else depth} {comment}".rstrip()


def _decimals(value: float) -> str:
    whole, decimals = f"{value:.4f}".split(".")
    number = f"{whole}.{decimals[0]}{decimals[1:].rstrip('0')}"
    return "0.0" if number == "-0.0" else number


def note_of(text: str) -> Annotation:
    """Returns the note that the text of a comment holds."""
    match = _NOTE.fullmatch(text)
    if match is None:
        return Annotation(comment=text)
    said = match[1]
    value = proven_value(said)
    if value is None and said != "-":
        value = float(said)
    return Annotation(value, None if match[2] == "-" else int(match[2]), match[3] or "")
