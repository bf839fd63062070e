"""The *Why* panel: the parts of a value before and after a move, by one or two evaluators."""

from __future__ import annotations

import math
import re
from typing import Any

from games.contract import Game
from games.values import value_text
from play.judging.explanation import explain
from play.web.catalogue import Loaded
from play.web.table import clamped
from programs.phrases import shortened
from search import WIN, LinearEvaluator
from search.textbook.max_n import turned

__all__ = ["why"]

MOST_PARTS = 40
#: Fields of a part that appears only after the move.
_ABSENT: dict[str, Any] = {"before": 0.0, "term": 0.0, "squares": []}
_CHECKERS_PLACE = re.compile(r"(?:Black|White) (?:man|king) on ([0-9]{1,2})")
_BACKGAMMON_PLACE = re.compile(r"([XO]) on (?:[XO]'s ([0-9]{1,2}) point|(the bar))")


def why(game: Game, loaded: Loaded, before: Any, after: Any = None) -> dict[str, Any]:
    """The value of a position and its parts; with `after` also those of the position after a move.

    All numbers are for the side to move in `before`, so that both can be compared: the numbers of
    `after`, where the other side is to move, are negated; with more than two players they are those
    of the board turned to that side. They are in the game's unit.
    A finished game has no parts. Parts are sorted by their larger absolute value, before or after
    the move, largest first. A part's `squares` are those of the game's board before the move.
    """
    parts = {part.name: _part(loaded, part) for part in explain(loaded.evaluator, before)}
    answer = {
        "evaluator": loaded.entry.id,
        "name": loaded.entry.name,
        "kind": "sum" if isinstance(loaded.evaluator, LinearEvaluator) else "shares",
        "unit": loaded.unit,
        "side": game.to_move(before),
        **_value("before", loaded, loaded.evaluator(before)),
    }
    for part in parts.values():
        part["after"] = None
    if after is not None:
        outcomes = game.outcome_vector(after)
        sign = 1.0
        if outcomes is None:
            # the value as the side that has just moved sees it
            after, sign = (after, -1.0) if game.players == 2 else (turned(game, after, -1), 1.0)
            value = sign * loaded.evaluator(after)
        else:
            outcome = outcomes[-1]
            value = math.copysign(WIN, outcome) if game.wins and outcome else outcome
        answer |= _value("after", loaded, value)
        for part in parts.values():
            part["after"] = 0.0
        for found in explain(loaded.evaluator, after) if outcomes is None else ():
            part = parts.setdefault(found.name, _part(loaded, found) | _ABSENT)
            part["after"] = clamped(sign * found.value) + 0.0
    shown = [p for p in parts.values() if p["before"] or p["after"]]
    shown.sort(key=lambda p: -max(abs(p["before"]), abs(p["after"] or 0.0)))
    return answer | {"parts": shown[:MOST_PARTS], "left_out": max(0, len(shown) - MOST_PARTS)}


def _value(name: str, loaded: Loaded, value: float) -> dict[str, Any]:
    shown = loaded.evaluator.in_units(value) + 0.0
    return {name: clamped(shown), f"{name}_text": value_text(shown)}


def _part(loaded: Loaded, part: Any) -> dict[str, Any]:
    return {
        "name": part.name,
        "help": _help(loaded, part.name),
        "term": clamped(part.term),
        "weight": None if part.weight is None else clamped(part.weight),
        "before": clamped(part.value) + 0.0,
        "place": _place(part.name),
        "squares": list(part.squares),
    }


def _help(loaded: Loaded, name: str) -> str:
    """Returns the docstring of a term, which says what it measures; at most 300 characters."""
    net: Any = next(iter(getattr(loaded.evaluator, "nets", ())), loaded.evaluator)
    features = getattr(net, "features", None)
    term = features.terms.get(name) if features is not None else None
    return shortened(" ".join((getattr(term, "__doc__", None) or "").split()), 300)


def _place(name: str) -> list[Any] | None:
    """Returns the place of a contribution: ["", the name of a square] or [side, point]."""
    match = _CHECKERS_PLACE.fullmatch(name)
    if match is not None:
        return ["", match[1]]
    match = _BACKGAMMON_PLACE.fullmatch(name)
    if match is not None:
        return [match[1].lower(), int(match[2] or 25)]
    return None
