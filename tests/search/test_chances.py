"""The chances that values stand for: their formula, and where evaluators keep them."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

import games
from search import PROVEN, WIN, Engine, Evaluator, LinearEvaluator, load_evaluator
from search.evaluators.calibration import TERMS, Calibration, Calibrations, Chances
from search.evaluators.files.arrays import load_arrays, save_arrays
from search.evaluators.load import as_evaluator
from search.evaluators.network import NetworkEvaluator

plain = pytest.mark.plain
CHECKERS = games.load("checkers")
KNOWN = Calibration((0.5, 1.0, 2.0), (0.25, 0.5, 1.0), {"games": 7})
#: The entry of chances that follow the size of the search and the number of pieces.
FOLLOWS: dict[str, Any] = {
    "scale": [1.0], "draw": [1.0], "evidence": {}, "terms": {name: [0.0] * 7 for name in TERMS},
    "size": 1.0, "nodes": [200, 20_000], "pieces": [2, 24],
}  # fmt: skip
START = CHECKERS.start()
ENDING = CHECKERS.parse_position("W:WK30,31:B2,3,4")


def linear() -> LinearEvaluator:
    return LinearEvaluator(CHECKERS, CHECKERS.features["classic"], {"men": 1.0})


def network() -> NetworkEvaluator:
    random = np.random.default_rng(3)
    layers = [
        (random.normal(size=(128, 8)), np.zeros(8)),
        (random.normal(size=(8, 1)), np.zeros(1)),
    ]
    return NetworkEvaluator(CHECKERS, CHECKERS.encodings["piece_squares"], layers)


@plain
def test_chances_by_hand() -> None:
    # odds of e: 1.5 is one scale above the draw of 0.5; -1.5 is two below -(-0.5)
    found = Calibration((1.0,), (0.5,)).chances(1.5)
    assert found.win == pytest.approx(math.e / (1 + math.e))
    assert found.loss == pytest.approx(1 / (1 + math.e**2))
    assert sum(found) == pytest.approx(1.0)
    assert found.expected == pytest.approx(found.win + found.draw / 2)


@plain
def test_a_larger_value_is_a_better_chance_and_a_proven_one_is_certain() -> None:
    values = np.linspace(-5, 5, 101)
    expected = [KNOWN.chances(value, 1).expected for value in values]
    assert (np.diff(expected) > 0).all()
    assert KNOWN.chances(0.0).expected == pytest.approx(0.5)
    assert KNOWN.chances(WIN - 17) == Chances(1.0, 0.0, 0.0)
    assert KNOWN.chances(17 - WIN) == Chances(0.0, 0.0, 1.0)


@plain
def test_the_phase_of_a_position_decides() -> None:
    assert KNOWN.chances_at(CHECKERS, START, 0.5) == KNOWN.chances(0.5, 0)
    assert KNOWN.chances_at(CHECKERS, ENDING, 0.5) == KNOWN.chances(0.5, 2)
    single = Calibration((0.5,), (0.25,))
    assert single.chances_at(CHECKERS, ENDING, 0.5) == KNOWN.chances(0.5, 0)


@plain
def test_chances_that_follow_the_search_by_hand() -> None:
    # per power of ten of nodes: thrice the draw, and five times the slope from a size of 1 on
    terms = dict.fromkeys(TERMS, (0.0,) * 7)
    terms["nodes"] = (math.log(3), 0.0, 0.0, 0.0, 0.0, math.log(5), math.log(5))
    known = Calibration((1.0,), (1.0,), {}, terms, size=1.0, nodes=(100, 100_000), pieces=(2, 24))
    found = known.chances(2.0, nodes=100_000, pieces=8)
    assert found.win == pytest.approx(1 / (1 + math.exp(3.0 - (1.0 + 5 * 1.0))))
    assert known.chances(-2.0, nodes=100_000, pieces=8) == found.turned
    assert known.chances(2.0, nodes=10_000, pieces=8) == Calibration((1.0,), (1.0,)).chances(2.0)
    # beyond the games of the fit the nearest of them count, and the text says which
    assert known.chances(2.0, nodes=10**9, pieces=8) == found == known.chances(2.0, pieces=8)
    assert known.play_text(10**9) == "if both search 100,000 positions a move"
    assert known.play_text(7) == "if both search 100 positions a move"
    assert known.play_text(12_345) == "if both search 12,000 positions a move"


def test_what_is_printed_says_for_what_play_it_holds() -> None:
    engine = Engine(CHECKERS, "quantised", techniques="selective")
    few, many = (engine.search(START, nodes=nodes) for nodes in (2_000, 300_000))
    assert "% if both search 2,000 positions a move)" in repr(few)
    assert "% if both search 200,000 positions a move)" in repr(many)
    assert many.chances is not None and few.chances is not None
    assert many.chances.draw > few.chances.draw + 0.2
    old = Engine(CHECKERS, "classic").search(START, depth=5)  # one strength of play
    assert "% if both search 2,000 positions a move)" in repr(old)
    away = Engine(CHECKERS, "classic").search(START, nodes=40_000)
    assert away.nodes > 20_000 and "%" not in repr(away)
    dice = games.load("backgammon")
    assert "if both move by static values" in repr(
        Engine(dice, "hand").search(dice.start(), depth=1)
    )


def test_more_nodes_never_give_an_advantage_away() -> None:
    """The shipped chances rise with the value, for all sizes of search and numbers of pieces."""
    known = as_evaluator(CHECKERS, "quantised").calibration
    assert known is not None
    for nodes in (1, 200, 3_000, 40_000, 200_000, 10**9):
        for pieces in (2, 5, 8, 12, 24):
            chances = [known.chances(v, 0, nodes, pieces) for v in np.linspace(-1.9, 1.9, 77)]
            assert (np.diff([one.expected for one in chances]) >= 0).all()
            assert all(0 <= share <= 1 for one in chances for share in one)
            assert chances[38].expected == pytest.approx(0.5)
            assert chances[-1].expected > 0.55


@plain
def test_text() -> None:
    assert Chances(0.61, 0.3, 0.09).text == "win 61 %, draw 30 %, loss 9 %"
    assert Chances.of_win(0.997).text == "win >99 %"
    assert Chances(0.002, 0.004, 0.994).text == "win <1 %, draw <1 %, loss 99 %"
    assert Chances(1.0, 0.0, 0.0).text == "win 100 %"
    assert load_evaluator("checkers/quantised").chances(START, 17.5).text.startswith("win >99 %")


@pytest.mark.parametrize("make", [linear, network])
def test_a_file_keeps_the_calibration_and_not_a_value_changes(make: Any, tmp_path: Path) -> None:
    evaluator: Evaluator = make()
    before, path = evaluator(START), tmp_path / f"e{evaluator.suffix}"
    evaluator.save(path)
    bare = path.read_bytes()
    assert load_evaluator(path).calibration is None
    evaluator.calibration = KNOWN
    evaluator.save(path)
    loaded = load_evaluator(path)
    assert loaded.calibration == KNOWN
    assert loaded.calibration is not None
    assert loaded.calibration.evidence == {"games": 7}
    assert loaded(START) == before
    assert loaded.chances(ENDING, 0.5) == KNOWN.chances(0.5, 2)
    assert pickle.loads(pickle.dumps(loaded)).calibration == KNOWN
    # a copy may learn: its values change, and the chances would be wrong
    copy = loaded.copy()
    assert copy.calibration is None
    copy.save(path)
    assert path.read_bytes() == bare


def with_entry(path: Path, entry: Any) -> None:
    """Loads an evaluator whose file has another calibration."""
    if path.suffix == ".json":
        linear().save(path)
        path.write_text(json.dumps({**json.loads(path.read_text()), "calibration": entry}))
    else:
        network().save(path)
        header, arrays = load_arrays(path)
        save_arrays(path, {**header, "calibration": entry}, arrays)
    load_evaluator(path)


@pytest.mark.parametrize("name", ["quantised", "network", "rootstrap", "samuel", "samuel1959"])
def test_shipped_evaluators_of_checkers_are_calibrated(name: str) -> None:
    """The numbers are those in docs/results/checkers.md, and mean what positions say."""
    evaluator = as_evaluator(CHECKERS, name)
    assert evaluator.calibration is not None
    known = evaluator.calibration
    assert len(known.scale) == 3 or (known.terms and known.nodes == (200, 200_000))
    evidence = evaluator.calibration.evidence
    assert evidence["log_loss"] < evidence["guess"] - 0.2 and evidence["error"] < 0.03
    assert 0.4 < evaluator.chances(START).expected < 0.6  # type: ignore[union-attr]
    lost = CHECKERS.parse_position("W:W30,31,32:B1,2,3,4,5,6,7")
    assert evaluator.chances(lost).loss > 0.75  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["checkers", "connect_four", "backgammon"])
def test_hand_crafted_evaluators_are_calibrated(name: str) -> None:
    game = games.load(name)
    # values of `centre` in Connect Four say nothing about results
    calibrations = Calibrations.of(game)
    assert set(calibrations.named) == set(game.evaluators) - {"centre"}
    for entry in calibrations.named:
        evaluator = as_evaluator(game, entry)
        assert evaluator.calibration is not None and evaluator.calibration.fits(game)
        assert sum(evaluator.chances(game.start()) or ()) == pytest.approx(1.0)


def test_probabilities_of_outcomes_need_no_calibration() -> None:
    game = games.load("backgammon")
    evaluator = as_evaluator(game, "wide")
    win = evaluator.outcomes([game.start()])[0][0]
    assert evaluator.chances(game.start()) == Chances(win, 0.0, 1.0 - win)


def test_values_in_men() -> None:
    samuel = load_evaluator("checkers/samuel1959")
    up = CHECKERS.parse_position("B:W21,22,23:B1,2,3,4")
    # a man more is worth a man, and a little more because few pieces are left
    assert 0.8 < samuel.in_units(samuel(up)) < 1.7
    assert samuel.in_units(WIN - 5) == WIN - 5 > PROVEN
    assert linear().in_units(2.5) == 2.5


test_errors = errors_of(globals())
