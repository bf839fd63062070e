"""The cube in the terminal: people double, take and drop, and a match goes on from game to game."""

from __future__ import annotations

from typing import Any

import pytest

import games
from games.backgammon.identifiers import xgid
from games.backgammon.situation import Situation, position_of
from play.players.limits import Limits
from play.players.thinker import Thinker
from play.terminal.backgammon import BackgammonSession

BACKGAMMON: Any = games.load("backgammon")
#: X bears off its last checker with any roll.
WON = position_of([0, 1] + [0] * 24, [2 * (point == 6) for point in range(26)], 0)


@pytest.fixture(scope="module")
def wide() -> Thinker:
    return Thinker(BACKGAMMON, "wide", Limits(depth=0), table_mib=1)


def say(session: BackgammonSession, *lines: str) -> str:
    """Returns what a session says to lines, each followed by the moves that need no person."""
    shown = [*session.advance()]
    for line in lines:
        shown += [*session.answer(line), *session.advance()]
    return "\n".join(shown)


def test_people_double_and_answer(wide: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, wide, frozenset({0, 1}), cube=True, first=0)
    assert session.prompt == "dice of X> "  # nobody doubles in the first turn
    say(session, "31", "8/5 6/5")
    assert session.prompt == "O: roll or double> "
    assert "double before a roll" in say(session, "help")
    assert "expected roll or double, found take" in say(session, "take")
    assert "no double, take: the cube is worth more where it is" in say(session, "hint")
    assert "O doubles to 2." in say(session, "double")
    assert session.prompt == "X: take or drop> "
    assert "expected take or drop, found '31'" in say(session, "31")
    assert "double and take -" in say(session, "hint")
    shown = say(session, "take")
    assert "X takes." in shown and "cube 2, of X" in shown
    assert session.prompt == "dice of O> "
    say(session, "42", "8/4 6/4")
    assert session.prompt == "X: roll or double> "
    say(session, "61", "13/7 8/7")  # dice that are typed in are a roll
    assert session.prompt == "dice of O> "  # O has no access to the cube
    assert "expected dice, found double" in say(session, "double")
    assert "expected dice, found beaver" in say(session, "beaver")
    say(session, "65", "13/8 13/7", "redouble")
    assert "O drops." in say(session, "drop") and session.record.outcome() == 2.0


def test_the_evaluator_doubles_and_answers(wide: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, wide, frozenset({1}), seed=1, cube=True)
    shown = say(session, f"new {xgid(Situation(WON))}")
    assert "X doubles to 2." in shown and session.prompt == "O: take or drop> "
    assert "O drops." in say(session, "drop") and session.record.outcome() == 1.0
    session = BackgammonSession(BACKGAMMON, wide, frozenset({0}), seed=1, cube=True)
    shown = say(session, f"new {xgid(Situation(WON))}", "double")
    assert "X doubles to 2." in shown and "O drops." in shown and session.record.over
    # an even position is a take, and the evaluator then owns the cube
    shown = say(session, f"new {xgid(Situation(BACKGAMMON.start()))}", "double")
    assert "O takes." in shown and "cube 2, of O" in shown


def test_a_match_goes_on_with_its_score(wide: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, wide, frozenset({0, 1}), length=3, first=0)
    say(session, "31", "8/5 6/5", "double", "take", "42", "8/4 6/4", "roll", "resign")
    assert session.record.outcome() == -2.0
    shown = say(session, "new")
    assert "X 0 : 2 O of 3, Crawford game; cube 1, in the middle" in shown
    say(session, "31", "8/5 6/5")
    assert session.prompt == "dice of O> "  # no double in the Crawford game
    say(session, "42", "8/4 6/4", "resign")
    assert "X 0 : 0 O of 3" in say(session, "new")  # O has won the match, and a new one begins


def test_games_without_the_cube_are_as_before(wide: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, wide, frozenset({0, 1}), first=0)
    say(session, "31", "8/5 6/5")
    assert session.prompt == "dice of O> "
    assert "there is no cube in this game" in say(session, "double")
    hand = Thinker(BACKGAMMON, "hand", Limits(depth=0), table_mib=1)
    with pytest.raises(ValueError, match="expected an evaluator that gives chances, found hand"):
        BackgammonSession(BACKGAMMON, hand, cube=True)


def test_a_beaver_keeps_the_cube(wide: Thinker) -> None:
    both = frozenset({0, 1})
    session = BackgammonSession(BACKGAMMON, wide, both, cube=True, beavers=True, first=0)
    say(session, "31", "8/5 6/5", "double")
    assert session.prompt == "X: take or drop or beaver> "
    assert "X beavers." in say(session, "beaver")
    assert session.record.cube == 4 and session.record.owner == 0


def test_the_evaluator_declines_a_resignation_of_too_little(wide: Thinker) -> None:
    session = BackgammonSession(BACKGAMMON, wide, frozenset({1}), seed=1, cube=True)
    lost = position_of([15 * (point == 20) for point in range(26)], [0, 1] + [0] * 24, 1)
    say(session, f"new {xgid(Situation(lost))}")
    assert "X declines" in say(session, "resign") and not session.record.over
    assert "expected single, gammon or backgammon" in say(session, "resign match")
    assert "X wins 3 points: O resigned a backgammon." in say(session, "resign backgammon")


def test_a_gammon_counts_single_under_the_jacoby_rule(wide: Thinker) -> None:
    both = frozenset({0, 1})
    session = BackgammonSession(BACKGAMMON, wide, both, cube=True, jacoby=True, first=0)
    assert "cube 1, in the middle, Jacoby rule" in say(session, "31", "8/5 6/5")
    say(session, "resign gammon")
    assert abs(session.record.outcome() or 0.0) == 1.0
    say(session, "new")
    assert session.record.jacoby
