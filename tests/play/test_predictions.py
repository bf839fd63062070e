"""How well chances judged_chances the results of games."""

from __future__ import annotations

import math

import pytest

import games
from games.record import GameRecord
from play.__main__ import main
from play.ratings.predictions import judged_chances
from search import as_evaluator
from search.evaluators.calibration import Calibration

CHECKERS = games.load("checkers")


def won_by_white() -> GameRecord:
    record = GameRecord(CHECKERS)
    for value in (None, 0.5, 0.25, -0.25, -1.0, 1e12):
        record.play(CHECKERS.legal_moves(record.position)[0], value=value)
    record.declare(-1.0, "agreed")
    return record


def test_the_log_loss_is_that_of_the_chances_at_a_sides_own_moves() -> None:
    evaluator = as_evaluator(CHECKERS, "classic").copy()
    assert judged_chances(evaluator, [(won_by_white(), 0)]) is None  # no chances
    evaluator.calibration = Calibration((1.0,), (0.5,))
    chance = [1 / (1 + math.exp(0.5 - value)) for value in (0.5, -0.25)]  # of White's win
    found = judged_chances(evaluator, [(won_by_white(), 1)])
    assert found is not None and (found.moves, found.guess) == (2, 0.0)
    assert found.loss == pytest.approx(-sum(map(math.log, chance)) / 2)
    found = judged_chances(evaluator, [(won_by_white(), 0), (won_by_white(), 1)])
    assert found is not None and found.moves == 4  # neither without a value nor proven
    lost = [1 / (1 + math.exp(0.5 + value)) for value in (0.25, -1.0)]
    assert found.loss == pytest.approx(-sum(map(math.log, chance + lost)) / 4)
    assert found.guess == pytest.approx(math.log(2))


def test_a_match_says_it_of_players_that_know_chances(capsys: pytest.CaptureFixture[str]) -> None:
    line = "match checkers classic random --depth 1 --games 2 --quiet"
    assert main(line.split()) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("chances")]
    assert len(lines) == 1 and lines[0].startswith("chances of classic at its ")
