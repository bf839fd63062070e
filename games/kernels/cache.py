"""Compiled kernels on disk, written by several processes at once."""

from __future__ import annotations

import hashlib
from typing import Any

from numba.core.caching import IndexDataCacheFile

__all__ = ["SharedCacheFile"]


class SharedCacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's cache of one kernel, safe for processes that write it at the same time.

    Numba numbers the data files of a kernel by the index that it has just read. Two processes that
    compile two specialisations at once take the same number, and a third is later given the code
    of one for the other. Here a file's number follows from its key, and the data is written before
    the index that points to it. If two indices are written at once, one entry is lost, and that
    specialisation is compiled again at its next use.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep `data` under `key`."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        name = self._data_name(int(digest[:12], 16))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def load(self, key: Any) -> Any:
        """What was kept under `key`, or None to compile again.

        Kept code may name the module of a kernel that was linked into it, and that file may have
        been renamed since: the same kernel in a new place has the same fingerprint.
        """
        try:
            return super().load(key)
        except ImportError:
            return None
