"""A run again, from its folder alone: `plysmith train --repeat FOLDER`."""

from __future__ import annotations

from pathlib import Path

from learner.run.folder import HOURS, LOCK, RunError
from learner.run.provenance import FILE
from programs.whole_files import write_atomically

__all__ = ["compared", "expect_code"]

#: Files that tell of the machine and the time; the picture has hours at its axis.
OF_THE_DAY = (FILE, HOURS, LOCK, "strength.png")


def expect_code(folder: Path, old: Path) -> None:
    """Make a new run expect the code of an old one, as a resumed run does.

    Raises RunError if the new folder holds anything.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise RunError(f"{folder}: expected a new folder, found one that holds files")
    copy = (old / FILE).read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / FILE, copy)


def compared(old: Path, new: Path) -> str:
    """Returns a line that says which files of two runs differ, but for times and machines."""
    names = sorted(
        {
            path.relative_to(folder).as_posix()
            for folder in (old, new)
            for path in folder.rglob("*")
            if path.is_file() and path.name not in OF_THE_DAY
        }
    )
    other = [name for name in names if _content(old / name) != _content(new / name)]
    if not other:
        return f"all {len(names)} files are those of {old}, bit for bit"
    return f"{len(other)} of {len(names)} files are not those of {old}: {', '.join(other[:12])}"


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
