"""The journal of a run on a cluster: games that have been played, but not learned from.

Results come from many machines as they are done, and are learned from in order. When a run stops,
waiting results would be lost. So they are written to the run's folder until the round is over, and
a resumed run plays only the others.

The file is text: numbers, arrays and the fields of the classes in `KINDS`. So a journal from
elsewhere can run no code, and a damaged line, or one of another round, counts for nothing: its
games are played again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Game
from learner.dice_play import PlayedWithDice
from learner.multiplayer_play import PlayedByMany
from learner.positions.packing import packed, unpacked
from learner.self_play import Lesson
from play.matches.game_loop import Played
from programs.whole_files import naming

__all__ = ["Journal"]

#: The classes of results, by the names that they have in a file.
KINDS = {kind.__name__: kind for kind in (Lesson, Played, PlayedByMany, PlayedWithDice)}


class Journal:
    """The games of one round, in a file.

    path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mark = b""

    def begin(self, game: Game, mark: str) -> dict[int, Any]:
        """Begin a round or resume one; returns the results of its games by their numbers.

        game: the game that is played.
        mark: everything that decides the results. Those of other rounds are deleted.
        """
        self._game, self._mark = game, mark.encode()
        results, whole = dict[int, Any](), 0
        for line in self.path.read_bytes().splitlines(True) if self.path.exists() else ():
            digest, _, text = line.partition(b" ")
            if digest != self._digest(text):
                break  # the file is of another round, or damaged
            try:
                number, plain = json.loads(text)
                results[int(number)] = self._value(plain)
            except (ValueError, TypeError, KeyError, RecursionError):
                break  # not written here
            whole += len(line)
        with naming(self.path), self.path.open("ab") as file:
            file.truncate(whole)
        return results

    def add(self, numbers: Sequence[int], results: Sequence[Any]) -> None:
        """Store the results of games, except for those with objects of a user's own class.

        Raises OSError that names the file if it cannot be written.
        """
        lines = list[bytes]()
        for number, result in zip(numbers, results, strict=True):
            try:
                text = json.dumps([number, self._plain(result)]).encode() + b"\n"
            except TypeError:  # the game is played again
                continue
            lines.append(self._digest(text) + b" " + text)
        with naming(self.path), self.path.open("ab") as file:
            file.writelines(lines)

    def _digest(self, text: bytes) -> bytes:
        return hashlib.sha256(self._mark + b"\n" + text).hexdigest().encode()

    def _plain(self, value: Any) -> Any:
        """Returns a value as JSON: numbers and texts as they are, anything else as {kind: parts}.

        Raises TypeError for an object of another class.
        """
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if value is self._game or kind is type(self._game):
            return {"game": None}
        if kind in (list, tuple):
            return {kind.__name__: [self._plain(one) for one in value]}
        if kind is dict:
            return {"dict": [[self._plain(one) for one in pair] for pair in value.items()]}
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
            return {"array": [value.dtype.str, np.shape(value), packed(np.asarray(value))]}
        if KINDS.get(kind.__name__) is kind:
            return {kind.__name__: [self._plain(getattr(value, f.name)) for f in fields(value)]}
        raise TypeError(f"expected numbers, texts and arrays, found {kind.__name__}")

    def _value(self, plain: Any) -> Any:
        """Returns the value that `_plain` made plain."""
        if plain is None or type(plain) in (bool, int, float, str):
            return plain
        if not isinstance(plain, dict):
            raise TypeError(f"expected numbers, texts and arrays, found {type(plain).__name__}")
        ((kind, parts),) = plain.items()
        if kind == "game":
            return self._game
        if kind == "array":
            dtype, shape, text = parts
            return unpacked(text, dtype, size=int(np.prod(shape))).reshape(shape)[()]
        if kind == "dict":
            return {self._value(key): self._value(value) for key, value in parts}
        values = [self._value(part) for part in parts]
        if kind == "list":
            return values
        return tuple(values) if kind == "tuple" else KINDS[kind](*values)
