"""Files in a folder that hold an evaluator or a rote memory, recognised by their headers.

Only the beginning of a file is read. Links that lead out of the folder are not followed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.evaluators.linear import FORMAT as LINEAR
from search.evaluators.load import ARRAY_FORMS
from search.lookups.rote import FORMAT as ROTE

__all__ = ["EVALUATOR", "LOOKUP", "Header", "described", "inside", "playable_files"]

EVALUATOR, LOOKUP = "evaluator", "lookup"
SUFFIXES = (".json", ".safetensors")
KINDS = {
    LINEAR: "weights over terms",
    ROTE: "rote memory",
    **{form: kind.about for form, kind in ARRAY_FORMS.items()},
}
LONGEST_HEADER = 1 << 20
DEEPEST_FOLDER = 6
MOST_FILES = 2000


def inside(folder: Path, path: Path) -> Path | None:
    """Returns the real path of a file in a folder; None if it lies outside or does not exist."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return real if real.is_relative_to(folder) else None


def children(folder: Path, here: Path) -> list[Path]:
    """Returns the entries of a folder below another, in order, without hidden and outside files.

    Returns nothing if the folder cannot be read.
    """
    try:
        entries = sorted(here.iterdir())
    except OSError:
        return []
    return [one for one in entries if one.name[:1] != "." and inside(folder, one) is not None]


def playable_files(folder: Path) -> Iterator[Path]:
    """Files that may hold an evaluator or a rote memory, in a fixed order, at most 2000."""
    count = 0
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        folders = []
        for child in children(folder, here):
            if child.is_dir():
                if depth < DEEPEST_FOLDER and not child.is_symlink():
                    folders.append((child, depth + 1))
            elif child.suffix in SUFFIXES:
                count += 1
                if count > MOST_FILES:
                    return
                yield child
        waiting += reversed(folders)


@dataclass(frozen=True)
class Header:
    """The beginning of a file.

    role: EVALUATOR or LOOKUP.
    game: name of its game.
    kind: the form that it has, such as "network of outcomes".
    provenance: the origin of the evaluator; None if the file does not have it.
    """

    role: str
    game: str
    kind: str
    provenance: Any = None


def described(path: Path, size: int) -> Header | None:
    """Returns the header of a file; None if it holds neither an evaluator nor a lookup."""
    provenance = None
    try:
        content = _header(path, size)
        form, game = content["format"], content["game"]
        provenance = content.get("provenance")
        kind = KINDS[form]
    except (OSError, ValueError, KeyError, TypeError, struct.error, RecursionError):
        return None
    if not isinstance(game, str):
        return None
    return Header(LOOKUP if form == ROTE else EVALUATOR, game, kind, provenance)


def _header(path: Path, size: int) -> dict[str, Any]:
    """Returns the header of a file."""
    if path.suffix == ".json":
        if size > LONGEST_HEADER:
            raise ValueError(f"expected at most {LONGEST_HEADER} bytes, found {size}")
        content: dict[str, Any] = json.loads(path.read_bytes())
        return content
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > LONGEST_HEADER:
            raise ValueError(f"expected a header of at most {LONGEST_HEADER} bytes, found {length}")
        content = json.loads(json.loads(file.read(length))["__metadata__"]["plysmith"])
        return content
