"""Files that come with Plysmith, found by name: "checkers/quantised".

They lie in the folder data/ beside the packages, in a clone and in an installation alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["DATA", "find_file", "shipped_files"]

DATA = Path(__file__).resolve().parents[2] / "data"
SUFFIXES = (".json", ".safetensors")


def shipped_files(game: str) -> dict[str, Path]:
    """The shipped evaluators and opening books of a game by their short names."""
    if not game.isidentifier():  # and so not the name of a folder elsewhere
        return {}
    files = sorted((DATA / game).glob("*"))
    return {
        path.stem: path for path in files if path.suffix in SUFFIXES and path.stem.isidentifier()
    }


def find_file(name: Any, game: str | None = None) -> Path:
    """The file that a name stands for: one with that path, or else a shipped one.

    name: a path, "GAME/NAME" for a shipped file, or "NAME" for one of `game`. If neither exists,
    the path is returned as it is.
    """
    path = Path(name)
    if path.is_file():
        return path
    *folder, short = path.parts or ("",)
    if game is not None and not folder:
        folder = [game]
    return shipped_files(folder[0]).get(short, path) if len(folder) == 1 else path
