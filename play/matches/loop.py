"""One game: the sides move in turn, after a roll in games with dice, until it is over.

`game_loop` and `dice_loop` play the same games in native code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event
from typing import Any

from games.contract import starts
from games.errors import MoveError
from games.record import GameRecord
from play.dice import Dice
from play.matches.dice_loop import MOST_TURNS, REASONS, STOPPED, TOO_LONG
from search.lookups.database import DatabaseLookup

__all__ = ["FAILED", "MOST_PLIES", "begin", "play", "play_with_dice"]

#: The reason of a game's end when an engine fails in a match that recovers.
FAILED = "engine failed"

#: Longer games are drawn; with dice, games longer than `MOST_TURNS`.
MOST_PLIES = 1000


def play(
    record: GameRecord,
    seats: Sequence[Any],
    roll: Callable[[int], int] | None = None,
    *,
    names: Sequence[str] = ("first", "second"),
    stopped: Event | None = None,
    most_plies: int | None = None,
    database: DatabaseLookup | None = None,
    recover: bool = False,
) -> GameRecord:
    """Play a record to its end, and return it.

    record: an unfinished game; one with a cube is played with the cube.
    seats: for each side a `play.players.seats.Seat`, or one of an external engine.
    roll: returns the roll of a turn, counted from 0; None in a game without dice.
    names: the players' names by side, for errors.
    stopped: once set, the game ends as a draw.
    most_plies: longer games are drawn. Default: the usual number.
    database: once it knows the position after a move, the game ends with the result that it gives.
    recover: whether a seat that fails loses the game; its error is then the record's comment.

    Raises MoveError if a seat makes an illegal move, and ChildProcessError if an engine fails.
    """
    longest = most_plies or (MOST_PLIES if roll is None else MOST_TURNS)
    probe = None if database is None else database.plain()
    while not record.over:
        known, value, *_ = (False, 0.0) if probe is None else probe(record.position)
        if stopped is not None and stopped.is_set():
            record.declare(0.0, REASONS[STOPPED])
        elif known:
            won = (value > 0) - (value < 0)
            record.declare(float(-won if record.to_move else won), "database")
        elif record.ply >= longest:
            record.declare(0.0, f"{longest} plies" if roll is None else REASONS[TOO_LONG])
        else:
            try:
                _turn(record, seats, roll, names)
            except (MoveError, ChildProcessError) as error:
                if not recover:
                    raise
                record.comment = str(error).translate({ord("{"): "(", ord("}"): ")"})
                asked = record.to_move ^ bool(getattr(record, "offered", False))
                record.forfeit(asked, FAILED)
    return record


def _turn(
    record: GameRecord, seats: Sequence[Any], roll: Callable[[int], int] | None, names: Any
) -> None:
    if roll is None:
        seats[record.to_move].move(record)
    elif _cube(record, seats):
        rolled, at = roll(record.ply), getattr(record, "situation", None)
        seat = seats[record.to_move]
        move = seat.choose_at(at(rolled)) if at else seat.choose(record.position, rolled)
        _move(record, rolled, move, names)


def begin(seat: Any, *arguments: int, recover: bool = False) -> None:
    """Begin a game for a seat; with `recover`, a dead engine is started once more."""
    try:
        seat.begin(*arguments)
    except ChildProcessError:
        if not recover:
            raise
        seat.begin(*arguments)


def play_with_dice(
    record: GameRecord, seats: Sequence[Any], dice: Dice, stream: int, **options: Any
) -> GameRecord:
    """Begin the game for all seats, and play it with the dice of a stream, as `play` does."""
    for side, seat in enumerate(seats):
        begin(seat, stream, side, recover=options.get("recover", False))
    opening = record.start not in starts(record.game)
    return play(record, seats, partial(dice.roll, stream, opening=opening), **options)


def _move(record: GameRecord, roll: int, move: Any, names: Sequence[str]) -> None:
    game: Any = record.game
    try:
        record.play(move, roll=roll)
    except MoveError:
        raise MoveError(
            f"player {names[record.to_move]}: expected a legal move with {game.dice.text(roll)} in"
            f" {game.position_text(record.position)}, found {move!r}"
        ) from None


def _cube(record: Any, seats: Sequence[Any]) -> bool:
    """Ask for a double, if there may be one, and for its answer; returns whether to continue."""
    side = record.to_move
    if record.ply and record.may_double and seats[side].decision(record.situation()).double:
        record.act("double")
        if not seats[1 - side].decision(record.situation()).take:
            record.act("drop")
            return False
        record.act("take")
    return True
