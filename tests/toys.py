"""Small games with known properties, to try searches, learners and matches on."""

from __future__ import annotations

from typing import Any

from games.contract import DiceGame
from games.features import FeatureSet
from games.kernels import kernel


@kernel
def pips(position: Any) -> Any:
    return position[2] + position[3] - position[0] - position[1]


@kernel
def their_runners(position: Any) -> Any:
    return (1 if position[2] else 0) + (1 if position[3] else 0)


@kernel
def level(position: Any) -> Any:
    return 1


class Runners(DiceGame):
    """Two runners a side, 5 and 4 fields from home: a roll of 1 to 3 moves one of them.

    Who brings both home first wins, two points where the other has brought none.
    """

    name = "runners"
    wins = False
    rolls = (0.25, 0.5, 0.25)
    #: Fields that the side to move has still to go, and those of the other.
    features = {
        "runners": FeatureSet(
            "runners", {"pips": pips, "their_runners": their_runners, "level": level}
        )
    }

    def start(self) -> Any:
        return 5, 4, 5, 4

    def legal_moves(self, position: Any, roll: int | None = None) -> list[tuple[int, int]]:
        assert roll is not None
        if self.outcome(position) is not None:
            return []
        far, near = position[:2]
        steps = {
            tuple(sorted((max(0, runner - roll - 1), other), reverse=True))
            for runner, other in ((far, near), (near, far))
            if runner
        }
        return sorted(steps)

    def play(self, position: Any, move: Any) -> Any:
        return *position[2:], *move

    def outcome(self, position: Any) -> float | None:
        far, near, *theirs = position
        if any(theirs):
            return None
        return -2.0 if near else -1.0


RUNNERS = Runners()
