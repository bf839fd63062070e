"""The commands `python -m play book`: build and show opening books."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from games.counted import counted
from games.lock import alone
from play.commands.options import add_game, check_writable, load_game
from play.players.grammar import describe_players, split

if TYPE_CHECKING:
    from search.lookups.opening_book import OpeningBook

__all__ = ["add_book_commands"]


def add_book_commands(commands: Any) -> None:
    """Add `book` with its commands to the subcommands of a parser."""
    book = commands.add_parser("book", help="opening books: build, info, show")
    books = book.add_subparsers(dest="book_command", required=True)

    def command(name: str, about: str, run: Callable[[argparse.Namespace], int]) -> Any:
        one = books.add_parser(name, help=about)
        add_game(one)
        one.set_defaults(run=run)
        return one

    build = command("build", "make a book, or continue one", _build)
    build.add_argument("player", help="the player that searches, as described below")
    build.add_argument("book", type=Path, help="file of the book")
    add = build.add_argument
    add(
        "--expansions",
        type=int,
        default=1000,
        metavar="N",
        help="expand until the book has at least N expanded positions (default 1000)",
    )
    add("--depth", type=int, metavar="PLIES", help="search depth for each position")
    add("--nodes", type=int, metavar="N", help="nodes for each (default 100000 without a limit)")
    add("--seconds", type=float, metavar="S", help="time for each; the book is not reproducible")
    add("--weight", type=float, default=10.0, help="plies that a loss of 1 costs (default 10)")
    add("--plies", type=int, default=3, help="expand all positions up to this ply (default 3)")
    add("--batch", type=int, default=8, metavar="N", help="leaves chosen at a time (default 8)")
    add("--root", metavar="POSITION", help="position as text (default: the start of the game)")
    add("--threads", type=int, default=2, metavar="N", help="searches at a time (default 2)")
    add("--every", type=float, default=30.0, metavar="S", help="save every S seconds (default 30)")
    add("--quiet", action="store_true", help="no progress bar")
    describe_players(build, others=False)

    info = command("info", "the contents of a book in figures", _info)
    info.add_argument("book", type=Path, help="file of the book")
    show = command("show", "a position of the book and its moves", _show)
    show.add_argument("book", type=Path, help="file of the book")
    show.add_argument("moves", nargs="*", help="moves that lead to the position")
    show.add_argument("--position", help="first position as text (default: the root of the book)")
    for one in (info, show):
        one.add_argument("--json", action="store_true", help="end with a line of JSON")


def _build(options: argparse.Namespace) -> int:
    """Grow a book; LockedError says which process does, if another one grows it already."""
    check_writable("BOOK", options.book)
    with alone(options.book.with_name(f".{options.book.name}.lock"), str(options.book)):
        return _grow(options)


def _grow(options: argparse.Namespace) -> int:
    from play.book_building import LeafSearch, build_book
    from play.players.limits import Limits
    from play.players.parse import parse_player
    from search.lookups.opening_book import BookSettings, OpeningBook

    game = _game(options)
    if options.expansions < 1:
        raise ValueError(f"--expansions: expected at least 1, found {options.expansions}")
    given = (options.depth, options.nodes, options.seconds)
    limits = Limits(*given) if any(x is not None for x in given) else Limits(nodes=100_000)
    search = LeafSearch(game, parse_player(game, options.player), limits)
    settings = BookSettings(
        options.player,
        search.mark(),
        limits.depth,
        limits.nodes,
        limits.seconds,
        options.weight,
        options.plies,
        options.batch,
        search.techniques,
    )
    root = game.parse_position(options.root) if options.root is not None else None
    book = OpeningBook(game, settings, root=root)
    if options.book.exists():
        begun = OpeningBook.load(game, options.book)
        _check_same(options.book, book, begun)
        book = begun
    left = max(options.expansions - len(book.expanded), 0)
    with _growing(options, book, left) as (workers, progress):
        done = build_book(book, search, left, workers=workers, progress=progress)
    more = "" if any(map(book.is_open, range(len(book)))) else "; no leaf is open"
    print(
        f"{options.book}: {counted(done, 'position')} expanded, {len(book.expanded)} in all, of"
        f" {len(book)}; root {_valuer(book)(book.positions[0], book.backed_up[0])}{more}"
    )
    return 0


def _check_same(path: Path, asked: OpeningBook, found: OpeningBook) -> None:
    """Raises ValueError if a book has other settings than the ones asked for.

    Evaluators are compared by their values (`mark`) and not by their names.
    """
    searches = [
        "".join(f"+{part}" for part in split(one.player).lookups) + f"@{one.techniques}"
        for one in (found.settings, asked.settings)
    ]
    if searches[0] != searches[1]:
        raise ValueError(
            f"expected a player who searches like {found.settings.player!r}, with {searches[0]}"
            f" behind the evaluator, found {asked.settings.player!r}, with {searches[1]}"
        )
    wanted, there = asdict(asked.settings), asdict(found.settings)
    wanted.pop("player"), there.pop("player")
    for name, value in {**wanted, "root": asked.positions[0]}.items():
        other = {**there, "root": found.positions[0]}[name]
        if value != other:
            raise ValueError(
                f"{path}: expected a book with {name} {value} to go on with, found {name} {other};"
                " another file, or the same options"
            )


def _info(options: argparse.Namespace) -> int:
    from play.players.thinker import file_value

    book = _read(options)
    game, settings = book.game, book.settings
    limits = [(settings.depth, "plies"), (settings.nodes, "nodes"), (settings.seconds, "s")]
    searched = ", ".join(f"{value} {unit}" for value, unit in limits if value is not None)
    leaves = [i for i, after in enumerate(book.successors) if after is None]
    open_leaves = sum(map(book.is_open, leaves))
    depths = sorted(book.depths[i] for i in leaves if book.is_open(i))
    lengths = book.lengths()
    print(f"{options.book}: {options.book.stat().st_size} bytes, an opening book of {game.name}")
    print(
        f"{counted(len(book), 'position')}, of which expanded: {len(book.expanded)}; leaves:"
        f" {open_leaves} open, {len(leaves) - open_leaves} decided; plies from the root: at most"
        f" {max(lengths)}"
    )
    print(
        f"searched by {settings.player} (mark {settings.mark}), {searched} a position, depth"
        f" {depths[len(depths) // 2] if depths else '-'} (median)"
    )
    print(
        f"a loss of 1 costs {settings.weight:g} plies; complete up to ply {settings.plies};"
        f" {settings.batch} leaves at a time"
    )
    print(f"the root: {_valuer(book)(book.positions[0], book.backed_up[0])}")
    if options.json:
        figures = {
            "positions": len(book),
            "expanded": len(book.expanded),
            "open": open_leaves,
            "plies": max(lengths),
            "value": file_value(book.backed_up[0]),
            "settings": asdict(settings),
        }
        print(json.dumps(figures))
    return 0


def _show(options: argparse.Namespace) -> int:
    from play.players.thinker import file_value
    from search.lookups.opening_book import DECIDED

    book = _read(options)
    game = book.game
    position = book.positions[0]
    if options.position is not None:
        position = game.parse_position(options.position)
    for text in options.moves:
        position = game.play(position, game.parse_move(position, text))
    number = book.number(position)
    if number is None:
        raise ValueError(f"expected a position of the book, found {game.position_text(position)}")
    print(game.show(position))
    depth = book.backed_up_depths[number]
    text = _valuer(book)
    print(f"{text(position, book.backed_up[number])}, {_depth_text(depth, DECIDED)}")
    rows = []
    for move, value, after_depth in book.moves(position):
        line = [move, *book.line(game.play(position, move))]
        texts, here = [], position
        for played in line:
            texts.append(game.move_text(here, played))
            here = game.play(here, played)
        rows.append({"line": texts, "value": file_value(value), "depth": after_depth})
        more = " ..." if len(texts) > 12 else ""
        print(
            f"  {text(None, value):>8}  {_depth_text(after_depth, DECIDED):10}"
            f"  {' '.join(texts[:12])}{more}"
        )
    if not rows:
        print("  a leaf: its moves are not in the book")
    if options.json:
        print(
            json.dumps({"value": file_value(book.backed_up[number]), "depth": depth, "moves": rows})
        )
    return 0


def _valuer(book: OpeningBook) -> Callable[[Any, float], str]:
    """Returns a function that writes a value, with its chances if a position is given.

    Values are in the game's unit, and chances known, if the book was built by a named evaluator of
    the game that is still the same; other books show values as they hold them.
    """
    from games.values import value_text
    from play.players.thinker import chances_text
    from search import as_evaluator
    from search.evaluators.load import evaluator_names
    from search.evaluators.samples import value_mark

    name = split(book.settings.player).evaluator
    maker = as_evaluator(book.game, name) if name in evaluator_names(book.game) else None
    if maker is not None and value_mark(book.game, maker) != book.settings.mark:
        maker = None

    def text(position: Any, value: float) -> str:
        if maker is None:
            return value_text(value)
        chances = "" if position is None else chances_text(maker, position, value, None)
        return value_text(maker.in_units(value)) + f" ({chances})" * bool(chances)

    return text


def _depth_text(depth: int, decided: int) -> str:
    return "to the end" if depth >= decided else f"depth {depth}"


def _game(options: argparse.Namespace) -> Any:
    game = load_game(options)
    if game.dice:
        raise ValueError(f"opening book: expected a game without dice, found {game.name}")
    return game


def _read(options: argparse.Namespace) -> OpeningBook:
    from search.lookups.opening_book import OpeningBook

    return OpeningBook.load(_game(options), options.book)


@contextmanager
def _growing(
    options: argparse.Namespace, book: OpeningBook, total: int
) -> Iterator[tuple[Any, Callable[[int], None]]]:
    """Workers, and the function to call whenever the book has grown.

    The book is saved at intervals and at the end, also after an interruption, because it is then
    as it was after the last batch.
    """
    from tqdm import tqdm

    from games.values import value_text
    from play.workers import Workers

    if options.every < 0:
        raise ValueError(f"--every: expected at least 0 seconds, found {options.every}")
    saved = time.monotonic()
    with (
        Workers(jobs=options.threads) as workers,
        tqdm(total=total, unit=" positions", disable=options.quiet, dynamic_ncols=True) as bar,
    ):

        def progress(count: int) -> None:
            nonlocal saved
            bar.set_postfix_str(f"root {value_text(book.backed_up[0])}", refresh=False)
            bar.update(count)
            if time.monotonic() - saved >= options.every:
                book.save(options.book)
                saved = time.monotonic()

        try:
            yield workers, progress
        finally:
            if book.expanded:
                book.save(options.book)
