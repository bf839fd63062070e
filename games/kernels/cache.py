"""Compiled kernels on disk, written by several processes at once."""

from __future__ import annotations

import hashlib
from typing import Any

from numba.core.caching import IndexDataCacheFile

__all__ = ["SharedCacheFile"]


class SharedCacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's cache of one kernel, made safe for processes that write it at the same time.

    Numba numbers the data files of a kernel by the index that it has just read. Two processes that
    compile two specialisations at once therefore take the same number, and a third later gets the
    code of the wrong one. Here the number of a file is a digest of its key, and the data is written
    before the index that points to it. If two indices are written at once, one entry is lost, and
    that specialisation is compiled again at its next use.
    """

    def save(self, key: Any, data: Any) -> None:
        """Store `data` under `key`."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        name = self._data_name(int(digest[:12], 16))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def load(self, key: Any) -> Any:
        """Returns the data stored under `key`, or None to compile again.

        Stored code may name the module of a kernel that was linked into it, and that module may
        have been renamed since; the same kernel in a new module has the same fingerprint.
        """
        try:
            return super().load(key)
        except ImportError:
            return None
