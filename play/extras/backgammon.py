"""Extras of backgammon for play: its opponents, boards, words and programs."""

from __future__ import annotations

import re
from typing import Any

from games.backgammon import Backgammon
from games.backgammon.identifiers import xgid
from games.backgammon.notation import show
from games.backgammon.record import BackgammonRecord
from games.backgammon.situation import position_of, roll_of
from games.extras import extend
from games.record import GameRecord
from play.players.external import ExternalEngines, PackagedEngine
from play.players.levels import Levels
from play.players.opponents import Opponents
from play.protocols.openspiel import OpenSpielGame
from play.terminal.board import BoardText
from play.terminal.colour import Paint
from play.web.backgammon_face import BackgammonFace
from play.web.faces import FaceOf
from play.words import Words

PACKAGE = "gnubg_nn"


MOVES = "A move such as 8/5 6/5, bar/20* or 13/11(2), by the points of the side that moves."


def _board(record: GameRecord, bottom: int, paint: Paint) -> str:
    """The board in a terminal."""
    position = record.position
    if position[4] != bottom:
        position = (*position[2:4], *position[:2], 1 - position[4])
    lines = show(position).splitlines()[:-1]
    if not paint.colour:
        return "\n".join(lines)
    painted = {"X": paint("first", "X"), "O": paint("second", "O")}
    return "\n".join(re.sub("X|O", lambda sign: painted[sign[0]], line) for line in lines)


def _gnubg(plies: int) -> PackagedEngine:
    return PackagedEngine(f"gnubg:{plies}", f"GNU Backgammon {plies}-ply", PACKAGE, peer=plies == 0)


def _situation(record: Any, roll: int | None = None) -> str | None:
    if not isinstance(record, BackgammonRecord) or record.over:
        return None
    return xgid(record.situation(roll))


def openspiel_position(state: Any, player: int) -> Any:
    """Our position of a state of OpenSpiel's backgammon, with a player (0 is X) to move.

    An observation holds, for X and then for O, four numbers for each of 24 points (whether there
    are 1, 2 or 3 checkers, and the number beyond 3); then bar, borne off and turn for X and for O;
    then the dice.
    """
    seen = [int(number) for number in state.observation_tensor(0)]
    boards = []
    for side in (0, 1):
        counts = [0] * 26
        for index in range(24):
            one, two, three, more = seen[96 * side + 4 * index :][:4]
            point = index + 1 if side else 24 - index
            counts[point] = one + 2 * two + 3 * three + (more + 3 if more else 0)
        counts[25] = seen[192 + 3 * side]
        boards.append(counts)
    return position_of(boards[player], boards[1 - player], player)


def openspiel_roll(state: Any) -> int:
    """Our roll of a state of OpenSpiel's backgammon in which a player decides."""
    first, second = (int(number) for number in state.observation_tensor(0)[198:200])
    return roll_of(first, second)


extend(
    Backgammon,
    Opponents(("random", "hand"), ("hand",), "wide"),
    Levels(tuple(f"hand@0,noise={size}" for size in ("3", "1", "0.5", "0.25", "0.1"))),
    ExternalEngines(
        ("gnubg-socket",),
        (PackagedEngine("pubeval", "pubeval", PACKAGE, peer=True), *map(_gnubg, range(3))),
    ),
    FaceOf(BackgammonFace),
    BoardText(_board, MOVES),
    Words({1.0: "a single game", 2.0: "a gammon", 3.0: "a backgammon"}, situation=_situation),
    OpenSpielGame(openspiel_position, openspiel_roll),
)
