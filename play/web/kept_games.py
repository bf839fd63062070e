"""Games kept on disk, so that a restarted server continues them: one JSON file a game.

A file is data only: it names a game and players that the catalogue must know.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import reprlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from games.contract import Game, starts
from games.record import GameRecord, new_record
from games.rolls import rolls_of
from play.web.cube_table import CubeTable, play_of, table_for
from play.web.limits import ServerLimits
from play.web.seat import WebSeat
from play.web.table import Table, start_text
from programs.whole_files import UNFINISHED, write_atomically

__all__ = ["FORMAT", "KeptGames", "started", "table_of"]

FORMAT = "plysmith-table-1"
#: Maximum games in the folder; those unused for longest are removed.
MOST = 200
#: Largest file in bytes.
MOST_BYTES = 1 << 20
#: Maximum earlier games of a match.
MOST_EARLIER = 1000
#: Seconds after which the rest of a failed write is removed.
STALE = 3600.0
ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def started(table: Table) -> bool:
    """Returns whether a table has a game that would be missed: moves, or a position set up."""
    game, record = table.game, table.record
    usual = [new_record(game, start) for start in starts(game)]
    return record.ply > 0 or table.over or start_text(record) not in map(start_text, usual)


def table_of(
    content: dict[str, Any],
    game: Game,
    seats: tuple[WebSeat, ...],
    *,
    chance: random.Random,
    limits: ServerLimits,
) -> Table:
    """Returns a table with the game that JSON describes, in the form of `Table.kept`.

    content: all of it may be missing. `id` of the table, `position` that the game begins with,
        `moves` [{text, roll, value, depth, comment}], `rolled` {ply: roll}, `declared` [outcome,
        reason], `names` {side: name}, `paused`, `variations` [{moves}], each from the start. With a
        cube also `play`, as `play.web.cube_table` has it, `actions` [[ply, kind]], `resigning`
        [side, kind], and `earlier`, the games of the match before, each with its position, moves,
        actions and declared.

    Raises ValueError for anything else, and for moves that are not legal.
    """
    play = play_of(content.get("play") if game.cube else None)
    table = table_for(game, seats, play, chance=chance, limits=limits, id=content.get("id"))
    if content.get("position") is not None:
        table.set_position(content["position"])
    record = table.record
    for line in content.get("variations") or ():
        _play(record, line if isinstance(line, dict) else {"moves": line}, limits)
        table.leave()
        while record.ply:
            record.undo()
    rolled = {} if content.get("moves") else dict(table.rolled)
    _play(record, content, limits)
    for ply, text in _object(content, "rolled").items():
        if ply.isdecimal() and len(ply) < 9 and int(ply) >= record.ply:
            roll = _roll(game, text)
            if roll is not None:
                rolled[int(ply)] = roll
    table.seat_down(record, rolled)
    if isinstance(table, CubeTable):
        _go_on(table, content, limits)
    names = _object(content, "names")
    table.paused = table.watched and content.get("paused") is True
    table.names = {side: str(names[side])[:200] for side in game.sides if side in names}
    return table


def _play(record: GameRecord, content: dict[str, Any], limits: ServerLimits) -> None:
    """Play the moves and the actions of the cube of a game, and end it if it was ended."""
    moves, actions = content.get("moves") or [], content.get("actions") or []
    for name, found in (("moves", moves), ("actions", actions)):
        if not isinstance(found, list) or len(found) > limits.moves:
            raise ValueError(f"{name}: expected a list of at most {limits.moves}")
    actions = list(actions)
    rules, record.repetitions = (record.repetitions, record.quiet_moves), None
    record.quiet_moves = None  # a game read from a file may have continued after a draw
    for ply in range(len(moves) + 1):
        while actions and isinstance(actions[0], list) and actions[0][:1] == [ply]:
            action = actions.pop(0)
            if len(action) != 2 or not isinstance(action[1], str):
                raise ValueError(f"actions: expected a ply and a kind, found {str(action)[:40]!r}")
            record.act(action[1])
        if ply == len(moves):
            break
        move = moves[ply]
        if not isinstance(move, dict) or not isinstance(move.get("text"), str):
            raise ValueError(f"moves: expected objects with a text, found {reprlib.repr(move)}")
        record.play_text(move["text"], roll=_roll(record.game, move.get("roll")))
        depth, comment = move.get("depth"), move.get("comment")
        record.annotate(
            value=_number(move.get("value")),
            depth=depth if type(depth) is int else None,
            comment=comment if isinstance(comment, str) else "",
        )
    if actions:
        raise ValueError(
            f"actions: expected plies of the game in order, found {reprlib.repr(actions)}"
        )
    record.repetitions, record.quiet_moves = rules
    declared = content.get("declared")
    if declared is not None and not record.over:
        outcome, reason = declared if isinstance(declared, list) and len(declared) == 2 else (0, 0)
        each = outcome if isinstance(outcome, list) else [outcome]
        if None in map(_number, each) or not isinstance(reason, str):
            raise ValueError(
                f"declared: expected an outcome and a reason, found {reprlib.repr(declared)}"
            )
        record.declare(outcome, reason[:100])


def _go_on(table: CubeTable, content: dict[str, Any], limits: ServerLimits) -> None:
    """Add the earlier games of a match, and an offer to resign."""
    earlier = content.get("earlier") or []
    if not isinstance(earlier, list) or len(earlier) > MOST_EARLIER:
        raise ValueError(f"earlier: expected a list of at most {MOST_EARLIER} games")
    for one in earlier:
        if not isinstance(one, dict) or not isinstance(one.get("position"), str):
            raise ValueError(f"earlier: expected games with a position, found {reprlib.repr(one)}")
        position, _, options = table.situation(one["position"])
        record = new_record(table.game, position, **options)
        _play(record, one, limits)
        table.earlier.append(record)
    resigning = content.get("resigning")
    if resigning is not None:
        if resigning not in ([side, kind] for side in (0, 1) for kind in (1, 2, 3)):
            raise ValueError(f"resigning: expected a side and 1 to 3, found {resigning!r:.40}")
        table.resigning = (resigning[0], resigning[1])


def _roll(game: Game, text: Any) -> int | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError(f"roll: expected a text such as 31, found {reprlib.repr(text)}")
    return rolls_of(game).parse(text)


def _number(value: Any) -> float | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and abs(value) < 1e15 else None


def _object(content: dict[str, Any], name: str) -> dict[str, Any]:
    found = content.get(name) or {}
    if not isinstance(found, dict):
        raise ValueError(f"{name}: expected an object, found {reprlib.repr(found)}")
    return found


class KeptGames:
    """The games in a folder. Several threads may use it; files are written in one of its own.

    folder: it need not exist yet.
    most: maximum number of games; those unused for longest are removed.
    """

    def __init__(self, folder: Path, *, most: int = MOST) -> None:
        self.folder = folder
        self.most = most
        #: The error of writing the last game; empty if it was written.
        self.problem = ""
        self._pending: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kept")

    def put(self, content: dict[str, Any]) -> None:
        """Keep a game as it is now; the file is written soon, and only for the latest state."""
        with self._lock:
            waiting = content["id"] in self._pending
            self._pending[content["id"]] = content
        if not waiting:
            self._writer.submit(self._write, content["id"])

    def _write(self, id: str) -> None:
        with self._lock:
            content = self._pending.pop(id, None)
        if content is None:
            return
        path, new = self._path(id), not self._path(id).exists()
        try:
            write_atomically(path, json.dumps({"format": FORMAT, **content, "saved": time.time()}))
            if new:
                self._prune()
            self.problem = ""
        except OSError as error:
            self.problem = f"this game is not kept on disk: {error.strerror or error}"

    def _prune(self) -> None:
        for path in self._paths()[self.most :]:
            path.unlink(missing_ok=True)
        for path in self.folder.glob(f".*{UNFINISHED}"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < time.time() - STALE:
                    path.unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        return self.folder / f"{id}.json"

    def _paths(self) -> list[Path]:
        """Returns the files, the latest first."""
        found = []
        for path in self.folder.glob("*.json"):
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def read(self, id: str) -> dict[str, Any] | None:
        """Returns a kept game, or None if it cannot be read."""
        with self._lock:
            if id in self._pending:
                return self._pending[id]
        return _content(self._path(id)) if ID.fullmatch(id) else None

    def list(self) -> list[dict[str, Any]]:
        """Returns all kept games, the latest first."""
        with self._lock:
            waiting = {id: {**game, "saved": time.time()} for id, game in self._pending.items()}
        paths = [path for path in self._paths() if path.stem not in waiting]
        written = [content for path in paths if (content := _content(path)) is not None]
        return [*waiting.values(), *written]

    def forget(self, id: str) -> None:
        """Remove a game, if it is kept; once this returns, nobody finds it again."""
        with self._lock:
            self._pending.pop(id, None)
        if ID.fullmatch(id):
            self._writer.submit(lambda: self._path(id).unlink(missing_ok=True)).exception()

    def close(self) -> None:
        """Write all games that still wait."""
        self._writer.shutdown(wait=True)


def _content(path: Path) -> dict[str, Any] | None:
    """Returns the content of a file of this format that names itself, or None."""
    try:
        if path.is_symlink() or path.stat().st_size > MOST_BYTES:
            return None
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return None
    return content if content.get("id") == path.stem and ID.fullmatch(path.stem) else None
