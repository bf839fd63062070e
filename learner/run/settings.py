"""The settings of a run, from the command line and the recipe; a resumed run keeps them.

Nothing slow is imported here, because `--help` must be quick.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from learner.options import Range
from programs.whole_files import write_atomically

__all__ = ["RunSettings", "write_settings"]

#: The file in the folder of a run that holds its settings.
FILE = "options.json"


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Everything that decides a run, by the names of the options of train.py.

    game: a name, or module:Class for a game of one's own.
    learner: a name in `learner.run.recipes`, or module:Class for a learner of one's own.
    games: games of self-play, at least 1.
    depth: plies of every search of the learner, or None.
    nodes: positions of every search of the learner, or None.
    start: the evaluator that learning starts from, by name or file; None or "zero" for none.
    options: other options of the learner, by name.
    features: a feature set or encoding by name, a file with features of the user's, or None.
    feature_digest: the digest of that file, or None.
    seed: decides everything that is left to chance.
    snapshots: number of evaluators that are measured on the way.
    snapshot_games: games of a snapshot against each of `pacemakers`, at least 2.
    final_games: games of each of the best snapshots, to choose among them, at least 2.
    match_games: games of each match at the end, at least 2.
    opponents: players that the best evaluator meets at the end.
    pacemakers: players that snapshots are measured against.
    """

    game: str
    learner: str
    games: int
    depth: int | None
    nodes: int | None = None
    start: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    features: str | None = None
    feature_digest: str | None = None
    seed: int = 0
    snapshots: int = 24
    snapshot_games: int = 40
    final_games: int = 150
    match_games: int = 400
    opponents: tuple[str, ...]
    pacemakers: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, least in (
            ("games", 1), ("snapshot_games", 2), ("final_games", 2), ("match_games", 2),
        ):  # fmt: skip
            Range(least).check("--" + name.replace("_", "-"), getattr(self, name))

    def as_dict(self) -> dict[str, Any]:
        """Returns the same as plain values, under the names of the options (`start` is `from`)."""
        content = asdict(self)
        content["from"] = content.pop("start")
        return content

    def unlike(self, other: RunSettings) -> list[str]:
        """Returns the names of the options that two runs differ in, as files of them keep these.

        Options of the learner are named themselves; the digest of a file of features is not an
        option.
        """
        mine, theirs = (json.loads(json.dumps(one.as_dict())) for one in (self, other))
        del mine["feature_digest"]
        own, their_own = mine.pop("options"), theirs.pop("options")
        names = [name for name in mine if mine[name] != theirs[name]]
        return names + [n for n in {**own, **their_own} if own.get(n) != their_own.get(n)]

    @classmethod
    def from_dict(cls, content: Any) -> RunSettings:
        """Returns the settings that `as_dict` made the dictionary from.

        Raises ValueError if anything is missing, unknown or malformed.
        """
        if not isinstance(content, dict):
            raise ValueError(f"a {type(content).__name__}")
        names = {"from" if part.name == "start" else part.name for part in fields(cls)}
        if missing := sorted(names - content.keys()):
            raise ValueError(f"nothing about {', '.join(missing)}")
        if unknown := sorted(content.keys() - names):
            raise ValueError(f"the unknown {', '.join(unknown)}")
        given = {("start" if name == "from" else name): content[name] for name in content}
        lists = {name: tuple(given[name]) for name in ("opponents", "pacemakers")}
        return cls(**{**given, **lists})

    @classmethod
    def read(cls, folder: Path) -> RunSettings:
        """Returns the settings of the run in a folder.

        Raises FileNotFoundError if the folder holds none, and ValueError if they are damaged.
        """
        path = folder / FILE
        if not path.is_file():
            raise FileNotFoundError(f"{folder}: expected a run, found none")
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"{path}: expected the options of a run, found {error}") from None


def write_settings(folder: Path, settings: RunSettings | None) -> None:
    """Write the settings of a run into its folder; {} for a run that was started without any."""
    content = {} if settings is None else settings.as_dict()
    write_atomically(folder / FILE, json.dumps(content, indent=1))
