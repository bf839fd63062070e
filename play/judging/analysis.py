"""Games judged move by move: the value of each move, and the evaluator's choice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from games.kernels import uncompiled
from games.record import Annotation, GameRecord
from games.values import proven_text, value_text
from play.judging.decision import ROUNDING, decision
from play.judging.marks import accuracy, mark_of
from play.judging.stakes import move_values, scale_of
from play.players.limits import STATIC, Limits
from play.players.seats import Seat
from play.rollout.dice import half_widths
from play.rollout.rollout import rollout
from search import PROVEN, Result
from search.expectiminimax.move_filters import as_filters
from search.expectiminimax.search import ExpectiminimaxOptions

__all__ = ["Judged", "Playouts", "judge_moves", "judged_record", "remark", "summary"]

#: The move filter that every move passes.
EVERY = (None, math.inf)


@dataclass(frozen=True)
class Judged:
    """An evaluator's judgement of a move.

    Values are for the side that made it, in the game's unit; with a cube in points for the cube as
    it stands.

    ply: plies played before the move.
    side: the side that made it, 0 or 1.
    move, value: the move played and its value.
    best, best_value: the best move and its value.
    loss, given_up: as in `play.judging.decision.Decision`.
    depth: depth of the search.
    choices: number of legal moves.
    stake: what a point of the values is worth: points for money, in a match chances to win it.
    error: half the 95 % interval of the loss, if the moves were rolled out, else None.
    """

    ply: int
    side: int
    move: Any
    value: float
    best: Any
    best_value: float
    loss: float
    depth: int
    choices: int
    given_up: float | None = None
    stake: float = 1.0
    error: float | None = None

    @property
    def preferred(self) -> bool:
        """Whether no other move has a better value."""
        return self.loss == 0.0


@dataclass(frozen=True)
class Playouts:
    """The rollouts of doubtful decisions: a move that seems to lose, and those that seem better.

    games: games for each move, and for each value of a decision about the cube.
    least: the smallest loss by the search that is doubtful.
    most: the greatest number of better moves, the best of them by the search.
    """

    games: int
    least: float = 0.0
    most: int = 3

    def doubts(self, lost: float) -> bool:
        """Whether a decision with this loss by the search is doubtful."""
        return lost > ROUNDING and lost >= self.least


def judge_moves(
    record: GameRecord, thinker: Seat, *, cube: bool = False, playouts: Playouts | None = None
) -> Iterator[Judged]:
    """Yields every move of a game, valued by an exact search within the thinker's limits.

    cube: whether values count the cube and the score, as in `play.judging.stakes`.
    playouts: in a game with dice, values doubtful moves by rollouts as well.

    With move filters only the move played and those that pass each filter are searched deeper. If
    no other move passes, the move played keeps its value from the last depth. Searches know the
    earlier positions of the game, as in play. Raises KeyboardInterrupt if Ctrl-C ended a search.
    """
    replay: Any = record.beginning() if cube else _replay(record)
    thinker.forget()
    for ply, move in enumerate(record.moves):
        if cube:
            replay.repeat(record)
        position, roll = record.positions[ply], record.rolls[ply]
        situation = replay.situation(roll) if cube else None
        stake, error = scale_of(record.game, situation).stake if cube else 1.0, None
        count, values, result = _searched(thinker, position, roll, replay.history, move, situation)
        lost = max(values.values()) - values[move]
        if playouts is not None and playouts.doubts(lost):
            better = sorted((one for one in values if values[one] > values[move]),
                            key=lambda one: -values[one])  # fmt: skip
            doubtful = [*better[: playouts.most], move]
            known, error = _rolled_out(thinker, position, roll, doubtful, playouts.games, situation)
            values = {one: known[one] for one in doubtful}
        shown = {one: thinker.evaluator.in_units(value) for one, value in values.items()}
        points = thinker.evaluator.gives_outcomes or error is not None
        judged = decision(record.game, move, shown, result.chances_after, points=points)
        yield Judged(
            ply, record.game.to_move(position), move, judged.value, judged.best, judged.best_value,
            judged.loss, result.depth, count, judged.given_up, stake, error,
        )  # fmt: skip
        replay.follow(record)


def _searched(
    thinker: Seat, position: Any, roll: int | None, history: Sequence[Any], move: Any,
    situation: Any,
) -> tuple[int, dict[Any, float], Result]:  # fmt: skip
    """Returns the number of legal moves, the values of those that matter, and the last result.

    situation: the match and the cube that the values are for, or None.
    """
    game, filters = thinker.game, _filters(thinker)
    result = thinker.think(
        position, roll=roll, history=history, all_moves=True, limits=STATIC if filters else None
    ).whole()
    values = _values(game, situation, result)
    for depth, (most, margin) in enumerate(filters, 1):
        ranked = sorted(values, key=lambda one: -values[one])
        kept = [one for one in ranked[:most] if values[one] >= values[ranked[0]] - margin]
        kept += [move] * (move not in kept)
        if len(kept) == 1:
            break
        if depth < len(filters) and filters[depth] == EVERY:
            values = {one: values[one] for one in kept}
            continue
        found = [thinker.engine.search(game.play(position, one), depth=depth) for one in kept]
        turned = [_turned(game, one.whole().outcomes) for one in found if one.outcomes is not None]
        moves = tuple((one, -after.value) for one, after in zip(kept, found, strict=True))
        deeper = replace(result, moves=moves, move_outcomes=tuple(turned), depth=depth)
        values, result = _values(game, situation, deeper), replace(deeper, moves=result.moves)
    return len(result.moves), values, result


def _values(game: Any, situation: Any, result: Result) -> dict[Any, float]:
    """Returns the values of a result's moves, with the cube unless the situation is None."""
    values = dict(result.moves)
    if situation is None:
        return values
    return move_values(game, situation, values, result.move_outcomes)


def _filters(thinker: Seat) -> list[tuple[int | None, float]]:
    """Returns the filter before each depth of a search that is limited by its depth alone.

    The list is empty if no filter chooses root moves.
    """
    limits, options = thinker.limits, thinker.engine.options
    if not isinstance(options, ExpectiminimaxOptions) or limits != Limits(limits.depth):
        return []
    depth = limits.depth or 0
    known = as_filters(options.filters).moves[:depth]
    if not any(known):
        return []
    return [one or EVERY for one in (*known, *[None] * (depth - len(known)))]


def _turned(game: Any, outcomes: Any) -> tuple[float, ...]:
    numbers = np.array(outcomes, dtype=np.float64)
    uncompiled(game.outcomes.turn)(numbers)
    return tuple(numbers.tolist())


def _rolled_out(
    thinker: Seat, position: Any, roll: int | None, moves: Sequence[Any], games: int,
    situation: Any,
) -> tuple[dict[Any, float], float]:  # fmt: skip
    """Returns the values of moves by rollouts, and half the 95 % interval of a difference of two.

    situation: the match and the cube, or None.
    """
    game: Any = thinker.game
    found = rollout(
        game, position, thinker.evaluator, roll=roll, moves=moves, games=games,
        lookup=thinker.lookup,
    )  # fmt: skip
    if found.interrupted:
        raise KeyboardInterrupt
    error = math.hypot(*sorted(half_widths(found.equity_error, games).tolist())[-2:])
    if situation is None:
        return dict(zip(found.moves, found.equity.tolist(), strict=True)), error
    assert found.outcomes is not None
    return move_values(game, situation, found.moves, found.outcomes), error


def _replay(record: GameRecord) -> GameRecord:
    """Returns a new record with the same start, without draw rules."""
    return GameRecord(
        record.game, record.start, repetitions=None, quiet_moves=None, comment=record.comment
    )


def remark(record: GameRecord, judged: Judged, least: float) -> str:
    """Returns the remark on a move that lost at least `least`; empty for other moves."""
    if judged.loss <= 0 or judged.loss < least:
        return ""
    better = record.game.move_text(record.positions[judged.ply], judged.best)
    sign = mark_of(record.game, judged.given_up)
    said = f"{sign} {_lost(judged)}".strip()
    return f"{said}: {better} {value_text(judged.best_value)}"


def _lost(judged: Judged) -> str:
    if judged.best_value > PROVEN:
        return "misses a win"
    if judged.value < -PROVEN:
        return "loses"
    error = "" if judged.error is None else f" ± {judged.error:.3f} by rollouts"
    return f"lost {judged.loss:.3f}{error}"


def judged_record(record: GameRecord, judged: Sequence[Judged], least: float) -> GameRecord:
    """Returns the game annotated with values, depths and remarks; these follow its comments.

    judged: its moves, from the first one; moves without a judgement keep their notes. The old value
        of a move goes into its comment, as `noted 0.35/7`. Braces in comments, which PDN cannot
        hold, become parentheses. The game's result is unchanged.
    """
    new = _replay(record)
    new.comment = _without_braces(record.comment)
    for ply, before in enumerate(record.annotations):
        new.follow(record)
        if ply >= len(judged):
            new.annotate(value=before.value, depth=before.depth,
                         comment=_without_braces(before.comment))  # fmt: skip
            continue
        move = judged[ply]
        parts = [_noted(before), _without_braces(before.comment), remark(record, move, least)]
        comment = " ".join(part for part in parts if part)
        new.annotate(value=move.value, depth=move.depth, comment=comment)
    outcomes = record.outcomes()
    if outcomes is not None and not new.over:
        new.declare(outcomes, record.reason)
    return new


def _noted(before: Annotation) -> str:
    if before.value is None and before.depth is None:
        return ""
    value = before.value
    text = "-" if value is None else proven_text(value) or f"{value:.6g}"
    return f"noted {text}/{'-' if before.depth is None else before.depth}"


def _without_braces(text: str) -> str:
    return text.replace("{", "(").replace("}", ")")


def summary(judged: Sequence[Judged], side: int) -> str:
    """One side's game in a line: its decisions, the preferred ones, the loss and the accuracy."""
    own = [move for move in judged if move.side == side and move.choices > 1]
    if not own:
        return "no decisions"
    plain = [move.loss for move in own if max(abs(move.value), abs(move.best_value)) <= PROVEN]
    preferred = sum(move.preferred for move in own)
    grave = len(own) - preferred - sum(1 for loss in plain if loss > 0)
    text = f"{len(own)} decision{'s' * (len(own) > 1)}, {preferred} as preferred"
    if plain:
        text += f", lost {sum(plain):.3f} ({sum(plain) / len(plain):.4f} a decision)"
    text += f", {grave} that changed a game already decided" if grave else ""
    share = accuracy([move.given_up for move in own])
    return text if share is None else f"{text}, accuracy {share:.1f} %"
