"""Numbers of things in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, thing: str) -> str:
    """Returns a number with the word for what it counts: "1 move", "1,024 moves"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
