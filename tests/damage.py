"""Damages of files, and changes of those of evaluators."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.numpy

from search import Evaluator, load_evaluator
from search.evaluators.files.arrays import load_arrays


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(place: int) -> Callable[[bytes], bytes]:
    """Returns a change of one bit at a place, which may count from the end."""

    def change(content: bytes) -> bytes:
        at = place % len(content)
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    return change


def reread(
    path: Path, evaluator: Evaluator, change: Callable[[dict[str, Any], dict[str, Any]], object],
    **options: Any,
) -> Evaluator:  # fmt: skip
    """Returns the evaluator in a file after a change of the file's header and arrays.

    path: the file to which the evaluator is saved first.
    options: those of `load_evaluator`.
    """
    evaluator.save(path)
    header, arrays = load_arrays(path)
    change(header, arrays)
    path.write_bytes(safetensors.numpy.save(arrays, {"plysmith": json.dumps(header)}))
    return load_evaluator(path, **options)
