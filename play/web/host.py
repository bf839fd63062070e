"""All tables of a server: their listeners, their turns, and when they end."""

from __future__ import annotations

import asyncio
import random
import reprlib
import secrets
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from games.errors import MoveError
from play.players.parse import methods_of
from play.web.catalogue import Catalogue, Loaded
from play.web.cube_decisions import cube_action
from play.web.cube_table import CubeTable
from play.web.kept_games import KeptGames, started, table_of
from play.web.limits import ServerLimits
from play.web.seat import EVALUATOR, HUMAN, PROGRAM, RANDOM, WebSeat, seat_of
from play.web.table import Table
from play.web.thinking import Question, Thinking
from search import Result

__all__ = ["Host", "NoTable", "Sitting", "TooMany"]

#: Shortest time in seconds for a computer's move, so that people can follow: against a person, and
#: between two computers.
PACE, SLOW_PACE = 0.25, 0.7
#: Seconds after which an unused table ends although a page still shows it.
LONGEST_IDLE = 6 * 3600.0
Seed = Callable[[], int]


class NoTable(LookupError):
    """Raised for a table that does not exist (any more)."""


class TooMany(RuntimeError):
    """Raised for a request beyond the limits, which may succeed later."""


class Sitting:
    """A table with its listeners and the searches that are running for it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.used = time.monotonic()
        #: An event for each listener, set when there is news.
        self.listeners: set[asyncio.Event] = set()
        self.turn: asyncio.Task[None] | None = None
        self.analysing: asyncio.Task[None] | None = None
        #: The latest news of each kind, numbered in their order.
        self.news: dict[str, tuple[int, Any]] = {}
        #: Values of positions and judgements of moves, for the curve of a game.
        self.values: dict[tuple[Any, ...], Any] = {}
        #: The deepest result that the page was shown, by position and roll.
        self.shown: dict[tuple[Any, Any], Result] = {}
        self.ended = False
        #: Whether the game is stored on disk.
        self.kept = False
        self._count = 0

    def tell(self, kind: str, content: Any) -> None:
        """Send news to the listeners. They receive only the latest news of each kind."""
        self._count += 1
        self.news[kind] = (self._count, content)
        for listener in self.listeners:
            listener.set()

    def tell_result(self, kind: str, question: Question, answer: Any, **more: Any) -> None:
        """Send the last news of a search, and remember it if no deeper one was shown."""
        place, result = (question.position, question.roll), question.best
        if result is not None and result.depth >= self.shown.get(place, result).depth:
            self.shown[place] = result
        self.tell(kind, {**answer, "move": None, "raw": None, **more})

    def stop_thinking(self) -> None:
        """Stop the search for a move, if one is running."""
        if self.turn is not None:
            self.turn.cancel()
            self.turn = None

    def stop_analysis(self) -> None:
        """Stop the analysis, if one is running."""
        if self.analysing is not None:
            self.analysing.cancel()
            self.analysing = None


class Host:
    """All tables of a server, used in one event loop.

    catalogue: the evaluators, lookups and engines that can be chosen.
    limits: the limits of the server.
    kept: folder of the games that outlive the server; None to keep none.
    seed: called for the seed of each new table. Default: seeds of the operating system.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        limits: ServerLimits,
        kept: Path | None = None,
        seed: Seed | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.limits = limits
        self.kept = None if kept is None else KeptGames(kept)
        self.thinking = Thinking()
        self.sittings: dict[str, Sitting] = {}
        self._seed = seed or partial(secrets.randbits, 64)

    # --- tables ------------------------------------------------------------------------------

    async def open(self, content: dict[str, Any]) -> Sitting:
        """A new table as JSON describes it, or the open table of that id.

        content: `game` and `seats`; to continue a game also the fields of
            `play.web.kept_games.table_of`; and optionally `seed`, which makes the dice
            reproducible.

        Raises ValueError if the content is not valid, TooMany if there is no room.
        """
        game = self.catalogue.game(content.get("game"))
        seats = await self._seats(game, content.get("seats"))
        seed = content.get("seed")
        if seed is None:
            seed = self._seed()
        if type(seed) is not int or not 0 <= seed < 1 << 64:
            raise ValueError("seed: expected a whole number from 0 on, found none")
        chance = random.Random(seed)
        make = partial(table_of, content, game, seats, chance=chance, limits=self.limits)
        table = await self.thinking.work(make)
        standing = self.sittings.get(table.id)
        if standing is not None:  # another page was faster to continue this game
            return standing
        self._make_room()
        sitting = Sitting(table)
        self.sittings[table.id] = sitting
        self.changed(sitting)
        return sitting

    async def reach(self, id: str) -> Sitting:
        """Returns a table by id; one that is only stored is opened again. Raises as `find`."""
        if id not in self.sittings and self.kept is not None:
            content = await self.thinking.work(partial(self.kept.read, id))
            if content is not None:
                await self.open(await self._with_players(content))
        return self.find(id)

    async def _with_players(self, content: dict[str, Any]) -> dict[str, Any]:
        """Returns a kept game in which people play for evaluators that no longer exist."""
        game, seats = self.catalogue.game(content.get("game")), []
        for seat in content.get("seats") or []:
            try:
                await self._seat(game, seat)
            except ValueError:
                seat = {"kind": HUMAN}
            seats.append(seat)
        return {**content, "seats": seats}

    def games(self) -> list[dict[str, Any]]:
        """Returns the kept games, the latest first; reads files, so call it in a thread."""
        found = []
        for content in [] if self.kept is None else self.kept.list():
            try:
                if not content["moves"]:
                    continue
                game = self.catalogue.game(content["game"])
                found.append(
                    {
                        "id": content["id"],
                        "game": game.name,
                        "seats": [seat_of(seat).view() for seat in content["seats"]],
                        "names": {side: str(name) for side, name in content["names"].items()},
                        "ply": len(content["moves"]),
                        "result": str(content["result"]),
                        "saved": float(content["saved"]),
                    }
                )
            except (KeyError, ValueError, TypeError, AttributeError):
                continue  # a game of a user that this server was not started with, or damaged
        return found

    async def _seats(self, game: Any, content: Any) -> tuple[WebSeat, ...]:
        if not isinstance(content, list) or len(content) != game.players:
            raise ValueError(
                f"seats: expected a list of {game.players}, found {reprlib.repr(content)}"
            )
        return tuple([await self._seat(game, seat) for seat in content])

    async def _seat(self, game: Any, content: Any) -> WebSeat:
        seat = seat_of(content)
        if seat.method and seat.method not in methods_of(game):
            raise ValueError(f"method: not for a game for two, found {seat.method}")
        if seat.kind == EVALUATOR:
            await self.seated(seat.evaluator, game)
        elif seat.kind == PROGRAM:
            find = partial(self.catalogue.find, seat.evaluator, game, PROGRAM)
            await self.thinking.work(find)
        return seat

    def names(self, table: Table) -> list[str]:
        """Returns the names of the players at a table. Looking them up may take a moment."""
        return [
            table.names.get(side)
            or (self.catalogue.name(seat.evaluator, table.game) if seat.evaluator else seat.kind)
            for side, seat in zip(table.game.sides, table.seats, strict=True)
        ]

    async def seated(self, id: Any, game: Any) -> Loaded:
        """An evaluator that can play; in a hurry its search may still be compiled."""

        def load() -> Loaded:
            loaded = self.catalogue.load(id, game)
            self.thinking.warm(game, loaded)
            return loaded

        seated: Loaded = await self.thinking.work(load)
        return seated

    async def loaded(self, id: Any, game: Any) -> Loaded:
        """An evaluator whose search is compiled."""
        loaded = await self.seated(id, game)
        await self.thinking.compiled(partial(self.thinking.warm, game, loaded))
        return loaded

    def _make_room(self) -> None:
        if len(self.sittings) < self.limits.tables:
            return
        left = [one for one in self.sittings.values() if not one.listeners]
        oldest = min(left, key=lambda one: one.used, default=None)
        if oldest is None or time.monotonic() - oldest.used < self.limits.spare:
            raise TooMany(f"expected at most {self.limits.tables} tables at a time")
        self.end(oldest)

    def find(self, id: str) -> Sitting:
        """Returns a table by id. Raises NoTable if it does not exist."""
        sitting = self.sittings.get(id)
        if sitting is None:
            raise NoTable("the table has ended")
        sitting.used = time.monotonic()
        return sitting

    def end(self, sitting: Sitting) -> None:
        """Close a table and stop its searches."""
        self.sittings.pop(sitting.table.id, None)
        sitting.ended = True
        sitting.stop_thinking()
        sitting.stop_analysis()
        sitting.tell("ended", {})

    def remove(self, sitting: Sitting) -> None:
        """Close a table, and delete its stored game."""
        self.end(sitting)
        if self.kept is not None:
            self.kept.forget(sitting.table.id)

    async def sweep(self, *, every: float = 5.0) -> None:
        """End unused tables, for as long as the server runs."""
        while True:
            await asyncio.sleep(every)
            now = time.monotonic()
            for sitting in list(self.sittings.values()):
                idle = now - sitting.used
                left = not sitting.listeners and idle > self.limits.idle
                if left or idle > LONGEST_IDLE:
                    self.end(sitting)

    def close(self) -> None:
        """End all tables and searches."""
        for sitting in list(self.sittings.values()):
            self.end(sitting)
        self.thinking.close()
        if self.kept is not None:
            self.kept.close()

    # --- turns -------------------------------------------------------------------------------

    def changed(self, sitting: Sitting) -> None:
        """Announce a change, and let the side to move play if it is a computer."""
        sitting.stop_thinking()
        sitting.stop_analysis()
        sitting.news.pop("thought", None)
        self._tell(sitting)
        table = sitting.table
        if table.waiting not in ("over", HUMAN) and not table.paused:
            sitting.turn = asyncio.create_task(self._turns(sitting))

    async def advance(self, sitting: Sitting, content: dict[str, Any]) -> None:
        """Let computers that pause make one move. Raises ValueError if they do not pause."""
        if not sitting.table.paused:
            raise ValueError("expected paused computers, but the game is in progress")
        if sitting.table.waiting != "over" and (sitting.turn is None or sitting.turn.done()):
            sitting.turn = asyncio.create_task(self._turns(sitting, single=True))

    def _tell(self, sitting: Sitting) -> None:
        """Tell the pages that the table has changed, and keep its game on disk."""
        sitting.tell("view", None)
        if self.kept is None:
            return
        sitting.kept = sitting.kept or started(sitting.table)
        if sitting.kept:
            self.kept.put(sitting.table.plain())
        if self.kept.problem:
            sitting.tell("problem", {"error": self.kept.problem})

    async def set_seats(self, sitting: Sitting, content: dict[str, Any]) -> None:
        """Replace the players by those of `seats`. Raises ValueError as `open` does."""
        seats = await self._seats(sitting.table.game, content.get("seats"))
        sitting.table.seats = seats
        sitting.table.paused &= sitting.table.watched
        sitting.table.version += 1
        self.changed(sitting)

    def must_be_human(self, sitting: Sitting) -> None:
        """Raise MoveError if it is the computer's turn."""
        table = sitting.table
        if table.waiting != "over" and table.deciding.kind != HUMAN:
            name = table.game.sides[table.acting]
            raise MoveError(f"expected {name}, the computer, to move, found a move of yours")

    async def _turns(self, sitting: Sitting, *, single: bool = False) -> None:
        """Play the moves of computers until a human must decide, or a single move."""
        table = sitting.table
        try:
            while table.waiting not in ("over", HUMAN):
                both = table.watched
                while both and not single and not sitting.listeners:  # no page shows it
                    await asyncio.sleep(0.5)
                if table.waiting != table.seat.kind:  # a roll, or an answer
                    if table.deciding.kind == HUMAN:
                        return
                    await asyncio.sleep(PACE)
                    await self._roll_or_answer(sitting)
                    self._tell(sitting)
                    continue
                began = time.monotonic()
                answer = await self._choose(sitting)
                pace = SLOW_PACE if both and not single else PACE
                await asyncio.sleep(max(0.0, began + pace - time.monotonic()))
                table.play(answer["move"], value=answer.get("raw"), depth=answer.get("depth"))
                self._tell(sitting)
                if single:
                    return
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the page shows it, and the table stays
            sitting.tell("problem", {"error": str(error)[:500]})

    async def _roll_or_answer(self, sitting: Sitting) -> None:
        """Let a computer answer what was offered; or double, or roll."""
        table = sitting.table
        if not isinstance(table, CubeTable) or (table.waiting == "roll" and not table.may_double):
            table.roll_dice()
            return
        action = await cube_action(self.thinking, self.seated, table)
        if action == "roll":
            table.roll_dice()
        elif action == "double":
            table.double()
        else:
            table.answer(action)

    async def _choose(self, sitting: Sitting) -> dict[str, Any]:
        table = sitting.table
        if table.seat.kind == RANDOM:
            return {"move": table.chance.choice(table.legal_moves())}
        seat = table.seat
        if seat.kind == PROGRAM:
            where = table.record.position, table.roll
            return {"move": await self.thinking.ask_program(seat.evaluator, table.game, *where)}
        loaded = await self.seated(seat.evaluator, table.game)
        question = Question(
            table.game,
            loaded,
            table.record.position,
            side=table.record.to_move,
            roll=table.roll,
            history=table.record.history,
            seconds=seat.seconds,
            depth=seat.depth,
            method=seat.method,
        )
        answer = await self.thinking.search(
            question, lambda news: sitting.tell("thought", {**news, "ply": table.record.ply})
        )
        sitting.tell_result("thought", question, answer, ply=table.record.ply)
        return answer
