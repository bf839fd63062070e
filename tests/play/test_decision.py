"""One judge: the same decision by the page and by `analyse`, and certainty where it is proved."""

from __future__ import annotations

from typing import Any

import pytest

import games
from docs.examples.hexapawn import Hexapawn
from games.record import GameRecord
from play.judging.analysis import judge_moves, remark, summary
from play.judging.decision import decision, decision_of
from play.players.limits import Limits
from play.players.parse import seated
from play.web.inspection import _judged, _player
from search import PROVEN, WIN, Engine, LinearEvaluator, Result, load_evaluator
from search.evaluators.calibration import Chances
from search.lookups.database import DatabaseLookup

CHECKERS: Any = games.load("checkers")


def both(game: Any, name: str, start: Any, text: str, depth: int) -> tuple[Any, dict[str, Any]]:
    """Returns what `analyse` and the page say of a move, and checks that they agree."""
    thinker = seated(game, name, Limits(depth=depth))
    record = GameRecord(game, start)
    record.play_text(text)
    (judged,) = judge_moves(record, thinker)
    page = _judged(Engine(game, thinker.evaluator), start, None, record.moves[0], depth)
    better = "" if judged.best == judged.move else game.move_text(start, judged.best)
    assert (page["loss"], page["lost"], page["best"]) == (judged.loss, judged.given_up, better)
    assert page["depth"] == judged.depth
    said = remark(record, judged, 0.0)
    assert said.startswith(page["mark"]) and (said[:1] == "?") == bool(page["mark"])
    accuracy = _player([page], [])["accuracy"]
    assert (accuracy is None) == ("accuracy" not in summary([judged], judged.side))
    return judged, page


def test_without_a_calibration_nothing_is_said_in_per_cent(tmp_path: Any) -> None:
    hexapawn = Hexapawn()
    judged, page = both(hexapawn, "hand", hexapawn.parse_position("bbb/w../.ww b"), "c3-c2", 1)
    assert page["loss"] == 1.5 and page["lost"] is None and page["mark"] == ""
    men = tmp_path / "men.json"
    LinearEvaluator(CHECKERS, CHECKERS.features["classic"], {"men": 1.0}).save(men)
    before = GameRecord(CHECKERS)
    for text in ("11-15", "22-18", "15x22", "25x18", "12-16"):
        before.play_text(text)
    judged, page = both(CHECKERS, str(men), before.position, "24-20", 5)
    assert judged.loss >= 1 and judged.given_up is None and page["mark"] == ""
    judged, page = both(CHECKERS, "classic", before.position, "24-20", 5)
    assert judged.given_up > 0.1 and page["mark"]


def test_what_is_proved_needs_no_calibration(tmp_path: Any) -> None:
    game = games.load("tic_tac_toe")
    position = game.parse_position("XX..OO... X")
    judged, page = both(game, "open_lines", position, "7", 9)
    assert judged.best_value > PROVEN and judged.value < -PROVEN
    assert (judged.given_up, page["mark"]) == (1.0, "??") and 1900 < judged.loss < 2000
    slower = CHECKERS.parse_position("B:W29:BK22,K2")
    judged, page = both(CHECKERS, "material", slower, "2-6", 6)
    assert min(judged.value, judged.best_value) > PROVEN
    assert (judged.loss, judged.given_up) == (0.0, 0.0)


def test_a_draw_that_a_database_proves_is_certain() -> None:
    evaluator = load_evaluator("checkers/quantised")
    engine = Engine(CHECKERS, evaluator, lookup=DatabaseLookup(CHECKERS, "endgame2"))
    result = engine.analyse(CHECKERS.parse_position("B:WK32:BK1"), depth=3)
    assert result.value == 0 and result.chances == Chances(0.0, 1.0, 0.0)
    assert (result.value_text, result.chances_text) == ("drawn", "")
    assert "drawn" in repr(result) and "%" not in repr(result)
    assert all(result.chances_after(move) == (0, 1, 0) for move, _ in result.moves)
    assert decision_of(result, result.moves[-1][0]).given_up == 0.0
    # a position that the database does not hold, whose only move leads to one that is drawn
    engine = Engine(CHECKERS, evaluator, lookup=DatabaseLookup(CHECKERS, "endgame4"))
    forced = engine.search(CHECKERS.parse_position("B:WK14,K24,K26:BK23,K32"), depth=1)
    assert (forced.value_text, forced.chances) == ("drawn", Chances(0.0, 1.0, 0.0))
    last = Engine(games.load("tic_tac_toe")).analyse((0o215, 0o162, 0), depth=1)
    assert last.drawn == {last.move, None}  # by the rules
    # the same value without the database is an estimate
    alone = Engine(CHECKERS, evaluator).analyse(result.position, depth=3)
    assert alone.chances is not None and 0 < alone.chances.draw < 1 and not alone.drawn


def test_losses_by_hand() -> None:
    chances = {"a": Chances(1.0, 0.0, 0.0), "b": Chances(0.5, 0.2, 0.3), "c": None}
    values = {"a": WIN - 5, "b": 0.25, "c": -1.0, "d": WIN - 9, "e": 4 - WIN}
    ask: Any = chances.get
    assert decision(CHECKERS, "b", values, ask).loss == pytest.approx(995 - 0.25)
    assert decision(CHECKERS, "b", values, ask).given_up == pytest.approx(0.4)
    assert decision(CHECKERS, "b", values, ask).mark == "??"
    assert decision(CHECKERS, "c", values, ask).given_up is None
    assert decision(CHECKERS, "d", values, ask).loss == 0.0
    assert not decision(CHECKERS, "e", values, ask).keeps
    backgammon = games.load("backgammon")
    points = decision(backgammon, "y", {"x": 0.3, "y": 0.24}, points=True)
    assert (points.given_up, points.mark) == (pytest.approx(0.03), "?!")
    # values that are no points say nothing without chances
    assert decision(backgammon, "y", {"x": 30.0, "y": 24.0}).given_up is None


def test_values_for_a_regression_are_bounded() -> None:
    for value, within in ((WIN - 3, 8.0), (3 - WIN, -8.0), (1.5, 1.5)):
        assert Result(None, value, (), 0, 0, 0.0).within(8.0) == within
