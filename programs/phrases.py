"""Numbers of things and lists of them in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["counted", "guessed", "lasting", "listed", "meant", "shortened"]


def counted(count: int, thing: str) -> str:
    """Returns a number with the word for the things: "1 move", "1,024 moves"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def lasting(seconds: float) -> str:
    """Returns a length of time in the unit that fits it: "40 s", "12 min", "3.5 h"."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 99.5 else f"{minutes / 60:.1f} h"


def listed(texts: Iterable[str], most: int = 12) -> str:
    """Returns the texts with commas between them: the first `most`, and how many more there are."""
    items = list(texts)
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def shortened(text: str, most: int = 40) -> str:
    """Returns a text, with "..." for the end of one of more than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def meant(wrong: str, names: Iterable[str]) -> str:
    """Returns "; did you mean NAME?" for the name that is most like a wrong one, "" if none is."""
    from difflib import get_close_matches

    close = get_close_matches(wrong, list(names), 1, 0.7)
    return f"; did you mean {close[0]}?" if close and close[0] != wrong else ""


def guessed(message: str) -> str:
    """Returns a refusal, with the name that was meant if it lists one like the name found."""
    refused = re.search(
        r"(?:(\S+): )?expected .*?(?:one of|among) (.+)[,;] found '?([^\s']+)'?$", message
    )
    if refused is None:
        return message
    before, names, wrong = refused.groups()
    return message + meant(
        before or "" if wrong == "none" else wrong, re.findall(r"[\w./+-]+", names)
    )
