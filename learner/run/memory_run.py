"""A run that fills a rote memory: it leaves memory.safetensors, and what it is worth.

The evaluator plays with the memory against itself without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from learner.arena import measure
from learner.run.run import Run, report_seed
from play.players.limits import Limits
from play.players.player import Player
from programs.arguments import THREADS
from programs.phrases import counted
from search.lookups.rote import RoteMemory

__all__ = ["MemoryRun"]


class MemoryRun(Run):
    """A rote learner in a folder."""

    made = "memory"

    @property
    def path(self) -> Path:
        return self.folder.path / "memory.safetensors"

    def start(self) -> str | None:
        if self.settings is None or self.settings.start is None:
            raise ValueError("rote learning needs an evaluator: expected --from NAME or FILE")
        return self.settings.start

    def _keep(self) -> None:
        self.learner.memory_.save(self.path, evaluator=self.learner.evaluator_.name)

    def _result(self, say: Callable[[str], None]) -> RoteMemory:
        super()._result(say)
        memory: RoteMemory = self.learner.memory_
        return memory

    def about(self, learned: RoteMemory) -> Iterator[str]:
        yield f"{counted(len(learned), 'position')} remembered: {self.path}"

    def results(self, learned: RoteMemory) -> Iterator[str]:
        settings, evaluator = self.settings, self.learner.evaluator_
        assert settings is not None
        limits = Limits(depth=settings.depth, nodes=settings.nodes)
        plies = self.learner.unlearned_plies()
        strength = measure(
            self.game,
            Player(f"{evaluator.name}+memory", evaluator, learned),
            settings.start,
            games=settings.match_games,
            limits=limits,
            seed=report_seed(self.learner),
            plies=plies,
            threads=THREADS,
        )
        yield f"with memory {strength.text()} at {limits}"
        yield f"openings of {plies} plies or more; those of learning were shorter"
        self.entries |= {
            "evaluator": f"{evaluator.name}+{self.path.name}",
            "limits": str(limits),
            "matches": [strength.as_dict()],
        }
