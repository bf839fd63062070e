"""Additions of other installed packages: entry points, which their pyproject.toml declares."""

from __future__ import annotations

import functools
import importlib.metadata
from importlib.metadata import EntryPoint
from typing import Any

__all__ = ["added", "additions", "provider"]


@functools.cache
def additions(group: str) -> dict[str, EntryPoint]:
    """Returns the entry points of a group by name; none of their modules is imported.

    group: "commands", "learners" or "pages", for the entry points of `plysmith.commands` and so on.
    """
    entries = importlib.metadata.entry_points(group=f"plysmith.{group}")
    return {entry.name: entry for entry in sorted(entries, key=provider)}


def added(entry: EntryPoint) -> Any:
    """Returns the object of an entry point; raises ValueError if it cannot be imported."""
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{entry.name}: {provider(entry)} fails: {error}") from None


def provider(entry: EntryPoint) -> str:
    """Returns the package of an entry point in words."""
    return "a package" if entry.dist is None else f"the package {entry.dist.name}"
