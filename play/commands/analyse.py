"""The command `python -m play analyse`: files of games, judged by an evaluator."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from games.record import GameRecord
    from play.judging.analysis import Judged
    from play.players.thinker import Thinker

__all__ = ["add_analyse_options", "run_analyse"]


def add_analyse_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = command.add_argument
    add("file", type=Path, help="games: checkers as PDN (.pdn), backgammon as .mat")
    add("evaluator", nargs="?", help="who judges (default: the network in data/)")
    add("--output", type=Path, metavar="FILE", help="default: FILE-analysed.pdn, or .txt of a .mat")
    add("--overwrite", action="store_true", help="the output, even where it is the input")
    add("--depth", type=int, metavar="PLIES", help="of the judge (default 8, of .mat 0)")
    add("--nodes", type=int, metavar="N", help="positions a move")
    add("--seconds", type=float, metavar="S", help="time a move")
    add(
        "--least", type=float, metavar="V", help="losses worth a remark (default 0.1, of .mat 0.02)"
    )
    add("--black-first", action="store_true", help="results of the PDN have Black first")
    add("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=run_analyse)


def run_analyse(options: argparse.Namespace) -> int:
    """`analyse`: annotated games; the exit status is 1 where some were damaged."""
    import sys

    import games
    from games.whole_files import write_atomically
    from play.players.thinker import SHIPPED, Thinker, limits_of

    suffix = options.file.suffix.lower()
    if suffix not in (".pdn", ".mat"):
        raise ValueError(f"expected a file that ends with .pdn or .mat, found {options.file}")
    name = "checkers" if suffix == ".pdn" else "backgammon"
    output = options.output or options.file.with_name(
        f"{options.file.stem}-analysed{'.pdn' if suffix == '.pdn' else '.txt'}"
    )
    if output.exists() and not options.overwrite:
        same = " (which is the input)" * output.samefile(options.file)
        raise ValueError(f"expected a new file, found {output}{same}: --overwrite replaces it")
    least = options.least if options.least is not None else 0.1 if suffix == ".pdn" else 0.02
    if not least >= 0:
        raise ValueError(f"--least: expected 0 or more, found {least}")
    text = _text(options.file)
    thinker = Thinker(
        games.load(name),
        options.evaluator or SHIPPED[name],
        limits_of(options, depth=8 if suffix == ".pdn" else 0),
        techniques="exact",
    )
    read = list(_checkers(text, thinker, options) if suffix == ".pdn" else _matches(text, thinker))
    for number, game in enumerate(read, 1):
        for problem in game.problems:
            print(f"game {number}: {problem}", file=sys.stderr)
    good = [game for game in read if game.record is not None]
    if not good:
        raise ValueError(f"{options.file}: expected a game, found none that can be read")
    judged = _judge([game.record for game in good], thinker, options.quiet)
    lines: list[str] = []
    for game, found in zip(good, judged, strict=True):
        lines += _report(game, found, least)
    print(f"{thinker.name}, {thinker.limits}; values are for the side that moves\n")
    print("\n".join(lines))
    if suffix == ".pdn":
        content = "\n".join(
            _annotated(game, found, least, thinker)
            for game, found in zip(good, judged, strict=True)
        )
    else:
        content = f"{thinker.name}, {thinker.limits}\n\n" + "\n".join(lines) + "\n"
    write_atomically(output, content)
    print(f"Written to {output}.")
    damaged = len(read) - len(good)
    if damaged:
        print(f"{damaged} damaged game{'s' * (damaged > 1)} left out", file=sys.stderr)
    return 1 if damaged else 0


def _text(path: Path) -> str:
    """The text of a file; what is not UTF-8 is taken for Latin-1, as old files are."""
    if not path.is_file():
        raise FileNotFoundError(f"expected a file of games, found none at {path}")
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


class _Game:
    """A game that was read: who played, from where, and what is wrong with it."""

    def __init__(
        self, title: str, sides: tuple[str, str], record: Any, problems: list[str], tags: Any = None
    ) -> None:
        self.title = title
        self.sides = sides
        self.record: Any = record
        self.problems = problems
        self.tags: dict[str, str] = tags or {}


def _checkers(text: str, thinker: Thinker, options: argparse.Namespace) -> Iterator[_Game]:
    from games.checkers.pdn import read_games

    found = read_games(text, thinker.game, black_first=options.black_first)
    for number, one in enumerate(found, 1):
        black, white = (one.tags.get(name, "?") for name in ("Black", "White"))
        result = one.tags.get("Result", "*")
        title = f"Game {number}: Black {black}, White {white}, {result} (White first)"
        yield _Game(title, ("Black", "White"), one.record, one.problems, one.tags)


def _matches(text: str, thinker: Thinker) -> Iterator[_Game]:
    from games.backgammon.match_file import read_matches

    game: Any = thinker.game
    for match in read_matches(text, game):
        first = True
        for number, one in enumerate(match.games, 1):
            score = "" if one.record is None else "{} : {}".format(*one.record.score)
            names = f"X {match.players[0] or '?'}, O {match.players[1] or '?'}"
            problems = (match.problems if first else []) + one.problems
            yield _Game(f"Game {number}: {names}, {score}", ("X", "O"), one.record, problems)
            first = False
        if first and match.problems:
            yield _Game("", ("X", "O"), None, match.problems)


def _judge(records: list[GameRecord], thinker: Thinker, quiet: bool) -> list[list[Judged]]:
    from tqdm import tqdm

    from play.judging.analysis import judge_game

    total = sum(record.ply for record in records)
    with tqdm(total=total, unit=" moves", disable=quiet or None, dynamic_ncols=True) as bar:
        return [judge_game(record, thinker, progress=bar.update) for record in records]


def _report(game: _Game, judged: list[Judged], least: float) -> Iterator[str]:
    """The moves worth a remark, and a line for each side."""
    from play.judging.analysis import remark, summary
    from play.players.thinker import value_text

    yield game.title
    record = game.record
    first = record.game.to_move(record.start)
    for one in judged:
        said = remark(record, one, least)
        if said:
            roll = record.rolls[one.ply]
            dice = "" if roll is None else f" {record.game.roll_text(roll)}:"
            text = record.game.move_text(record.positions[one.ply], one.move)
            number = (one.ply + first) // 2 + 1
            side = game.sides[one.side]
            yield f"  {number:3}. {side}{dice} {text}  {value_text(one.value)}; {said}"
    for who, name in enumerate(game.sides):
        yield f"  {name}: {summary(judged, who)}"
    yield ""


def _annotated(game: _Game, judged: list[Judged], least: float, thinker: Thinker) -> str:
    from games.checkers.pdn import write_game
    from play.judging.analysis import judged_record

    tags = {name: _printable(value) for name, value in game.tags.items()}
    tags["Annotator"] = f"Plysmith with {_printable(thinker.name)}, {thinker.limits}"
    return write_game(judged_record(game.record, judged, least), tags)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)
