"""Batch learners: their training games, and the same bits after every interruption."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only

from games.checkers import Checkers
from games.nim import Nim
from learner.positions.filters import Filter, distinct
from learner.positions.packing import packed, unpacked
from learner.positions.shards import Rows
from learner.positions.store import PositionStore
from learner.regression.logistic import LogisticFit
from learner.regression.targets import expectations, fit_scale
from learner.rounds.batch import BatchFit
from learner.rounds.frame import scale_of
from learner.rounds.network_fit import NetworkFit
from learner.rounds.quantised_fit import QuantisedFit
from learner.self_play import TABLE_MIB
from search import EXACT, WIN, AlphaBetaOptions, Engine
from search.evaluators.network import NetworkEvaluator

CHECKERS, NIM = Checkers(), Nim((3, 4, 5))
CLASSIC = CHECKERS.features["classic"]
LEARNERS = [BatchFit, NetworkFit, QuantisedFit]


def make(kind: Any, store: Any = None, **options: Any) -> Any:
    usual: dict[str, Any] = {
        "games": 12, "depth": 2, "round_games": 5, "keep_rounds": 2, "games_per_report": 4,
        "most_plies": 40, "seed": 1,
    }  # fmt: skip
    if kind is NetworkFit:
        usual |= {"hidden": (6,), "epochs": 2, "rate": 0.01}
    if kind is QuantisedFit:
        usual |= {"nodes": None, "hidden": (6,), "endgame": 3, "rate": 0.01}
    return kind(CHECKERS, **{**usual, "store": store, **options})


def text_of(learner: Any) -> str:
    return json.dumps(learner.checkpoint())


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# --- what is learned -------------------------------------------------------------------------


@compiled_only
def test_rounds_learn_from_the_games_of_the_last_rounds(tmp_path: Path) -> None:
    notes: list[str] = []
    learner = make(BatchFit, tmp_path)
    learner.fit("material", watch=lambda p: notes.append(f"{p.game} {p.updates} {p.summary()}"))
    store = PositionStore(tmp_path, CHECKERS)
    rows = store.load()
    assert sorted(set(rows.game_number.tolist())) == list(range(12))
    assert learner.updates_ == len(rows) == len(learner.store_)
    assert [note.split()[0] for note in notes] == ["4", "5", "9", "10", "12"]
    rounds = [note.split()[2:4] for note in notes if len(note.split()) > 2]
    assert rounds == [["round", "1,"], ["round", "2,"], ["round", "3,"]]
    for number, (first, last) in enumerate([(0, 4), (0, 9), (5, 11)]):
        found = store.load(keep=Filter(quiet=True, first_game=first))
        kept = distinct(CHECKERS, found.take(found.game_number <= last))
        assert learner.rounds_[number]["positions"] == len(kept)
    # the last fit again, by hand
    fitted = LogisticFit(CLASSIC, fixed={"men": 1.0}, blend=0.5).fit_rows(kept)
    assert fitted.weights_.tolist() == learner.evaluator_.weights.tolist()
    assert learner.rounds_[-1] == {
        "positions": len(kept), "K": fitted.K_, "loss": fitted.loss_,
    }  # fmt: skip
    assert learner.evaluator_.weights[0] == 1.0


@compiled_only
def test_stored_labels_are_those_of_the_games(tmp_path: Path) -> None:
    records = []
    learner = make(BatchFit, tmp_path, games=3, games_per_report=1, opening_plies=3, decide=False)
    learner.fit("classic", watch=lambda progress: records.append(progress.record))
    # a task is a few games, of which the last is reported
    record = records[-1]
    rows = PositionStore(tmp_path, CHECKERS).load(keep=Filter(first_game=2))
    assert rows.ply.tolist() == list(range(3, len(record.moves)))
    assert [tuple(p) for p in rows.positions.tolist()] == list(record.positions[3:-1])
    values = [entry.value for entry in record.annotations[3:]]
    np.testing.assert_array_equal(rows.value, np.array(values, dtype=np.float32))
    sides = [1 - 2 * CHECKERS.to_move(position) for position in record.positions[3:-1]]
    assert rows.result.tolist() == [record.outcome() * side for side in sides]


def test_scale_of_rows_that_say_nothing() -> None:
    positions = np.zeros((4, 4), dtype=np.int64)

    def rows(value: Any, result: Any) -> Rows:
        return Rows.of(positions, value=np.array(value), result=np.array(result))

    good = rows([1.0, 2.0, -1.0, 0.5], [1, 0, -1, 0])
    assert scale_of(good) == fit_scale(good.value, good.result)
    assert scale_of(rows([0.0] * 4, [1, 0, -1, 0])) is None
    assert scale_of(rows([WIN] * 4, [1, 1, 1, 1])) is None
    assert scale_of(rows([1.0, 2.0, -1.0, 0.5], [0, 0, 0, 0])) is None
    assert scale_of(rows([1.0, 2.0, -1.0, 0.5], [-1, 0, 1, 0])) is None


@compiled_only
def test_the_network_is_taught_what_was_found(tmp_path: Path) -> None:
    learner = make(NetworkFit, tmp_path, games=5, epochs=200, rate=0.01, blend=0.25)
    learner.fit("material")
    rows = distinct(CHECKERS, PositionStore(tmp_path, CHECKERS).load(keep=Filter(quiet=True)))
    expected = expectations(rows.value, rows.result, scale=2.0 / 1.5, blend=0.25)
    found = np.tanh(learner.evaluator_.values(rows.positions) / 1.5)
    # sigmoid(2 x) is (tanh(x) + 1) / 2; the network remembers most of so few positions
    away = found - (2.0 * expected - 1.0)
    assert float(np.mean(away**2)) < 0.02 < float(np.var(2.0 * expected - 1.0))
    assert learner.rounds_[0]["loss"] == pytest.approx(float(np.mean(away**2)), abs=0.01)
    assert learner.rounds_[0]["scale"] == 1.5


@compiled_only
def test_search_trees_teach_once_rounds_have_grown(tmp_path: Path) -> None:
    learner = make(QuantisedFit, tmp_path / "a", growing=1, tree_positions=30).fit("material")
    rows = learner.store_.load(keep=Filter(first_bounded=0))
    first = learner.games_before(1)
    bounded = rows.take(rows.bound != EXACT)
    assert set(bounded.game_number) <= set(range(first, learner.games))
    assert 10 < len(bounded) / (learner.games - first) <= 30
    # they count in the round in which they are found
    number = learner.round_of(learner.games - 1)
    last = learner.games_before(number)
    first_kept = learner.games_before(number + 1 - learner.keep_rounds)
    found = Filter(first_bounded=last, first_game=first_kept, quiet=True)
    learned = distinct(CHECKERS, found.apply(CHECKERS, rows))
    assert learner.rounds_[-1]["positions"] == len(learned)
    assert (learned.bound != EXACT).any()
    without = make(QuantisedFit, tmp_path / "b", growing=1).fit("material")
    assert without.rounds_[0] == learner.rounds_[0] and without.rounds_[1] != learner.rounds_[1]


@compiled_only
def test_rounds_that_grow_begin_with_few_nodes(tmp_path: Path) -> None:
    records = []
    learner = make(QuantisedFit, tmp_path, games=5, games_per_report=1, round_games=16, growing=2,
                   depth=None, nodes=1600)  # fmt: skip
    learner.fit("material", watch=lambda progress: records.append(progress.record))
    assert [learner.games_before(number) for number in range(5)] == [0, 4, 12, 28, 44]
    assert [learner.nodes_of(number) for number in range(4)] == [100, 400, 1600, 1600]
    lookup, techniques = learner.search_with()
    options = AlphaBetaOptions(techniques=techniques)
    engine = Engine(CHECKERS, "material", options, table_mib=TABLE_MIB, lookup=lookup)
    found = engine.search(records[0].positions[6], nodes=100)
    noted = records[0].annotations[6]
    assert (found.value, found.depth) == (noted.value, noted.depth)
    # 8 passes and 4, each of one step over so few positions
    assert learner._fitter.get_state()["steps"] == [12] * 4


# --- the same bits ---------------------------------------------------------------------------


@compiled_only
def test_a_network_of_another_scale_is_resumed() -> None:
    options: dict[str, Any] = {
        "games": 20, "round_games": 10, "games_per_report": 10, "depth": 1, "decide": False,
        "inputs": "parity", "hidden": (), "rate": 0.1, "opening_plies": 1,
    }  # fmt: skip
    weights = np.array([[0.1], [0.2], [-0.3], [0.4]])
    given = NetworkEvaluator(
        NIM, NIM.features["parity"], [(weights, np.zeros(1))], scale=0.25, name="given"
    )
    states: list[str] = []
    whole = NetworkFit(NIM, **options)
    whole.fit(given, watch=lambda progress: states.append(text_of(whole)))
    fresh = NetworkFit(NIM, **options)
    fresh.prepare()
    fresh.store_ = whole.store_  # runs with temporary stores are not resumed
    cast(Any, fresh).prepare = lambda evaluator=None: None
    assert text_of(fresh.fit(resume=json.loads(states[0]))) == states[1]


# --- errors ----------------------------------------------------------------------------------


@compiled_only
def test_stores_that_cannot_be_used(tmp_path: Path) -> None:
    learner = make(BatchFit, tmp_path, games=5)
    state = json.loads(text_of(learner.fit("material")))
    count = len(learner.store_)
    with pytest.raises(ValueError, match=f"store: expected an empty folder, found {count}"):
        make(BatchFit, tmp_path, games=5).fit("material")
    with pytest.raises(ValueError, match=f"expected at least {count} rows, found 0"):
        make(BatchFit, tmp_path / "other", games=10).fit(resume=state)
    with pytest.raises(ValueError, match=f"expected at least {count} rows, found 0"):
        make(BatchFit, games=10).fit(resume=state)
    shard = next(tmp_path.glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-40])
    with pytest.raises(ValueError, match=rf"^{re.escape(str(shard))}: expected a shard, found"):
        make(BatchFit, tmp_path, games=10).fit(resume=state)


@compiled_only
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_damaged_checkpoint_is_refused_and_leaves_the_store_as_it_is(
    kind: Any, tmp_path: Path
) -> None:
    learner = make(kind, tmp_path, games=5, depth=1)
    state = json.loads(text_of(learner.fit("material")))
    before = files(tmp_path)
    state["positions"] -= 10
    bad: Any
    if kind is BatchFit:
        bad = [math.nan, *state["weights"][1:]]
    else:
        within, key = state["weights"], "numbers" if kind is QuantisedFit else "layers"
        numbers = unpacked(within[key], np.float32)
        numbers[-1] = math.nan
        bad = {**within, key: packed(numbers)}
    damaged = [
        {**state, "weights": [0.5]}, {**state, "weights": bad}, {**state, "rounds_done": [3]},
        {**state, "positions": "x"}, {**state, "positions": -1}, {**state, "positions": 1e9},
    ]  # fmt: skip
    for wrong in damaged:
        with pytest.raises(ValueError, match="expected a state of this learner, found"):
            make(kind, tmp_path, games=10, depth=1).fit(resume=json.loads(json.dumps(wrong)))
        assert files(tmp_path) == before


def wrong(kind: Any, options: dict[str, Any], message: str) -> None:

    make(kind, **options).prepare()


def test_a_temporary_store_goes_with_the_learner() -> None:
    learner: Any = BatchFit(
        NIM, games=4, round_games=4, depth=1, inputs="parity", decide=False, opening_plies=1
    )
    learner.fit()
    folder = learner.store_.folder
    assert any(folder.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del learner
    assert not folder.exists()


@pytest.mark.parametrize("options", [{}, {"fixed": {}}, {"K": 1.0}])
def test_a_round_without_positions_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    def empty(game: Any, rows: Rows) -> Rows:
        return rows.take(slice(0)) if len(learner.rounds_) < 2 else distinct(game, rows)

    monkeypatch.setattr("learner.rounds.frame.distinct", empty)
    seen: list[bool] = []
    learner = BatchFit(NIM, inputs="parity", games=9, round_games=3, depth=2, **options)
    learner.fit(watch=lambda progress: seen.append(learner.evaluator_.weights.any()))
    assert learner.rounds_[:2] == [{"positions": 0.0}] * 2 and seen == [False, False, True]


test_errors = errors_of(globals())
