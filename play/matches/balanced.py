"""Balanced openings: first moves after which neither side is far ahead, listed in a file.

Of the 216 positions after three moves of checkers, players call some lost; in tournaments they are
barred. A list of even ones keeps a match from being decided before it begins. If nearly all even
games are drawn, biased openings tell more: one side begins ahead, and each player has that side
once.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Game, line_texts
from games.errors import MoveError
from games.file_form import form_of
from games.record import GameRecord
from play.matches.openings import Openings, distinct_lines, lengthened
from play.players.opponents import Opponents
from play.players.player import Player
from programs.phrases import counted
from programs.whole_files import write_atomically
from search import Engine
from search.evaluators.files.shipped import DATA
from search.evaluators.samples import value_mark

__all__ = ["BalancedOpenings", "find_openings", "openings_file", "usual_openings"]

FORMAT = "plysmith-openings-1"
NOT_BOTH = "--openings: expected it without --plies, found both"
GAME_PLIES = 8  # of each game of a file of games
Moves = tuple[Any, ...]


class BalancedOpenings:
    """The openings of a file in a seeded order, the shortest first; no two end in one position.

    When they are used up, those of the greatest length follow with one more random ply, then with
    two, and so on; none follow positions.

    path: the file. It is made by `find_openings`, or holds games in the game's file format, or has
        lines, each with the first moves of a game, such as `9-13 21-17 5-9`, or a position.
    seed: decides the order.
    plies: number of plies of each game of a file of games. Default: 8.
    positions: whether openings are positions without the moves to them, as with dice.

    Attributes:
        plies: the length of the shortest.
        lines: all openings of the file.
        beyond, within: their least and greatest distance from even, in the game's unit.
        mark: digest of the file.
        judged: whether `find_openings` made the file.

    Raises ValueError if the file has no openings of the game, or the seed is below 0, and
    FileNotFoundError if it does not exist.
    """

    def __init__(
        self,
        game: Game,
        path: Any,
        *,
        seed: int = 0,
        plies: int | None = None,
        positions: bool = False,
    ) -> None:
        if seed < 0:
            raise ValueError(f"seed: expected at least 0, found {seed}")
        self.game = game
        self.seed = seed
        path = Path(path)
        content = path.read_bytes()
        self.mark = hashlib.sha256(content).hexdigest()[:12]
        self.judged = content.lstrip()[:1] == b"{"
        if not self.judged:
            self.within, self.beyond = math.inf, 0.0
            lines = _listed(game, path, content.decode("utf-8-sig", "replace"), plies)
            ends = {_end(game, line): line for line in lines}
            self.lines = [_from(game, end) for end in ends] if positions else list(ends.values())
            if not self.lines:
                raise ValueError(f"{path}: expected openings of {game.name}, found none")
            self.plies = min(map(len, self.lines))
            return
        if plies is not None:
            raise ValueError(NOT_BOTH)
        try:
            listed = json.loads(content)
            if (listed["format"], listed["game"]) != (FORMAT, game.name):
                raise ValueError(f"found {listed['format']!r:.60} of {listed['game']!r:.60}")
            self.within, self.beyond = float(listed["within"]), float(listed.get("beyond", 0.0))
            self.lines = [self._moves(text) for text in listed["openings"]]
            self.plies = min(map(len, self.lines))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = f"damaged in line {error.lineno}" if hasattr(error, "lineno") else error
            raise ValueError(
                f"{path}: expected openings of {game.name}, in the form {FORMAT}: {why}"
            ) from None

    def __str__(self) -> str:
        if not self.judged:
            return f"{counted(len(self.lines), 'opening')} of a list"
        return f"{'biased' if self.beyond else 'balanced'} openings of {self.plies} plies or more"

    def _moves(self, text: str) -> Moves:
        position = self.game.start()
        moves: Moves = ()
        for word in text.split():
            try:
                move = self.game.parse_move(position, word)
            except MoveError as error:
                raise ValueError(str(error)) from None
            position, moves = self.game.play(position, move), (*moves, move)
        return moves

    def __iter__(self) -> Iterator[Moves]:
        """Openings as tuples of moves from the start; ends if the game has no more."""
        random = np.random.default_rng(self.seed)
        by_length: dict[int, list[Moves]] = {}
        for moves in self.lines:
            by_length.setdefault(len(moves), []).append(moves)
        for length in sorted(by_length):
            group = by_length[length]
            for i in random.permutation(len(group)):
                yield group[i]
        if not any(isinstance(moves, FromPosition) for moves in self.lines):
            yield from lengthened(self.game, by_length[max(by_length)], random)


class FromPosition(tuple[Any, ...]):
    """An opening from another position than the start of its game."""

    start: Any


def _listed(game: Game, path: Path, text: str, plies: int | None) -> Iterator[Moves]:
    """Yields the openings of a file of games or of lines; raises ValueError that names the line."""
    if re.search(r'^\s*(\[\w+ "|Game [0-9])', text, re.MULTILINE) is not None:
        length = GAME_PLIES if plies is None else plies
        for one in form_of(game).read(text, game):
            record = one.record
            if record is None or (not record.moves and record.start == game.start()):
                continue
            if game.outcome(record.positions[: length + 1][-1]) is None:
                yield _from(game, record.start, record.moves[:length])
        return
    if plies is not None:
        raise ValueError(NOT_BOTH)
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"#.*|(?<![-x0-9])[0-9]+\.+", " ", line).split()
        if not words:
            continue
        record = GameRecord(game, repetitions=None, quiet_moves=None)
        try:
            for word in words:
                record.play_text(word)
        except MoveError as error:
            try:
                if record.moves:
                    raise error
                record = GameRecord(game, game.parse_position(line))
            except ValueError as other:
                expected = "a position, or without dice first moves"
                raise ValueError(f"{path}, line {number}: expected {expected}: {other}") from None
        if game.outcome(record.position) is not None:
            raise ValueError(f"{path}, line {number}: expected a game in progress, found its end")
        yield _from(game, record.start, record.moves)


def _from(game: Game, start: Any, moves: Sequence[Any] = ()) -> Moves:
    if start == game.start():
        return tuple(moves)
    opening = FromPosition(moves)
    opening.start = start
    return opening


def _end(game: Game, moves: Moves) -> Any:
    """Returns the position after an opening."""
    return functools.reduce(game.play, moves, getattr(moves, "start", game.start()))


def find_openings(
    game: Game,
    *judges: Player,
    lengths: tuple[int, ...] = (3, 4),
    nodes: int = 100_000,
    beyond: float = 0.0,
    within: float = 0.25,
    progress: Callable[[int], None] = lambda positions: None,
) -> dict[str, Any]:
    """Returns the content of a file of balanced openings, or of biased ones.

    judges: the players whose searches value the positions. All must find the same side ahead if
        `beyond` is above 0.
    lengths: lengths of the openings, in plies; all positions of these lengths are judged.
    nodes: limit of each search.
    beyond, within: the least and greatest distance from even, in the game's unit (men in checkers).
    progress: called with the number of positions just judged.

    Raises ValueError for a judge without an evaluator, and KeyboardInterrupt if stopped.
    """
    for judge in judges:
        if judge.evaluator is None:
            raise ValueError(f"expected a judge with an evaluator, found {judge.name}")
    engines = [Engine(game, one.evaluator, lookup=one.lookup, **one.options) for one in judges]

    def fits(position: Any) -> bool:
        signs = set()
        for engine in engines:
            engine.clear()
            result = engine.search(position, nodes=nodes).whole()
            value = engine.evaluator.in_units(result.value)
            signs.add(beyond > 0 and value > 0)
            if not beyond <= abs(value) <= within or len(signs) > 1:
                return False
        return True

    texts: list[str] = []
    for plies in lengths:
        for position, moves in positions_after(game, plies):
            if fits(position):
                texts.append(" ".join(line_texts(game, game.start(), moves)))
            progress(1)
    return {
        "format": FORMAT,
        "game": game.name,
        "judge": " ".join(judge.name for judge in judges),
        "mark": " ".join(value_mark(game, engine.evaluator) for engine in engines),
        "nodes": nodes,
        **({"beyond": beyond} if beyond else {}),
        "within": within,
        "openings": texts,
    }


def positions_after(game: Game, plies: int) -> list[tuple[Any, Moves]]:
    """Returns all distinct positions after `plies` plies; ValueError if they are too many."""
    lines = distinct_lines(game, plies)
    if lines is None:
        raise ValueError(f"--plies: expected fewer than {plies}, found too many positions")
    return lines


def save_openings(path: Any, content: dict[str, Any]) -> None:
    """Write the content of a file, a line for each opening; replaces the file atomically."""
    lines = json.dumps(content, indent=0)
    write_atomically(path, lines + "\n")


def usual_openings(game: Game, *, seed: int = 0) -> Openings | BalancedOpenings:
    """Returns the openings of a match by default: balanced ones if the game has a file of them."""
    if name := Opponents.of(game).openings:
        return BalancedOpenings(game, _shipped(game)[name], seed=seed)
    return Openings(game, seed=seed)


def openings_file(game: Game, name: str | Path) -> Path:
    """Returns the path of a file of openings; shipped ones have short names.

    Raises FileNotFoundError, which lists the shipped ones, if it does not exist.
    """
    shipped, path = _shipped(game), Path(name)
    path = path if path.exists() else shipped.get(str(name), path)
    if not path.exists():
        others = f" or one of {', '.join(sorted(shipped))}" if shipped else ""
        raise FileNotFoundError(f"{name}: expected a file of openings{others}, found none")
    return path


def _shipped(game: Game) -> dict[str, Path]:
    """Returns the files of openings that come with Plysmith, by their short names."""
    ending = ".openings.json"
    return {path.name.removesuffix(ending): path for path in DATA.glob(f"{game.name}/*{ending}")}
