"""Decisions about the cube in games that were played, judged by an evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from games.record import new_record
from play.judging.analysis import Judged
from play.players.thinker import Thinker

__all__ = ["JudgedCube", "cube_remark", "cube_summary", "judge_cube", "rating"]

#: A decision not to double counts if a double would lose less than this: others are plain.
CLOSE = 0.16
#: Error of a decision in points below which a player has the rating (GNU Backgammon's words).
RATINGS = (
    (0.002, "supernatural"), (0.005, "world class"), (0.008, "expert"), (0.012, "advanced"),
    (0.018, "intermediate"), (0.026, "casual player"), (0.035, "beginner"),
)  # fmt: skip


@dataclass(frozen=True)
class JudgedCube:
    """A decision about the cube.

    ply: plies played before it.
    side: the side that decided.
    action: `double`, `no double`, `take` or `drop`.
    decision: the game's decision, such as `games.backgammon.CubeDecision`.
    loss: what the action loses, in points for the cube as it stood.
    """

    ply: int
    side: int
    action: str
    decision: Any
    loss: float

    @property
    def counts(self) -> bool:
        """Whether the decision was not plain: an action with the cube, an error, or a close one."""
        if self.action != "no double" or self.loss > 0:
            return True
        return bool(self.decision.loss("double") < CLOSE)


def judge_cube(
    record: Any, thinker: Thinker, *, progress: Callable[[], Any] = lambda: None
) -> list[JudgedCube]:
    """Returns every decision about the cube of a record of a game with one, in order.

    The first move of a game and positions in which nobody may double have none. Raises
    KeyboardInterrupt if Ctrl-C ended a search.
    """
    judged: list[JudgedCube] = []
    replay: Any = new_record(
        record.game, record.start, match_length=record.match_length, score=record.score,
        cube=record.first_cube, owner=record.first_owner, crawford=record.crawford,
        jacoby=record.jacoby,
    )  # fmt: skip
    actions = list(record.actions)
    for ply in range(record.ply + 1):
        side = replay.to_move
        doubled = bool(actions) and actions[0].ply == ply
        if replay.may_double and (ply or doubled) and (doubled or ply < record.ply):
            decision = thinker.decide(replay.situation())
            action = "double" if doubled else "no double"
            judged.append(JudgedCube(ply, side, action, decision, decision.loss(action)))
            if len(actions) > 1 and doubled and actions[1].ply == ply:
                answer = actions[1].kind
                judged.append(JudgedCube(ply, 1 - side, answer, decision, decision.loss(answer)))
        while actions and actions[0].ply == ply:
            getattr(replay, actions.pop(0).kind)()
        if ply < record.ply:
            replay.play(record.moves[ply], roll=record.rolls[ply])
            progress()
    return judged


def cube_remark(judged: JudgedCube, least: float) -> str:
    """Returns the remark on a decision that lost at least `least`; empty for other decisions."""
    if judged.loss <= 0 or judged.loss < least:
        return ""
    decision = judged.decision
    return (
        f"{judged.action}; lost {judged.loss:.3f}: {decision.action} (no double"
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
            name = {"no double": "missed", "double": "wrong double"}.get(
                one.action, f"wrong {one.action}"
            )
            errors[name] = errors.get(name, 0.0) + one.loss
    right = sum(one.loss <= 0 for one in own)
    total = sum(one.loss for one in own)
    parts = "".join(f", {name} {loss:.3f}" for name, loss in errors.items())
    return f"{len(own)} decision{'s' * (len(own) > 1)}, {right} right, lost {total:.3f}{parts}"


def rating(moves: Sequence[Judged], cubes: Sequence[JudgedCube], side: int) -> Iterator[str]:
    """Yields a side's errors over games: of moves, of the cube, and the rating of both together.

    Each decision counts that is not forced or plain. Nothing is yielded without any.
    """
    losses = [one.loss for one in moves if one.side == side and one.choices > 1]
    cube = [one.loss for one in cubes if one.side == side and one.counts]
    if not losses and not cube:
        return
    error = (sum(losses) + sum(cube)) / (len(losses) + len(cube))
    word = next((name for most, name in RATINGS if error < most), "awful")
    yield (
        f"moves lost {sum(losses):.3f} in {len(losses)}, the cube {sum(cube):.3f} in {len(cube)};"
        f" {1000 * error:.1f} thousandths a decision: {word}"
    )
