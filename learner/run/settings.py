"""The settings of a run: the options of the command line, of files of options, and of its folder.

Each is described once, by a field of `RunSettings`; flags, TOML, recipes, `--resume` and `--repeat`
read its name, type, default, range and help there. Nothing slow is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import games
from learner.options import Range
from play.players.grammar import PROGRAM
from programs.whole_files import write_atomically

__all__ = ["ZERO", "RunSettings", "code_in", "flag", "write_settings"]

#: The file in the folder of a run that holds its settings.
FILE = "options.json"
#: The start without an evaluator or heuristic that somebody wrote.
ZERO = "zero"
#: Options with another name than their setting.
NAMES = {"start": "from", "options": "set", "pacemakers": "opponents"}


def setting(
    help: str = "", metavar: str = "N", default: Any = MISSING, *, low: int | None = None
) -> Any:
    """Returns a field that describes a setting; without help it has no flag of its own.

    low: its least value.
    """
    more: dict[str, Any] = {} if low is None else {"allowed": Range(low)}
    return field(default=default, metadata={"help": help, "metavar": metavar, **more})


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Everything that decides a run; `learner.options` has the options of learners.

    options: options of the learner that have no field here, by name.
    pacemakers: players that snapshots are measured against, as the game names them; those of
        `opponents` if these were given.
    """

    game: str = setting(
        f"{', '.join(games.names())}, sliding8, sliding15, sliding24, pancakes10, or module:Class"
        " for your own"
    )
    learner: str = setting(
        "see below, or module:Class for your own (default: the game's usual one)", "NAME"
    )
    games: int = setting("games of self-play", low=1)
    depth: int | None = setting("plies of every search", "PLIES", None, low=0)
    nodes: int | None = setting(
        "most positions of a search; a depth only if given", default=None, low=1
    )
    seed: int = setting("decides everything left to chance (default: 0)", default=0, low=0)
    features: str | None = setting(
        "feature set or encoding to learn over, or a file my_features.py with kernels of your own:"
        " adds your terms to the learner's; afterwards the run is repeated without them and"
        " compared",
        "NAME",
        None,
    )
    start: str | None = setting("evaluator to start from, or zero", "FILE", None)
    options: Mapping[str, Any] = field(default_factory=dict)
    snapshots: int = setting("evaluators measured on the way (usually 24)", default=24, low=1)
    opponents: tuple[str, ...] = setting("players to measure against", "A,B")
    pacemakers: tuple[str, ...]
    snapshot_games: int = setting(
        "games of a snapshot against each opponent (usually 40)", default=40, low=2
    )
    final_games: int = setting(
        "games of each of the best snapshots, to choose among them (usually 150)",
        default=150,
        low=2,
    )
    match_games: int = setting("games of each match at the end (usually 400)", default=400, low=2)

    def __post_init__(self) -> None:
        check_ranges(vars(self))

    @property
    def name(self) -> str:
        """The name of the folder of a new run."""
        game, learner = (name.rpartition(":")[2] for name in (self.game, self.learner))
        return f"{game.lower()}-{learner.lower()}"

    def unlike(self, other: RunSettings) -> list[str]:
        """Returns the names of the options that two runs differ in; those of the learner too."""
        mine, theirs = (json.loads(json.dumps(asdict(one))) for one in (self, other))
        own, their_own = mine.pop("options"), theirs.pop("options")
        names = [NAMES.get(name, name) for name in mine if mine[name] != theirs[name]]
        return names + [n for n in {**own, **their_own} if own.get(n) != their_own.get(n)]

    @classmethod
    def read(cls, folder: Path) -> RunSettings:
        """Returns the settings of the run in a folder.

        Raises FileNotFoundError if the folder holds none, and ValueError if they are damaged or of
        another version of Plysmith.
        """
        path = folder / FILE
        if not path.is_file():
            raise FileNotFoundError(f"{folder}: expected a run, found none")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            names = {part.name for part in fields(cls)}
            if not isinstance(content, dict):
                raise TypeError(f"a {type(content).__name__}")
            if other := sorted(names ^ content.keys()):
                raise TypeError(f"others, by {', '.join(other)}")
            lists = {name: tuple(content[name]) for name in ("opponents", "pacemakers")}
            return cls(**{**content, **lists})
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(
                f"{path}: expected the options of a run of this version, found {error}"
            ) from None


def check_ranges(given: Mapping[str, Any]) -> None:
    """Raise ValueError for a setting outside its range."""
    for part in fields(RunSettings):
        if given.get(part.name) is not None and "allowed" in part.metadata:
            part.metadata["allowed"].check(flag(part.name), given[part.name])


def flag(name: str) -> str:
    """Returns the option of the command line that a setting has."""
    return "game" if name == "game" else "--" + NAMES.get(name, name).replace("_", "-")


def code_in(name: str, value: Any) -> list[str]:
    """Returns the parts of a setting that name code or start a program, which no file may do."""
    parts = [value] if isinstance(value, str) else value or ()
    if name in ("opponents", "pacemakers"):
        return [part for part in parts if PROGRAM.search(part)]
    if name in ("game", "learner"):
        return [part for part in parts if ":" in part]
    return [part for part in parts if name == "features" and part.endswith(".py")]


def write_settings(folder: Path, settings: RunSettings | None) -> None:
    """Write the settings of a run into its folder; {} for a run that was started without any."""
    content = {} if settings is None else asdict(settings)
    write_atomically(folder / FILE, json.dumps(content, indent=1))
