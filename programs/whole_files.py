"""Files that are replaced as a whole."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["UNFINISHED", "naming", "write_atomically", "write_figure"]

#: The ending of the name of a file that is still being written.
UNFINISHED = ".unfinished"


@contextlib.contextmanager
def naming(path: Any) -> Iterator[None]:
    """Make an OSError name the file that could not be written: a full disk names none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # an error of our own, which says everything
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def write_atomically(path: Any, content: str | bytes | memoryview) -> None:
    """Write a file so that a reader finds the old content or the new, never a part of it.

    Text is written as UTF-8. Missing folders are created, and everybody may read the file. Raises
    OSError that names the file if it cannot be written; its old content then stays.
    """
    path = Path(path)
    with naming(path):
        _write(path, content.encode("utf-8") if isinstance(content, str) else content)


def _write(path: Path, content: bytes | memoryview) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(UNFINISHED, f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_figure(path: Any, figure: Any) -> None:
    """Write a figure of Matplotlib as PNG; raises OSError as `write_atomically` does."""
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120, format="png")
    write_atomically(path, picture.getvalue())
