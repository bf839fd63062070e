"""Endings that a database knows, taught to a network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import games
from games.checkers.encoding import ENDING_SQUARES, PHASE_SQUARES, PIECE_SQUARES
from games.checkers.endgame import build, compress, database
from games.checkers.endgame.sampling import random_positions
from games.values import WIN
from learner.__main__ import main
from learner.endings.fit import EndingFit, ending_targets, taught
from learner.endings.positions import known_values, played_endings, sample_endings
from learner.models.quantised_model import QuantisedModel
from learner.positions.positions import noisy, standard_keys
from learner.positions.store import PositionStore
from search import load_evaluator
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.samples import sample_positions
from search.lookups.database import DatabaseLookup

CHECKERS = games.load("checkers")


def lookup(pieces: int = 3) -> DatabaseLookup:
    return DatabaseLookup(CHECKERS, f"endgame{pieces}")


def start(seed: int = 0) -> QuantisedNetwork:
    """Returns a small network of three phases with random weights."""
    model = QuantisedModel(CHECKERS, "piece_squares", (32, 16), phases=(9, 17), seed=seed)
    return model.evaluator(name="small")


@pytest.mark.plain
def test_targets_are_graded_by_the_way_to_the_end() -> None:
    values = np.array([WIN - 1, WIN - 41, WIN - 161, 0.0, 160 - WIN, 40 - WIN, -WIN])
    targets = ending_targets(values)
    assert (np.diff(targets) < 0).all()
    assert targets[3] == 0.5
    assert targets.min() > 0 and targets.max() < 1
    np.testing.assert_allclose(ending_targets(-values), 1 - targets, atol=1e-12)


@pytest.mark.plain
def test_endings_have_inputs_of_their_own() -> None:
    six = CHECKERS.parse_position("B:W32,K30,29:B1,K2,3")
    seven = CHECKERS.parse_position("B:W32,K30,29:B1,K2,3,4")
    places = PIECE_SQUARES.places(six)
    assert ENDING_SQUARES.places(six) == [place + 128 for place in places]
    assert ENDING_SQUARES.places(seven) == PIECE_SQUARES.places(seven)
    words = [CHECKERS.input_text("ending_squares", place, six)[0] for place in sorted(places)]
    ending = sorted(ENDING_SQUARES.places(six))
    assert [CHECKERS.input_text("ending_squares", place, six)[0] for place in ending] == words


@pytest.mark.plain
def test_every_phase_has_inputs_of_its_own() -> None:
    position = CHECKERS.parse_position("W:W32,31,30,29,28,K27,26,25,24,23:B1,2,3,4,5,6,7,8,9,K12")
    pieces, phases = 20, [0] * 7 + [1] * 2 + [2] * 2 + [3] * 2 + [4] * 4 + [5] * 6
    while pieces > 3:
        places = PIECE_SQUARES.places(position)
        first = 128 * phases[pieces]
        assert PHASE_SQUARES.places(position) == [place + first for place in places]
        words = [CHECKERS.input_text("piece_squares", place, position) for place in places]
        found = [CHECKERS.input_text("phase_squares", place + first, position) for place in places]
        assert found == words
        position = list(CHECKERS.removals(position))[0][2]
        pieces -= 1


def test_a_network_with_such_inputs_is_taught_where_it_stands() -> None:
    borders = (7, 9, 11, 13, 17)
    model = QuantisedModel(CHECKERS, "phase_squares", (32, 16), phases=borders, seed=4)
    before = model.evaluator()
    positions = random_positions(3, 5000, np.random.default_rng(5))
    fit = EndingFit(CHECKERS, before, lookup(3), PHASE_SQUARES, 7, positions)
    start = fit.figures()["error"]
    after = fit.fit(2, rate=0.01).taught()
    assert fit.figures()["error"] < start
    assert after.phases == borders and after.encoding is PHASE_SQUARES
    played = np.array(sample_positions(CHECKERS, 300))
    more = played[np.bitwise_count(played[:, 0] | played[:, 1]) > 6]
    assert len(more) and (after.values(more) == before.values(more)).all()
    with pytest.raises(ValueError, match=r"border: expected one of the network's phases .*found 8"):
        EndingFit(CHECKERS, before, lookup(3), PHASE_SQUARES, 8, positions)


def test_random_positions_are_of_all_even_materials() -> None:
    positions = random_positions(3, 4000, np.random.default_rng(1))
    assert not np.isnan(known_values(CHECKERS, lookup(), positions)).any()
    own, opponent = (np.bitwise_count(positions[:, i]).astype(int) for i in (0, 1))
    assert np.abs(own - opponent).max() == 1 and (own + opponent).max() == 3
    kings = np.bitwise_count(positions[:, 2])
    assert set(zip(own.tolist(), opponent.tolist(), kings.tolist(), strict=True)) == {
        (a, b, k) for a, b in ((1, 1), (1, 2), (2, 1)) for k in range(a + b + 1)
    }


def test_only_the_endings_of_a_taught_network_change() -> None:
    before = start()
    alone = QuantisedModel(CHECKERS, "piece_squares", (32, 16), seed=5).evaluator()
    layers = [(alone.layers[0][0], before.layers[0][1]), *alone.layers[1:]]
    alone = QuantisedNetwork(CHECKERS, PIECE_SQUARES, layers)
    after = taught(before, alone, ENDING_SQUARES, 7)
    assert after.phases == (7, 9, 17)
    # a border above one that the network has replaces that phase
    assert taught(before, alone, ENDING_SQUARES, 12).phases == (12, 17)
    assert taught(before, alone, ENDING_SQUARES, 9).phases == (9, 17)
    again = taught(before, alone, ENDING_SQUARES, 9).layers[1][0]
    assert (again[1:] == before.layers[1][0][1:]).all() and len(again) == 3
    played = np.array(sample_positions(CHECKERS, 400))
    endings = np.concatenate([played[:0], random_positions(4, 500, np.random.default_rng(2))])
    for positions in (played, endings):
        few = (np.bitwise_count(positions[:, 0] | positions[:, 1]) <= 6)[:, None]
        expected = np.where(few[:, 0], alone.values(positions), before.values(positions))
        assert (after.values(positions) == expected).all()
        plain = after.plain()
        assert [plain(tuple(row)) for row in positions[:40].tolist()] == expected[:40].tolist()


def test_a_fit_learns_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    positions = random_positions(4, 60_000, np.random.default_rng(3))
    excluded = [tuple(row) for row in positions[:500].tolist()]

    def fit(folder: Path | None = None) -> EndingFit:
        return EndingFit(
            CHECKERS, start(), lookup(4), ENDING_SQUARES, 7, positions,
            excluded=excluded, folder=folder,
        )  # fmt: skip

    whole = fit()
    keys = standard_keys(CHECKERS, np.concatenate([whole.positions, whole.tested[0]]))
    assert len(np.unique(keys)) == len(keys)
    assert not np.isin(standard_keys(CHECKERS, positions[:500]), keys).any()
    before = whole.figures()
    whole.fit(4, rate=0.01)
    assert whole.figures()["error"] < 0.85 * before["error"]

    def stop(epoch: int, figures: dict[str, float]) -> None:
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path).fit(4, rate=0.01, progress=stop)
    second = fit(tmp_path)
    assert second.epochs_done == 2
    again = second.fit(4, rate=0.01).taught()
    for given, expected in zip(again.layers, whole.taught().layers, strict=True):
        assert (given[0] == expected[0]).all() and (given[1] == expected[1]).all()
    # positions of other phases are valued as before
    played = sample_positions(CHECKERS, 60)
    more = [p for p in played if (p[0] | p[1]).bit_count() > 6]
    assert (again.values(more) == start().values(more)).all()


def test_a_sample_goes_on_where_it_stopped(tmp_path: Path) -> None:
    evaluator = load_evaluator("checkers/network")

    def sample(folder: Path, games: int) -> PositionStore:
        store = PositionStore(folder, CHECKERS, shard_rows=700)
        sample_endings(store, evaluator, lookup(4), games=games, nodes=60, most=30, seed=2)
        return store

    whole = sample(tmp_path / "whole", 230).load()
    sample(tmp_path / "parts", 130)
    parts = sample(tmp_path / "parts", 230).load()
    assert len(whole) > 500
    assert (whole.positions == parts.positions).all()
    assert (whole.result == parts.result).all()
    assert np.bincount(whole.game_number).max() == 30
    values = known_values(CHECKERS, lookup(4), whole.positions)
    assert (np.sign(values) == whole.result).all()
    assert not noisy(CHECKERS, whole.positions).any()


def test_positions_played_are_among_those_visited() -> None:
    evaluator = load_evaluator("checkers/network")
    options = {"numbers": range(20), "nodes": 60, "seed": 2}
    played, visited = (
        [rows for _, rows in played_endings(CHECKERS, evaluator, lookup(4), visited=v, **options)]
        for v in (False, True)
    )
    assert sum(map(len, visited)) > 3 * sum(map(len, played)) > 0
    for few, many in zip(played, visited, strict=True):
        if len(few):
            assert np.isin(standard_keys(CHECKERS, few), standard_keys(CHECKERS, many)).all()


@pytest.mark.thorough
def test_the_command_writes_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start().save(tmp_path / "small.safetensors")
    held_out = tmp_path / "held-out.txt"
    held_out.write_text("draw B:WK32:BK1\n")
    output = tmp_path / "endings.safetensors"
    command = [
        "endings", "checkers", str(tmp_path / "small.safetensors"), str(output),
        "--store", str(tmp_path / "store"), "--database", "endgame3", "--games", "20",
        "--random", "3000", "--epochs", "1", "--exclude", str(held_out),
    ]  # fmt: skip
    assert main(command) == 0
    network = load_evaluator(output)
    assert isinstance(network, QuantisedNetwork)
    assert network.phases == (7, 9, 17) and network.name == "endings"
    assert network.provenance["from"] == start().provenance
    capsys.readouterr()
    assert main([*command[:2], "classic", *command[3:]]) != 0
    assert "expected a quantised network, found" in capsys.readouterr().err
    # the same store goes on with the same arguments alone
    written = output.read_bytes()
    assert main(command) == 0 and output.read_bytes() == written
    capsys.readouterr()
    assert main([*command, "--seed", "2"]) != 0
    error = capsys.readouterr().err
    assert (
        "expected the seed that it was begun with, 1, found 2" in error and "\n" not in error[:-1]
    )
    start(3).save(tmp_path / "small.safetensors")
    assert main(command) != 0
    assert "expected the evaluator that it was begun with" in capsys.readouterr().err


def test_a_database_without_distances_is_refused_before_any_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(2, tmp_path)
    compress(2, tmp_path)
    monkeypatch.setattr(database, "user_cache_dir", lambda *_, **__: str(tmp_path))
    start().save(tmp_path / "small.safetensors")
    command = [
        "endings", "checkers", str(tmp_path / "small.safetensors"), str(tmp_path / "taught"),
        "--store", str(tmp_path / "store"), "--database", "wdl2",
    ]  # fmt: skip
    assert main(command) == 2
    said = capsys.readouterr().err
    assert said == "learner: --database: expected one with distances, found wdl2\n"
    assert not (tmp_path / "store").exists()


def test_the_labelled_endings_are_what_they_say() -> None:
    from benchmarks.endings import RESULTS, SHARES, kind_of, known_positions

    pairs = known_positions()
    rows = np.array([position for _, position in pairs])
    assert len(np.unique(standard_keys(CHECKERS, rows))) == len(rows) == 1024
    for result in RESULTS:
        expected = sum(count for kind, count in SHARES.items() if kind[0] == result)
        assert sum(said == result for said, _ in pairs) == expected
    # those of four pieces by the database that is at hand
    values = known_values(CHECKERS, lookup(4), rows)
    known = np.flatnonzero(~np.isnan(values))
    assert len(known) > 40
    for i in known.tolist():
        kind = kind_of(pairs[i][1], values[i])
        assert kind is not None and kind[0] == pairs[i][0]
