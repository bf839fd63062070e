"""Fitting the model of an opponent to games whose model is known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
from games.features import FeatureSet
from games.file_form import form_of
from games.record import GameRecord
from learner.__main__ import main
from learner.books.book import BookEntry
from learner.books.opponent import fit_opponent, fit_temperature, foretold
from search import LinearEvaluator, Opponent, as_evaluator

CHECKERS = games.load("checkers")


def entries(temperature: float, count: int) -> list[BookEntry]:
    """Returns entries of positions after the first moves, chosen by a softmax over `material`."""
    evaluator = as_evaluator(CHECKERS, "classic")
    opponent = Opponent(None, temperature)
    random = np.random.default_rng(1)
    position = CHECKERS.start()
    made = []
    for _ in range(count):
        moves = CHECKERS.legal_moves(position)
        after = tuple(CHECKERS.play(position, move) for move in moves)
        chances = opponent.chances([-evaluator(one) for one in after])
        # rarer moves than the model's least are never chosen
        chosen = int(random.choice(len(moves), p=chances))
        nothing = (None,) * len(moves)
        signs = (-1.0,) * len(moves)
        if len(moves) > 1:
            made.append(BookEntry(position, tuple(moves), chosen, after, signs, nothing, len(made)))
        position = after[chosen]
        if not CHECKERS.legal_moves(position):
            position = CHECKERS.start()
    return made


@pytest.mark.parametrize("temperature", [0.03, 0.3])
def test_the_temperature_is_found_again(temperature: float) -> None:
    evaluator = as_evaluator(CHECKERS, "classic")
    made = entries(temperature, 1500)
    found = fit_temperature(evaluator, made)
    assert found == pytest.approx(temperature, rel=0.15)
    # it is the likeliest one
    surprise = foretold(evaluator, found, made).bits
    for other in (0.8 * found, 1.25 * found):
        assert foretold(evaluator, other, made).bits > surprise
    assert surprise < foretold(evaluator, 1e6, made).bits
    told = foretold(evaluator, 1e9, made)
    assert told.bits == pytest.approx(told.uniform_bits, abs=1e-6)


def test_moves_at_random_are_hot() -> None:
    evaluator = as_evaluator(CHECKERS, "classic")
    made = entries(math.inf, 400)
    assert fit_temperature(evaluator, made) > 1.0
    with pytest.raises(ValueError, match="expected entries of a book, found none"):
        fit_temperature(evaluator, [])


def written(path: Path, temperature: float, count: int) -> Path:
    """Write games of a player who prefers kept pieces in the back row, by a known softmax."""
    terms = CHECKERS.features["classic"]
    assert isinstance(terms, FeatureSet)
    evaluator = LinearEvaluator(
        CHECKERS, terms, {"men": 1.0, "kings": 1.5, "back_row": 0.5, "advance": -0.2}
    )
    opponent = Opponent(None, temperature)
    random = np.random.default_rng(3)
    texts = []
    for _ in range(count):
        record: Any = GameRecord(CHECKERS)
        while not record.over and record.ply < 60:
            moves = CHECKERS.legal_moves(record.position)
            values = [-evaluator(CHECKERS.play(record.position, move)) for move in moves]
            record.play(moves[int(random.choice(len(moves), p=opponent.chances(values)))])
        texts.append(form_of(CHECKERS).write(record, ("Ann", "Bob"), {}))
    path.write_text("\n\n".join(texts), "utf-8")
    return path


def test_evaluator_and_temperature_of_a_player_from_his_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "games.pdn", 0.1, 24)
    fit = fit_opponent(CHECKERS, [path], side="player Ann", held_out=0.25)
    assert fit.report.games == 24
    assert fit.held_out is not None
    # he is foretold better than by chance, and than by an evaluator that is not his
    assert fit.held_out.bits < 0.8 * fit.held_out.uniform_bits
    other = fit_opponent(CHECKERS, [path], side="player Ann", held_out=0.25, evaluator="rote")
    assert other.held_out is not None and fit.held_out.bits < other.held_out.bits
    assert fit.opponent.depth == 1

    output = tmp_path / "ann.json"
    arguments = ["opponent", str(path), "--player", "Ann", "--output", str(output)]
    assert main([*arguments, "--held-out", "0.25"]) == 0
    out = capsys.readouterr().out
    assert f"temperature: {fit.opponent.temperature:.4g}, " in out
    assert f"held out:     {fit.held_out.bits:.3f} bits a move" in out
    assert f"EVALUATOR@opponent={output}:{fit.opponent.temperature:.4g}:1" in out
    same = as_evaluator(CHECKERS, str(output))
    assert same(CHECKERS.start()) == fit.opponent.evaluator(CHECKERS.start())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--held-out", "1"], "held_out: expected 0 to below 1, found 1.0"),
        (["--player", "Nobody"], "side: expected a player such as Ann, Bob, found 'player Nobody'"),
        (["--evaluator", "rote", "--output", "x.json"], "--output: expected an evaluator to learn"),
        (["--game", "sliding8"], "sliding8"),
    ],
)
def test_wrong_input(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "games.pdn", 0.1, 1)
    assert main(["opponent", str(path), *options]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1
