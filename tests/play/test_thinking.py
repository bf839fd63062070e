"""The JSON of a search: values in the game's unit, and the chances that they stand for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import games
from play.web.catalogue import Catalogue
from play.web.thinking import Question, Thinking
from search import PROVEN, Engine
from search.evaluators.calibration import Calibration
from search.evaluators.files.shipped import DATA

CHECKERS, BACKGAMMON = games.load("checkers"), games.load("backgammon")


def asked(game: Any, id: str, text: str, tmp_path: Path, **options: Any) -> tuple[Any, Any]:
    """Returns the last report of a search of all moves, and the evaluator that searched."""
    calibration = options.pop("calibration", None)
    loaded = Catalogue(DATA, tmp_path).load(id, game)
    if calibration is not None:
        loaded.evaluator.calibration = calibration
    question = Question(
        game, loaded, game.parse_position(text), moves=True, seconds=20.0, **options
    )
    thinking = Thinking()
    try:
        return asyncio.run(thinking.search(question, lambda news: None)), loaded.evaluator
    finally:
        thinking.close()


def test_backgammon_tells_wins_gammons_and_backgammons_of_every_move(tmp_path: Path) -> None:
    roll = BACKGAMMON.dice.parse("31")
    text = BACKGAMMON.position_text(BACKGAMMON.start())
    id = "shipped:backgammon/wide.safetensors"
    found, evaluator = asked(BACKGAMMON, id, text, tmp_path, roll=roll, depth=0)
    assert len(found["moves"]) == 16
    for move in found["moves"]:
        outcomes = move["outcomes"]
        assert BACKGAMMON.outcomes is not None
        assert BACKGAMMON.outcomes.values(outcomes) == pytest.approx(move["value"])
        assert move["chances"] == (outcomes[0], 0.0, 1.0 - outcomes[0])
    assert found["chances"] == found["moves"][0]["chances"]
    after = BACKGAMMON.play(BACKGAMMON.start(), found["move"])
    theirs = evaluator.outcomes([after])[0]
    # a gammon that we win is one that they lose
    assert found["moves"][0]["outcomes"][1:3] == pytest.approx(theirs[3:5])


def test_checkers_tells_the_chances_of_every_move(tmp_path: Path) -> None:
    known = Calibration((0.3, 0.4, 0.5), (0.2, 0.4, 0.6))
    text = "B:W21,22,30:B1,2,12"
    found, _ = asked(CHECKERS, "checkers:classic", text, tmp_path, depth=4, calibration=known)
    for entry in (found, *found["moves"]):
        assert entry["chances"] == known.chances(entry["value"], 2)
        assert sum(entry["chances"]) == pytest.approx(1.0)
    assert found["moves"][0]["chances"] == found["chances"]
    assert "outcomes" in found["moves"][0] and found["moves"][0]["outcomes"] is None
    without, _ = asked(CHECKERS, "checkers:material", text, tmp_path, depth=2)
    if without["chances"] is not None:  # the game may state the chances of its own evaluators
        assert sum(without["chances"]) == pytest.approx(1.0)


def test_a_proven_win_is_certain_and_keeps_its_length(tmp_path: Path) -> None:
    known = Calibration((0.3,), (0.2,))
    text = "B:W32:BK27,K18"
    found, _ = asked(CHECKERS, "checkers:classic", text, tmp_path, depth=8, calibration=known)
    assert found["chances"] == (1.0, 0.0, 0.0)
    assert found["raw"] > PROVEN and found["value_text"].startswith("won in ")


def test_values_of_samuel_are_in_men(tmp_path: Path) -> None:
    text = "B:W21,22,30:B1,2,3,12"
    found, evaluator = asked(CHECKERS, "shipped:checkers/samuel1959.json", text, tmp_path, depth=3)
    engine = Engine(CHECKERS, evaluator, techniques="exact")
    value = engine.search(CHECKERS.parse_position(text), depth=3).value
    assert abs(value) > 1e6
    assert found["value"] == pytest.approx(value / evaluator.unit)
    assert 0.5 < found["value"] < 2.0
    assert found["raw"] == found["value"]
    assert float(found["value_text"]) == pytest.approx(found["value"], abs=6e-4)
    assert 0 < found["unit"] < 3
    assert found["moves"][-1]["loss"] == found["moves"][-1]["value"] - found["value"]
