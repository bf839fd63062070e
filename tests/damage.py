"""Damages of files, as functions of their content."""

from __future__ import annotations

from collections.abc import Callable


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(place: int) -> Callable[[bytes], bytes]:
    """Returns a change of one bit at a place, which may count from the end."""

    def change(content: bytes) -> bytes:
        at = place % len(content)
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    return change
