"""A run of rote learning: a memory filled in a folder, as memory.sqlite at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learner.run.run import Run
from search.lookups.rote import RoteMemory

__all__ = ["MemoryRun"]


class MemoryRun(Run):
    """A rote learner in a folder."""

    @property
    def path(self) -> Any:
        """The file of the memory."""
        return self.folder.path / "memory.sqlite"

    def _result(self, say: Callable[[str], None]) -> RoteMemory:
        memory: RoteMemory = self.learner.memory_
        if not self.finished:
            memory.save(self.path, evaluator=self.learner.evaluator_.name)
        return memory
