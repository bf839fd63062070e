"""The journal of a run on a cluster: games that have been played, but not learned from.

Results come from many machines as they are done, and are learned from in order. Those that wait
when a run stops would be lost. Here they are kept in the run's folder until the round is over, and
a resumed run plays only the others.

The results are pickles, as they come from the workers. So that nobody else's file can run code,
each is signed with a key that only this user can read, in the user's cache folder. A journal
without the right signature, of another machine for example, counts for nothing: its games are
played again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_cache_dir

from games.whole_files import naming
from play.workers.transport import unpack

__all__ = ["Journal"]

SIGNATURE, LENGTH = 32, 8


class Journal:
    """The games of one round, in a file.

    path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = _key()
        self._mark = ""

    def begin(self, mark: str) -> dict[int, Any]:
        """Begin a round, or go on with one; returns the results of its games, by their numbers.

        mark: everything that decides the results. Those of other rounds are deleted.
        """
        self._mark = mark
        known, whole = dict[int, Any](), 0
        data = self.path.read_bytes() if self.path.exists() else b""
        while len(data) - whole > SIGNATURE + LENGTH:
            start = whole + SIGNATURE + LENGTH
            end = start + int.from_bytes(data[start - LENGTH : start], "little")
            content = data[start:end]
            signature = data[whole : whole + SIGNATURE]
            if not hmac.compare_digest(signature, self._signature(content)):
                break  # of another round, cut short, or not ours
            numbers, _, results = content.partition(b"\n")
            for number, (done, result) in zip(json.loads(numbers), unpack(results), strict=False):
                if done:
                    known[number] = result
            whole = end
        with naming(self.path), self.path.open("ab") as file:
            file.truncate(whole)
        return known

    def add(self, numbers: Sequence[int], results: bytes) -> None:
        """Keep the results of games, packed as `play.workers.cluster` gets them.

        Raises OSError that names the file if it cannot be written.
        """
        content = json.dumps(list(numbers)).encode() + b"\n" + results
        record = self._signature(content) + len(content).to_bytes(LENGTH, "little") + content
        with naming(self.path), self.path.open("ab") as file:
            file.write(record)

    def _signature(self, content: bytes) -> bytes:
        return hmac.digest(self._key, self._mark.encode() + b"\n" + content, hashlib.sha256)


def _key() -> bytes:
    """Returns the user's key, which is made at the first call."""
    path = Path(user_cache_dir("plysmith", appauthor=False)) / "journal.key"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(SIGNATURE))
    except FileExistsError:
        pass
    about = path.stat()
    if os.name == "posix" and (about.st_uid != os.getuid() or about.st_mode & 0o077):
        raise PermissionError(
            f"{path}: expected a file that only user {os.getuid()} can read, found one of user"
            f" {about.st_uid} with mode {about.st_mode & 0o777:o}"
        )
    return path.read_bytes()
