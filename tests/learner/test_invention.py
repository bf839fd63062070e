"""Inventing terms: planted truth is found, noise is not, and files and errors of the command."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from pages import ROOT
from scipy.special import logit

import games
import plysmith
import search
from benchmarks.invention import deceived, noise, planted
from games.board import Board
from games.checkers.cells import CELLS
from games.checkers.pieces import BOARD
from games.feature_file import FeatureFileError, load_features
from games.features.cell_terms import OFF, CellTerm
from games.features.cells import EMPTY
from games.features.term_file import feature_set_of, named
from learner.__main__ import main
from learner.invention.labels import cells_of
from learner.invention.term_search import TermSearch, candidates
from learner.positions.shards import Rows
from learner.positions.store import PositionStore
from learner.rounds.invent import Invent
from learner.rounds.samuel import Samuel
from learner.td_gammon.invent import InventWithDice
from search import LinearEvaluator, load_evaluator

CHECKERS = games.load("checkers")
TRUTHS = [
    CellTerm("man", "back row"),
    CellTerm("king").also((-1, -1), EMPTY).also((2, 0), "their man"),
    CellTerm("man", "centre").also((-1, -1), "their man").also((1, 1), "man"),
    CellTerm("man").also((-1, -1), "man").also((1, -1), "man").also((-2, 0), "their man"),
]


@functools.cache
def rows(count: int = 200) -> Rows:
    return noise(CHECKERS, count, seed=1)


def planted_rows(*truth: CellTerm) -> Rows:
    """Returns rows whose values known terms determine."""
    labels = planted(CHECKERS, rows(), *truth)
    wins = labels.expected > np.random.default_rng(0).random(len(labels.games))
    return Rows.of(
        labels.positions,
        value=logit(labels.expected),
        result=np.where(wins, 1, -1),
        game_number=labels.games,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("truth", TRUTHS[1::2], ids=str)
def test_planted_truth_is_found_first_and_exactly(truth: CellTerm) -> None:
    labels = planted(CHECKERS, rows(), truth)
    search = TermSearch(CELLS, labels)
    search.run(1)
    values = [term.difference(search.around) for term in (search.terms[0], truth)]
    assert (values[0] == values[1]).all(), search.terms[0].text(CELLS)
    assert search.weights[0] == pytest.approx(0.7, rel=0.02)
    assert len(search.terms) == 1


@pytest.mark.thorough
def test_noise_has_no_terms() -> None:
    assert deceived(CHECKERS, 12, 60) <= 1


@pytest.mark.thorough
def test_candidates_that_never_occur_or_equal_another_are_left_out() -> None:
    search = TermSearch(CELLS, planted(CHECKERS, rows(), TRUTHS[0]))
    search.run(1)
    every = candidates(CELLS)
    assert CellTerm("man", "last row") in every  # where a man is crowned
    assert CellTerm("man", "last row") not in search.pool.terms
    columns = search.pool.columns
    assert len(np.unique(columns, axis=0)) == len(search.pool.terms) < len(every)


# --- the learner ----------------------------------------------------------------------------------


@pytest.mark.whole_run
def test_a_network_and_terms_are_learned_from_the_rules_and_resumed(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "depth": 2, "terms": 4, "round_games": 15, "every": 2, "hidden": (8,), "explained": 60,
    }  # fmt: skip
    states: list[dict[str, Any]] = []
    whole = Invent("checkers", games=60, store=tmp_path / "a", **options)
    whole.fit("material", watch=lambda _: states.append(whole.checkpoint()))
    assert 1 <= len(whole.evaluator_.features) <= 4
    come = [figures["come"] for figures in whole.rounds_ if "come" in figures]
    assert len(come) == 2 and come[0].startswith("own ")
    begun = Invent("checkers", games=45, store=tmp_path / "b", **options).fit("material")
    resumed = Invent("checkers", games=60, store=tmp_path / "b", **options)
    resumed.fit("material", resume=json.loads(json.dumps(states[-2])))
    assert resumed.evaluator_.term_weights() == whole.evaluator_.term_weights()
    assert resumed.rounds_ == whole.rounds_ and begun.rounds_[:2] == whole.rounds_[:2]


@pytest.mark.whole_run
def test_terms_of_a_game_with_dice_are_learned_from_the_rules_and_resumed() -> None:
    options: dict[str, Any] = {
        "games": 330, "games_per_report": 150, "every": 2, "hidden": (12,),
        "round_games": 10, "explained": 30, "terms": 5, "seed": 5,
    }  # fmt: skip
    states: list[dict[str, Any]] = []
    told: list[Any] = []

    def watch(progress: Any) -> None:
        states.append(json.loads(json.dumps(whole.checkpoint())))
        told.append(progress.figures.get("come"))

    whole = InventWithDice("backgammon", **options)
    whole.fit(watch=watch)
    assert told[0] is None and None not in told[1:] and "own " in told[1]
    resumed = InventWithDice("backgammon", **options).fit(resume=states[1])
    assert resumed.evaluator_.term_weights() == whole.evaluator_.term_weights()
    assert 2 <= len(whole.evaluator_.features) <= 5


# --- the command --------------------------------------------------------------------------------


@pytest.mark.whole_run
def test_the_command_writes_terms_that_load_as_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = PositionStore("store", CHECKERS)
    store.extend(planted_rows(TRUTHS[0], TRUTHS[2]))
    store.flush()
    assert main(["invent", "checkers", "store", "--terms", "4", "--output", "own.py"]) == 0
    printed = capsys.readouterr().out
    features = load_features("own.py", CHECKERS)
    evaluator = load_evaluator("own.json", game=CHECKERS)
    names = list(named(CELLS, [TRUTHS[0], TRUTHS[2]]))
    assert set(evaluator.term_weights()) == set(features.names) == set(names)
    # each term says its weight, and the printed weight is that of the file
    text = Path("own.py").read_text("utf-8")
    for name, weight in evaluator.term_weights().items():
        assert f"def {name}(" in text and f"Weight {weight:+.4g} men." in text
        assert f"{weight:+6.3f}" in printed
    # beside terms written by hand
    given = ["invent", "checkers", "store", "--terms", "2", "--from", "classic"]
    assert main([*given, "--output", "more.py"]) == 0
    more = load_evaluator("more.json", game=CHECKERS).term_weights()
    hand = {*CHECKERS.features["classic"].names}
    assert len({*more} & hand) >= 12
    assert {*more} - hand == set(load_features("more.py", CHECKERS).names)
    # a file that exists may have been edited, and is not lost
    assert main(["invent", "checkers", "store", "--output", "own.py"]) == 2
    assert "expected a new file, found" in capsys.readouterr().err
    # the command of the page fits the terms of a file again
    page = (ROOT / "docs/invented_terms.md").read_text("utf-8")
    words = re.findall(r"`plysmith (train checkers [^`]*)invented\.py`", page)[0].split()
    short = "own.py --games 2 --depth 1 --snapshots 1 --snapshot-games 2 --final-games 2"
    assert plysmith.main([*words, *short.split(), "--match-games", "2", "--quiet"]) == 0
    # an edited file that no longer compiles: line and reason
    Path("own.py").write_text(text.replace("return popcount(", "return popcounts(", 1))
    with pytest.raises(FeatureFileError, match=r"own\.py.*popcounts"):
        load_features("own.py", CHECKERS)


@pytest.mark.thorough
def test_with_dice_terms_explain_the_moves_of_an_evaluator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels made from two terms by hand give their weights back, in points."""
    monkeypatch.chdir(tmp_path)
    game = games.load("backgammon")
    cells = cells_of(game)
    truth = [CellTerm("man borne off"), CellTerm("point", "home board")]
    features = feature_set_of(cells, named(cells, truth))
    LinearEvaluator(game, features, [0.05, 0.03], name="truth").save("truth.json")
    given = ["invent", "backgammon", "truth.json", "--terms", "5", "--games", "30"]
    assert main([*given, "--output", "own.py"]) == 0
    assert "+0.030  own point in the home board" in capsys.readouterr().out
    weights = load_evaluator("own.json", game=game).term_weights()
    for name, weight in zip(features.names, (0.05, 0.03), strict=True):
        assert weights.pop(name) == pytest.approx(weight, rel=0.03)
    assert all(abs(weight) < 0.002 for weight in weights.values())
    assert {*features.names, *weights} == {*load_features("own.py", game).names}


@pytest.mark.whole_run
def test_of_a_puzzle_linear_conflicts_are_invented_and_solve_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["invent", "sliding8", "manhattan", "--games", "500", "--terms", "7"]
    assert main([*given, "--output", "own.py"]) == 0
    printed = capsys.readouterr().out
    assert "  each step to go\n" in printed and " own " not in printed
    assert "tile due down with a tile due up below\n" in printed  # in each other's way
    problem = games.load("sliding8")
    heuristic = load_evaluator("own.json", game=problem)
    assert {*heuristic.term_weights()} == {*load_features("own.py", problem).names}
    assert heuristic(problem.goal()) == 0.0
    positions = [problem.random_position(1000 + number) for number in range(40)]
    plain, own = (
        [search.solve(problem, position, one) for position in positions]
        for one in ("manhattan", heuristic)
    )
    assert sum(one.expanded for one in own) < 0.6 * sum(one.expanded for one in plain)
    assert sum(one.cost for one in own) < 1.1 * sum(one.cost for one in plain)


@pytest.mark.thorough
def test_terms_that_luck_explains_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = PositionStore("store", CHECKERS)
    store.extend(rows(60))
    store.flush()
    assert main(["invent", "checkers", "store"]) == 2
    assert "candidates explains more than luck; nothing is written" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


@pytest.mark.thorough
def test_samuels_reserve_is_invented_where_his_terms_say_nothing(tmp_path: Path) -> None:
    learner, again = (Samuel(CHECKERS, active=6, invent=3, store=tmp_path / x) for x in "ab")
    learner.prepare(None)
    again.prepare(None)
    active, library = list(learner.active_), {*learner.reserve_}
    figures = learner._invent(planted_rows(TRUTHS[3]))
    names = list(named(CELLS, [TRUTHS[3]]))
    assert learner.reserve_ == names and learner.active_ == active
    assert set(learner.features_.names) == {"PIECES", *active, *names}
    assert library.isdisjoint(learner.features_.names)
    assert figures == {"come": TRUTHS[3].text(CELLS)}
    assert learner._fitter.evaluator is learner.evaluator_
    learner.active_.append(learner.reserve_.pop(0))
    learner.evaluator_.weights[:] = np.arange(len(learner.features_))
    state = json.loads(json.dumps(learner._get_state()))
    again._set_state(state)
    assert again.evaluator_.term_weights() == learner.evaluator_.term_weights()
    assert (again.active_, again.reserve_) == (learner.active_, learner.reserve_)
    state["reserve"] = state["active"]
    other = games.load("connect_four").features["lines"]
    with pytest.raises(ValueError, match="expected a set of differences as those of the cells"):
        feature_set_of(CELLS, {}, other)
    with pytest.raises(ValueError, match="expected the terms of the learner, each once"):
        again._set_state(state)


def error_of_line(line: str, names: dict[str, Any], folder: Path) -> str:
    """Returns what the command prints as it refuses, beside stores of positions."""
    few = PositionStore(folder / "POSITIONS", CHECKERS)
    few.extend(rows(30).take(slice(100)))
    few.flush()
    unknown = PositionStore(folder / "RESULTS", CHECKERS)
    labels = {"value": 1.0, "game_number": rows().game_number}
    unknown.extend(Rows.of(rows().positions, **labels))
    unknown.flush()
    before, err = sorted(folder.rglob("*")), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stderr(err):
        assert main(["invent", *line.split()]) == 2
    assert sorted(folder.rglob("*")) == before
    (said,) = err.getvalue().splitlines()
    return said.replace(str(folder), "{tmp}")


def test_a_board_that_lacks_a_piece_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def blind(position: Any) -> Any:
        shown = dict(BOARD.pieces(position))
        shown.pop(40, None)
        return shown

    changed = (Board(8, 8, blind, BOARD.clicks), CELLS)
    monkeypatch.setattr(type(CHECKERS), "extras", changed)
    assert main(["invent", "checkers", "x"]) == 2
    error = capsys.readouterr().err
    assert "cells: expected nothing as the board shows on square 40, found" in error


def test_terms_of_the_same_words_get_different_names() -> None:
    same = [CellTerm("man").also((0, -2), OFF)] * 2
    assert list(named(CELLS, same)) == [
        "man_with_edge_two_left", "man_with_edge_two_left_2",
    ]  # fmt: skip


test_errors = errors_of(globals())
