"""Arrays as text for checkpoints, which are JSON; lists of numbers would take seconds to write."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.evaluators.layers import LayeredNetwork

__all__ = ["arrays_of", "pack_weights", "packed", "unpack_weights", "unpacked"]


def packed(array: NDArray[Any], *, level: int = 0) -> str:
    """Returns the bytes of an array as text; `level` 1 to 9 compresses them, 0 does not."""
    data = np.ascontiguousarray(array).tobytes()
    return base64.b64encode(zlib.compress(data, level) if level else data).decode("ascii")


def unpacked(
    text: str, kind: Any, *, size: int | None = None, compressed: bool = False
) -> NDArray[Any]:
    """Returns the one-dimensional array that `packed` packed.

    size: the expected number of entries, which also limits the memory used (default: any, for text
        that is not compressed).

    Raises ValueError for any other size.
    """
    data = base64.b64decode(text, validate=True)
    if size is None:
        return np.frombuffer(data, dtype=kind).copy()
    length = size * np.dtype(kind).itemsize
    if compressed:
        try:
            data = zlib.decompressobj().decompress(data, length + 1)
        except zlib.error as error:
            raise ValueError(f"expected {size} numbers, found damaged data: {error}") from None
    if len(data) != length:
        raise ValueError(f"expected {size} numbers of {np.dtype(kind)}, found {len(data)} bytes")
    return np.frombuffer(data, dtype=kind).copy()


def arrays_of(network: LayeredNetwork) -> list[NDArray[np.float32]]:
    """Returns all weights and biases, in the order of a file."""
    return [array for net in network.nets for array in net.arrays]


def pack_weights(network: LayeredNetwork) -> str:
    """Returns the weights and biases of all nets as text."""
    return packed(np.concatenate([array.reshape(-1) for array in arrays_of(network)]))


def unpack_weights(text: str, network: LayeredNetwork) -> None:
    """Give a network of the same shape the weights that `pack_weights` packed.

    Raises ValueError, and changes nothing, for another number of weights, NaN and infinity.
    """
    arrays = arrays_of(network)
    numbers = unpacked(text, np.float32, size=sum(array.size for array in arrays))
    if not np.isfinite(numbers).all():
        raise ValueError("expected finite weights, found NaN or infinity")
    place = 0
    for array in arrays:
        array[...] = numbers[place : place + array.size].reshape(array.shape)
        place += array.size
