"""What all matches share: units of games that workers play, a journal, and ends before the end.

A unit is what statistics count: a pair of games, a block of pairs with the same dice, a pair with
the cube, or a round of more than two players. A ladder is a match of every group of players.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from itertools import combinations
from typing import Any, Protocol, TypeVar

from games.errors import MoveError
from play.match.journal import Journal
from play.players.player import Player
from play.workers import Workers

__all__ = ["AnyMatch", "check_players", "play_all", "play_units"]

#: How an external engine, or the machines on which games are played, may fail.
FAILURES = (MoveError, ChildProcessError, ConnectionError)


class Units(Protocol):
    """A match of any kind.

    title: the names of its players, by which a journal knows it.
    games: number of games counted.
    interrupted: whether Ctrl-C ended it.
    failure: error of the external engine that ended it, or empty.
    """

    interrupted: bool
    failure: str

    @property
    def title(self) -> str: ...

    @property
    def games(self) -> int: ...


AnyMatch = TypeVar("AnyMatch", bound=Units)
Task = TypeVar("Task")
Unit = TypeVar("Unit")


def play_units(
    match: Units,
    workers: Workers,
    play: Callable[[Task], Unit],
    tasks: Iterable[Task],
    count: Callable[[Unit], bool],
    journal: Journal | None,
    plain: Callable[[Unit], Any],
) -> bool:
    """Play the units of a match, and count each as it ends; returns whether to go on.

    play: plays the unit of a task.
    count: adds a unit to the match, and returns whether the match goes on.
    journal: where units are kept, each as its `plain` values; None for nowhere.

    Ctrl-C, and an external engine that fails, end the match with what was counted, and it says so.
    If no game was counted before, the engine's MoveError, ChildProcessError or ConnectionError is
    raised.
    """
    try:
        with closing(workers.map(play, tasks)) as played:
            for unit in played:
                if journal is not None:
                    journal.add(match.title, plain(unit))
                if not count(unit):
                    return False
    except KeyboardInterrupt:
        match.interrupted = True
    except FAILURES as error:
        match.failure = str(error)
        if not match.games:
            raise
    return not (match.interrupted or match.failure)


def play_all(
    players: Sequence[Player],
    seats: int,
    play: Callable[..., AnyMatch],
    empty: Callable[..., AnyMatch],
) -> list[AnyMatch]:
    """Returns the matches of all groups of `seats` players, up to an interrupt or a failure.

    play: plays the match of a group.
    empty: returns the same match without games; it stands for one that failed in its first games,
        unless it is the first match, whose error is raised.

    Raises ValueError as `check_players`.
    """
    check_players(players)
    matches: list[AnyMatch] = []
    for group in combinations(players, seats):
        try:
            match = play(*group)
        except FAILURES as error:
            if not matches:
                raise
            match = empty(*group)
            match.failure = str(error)
        matches.append(match)
        if match.interrupted or match.failure:
            break
    return matches


def check_players(players: Sequence[Player]) -> None:
    """Raises ValueError for fewer than two players or two of one name."""
    names = [player.name for player in players]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"expected two or more players of different names, found {names}")
