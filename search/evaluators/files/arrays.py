"""Files of evaluators whose weights are arrays: safetensors with a header in JSON.

The header (see `search.evaluators.files.header`) is in the file's metadata under "plysmith"; the
arrays are plain numbers, so that reading a file runs no code from it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from programs.whole_files import write_atomically
from search.evaluators.files.header import MOST_WEIGHT, EvaluatorError, parse_json, reading, short

__all__ = [
    "MOST_ARRAY_BYTES",
    "MOST_FILE_BYTES",
    "holds_arrays",
    "load_arrays",
    "save_arrays",
    "take_array",
]

#: Largest file, and how much of it is read into memory: tables of single bytes may be larger, which
#: are mapped, so that they take memory where they are looked up.
MOST_FILE_BYTES, MOST_ARRAY_BYTES = 1 << 30, 256 << 20
_KEY = "plysmith"
#: Types of numbers that a file may hold, by their names in safetensors.
_TYPES = {
    "F32": "float32", "F64": "float64",
    "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64",
}  # fmt: skip


def save_arrays(path: Any, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write arrays of float32, float64 or int8 to int64 with a header, atomically.

    The same content gives the same bytes. Raises EvaluatorError if an array has another type or
    contains NaN or infinity.
    """
    for name, array in arrays.items():
        if str(array.dtype) not in _TYPES.values():
            raise EvaluatorError(
                f"{name}: expected an array of {', '.join(_TYPES.values())}, found {array.dtype}"
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise EvaluatorError(f"{name}: expected finite numbers, found NaN or infinity")
    dense = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(dict(header))
    write_atomically(path, safetensors.numpy.save(dense, {_KEY: text}))


def holds_arrays(path: Path) -> bool:
    """Returns whether a file has the form that `save_arrays` writes, by its first bytes.

    If these are neither of this form nor the beginning of JSON, the suffix decides.
    """
    with path.open("rb") as file:
        head = file.read(9)
    # eight bytes hold the length of the JSON text behind them, which is below 2**40
    if head[5:] == b"\0\0\0{":
        return True
    return path.suffix == ".safetensors" and head.lstrip()[:1] not in (b"{", b"[")


def load_arrays(
    path: Any, most: float = MOST_WEIGHT
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Returns the header and the arrays in a file; the caller checks their meaning.

    Arrays of int8 in files of more than 256 MiB are mapped: read-only, and valid for as long as the
    file is not written over (`save_arrays` replaces it instead).

    Raises EvaluatorError if the file is damaged, cut short, larger than 1 GiB or without header, if
    its other arrays exceed 256 MiB, or if it contains numbers beyond `most` or of types that
    `save_arrays` does not write.
    """
    with reading(Path(path)):
        return _read(Path(path), most)


def _read(path: Path, most: float) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    size = path.stat().st_size
    if size > MOST_FILE_BYTES:
        raise EvaluatorError(f"expected at most {MOST_FILE_BYTES} bytes, found a larger file")
    mapped = size > MOST_ARRAY_BYTES
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            read = 0
            for name in sorted(file.keys()):
                kind, shape = file.get_slice(name).get_dtype(), file.get_slice(name).get_shape()
                if kind not in _TYPES:
                    raise EvaluatorError(
                        f"{short(name)}: expected one of {', '.join(_TYPES)}, found {short(kind)}"
                    )
                if mapped and kind == "I8":
                    arrays[name] = _mapped(path, name, shape)
                    continue
                read += math.prod(shape) * np.dtype(_TYPES[kind]).itemsize
                if read > MOST_ARRAY_BYTES:
                    raise EvaluatorError(
                        f"expected at most {MOST_ARRAY_BYTES} bytes without tables of int8,"
                        " found more"
                    )
                arrays[name] = np.array(file.get_tensor(name))
    except (safetensors.SafetensorError, OverflowError, MemoryError) as error:
        raise EvaluatorError(
            f"expected a whole safetensors file, found none: {short(error)}"
        ) from None
    if _KEY not in metadata:
        raise EvaluatorError(
            f"expected {_KEY!r} in the file's metadata, found {short(sorted(metadata))}"
        )
    content = parse_json(metadata[_KEY])
    if not isinstance(content, dict):
        raise EvaluatorError(f"expected a JSON object, found {type(content).__name__}")
    numbers = {name: np.array(n) for name, n in content.items() if isinstance(n, float)}
    for name, array in (arrays | numbers).items():
        if array.dtype.kind != "f" or not array.size:
            continue
        largest = float(np.abs(array).max())
        if not largest <= most:
            raise EvaluatorError(
                f"{short(name)}: expected finite numbers of at most {most:g},"
                f" found {'NaN or infinity' if not np.isfinite(largest) else f'{largest:g}'}"
            )
    return content, arrays


def _mapped(path: Path, name: str, shape: list[int]) -> NDArray[Any]:
    """Returns an array of int8 in a file that safetensors has found whole, without reading it."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        begin, end = json.loads(file.read(length))[name]["data_offsets"]
    if begin == end:
        return np.zeros(shape, dtype=np.int8)
    return np.memmap(path, dtype=np.int8, mode="r", offset=8 + length + begin, shape=tuple(shape))


def take_array(
    arrays: dict[str, NDArray[Any]], name: str, dtype: Any, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Remove an array from `arrays` and return it.

    Readers take all arrays that they know, and refuse the file if one is left over. Raises
    EvaluatorError if the array does not exist or has another type or shape.
    """
    array = arrays.pop(name, None)
    if array is None:
        raise EvaluatorError(f"expected an array {name!r}, found none")
    if array.dtype != dtype or array.shape != shape:
        raise EvaluatorError(
            f"{name}: expected {np.dtype(dtype)} of shape {shape}, found {array.dtype} of"
            f" shape {array.shape}"
        )
    return array
