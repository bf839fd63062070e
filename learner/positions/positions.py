"""Batch queries to a game's rules, by native code if the rules are kernels."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game, Rules
from games.features import FeatureSet
from games.kernels import kernel
from games.kernels.memory import native_function, read_position
from search.native import call_int, rules_addresses

__all__ = ["each", "noisy", "standard_keys"]

Positions = NDArray[np.int64]


def noisy(game: Game, positions: Any) -> NDArray[np.bool_]:
    """Returns for each position whether it is too unquiet to be evaluated.

    positions: [positions, integers], or a list of positions of the game.
    """
    if game.rules is None or not kernels.compiled:
        return np.array([bool(game.noisy(p)) for p in each(positions)], dtype=np.bool_)
    if game.rules.noisy is None:
        return np.zeros(len(positions), dtype=np.bool_)
    loud: NDArray[np.bool_] = _noise(game.rules).measure(positions)[:, 0] != 0
    return loud


def standard_keys(game: Game, positions: Positions) -> NDArray[np.int64]:
    """Returns a 63-bit hash of the standard form of each position, [positions, integers].

    Positions that are the same by symmetry share it (`Rules.standard`: in checkers, a board and the
    same turned by 180 degrees with the colours exchanged). Native and uncompiled code agree if the
    rules have a key of their own.
    """
    rules = game.rules
    if rules is None or not kernels.compiled:
        keys = [_slow_key(rules, row) for row in each(positions)]
        return np.array(keys, dtype=np.int64)
    rows = np.ascontiguousarray(positions, dtype=np.int64)
    keys_found = np.zeros(len(rows), dtype=np.int64)
    scratch = np.zeros(rows.shape[1], dtype=np.int64)
    _native_keys(rules, rows.shape[1])(
        len(rows),
        rows.ctypes.data,
        keys_found.ctypes.data,
        rules_addresses(game)["key_at"],
        scratch.ctypes.data,
    )
    return keys_found


def each(positions: Any) -> Iterable[Any]:
    """Yields positions as the game represents them: the rows of an array as tuples."""
    return map(tuple, positions.tolist()) if isinstance(positions, np.ndarray) else positions


def _slow_key(rules: Rules | None, position: tuple[int, ...]) -> int:
    if rules is not None and rules.standard is not None:
        position = tuple(kernels.uncompiled(rules.standard)(position))
    if rules is not None and rules.key is not None:
        return int(kernels.uncompiled(rules.key)(position))
    digest = hashlib.sha256(repr(tuple(int(x) for x in position)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


@functools.cache
def _noise(rules: Rules) -> FeatureSet:
    """Returns what measures many positions natively: 1 for those that are too unquiet."""
    is_noisy: Any = rules.noisy

    @kernel
    def noisy(position: Any) -> int:
        return 1 if is_noisy(position) else 0

    return FeatureSet("noisy", {"noisy": noisy})


@functools.cache
def _native_keys(rules: Rules, width: int) -> Callable[[int, int, int, int, int], None]:
    scope: dict[str, Any] = {"call_int": call_int}
    form = "position"
    if rules.standard is not None:
        scope["standard"] = rules.standard
        form = "standard(position)"
    stores = "\n".join(
        f"        store_int(scratch, {i}, int(standardised[{i}]))" for i in range(width)
    )
    text = f"""
def keys_at(count, source, target, key_at, scratch):
    for i in range(count):
        position = {read_position(width)}
        standardised = {form}
{stores}
        store_int(target, i, call_int(key_at, (scratch,)))
        source += {8 * width}
"""
    address = native_function("keys_at", text, scope, f"void({', '.join(['int64'] * 5)})")
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)(address)
