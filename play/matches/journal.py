"""The journal of a match: its ended pairs in a file, from which a stopped match continues.

The file has one JSON value a line. The first says what is played; each other is the name of a match
and one of its results, in the order in which they were counted. A line that was cut short by a kill
is ignored, and its pair played again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from games.contract import given
from games.record import GameRecord
from programs.lock import alone
from programs.whole_files import naming, write_atomically

__all__ = ["MatchJournal", "plain_game", "replay"]

FORMAT = "plysmith-match-3"


class MatchJournal:
    """Results of one match, or of all matches of a ladder; `MatchJournal.open` makes one."""

    def __init__(self, path: Path, results: dict[str, list[Any]]) -> None:
        self.path = path
        self._results = results
        self._file: Any = None

    @classmethod
    @contextmanager
    def open(
        cls, path: Any, head: Mapping[str, Any], *, resume: bool | None
    ) -> Iterator[MatchJournal]:
        """Begin a journal, or continue one; no other process may write it meanwhile.

        path: its file.
        head: everything that decides the results, as plain values by name.
        resume: whether to continue the file. Default: if it exists and has the same head.

        Raises FileNotFoundError if there is no match to continue, FileExistsError if a stopped
        match would be lost, ValueError for a journal that is damaged or of another match, and
        LockedError if another process plays it.
        """
        path = Path(path)
        head = json.loads(json.dumps({"format": FORMAT, **head}))
        if resume and not path.exists():
            raise FileNotFoundError(f"expected a stopped match, but {path} does not exist")
        with alone(path.with_name(path.name + ".lock"), str(path)):
            if resume is None:
                resume = path.exists() and not _other(_read(path)[0], head)
            elif path.exists() and not resume:
                raise FileExistsError(
                    f"{path} is the journal of a stopped match: continue it with --resume,"
                    " or delete this file"
                )
            lines = [head]
            if resume:
                lines = _read(path)
                other = _other(lines[0], head)
                if other:
                    raise ValueError(f"{path}: expected the same match, found {other}")
            # without a line that was cut short
            write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))
            results: dict[str, list[Any]] = {}
            for name, result in lines[1:]:
                results.setdefault(name, []).append(result)
            journal = cls(path, results)
            with naming(path):
                journal._file = path.open("a", encoding="utf-8")
            try:
                yield journal
            finally:
                with naming(path):  # lines that a full disk refused are written again
                    journal._file.close()
                if not journal._results:  # the match was refused or stopped before a result
                    journal.finish()

    def results(self, name: str) -> list[Any]:
        """Returns the results of a match so far."""
        return self._results.get(name, [])

    def add(self, name: str, result: Any) -> None:
        """Add a result of a match; raises OSError that names the file if it cannot be written."""
        with naming(self.path):
            self._file.write(json.dumps([name, result]) + "\n")
            self._file.flush()
        self._results.setdefault(name, []).append(result)

    def finish(self) -> None:
        """Remove the file: everything has been played."""
        self.path.unlink(missing_ok=True)


def _read(path: Path) -> list[Any]:
    """Returns the lines of a journal, but for a last one that was cut short."""
    lines: list[Any] = []
    try:
        texts = path.read_text(encoding="utf-8").split("\n")[:-1]
        for text in texts:
            line: Any = json.loads(text)
            good = isinstance(line, list) and len(line) == 2 if lines else isinstance(line, dict)
            if not good:
                raise ValueError(f"another line {len(lines) + 1}")
            lines.append(line)
        if not lines:
            raise ValueError("no line")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected the journal of a match, found {error}") from None
    return lines


def _other(found: Mapping[str, Any], head: Mapping[str, Any]) -> str:
    """Returns the settings in which a match differs from that of a journal, or ""."""
    return ", ".join(
        f"{name} {head.get(name)!r} (it began with {found.get(name)!r})"
        for name in sorted({*found, *head})
        if found.get(name) != head.get(name)
    )


def plain_game(record: GameRecord) -> dict[str, Any]:
    """Returns a game as plain values, from which `replay` makes it again.

    Moves are written as their numbers among the legal moves, actions of the cube with the number of
    moves before each.
    """
    moves = zip(record.positions, record.rolls, record.moves, strict=False)
    return {
        "start": record.game.position_text(record.start),
        "end": record.declared,
        "cube": [[action.ply, action.kind] for action in record.actions],
        "rolls": [None if roll is None else int(roll) for roll in record.rolls],
        "notes": [[note.value, note.depth] for note in record.annotations],
        "moves": [
            record.game.legal_moves(position, *given(roll)).index(move)
            for position, roll, move in moves
        ],
    }


def replay(record: GameRecord, plain: Mapping[str, Any]) -> None:
    """Play a plain game again on an empty record; raises ValueError if it is damaged."""
    try:
        actions = [(int(ply), kind) for ply, kind in plain.get("cube", ())]
        for number, index in enumerate([*plain["moves"], None]):
            for kind in [kind for ply, kind in actions if ply == number]:
                record.act(kind)
            if index is None:
                break
            roll, (value, depth) = plain["rolls"][number], plain["notes"][number]
            move = record.legal_moves(roll)[index]
            record.play(move, roll=roll, value=value, depth=depth)
        if plain["end"] is not None and not record.over:
            record.declare(*plain["end"])
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"expected a game of {record.game.name}, found {error!r}") from None
