"""The units of a match: games played by seats or by native code.

A unit is what statistics count, because its games have something in common: the opening or the
dice. Every player has every seat once in it. There are four kinds: pairs of games of two players,
rounds of more, and with dice pairs of games, or of matches with the cube, with the same rolls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, cycle, repeat
from typing import Any, ClassVar

import numpy as np

from games import kernels
from games.contract import DiceGame, Game, starts
from games.errors import MoveError
from games.record import GameRecord, new_record
from play.dice import OTHER, Dice
from play.matches.balanced import usual_openings
from play.matches.dice_loop import REASONS, STOPPED, DiceLoop
from play.matches.game_loop import GameLoop
from play.matches.journal import plain_game, replay
from play.matches.loop import MOST_PLIES, begin, play, play_with_dice
from play.matches.luck import StaticLuck
from play.players.limits import STATIC, Limits
from play.players.player import Player
from play.workers.crew import Crew
from search.lookups.database import DatabaseLookup

__all__ = ["CubePairs", "DicePairs", "Pairs", "Rounds", "Terms", "Unit", "Units", "units_of"]

#: Pairs with dice in a worker's task, if native code plays them.
BLOCK = 32
#: Numbers of streams that a match with the cube may use, one for each game.
MOST_GAMES = 1000

#: The number of a unit and its opening.
Task = tuple[int, tuple[Any, ...]]
#: The games of a sitting: one, or those of a match to some points.
Games = Sequence[Any]
#: Plays a game, given an empty record and the stream of its dice.
Play = Callable[[Any, int], Any]


@dataclass(frozen=True)
class Unit:
    """The games of a unit; in sitting s, the seat of player p is (p + s) modulo the players.

    points: the outcome of every sitting for all players, in their order, [sittings][players].
    sittings: the games of every sitting, one or those of a match; () if they are not kept.
    luck: the luck of the first player in every sitting; () if it is not measured.
    seconds: time of each move of external engines.
    played: number of games.
    cubes: the value of the cube at the end of each game for money with the cube.
    actions: actions with the cube, in the words of its record.
    """

    points: tuple[tuple[float, ...], ...]
    sittings: tuple[Games, ...] = ()
    luck: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    played: int = 0
    cubes: tuple[int, ...] = ()
    actions: tuple[str, ...] = ()

    @property
    def games(self) -> list[Any]:
        """The records of all games."""
        return [record for games in self.sittings for record in games]


@dataclass(frozen=True)
class Terms:
    """The rules of play of a match: options of `play_match`, by their names."""

    limits: Limits
    seed: int = 0
    table_mib: float | None = None
    database: DatabaseLookup | None = None
    luck: Player | None = None
    length: int | None = None
    jacoby: bool = False
    recover: bool = False


class Units(Crew[tuple[Any, ...]]):
    """Plays the units of a match by their numbers; each kind is a subclass."""

    #: The word for its games.
    text: ClassVar[str] = ""
    #: Numbers of games of a match, and of each match of a ladder, by default.
    usual_games: ClassVar[tuple[int, int]] = (400, 400)
    #: Depth of searches by default.
    usual_depth: ClassVar[int] = 0
    #: The name of a ladder's standings in its figures.
    standings: ClassVar[str] = "ratings"
    #: Options of `play_match` that this kind has and not every other kind.
    options: ClassVar[frozenset[str]] = frozenset()
    #: Whether a unit with a game that was played before is not counted.
    distinct: ClassVar[bool] = False
    #: Whether openings have moves; with dice they are positions, and none is usual.
    moves: ClassVar[bool] = True
    #: Whether a match always keeps the games of its units.
    keeps: ClassVar[bool] = True
    #: Units of a worker's task.
    block: int = 1

    def __init__(self, game: Any, players: Sequence[Player], terms: Terms) -> None:
        super().__init__(game, players, terms)
        self.game, self.players, self.terms = game, players, terms
        self.names = [player.name for player in players]
        self.random = all(player.random for player in players)

    @classmethod
    def limits_text(cls, limits: Limits) -> str:
        """Returns limits in words."""
        return str(limits)

    def lines(self, openings: Any) -> Iterable[tuple[Any, ...]]:
        """Returns the opening of each unit; `openings` as in `play_match`."""
        return repeat(()) if openings is None else openings

    def __call__(self, tasks: Sequence[Task]) -> list[Unit]:
        """Returns the units of tasks."""
        with self.seats() as seats:
            return [self.play(seats, *task) for task in tasks]

    def play(self, seats: Sequence[Any], number: int, opening: tuple[Any, ...]) -> Unit:
        """Returns a unit, played by the seats of all players."""
        raise NotImplementedError

    def result(self, games: Games) -> Sequence[float]:
        """Returns the outcome of a sitting for every side."""
        return games[-1].outcomes() or (0.0,) * len(self.players)

    def unit(self, sittings: Iterable[Games], **more: Any) -> Unit:
        """Returns the unit of some games; `more` are fields of `Unit`."""
        sittings = tuple(sittings)
        count = len(self.players)
        points = []
        for shift, games in enumerate(sittings):
            sides = self.result(games)
            points.append(tuple(sides[(player + shift) % count] for player in range(count)))
        return Unit(tuple(points), sittings, played=sum(map(len, sittings)), **more)

    def plain(self, unit: Unit) -> dict[str, Any]:
        """Returns a unit as plain values, from which `again` makes it again."""
        sittings = [[*map(plain_game, games)] for games in unit.sittings]
        return {"sittings": sittings, "luck": unit.luck, "seconds": unit.seconds}

    def again(self, number: int, plain: Any) -> Unit:
        """Returns the unit of a number from its plain values; ValueError if they are damaged."""
        try:
            found = len(plain["sittings"])
            if found != len(self.players):
                raise ValueError(f"expected {len(self.players)} sittings, found {found}")
            sittings = [self._replayed(number, iter(games)) for games in plain["sittings"]]
            more = {name: tuple(map(float, plain[name])) for name in ("luck", "seconds")}
        except (KeyError, TypeError, StopIteration, MoveError) as error:
            raise ValueError(f"expected the games of a match, found {error!r}") from None
        return self.unit(sittings, **more)

    def _replayed(self, number: int, games: Iterator[Any]) -> Games:
        plain = next(games)
        record = self.record(self.game.parse_position(plain["start"]))
        replay(record, plain)
        return (record,)

    def record(self, start: Any) -> GameRecord:
        """Returns an empty record."""
        return GameRecord(self.game, start)


class Rounds(Units):
    """A game of an opening for each seat that the first player may have."""

    text = "games of more than two players"
    usual_games = (300, 300)
    usual_depth = 3
    options = frozenset({"openings", "table_mib"})

    def lines(self, openings: Any) -> Iterable[tuple[Any, ...]]:
        seed = self.terms.seed
        return usual_openings(self.game, seed=seed) if openings is None else openings

    def play(self, seats: Sequence[Any], number: int, opening: tuple[Any, ...]) -> Unit:
        """Returns the games of an opening; unfinished ones are drawn once it is stopped."""
        count, terms = len(self.players), self.terms
        sittings, seconds = [], list[float]()
        for shift, loop in enumerate(seats[count:]):
            for player, seat in enumerate(seats[:count]):
                chance = hash((self.terms.seed, number, *self.chance(shift, player)))
                begin(seat, chance & 0x7FFFFFFF, recover=terms.recover)
            start = getattr(opening, "start", None)
            if loop is not None:
                record = loop.play(opening, start).record()
            else:
                record = self.record(start)
                for move in opening:
                    record.play(move)
                sides = [seats[(side - shift) % count] for side in range(count)]
                how: Any = {"database": terms.database, "recover": terms.recover}
                play(record, sides, stopped=self.stopped, **how)
            sittings.append((record,))
            seconds += (took for seat in seats[:count] for took in seat.seconds)
        return self.unit(sittings, seconds=tuple(seconds))

    def chance(self, shift: int, player: int) -> tuple[int, ...]:
        """Returns the numbers that, with the seed, decide the random choices of a player."""
        return shift, player

    def new_seats(self) -> tuple[Any, ...]:
        """Returns a seat of each player, then for each sitting a native loop, or None."""
        terms = self.terms
        table: dict[str, Any] = {} if terms.table_mib is None else {"table_mib": terms.table_mib}
        seats = [player.seat(self.game, terms.limits, **table) for player in self.players]
        return *seats, *self.loops(seats)

    def loops(self, seats: Sequence[Any]) -> Sequence[GameLoop | None]:
        """Returns for each sitting the loop that plays it in native code, or None."""
        return [None] * len(seats)


class Pairs(Rounds):
    """Two games of an opening; the first player begins the first of them.

    A pair is not counted if one of its games repeats an earlier game of the match move for move.
    """

    text = "games of two players without dice"
    usual_games = (400, 200)
    usual_depth = 5
    options = frozenset({"openings", "table_mib", "sprt", "database"})
    distinct = True

    def chance(self, shift: int, player: int) -> tuple[int, ...]:
        # the same random numbers for the same side in both games, unless the games would then be
        # identical
        return (player ^ shift, shift) if self.random else (player ^ shift,)

    def loops(self, seats: Sequence[Any]) -> Sequence[GameLoop | None]:
        (first, second), terms = self.players, self.terms
        searching = [player.evaluator is not None for player in self.players]
        engines = [seat.engine for seat in compress(seats, searching)]
        limits = first.within(terms.limits)
        native = len(engines) == 2 and all(one.native and one.steady for one in engines)
        native = native and terms.database is None
        if not native or limits != second.within(terms.limits) or limits.time is not None:
            return None, None
        return [
            GameLoop(
                self.game, *order, depth=limits.depth, nodes=limits.nodes, most_plies=MOST_PLIES
            )
            for order in (engines, engines[::-1])
        ]


class DicePairs(Units):
    """Two games with the same dice; the first player begins the first of them."""

    text = "games with dice"
    usual_games = (4000, 4000)
    standings = "standings"
    options = frozenset({"luck", "openings"})
    moves = False
    keeps = False
    #: Whether there is native code for whole games.
    may_be_native = True

    def __init__(self, game: DiceGame, players: Sequence[Player], terms: Terms) -> None:
        super().__init__(game, players, terms)
        self.dice = Dice(game, terms.seed)
        #: whether whole games are played in native code
        self.native = (
            self.may_be_native
            and game.rules is not None
            and kernels.compiled
            and all(player.program is None for player in players)
            and all(player.within(terms.limits) == STATIC for player in players)
        )
        self.block = BLOCK if self.native else 1

    def lines(self, openings: Any) -> Iterable[tuple[Any, ...]]:
        return super().lines(None) if openings is None else cycle(openings)

    @classmethod
    def limits_text(cls, limits: Limits) -> str:
        text = str(limits)
        return text if limits.depth is None else f"{text.removesuffix(' a move')} (GNU plies)"

    def __call__(self, tasks: Sequence[Task]) -> list[Unit]:
        """Returns the pairs of successive numbers; fewer once it is stopped."""
        if not self.native:
            return super().__call__(tasks)
        with self.seats() as (luck, loop):
            begun = [self.begun(opening) for _, opening in tasks]
            played = loop.play(tasks[0][0], len(tasks), begun)
            return [self._unit(luck, records) for records in played]

    def play(self, seats: Sequence[Any], number: int, opening: tuple[Any, ...]) -> Unit:
        """Returns a pair, played move by move."""
        luck, *players = seats
        records = []
        for order, other in ((1, 0), (-1, OTHER)):
            if self.random:
                for seat in players:
                    seat.other = other
            record = self.record(self.begun(opening))
            self.player(players, order)(record, self.dice.stream(number))
            records.append(record)
        return self._unit(luck, records)

    def begun(self, opening: tuple[Any, ...]) -> Any:
        """Returns the position with which the games of an opening begin; it has no moves."""
        return getattr(opening, "start", self.game.start())

    def record(self, start: Any) -> GameRecord:
        return GameRecord(self.game, start, repetitions=None, quiet_moves=None)

    def player(self, seats: Sequence[Any], order: int) -> Play:
        """Returns a function that plays a game by seats, with sides swapped if `order` is -1."""

        def played(record: Any, stream: int) -> None:
            play_with_dice(
                record, seats[::order], self.dice, stream, names=self.names[::order],
                stopped=self.stopped, recover=self.terms.recover,
            )  # fmt: skip

        return played

    def _unit(self, luck: StaticLuck | None, records: Sequence[GameRecord]) -> Unit:
        sittings = [(record,) for record in records]
        if luck is None:
            return self.unit(sittings)
        first, second = map(luck.total, records)
        return self.unit(sittings, luck=(first, 0.0 - second))

    def new_seats(self) -> tuple[Any, ...]:
        """Returns the measure of luck or None, then a native loop or the seats of both players."""
        luck, by = None, self.terms.luck
        if by is not None and by.evaluator is not None:
            luck = StaticLuck(self.game, by.evaluator, by.lookup)
        if self.native:
            players = [(player.evaluator, player.lookup) for player in self.players]
            return luck, DiceLoop(self.game, *players, seed=self.terms.seed)
        return luck, *(player.seat(self.game, self.terms.limits) for player in self.players)


class CubePairs(DicePairs):
    """Two games for money with the cube, or two matches to some points, with the same dice."""

    text = "games with the cube"
    usual_games = (400, 400)
    options = frozenset({"length", "jacoby"})
    may_be_native = False

    def play(self, seats: Sequence[Any], number: int, opening: tuple[Any, ...]) -> Unit:
        """Returns a pair; in its second sitting the first player has colour 1."""
        return self.unit(self.sitting(number, self.player(seats, order)) for order in (1, -1))

    def sitting(self, number: int, play: Play) -> Games:
        """Returns the games of a match, or one for money.

        Chance decides who begins, the same for both sittings.
        """
        length, records = self.terms.length or 0, list[Any]()
        rules: Any = {"match_length": length, "jacoby": self.terms.jacoby and not length}
        while rules and len(records) < MOST_GAMES:
            stream = self.dice.stream(number * MOST_GAMES + len(records))
            record: Any = new_record(self.game, starts(self.game)[stream >> 7 & 1], **rules)
            play(record, stream)
            records.append(record)
            rules = None if record.reason == REASONS[STOPPED] else record.next_game()
        return records

    def _replayed(self, number: int, games: Iterator[Any]) -> Games:
        return self.sitting(number, lambda record, stream: replay(record, next(games)))

    def result(self, games: Games) -> Sequence[float]:
        score = games[-1].final_score()
        won = float(np.sign(score[0] - score[1])) if self.terms.length else games[-1].outcome()
        return (won or 0.0, 0.0 - (won or 0.0))

    def unit(self, sittings: Iterable[Games], **more: Any) -> Unit:
        sittings = tuple(sittings)
        if not self.terms.length:
            more["cubes"] = tuple(games[-1].cube for games in sittings)
        kinds = tuple(one.kind for games in sittings for record in games for one in record.actions)
        return super().unit(sittings, actions=kinds, **more)

    def new_seats(self) -> tuple[Any, ...]:
        """Returns the seats of both players."""
        limits = self.terms.limits
        return tuple(player.seat(self.game, limits, cube=True) for player in self.players)


def units_of(game: Game, length: int | None = None) -> type[Units]:
    """Returns the kind of the units of a game; `length` as in `play_match`."""
    if length is not None:
        return CubePairs
    if game.dice:
        return DicePairs
    return Pairs if game.players == 2 else Rounds
