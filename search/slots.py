"""A hash table of keys in an array: open addressing, and 0 for an empty slot.

The number of slots is a power of two; keys are odd, so that none is 0.
"""

from __future__ import annotations

import functools
from typing import Any

from games.contract import Rules
from games.kernels import kernel, product

__all__ = ["find", "place_all", "standard_key"]


@kernel
def find(keys, mask, key):
    """Returns the slot of a key, or the empty slot where it belongs."""
    slot = (key ^ (key >> 31)) & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def place_all(keys, mask, new_keys, slots):
    """Write the slot of every key to `slots`; new keys are entered into the table."""
    for i in range(len(new_keys)):
        slot = find(keys, mask, new_keys[i])
        keys[slot] = new_keys[i]
        slots[i] = slot


@kernel
def _mixed(position):
    """Returns a hash of a position's integers, for games whose rules have no key."""
    mixed = len(position)
    for i in range(len(position)):
        mixed = product(mixed ^ position[i], 0x1E3779B97F4A7C15)
        mixed ^= (mixed >> 31) & 0x1FFFFFFFF
    return mixed & 0x7FFFFFFFFFFFFFFF


@kernel
def _itself(position):
    return position


@functools.cache
def standard_key(rules: Rules) -> Any:
    """Returns a kernel key(position): the key for `find` of the standard form of a position."""
    hashed, standard = rules.key or _mixed, rules.standard or _itself

    @kernel
    def key(position):
        return hashed(standard(position)) | 1

    return key
