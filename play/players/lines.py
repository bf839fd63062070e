"""Lines of a stream, of bounded length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

__all__ = ["LONGEST_LINE", "read_lines"]

#: Longer lines, in bytes, are refused unread; 400 moves of a game are 4 kB.
LONGEST_LINE = 1 << 16


def read_lines(stream: IO[bytes], longest: int = LONGEST_LINE) -> Iterator[str | None]:
    """The lines of a stream without their ends, or None for a line of more than `longest` bytes.

    Memory is bounded for any input. The last line may lack its end. Bytes that are not UTF-8 are
    replaced.
    """
    while True:
        data = stream.readline(longest + 1)
        if not data:
            return
        if len(data) > longest and not data.endswith(b"\n"):
            while data and not data.endswith(b"\n"):
                data = stream.readline(longest)
            yield None
            continue
        yield data.decode("utf-8", errors="replace").strip("\r\n\0 \t")
