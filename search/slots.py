"""A hash table of keys in an array: open addressing, and 0 for an empty slot.

The number of slots is a power of two; keys are odd, so that none is 0.
"""

from __future__ import annotations

from games.kernels import kernel

__all__ = ["find", "place_all"]


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
