"""`Words`: how a game's ends and situations are told to people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from games.contract import Position
from games.extras import Extra
from games.values import places_text

__all__ = ["Words", "result_text"]


def _stuck(position: Position) -> str:
    return "cannot move"


def _no_situation(record: Any, roll: int | None = None) -> str | None:
    return None


@dataclass(frozen=True)
class Words(Extra):
    """The words of a game, an extra.

    outcomes: words for outcomes by their size in points, such as {2.0: "a gammon"}.
    stuck: `stuck(position)` tells why the side to move has lost in a game that ends when a side has
        no move.
    situation: `situation(record, roll)` returns the last position of a record as other programs
        read it, with dice, score and so on; None if they cannot. The roll may be None.
    """

    outcomes: Mapping[float, str] = field(default_factory=dict)
    stuck: Callable[[Position], str] = _stuck
    situation: Callable[..., str | None] = _no_situation


def result_text(record: Any) -> str:
    """Returns the result of a game that is over in words: who won, how many points and why."""
    game, words, reason = record.game, Words.of(record.game), record.reason
    outcomes = record.outcomes()
    ranking = places_text(game.sides, outcomes)
    if not ranking:
        return f"Draw by {reason}" if reason else "Draw"
    points, resigned = max(outcomes), reason == "resignation"
    winner, loser = (game.sides[outcomes.index(one)] for one in (points, min(outcomes)))
    if len(outcomes) > 2:
        return f"{loser} resigned" if resigned else ranking
    cube = getattr(record, "cube", None)
    size = points / (cube or 1)
    name = words.outcomes.get(size, "") if size > 1 else ""
    if resigned:
        how = f": {loser} resigned" + (f" {name}" if cube and name else "")
    elif reason == "double dropped":
        how = f": {loser} dropped"
    elif reason == "no move" and game.wins:
        how = f": {loser} {words.stuck(record.position)}"
    else:
        how = f" with {name}" if name else ""
    score = record.final_score() if cube and record.match_length else (0, 0)
    if cube and max(score) >= record.match_length > 0:
        how += f", and the match {max(score)} : {min(score)}"
    counted = not game.wins and (cube or not resigned)
    return f"{winner} wins{f' {points:g} point' + 's' * (points != 1) if counted else ''}{how}"
