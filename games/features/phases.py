"""Phases: stages of a game that evaluators have a part of their own for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from games.kernels import is_kernel

__all__ = ["Phases"]


@dataclass(frozen=True)
class Phases:
    """Names of the phases, and the kernel `phase(position)` that tells which it is, from 0 on."""

    names: tuple[str, ...]
    phase: Callable[[Any], int]

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError("phases: expected at least one name, found none")
        if not is_kernel(self.phase):
            raise TypeError("phases: expected phase to be a function marked with @kernel")

    def __len__(self) -> int:
        return len(self.names)
