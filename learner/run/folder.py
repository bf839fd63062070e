"""The folder of a run: checkpoints and logs that survive a crash at any moment.

A checkpoint is replaced as a whole. Logs are appended to, and the checkpoint remembers how long
they were; resuming cuts off what was written after it, so that a resumed run leaves the same
files as one that was never interrupted. One process at a time writes in a folder.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from learner.run.provenance import FILE as PROVENANCE
from learner.run.provenance import record_session
from learner.run.settings import RunSettings, write_settings
from programs.lock import LockedError, alone
from programs.whole_files import UNFINISHED, naming, write_atomically

__all__ = [
    "FEATURES",
    "HOURS",
    "REPORT",
    "Pace",
    "RunError",
    "RunFolder",
    "csv_row",
]

CHECKPOINT = "checkpoint.json"
REPORT = "report.json"
HOURS = "hours.csv"
LOCK = "run.lock"
#: The copy of a user's features.
FEATURES = "features.py"
FORMAT = "plysmith-run-1"
#: Checkpoints are at least this many seconds apart, and more if writing is slow.
CHECKPOINT_SECONDS, MOST_SHARE = 1.0, 0.05


class RunError(ValueError):
    """A folder that cannot be used for a run."""


def csv_row(*fields: object) -> str:
    """Returns a row of a CSV file with its newline; fields are quoted where they must be."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(fields)
    return text.getvalue()


class Pace:
    """Tells when the next checkpoint is due, so that writing them takes a twentieth of the time."""

    def __init__(self) -> None:
        self._written = 0.0
        self._took = 0.0

    def is_due(self) -> bool:
        """Returns whether it is time for a checkpoint."""
        pause = max(CHECKPOINT_SECONDS, self._took / MOST_SHARE)
        return time.monotonic() - self._written >= pause

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Measure the writing of a checkpoint."""
        began = time.monotonic()
        yield
        self._written = time.monotonic()
        self._took = self._written - began


class RunFolder:
    """A folder with a checkpoint and append-only logs."""

    def __init__(self, path: Any, logs: dict[str, str]) -> None:
        """Use a folder for a run; `logs` maps the names of log files to their first lines."""
        self.path = Path(path)
        self.logs = logs
        self._waiting: dict[str, list[str]] = {name: [] for name in logs}

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from writing in the folder.

        Raises LockedError if one does already, and RunError if the folder cannot be written.
        """
        with ExitStack() as held:
            with self._writing():
                held.enter_context(alone(self.path / LOCK, str(self.path)))
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Raises RunError where the folder cannot be written."""
        try:
            yield
        except LockedError:
            raise
        except OSError as error:
            raise RunError(f"{self.path}: expected a folder to write to, found {error}") from None

    def create(self) -> None:
        """Begin a new run.

        Raises RunError if the folder holds one or cannot be written.
        """
        if (self.path / CHECKPOINT).exists():
            raise RunError(f"{self.path}: expected a new folder, found a run: resume it instead")
        with self._writing():
            for name, head in self.logs.items():
                write_atomically(self.path / name, head)

    def open(
        self,
        game: Any,
        learner: Any,
        settings: RunSettings | None,
        *,
        resume: bool,
        changed: bool,
        say: Callable[[str], None],
        finished: bool = False,
    ) -> None:
        """Begin a new run, or a further session of one, and record code and settings.

        game: the game or problem.
        learner: the learner, prepared.
        settings: the settings of the run, for `--resume`.
        resume: whether the run has begun in an earlier session.
        changed: continue even if the code has changed since.
        say: gets remarks on the code in lines for people.
        finished: whether the run has ended, so that this session changes nothing.

        Raises RunError as `create` does, and `learner.run.provenance.ChangedError`.
        """
        if not resume:
            self.create()
        if not finished:
            existing = resume or (self.path / PROVENANCE).is_file()  # a run that is repeated
            for line in record_session(self.path, game, learner, resume=existing, changed=changed):
                say(line)
        write_settings(self.path, settings)

    def load(self) -> dict[str, Any]:
        """Returns the last checkpoint, and cuts the logs to their length at that time.

        Unfinished files of a killed run are removed. Raises RunError, and changes nothing, if the
        checkpoint is missing or damaged, or a log is shorter than it was then.
        """
        path = self.path / CHECKPOINT
        if not path.is_file():
            raise RunError(f"{self.path}: expected a run with a {CHECKPOINT}, found none")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            sizes = {name: int(size) for name, size in content["log_sizes"].items()}
            given, own = (content["format"], *sorted(sizes)), (FORMAT, *sorted(self.logs))
            if given != own:
                raise ValueError(f"expected {', '.join(own)}, found {', '.join(map(str, given))}")
        except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
            raise RunError(
                f"{path}: expected a checkpoint, found a damaged one:"
                f" {type(error).__name__}: {error}"
            ) from None
        assert isinstance(content, dict)
        for name, size in sizes.items():
            log = self.path / name
            length = log.stat().st_size if log.is_file() else None
            if length is None or length < size:
                short = f"that {name} is shorter than {size} bytes: {length}"
                raise RunError(
                    f"{self.path}: expected the logs that the run has written, found"
                    f" {f'no {name}' if length is None else short}; put the file back, or begin a"
                    " new run"
                )
        for name, size in sizes.items():
            with naming(self.path / name), open(self.path / name, "r+b") as file:
                file.truncate(size)
        for torn in self.path.rglob(".*" + UNFINISHED):
            torn.unlink(missing_ok=True)
        return content

    def expect(self, *names: str) -> None:
        """Raises RunError that names the first of these files of the run that does not exist."""
        for name in names:
            if not (self.path / name).is_file():
                raise RunError(
                    f"{self.path / name}: expected a file that the run has written, found none; put"
                    " it back, or begin a new run"
                )

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
                path = self.path / name
                with naming(path), open(path, "a", encoding="utf-8") as file:
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

    def is_reported(self, games: int, *parts: str) -> bool:
        """Returns whether the results of a run of `games` games are there, with these parts."""
        from play.web.runs import report_of  # which is slow to import

        report = report_of(self.path)
        return report.get("games_asked") == games and set(parts) <= report.keys()

    def write_report(self, content: dict[str, Any]) -> None:
        """Write the results of the matches at the end."""
        # an Elo of infinity is not JSON
        text = json.dumps(content, indent=1).replace("-Infinity", "null")
        write_atomically(self.path / REPORT, text.replace("Infinity", "null"))
