"""The parts of files of C that do not depend on the evaluator, read from `templates/`.

`@` stands for the prefix of the file's names, and `#word` for a text to fill in.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from games.extras import Extra

__all__ = ["ROWS", "LineProtocol", "filled", "helper", "rows_helper"]

FOLDER = Path(__file__).parent / "templates"
#: Vectors that are summed together.
MOST_VECTORS = 8


@dataclass(frozen=True)
class LineProtocol(Extra):
    """A protocol of the game's programs, which its engines of C speak besides ours.

    name: of its file in `templates/` and of the function in it that answers a line; default: none.
    """

    name: str = ""


def filled(text: str, own: str, **values: Any) -> str:
    """Returns a text with the prefix `own` and the values filled in; longest words first."""
    for word in sorted(values, key=len, reverse=True):
        text = text.replace(f"#{word}", str(values[word]))
    return text.replace("@", f"{own}_")


@functools.cache
def template(file: str) -> str:
    """Returns the text of a file of `templates/`."""
    return (FOLDER / file).read_text(encoding="utf-8")


@functools.cache
def _sections(file: str) -> dict[str, tuple[list[str], str]]:
    """Returns the functions in a file by name: the names of their sizes, and their texts."""
    parts = re.split(r"^/\* ([a-z_ ]+) \*/\n", template(file), flags=re.MULTILINE)[1:]
    heads = [head.split() for head in parts[::2]]
    return {name: (sizes, text) for (name, *sizes), text in zip(heads, parts[1::2], strict=True)}


#: For each function of `games.kernels.vectors` the names of the sizes that are fixed.
ROWS = {name: sizes for name, (sizes, _) in _sections("rows.c").items() if sizes}


def helper(name: str, own: str) -> str:
    """Returns a function that translated code calls."""
    return filled(_sections("helpers.c")[name][1], own)


def rows_helper(name: str, own: str, sizes: Sequence[int] = ()) -> str:
    """Returns a sum over rows for fixed sizes; with the name "head" what comes before all."""
    names, text = _sections("rows.c")[name]
    given = dict(zip(names, sizes, strict=True))

    def pieces(match: re.Match[str]) -> str:
        narrow = _pieces(match[1], given, own, 32)
        if given["width"] % (2 * _lanes(match[1])):
            return narrow
        wide = _pieces(match[1], given, own, 64)
        return f"#if defined(WIDE)\n{wide}#else\n{narrow}#endif\n"

    text = re.sub(r" */\* chunk \*/\n(.*?) */\* end \*/\n", pieces, text, flags=re.DOTALL)
    return filled(text, own, **given)


def _lanes(text: str) -> int:
    """Returns the numbers in 32 bytes: floats or sums of 32 bits, or short integers."""
    return 16 if "shorts_#bytes" in text else 8


def _pieces(text: str, given: Mapping[str, int], own: str, size: int) -> str:
    """Returns the text of all pieces of a row for vectors of `size` bytes."""
    lanes, written = _lanes(text) * size // 32, ""
    for first in range(0, given["width"], lanes * MOST_VECTORS):
        vectors = min(MOST_VECTORS, (given["width"] - first) // lanes)
        parts = MOST_VECTORS // vectors if "#p" in text else 1
        while given.get("length", 0) // 4 % parts:
            parts -= 1
        for line in text.splitlines(keepends=True):
            copies = [
                re.sub(r"#v\b|#v(?=_)", str(v), re.sub(r"#p\b", str(p), line))
                for p in range(parts if re.search(r"#p\b", line) else 1)
                for v in range(vectors if re.search(r"#v\b|#v_", line) else 1)
            ]
            written += filled(
                "".join(copies), own, first=first, parts=parts, bytes=size, lanes=lanes
            )  # fmt: skip
    return written
