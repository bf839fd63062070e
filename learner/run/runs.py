"""A table of the runs in a folder: `plysmith runs`."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from learner.run.request import parser as train_parser
from learner.run.request import settings_of
from learner.run.settings import RunSettings
from play.web.runs import Runs, hours_of, report_of
from programs.arguments import Parser
from programs.ending import exit_status
from programs.phrases import lasting

__all__ = ["main", "rows_of"]

#: What rows can be sorted by.
SORTS = ("changed", "folder", "game", "learner", "hours", "strength")


def main(arguments: list[str] | None = None, program: str = "plysmith runs") -> int:
    """Run the command; returns its exit status. `program` is the name in usage and errors."""
    parser = Parser(prog=program, description=(__doc__ or "").partition(":")[0])
    add = parser.add_argument
    add("folder", nargs="?", type=Path, default=Path("runs"), help="default: runs")
    add("--game", help="only runs of this game")
    add("--learner", help="only runs of this learner")
    add("--against", metavar="NAME", help="the one opponent whose matches are shown")
    add("--sort", choices=SORTS, default="changed", help="default: the last changed first")
    add("--json", action="store_true", help="the same as JSON")
    options = parser.parse_args(arguments)
    return exit_status(program, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if not options.folder.is_dir():
        raise FileNotFoundError(
            f"folder: expected a folder with runs, found none: {options.folder}"
        )
    rows = rows_of(options.folder, options.against)
    for name in ("game", "learner"):
        asked = getattr(options, name)
        rows = [row for row in rows if asked in (None, row[name])]
    rows = [row for row in rows if row["matches"] or options.against is None]
    if options.sort == "strength":
        rows.sort(
            key=lambda row: -max((one.get("score", -1e9) for one in row["matches"]), default=-1e9)
        )
    elif options.sort == "hours":
        rows.sort(key=lambda row: -row["hours"])
    elif options.sort != "changed":
        rows.sort(key=lambda row: row[options.sort])
    if options.json:
        print(json.dumps(rows, indent=1))
        return 0
    for line in _table(rows) or [f"no runs to list in {options.folder}"]:
        print(line)
    return 0


def rows_of(folder: Path, against: str | None = None) -> list[dict[str, Any]]:
    """Returns a row for each run below a folder, the last changed first.

    against: the opponent whose matches are kept. Default: all.

    A row has the run's `folder`, `game`, `learner`, `state` ("finished", "going on" or "stopped"),
    the `options` that differ from the usual ones, the `hours` of processor time that learning has
    taken, and the `matches` of its report, each as `learner.arena.Strength.as_dict` has them; {}
    for a damaged one.
    """
    rows = []
    for run in Runs({"run": folder.resolve()}).list():
        place = folder / run["name"]
        matches = report_of(place).get("matches")
        matches = [_whole(one) for one in matches] if isinstance(matches, list) else []
        rows.append(
            {
                "folder": run["name"],
                "game": run["game"],
                "learner": run["learner"],
                "state": run["state"],
                "options": _unusual(place),
                "hours": max(hours_of(place).values(), default=0.0),
                "matches": [one for one in matches if against in (None, one.get("opponent"))],
            }
        )
    return rows


def _unusual(place: Path) -> dict[str, Any]:
    """Returns the settings of a run that differ from those of its learner's recipe."""
    try:
        mine = RunSettings.read(place)
        usual = settings_of(train_parser().parse_args([mine.game, "--learner", mine.learner]))
        values = {**vars(mine), "from": mine.start, **mine.options}
        return {name: values.get(name) for name in mine.unlike(usual) if name != "opponents"}
    except Exception:  # a run of Python, or settings that are damaged in one way or another
        return {}


def _whole(match: Any) -> dict[str, Any]:
    """Returns a match of a report, or {} if it is damaged."""
    from learner.arena import FIRST, POINTS, Strength

    try:
        strength = Strength.of(match)
        strength.text()
        bounds = strength.value, strength.low, strength.high
        counts = strength.games, strength.wins, strength.draws, strength.losses, strength.score
        sound = all(map(math.isfinite, counts)) and not any(map(math.isnan, bounds))
        if strength.unit in (FIRST, POINTS):
            sound = sound and all(map(math.isfinite, bounds))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return {}
    return dict(match) if sound else {}


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the rows as lines of text, a match a line."""
    from learner.arena import Strength

    if not rows:
        return []
    width = max(len(row["folder"]) for row in rows)
    lines = []
    for row in rows:
        options = " ".join(f"{name}={value}" for name, value in row["options"].items())
        lines.append(
            f"{row['folder']:<{width}}  {row['game']} {row['learner']}, {row['state']},"
            f" {lasting(3600 * row['hours'])}{'; ' if options else ''}{options}"
        )
        for match in row["matches"]:
            text = Strength.of(match).text() if match else "a damaged match"
            lines.append(f"{'':<{width}}  {text}")
    return lines
