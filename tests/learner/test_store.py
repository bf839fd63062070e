"""The position store: no row is lost, duplicated or half written, and the bits are reproducible."""

from __future__ import annotations

import json
import random
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from errors import errors_of
from hypothesis import given
from hypothesis import strategies as st

import programs.whole_files
from games import Game, kernels
from games.checkers import Checkers
from games.checkers.rules import standard
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from learner.positions.filters import Games
from learner.positions.positions import noisy, standard_keys
from learner.positions.shards import _checksum, pack, unpack
from learner.positions.store import Filter, PositionStore, Rows, StoreError, distinct
from search import EXACT, LOWER, UPPER

plain = pytest.mark.plain
CHECKERS = Checkers()
NIM = Nim()
WIDTH = len(NIM.start())


def positions_of(game: Any, count: int, seed: int = 0) -> list[tuple[int, ...]]:
    """Returns positions of random play."""
    dice = random.Random(seed)
    found: list[tuple[int, ...]] = []
    position = game.start()
    while len(found) < count:
        found.append(position)
        moves = game.legal_moves(position)
        position = game.play(position, dice.choice(moves)) if moves else game.start()
    return found


def numbered(first: int, last: int) -> dict[str, Any]:
    """Rows that can be told apart by every column and label."""
    n = np.arange(first, last)
    return {
        "positions": np.stack([n * (i + 1) for i in range(WIDTH)], axis=1),
        "value": n * 0.5,
        "result": n % 4 - 1,
        "ply": n % 60,
        "game_number": n // 60,
    }


def rows_of(**columns: Any) -> Rows:
    return Rows.of(columns.pop("positions"), width=WIDTH, **columns)


def store_of(folder: Path, rows: int, **options: Any) -> PositionStore:
    store = PositionStore(folder, NIM, **{"shard_rows": 100, **options})
    store.extend(rows_of(**numbered(0, rows)))
    store.flush()
    return store


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def same(found: Rows, first: int, last: int) -> None:
    expected = numbered(first, last)
    assert len(found) == last - first
    for name, label in expected.items():
        np.testing.assert_array_equal(getattr(found, name), label, err_msg=name)


# --- packing ---------------------------------------------------------------------------------

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


@plain
@given(st.lists(INT64, max_size=30), st.integers(0, 63))
def test_packing_loses_nothing_whatever_the_integers(numbers: list[int], shift: int) -> None:
    column = np.array([number >> shift for number in numbers], dtype=np.int64)
    low, packed = pack(column)
    np.testing.assert_array_equal(unpack(low, packed), column)


@plain
@pytest.mark.parametrize("size", range(1, 9))
def test_a_column_takes_as_many_bytes_as_its_span_needs(size: int) -> None:
    low = -(1 << 63) if size == 8 else -3
    column = np.array([low, low + 256**size - 1], dtype=np.int64)
    assert pack(column)[1].shape == (2, size)


# --- writing and reading ---------------------------------------------------------------------


@plain
def test_rows_come_back_as_they_were_in_shards_of_the_size_asked_for(tmp_path: Path) -> None:
    store = PositionStore(tmp_path / "new" / "folder", NIM, shard_rows=100)
    assert (len(store), len(store.load())) == (0, 0)
    for first in range(0, 330, 30):
        store.extend(rows_of(**numbered(first, first + 30)))
    assert (len(store), store.waiting) == (300, 30)
    same(store.load(), 0, 300)
    store.flush()
    assert list(store.shards().values()) == [100, 100, 100, 30]
    loaded = store.load()
    same(loaded, 0, 330)
    kinds = [loaded.positions.dtype, loaded.value.dtype, loaded.result.dtype, loaded.ply.dtype]
    assert kinds == [np.int64, np.float32, np.int8, np.uint16]
    assert loaded.game_number.dtype == np.uint32
    same(PositionStore(tmp_path / "new" / "folder", NIM).load(), 0, 330)


@plain
def test_how_often_it_is_flushed_does_not_change_a_byte(tmp_path: Path) -> None:
    often, once = (PositionStore(tmp_path / name, NIM, shard_rows=40) for name in "ab")
    for first in range(0, 90, 9):
        often.extend(rows_of(**numbered(first, first + 9)))
        often.flush()
        often.flush()
    once.extend(rows_of(**numbered(0, 90)))
    once.flush()
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


@plain
def test_what_is_appended_is_copied(tmp_path: Path) -> None:
    store = PositionStore(tmp_path, NIM)
    rows = numbered(0, 20)
    rows["value"] = rows["value"].astype(np.float32)
    store.extend(rows_of(**rows))
    for label in rows.values():
        label[...] = 1
    store.flush()
    same(store.load(), 0, 20)


# --- interruptions ---------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_an_interrupted_write_leaves_no_shard_and_loses_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    store = store_of(tmp_path, 30)
    before = files_of(tmp_path)
    store.extend(rows_of(**numbered(30, 120)))  # the shard of 30 becomes one of 100

    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(programs.whole_files.os, moment, interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.flush()
        with pytest.raises(KeyboardInterrupt):
            PositionStore(tmp_path, NIM, shard_rows=1).extend(rows_of(**numbered(0, 1)))
    assert before.keys() == {"positions-000001.safetensors"}
    found = files_of(tmp_path)
    assert len(PositionStore(tmp_path, NIM)) == 100 and found.keys() == before.keys()
    store.flush()
    same(store.load(), 0, 120)


@plain
def test_what_a_killed_writer_left_is_not_read_and_removed_at_the_cut(tmp_path: Path) -> None:
    half = tmp_path / ".positions-000002.safetensors.x.unfinished"
    store_of(tmp_path, 100)
    half.write_bytes(b"half a shard")
    store = PositionStore(tmp_path, NIM, shard_rows=100)
    store.extend(rows_of(**numbered(100, 200)))
    same(store.load(), 0, 200)
    assert half.name in files_of(tmp_path)
    store.truncate(100)
    assert list(files_of(tmp_path)) == ["positions-000001.safetensors"]


@plain
@pytest.mark.parametrize("at", [0, 30, 95, 100, 101, 230, 300])
def test_a_run_cut_back_to_its_checkpoint_leaves_the_same_bytes(tmp_path: Path, at: int) -> None:
    straight = PositionStore(tmp_path / "straight", NIM, shard_rows=100)
    for first in range(0, 350, 5):
        if first == at:
            straight.flush()
        straight.extend(rows_of(**numbered(first, first + 5)))
    straight.flush()

    killed = PositionStore(tmp_path / "killed", NIM, shard_rows=100)
    killed.extend(rows_of(**numbered(0, at)))
    killed.flush()
    assert len(killed) == at  # the checkpoint
    killed.extend(rows_of(**numbered(5000, 5000 + 170)))
    killed.flush()
    killed.extend(rows_of(**numbered(6000, 6001)))
    resumed = PositionStore(tmp_path / "killed", NIM, shard_rows=100)
    resumed.truncate(at)
    same(resumed.load(), 0, at)
    for first in range(at, 350, 7):
        resumed.extend(rows_of(**numbered(first, min(first + 7, 350))))
    resumed.flush()
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "straight")


@plain
def test_truncating_drops_what_was_not_flushed_and_refuses_more_than_is_there(
    tmp_path: Path,
) -> None:
    store = store_of(tmp_path, 150)
    store.extend(rows_of(**numbered(150, 170)))
    with pytest.raises(StoreError, match="expected at least 160 rows, found 150"):
        store.truncate(160)
    assert store.waiting == 20
    with pytest.raises(ValueError, match="at least 0"):
        store.truncate(-1)
    store.truncate(150)
    assert store.waiting == 0
    same(store.load(), 0, 150)
    store.truncate(0)
    assert files_of(tmp_path) == {}


# --- damage ----------------------------------------------------------------------------------


def rewritten(path: Path, changed: Any = None, **members: Any) -> None:
    """Write a shard with other arrays (None leaves one out), and with its metadata changed."""
    with safetensors.safe_open(path, framework="numpy") as file:
        text = file.metadata()["plysmith"]
        arrays = {name: file.get_tensor(name) for name in file.keys()}
    arrays = {name: array for name, array in {**arrays, **members}.items() if array is not None}
    content = json.loads(text)
    content["checksum"] = _checksum(arrays)
    text = json.dumps(content) if changed is None else changed(json.dumps(content))
    metadata = {} if text is None else {"plysmith": text}
    path.write_bytes(safetensors.numpy.save(arrays, metadata))


def about(path: Path, old: str, new: str) -> None:
    def changed(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    rewritten(path, changed)


def damaged(folder: Path, damage: Any) -> None:
    """Loads a store whose second shard is damaged; a cut before it removes it unread."""
    store_of(folder, 300)
    path = folder / "positions-000002.safetensors"
    damage(path)
    store = PositionStore(folder, NIM)
    try:
        store.load()
    finally:
        store.truncate(100)
        assert list(files_of(folder)) == ["positions-000001.safetensors"]


@plain
def test_bounds_are_kept_and_read_only_when_asked_for(tmp_path: Path) -> None:
    bounds = np.arange(300) % 3
    rows = Rows.of(**{**numbered(0, 300), "game_number": np.arange(300) // 30, "bound": bounds})
    assert set(bounds) == {EXACT, LOWER, UPPER}
    store = PositionStore(tmp_path / "all", NIM, shard_rows=100)
    store.extend(rows)
    exact = PositionStore(tmp_path / "exact", NIM, shard_rows=100)
    exact.extend(rows.take(bounds == EXACT))
    again = PositionStore(tmp_path / "all", NIM)
    everything = again.load(keep=Filter(first_bounded=0))
    np.testing.assert_array_equal(everything.bound, bounds)
    np.testing.assert_array_equal(everything.value, rows.value)
    late = again.load(keep=Filter(first_bounded=4))
    expected = np.flatnonzero((bounds == EXACT) | (np.arange(300) >= 120))
    np.testing.assert_array_equal(late.ply, rows.ply[expected])
    # readers that do not ask find what a store without bounds has, whose files hold none
    np.testing.assert_array_equal(again.load().value, exact.load().value)
    for name, held in (("exact", False), ("all", True)):
        content = files_of(tmp_path / name)["positions-000001.safetensors"]
        assert (b'"bound"' in content) == held


@plain
def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.safetensors").write_text("mine")
    store = store_of(tmp_path, 10)
    store.truncate(0)
    assert list(files_of(tmp_path)) == ["notes.safetensors"]


# --- filters ---------------------------------------------------------------------------------


@plain
def test_filters_leave_what_they_say(tmp_path: Path) -> None:
    positions = positions_of(CHECKERS, 400)
    n = np.arange(400)
    store = PositionStore(tmp_path, CHECKERS, shard_rows=150)
    value = np.where(n % 5 == 0, 9.9e11, np.where(n % 5 == 1, -9.9e11, 0.25))
    store.extend(Rows.of(positions, value=value, result=n % 4 - 1, ply=n % 50, game_number=n // 50))
    store.flush()
    loud = [i for i, position in enumerate(positions) if CHECKERS.noisy(position)]
    assert 20 < len(loud) < 380

    def kept(**options: Any) -> set[int]:
        rows = store.load(keep=Filter(**options))
        return {
            int(game) * 50 + int(ply) for game, ply in zip(rows.game_number, rows.ply, strict=True)
        }

    everything = set(range(400))
    assert kept() == everything
    assert kept(quiet=True) == everything - set(loud)
    assert kept(undecided=True) == {i for i in everything if i % 5 > 1}
    assert kept(known=True) == {i for i in everything if i % 4 != 3}
    assert kept(first_game=2) == set(range(100, 400))


@plain
@given(st.integers(0, 1 << 20), st.floats(0.05, 0.95))
def test_games_are_split_as_a_whole_in_the_share_asked_for(seed: int, share: float) -> None:
    numbers = np.arange(20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn = Games(share, 1.0, seed).holds(numbers)
        test = Games(0.0, share, seed).holds(numbers)
        assert Games(0.0, share, seed).holds(7)[0] == test[7]
    assert (learn ^ test).all()
    assert abs(test.mean() - share) < 5 * (share * (1 - share) / 20_000) ** 0.5
    assert Games().holds(numbers).all()


@plain
def test_splits_differ_by_seed() -> None:
    numbers = np.arange(5000)
    one, other = (Games(0.0, 0.5, seed).holds(numbers) for seed in (1, 2))
    assert 2200 < (one == other).sum() < 2800


# --- bulk rules and distinct -----------------------------------------------------------------


def slow_distinct(game: Any, rows: Rows) -> list[tuple[Any, ...]]:
    """Position of the first, count, mean value, mean result, ply, game and bound of the first."""
    groups: dict[Any, list[int]] = defaultdict(list)
    form = kernels.uncompiled(game.rules.standard) if game.rules.standard else lambda p: p
    for i, position in enumerate(map(tuple, rows.positions.tolist())):
        groups[tuple(form(position)), int(rows.bound[i])].append(i)
    found = []
    for members in groups.values():
        values = [float(rows.value[i]) for i in members]
        values = [v for v in values if abs(v) > 5e11] or values
        known = [float(rows.result[i]) for i in members if rows.result[i] != 2]
        first = members[0]
        found.append(
            (
                tuple(rows.positions[first].tolist()),
                len(members),
                np.mean(values),
                np.mean(known) if known else 2.0,
                int(rows.ply[first]),
                int(rows.game_number[first]),
                int(rows.bound[first]),
            )
        )
    return found


@plain
@pytest.mark.parametrize("bounds", [False, True], ids=["exact", "with bounds"])
@pytest.mark.parametrize("game", [CHECKERS, TicTacToe()], ids=lambda game: game.name)
def test_distinct_agrees_with_its_slow_twin(game: Any, bounds: bool) -> None:
    positions = positions_of(game, 600, seed=1)
    positions += positions_of(game, 300, seed=2)
    if game is CHECKERS:  # mirror images with the colours exchanged count as the same
        turned = [tuple(map(int, standard(p))) for p in positions[200:400]]
        assert turned != positions[200:400]
        positions += turned
    n = len(positions)
    random = np.random.default_rng(0)
    rows = Rows.of(
        positions,
        value=np.where(random.random(n) < 0.1, 9e11, random.normal(size=n)),
        result=random.integers(-1, 3, n),
        ply=np.arange(n) % 1000,
        game_number=np.arange(n) // 40,
        bound=random.choice([EXACT, LOWER, UPPER], n) if bounds else EXACT,
    )
    expected = slow_distinct(game, rows)
    found = distinct(game, rows)
    assert len(expected) < n - 50
    assert len(found) == len(expected)
    assert [tuple(p) for p in found.positions.tolist()] == [e[0] for e in expected]
    assert found.count.tolist() == [e[1] for e in expected]
    np.testing.assert_allclose(found.value, [e[2] for e in expected], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.result, [e[3] for e in expected], rtol=1e-6)
    assert found.ply.tolist() == [e[4] for e in expected]
    assert found.game_number.tolist() == [e[5] for e in expected]
    assert found.bound.tolist() == [e[6] for e in expected]
    # again, nothing changes: counts add up
    again = distinct(game, found)
    np.testing.assert_array_equal(again.count, found.count)
    np.testing.assert_array_equal(again.value, found.value)


@plain
def test_distinct_of_nothing_is_nothing() -> None:
    nothing = Rows.concatenate([], 4)
    assert len(distinct(CHECKERS, nothing)) == 0


@pytest.mark.skipif(not kernels.compiled, reason="compares native code with the plain")
def test_native_answers_about_many_positions_are_those_of_the_rules() -> None:
    positions = np.array(positions_of(CHECKERS, 500))
    expected = [CHECKERS.noisy(tuple(row)) for row in positions.tolist()]
    assert noisy(CHECKERS, positions).tolist() == expected
    assert noisy(CHECKERS, np.asfortranarray(positions)).tolist() == expected
    key = kernels.uncompiled(CHECKERS.rules.key)
    form = kernels.uncompiled(standard)
    keys = [key(form(row)) for row in positions.tolist()]
    assert standard_keys(CHECKERS, positions).tolist() == keys
    assert not noisy(NIM, np.zeros((4, WIDTH), dtype=np.int64)).any()


class Pile(Game):
    """Take one or two; the side that cannot move loses. In plain Python."""

    def start(self) -> Any:
        return (-5, 3)

    def noisy(self, position: Any) -> bool:
        return bool(position[1] == 1)


@plain
def test_a_game_in_plain_python_has_a_store_as_well(tmp_path: Path) -> None:
    store = PositionStore(tmp_path, Pile())
    store.extend(Rows.of([(-5, 3), (-5, 1), (-5, 3)], value=[1.0, 2.0, 3.0]))
    store.flush()
    assert store.load(keep=Filter(quiet=True)).value.tolist() == [1.0, 3.0]
    once = distinct(Pile(), store.load())
    assert (once.value.tolist(), once.count.tolist()) == ([2.0, 2.0], [2, 1])
    assert once.result.tolist() == [2.0, 2.0]


# --- wrong input -----------------------------------------------------------------------------


def appended(tmp_path: Path, **wrong: Any) -> None:
    """Appends two rows of which something is wrong."""
    store = PositionStore(tmp_path, NIM)
    try:
        store.extend(rows_of(**{**numbered(0, 2), **wrong}))
    finally:
        assert store.waiting == 0


@plain
def test_wrong_options_are_refused(tmp_path: Path) -> None:
    class Words(Game):
        def start(self) -> Any:
            return "word"

    with pytest.raises(TypeError, match="expected a game whose positions are tuples of integers"):
        PositionStore(tmp_path, Words())
    with pytest.raises(ValueError, match="shard_rows: expected 1 to"):
        PositionStore(tmp_path, NIM, shard_rows=0)


test_errors = errors_of(globals())
