"""Compiled kernels on disk, written by several processes at once and read only from own folders."""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import warnings
from typing import Any

from numba.core import config
from numba.core.caching import IndexDataCacheFile

__all__ = ["SharedCacheFile", "only_ours"]

# Numba reads this file in the current folder, wherever that is, and it can name a module to import
# and a folder of compiled code. Variables of the environment are read as before.
config._config_fname = os.devnull
config.reload_config()


class SharedCacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's cache of one kernel, made safe for processes that write it at the same time.

    Numba numbers the data files of a kernel by the index that it has just read. Two processes that
    compile two specialisations at once therefore take the same number, and a third later gets the
    code of the wrong one. Here the number of a file is a digest of its key, and the data is written
    before the index that points to it. If two indices are written at once, one entry is lost, and
    that specialisation is compiled again at its next use.

    The files are pickles with machine code. They are neither read from nor written to a folder that
    another user can write to.
    """

    def save(self, key: Any, data: Any) -> None:
        """Store `data` under `key`."""
        if not _is_trusted(self._cache_path):
            return
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
            return super().load(key) if _is_trusted(self._cache_path) else None
        except ImportError:
            return None

    def _load_index(self) -> Any:
        return super()._load_index() if only_ours(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not only_ours(path):
            raise FileNotFoundError(path)  # as if it were not there
        return super()._load_data(name)


@functools.cache
def _is_trusted(folder: str) -> bool:
    """Returns whether compiled code may be kept in a folder; warns once if not."""
    if only_ours(folder):
        return True
    warnings.warn(
        f"{folder}: expected a folder that only you can write to, found one that others own or can"
        " write to; compiled code is not kept in it, so that every start compiles again"
        " (NUMBA_CACHE_DIR names another folder)",
        RuntimeWarning,
        stacklevel=2,
    )
    return False


def only_ours(path: Any) -> bool:
    """Returns whether a file or folder exists and only this user and root can write to it.

    A group counts as this user if it is the user's own group, which some systems give each user.
    """
    try:
        status = os.stat(path)
    except OSError:
        return False
    if os.name != "posix":  # other systems keep folders of users apart
        return True
    shared = bool(status.st_mode & stat.S_IWOTH)
    if status.st_mode & stat.S_IWGRP:
        shared = shared or not _is_private(status.st_gid)
    return status.st_uid in (0, os.geteuid()) and not shared


@functools.cache
def _is_private(group: int) -> bool:
    """Returns whether a group is that of this user alone, by name and members."""
    import grp
    import pwd

    try:
        name, entry = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return entry.gr_name == name and set(entry.gr_mem) <= {name}
