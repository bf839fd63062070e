"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["UNFINISHED", "write_atomically"]

#: The ending of the name of a file that is still being written.
UNFINISHED = ".unfinished"


def write_atomically(path: Any, content: str | bytes | memoryview) -> None:
    """Write a file so that a reader finds the old content or the new, never a part of it.

    Text is written as UTF-8. Missing folders are created, and everybody may read the file. Raises
    OSError if the file cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(UNFINISHED, f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
