"""The port that a server listens on, named in errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["named_port"]


@contextmanager
def named_port(port: int) -> Iterator[None]:
    """Raises OSError with the number of the port if listening on it fails in the block."""
    try:
        yield
    except OSError as error:
        raise OSError(f"port {port}: expected a free port, found {error.strerror}") from None
