"""Attributes that games once had and that are extras now: a game with one of them is refused."""

from __future__ import annotations

from typing import Any

__all__ = ["refuse_moved"]

#: What were attributes of games once, and the extras that have taken their place.
MOVED = {
    "board": "games.board.Board",
    "file_form": "games.file_form.FileForm",
    "read": "games.tree.Explicit",
    "record_kind": "games.record.RecordKind",
    **dict.fromkeys(("lookups", "usual_lookup"), "search.lookups.database.Databases"),
    "unit_terms": "search.evaluators.linear.UnitTerms",
    "calibrations": "search.evaluators.calibration.Calibrations",
    "selective": "search.alphabeta.techniques.Selective",
    "signature": "search.evaluators.signature_layout.SignatureLayout",
    "tuples": "search.evaluators.tuples.Tuples",
    **dict.fromkeys(("protocols", "engines"), "play.players.external.Programs"),
    **dict.fromkeys(
        ("shipped", "openings", "opponents", "pacemakers", "reference"),
        "play.players.opponents.Opponents",
    ),
    "referees": "play.judging.truth.Referees",
    **dict.fromkeys(("input_text", "removals"), "games.board.Pieces"),
    **dict.fromkeys(("outcome_names", "stuck_text", "situation_text"), "play.words.Words"),
    **dict.fromkeys(("usual_learner", "recipes"), "learner.run.recipes.UsualRuns"),
    "kinds": "learner.positions.kinds.RareKinds",
    "late_position": "learner.multiplayer_play.LateStarts",
}


def refuse_moved(holder: Any) -> None:
    """Raise ValueError if a game or a class has an attribute in place of an extra."""
    for name in MOVED.keys() & vars(holder).keys():
        raise ValueError(
            f"{getattr(holder, '__name__', type(holder).__name__)}: expected a {MOVED[name]} among"
            f" its extras, found the attribute {name}, which nothing reads"
        )
