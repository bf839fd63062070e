"""The inputs of a result other than its task: the sources, the shipped data and a few versions.

Two processes give the same result for a task only if these are the same. A worker of another
commit would change the weights of a run without a word.
"""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path

import numba
import numpy as np

import games

__all__ = ["digest", "marks", "what_differs"]

ROOT = Path(games.__file__).absolute().parents[1]
#: Folders, and the endings of the files in them that decide a result.
FOLDERS = ("programs", "games", "search", "play", "learner", "data")
ENDINGS = (".py", ".json", ".safetensors")
#: Maximum number of differences that a line names.
MOST_NAMED = 3


@functools.cache
def marks() -> dict[str, str]:
    """Returns a digest of each file that decides a result, by its path, and versions by name.

    The files are read once, at the first call: a process keeps the code that it has loaded.
    """
    digests = {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "bounds checking": str(bool(numba.config.BOUNDSCHECK)),
    }
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in ENDINGS:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digests[path.relative_to(ROOT).as_posix()] = content[:16]
    return digests


@functools.cache
def digest() -> str:
    """Returns one digest of all `marks`."""
    return hashlib.sha256(repr(sorted(marks().items())).encode()).hexdigest()


def what_differs(theirs: Mapping[str, str]) -> str:
    """Returns the differences from the `marks` of this process in a few words, or ""."""
    ours = marks()
    texts = []
    for name in sorted({*ours, *theirs}):
        if ours.get(name) == theirs.get(name):
            continue
        if "/" in name:
            both = name in ours and name in theirs
            texts.append(
                f"{name} {'differs' if both else 'is new' if name in theirs else 'is missing'}"
            )
        else:
            texts.append(f"{name} {theirs.get(name, 'unknown')} (here {ours.get(name)})")
    more = [f"{len(texts) - MOST_NAMED} more"] * (len(texts) > MOST_NAMED)
    return ", ".join([*texts[:MOST_NAMED], *more])
