"""The folder of a run: checkpoints and logs that survive a crash at any moment.

A checkpoint is replaced as a whole. Logs are appended to, and the checkpoint remembers how long
they were; resuming cuts off what was written after it, so that a resumed run leaves the same
files as one that was never interrupted.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from games.whole_files import UNFINISHED, write_atomically

__all__ = ["RunError", "RunFolder"]

CHECKPOINT = "checkpoint.json"
FORMAT = "plysmith-run-1"


class RunError(ValueError):
    """A folder that cannot be used for a run."""


class RunFolder:
    """A folder with a checkpoint and append-only logs."""

    def __init__(self, path: Any, logs: dict[str, str]) -> None:
        """Use a folder for a run; `logs` maps the names of log files to their first lines."""
        self.path = Path(path)
        self.logs = logs
        self._waiting: dict[str, list[str]] = {name: [] for name in logs}

    def create(self) -> None:
        """Begin a new run.

        Raises RunError if the folder holds one or cannot be written.
        """
        if (self.path / CHECKPOINT).exists():
            raise RunError(f"{self.path}: expected a new folder, found a run: resume it instead")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for name, head in self.logs.items():
                write_atomically(self.path / name, head)
        except OSError as error:
            raise RunError(f"{self.path}: expected a folder to write to, found {error}") from None

    def load(self) -> dict[str, Any]:
        """Returns the last checkpoint, and cuts the logs to their length at that time."""
        path = self.path / CHECKPOINT
        if not path.is_file():
            raise RunError(f"{self.path}: expected a run with a {CHECKPOINT}, found none")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            sizes = content["log_sizes"]
            if content["format"] != FORMAT or set(sizes) != set(self.logs):
                raise KeyError("format")
            for name, size in sizes.items():
                with open(self.path / name, "r+b") as file:
                    if file.seek(0, os.SEEK_END) < size:
                        raise ValueError(f"{name} is shorter than {size} bytes")
                    file.truncate(size)
        except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
            raise RunError(
                f"{path}: expected a checkpoint, found a damaged one:"
                f" {type(error).__name__}: {error}"
            ) from None
        assert isinstance(content, dict)
        for torn in self.path.rglob(".*" + UNFINISHED):  # an unfinished file of a killed run
            torn.unlink(missing_ok=True)
        return content

    def log(self, name: str, text: str) -> None:
        """Add to a log; it is written at the next checkpoint."""
        self._waiting[name].append(text)

    def save(self, content: dict[str, Any]) -> None:
        """Write the waiting lines of the logs, then the checkpoint.

        Raises RunError if the disk refuses; the previous checkpoint then remains valid.
        """
        try:
            sizes = {}
            for name in self.logs:
                with open(self.path / name, "a", encoding="utf-8") as file:
                    file.write("".join(self._waiting[name]))
                    file.flush()
                    os.fsync(file.fileno())
                    sizes[name] = file.tell()
                self._waiting[name].clear()
            text = json.dumps({"format": FORMAT, **content, "log_sizes": sizes})
            write_atomically(self.path / CHECKPOINT, text)
        except OSError as error:
            raise RunError(
                f"{self.path}: cannot write the checkpoint ({error}); the last one still holds"
            ) from None
