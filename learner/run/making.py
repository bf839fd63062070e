"""Make a shipped file again: `plysmith make checkers/samuel`.

The commands of each file stand with its game (`learner.extras`), as data; they are those that
anybody types. What they leave is kept in a folder, and a command that was stopped goes on there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import games
from games.contract import Game
from games.extras import Extra
from games.problem import Problem
from learner.run.folder import CHECKPOINT
from programs.arguments import Parser
from programs.ending import exit_status
from programs.whole_files import write_atomically

__all__ = ["Making", "Makings", "main", "make"]

#: The file that lists the files of a folder's finished commands.
DONE = "made.json"
RUN = "--run"


@dataclass(frozen=True)
class Making:
    """The making of a shipped file.

    commands: what is typed after `plysmith`, one after another; {folder} stands for the folder.
    result: the file in the folder that the last one leaves.
    time: how long it takes, in words.
    """

    commands: tuple[str, ...]
    result: str
    time: str


@dataclass(frozen=True)
class Makings(Extra):
    """The makings of a game's shipped files, by their short names; an extra."""

    of_files: Mapping[str, Making] = field(default_factory=dict)


def main(arguments: list[str] | None = None, program: str = "plysmith make") -> int:
    """Run the command; returns its exit status. `program` is the name in usage and errors."""
    parser = Parser(prog=program, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="?", help="GAME/NAME (default: list those there are)")
    parser.add_argument(
        "--folder", type=Path, metavar="FOLDER", help="where to work (default: runs/made/GAME/NAME)"
    )
    options = parser.parse_args(arguments)
    stopped = "stopped; the same command continues"
    return exit_status(program, lambda: _run(options.name, options.folder), stopped=stopped)


def _run(name: str | None, folder: Path | None) -> int:
    from search.evaluators.files.shipped import DATA

    makings = {
        f"{game.name}/{making}": (game, how)
        for game in map(games.load, [*games.names(), *games.problems()])
        if (DATA / game.name).is_dir()
        for making, how in Makings.of(game).of_files.items()
    }
    if name is None:
        width = max(map(len, makings))
        for known_name, (_, making) in makings.items():
            print(f"{known_name:<{width}}  {making.time}")
        return 0
    if name not in makings:
        raise ValueError(f"name: expected one of {', '.join(makings)}, found {name!r}")
    game, making = makings[name]
    folder = folder or Path("runs", "made", name)
    status = make(making, folder)
    if status == 0:
        print(f"made: {folder / making.result}")
        print(_compared(game, name, folder / making.result))
    return status


def make(making: Making, folder: Path) -> int:
    """Run the commands that are not finished yet; returns the exit status of the last one run.

    Raises ValueError if the folder was begun with other commands.
    """
    import plysmith

    noted = folder / DONE
    done = json.loads(noted.read_text(encoding="utf-8")) if noted.is_file() else []
    for line, command in zip(done, [*making.commands, *len(done) * [""]], strict=False):
        if line != command:
            raise ValueError(
                f"{noted}: expected the command {command!r} of this version, found {line!r};"
                " begin in a new folder"
            )
    folder.mkdir(parents=True, exist_ok=True)
    for command in making.commands[len(done) :]:
        # the folder may hold spaces, and so is put in after the words are parted
        words = [word.format(folder=folder) for word in command.split()]
        if RUN in words and Path(words[words.index(RUN) + 1], CHECKPOINT).is_file():
            words = [words[0], words[1], "--resume", words[words.index(RUN) + 1]]
        print(f"plysmith {' '.join(words)}", flush=True)
        if status := plysmith.main(words):
            return status
        done.append(command)
        write_atomically(noted, json.dumps(done, indent=1))
    return 0


def _compared(game: Game, name: str, made: Path) -> str:
    """Returns a line that says whether a file is the shipped one again."""
    from search.evaluators.files.header import EvaluatorError
    from search.evaluators.files.shipped import DATA
    from search.evaluators.load import load_evaluator
    from search.evaluators.samples import value_mark

    short = name.rpartition("/")[2]
    shipped = DATA / f"{name}{made.suffix}"
    if made.read_bytes() == shipped.read_bytes():
        return f"the shipped {name}, byte for byte"
    try:
        marks = [value_mark(game, load_evaluator(path, game=game)) for path in (made, shipped)]
    except EvaluatorError:
        return f"another file than the shipped {name}"
    if marks[0] == marks[1]:
        return f"the values of the shipped {name}"
    if isinstance(game, Problem):
        return f"other values than the shipped {name}"
    return (
        f"other values than the shipped {name}; which is stronger: plysmith play match"
        f" {game.name} {made} {short}"
    )
