"""Sending functions, games and evaluators to other processes, and results back.

The format is pickle, between processes of one user that run one version of Plysmith; nothing here
reads or writes a file. Functions and classes of Plysmith and of installed packages are sent by
name. A user's own functions, classes and kernels are sent by value, because the other process may
be unable to import them. Games of Plysmith are sent by name.
"""

from __future__ import annotations

import functools
import io
import site
import sys
import sysconfig
import traceback
import types
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

import games
from games.contract import Game
from games.kernels.compiler import compiled, is_kernel, kernel_again, kernel_parts

__all__ = ["do_packed", "pack", "unpack"]

OURS = {"programs", "games", "search", "play", "learner", "train"}


def pack(value: Any) -> bytes:
    """Returns bytes from which `unpack` makes the same value, in this or another process.

    Kernels and games known by name are unpacked as the objects that the process already has.
    Raises TypeError for values that cannot be sent, such as an open file, a lock or a running
    search.
    """
    buffer = io.BytesIO()
    try:
        _Packer(buffer).dump(value)
    except Exception as error:
        name = getattr(value, "__name__", type(value).__name__)
        raise TypeError(
            f"expected something that can be sent to another process, found {name}: {error}"
        ) from error
    return buffer.getvalue()


def unpack(data: bytes) -> Any:
    """Returns the packed value. Use it only on bytes from your own processes: they hold code."""
    return cloudpickle.loads(data)


def do_packed(function: bytes, tasks: bytes) -> tuple[bytes, BaseException | None]:
    """Call a packed function for each of a packed list of tasks, up to one that fails.

    Returns the packed list of (True, result) or, as the last, (False, exception), and the
    exception.
    """
    done: list[tuple[bool, Any]] = []
    fault: BaseException | None = None
    try:
        called = _function(function)
        for task in unpack(tasks):
            done.append((True, called(task)))
        return pack(done), None
    except BaseException as error:
        fault = error
        done = done if len(done) < len(unpack(tasks)) else []  # the results cannot be sent
        error.add_note("in another process:\n" + traceback.format_exc())
        try:
            packed = pack([*done, (False, error)])
            unpack(packed)
        except BaseException:  # some exceptions cannot be pickled
            packed = pack([*done, (False, RuntimeError(f"{type(error).__name__}: {error}"))])
    return packed, fault


@functools.lru_cache(maxsize=4)
def _function(packed: bytes) -> Any:
    return unpack(packed)


class _Packer(cloudpickle.Pickler):  # type: ignore[misc, unused-ignore]
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (types.FunctionType, type)):
            if _is_a_users(value.__module__):
                cloudpickle.register_pickle_by_value(sys.modules[value.__module__])
        elif isinstance(value, Game):
            name = _known_name(value)
            if name:
                return _game, (name,)
        elif callable(value):
            if _importable(value):
                return _attribute, (value.__module__, value.__name__)
            if compiled and is_kernel(value):
                return kernel_again, (value.fingerprint, *kernel_parts(value))
        return super().reducer_override(value)


def _attribute(module: str, name: str) -> Any:
    __import__(module)
    return getattr(sys.modules[module], name)


@functools.cache
def _game(name: str) -> Game:
    return games.known(name)


def _known_name(game: Game) -> str:
    """Returns the name by which `games.known` makes the same game; empty for a user's own game."""
    if game.name not in games.names():
        return ""
    shipped = _game(game.name)
    mine, its = vars(game), vars(shipped)
    # games may have options, and this one may have been given another feature set
    same = type(shipped) is type(game) and mine.keys() == its.keys()
    return game.name if same and all(_same(mine[part], its[part]) for part in mine) else ""


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, types.MethodType) and isinstance(other, types.MethodType):
        return one.__func__ is other.__func__
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _importable(value: Any) -> bool:
    """Returns whether a callable can be imported by its name in every process."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str) or _is_a_users(module):
        return False
    return getattr(sys.modules.get(module), name, None) is value


def _is_a_users(module: str | None) -> bool:
    """Returns whether a module is a user's own, which other processes may fail to import."""
    if module is None or module not in sys.modules:
        return False
    return _stands_alone(module, getattr(sys.modules[module], "__file__", None))


@functools.cache
def _stands_alone(module: str, file: str | None) -> bool:
    top = module.partition(".")[0]
    if file is None or top in OURS or top in sys.stdlib_module_names:
        return False
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    path = Path(file).absolute()
    return not any(path.is_relative_to(folder) for folder in folders)
