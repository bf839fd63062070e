"""What play wants to know of backgammon: its opponents, board, session, words and programs."""

from __future__ import annotations

from typing import Any

from games.backgammon import Backgammon
from games.backgammon.identifiers import xgid
from games.backgammon.record import BackgammonRecord
from games.extras import extend
from play.players.external import ExternalEngine, Programs
from play.players.opponents import Opponents
from play.terminal.backgammon import BackgammonSession
from play.terminal.session import SessionOf
from play.web.backgammon_face import BackgammonFace
from play.web.faces import FaceOf
from play.words import Words

PACKAGE = "gnubg_nn"


def _gnubg(plies: int) -> ExternalEngine:
    return ExternalEngine(f"gnubg:{plies}", f"GNU Backgammon {plies}-ply", PACKAGE, peer=plies == 0)


def _situation(record: Any, roll: int | None = None) -> str | None:
    if not isinstance(record, BackgammonRecord) or record.over:
        return None
    return xgid(record.situation(roll))


extend(
    Backgammon,
    Opponents(("random", "hand"), ("hand",), "wide"),
    Programs(
        ("gnubg-socket",),
        (ExternalEngine("pubeval", "pubeval", PACKAGE, peer=True), *map(_gnubg, range(3))),
    ),
    FaceOf(BackgammonFace),
    SessionOf(BackgammonSession),
    Words({1.0: "a single game", 2.0: "a gammon", 3.0: "a backgammon"}, situation=_situation),
)
