"""Measures what ships now: `python -m benchmarks.standing [GAME ...]`.

Each measurement is a command of `plysmith play` with `--json`. Its figures are kept in
`benchmarks/standing.json` with the command, the day, the commit and a digest of each file.
The tables in `docs/results.md` and `docs/results/` between the lines `<!-- standing: GAME -->` and
`<!-- end -->`, and the strength in each card of `data/README.md`, are written from it.

Without names, only those measurements run whose command or whose files have changed since;
`--tables` runs none and writes the pages again.
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
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programs.ending import exit_status
from programs.whole_files import write_atomically
from search.evaluators.files.shipped import DATA, shipped_files

PROGRAM = "python -m benchmarks.standing"
KEPT = Path(__file__).with_suffix(".json")
ROOT = DATA.parent
#: Characters of a digest.
DIGITS = 12
#: The name of the table of all games, and of the one by which people choose.
HEADLINE, SCALE = "headline", "scale"
#: A figure with its interval.
FIGURE = re.compile(r"([+-]?[0-9.]+)( %)? (\[[^]]*\])")
TABLE = re.compile(r"(<!-- standing: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: The sentence in a card that people read before they choose.
CARD = re.compile(
    r"(^## (\w+)/(\w+)$(?:(?!^## ).)*?^- \*\*Strength:\*\* )(.*?)(?=^- |^$)",
    re.MULTILINE | re.DOTALL,
)

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Measurement:
    """What is measured of the evaluators of a game.

    command: the words behind `plysmith play`, without `--json`.
    players: the players whose figures count, as the command names them.
    against: what the figures are above or against, as a table says it.
    rows: the rows of a table from the command's JSON: player, figure, and on what it stands.
    scale: the words for the figure where it is that by which people choose; else empty.
    zero: the evaluator that the figures are measured against, its own figure on that scale and why
        that is known, where it is one that people can choose; else empty.
    """

    game: str
    command: str
    players: tuple[str, ...]
    against: str
    rows: Callable[[dict[str, Any]], Iterator[Row]]
    scale: str = ""
    zero: tuple[str, ...] = ()

    def digests(self) -> dict[str, str]:
        """Returns a digest of each player's file; hand-crafted evaluators have none."""
        files = shipped_files(self.game)
        names = {evaluator_of(player) for player in self.players} & set(files)
        return {
            name: hashlib.sha256(files[name].read_bytes()).hexdigest()[:DIGITS]
            for name in sorted(names)
        }


def evaluator_of(player: str) -> str:
    """Returns the evaluator's name in the text of a player."""
    return re.split(r"[@+]", player)[0]


def _ladder(figures: dict[str, Any]) -> Iterator[Row]:
    for standing in figures["ratings"]:
        elo, low, high = standing["elo"]
        if elo != low:
            text = f"{elo:+.0f} [{low:+.0f}, {high:+.0f}] Elo"
            yield standing["name"], text, f"{standing['games']:,} games"


def _points(figures: dict[str, Any]) -> Iterator[Row]:
    value, low, high = figures["without_luck"] or figures["points_per_game"]
    text = f"{value:+.3f} [{low:+.3f}, {high:+.3f}] points a game"
    basis = f", the luck taken off by static values of {figures['luck']}" * bool(figures["luck"])
    yield figures["first"], text, f"{figures['games']:,} games{basis}"


def _score(figures: dict[str, Any]) -> Iterator[Row]:
    share, low, high = (100 * value for value in figures["score"])
    text = f"{share:.1f} % [{low:.1f}, {high:.1f}] of the points"
    yield figures["first"], text, f"{figures['games']:,} games"


def _whole_games(figures: dict[str, Any]) -> Iterator[Row]:
    for judged in figures["judged"]:
        text, first, second = (_per_cent(judged[name]) for name in ("kept", "first", "second"))
        basis = f"{judged['games']:,} games: moving first {first}, second {second}"
        yield judged["player"], f"{text} keep their class", basis


def _kept_class(figures: dict[str, Any]) -> Iterator[Row]:
    for judged in figures["judged"]:
        first, last = judged["plies"]
        basis = f"{judged['decisions']:,} decisions after {first} to {last} random plies"
        yield judged["player"], f"{_per_cent(judged['kept'])} keep their class", basis


def _per_cent(figure: list[float]) -> str:
    share, low, high = (100 * value for value in figure)
    return f"{share:.1f} % [{low:.1f}, {high:.1f}]"


def _first_places(figures: dict[str, Any]) -> Iterator[Row]:
    for standing in figures["standings"][:1]:
        share, low, high = (100 * value for value in standing["first"])
        text = f"first in {share:.1f} % [{low:.1f}, {high:.1f}]"
        yield standing["name"], text, f"{figures['games']:,} games"


CHECKERS = (
    "quantised",
    "invented",
    "network",
    "rootstrap",
    "samuel",
    "samuel1959",
    "classic",
    "rote",
)
TRUTH = ("solved@exact", "hand@exact", "centre@exact")
MEASUREMENTS = (
    Measurement(
        "checkers",
        f"ladder checkers material {' '.join(CHECKERS)} --nodes 2000 --games 200 --seed 31",
        CHECKERS,
        "above `material`, 2,000 nodes a move, a round robin",
        _ladder,
        "Elo above material",
        ("material", "0", "by definition"),
    ),
    *(
        Measurement(
            "backgammon",
            f"match backgammon {name} gnubg:0 --games {games} --seed 31",
            (name,),
            "against GNU Backgammon's 0-ply, no search",
            _points,
            "points a game against GNU Backgammon's 0-ply",
        )
        # `pips` nearly always loses a backgammon: its results vary less than its luck
        for name, games in (
            ("wide", "4000 --luck wide"),
            ("hand", "4000 --luck wide"),
            ("pips", "20000"),
        )
    ),
    Measurement(
        "connect_four",
        "judge connect_four solved@exact --referee truth --games 200 --seed 31",
        ("solved@exact",),
        "whole games after 0 to 8 random plies against an opponent that errs once, else perfect",
        _whole_games,
    ),
    Measurement(
        "connect_four",
        f"judge connect_four {' '.join(TRUTH)} --referee truth --positions 3000 --seed 31",
        TRUTH,
        "positions in which a move can throw the class away",
        _kept_class,
        "of wins and draws kept where a move can throw them away, after 1 to 13 random plies",
    ),
    *(
        Measurement(
            "chinese_checkers",
            f"match chinese_checkers {name} hand hand --depth 2 --games 300 --seed 31",
            (name,),
            "against `hand` in both other seats, depth 2; par is 33.3 %",
            _first_places,
            "of games won against two of hand",
            ("hand", "33.3 %", "by symmetry"),
        )
        for name in ("batch", "steps")
    ),
    Measurement(
        "chinese_checkers2",
        "ladder chinese_checkers2 steps hand --depth 2 --games 400 --seed 31",
        ("hand",),
        "above `steps`, depth 2",
        _ladder,
        "Elo above steps",
        ("steps", "0", "by definition"),
    ),
    Measurement(
        "chinese_checkers6",
        f"match chinese_checkers6 hand {' '.join(5 * ['steps'])} --depth 1 --games 600 --seed 31",
        ("hand",),
        "against `steps` in all other seats, depth 1; par is 16.7 %",
        _first_places,
        "of games won against five of steps",
        ("steps", "16.7 %", "by symmetry"),
    ),
    Measurement(
        "tic_tac_toe",
        "match tic_tac_toe open_lines random --depth 2 --games 1000 --seed 31",
        ("open_lines",),
        "against random moves, depth 2",
        _score,
        "of the points against random moves",
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
        write_atomically(path, with_figures(path.read_text("utf-8")))
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
    """Returns the pages that hold tables or cards."""
    docs = ROOT / "docs"
    return [DATA / "README.md", docs / "results.md", *sorted((docs / "results").glob("*.md"))]


def with_figures(text: str) -> str:
    """Returns a page with its tables and cards as what was measured says."""
    text = CARD.sub(lambda card: f"{card[1]}{strength(card[2], card[3]) or card[4]}", text)
    return TABLE.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", text)


def strength(game: str, name: str) -> str:
    """Returns what a card says of an evaluator's strength, with a newline; empty if unmeasured."""
    kept = load()
    said = [
        f"{f'`{player}` ' * ('@' in player)}{text} ({measurement.against}; {basis})"
        for measurement in MEASUREMENTS
        if measurement.game == game and measurement.command in kept
        for player, text, basis in measurement.rows(kept[measurement.command]["figures"])
        if evaluator_of(player) == name
    ]
    lines = textwrap.wrap(f"- **Strength:** {'; '.join(said)}.", 100, subsequent_indent="  ")
    return f"{chr(10).join(lines)}\n".removeprefix("- **Strength:** ") if said else ""


def table(game: str) -> str:
    """Returns the table of what ships in a game, in Markdown.

    game: a game, or `HEADLINE` for the strongest of each measurement of every game.
    """
    kept = load()
    if game == SCALE:
        return scale(kept)
    lines, commands = [], []
    for measurement in MEASUREMENTS:
        entry = kept.get(measurement.command)
        if entry is None or game not in (measurement.game, HEADLINE):
            continue
        if game == HEADLINE and not entry["digests"]:  # nothing that was learned
            continue
        wrapped = textwrap.wrap(
            f"plysmith play {measurement.command}",
            116,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        commands.append(" \\\n".join(wrapped) + "\n")
        rows = [row for row in measurement.rows(entry["figures"]) if row[0] in measurement.players]
        for player, text, basis in rows[:1] if game == HEADLINE else rows:
            what = f"{measurement.against}; {basis}"
            if game == HEADLINE:
                title = measurement.game.replace("_", " ").title()
                lines.append(f"| {title}: `{player}` | {text} | {what} |\n")
                continue
            digest = entry["digests"].get(evaluator_of(player), "by hand")
            when = f"{entry['date']}, {entry['commit']}"
            lines.append(f"| `{player}` | {text} | {what} | {digest} | {when} |\n")
    if game == HEADLINE:
        return f"\n| | strength | measured |\n|---|---|---|\n{''.join(lines)}\n"
    head = "| player | strength | measured | file | when |\n|---|---|---|---|---|\n"
    return f"\n{head}{''.join(lines)}\n```sh\n{''.join(commands)}```\n\n"


def scale(kept: dict[str, dict[str, Any]]) -> str:
    """Returns the table by which people choose: one figure an evaluator, the strongest first."""
    found: dict[str, dict[str, tuple[float, str]]] = {}
    for measurement in MEASUREMENTS:
        if not measurement.scale or measurement.command not in kept:
            continue
        of_game = found.setdefault(measurement.game, {})
        for player, text, _ in measurement.rows(kept[measurement.command]["figures"]):
            figure = FIGURE.search(text)
            if figure is not None:
                words = f"{measurement.scale} {figure[3]}"
                number = f"{figure[1]}{figure[2] or ''}"
                of_game.setdefault(evaluator_of(player), (float(figure[1]), f"{number} | {words}"))
        if measurement.zero:
            name, number, why = measurement.zero
            words = f"{measurement.scale}, {why}"
            of_game.setdefault(name, (float(number.split()[0]), f"{number} | {words}"))
    lines = []
    for game, of_game in found.items():
        ranked = sorted(of_game.items(), key=lambda item: -item[1][0])
        for place, (name, (_, text)) in enumerate(ranked):
            first = ", the strongest" * (place == 0 and len(ranked) > 1)
            lines.append(f"| `{game}/{name}` | {text}{first} |\n")
    return f"\n| evaluator | figure | what it says |\n|---|---|---|\n{''.join(lines)}\n"


def _measured(measurement: Measurement) -> dict[str, Any]:
    print(f"plysmith play {measurement.command}", flush=True)
    words = [sys.executable, "-m", "play", *shlex.split(measurement.command), "--json"]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=7", "HEAD"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    figures = json.loads(done.stdout.splitlines()[-1])
    if measurement.rows is _ladder:  # no page shows the match of each pair
        del figures["matches"]
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "digests": measurement.digests(),
        "figures": figures,
    }


if __name__ == "__main__":
    sys.exit(main())
