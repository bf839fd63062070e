"""The five outcomes of backgammon, as GNU Backgammon and TD-Gammon give them."""

from __future__ import annotations

from games.backgammon.phases import in_contact
from games.backgammon.rules import outcome
from games.features import Outcomes
from games.kernels import kernel

WIN, WIN_GAMMON, WIN_BACKGAMMON, LOSE_GAMMON, LOSE_BACKGAMMON = range(5)


@kernel
def _can_lose_gammon(near):
    """Whether a side can still lose a gammon, that is, has borne nothing off."""
    return near & 15 == 0


@kernel
def _in_far_home(far):
    """Whether a side has checkers on the bar or in its opponent's home, points 19 to 24."""
    return far >> 24 != 0


@kernel
def confine(position, probabilities):
    """Clip five probabilities in place to at least 0 and at most that of any wider event."""
    near, far, their_near, their_far, _ = position
    for i in range(5):
        probabilities[i] = min(max(probabilities[i], 0.0), 1.0)
    if not _can_lose_gammon(their_near):
        probabilities[WIN_GAMMON] = 0.0
        probabilities[WIN_BACKGAMMON] = 0.0
    if not _can_lose_gammon(near):
        probabilities[LOSE_GAMMON] = 0.0
        probabilities[LOSE_BACKGAMMON] = 0.0
    # in contact a checker may still be hit and enter in the opponent's home
    if not in_contact(position):
        if not _in_far_home(their_far):
            probabilities[WIN_BACKGAMMON] = 0.0
        if not _in_far_home(far):
            probabilities[LOSE_BACKGAMMON] = 0.0
    win = probabilities[WIN]
    probabilities[WIN_GAMMON] = min(probabilities[WIN_GAMMON], win)
    probabilities[WIN_BACKGAMMON] = min(probabilities[WIN_BACKGAMMON], probabilities[WIN_GAMMON])
    probabilities[LOSE_GAMMON] = min(probabilities[LOSE_GAMMON], 1.0 - win)
    probabilities[LOSE_BACKGAMMON] = min(probabilities[LOSE_BACKGAMMON], probabilities[LOSE_GAMMON])
    return 0


@kernel
def turn(probabilities):
    """Change five probabilities in place to those of the other side."""
    probabilities[WIN] = 1.0 - probabilities[WIN]
    for mine, theirs in ((WIN_GAMMON, LOSE_GAMMON), (WIN_BACKGAMMON, LOSE_BACKGAMMON)):
        kept = probabilities[mine]
        probabilities[mine] = probabilities[theirs]
        probabilities[theirs] = kept
    return 0


@kernel
def finished(position, probabilities):
    """Write the five probabilities, each 0 or 1, of a position in which a side has borne off."""
    points = outcome(position)
    probabilities[WIN] = 1.0 if points > 0.0 else 0.0
    probabilities[WIN_GAMMON] = 1.0 if points > 1.0 else 0.0
    probabilities[WIN_BACKGAMMON] = 1.0 if points > 2.0 else 0.0
    probabilities[LOSE_GAMMON] = 1.0 if points < -1.0 else 0.0
    probabilities[LOSE_BACKGAMMON] = 1.0 if points < -2.0 else 0.0
    return 0


OUTCOMES = Outcomes(
    names=("win", "win gammon", "win backgammon", "lose gammon", "lose backgammon"),
    payoffs=(2.0, 1.0, 1.0, -1.0, -1.0),
    base=-1.0,
    confine=confine,
    turn=turn,
    finished=finished,
)
