"""Compiled kernels on disk, written by several processes at once and read only from own folders."""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pickle
import stat
import warnings
from pathlib import Path
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
    another user can write to. The first line of each has the length and the digest of the rest,
    which are checked before that is unpickled: code in a damaged file is compiled again, and a
    warning names the file. A file that cannot be written is done without.
    """

    def save(self, key: Any, data: Any) -> None:
        """Store `data` under `key`."""
        if not _is_trusted(self._cache_path):
            return
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        name = self._data_name(int(digest[:12], 16))
        try:
            self._save_data(name, data)
            self._save_index({**self._load_index(), key: name})
        except OSError as error:
            _warn(f"{self._index_path}: compiled code is not kept: {error.strerror}")

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
        version, content = (self._read(self._index_path, 2) or [None, None])[:2]
        if version != self._version:
            return {}
        stamp, names = content
        return names if stamp == self._source_stamp else {}

    def _save_index(self, overloads: Any) -> None:
        content = self._source_stamp, overloads
        self._write(self._index_path, self._dump(self._version) + self._dump(content))

    def _load_data(self, name: str) -> Any:
        values = self._read(self._data_path(name), 1)
        return values[0] if values else None

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _write(self, path: str, data: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(_head(data) + b"\n" + data)

    def _read(self, path: str, count: int) -> list[Any] | None:
        """Returns the pickles in a file; None if it does not exist or is damaged."""
        if not only_ours(path) or not os.path.isfile(path):
            return None  # as if it were not there
        try:
            content = Path(path).read_bytes()
            head, _, data = content.partition(b"\n")
            if head != _head(data):
                raise ValueError("another length or digest than the file says")
            file = io.BytesIO(data)
            return [pickle.load(file) for _ in range(count)]
        except ImportError:
            raise
        except Exception as error:
            _warn(f"{path}: damaged, so that its code is compiled again: {error}")
            return None


def _head(data: bytes) -> bytes:
    return f"plysmith {len(data)} {hashlib.sha256(data).hexdigest()}".encode()


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


@functools.cache
def _is_trusted(folder: str) -> bool:
    """Returns whether compiled code may be kept in a folder; warns once if not."""
    if only_ours(folder):
        return True
    _warn(
        f"{folder}: expected a folder that only you can write to, found one that others own or can"
        " write to; compiled code is not kept in it, so that every start compiles again"
        " (NUMBA_CACHE_DIR names another folder)"
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
