"""Rote memory and the learner that fills it."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import textwrap
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain
from sklearn.base import clone
from twin import Twin, random_positions

from games import Game, Rules, kernels
from games.checkers import Checkers
from games.checkers.rules import reflect, turn
from games.kernel_game import KernelGame
from games.record import GameRecord
from learner.online.rote import Rote
from learner.run.memory_run import MemoryRun
from play.matches.openings import Openings
from search import WIN, Engine, EvaluatorError, as_evaluator
from search.evaluators.files.arrays import load_arrays, save_arrays
from search.lookups.rote import RoteMemory

CHECKERS = Checkers()
ROOT = Path(__file__).resolve().parents[2]


def memory(**options: Any) -> RoteMemory:
    return RoteMemory(CHECKERS, **{"capacity": 100, "direction": 0.0, **options})


@functools.cache
def positions(count: int) -> list[Any]:
    """Positions of which no two share a record."""
    found = {kernels.uncompiled(CHECKERS.rules.standard)(p): p
             for p in random_positions(CHECKERS, 7, 4 * count)}  # fmt: skip
    return list(found.values())[:count]


def probe(found: RoteMemory, position: Any) -> tuple[float, int] | None:
    """Returns (value, depth) of a remembered position, and checks that all ways to ask agree."""
    hit, value, depth = found.plain()(position)
    return (value, depth) if hit else None


def depths(found: RoteMemory) -> list[int]:
    return sorted(depth for _, _, depth, _ in found.records())


def ages(found: RoteMemory) -> list[int]:
    return sorted(age for *_, age in found.records())


# --- one record ------------------------------------------------------------------------------


@plain
def test_what_is_stored_is_found_after_the_merge() -> None:
    found = memory()
    known = positions(30)
    for i, position in enumerate(known[:20]):
        found.store(position, i - 9.5, i % 7)
    assert len(found) == 20
    assert probe(found, known[0]) is None
    found.merge()
    assert len(found) == 20
    for i, position in enumerate(known[:20]):
        assert probe(found, position) == (i - 9.5, i % 7)
    assert [probe(found, position) for position in known[20:]] == [None] * 10


@compiled_only
def test_a_search_asks_the_same_memory_as_python_does() -> None:
    found = memory()
    start = CHECKERS.start()
    children = [CHECKERS.play(start, move) for move in CHECKERS.legal_moves(start)]
    for i, child in enumerate(children[:4]):
        found.store(child, float(i), 3)
    found.merge()
    result = Engine(CHECKERS, lookup=found).analyse(start, depth=1)
    expected = {m: -float(i) if i < 4 else 0.0 for i, m in enumerate(CHECKERS.legal_moves(start))}
    assert dict(result.moves) == expected
    assert (result.lookups, result.lookup_hits) == (7, 4)
    # the engine was made before; what is merged later it sees too
    engine = Engine(CHECKERS, lookup=found)
    found.store(children[6], -2.0, 3)
    found.merge()
    assert engine.search(start, depth=1).value == 2.0


@plain
def test_a_greater_depth_is_kept_and_an_equal_one_replaced() -> None:
    found = memory()
    (position,) = positions(1)
    for merge_between in (False, True):
        found = memory()
        for value, depth in ((1.0, 4), (2.0, 6), (3.0, 5), (4.0, 6), (5.0, 1)):
            found.store(position, value, depth)
            if merge_between:
                found.merge()
        found.merge()
        assert probe(found, position) == (4.0, 6)
        assert len(found) == 1


@plain
def test_values_shrink_by_direction_but_wins_do_not() -> None:
    found = memory(direction=0.01)
    first, second, third = positions(3)
    found.store(first, 8.0, 5)
    found.store(second, WIN - 7, 5)
    found.store(third, 7 - WIN, 5)
    found.merge()
    assert probe(found, first) == (pytest.approx(8.0 * 0.95), 5)
    assert probe(found, second) == (WIN - 7, 5)
    assert probe(found, third) == (7 - WIN, 5)


# --- standard forms --------------------------------------------------------------------------


def mirrored(position: Any) -> Any:
    """Returns the same position with the colours exchanged."""
    own, opponent, kings, side = position
    rotate = kernels.uncompiled(turn)
    return rotate(own), rotate(opponent), rotate(kings), 1 - side


@plain
def test_colour_mirrored_positions_share_a_record() -> None:
    found = memory()
    known = positions(12)
    for i, position in enumerate(known):
        assert mirrored(mirrored(position)) == position
        found.store(position, float(i), 2)
    found.merge()
    assert [probe(found, mirrored(p)) for p in known] == [(float(i), 2) for i in range(12)]
    for i, position in enumerate(known):
        found.store(mirrored(position), float(-i), 3)
    found.merge()
    assert len(found) == 12
    assert [probe(found, p) for p in known] == [(float(-i), 3) for i in range(12)]


@plain
def test_boards_of_kings_alone_share_a_record_with_their_reflection() -> None:
    found = memory()
    mirror = kernels.uncompiled(reflect)
    own, opponent, kings, side = CHECKERS.parse_position("B:WK32,K19:BK1,K14,K3")
    image = (mirror(own), mirror(opponent), mirror(kings), side)
    assert image != (own, opponent, kings, side)
    assert len(CHECKERS.legal_moves(image)) == len(
        CHECKERS.legal_moves((own, opponent, kings, side))
    )
    found.store((own, opponent, kings, side), 1.5, 4)
    found.merge()
    assert probe(found, image) == probe(found, mirrored(image)) == (1.5, 4)
    # with men on the board the reflection is another position
    own, opponent, kings, side = CHECKERS.parse_position("B:WK32,19:BK1,K14,K3")
    found.store((own, opponent, kings, side), 2.5, 4)
    found.merge()
    assert probe(found, (mirror(own), mirror(opponent), mirror(kings), side)) is None


# --- ages and capacity -----------------------------------------------------------------------


@plain
def test_records_grow_old_and_use_refreshes_them() -> None:
    found = memory(oldest=6)
    used, unused, *others = positions(20)
    found.store(used, 1.0, 3)
    found.store(unused, 2.0, 3)
    found.merge()
    assert ages(found) == [0, 0]
    for number, other in enumerate(others[:6], start=1):
        found.store(other, 0.0, 1)
        found.merge()
        assert max(ages(found)) == number
    assert len(found) == 8
    # used twice: (6 + 1) / 4; the other is one merge too old
    assert probe(found, used) == probe(found, used)
    found.store(others[6], 0.0, 1)
    found.merge()
    assert ages(found) == [0, 1, 1, 2, 3, 4, 5, 6]
    assert probe(found, unused) is None
    assert probe(found, used) == (1.0, 3)
    # stored anew it is new
    found.store(used, 1.0, 3)
    found.merge()
    assert ages(found).count(0) == 1


@plain
def test_too_old_records_go_together_once_they_are_many() -> None:
    found = memory(oldest=3, capacity=1000)
    first, *others = positions(301)
    found.store(first, 1.0, 3)
    sizes = []
    for number in range(6):
        found.merge()
        sizes.append((len(found), max(ages(found))))
        for other in others[60 * number : 60 * (number + 1)]:
            found.store(other, 0.0, 1)
    # one record of 241 is too old and stays; then 61 of 301 are
    assert sizes == [(1, 0), (61, 1), (121, 2), (181, 3), (241, 4), (240, 3)]
    assert probe(found, first) is None


@plain
def test_nothing_grows_older_where_nothing_happened() -> None:
    found = memory(oldest=2)
    found.store(CHECKERS.start(), 1.0, 3)
    for _ in range(10):
        found.merge()
    assert ages(found) == [0]


@plain
def test_the_least_deep_go_first_be_they_old_or_new() -> None:
    found = memory(capacity=5)
    known = positions(12)
    for i in range(5):
        found.store(known[i], float(i), 5 + i)
    found.merge()
    assert depths(found) == [5, 6, 7, 8, 9]
    found.store(known[5], 5.0, 20)
    found.store(known[6], 6.0, 1)
    found.store(known[7], 7.0, 6)
    found.merge()
    assert depths(found) == [6, 7, 8, 9, 20]
    assert probe(found, known[6]) is None
    # of equal depth the oldest goes
    assert probe(found, known[1]) is None
    assert probe(found, known[7]) == (7.0, 6)
    assert len(found) == 5


@plain
def test_many_records_survive_forgetting() -> None:
    found = memory(capacity=60)
    known = positions(100)
    expected: dict[Any, tuple[float, int]] = {}
    generator = np.random.default_rng(2)
    for _ in range(20):
        for i in generator.integers(100, size=15).tolist():
            depth = int(generator.integers(1000))
            found.store(known[i], float(i), depth)
            expected[i] = (float(i), max(depth, expected.get(i, (0.0, 0))[1]))
        found.merge()
        deepest = sorted(expected.items(), key=lambda item: -item[1][1])[:60]
        assert depths(found) == sorted(entry[1] for _, entry in deepest)
        expected = dict(deepest)
    assert all(probe(found, known[i]) == entry for i, entry in expected.items())


# --- files -----------------------------------------------------------------------------------


def filled(**options: Any) -> RoteMemory:
    found = memory(**options)
    known = positions(40)
    for i, position in enumerate(known):
        found.store(position, i / 3, i % 9)
        if i % 10 == 0:
            found.merge()
    probe(found, known[0])
    found.store(known[1], WIN - 3, 30)
    found.merge()
    return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Returns the content of a file."""
    path = tmp_path_factory.mktemp("saved") / "memory.safetensors"
    filled().save(path)
    return path.read_bytes()


@plain
def test_a_file_brings_all_back(tmp_path: Path) -> None:
    found = filled(oldest=77, direction=0.003)
    path = tmp_path / "odd name ?#%41 ä" / "memory.safetensors"
    found.save(path, evaluator="classic")
    assert [p.name for p in path.parent.iterdir()] == ["memory.safetensors"]
    loaded = RoteMemory.load(CHECKERS, path)
    assert loaded.records() == found.records()
    assert len(set(ages(loaded))) > 2
    assert (loaded.capacity, loaded.oldest, loaded.direction) == (100, 77, 0.003)
    for position in positions(40):
        assert probe(loaded, position) == probe(found, position)
    # and both go on alike
    for other in (found, loaded):
        other.merge()
        other.store(CHECKERS.start(), 1.0, 1)
        other.merge()
    assert loaded.records() == found.records()
    loaded.save(path)
    assert RoteMemory.load(CHECKERS, path).records() == found.records()


class OtherGame(Checkers):
    name = "giveaway"


class OtherKeys(Checkers):
    """Checkers whose positions are numbered without regard to their standard form."""

    rules = Rules(
        **{
            part: getattr(Checkers.rules, part)
            for part in ("legal_moves", "play", "outcome", "key", "noisy", "irreversible", "gain")
        }
    )


class NewRules(Checkers):
    version = Checkers.version + 1


def of_another_game(tmp_path: Path, game: type[KernelGame]) -> None:

    filled().save(tmp_path / "memory.safetensors")
    other: Game = game()
    RoteMemory.load(other, tmp_path / "memory.safetensors")


@plain
def test_files_that_hold_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "memory.safetensors"
    with pytest.raises(FileNotFoundError, match="expected a rote memory, found no file"):
        RoteMemory.load(CHECKERS, path)
    with pytest.raises(FileNotFoundError, match="expected a rote memory, found no file"):
        RoteMemory.load(CHECKERS, tmp_path)
    filled().save(path)
    whole = path.read_bytes()
    broken = {"empty": b"", "text": b"no database", "zeros": bytes(8192), "head": whole[:100]}
    broken |= {f"{part}/8": whole[: len(whole) * part // 8] for part in range(1, 8)}
    for name, content in broken.items():
        path.write_bytes(content)
        with pytest.raises(EvaluatorError, match="expected a whole safetensors file") as caught:
            RoteMemory.load(CHECKERS, path)
        assert str(path) in str(caught.value), name


@plain
@pytest.mark.parametrize("seed", range(16))
def test_damaged_bytes_never_do_harm(saved: bytes, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "memory.safetensors"
    content = bytearray(saved)
    generator = np.random.default_rng(seed)
    for place in generator.integers(len(content), size=20 if seed % 2 else 400).tolist():
        content[place] = int(generator.integers(256))
    path.write_bytes(content)
    try:
        loaded = RoteMemory.load(CHECKERS, path)
    except EvaluatorError:
        return
    for _, value, depth, age in loaded.records():
        assert abs(value) <= WIN
        assert depth >= 0
        assert age >= 0


def changed(tmp_path: Path, change: Any) -> None:
    """Loads a memory whose file says something else: `change` gets its header and columns."""
    path = tmp_path / "memory.safetensors"
    filled().save(path)
    header, columns = load_arrays(path, most=WIN)
    change(header, columns)
    save_arrays(path, header, columns)
    RoteMemory.load(CHECKERS, path)


@plain
def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "memory.safetensors"
    found = filled()
    found.save(path)
    before = path.read_bytes()

    def full(source: Any, target: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        found.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["memory.safetensors"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        found.save(tmp_path / "file" / "memory.safetensors")


# --- a search with memory --------------------------------------------------------------------


@compiled_only
def test_the_last_match_begins_where_no_game_of_learning_did() -> None:
    learner = Rote("checkers", games=1100)
    learner._load_game()

    def ends(openings: Any) -> set[Any]:
        return {functools.reduce(CHECKERS.play, line, CHECKERS.start()) for line in openings}

    learned = ends(islice(learner._openings(), 1100))
    plies = learner.unlearned_plies()
    assert len(learned) == 1100 and plies == 6, "216 positions after three plies, 805 after four"
    assert not learned & ends(islice(Openings(CHECKERS, plies=plies, seed=5), 200))


def test_three_plies_with_memory_are_worth_six() -> None:
    """Where all leaves of a search are remembered 3 plies deep, it finds the value of 6 plies.

    Leaves are the quiet positions that quiescence ends in, which may be more than 3 plies away;
    the twin backs their values up without window, table or order.
    """
    evaluator = as_evaluator(CHECKERS, "classic")
    root = CHECKERS.start()
    exact = Twin(CHECKERS, evaluator)
    leaves: set[Any] = set()

    def collect(position: Any) -> float:
        leaves.add(position)
        return exact.value(position, 3)

    deeper = Twin(CHECKERS, collect)
    expected = deeper.value(root, 3)
    found = RoteMemory(CHECKERS, direction=0.0)
    for position in leaves:
        found.store(position, exact.value(position, 3), 3)
    found.merge()

    options: dict[str, Any] = {"repetition": False, "equal_depth": True}
    without = Engine(CHECKERS, evaluator, **options)
    engine = Engine(CHECKERS, evaluator, lookup=found, **options)
    result = engine.search(root, depth=3)
    assert result.value == expected
    assert dict(engine.analyse(root, depth=3).moves) == dict(deeper.moves(root, 3))
    # every leaf is answered, so nothing is evaluated
    assert 0 < result.lookup_hits <= result.lookups
    zero = Engine(CHECKERS, None, lookup=found, **options).search(root, depth=3)
    assert (zero.value, zero.move) == (result.value, result.move)
    # no capture reaches across the horizon: these are 6 plies in every line
    six = without.search(root, depth=6)
    assert six.value == result.value
    assert six.nodes > 3 * result.nodes
    assert without.search(root, depth=3).lookups == 0


@pytest.mark.slow
@compiled_only
def test_many_engines_share_a_memory_from_two_threads() -> None:
    """In a process of its own: native code that reads freed memory would end this one."""
    program = """
        import gc, threading
        from games.checkers import Checkers
        from search import Engine
        from search.lookups.rote import RoteMemory

        game = Checkers()
        memory = RoteMemory(game, capacity=5000, oldest=10**9)
        position = game.start()
        for move in game.legal_moves(position):
            memory.store(game.play(position, move), 1.0, 9)
        memory.merge()
        values = []

        def work():
            for _ in range(8):
                engine = Engine(game, "material", lookup=memory, table_mib=0.1)
                gc.collect()
                junk = [bytearray(512) for _ in range(200)]
                result = engine.search(game.start(), depth=4)
                assert result.lookup_hits >= 7, result
                values.append(result.value)
                del junk

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            memory.store(position, 1.0, 2)
            memory.merge()
        assert len(values) == 16 and len(set(values)) == 1, set(values)
        print("sound")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, cwd=ROOT, timeout=1200,
        env={**os.environ, "MALLOC_PERTURB_": "165"},
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "sound"), done.stderr


# --- the learner -----------------------------------------------------------------------------


@compiled_only
def test_the_learner_remembers_what_it_played(tmp_path: Path) -> None:
    records = []
    learner = Rote(CHECKERS, games=3, depth=2, seed=4, capacity=5000, direction=0.0)
    assert learner.fit("material", watch=lambda p: records.append(p.record)) is learner
    assert (learner.games_played_, len(records)) == (3, 3)
    remembered = len(learner.memory_)
    assert 30 < remembered <= learner.updates_
    evaluated = [
        position
        for record in records
        for position, note in zip(record.positions, record.annotations, strict=False)
        if note.value
    ]
    assert evaluated
    assert all(probe(learner.memory_, position) for position in evaluated)
    again = clone(learner).fit("material")
    assert again.memory_.records() == learner.memory_.records()


@compiled_only
def test_a_search_that_ends_in_a_remembered_value_stands_for_the_depths_of_both() -> None:
    """Three plies to a value of three plies are six (Samuel 1959), and only three shrink it now."""
    start, leaves = CHECKERS.start(), [CHECKERS.start()]
    for ply in range(6):  # three, and the captures that are pending then
        leaves = [
            after
            for p in leaves
            for after in (
                [CHECKERS.play(p, move) for move in CHECKERS.legal_moves(p)]
                if ply < 3 or CHECKERS.noisy(p)
                else [p]
            )
        ]
    learner = Rote(CHECKERS, games=1, depth=3, opening_plies=0, direction=0.01)
    learner.prepare("classic")
    for position in leaves:
        value = 2.0 if CHECKERS.to_move(position) else -2.0
        learner.memory_.store(position, value, 3, backed_up=0)
    learner.memory_.merge()
    assert learner.memory_.depth_of(leaves[0]) == 3
    assert learner.memory_.depth_of(start) is None
    engine = Engine(CHECKERS, learner.evaluator_, lookup=learner.memory_)
    played = GameRecord(CHECKERS)
    learner._play(engine, played)
    learner.memory_.merge()
    assert played.annotations[0].value == -2.0
    value, depth = probe(learner.memory_, start) or (0.0, 0)
    assert value == pytest.approx(-2.0 * 0.97)
    assert depth in (6, 7, 8)  # longer by the captures of the variation
    later = [learner.memory_.depth_of(position) for position in played.positions[4:-1]]
    assert 3 in later  # where nothing was known, the depth is that of the search


@compiled_only
def test_a_damaged_state_of_the_learner_is_refused(tmp_path: Path) -> None:
    whole = Rote(CHECKERS, games=2, depth=2, seed=1, capacity=300, store=tmp_path).fit("material")
    state = json.loads(json.dumps(whole.checkpoint()))
    for damage in ({"games_played": "x"}, {"memory": 7}):
        with pytest.raises(ValueError, match="expected a state of this learner, found"):
            clone(whole).fit("material", resume={**state, **damage})
    (tmp_path / state["memory"]).unlink()
    with pytest.raises(
        FileNotFoundError, match=r"memory-000002.safetensors: expected a rote memory"
    ):
        clone(whole).fit("material", resume=state)


def with_options(tmp_path: Path, options: Any) -> None:

    learner = Rote(**{"game": CHECKERS, "games": 1, "depth": 1, **options})
    MemoryRun(learner, tmp_path / "run").train(None)


test_errors = errors_of(globals())
