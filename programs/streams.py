"""The one way to the terminal: output without the control characters of texts that were read."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

__all__ = ["shown"]

#: Colours and the clearing of a line, which programs write themselves; and control characters but
#: for tabs and the ends of lines.
_CONTROL = re.compile(r"\x1b\[(?:[0-9;]*m|[AK])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class _Shown:
    """A stream that replaces control characters by question marks; a terminal keeps its colours."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        coloured = self._stream.isatty()
        self._stream.write(
            _CONTROL.sub(
                lambda sign: sign[0] if coloured and sign[0][1:] else "?" + sign[0][1:], text
            )
        )
        return len(text)


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Let standard output and errors pass only what people read, and a warning be one line."""
    streams, form = (sys.stdout, sys.stderr), warnings.formatwarning
    sys.stdout, sys.stderr = map(_Shown, streams)
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        warnings.formatwarning = form
