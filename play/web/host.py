"""All tables of a server: their listeners, their turns, and when they end."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from games.errors import MoveError
from play.web.catalogue import Catalogue, Loaded
from play.web.explain import why
from play.web.limits import Bucket, Limits
from play.web.table import (
    EVALUATOR,
    HUMAN,
    PROGRAM,
    RANDOM,
    Seat,
    Table,
    clamped,
    search_limits,
    seat_of,
)
from play.web.thinking import Question, Thinking

__all__ = ["Host", "NoTable", "Sitting", "TooMany"]

#: Shortest time in seconds for a computer's move, so that people can follow: against a person, and
#: between two computers.
PACE, SLOW_PACE = 0.25, 0.7
#: Longest time in seconds for the values of one curve.
CURVE_SECONDS = 2.0
#: Seconds after which an unused table ends although a page still shows it.
LONGEST_IDLE = 6 * 3600.0
#: New tables a second, and how many may come at once.
NEW_TABLES_RATE, NEW_TABLES_BURST = 2.0, 80
Seed = Callable[[], int]


class NoTable(LookupError):
    """Raised for a table that does not exist, or no longer does."""


class TooMany(RuntimeError):
    """Raised for a request beyond the limits, which may succeed later."""


class Sitting:
    """A table with its listeners and the searches that are running for it."""

    def __init__(self, table: Table, limits: Limits) -> None:
        self.table = table
        self.bucket = Bucket(limits.rate, limits.burst)
        self.used = time.monotonic()
        #: An event for each listener, set when there is news.
        self.listeners: set[asyncio.Event] = set()
        self.turn: asyncio.Task[None] | None = None
        self.analysing: asyncio.Task[None] | None = None
        #: The latest news of each kind, with a number that grows.
        self.news: dict[str, tuple[int, Any]] = {}
        self.values: dict[tuple[str, Any], float] = {}
        self.ended = False
        self._count = 0

    def tell(self, kind: str, content: Any) -> None:
        """Send news to the listeners. They receive only the latest news of each kind."""
        self._count += 1
        self.news[kind] = (self._count, content)
        for listener in self.listeners:
            listener.set()

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
    seed: called for the seed of each new table; None for seeds of the operating system.
    """

    def __init__(self, catalogue: Catalogue, *, limits: Limits, seed: Seed | None = None) -> None:
        self.catalogue = catalogue
        self.limits = limits
        self.thinking = Thinking()
        self.sittings: dict[str, Sitting] = {}
        self._new = Bucket(NEW_TABLES_RATE, NEW_TABLES_BURST)
        self._seed = seed or partial(secrets.randbits, 64)

    # --- tables ------------------------------------------------------------------------------

    async def open(self, content: dict[str, Any]) -> Sitting:
        """A new table as JSON describes it.

        content: `game` and `seats`; to continue a game also `position` and `moves` [{text, roll}];
            and optionally `seed`, which makes the dice reproducible.

        Raises ValueError if the content is not valid, TooMany if there is no room.
        """
        if not self._new.take():
            raise TooMany("expected fewer new tables a minute")
        game = self.catalogue.game(content.get("game"))
        seats = await self._seats(game, content.get("seats"))
        self._make_room()
        seed = content.get("seed")
        if seed is None:
            seed = self._seed()
        if type(seed) is not int or not 0 <= seed < 1 << 64:
            raise ValueError("seed: expected a whole number from 0 on, found none")
        table = Table(game, seats, chance=random.Random(seed), limits=self.limits)
        if content.get("position") is not None:
            table.set_position(content["position"])
        moves = content.get("moves") or []
        if not isinstance(moves, list) or len(moves) > self.limits.moves:
            raise ValueError(f"moves: expected a list of at most {self.limits.moves}")
        for entry in moves:
            if not isinstance(entry, dict):
                raise ValueError("moves: expected objects with a text, found something else")
            if table.dice and entry.get("roll") is not None:
                table.roll = None
                table.roll_dice(entry["roll"])
            table.play_text(entry.get("text"))
        sitting = Sitting(table, self.limits)
        self.sittings[table.id] = sitting
        self.changed(sitting)
        return sitting

    async def _seats(self, game: Any, content: Any) -> tuple[Seat, Seat]:
        if not isinstance(content, list) or len(content) != 2:
            raise ValueError("seats: expected a list of two, found none")
        seats = (seat_of(content[0]), seat_of(content[1]))
        for seat in seats:
            if seat.kind == EVALUATOR:
                await self.loaded(seat.evaluator, game)
            elif seat.kind == PROGRAM:
                find = partial(self.catalogue.find, seat.evaluator, game, PROGRAM)
                await self.thinking.work(find)
        return seats

    def names(self, table: Table) -> list[str]:
        """Returns the names of the players at a table. Looking them up may take a moment."""
        return [
            self.catalogue.name(seat.evaluator, table.game) if seat.evaluator else seat.kind
            for seat in table.seats
        ]

    async def loaded(self, id: Any, game: Any) -> Loaded:
        """An evaluator that is ready to search with."""

        def load() -> Loaded:
            found = self.catalogue.load(id, game)
            self.thinking.warm(game, found)
            return found

        found: Loaded = await self.thinking.work(load)
        return found

    def _make_room(self) -> None:
        if len(self.sittings) < self.limits.tables:
            return
        left = [one for one in self.sittings.values() if not one.listeners]
        oldest = min(left, key=lambda one: one.used, default=None)
        if oldest is None or time.monotonic() - oldest.used < self.limits.spare:
            raise TooMany(f"expected at most {self.limits.tables} tables at a time")
        self.end(oldest)

    def find(self, id: str) -> Sitting:
        """Returns a table by id. Raises NoTable if it does not exist, TooMany beyond its rate."""
        sitting = self.sittings.get(id)
        if sitting is None:
            raise NoTable("expected a table that is open, found none: it has ended")
        if not sitting.bucket.take():
            raise TooMany("expected fewer requests a second at this table")
        sitting.used = time.monotonic()
        return sitting

    def end(self, sitting: Sitting) -> None:
        """Close a table and stop its searches."""
        self.sittings.pop(sitting.table.id, None)
        sitting.ended = True
        sitting.stop_thinking()
        sitting.stop_analysis()
        sitting.tell("ended", {})

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

    # --- turns -------------------------------------------------------------------------------

    def changed(self, sitting: Sitting) -> None:
        """Announce a change, and let the side to move play if it is a computer."""
        sitting.stop_thinking()
        sitting.stop_analysis()
        sitting.news.pop("thought", None)
        sitting.tell("view", None)
        if sitting.table.waiting not in ("over", HUMAN):
            sitting.turn = asyncio.create_task(self._turns(sitting))

    async def set_seats(self, sitting: Sitting, content: Any) -> None:
        """Replace the players. Raises ValueError as `open` does."""
        seats = await self._seats(sitting.table.game, content)
        sitting.table.seats = seats
        sitting.table.version += 1
        self.changed(sitting)

    def must_be_human(self, sitting: Sitting) -> None:
        """Raise MoveError if the computer is to move."""
        table = sitting.table
        if table.waiting != "over" and table.seat.kind != HUMAN:
            name = table.game.sides[table.record.to_move]
            raise MoveError(f"expected {name}, the computer, to move, found a move of yours")

    async def _turns(self, sitting: Sitting) -> None:
        """Play the moves of computers until a human must decide."""
        table = sitting.table
        try:
            while table.waiting not in ("over", HUMAN):
                both = all(seat.kind != HUMAN for seat in table.seats)
                while both and not sitting.listeners:  # no page shows it
                    await asyncio.sleep(0.5)
                if table.waiting == "roll":
                    if table.seat.kind == HUMAN:
                        return
                    await asyncio.sleep(PACE)
                    table.roll_dice()
                    sitting.tell("view", None)
                    continue
                began = time.monotonic()
                answer = await self._choose(sitting)
                pace = SLOW_PACE if both else PACE
                await asyncio.sleep(max(0.0, began + pace - time.monotonic()))
                table.play(answer["move"], value=answer.get("raw"), depth=answer.get("depth"))
                sitting.tell("view", None)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the page shows it, and the table stays
            sitting.tell("problem", {"error": str(error)[:500]})

    async def _choose(self, sitting: Sitting) -> dict[str, Any]:
        table = sitting.table
        if table.seat.kind == RANDOM:
            return {"move": table.chance.choice(table.legal_moves())}
        seat = table.seat
        if seat.kind == PROGRAM:
            where = table.record.position, table.roll
            return {"move": await self.thinking.ask_program(seat.evaluator, table.game, *where)}
        loaded = await self.loaded(seat.evaluator, table.game)
        question = Question(
            table.game,
            loaded,
            table.record.position,
            side=table.record.to_move,
            roll=table.roll,
            history=table.record.history,
            seconds=seat.seconds,
            depth=seat.depth,
        )
        answer = await self.thinking.search(
            question, lambda news: sitting.tell("thought", {**news, "ply": table.record.ply})
        )
        sitting.tell("thought", {**answer, "move": None, "raw": None, "ply": table.record.ply})
        return answer

    # --- looking at a position ---------------------------------------------------------------

    def _at(self, table: Table, content: dict[str, Any]) -> int:
        ply = content.get("ply", table.record.ply)
        if type(ply) is not int or not 0 <= ply <= table.record.ply:
            raise ValueError(f"ply: expected 0 to {table.record.ply}, found {str(ply)[:40]!r}")
        return ply

    def _roll_at(self, table: Table, ply: int) -> int | None:
        return table.record.rolls[ply] if ply < table.record.ply else table.roll

    async def analyse(self, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
        """Begin an analysis of all legal moves of a position; it replaces an earlier one."""
        table = sitting.table
        ply = self._at(table, content)
        seconds, depth = search_limits(content)
        loaded = await self.loaded(content.get("evaluator"), table.game)
        sitting.stop_analysis()
        position = table.record.positions[min(ply, table.record.ply)]
        if table.game.outcome(position) is not None:
            return {"ply": ply, "started": False}
        roll = self._roll_at(table, ply)
        question = Question(
            table.game, loaded, position, side=table.side_at(ply), roll=roll, seconds=seconds,
            depth=depth, moves=not table.dice or roll is not None,
        )  # fmt: skip
        key = {"ply": ply, "position": table.game.position_text(position)}

        async def run() -> None:
            try:
                answer = await self.thinking.search(
                    question, lambda news: sitting.tell("analysis", {**news, **key})
                )
                sitting.tell("analysis", {**answer, "move": None, "raw": None, **key})
            except Exception as error:
                sitting.tell("problem", {"error": str(error)[:500]})

        sitting.analysing = asyncio.create_task(run())
        return {**key, "started": True}

    async def why(self, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
        """The parts of the value of a position, and of a move there, by one or two evaluators."""
        table = sitting.table
        ply = self._at(table, content)
        ids = content.get("evaluators")
        if not isinstance(ids, list) or not 1 <= len(ids) <= 2:
            raise ValueError("evaluators: expected a list of one or two, found none")
        record, game = table.record, table.game
        before, after, text = record.positions[ply], None, None
        roll = self._roll_at(table, ply)
        if content.get("move") is not None:
            text = str(content["move"])[:200]
            if table.dice:
                if roll is None:
                    raise MoveError("expected a roll of the dice first, found a move")
                move = game.parse_move(before, text, roll)  # type: ignore[call-arg]
            else:
                move = game.parse_move(before, text)
            after = game.play(before, move)
        elif ply < record.ply:
            text = game.move_text(before, record.moves[ply])
            after = record.positions[ply + 1]
        answers = []
        for id in ids:
            loaded = await self.loaded(id, game)
            work = lambda loaded=loaded: why(game, loaded, before, after)  # noqa: E731
            answers.append(await self.thinking.work(work))
        return {"ply": ply, "move": text, "side": table.side_at(ply), "of": answers}

    async def curve(self, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
        """The value of every position of the game for the first side; None after time ran out."""
        table = sitting.table
        loaded = await self.loaded(content.get("evaluator"), table.game)
        depth = content.get("depth", 3)
        if type(depth) is not int or not 0 <= depth <= 8:
            raise ValueError("depth: expected 0 to 8 plies, found another")
        game, positions = table.game, list(table.record.positions)
        known = sitting.values
        # The unit is part of the key because a run may replace its file by another evaluator.
        key = f"{loaded.entry.id} {depth} {loaded.unit!r}"
        missing = [p for p in dict.fromkeys(positions) if (key, p) not in known]
        if missing:
            values = await self.thinking.work(
                lambda: self.thinking.values(
                    game, loaded, missing, depth=depth, seconds=CURVE_SECONDS
                )
            )
            if len(known) > 4 * self.limits.moves:
                known.clear()
            known.update(zip([(key, p) for p in missing], values, strict=False))
        found: list[float | None] = []
        for ply, position in enumerate(positions):
            value = known.get((key, position))
            sign = -1.0 if table.side_at(ply) else 1.0
            found.append(None if value is None else clamped(sign * value) + 0.0)
        return {"values": found, "unit": loaded.unit, "name": loaded.entry.name}
