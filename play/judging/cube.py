"""Decisions about the cube in games that were played, judged by an evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from play.judging.analysis import Playouts
from play.judging.stakes import scale_of
from play.players.limits import Limits
from play.players.seats import Seat
from play.rollout.cube import rollout_cube

__all__ = ["ERRORS", "JudgedCube", "cube_decisions", "cube_remark", "cube_summary", "judge_cube"]

#: A decision not to double counts if a double would lose less than this; other such decisions are
#: obvious.
CLOSE = 0.16
#: A double that would lose this at 1 ply is not close at any depth.
PLAIN = 2 * CLOSE
#: The names of errors, by the wrong action.
ERRORS = {
    "no double": "missed double", "double": "wrong double", "take": "wrong take",
    "drop": "wrong drop", "beaver": "wrong beaver",
}  # fmt: skip


@dataclass(frozen=True)
class JudgedCube:
    """A decision about the cube.

    ply: plies played before it.
    side: the side that decided.
    action: `double`, `no double`, `take` or `drop`.
    decision: the game's decision, such as `games.backgammon.doubling.decision.CubeDecision`.
    loss: what the action loses, in points for the cube as it stood.
    stake: what such a point is worth: points for money, in a match chances to win it.
    error: half the 95 % interval of the difference between doubling and not, if the decision was
        rolled out; else None.
    """

    ply: int
    side: int
    action: str
    decision: Any
    loss: float
    stake: float = 1.0
    error: float | None = None

    @property
    def counts(self) -> bool:
        """Whether the decision counts: an action with the cube, an error, or a close decision."""
        if self.action != "no double" or self.loss > 0:
            return True
        return bool(self.decision.loss("double") < CLOSE)


def judge_cube(
    record: Any, thinker: Seat, *, playouts: Playouts | None = None
) -> Iterator[JudgedCube]:
    """Yields every decision about the cube in the record of a game, in order.

    playouts: judges doubtful decisions by rollouts with the cube instead.

    A position where nobody doubled is searched to the thinker's depth only if a double would lose
    less than `PLAIN` at 1 ply. The first move of a game and positions in which nobody may double
    need no decision. Raises KeyboardInterrupt if Ctrl-C ended a search.
    """
    for ply, situation, actions in cube_decisions(record):
        decision, depth = None, thinker.limits.depth or 0
        if depth > 1 and thinker.limits == Limits(depth) and actions[0][1] == "no double":
            decision = thinker.decision(situation, limits=Limits(1))
        if decision is None or decision.loss("double") < PLAIN:
            decision = thinker.decision(situation, limits=thinker.limits)
        stake, error = scale_of(record.game, situation).stake, None
        lost = max(decision.loss(action) for _, action in actions)
        if playouts is not None and playouts.doubts(lost):
            found = rollout_cube(thinker.engine, situation, games=playouts.games)
            decision, error = found.decision, found.intervals[2] / stake
        for who, action in actions:
            yield JudgedCube(ply, who, action, decision, decision.loss(action), stake, error)


def cube_decisions(record: Any) -> Iterator[tuple[int, Any, tuple[tuple[int, str], ...]]]:
    """Yields the ply, the situation, and the side and action of each decision about the cube.

    The actions of a decision are `no double`, or `double` and its answer if there was one.
    """
    replay = record.beginning()
    for ply in range(record.ply + 1):
        kinds = [action.kind for action in record.actions if action.ply == ply]
        if replay.may_double and (ply or kinds) and (kinds or ply < record.ply):
            side = replay.to_move
            actions = zip((side, 1 - side), kinds[:2] or ["no double"], strict=False)
            yield ply, replay.situation(), tuple(actions)
        replay.repeat(record)
        if ply < record.ply:
            replay.follow(record)


def cube_remark(judged: JudgedCube, least: float) -> str:
    """Returns the remark on a decision that lost at least `least`; empty for other decisions."""
    if judged.loss <= 0 or judged.loss < least:
        return ""
    decision = judged.decision
    error = "" if judged.error is None else f" ± {judged.error:.3f} by rollouts"
    return (
        f"{judged.action}; lost {judged.loss:.3f}{error}: {decision.action} (no double"
        f" {decision.no_double:+.3f}, take {decision.double_take:+.3f}, drop"
        f" {decision.double_drop:+.3f})"
    )


def cube_summary(judged: Sequence[JudgedCube], side: int) -> str:
    """Returns one side's decisions about the cube in a line."""
    own = [one for one in judged if one.side == side and one.counts]
    if not own:
        return "no decisions"
    errors: dict[str, float] = {}
    for one in own:
        if one.loss > 0:
            name = ERRORS[one.action]
            errors[name] = errors.get(name, 0.0) + one.loss
    right = sum(one.loss <= 0 for one in own)
    total = sum(one.loss for one in own)
    parts = "".join(f", {name} {loss:.3f}" for name, loss in errors.items())
    return f"{len(own)} decision{'s' * (len(own) > 1)}, {right} right, lost {total:.3f}{parts}"
