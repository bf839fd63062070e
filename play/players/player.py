"""Players: an evaluator, a search and a limit, or random moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Game
from games.record import GameRecord
from play.players.book_choice import BookChoice, parse_book
from play.players.hub_player import HubProgram, HubSeat, as_hub_program
from play.players.limits import Limits
from search import Engine, Evaluator, Lookup, as_evaluator, parse_techniques
from search.alphabeta.search import MOST_THREADS
from search.evaluators.shipped import find_file
from search.lookups.database import DatabaseLookup
from search.lookups.lookup import CombinedLookup
from search.lookups.opening_lookup import BookLookup
from search.lookups.rote import RoteMemory

__all__ = ["Player", "parse_player"]

RANDOM = "random"
BOOK = "book:"


@dataclass(frozen=True)
class Player:
    """Who plays: an evaluator (None plays at random), its lookup, and options of its `Engine`.

    Where there is a book, its moves are played as long as it has any. Where there is a program, it
    plays, and nothing else is asked.
    """

    name: str
    evaluator: Evaluator | None
    lookup: Lookup | None = None
    options: dict[str, Any] = field(default_factory=dict)
    book: BookChoice | None = None
    program: HubProgram | None = None

    def seat(self, game: Game, limits: Limits, *, table_mib: float = 4.0) -> Seat | HubSeat:
        """The player ready to play games, one at a time."""
        if self.program is not None:
            return self.program(game, limits)
        return Seat(self, game, limits, table_mib)


class Seat:
    """A player with the search that it plays with; one for each thread."""

    #: of a program of others, what it took for each move
    seconds: Sequence[float] = ()

    def __init__(self, player: Player, game: Game, limits: Limits, table_mib: float) -> None:
        self.player = player
        self.limits = limits
        self._game = game
        self._table_mib = table_mib
        #: what searches for the player; None for one who plays at random
        self.engine = self._new_engine() if player.evaluator is not None else None
        self._random = np.random.default_rng(0)

    def _new_engine(self, **changed: Any) -> Engine:
        player = self.player
        options = {"table_mib": self._table_mib, **player.options, **changed}
        return Engine(self._game, player.evaluator, lookup=player.lookup, **options)

    def begin(self, seed: int) -> None:
        """Forget the last game; the seed decides what is left to chance in the next."""
        self._random = np.random.default_rng(seed)
        if self.player.options.get("seed") is not None:
            # An engine's own order of moves goes on from search to search.
            self.engine = self._new_engine(seed=(self.player.options["seed"], seed))
        elif self.engine is not None:
            self.engine.clear()

    def stop(self) -> None:
        """End the search that is under way."""
        if self.engine is not None:
            self.engine.stop()

    def move(self, record: GameRecord) -> None:
        """Play one move of the game."""
        if self.engine is None:
            moves = self._game.legal_moves(record.position)
            record.play(moves[int(self._random.integers(len(moves)))])
            return
        book = self.player.book
        chosen = book.choose(record.position, self._random) if book is not None else None
        if chosen is not None:
            move, value, depth = chosen
            record.play(move, value=value, depth=depth + 1)
            return
        result = self.engine.search(
            record.position,
            depth=self.limits.depth,
            nodes=self.limits.nodes,
            seconds=self.limits.seconds,
            history=record.history,
        )
        record.play(result.move, value=result.value, depth=result.depth)


def parse_player(game: Game, text: str) -> Player:
    """The player that a text names: `random`, an evaluator by its name, or a file.

    In checkers `hub:COMMAND` is the engine that the command starts (`play.players.hub_player`).
    `EVALUATOR+MEMORY` adds a rote memory (a file) to an evaluator, in checkers `EVALUATOR+endgame`
    or `EVALUATOR+endgame5` the endgame database of at most 4 or so many pieces, and
    `EVALUATOR+book:FILE` an opening book, whose moves are played too: by chance among those at most
    MARGIN worse than the best with `+book:FILE:MARGIN`, by default half of what the book takes for
    a ply. Of several such parts the search asks the first that knows a position. `@TECHNIQUES`
    behind all that says how it is searched with (`search.parse_techniques`), such as
    `classic@selective,-malus`; `threads=2` among them lets so many share the work. Raises
    ValueError or OSError with what was expected and what was found.
    """
    program = as_hub_program(game, text)
    if program is not None:
        return Player(text, None, program=program)
    who, at, techniques = text.partition("@")
    if who == RANDOM:
        if at:
            raise ValueError(f"expected no techniques for {RANDOM}, found {text!r}")
        return Player(RANDOM, None)
    evaluator, *names = who.split("+")
    found = as_evaluator(game, evaluator)
    options = _search_options(techniques, find_file(evaluator, game.name)) if at else {}
    if not all(names):
        raise ValueError(f"expected EVALUATOR+MEMORY, a file after the +, found {text!r}")
    lookups: list[Lookup] = []
    book = None
    for name in names:
        if name.startswith(BOOK):
            if book is not None:
                raise ValueError(f"expected one opening book at most, found {text!r}")
            book = parse_book(game, name.removeprefix(BOOK))
            book.book.check_evaluator(found)
            lookups.append(BookLookup(book.book))
        else:
            lookups.append(_lookup(game, name))
    lookup = CombinedLookup(*lookups) if len(lookups) > 1 else next(iter(lookups), None)
    return Player(text, found, lookup, options, book)


def _search_options(text: str, evaluator: Path) -> dict[str, Any]:
    """The options of an engine that follow the `@` of a player's text."""
    options: dict[str, Any] = {}
    techniques = []
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name != "threads":
            techniques.append(part)
        elif number.isdecimal() and 1 <= int(number) <= MOST_THREADS:
            options["threads"] = int(number)
        else:
            raise ValueError(f"threads: expected 1 to {MOST_THREADS}, found {part[:40]!r}")
    if techniques:
        options["techniques"] = parse_techniques(",".join(techniques), evaluator)
    return options


def _lookup(game: Game, name: str) -> Lookup:
    """The database of the game that a player's text names, or the rote memory in a file."""
    if name in game.lookups or (name.isidentifier() and not Path(name).exists()):
        return DatabaseLookup(game, name)
    return RoteMemory.load(game, name)
