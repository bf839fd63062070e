"""Who thinks for people and other programs: an evaluator, its search, the limits of a move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from games.contract import DiceGame, Game
from play.players.grammar import split
from play.players.limits import Limits
from play.players.parse import parse_player
from search import Engine, Evaluator, Result, parse_techniques
from search.evaluators.shipped import find_file

__all__ = ["Thinker", "file_value", "limits_of", "usual_evaluator", "usual_limits", "value_text"]


class Thinker:
    """An evaluator with a search, to be asked one question at a time.

    name: any player with an evaluator, as `play.players.grammar.GRAMMAR` describes it.
    limits: of a move, unless a question brings its own or the player has limits of its own.
    techniques: of searches without dice where the name says none; "selective" looks deeper, "exact"
        gives the values of plain minimax.
    seed: decides among moves of a book.

    Raises ValueError for a player without an evaluator, such as `random`, and what `parse_player`
    raises.
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
        limits.check(game)
        player = parse_player(game, name)
        if player.evaluator is None:
            raise ValueError(f"expected an evaluator to play with, found {name!r}")
        parts = split(name)
        options: dict[str, Any] = {"table_mib": table_mib, **player.options}
        if not isinstance(game, DiceGame) and "techniques" not in options:
            path = find_file(parts.source, game.name)
            options["techniques"] = parse_techniques(techniques, path)
        self.game = game
        self.name = parts.short
        self.evaluator: Evaluator = player.evaluator
        self.limits = player.within(limits)
        self.engine = Engine(game, self.evaluator, lookup=player.lookup, **options)
        self._book = player.book
        self._random = np.random.default_rng(seed)

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


def usual_evaluator(game: Game) -> str:
    """The evaluator that people play against where nobody names one.

    It is the shipped evaluator of the game, else the last of its usual opponents that is a
    hand-crafted evaluator, else any of these. Raises ValueError for a game without evaluators.
    """
    usual = [name for name in reversed(game.opponents) if name in game.evaluators]
    name = game.shipped or next(iter([*usual, *game.evaluators]), "")
    if not name:
        raise ValueError(f"expected the name of an evaluator, for {game.name} has none of its own")
    return name


def usual_limits(game: Game) -> dict[str, Any]:
    """What people and external engines wait for: static values with dice, a second without."""
    return {"depth": 0} if isinstance(game, DiceGame) else {"seconds": 1.0}


def limits_of(options: Any, **default: Any) -> Limits:
    """The limits that a command line gives by --depth, --nodes and --seconds, or the default."""
    given = {name: getattr(options, name) for name in ("depth", "nodes", "seconds")}
    if all(value is None for value in given.values()):
        given = default
    return Limits(**given)


def file_value(value: float) -> float:
    """A value as a number for files: a game won is 1000 less its plies to the end; lost, -1000."""
    from search import PROVEN, WIN

    if abs(value) <= PROVEN:
        return value
    plies = WIN - abs(value)
    return 1000.0 - plies if value > 0 else plies - 1000.0


def value_text(value: float) -> str:
    """A value as people read it: `won in 5 plies`, `lost in 4 plies`, or a number with its sign."""
    from search import PROVEN, WIN

    if abs(value) > PROVEN:
        plies = int(WIN - abs(value))
        end = "won" if value > 0 else "lost"
        return f"{end} in {plies} {'ply' if plies == 1 else 'plies'}" if plies else end
    if abs(value) >= 1000:
        return f"{value:+.0f}"
    return f"{value:+.3f}"
