"""`Thinker`: an evaluator and its search, for people and for other programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from games.contract import Game, given
from play.players.grammar import split
from play.players.limits import Limits
from play.players.opponents import Opponents, reference
from play.players.parse import RANDOM, parse_player
from search import PROVEN, WIN, Engine, Evaluator, Result, as_evaluator
from search.evaluators.calibration import Chances
from search.sizes import MOST_THREADS
from search.textbook.max_n import for_every_player

__all__ = [
    "RandomThinker",
    "Thinker",
    "chances_of",
    "chances_text",
    "file_value",
    "judged_play_text",
    "limits_of",
    "play_text",
    "usual_evaluator",
    "usual_limits",
    "values_of_all",
]

#: Number of threads that share a search whose result does not depend on it, in one process.
CORES = min(os.cpu_count() or 1, MOST_THREADS)


class Thinker:
    """An evaluator with a search, to be asked one question at a time.

    name: any player with an evaluator, in the grammar of `play.players.grammar.GRAMMAR`.
    limits: limits of a move, unless the question or the player has limits of its own.
    table_mib: size of the transposition table.
    techniques: as in `parse_player`; "selective" looks deeper, "exact" gives the values of plain
        minimax.
    filters: move filters of searches with dice, if the name has none.
    threads: number of threads that share a search with dice, if the name has none.

    Raises ValueError for a player without an evaluator, such as `random`, and as `parse_player`.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        limits: Limits,
        *,
        table_mib: float = 16.0,
        techniques: str = "selective",
        filters: str | None = None,
        threads: int = 1,
    ) -> None:
        limits.check(game)
        player = parse_player(game, name, techniques=techniques)
        if player.evaluator is None:
            raise ValueError(f"expected an evaluator to play with, found {name!r}")
        options: dict[str, Any] = {"table_mib": table_mib, **player.options}
        if game.dice:
            options = {"filters": filters, "threads": threads} | options
        self.game = game
        self.name = split(name).short
        self.evaluator: Evaluator = player.evaluator
        self.limits = player.within(limits)
        self.lookup = player.lookup
        self.engine = Engine(game, self.evaluator, lookup=self.lookup, **options)

    def think(
        self,
        position: Any,
        *,
        roll: int | None = None,
        history: Sequence[Any] = (),
        limits: Limits | None = None,
        all_moves: bool = False,
    ) -> Result:
        """Returns the result of `Engine.search`, or with `all_moves` of `Engine.analyse`."""
        ask = self.engine.analyse if all_moves else self.engine.search
        return ask(position, history=history, roll=roll, **(limits or self.limits).options)

    def decide(self, situation: Any, *, limits: Limits | None = None) -> Any:
        """Returns the decision about the cube in a situation, as `Engine.cube` does."""
        return self.engine.cube(situation, **(limits or self.limits).options)

    def stop(self) -> None:
        """End the search that is under way; callable from any thread."""
        self.engine.stop()

    def forget(self) -> None:
        """Clear the tables of earlier searches, for a new game."""
        self.engine.clear()


class RandomThinker(Thinker):
    """A player of random moves for people to play against; it values every position 0.

    seed: decides the moves; None for others each time.
    """

    def __init__(self, game: Game, limits: Limits, seed: int | None = None) -> None:
        self.game, self.name, self.limits, self.lookup = game, RANDOM, limits, None
        self.evaluator = as_evaluator(game, None)
        self.engine = Engine(game, self.evaluator)
        self._random = np.random.default_rng(seed)

    def think(self, position: Any, *, roll: int | None = None, **options: Any) -> Result:
        """Returns a random legal move, without a search."""
        moves = self.game.legal_moves(position, *given(roll))
        move = moves[int(self._random.integers(len(moves)))]
        return Result(move, 0.0, (move,), 0, 0, 0.0, position=position)


def usual_evaluator(game: Game) -> str:
    """Returns the name of the evaluator that people play against if they name none.

    It is the shipped evaluator of the game if there is one, else the one of
    `play.players.opponents.reference`. Raises ValueError if the game has no evaluators.
    """
    name = Opponents.of(game).shipped or reference(game)
    if not name:
        raise ValueError(
            f"{game.name} has no evaluator of its own: expected the name or the file of one"
        )
    return name


def usual_limits(game: Game) -> dict[str, Any]:
    """Returns the default limits of interactive play: static values with dice, else 1 s."""
    return {"depth": 0} if game.dice else {"seconds": 1.0}


def limits_of(options: Any, **default: Any) -> Limits:
    """Returns the limits by --depth, --nodes and --seconds of a command line, or the default."""
    given = {name: getattr(options, name) for name in ("depth", "nodes", "seconds")}
    if all(value is None for value in given.values()):
        given = default
    return Limits(**given)


def chances_of(
    evaluator: Evaluator,
    position: Any,
    value: float,
    nodes: int | None,
    outcomes: Sequence[float] | None = None,
) -> Chances | None:
    """Returns the chances of the side to move, after a search; None if they are not known.

    position: the position that was searched.
    value: its value, or that of a move there.
    nodes: positions that were searched; None if that is not known.
    outcomes: the probabilities of the game's outcomes with that value; None for none.
    """
    if outcomes is not None:
        return Chances.of_win(outcomes[0])
    return evaluator.chances(position, value, nodes)


def values_of_all(game: Game, evaluator: Evaluator, position: Any, side: int) -> tuple[float, ...]:
    """Returns the static values of a position for all sides, side 0 first.

    game: a game for more than two players.
    side: the side to move.

    As in max^n, those of a game whose outcomes add up to a constant are moved to add up to it. A
    win is WIN.
    """
    outcomes = game.outcome_vector(position)
    if outcomes is None:
        values = for_every_player(game, evaluator)(position)
        if game.constant_sum is not None:
            beyond = (sum(values) - game.constant_sum) / len(values)
            values = tuple(value - beyond for value in values)
    else:
        values = tuple(WIN * np.sign(one) for one in outcomes) if game.wins else outcomes
    first = -side % game.players
    return (*values[first:], *values[:first])


def chances_text(
    evaluator: Evaluator,
    position: Any,
    value: float,
    nodes: int | None,
    outcomes: Sequence[float] | None = None,
) -> str:
    """Returns the chances behind a value, and for what play they hold; empty for a proven one.

    It is also empty if they are not known.

    The parameters are those of `chances_of`. With `outcomes` these are named one by one.
    """
    if outcomes is not None and evaluator.game.outcomes is not None:
        named = zip(evaluator.game.outcomes.names, outcomes, strict=True)
        return ", ".join(f"{name} {100 * share:.1f} %" for name, share in named)
    chances = None if abs(value) > PROVEN else evaluator.chances(position, value, nodes)
    if chances is None:
        return ""
    return f"{chances.text} {play_text(evaluator, nodes)}".strip()


def play_text(evaluator: Evaluator, nodes: int | None) -> str:
    """Returns for what play the chances after a search of that size hold; empty if not known."""
    return "" if evaluator.calibration is None else evaluator.calibration.play_text(nodes)


def judged_play_text(evaluator: Evaluator) -> str:
    """Returns for what play the chances hold by which moves are judged; empty if not known.

    It is also empty where moves are judged by points.
    """
    calibration = evaluator.calibration
    if calibration is None or evaluator.gives_outcomes or not evaluator.game.wins:
        return ""
    if calibration.terms:
        return "if both search as many positions for a move as were searched to judge it"
    return calibration.play_text(None)


def file_value(value: float) -> float:
    """Returns a value as a number for files.

    A win is 1000 minus the plies to the end of the game, a loss -1000 plus them.
    """
    if abs(value) <= PROVEN:
        return value
    plies = WIN - abs(value)
    return 1000.0 - plies if value > 0 else plies - 1000.0
