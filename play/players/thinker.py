"""Who thinks for people and other programs: an evaluator, its search, the limits of a move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import DiceGame, Game
from play.players.book_choice import BookChoice
from play.players.dice_player import parse_dice_player
from play.players.limits import Limits
from play.players.player import parse_player
from search import Engine, Evaluator, Result, parse_techniques
from search.evaluators.shipped import find_file

__all__ = ["SHIPPED", "Thinker", "file_value", "limits_of", "value_text"]

#: The evaluators to play against where nobody names one.
SHIPPED = {"checkers": "quantised", "backgammon": "backups"}


class Thinker:
    """An evaluator with a search, to be asked one question at a time.

    `name` is anything that a match takes as a player with an evaluator: a hand-crafted one, a file,
    with `+MEMORY`, `+endgame`, `+book:FILE` or `@TECHNIQUES`, and in games with dice `+bearoff`,
    `@PLIES` and `@PLIES:FILTERS`.
    `limits` hold for a move unless a question brings its own; in games with dice the player's own
    `@PLIES` goes before them. techniques: of searches without dice, where the name says none;
    "selective" looks deeper, "exact" gives the values of plain minimax. seed: decides among moves
    of a book.

    Raises ValueError for a player without an evaluator, such as `random`, and what
    `parse_player` and `parse_dice_player` raise.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        limits: Limits,
        *,
        table_mib: float = 16.0,
        techniques: str = "selective",
        seed: int = 0,
    ) -> None:
        self.game = game
        who, at, how = name.partition("@")
        self.name = "+".join(Path(part).name for part in who.split("+")) + at + how
        player: Any
        depth = None
        options: dict[str, Any] = {"table_mib": table_mib}
        self._book: BookChoice | None = None
        self._random = np.random.default_rng(seed)
        if isinstance(game, DiceGame):
            player = parse_dice_player(game, name)
            depth = player.depth
        else:
            player = parse_player(game, name)
            if "techniques" not in player.options:
                options["techniques"] = parse_techniques(
                    techniques, find_file(who.split("+")[0], game.name)
                )
            self._book = player.book
            if limits.depth == 0:
                raise ValueError("depth: expected at least 1 ply in a game without dice, found 0")
        if player.evaluator is None:
            raise ValueError(f"expected an evaluator to play with, found {name!r}")
        self.evaluator: Evaluator = player.evaluator
        self.limits = Limits(depth) if depth is not None else limits
        options |= player.options
        self.engine = Engine(game, self.evaluator, lookup=player.lookup, **options)

    def think(
        self,
        position: Any,
        *,
        roll: int | None = None,
        history: Sequence[Any] = (),
        limits: Limits | None = None,
        all_moves: bool = False,
    ) -> Result:
        """What `Engine.search` finds, or with `all_moves` what `Engine.analyse` does.

        A move that the player's book has is not searched for: `depth` is then the book's.
        """
        chosen = None
        if self._book is not None and not all_moves:
            chosen = self._book.choose(position, self._random)
        if chosen is not None:
            move, value, depth = chosen
            return Result(move, value, (move,), depth + 1, 0, 0.0)
        asked = limits or self.limits
        ask = self.engine.analyse if all_moves else self.engine.search
        return ask(
            position,
            depth=asked.depth,
            nodes=asked.nodes,
            seconds=asked.seconds,
            history=history,
            roll=roll,
        )

    def stop(self) -> None:
        """End the search that is under way; callable from any thread."""
        self.engine.stop()

    def forget(self) -> None:
        """Forget what earlier searches left: a new game."""
        self.engine.clear()


def limits_of(options: Any, **default: Any) -> Limits:
    """The limits that a command line gives by --depth, --nodes and --seconds, or the default."""
    given = {name: getattr(options, name) for name in ("depth", "nodes", "seconds")}
    if all(value is None for value in given.values()):
        given = default
    return Limits(**given)


def file_value(value: float) -> float:
    """A value as a number for files: a game won is 1000 less its plies to the end; lost, -1000."""
    from search import WIN

    if abs(value) <= WIN / 2:
        return value
    plies = WIN - abs(value)
    return 1000.0 - plies if value > 0 else plies - 1000.0


def value_text(value: float) -> str:
    """A value as people read it: `won in 5 plies`, `lost in 4 plies`, or a number with its sign."""
    from search import WIN

    if abs(value) > WIN / 2:
        plies = int(WIN - abs(value))
        end = "won" if value > 0 else "lost"
        return f"{end} in {plies} {'ply' if plies == 1 else 'plies'}" if plies else end
    if abs(value) >= 1000:
        return f"{value:+.0f}"
    return f"{value:+.3f}"
