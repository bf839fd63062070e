"""Measures what ships now: `python -m benchmarks.standing [GAME ...]`.

Each measurement is a command of `plysmith play` with `--json`. Its figures are kept in
`data/standing.json` with the command, the day, the commit and a digest of each evaluator's file;
the tables in `docs/results/` and in README between the lines `<!-- standing: GAME -->` and
`<!-- end -->` are written from it. Without names, only those measurements run whose command or
whose files have changed since; `--tables` runs none and writes the tables again.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from games.program import exit_status
from games.whole_files import write_atomically
from search.evaluators.shipped import DATA, shipped_files

PROGRAM = "python -m benchmarks.standing"
KEPT = DATA / "standing.json"
ROOT = DATA.parent
#: Characters of a digest.
DIGITS = 12
TABLE = re.compile(r"(<!-- standing: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Measurement:
    """What is measured of the evaluators of a game.

    command: the words behind `plysmith play`, without `--json`.
    players: the players whose figures count, as the command names them.
    against: what the figures are above or against, as a table says it.
    rows: the rows of a table from the command's JSON: player, figure, and on what it stands.
    """

    game: str
    command: str
    players: tuple[str, ...]
    against: str
    rows: Callable[[dict[str, Any]], Iterator[Row]]

    def digests(self) -> dict[str, str]:
        """Returns a digest of each player's file; hand-crafted evaluators have none."""
        files = shipped_files(self.game)
        names = {player.partition("@")[0] for player in self.players} & set(files)
        return {
            name: hashlib.sha256(files[name].read_bytes()).hexdigest()[:DIGITS]
            for name in sorted(names)
        }


def _ladder(figures: dict[str, Any]) -> Iterator[Row]:
    for standing in figures["ratings"]:
        elo, low, high = standing["elo"]
        if elo != low:
            text = f"{elo:+.0f} [{low:+.0f}, {high:+.0f}] Elo"
            yield standing["name"], text, f"{standing['games']:,} games"


def _points(figures: dict[str, Any]) -> Iterator[Row]:
    value, low, high = figures["points_per_game"]
    text = f"{value:+.3f} [{low:+.3f}, {high:+.3f}] points a game"
    yield figures["first"], text, f"{figures['games']:,} games"


def _whole_games(figures: dict[str, Any]) -> Iterator[Row]:
    for judged in figures["judged"]:
        wins, draws, losses = judged["wins"], judged["draws"], judged["losses"]
        share, low, high = (100 * value for value in judged["won"])
        text = f"won {wins}, drawn {draws}, lost {losses}: {share:.1f} % [{low:.1f}, {high:.1f}]"
        yield judged["player"], text, f"{wins + draws + losses:,} games"


def _kept_class(figures: dict[str, Any]) -> Iterator[Row]:
    for judged in figures["judged"]:
        share, low, high = (100 * value for value in judged["kept"])
        text = f"{share:.1f} % [{low:.1f}, {high:.1f}] keep their class"
        yield judged["player"], text, f"{judged['decisions']:,} decisions"


def _first_places(figures: dict[str, Any]) -> Iterator[Row]:
    for standing in figures["standings"][:1]:
        share, low, high = (100 * value for value in standing["first"])
        text = f"first in {share:.1f} % [{low:.1f}, {high:.1f}]"
        yield standing["name"], text, f"{figures['games']:,} games"


CHECKERS = ("quantised", "network", "rootstrap", "samuel", "classic", "rote")
TRUTH = ("solved@exact", "solved@exact,nodes=3500", "hand@exact", "hand@exact,nodes=12000")
MEASUREMENTS = (
    Measurement(
        "checkers",
        f"ladder checkers material {' '.join(CHECKERS)} --nodes 2000 --games 200 --seed 31",
        CHECKERS,
        "above `material`, 2,000 nodes a move, a round robin",
        _ladder,
    ),
    *(
        Measurement(
            "backgammon",
            f"match backgammon {name} {opponent} --games 10000 --seed 31",
            (name,),
            f"against {text}, no search",
            _points,
        )
        for name, opponent, text in (
            ("wide", "gnubg:0", "GNU Backgammon's 0-ply"),
            ("backups", "gnubg:0", "GNU Backgammon's 0-ply"),
            ("tdgammon", "gnubg:0", "GNU Backgammon's 0-ply"),
        )
    ),
    Measurement(
        "connect_four",
        f"judge connect_four {' '.join(TRUTH)} --referee truth --games 200 --seed 31",
        TRUTH,
        "whole games, moving first from the start against perfect play",
        _whole_games,
    ),
    Measurement(
        "connect_four",
        f"judge connect_four {' '.join(TRUTH)} --referee truth --positions 3000 --seed 31",
        TRUTH,
        "positions of 14 to 30 random plies in which a move can throw the class away",
        _kept_class,
    ),
    Measurement(
        "chinese_checkers",
        "match chinese_checkers batch hand hand --depth 2 --games 300 --seed 31",
        ("batch",),
        "against `hand` in both other seats, depth 2; par is 33.3 %",
        _first_places,
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the measurements; returns the exit status."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    names = sorted({one.game for one in MEASUREMENTS})
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(names)}")
    parser.add_argument("--tables", action="store_true", help="measure nothing, write the tables")
    options = parser.parse_args(arguments)
    return exit_status(PROGRAM, lambda: _run(options, names))


def _run(options: argparse.Namespace, names: list[str]) -> int:
    unknown = [name for name in options.games if name not in names]
    if unknown:
        raise ValueError(f"GAME: expected one of {', '.join(names)}, found {unknown[0]!r}")
    for measurement in () if options.tables else MEASUREMENTS:
        kept = load()
        if measurement.game in options.games or (not options.games and stale(measurement, kept)):
            kept[measurement.command] = _measured(measurement)
            known = {one.command for one in MEASUREMENTS}
            text = {command: entry for command, entry in kept.items() if command in known}
            write_atomically(KEPT, f"{json.dumps(text, indent=1)}\n")
    for path in pages():
        write_atomically(path, with_tables(path.read_text("utf-8")))
    return 0


def load() -> dict[str, dict[str, Any]]:
    """Returns what was measured, by command."""
    kept: dict[str, dict[str, Any]] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    return kept


def stale(measurement: Measurement, kept: dict[str, dict[str, Any]]) -> bool:
    """Whether a measurement is missing or is of other files than those that ship."""
    entry = kept.get(measurement.command)
    return entry is None or entry["digests"] != measurement.digests()


def pages() -> list[Path]:
    """Returns the pages that hold tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "results").glob("*.md"))]


def with_tables(text: str) -> str:
    """Returns a page with its tables as what was measured says."""
    return TABLE.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", text)


def table(game: str) -> str:
    """Returns the table of what ships in a game, in Markdown."""
    kept = load()
    lines = []
    for measurement in MEASUREMENTS:
        entry = kept.get(measurement.command)
        if measurement.game != game or entry is None:
            continue
        for player, text, basis in measurement.rows(entry["figures"]):
            if player in measurement.players:
                digest = entry["digests"].get(player.partition("@")[0], "by hand")
                lines.append(
                    f"| `{player}` | {text} | {measurement.against}; {basis} | {digest} |"
                    f" {entry['date']}, {entry['commit']} |\n"
                )
    commands = [
        f"`plysmith play {one.command}`"
        for one in MEASUREMENTS
        if one.game == game and one.command in kept
    ]
    head = "| player | strength | measured | file | when |\n|---|---|---|---|---|\n"
    return f"\n{head}{''.join(lines)}\n{', '.join(commands)}.\n\n"


def _measured(measurement: Measurement) -> dict[str, Any]:
    print(f"plysmith play {measurement.command}", flush=True)
    words = [sys.executable, "-m", "play", *shlex.split(measurement.command), "--json"]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=7", "HEAD"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "digests": measurement.digests(),
        "figures": json.loads(done.stdout.splitlines()[-1]),
    }


if __name__ == "__main__":
    sys.exit(main())
