"""Files that come with Plysmith, found by name: "checkers/quantised".

They are in the folder data/ next to the packages, both in a clone and in an installation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["DATA", "find_file", "shipped_files"]

DATA = Path(__file__).resolve().parents[3] / "data"
SUFFIXES = (".json", ".safetensors")


def shipped_files(game: str) -> dict[str, Path]:
    """Returns the paths of a game's shipped evaluators by their short names."""
    if not game.isidentifier():  # excludes paths to other folders
        return {}
    files = sorted((DATA / game).glob("*"))
    return {
        path.stem: path for path in files if path.suffix in SUFFIXES and path.stem.isidentifier()
    }


def find_file(name: Any, game: str | None = None) -> Path:
    """Returns the file with a path or the name of a shipped file.

    name: a path; else "GAME/NAME" for a shipped file, or "NAME" for one of `game`.
    game: the game of names without a game, or None.

    If no such file exists, `name` is returned as a path.
    """
    path = Path(name)
    if path.is_file():
        return path
    *folder, short = path.parts or ("",)
    if game is not None and not folder:
        folder = [game]
    return shipped_files(folder[0]).get(short, path) if len(folder) == 1 else path
