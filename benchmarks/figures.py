"""Measures what the pages show, and writes the pages: `python -m benchmarks.figures [NAME ...]`.

Each file of `docs/figures/` holds one measurement:

command: the command that measures.
depends: the shipped files and the code on which the result depends, as patterns.
date, commit, digests: the day and the commit of the measurement, and a digest of each pattern.
figures: the result: the JSON in the last line of the command's output, if the measurement is a
    strength or `json` is true, or what a person enters; a table has `columns` and `rows`.
show: how the pages show it; empty for a table. `view` names one of the views below, whose fields
    `Strength` lists; `lines` are lines of Markdown with `{names}` of the figures.
cards: optional; the strength in the card of a shipped file, a line for each card.

A page shows it between `<!-- figure: NAME -->` and `<!-- end -->`, and all strengths of a game
between `<!-- strength: GAME -->` and `<!-- end -->`. A measurement whose files or code have changed
is marked there until its command has run again; docstrings, comments and messages do not count.

The names are measured again. Without names nothing is: the pages are written, and the commands of
all that is out of date are listed. Where a person enters the figures, the command is run, and
`--entered NAME` says afterwards that they stand in the file.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import functools
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
from search.evaluators.files.shipped import DATA

PROGRAM = "python -m benchmarks.figures"
ROOT = DATA.parent
FOLDER = ROOT / "docs" / "figures"
#: Characters of a digest.
DIGITS = 12
#: The name of the table of all games, and of the one by which people choose.
HEADLINE, SCALE = "headline", "scale"
#: A figure with its interval.
FIGURE = re.compile(r"([+-]?[0-9.]+)( %)? (\[[^]]*\])")
SHOWN = re.compile(r"(<!-- (figure|strength): ([\w.-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: The sentence in a card that people read before they choose.
CARD = re.compile(
    r"(^## ([\w./]+)$(?:(?!^## ).)*?^- \*\*Strength:\*\* )(.*?)(?=^- |^$)", re.MULTILINE | re.DOTALL
)

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Strength:
    """The strength of a game's players, as the tables say it.

    view: the name of the function that reads the rows from the command's JSON.
    players: the players whose figures count, as the command names them.
    against: what the figures are above or against.
    scale: the words for the figure where it is that by which people choose; else empty.
    zero: the evaluator that the figures are measured against, its own figure on that scale and why
        that is known, where it is one that people can choose; else empty.
    """

    view: str
    game: str
    players: list[str]
    against: str
    scale: str = ""
    zero: tuple[str, ...] = ()


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
    yield (
        figures["first"],
        f"{_share(figures['score'])} of the points",
        f"{figures['games']:,} games",
    )


def _whole_games(figures: dict[str, Any]) -> Iterator[Row]:
    for judged in figures["judged"]:
        text, first, second = (_share(judged[name]) for name in ("kept", "first", "second"))
        basis = f"{judged['games']:,} games: moving first {first}, second {second}"
        yield judged["player"], f"{text} keep their class", basis


def _kept_class(figures: dict[str, Any]) -> Iterator[Row]:
    for judged in figures["judged"]:
        first, last = judged["plies"]
        basis = f"{judged['decisions']:,} decisions after {first} to {last} random plies"
        yield judged["player"], f"{_share(judged['kept'])} keep their class", basis


def _first_places(figures: dict[str, Any]) -> Iterator[Row]:
    for standing in figures["standings"][:1]:
        yield (
            standing["name"],
            f"first in {_share(standing['first'])}",
            f"{figures['games']:,} games",
        )


def _share(figure: list[float]) -> str:
    share, low, high = (100 * value for value in figure)
    return f"{share:.1f} % [{low:.1f}, {high:.1f}]"


VIEWS: dict[str, Callable[[dict[str, Any]], Iterator[Row]]] = {
    "elo above": _ladder,
    "points": _points,
    "score": _score,
    "whole games": _whole_games,
    "kept classes": _kept_class,
    "first places": _first_places,
}


class Record:
    """A measurement in a file of `docs/figures/`."""

    def __init__(self, name: str, content: dict[str, Any]) -> None:
        self.name, self.content = name, content
        self.command: str = content["command"]
        show = content.get("show", {})
        self.strength = Strength(**show) if "view" in show else None
        self.lines: list[str] = show.get("lines", [])
        self.cards: dict[str, str] = content.get("cards", {})

    @property
    def changed(self) -> list[str]:
        """The patterns whose files are other ones than those that were measured."""
        known = self.content["digests"]
        return [one for one in self.content["depends"] if known.get(one) != digest(one)]

    @property
    def mark(self) -> str:
        """The words by which a page says that it is out of date; empty if it is not."""
        return "out of date" if self.changed else ""

    @property
    def when(self) -> str:
        """The day and the commit, with the mark."""
        mark = f", **{self.mark}**" * bool(self.changed)
        return f"{self.content['date']}, {self.content['commit']}{mark}"

    def rows(self) -> Iterator[Row]:
        """Yields the rows of a strength: player, figure, and on what it stands."""
        assert self.strength is not None
        for row in VIEWS[self.strength.view](self.content["figures"]):
            if row[0] in self.strength.players:
                yield row

    def text(self) -> str:
        """Returns what a page shows, in Markdown."""
        figures = self.content["figures"]
        if figures is None:
            return f"Not measured yet: `{self.command}`.\n"
        if self.lines:
            shown = [line.format(**figures) for line in self.lines]
        else:
            rows = [figures["columns"], ["---"] * len(figures["columns"]), *figures["rows"]]
            shown = [f"| {' | '.join(row)} |" for row in rows]
            shown[1] = shown[1].replace(" ", "")
        told = f"(`{self.command}`, {self.when}.)"
        return "\n".join([*map(wrapped, shown), "", wrapped(told), ""])

    def file_of(self, player: str) -> str:
        """Returns the digest of the file of a player's evaluator, as it was measured."""
        assert self.strength is not None
        stem = f"data/{self.strength.game}/{evaluator_of(player)}."
        digests = self.content["digests"].items()
        return next((value for name, value in digests if name.startswith(stem)), "by hand")


def wrapped(text: str, indent: str = "") -> str:
    """Returns a paragraph in lines that are short enough for a page; a row of a table is one."""
    return text if text.startswith("|") else "\n".join(
        textwrap.wrap(
            text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    )  # fmt: skip


@functools.cache
def digest(pattern: str) -> str:
    """Returns a digest of the files of a pattern; of Python without docstrings and messages."""
    found = hashlib.sha256()
    for path in sorted(ROOT.glob(pattern)):
        content = path.read_bytes()
        found.update(code(content) if path.suffix == ".py" else content)
    return found.hexdigest()[:DIGITS]


def code(source: bytes) -> bytes:
    """Returns Python's statements without docstrings, comments and messages of errors."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            node.exc = None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [one for one in node.body if not _is_text(one)]
    return ast.dump(tree).encode()


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def main(arguments: list[str] | None = None) -> int:
    """Run the measurements; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="measurements, or games")
    parser.add_argument("--entered", action="store_true", help="the figures of NAME were entered")
    options = parser.parse_args(arguments)
    return exit_status(PROGRAM, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    chosen = []
    for name in options.names:
        some = [one for one in records() if name in (one.name, one.strength and one.strength.game)]
        if not some:
            names = ", ".join(one.name for one in records())
            raise ValueError(f"NAME: expected one of {names}, found {name!r}")
        chosen += some
    for record in chosen:
        measure(record, entered=options.entered)
    for path in pages():
        write_atomically(path, with_figures(path.read_text("utf-8")))
    for record in records() if not chosen else ():
        if record.changed:
            print(f"{record.name}: {', '.join(record.changed)} changed; {record.command}")
    return 0


def measure(record: Record, *, entered: bool) -> None:
    """Run the command of a measurement, and write its file.

    entered: the figures have been entered by a person, so the command does not run.
    """
    content = record.content
    words = shlex.split(record.command)
    words = [
        sys.executable,
        *(words[1:] if words[0] == "python" else ["-m", "plysmith", *words[1:]]),
    ]
    printed = record.strength is not None or content.get("json", False)
    if not entered and not printed:
        print(record.command, flush=True)
        subprocess.run(words, cwd=ROOT, check=True)
        print(f"Enter the figures in docs/figures/{record.name}.json, then: {PROGRAM} --entered"
              f" {record.name}")  # fmt: skip
        return
    if not entered:
        print(record.command, flush=True)
        done = subprocess.run(
            [*words, "--json"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        )
        content["figures"] = json.loads(done.stdout.splitlines()[-1])
        content["figures"].pop("matches", None)  # no page shows the match of each pair
    head = ["git", "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    content["date"] = datetime.date.today().isoformat()
    content["commit"] = commit.stdout.strip()
    content["digests"] = {pattern: digest(pattern) for pattern in content["depends"]}
    write_atomically(FOLDER / f"{record.name}.json", f"{json.dumps(content, indent=1)}\n")


def records() -> list[Record]:
    """Returns all measurements in the order of their names."""
    paths = sorted(FOLDER.glob("*.json"))
    return [Record(path.stem, json.loads(path.read_text("utf-8"))) for path in paths]


def pages() -> list[Path]:
    """Returns the pages that show figures."""
    return [ROOT / "README.md", DATA / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def with_figures(text: str) -> str:
    """Returns a page with its figures and cards as the measurements say."""
    every = {record.name: record for record in records()}

    def shown(match: re.Match[str]) -> str:
        kind, name = match[2], match[3]
        body = every[name].text() if kind == "figure" else table(name, list(every.values()))
        return f"{match[1]}\n{body.strip()}\n\n{match[4]}"

    def card(match: re.Match[str]) -> str:
        return f"{match[1]}{strength(match[2], list(every.values())) or match[3]}"

    return SHOWN.sub(shown, CARD.sub(card, text) if "**Strength:**" in text else text)


def strength(name: str, every: list[Record]) -> str:
    """Returns the strength in a card, with a newline; empty if it was not measured.

    name: the file, as the card's title has it.
    """
    game, _, own = name.partition("/")
    said = []
    for record in every:
        mark = f" ({record.mark})" if record.mark else ""
        if name in record.cards:
            said.append(record.cards[name].format(**record.content["figures"]) + mark)
        if record.strength is None or record.strength.game != game:
            continue
        for player, text, basis in record.rows():
            if evaluator_of(player) == own:
                title = f"`{player}` " * ("@" in player)
                said.append(f"{title}{text} ({record.strength.against}; {basis}){mark}")
    lines = textwrap.wrap(f"- **Strength:** {'; '.join(said)}.", 100, subsequent_indent="  ")
    return f"{chr(10).join(lines)}\n".removeprefix("- **Strength:** ") if said else ""


def table(game: str, every: list[Record]) -> str:
    """Returns the table of the strengths of a game, in Markdown.

    game: a game, or `HEADLINE` for the strongest of each measurement of every game.
    """
    if game == SCALE:
        return scale(every)
    lines, commands = [], []
    for record in every:
        about = record.strength
        if about is None or game not in (about.game, HEADLINE):
            continue
        rows = [*record.rows()]
        if game == HEADLINE:
            if record.file_of(rows[0][0]) == "by hand":  # nothing that was learned
                continue
            rows = rows[:1]
        commands.append(" \\\n".join(textwrap.wrap(
            record.command, 116, subsequent_indent="    ",
            break_long_words=False, break_on_hyphens=False,
        )) + "\n")  # fmt: skip
        for player, text, basis in rows:
            measured = f"{about.against}; {basis}"
            if game == HEADLINE:
                title = about.game.replace("_", " ").title()
                mark = f"; {record.mark}" * bool(record.mark)
                lines.append(f"| {title}: `{player}` | {text} | {measured}{mark} |\n")
            else:
                file = record.file_of(player)
                lines.append(f"| `{player}` | {text} | {measured} | {file} | {record.when} |\n")
    if game == HEADLINE:
        return f"\n| | strength | measured |\n|---|---|---|\n{''.join(lines)}\n"
    head = "| player | strength | measured | file | when |\n|---|---|---|---|---|\n"
    return f"\n{head}{''.join(lines)}\n```sh\n{''.join(commands)}```\n\n"


def scale(every: list[Record]) -> str:
    """Returns the table by which people choose: one figure an evaluator, the strongest first."""
    games: dict[str, dict[str, tuple[float, str]]] = {}
    for record in every:
        about = record.strength
        if about is None or not about.scale:
            continue
        of_game = games.setdefault(about.game, {})
        mark = f", {record.mark}" * bool(record.mark)
        for player, text, _ in record.rows():
            figure = FIGURE.search(text)
            if figure is not None:
                words = f"{about.scale} {figure[3]}{mark}"
                number = f"{figure[1]}{figure[2] or ''}"
                of_game.setdefault(evaluator_of(player), (float(figure[1]), f"{number} | {words}"))
        if about.zero:
            name, number, why = about.zero
            words = f"{about.scale}, {why}"
            of_game.setdefault(name, (float(number.split()[0]), f"{number} | {words}"))
    lines = []
    for game, of_game in games.items():
        ranked = sorted(of_game.items(), key=lambda item: -item[1][0])
        for place, (name, (_, text)) in enumerate(ranked):
            first = ", the strongest" * (place == 0 and len(ranked) > 1)
            lines.append(f"| `{game}/{name}` | {text}{first} |\n")
    return f"\n| evaluator | figure | what it says |\n|---|---|---|\n{''.join(lines)}\n"


if __name__ == "__main__":
    sys.exit(main())
