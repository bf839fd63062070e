"""Inventing terms: planted truth is found, noise is not, and files and errors of the command."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
from benchmarks.invention import deceived, noise, planted
from games.feature_file import FeatureFileError, load_features
from games.features.cell_terms import EMPTY, OFF, CellTerm
from learner.__main__ import main
from learner.invention.labels import read_games
from learner.invention.term_search import Found, TermSearch, candidates
from learner.positions.shards import Rows
from learner.positions.store import PositionStore
from search import load_evaluator

CHECKERS = games.load("checkers")
TRUTHS = [
    CellTerm("man", "back row"),
    CellTerm("king").also((-1, -1), EMPTY).also((2, 0), "their man"),
    CellTerm("man", "centre").also((-1, -1), "their man").also((1, 1), "man"),
    CellTerm("man").also((-1, -1), "man").also((1, -1), "man").also((-2, 0), "their man"),
]


@functools.cache
def rows(count: int = 400) -> Rows:
    return noise(CHECKERS, count, seed=1)


@pytest.mark.thorough
@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_planted_truth_is_found_first_and_exactly(truth: CellTerm) -> None:
    assert CHECKERS.cells is not None
    labels = planted(CHECKERS, rows(), truth)
    search = TermSearch(CHECKERS.cells, labels)
    search.run(1)
    values = [term.difference(search.around) for term in (search.terms[0], truth)]
    assert (values[0] == values[1]).all(), search.terms[0].text(CHECKERS.cells)
    assert search.found[0].weight == pytest.approx(0.7, rel=0.02)
    assert len(search.terms) == 1


@pytest.mark.thorough
def test_noise_has_no_terms() -> None:
    assert deceived(CHECKERS, 20, 60) <= 1


@pytest.mark.thorough
def test_a_search_that_was_stopped_goes_on_to_the_same_terms() -> None:
    assert CHECKERS.cells is not None
    chance = np.random.default_rng(0)
    labels = planted(CHECKERS, rows(), TRUTHS[2], TRUTHS[3])
    noisy = np.clip(labels.expected + chance.normal(0, 0.05, len(labels.expected)), 0, 1)
    object.__setattr__(labels, "expected", noisy)
    whole = TermSearch(CHECKERS.cells, labels)
    whole.run(3)
    begun = TermSearch(CHECKERS.cells, labels)
    begun.run(1)
    resumed = TermSearch(CHECKERS.cells, labels)
    resumed.go_on(begun.state())
    resumed.run(3)
    assert resumed.found == whole.found and len(whole.found) >= 2
    assert resumed.state() == whole.state()
    with pytest.raises(ValueError, match="expected the state of a search, found KeyError"):
        resumed.go_on({**begun.state(), "terms": [["man", "moon", []]]})


@pytest.mark.thorough
def test_candidates_that_never_occur_or_equal_another_are_left_out() -> None:
    assert CHECKERS.cells is not None
    search = TermSearch(CHECKERS.cells, planted(CHECKERS, rows(), TRUTHS[0]))
    search.run(1)
    every = candidates(CHECKERS.cells)
    assert CellTerm("man", "last row") in every  # where a man is crowned
    assert search._pool is not None
    pool = search._pool
    assert CellTerm("man", "last row") not in pool.terms
    assert len(np.unique(pool.columns, axis=0)) == len(pool.terms)
    column = CellTerm("man", "side edge").difference(search.around)
    assert not column.all() and len(pool.terms) < len(every)


# --- the command --------------------------------------------------------------------------------


def invent(folder: Path, *options: str, terms: int = 2) -> int:
    return main([
        "invent", "checkers", "--terms", str(terms), "--evaluator", "classic", "--games", "40",
        "--nodes", "60", "--store", str(folder / "store"), "--output", str(folder / "own.py"),
        *options,
    ])  # fmt: skip


@pytest.mark.thorough
def test_the_command_writes_terms_that_load_as_the_users_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invent(tmp_path) == 0
    printed = capsys.readouterr().out
    features = load_features(tmp_path / "own.py", CHECKERS)
    own = games.load("checkers")
    own.features = {**own.features, features.name: features}
    evaluator = load_evaluator(tmp_path / "own.json", game=own)
    assert len(features) == 2 and set(evaluator.term_weights()) == set(features.names)
    assert "positions of" in printed and f"written: {tmp_path / 'own.py'}" in printed
    # each term says its weight, and the printed weight is that of the file
    text = (tmp_path / "own.py").read_text("utf-8")
    for name, weight in evaluator.term_weights().items():
        assert f"def {name}(" in text and f"Weight {weight:+.4g} men." in text
        assert f"{weight:+6.3f}" in printed
    # the same command goes on with what the store holds, and finds the same
    first = text
    (tmp_path / "own.py").unlink()
    (tmp_path / "own.json").unlink()
    assert invent(tmp_path) == 0
    assert (tmp_path / "own.py").read_text("utf-8") == first
    # a file that exists may have been edited, and is not lost
    assert invent(tmp_path) == 2
    assert "expected a new file, found" in capsys.readouterr().err
    # an edited file that no longer compiles: line and reason
    (tmp_path / "own.py").write_text(first.replace("return popcount(", "return popcounts(", 1))
    with pytest.raises(FeatureFileError, match=r"own\.py.*popcounts"):
        load_features(tmp_path / "own.py", CHECKERS)


@pytest.mark.thorough
def test_terms_join_a_set_of_the_game(tmp_path: Path) -> None:
    assert invent(tmp_path, "--from", "classic", terms=1) == 0
    features = load_features(tmp_path / "own.py", CHECKERS)
    assert features.name == "classic+invented"
    assert features.names[:16] == CHECKERS.features["classic"].names and len(features) == 17


def test_results_of_games_in_files_are_for_the_side_to_move(tmp_path: Path) -> None:
    file = Path("docs/examples/samuel_nealy_1962.pdn")
    found = read_games(CHECKERS, [Path(games.__file__).parents[1] / file])
    sides = np.array([CHECKERS.to_move(tuple(p)) for p in found.positions.tolist()])
    assert len(found) > 40 and set((found.result * np.where(sides == 0, 1, -1)).tolist()) == {1}


BAD: list[tuple[list[str], str]] = [
    (["nim"], "expected a game with a board, found nim, which has none"),
    (["backgammon"], "expected a game with a board, found backgammon"),
    (["tic_tac_toe"], "expected a game that declares its cells, found tic_tac_toe"),
    (["checkers", "--terms", "0"], "--terms: expected 1 to 1000, found 0"),
    (["checkers", "--terms", "1000000"], "--terms: expected 1 to 1000, found 1000000"),
    (["checkers", "--from", "own"], "--from: expected one of classic, samuel, found 'own'"),
    (
        ["checkers", "--positions", "POSITIONS"],
        "expected at least 1000 quiet positions with a known result of 20 games",
    ),
    (
        ["connect_four", "--positions", "POSITIONS"],
        "expected positions of game 'connect_four', found 'checkers'",
    ),
    (["checkers", "--positions", "RESULTS"], "expected positions with values and known results"),
    (["checkers", "--positions", "x.pdn", "--evaluator", "classic"], "found both"),
    (["checkers", "--output", "terms.txt"], "expected a file that ends in .py, found terms.txt"),
]


@pytest.mark.parametrize(("given", "expected"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_input_is_one_line_and_leaves_nothing(
    given: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with PositionStore("POSITIONS", CHECKERS) as store:
        store.extend(rows(30).take(slice(100)))
    with PositionStore("RESULTS", CHECKERS) as store:
        without = rows()
        store.append(without.positions, value=1.0, game_number=without.game_number)
    before = sorted(tmp_path.rglob("*"))
    assert main(["invent", *given]) == 2
    error = capsys.readouterr().err
    assert expected in error and len(error.strip().splitlines()) == 1, error
    assert sorted(tmp_path.rglob("*")) == before


def test_a_board_that_lacks_a_piece_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    board = CHECKERS.board
    assert board is not None

    def blind(position: Any) -> Any:
        shown = dict(board.pieces(position))
        shown.pop(40, None)
        return shown

    changed = games.board.Board(8, 8, blind, board.clicks)
    monkeypatch.setattr(type(CHECKERS), "board", changed)
    assert main(["invent", "checkers"]) == 2
    assert (
        "cells: expected nothing as the board shows on square 40, found" in capsys.readouterr().err
    )


def test_terms_of_the_same_words_get_different_names() -> None:
    from learner.invention.term_file import term_file

    same = [Found(CellTerm("man").also((0, -2), OFF), 0.1, 1.0)] * 2
    text, weights = term_file(CHECKERS, "checkers", same)
    assert list(weights) == ["man_with_edge_two_left", "man_with_edge_two_left_2"]
    assert text.count("@kernel") == 2
