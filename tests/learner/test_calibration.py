"""Fitting the chances that values stand for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from errors import errors_of

import games
from games.connect_four import ConnectFour
from games.tic_tac_toe import TicTacToe
from learner.__main__ import main
from learner.gradient.root_strap import RootStrap
from learner.regression import calibration
from learner.regression.calibration import (
    CalibrationSample,
    calibration_of,
    fit_calibration,
    reliability,
    self_play_sample,
    shares,
)
from learner.run.measured_run import MeasuredRun
from learner.run.settings import RunSettings
from search import PROVEN, Engine, Evaluator, LinearEvaluator, as_evaluator, load_evaluator
from search.evaluators.calibration import KNOTS, TERMS, Calibration

CHECKERS, CONNECT_FOUR, TIC_TAC_TOE = games.load("checkers"), ConnectFour(), TicTacToe()
TRUTH = Calibration((0.3, 0.5, 0.8), (0.2, 0.6, 1.5))


def drawn(truth: Calibration, rows: int = 60_000, seed: int = 1) -> CalibrationSample:
    """Returns values and results that follow `truth`, ten rows a game."""
    random = np.random.default_rng(seed)
    values, phases = random.normal(0, 1.2, rows), random.integers(0, 3, rows)
    chances = [truth.chances(v, p) for v, p in zip(values, phases.tolist(), strict=True)]
    lots = random.random(rows)
    results = np.array([1.0 * (u < c.win) - (u >= c.win + c.draw) for u, c in
                        zip(lots, chances, strict=True)])  # fmt: skip
    return CalibrationSample(values, results, phases, np.arange(rows) // 10)


def log_loss(fitted: Calibration, sample: CalibrationSample) -> float:
    """The mean of minus the logarithm of the chance of each position's result."""
    win, lost = shares(fitted, sample)
    chance = np.select([sample.results > 0, sample.results < 0], [win, lost], 1.0 - win - lost)
    return float(-np.log(chance).mean())


@pytest.mark.plain
def test_the_numbers_that_made_the_results_are_found() -> None:
    sample = drawn(TRUTH)
    found = fit_calibration(sample, CHECKERS)
    np.testing.assert_allclose(found.scale, TRUTH.scale, rtol=0.05)
    np.testing.assert_allclose(found.draw, TRUTH.draw, rtol=0.05)
    # no other numbers have a smaller loss
    least = log_loss(found, sample)
    for factor in (0.97, 1.03):
        for scale, draw in ((factor, 1.0), (1.0, factor)):
            other = Calibration(
                tuple(scale * n for n in found.scale), tuple(draw * n for n in found.draw)
            )
            assert log_loss(other, sample) > least


@pytest.mark.plain
def test_a_phase_with_few_positions_gets_the_numbers_of_all() -> None:
    sample = drawn(TRUTH, 6_000)
    few = sample.only((sample.phases != 2) | (np.arange(6_000) < 300))
    one_for_all = fit_calibration(few, CONNECT_FOUR)  # a game without phases
    assert len(one_for_all.scale) == 1
    found = fit_calibration(few, CHECKERS)
    assert (found.scale[2], found.draw[2]) == (one_for_all.scale[0], one_for_all.draw[0])
    assert found.scale[0] != one_for_all.scale[0]


@pytest.mark.thorough
@pytest.mark.plain
def test_quality_is_measured_on_games_that_were_not_fitted() -> None:
    sample = drawn(TRUTH)
    loss, table = reliability(sample, CHECKERS)
    assert loss == pytest.approx(log_loss(TRUTH, sample), abs=0.003)
    assert all(part.found_low - 0.02 < part.predicted < part.found_high + 0.02 for part in table)
    # where results say nothing about unseen games, the loss is no better than a guess
    random = np.random.default_rng(5)
    noise = CalibrationSample(
        np.abs(sample.values), random.choice([-1.0, 0.0, 1.0, 1.0], 60_000), sample.phases,
        sample.games,
    )  # fmt: skip
    evidence = calibration_of(noise, CHECKERS).evidence
    assert evidence["log_loss"] > evidence["guess"]
    assert calibration_of(sample, CHECKERS).evidence["error"] < 0.01


def test_the_sample_holds_the_searches_of_whole_games() -> None:
    options = {"games": 6, "nodes": 60, "plies": 4, "seed": 2}
    sample = self_play_sample(CONNECT_FOUR, "hand", **options, threads=2)
    again = self_play_sample(CONNECT_FOUR, "hand", **options, threads=1)
    for name in ("values", "results", "phases", "games"):
        np.testing.assert_array_equal(getattr(sample, name), getattr(again, name))
    assert set(sample.games) == set(range(6))
    assert (np.abs(sample.values) <= PROVEN).all()
    for number in range(6):  # the sides take turns, and so do the results
        results = sample.results[sample.games == number]
        assert abs(results[:-1] + results[1:]).max(initial=0) == 0
    # the first value of a game is that of a search with a fresh engine
    from itertools import islice

    from play.matches.openings import Openings

    opening = next(islice(iter(Openings(CONNECT_FOUR, plies=4, seed=2)), 1))
    position = CONNECT_FOUR.start()
    for move in opening:
        position = CONNECT_FOUR.play(position, move)
    result = Engine(CONNECT_FOUR, "hand", table_mib=1.0).search(position, nodes=60)
    assert sample.values[0] == result.value


@pytest.mark.thorough
def test_with_dice_values_are_averages_over_the_rolls_and_nothing_is_drawn() -> None:
    game = games.load("backgammon")
    sample = self_play_sample(game, "hand", games=40, nodes=1, plies=0, seed=2, threads=1)
    assert set(sample.games) == set(range(40)) and set(sample.results) == {-1.0, 1.0}
    engine = Engine(game, "hand", table_mib=1.0)
    assert sample.values[0] == engine.search(game.start(), depth=1).value
    found = calibration_of(sample, game)
    assert found.draw == (0.0, 0.0, 0.0)
    assert found.evidence["log_loss"] < found.evidence["guess"] - 0.1
    # the shipped numbers, of a thousand other games
    shipped = as_evaluator(game, "hand").calibration
    assert shipped is not None
    assert log_loss(shipped, sample) < found.evidence["guess"] - 0.1
    chances = as_evaluator(game, "hand").chances(game.start(), 0.3)
    assert chances is not None and chances.text == "win 59 %"


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.plain
def test_chances_that_follow_the_search_are_found_again() -> None:
    """Results drawn by known coefficients, at four sizes of search, two of them with few rows."""
    random = np.random.default_rng(4)
    rows = {"one": (1.0, 1.5), "nodes": (0.3, 0.4), "pieces": (-0.3, 0.1)}
    spread = [(draw, *[slope] * len(KNOTS)) for draw, slope in rows.values()]
    terms = dict.fromkeys(TERMS, (-0.05,) * (1 + len(KNOTS))) | dict(zip(rows, spread, strict=True))
    truth = Calibration((1.0,), (1.0,), {}, terms, nodes=(200, 200_000), pieces=(2, 24))
    count = 80_000
    nodes = random.choice([200, 2_000, 20_000, 200_000], count, p=[0.4, 0.4, 0.1, 0.1])
    values, pieces = random.normal(0, 1, count), random.integers(4, 25, count)
    win, loss = truth.shares(values, np.zeros(count, int), nodes, pieces)
    lots = random.random(count)
    results = 1.0 * (lots < win) - (lots >= 1.0 - loss)
    sample = CalibrationSample(
        values, results, np.zeros(count, int), np.arange(count) // 10, nodes, pieces
    )
    found = shares(fit_calibration(sample, CHECKERS), sample)
    for said, meant in zip(found, (win, loss), strict=True):
        for level in (200, 200_000):
            assert np.abs(said - meant)[nodes == level].max() < 0.06
            assert np.abs(said - meant)[nodes == level].mean() < 0.01


@pytest.mark.whole_run
def test_the_command_follows_the_search_and_keeps_its_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "RESTRAINT", 1.0)  # so that fits take few steps
    path, store = tmp_path / "hand.json", tmp_path / "store"
    hand = CHECKERS.evaluators["classic"][1]
    LinearEvaluator(CHECKERS, CHECKERS.features["classic"], hand).save(path)
    line = f"calibrate checkers {path} --nodes 5 20 --games 20 40 --store {store} --seed 5"
    assert main(line.split()) == 0
    files = {file.name: file.read_bytes() for file in store.iterdir()}
    assert len(files) == 3
    first = path.read_bytes()
    known = load_evaluator(path).calibration
    assert known is not None and known.nodes == (5, 20) and set(known.terms) == set(TERMS)
    assert known.evidence["games"] == [20, 40]
    # more than was asked for does not count
    assert main(line.replace("20 40", "20 20").split()) == 0
    assert load_evaluator(path).calibration.evidence["games"] == [20, 20]  # type: ignore[union-attr]
    # what the folder holds is not played again, and what it lacks is played alike
    sorted(store.iterdir())[1].unlink()
    assert main(line.split()) == 0
    assert {file.name: file.read_bytes() for file in store.iterdir()} == files
    assert path.read_bytes() == first
    # the games of another seed count beside those of the first, not in place of them
    capsys.readouterr()
    assert main([*line.replace("20 40", "20 40 20 20").split(), "6"]) == 0
    assert load_evaluator(path).calibration.evidence["games"] == [20, 40, 20, 20]  # type: ignore[union-attr]
    assert len(list(store.iterdir())) == 5
    assert main([*line.split(), "6"]) == 2
    assert "--games: expected one number or 4, found 2" in capsys.readouterr().err
    # the same games twice would look like more than there are
    assert main([*line.split(), "5"]) == 2
    assert "--seed: expected each number once, found [5, 5]" in capsys.readouterr().err
    assert main(line.replace("5 20", "20 20").split()) == 2
    assert "--nodes: expected each number once, found [20, 20]" in capsys.readouterr().err


def test_the_command_writes_the_file_and_changes_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = tmp_path / "hand.json", tmp_path / "new.json"
    hand = CONNECT_FOUR.evaluators["hand"][1]
    LinearEvaluator(CONNECT_FOUR, CONNECT_FOUR.features["lines"], hand).save(path)
    before = path.read_bytes()
    arguments = ["--games", "30", "--nodes", "50", "--plies", "4"]
    assert main(["calibrate", "connect_four", str(path), *arguments, "--output", str(other)]) == 0
    assert path.read_bytes() == before
    content = json.loads(other.read_text())
    entry = content.pop("calibration")
    assert content == json.loads(before)
    assert entry["evidence"]["games"] == 30
    assert load_evaluator(other).calibration == Calibration(
        tuple(entry["scale"]), tuple(entry["draw"])
    )
    text = capsys.readouterr().out
    assert "on the half of the games that the fit did not use" in text
    assert f"written: {other}" in text
    assert main(["calibrate", "connect_four", str(path), *arguments]) == 0
    assert path.read_bytes() == other.read_bytes()
    assert main(["calibrate", "connect_four", "hand", *arguments]) == 0
    assert "hand is not a file: nothing written" in capsys.readouterr().out


def test_a_run_ends_with_the_chances_of_its_best_evaluator(tmp_path: Path) -> None:
    said: list[str] = []

    def run(games: int) -> Evaluator:
        learner = RootStrap(CONNECT_FOUR, games=games, depth=1, seed=1)
        settings = RunSettings(
            game="connect_four", learner="rootstrap", games=games, depth=1, snapshots=1,
            snapshot_games=2, final_games=2, opponents=(), pacemakers=("random",),
        )  # fmt: skip
        session = MeasuredRun(learner, tmp_path / str(games), game=CONNECT_FOUR, settings=settings)
        return session.train(say=said.append)

    best = run(150)
    assert "fitting the chances of win, draw and loss to 50 games of self-play" in said
    assert best.calibration is not None and best.calibration.evidence["games"] == 50
    saved = load_evaluator(tmp_path / "150/best.json", game=CONNECT_FOUR)
    assert saved.calibration == best.calibration
    sample = self_play_sample(CONNECT_FOUR, saved, games=50, threads=1)
    assert saved.calibration == calibration_of(sample, CONNECT_FOUR)
    # nothing else of the file has changed
    content = json.loads((tmp_path / "150/best.json").read_text())
    del content["calibration"]
    assert content == json.loads((tmp_path / "150/snapshots/000150.json").read_text())
    # a small run is not worth it
    assert run(3).calibration is None


test_errors = errors_of(globals())
