"""Techniques of alpha-beta: exact ones change no value, the others do what they state."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from interrupts import ctrl_c
from marks import compiled_only, plain
from twin import PlainFace, random_positions

import games
from games import kernels
from games.checkers import Checkers
from games.checkers.endgame import endgame, probe
from games.checkers.endgame.numbering import position_of, positions_of, slices
from games.contract import Game
from games.kernels import kernel
from games.tree import Tree
from search import WIN, Engine, Lookup, Techniques, as_evaluator, parse_techniques
from search.alphabeta.negamax import INFINITY, negamax
from search.alphabeta.techniques import EXACT_SEARCH
from search.evaluators.samples import sample_positions, value_scale
from search.line import NONE, NativeLine
from search.native import legal_moves, move_at, play, position_key
from search.sizes import BUSY
from search.table import begin, end, is_busy, probe_table, store_table

#: What "selective" stands for, unless a game says otherwise.
SELECTIVE = Techniques(late_moves=1.2, singular=6)


@kernel
def store_entry(line, key, value, bound):
    store_table(line, key, value, 9, bound, 3, 0)


@kernel
def probe_entry(line, key):
    return probe_table(line, key)


@kernel
def busy_before_within_after(line, key):
    before = is_busy(line, key)
    begin(line, key)
    within = is_busy(line, key) and not is_busy(line, key + BUSY)
    end(line, key)
    return before, within, is_busy(line, key)


@kernel
def search_from(line, depth):
    return negamax(line, depth, -INFINITY, INFINITY, 0)


@kernel
def begin_all(line, ply):
    """Pretend that another thread is searching all successors of a position."""
    count = legal_moves(line, ply)
    for i in range(count):
        play(line, ply, move_at(line, line.first[ply] + i))
        begin(line, position_key(line, ply + 1))
    return count


CHECKERS = Checkers()
CLASSIC = as_evaluator(CHECKERS, "classic")
INEXACT = [
    Techniques(late_moves=0.6),
    Techniques(singular=4, singular_margin=0.05),
    Techniques(late_moves=0.5, singular=5, singular_margin=0.1, null_window=False),
]


@plain
@pytest.mark.parametrize("techniques", INEXACT, ids=str)
def test_native_and_plain_searches_are_one(techniques: Techniques) -> None:
    changed = 0
    for position in random_positions(CHECKERS, 11, 3):
        native = Engine(CHECKERS, CLASSIC, techniques=techniques, table_mib=64)
        slow = Engine(PlainFace(CHECKERS), CLASSIC.plain(), techniques=techniques)
        exact = Engine(CHECKERS, CLASSIC, table_mib=64).search(position, depth=6)
        one, other = native.search(position, depth=6), slow.search(position, depth=6)
        assert (one.value, one.nodes, one.move) == (other.value, other.nodes, other.move)
        assert one.history == other.history
        changed += one.nodes != exact.nodes
    assert changed, "the technique changed nothing"


@compiled_only
def test_wins_are_proved() -> None:
    known = endgame(3)
    random = np.random.default_rng(4)
    positions = [
        position_of(int(random.integers(positions_of(material))), *material)
        for material in slices(3)
        for _ in range(12)
    ]
    positions = [position for position in positions if CHECKERS.legal_moves(position)]
    for techniques in (Techniques(late_moves=4.0), Techniques(singular=4)):
        engine = Engine(CHECKERS, CLASSIC, techniques=techniques, table_mib=1)
        claims, wrong = 0, 0
        for position in positions:
            engine.clear()
            found = engine.search(position, depth=11, nodes=20_000)
            if found.plies_to_end is not None:
                value = probe(known.tables, position)[1]
                claims += 1
                wrong += value * found.value <= 0 or WIN - abs(value) > found.plies_to_end
        assert claims > 50
        assert wrong == 0, str(techniques)


def test_reductions_grow_with_depth_and_number_and_leave_a_ply() -> None:
    table = Techniques(late_moves=4.0).for_line()["reductions"]
    assert not table[:, :2].any()
    assert not table[:3].any()
    assert (np.diff(table[3:, 2:], axis=0) >= 0).all()
    assert (np.diff(table[3:, 2:], axis=1) >= 0).all()
    depths = np.arange(3, len(table))[:, None]
    assert (depths - 1 - table[3:, 2:] >= 1).all()
    assert not EXACT_SEARCH.for_line()["reductions"].any()


class Corridor(Game):
    """One good move after another for the side that begins; every other move loses a point.

    The end of the corridor has ten points for that side.
    """

    name = "corridor"
    wins = False
    LENGTH = 12

    def start(self) -> Any:
        return (0, 0)

    def legal_moves(self, position: Any) -> list[int]:
        place, aside = position
        return [] if place == self.LENGTH else [0, 1, 2]

    def play(self, position: Any, move: int) -> Any:
        place, aside = position
        return (place + 1, aside + (move > 0) * (1 if place % 2 == 0 else -1))

    def outcome(self, position: Any) -> float | None:
        return self.value(position) if position[0] == self.LENGTH else None

    def value(self, position: Any) -> float:
        place, aside = position
        points = (10.0 if place == self.LENGTH else 0.0) - aside
        return points if place % 2 == 0 else -points


@plain
def test_a_singular_move_is_searched_deeper() -> None:
    game = Corridor()
    depth = 9
    usual = Engine(game, game.value)
    singular = Engine(game, game.value, techniques=Techniques(singular=4, singular_margin=0.05))
    assert usual.search(game.start(), depth=depth).value < 5
    # the end of the corridor is 12 plies away
    assert singular.search(game.start(), depth=depth).value > 5


@plain
@pytest.mark.parametrize("techniques", ["exact", "selective", "exact,singular=4,aspiration"])
def test_the_unit_of_an_evaluator_changes_nothing(techniques: str) -> None:
    start = CHECKERS.start()
    usual = Engine(CHECKERS, CLASSIC, techniques=techniques)
    finer = Engine(CHECKERS, lambda position: 1024 * CLASSIC(position), techniques=techniques)
    expected, found = usual.search(start, depth=7), finer.search(start, depth=7)
    assert (found.value, found.pv, found.nodes) == (
        1024 * expected.value, expected.pv, expected.nodes,
    )  # fmt: skip


@plain
def test_what_values_are_like() -> None:
    for value, scale in ((0.0, 1.0), (-2.5, 2.5), (float("inf"), 1.0)):
        found = value_scale(CHECKERS, as_evaluator(CHECKERS, lambda position, v=value: v))
        assert found == scale
    positions = [p for p in sample_positions(CHECKERS, 64) if CHECKERS.outcome(p) is None]
    sizes = sorted(abs(CLASSIC(p)) for p in positions)
    half = len(sizes) // 2
    middle = sizes[half] if len(sizes) % 2 else (sizes[half - 1] + sizes[half]) / 2
    assert value_scale(CHECKERS, CLASSIC) == pytest.approx(middle)


def without_the_best_move(engine: Engine, depth: int) -> float:
    """The value of the root of the engine's last search, with its best move excluded."""
    line = engine._search.line  # type: ignore[union-attr]
    line.put(stop=0)
    line.excluded[0] = line.game.legal_moves(line.positions[0]).index(line.root_moves[0])
    found = kernels.uncompiled(negamax)(line, depth, -float("inf"), float("inf"), 0)
    line.excluded[0] = NONE
    return float(found)


@plain
def test_a_search_with_a_move_left_out_asks_no_lookup() -> None:
    tree = [[5, 6], [3, 9], [4, 8]]
    known = Lookup(lambda tables, position: (position == (), 5.0, 9))
    engine = Engine(Tree(tree), lookup=known)
    assert engine.search((), depth=2).value == 5
    assert without_the_best_move(engine, 2) == 4


@plain
def test_an_evaluator_that_raised_leaves_no_move_out_of_the_next_search() -> None:
    value = CLASSIC.plain()
    start = CHECKERS.start()
    failing = False

    def evaluate(position: Any) -> float:
        if failing and (line.excluded != NONE).any():
            raise RuntimeError("no value")
        return value(position)

    techniques = Techniques(singular=4, singular_margin=0.05)
    engine = Engine(PlainFace(CHECKERS), evaluate, techniques=techniques)
    line = engine._search.line  # type: ignore[union-attr]
    expected = engine.search(start, depth=6)
    failing = True
    engine.clear()
    with pytest.raises(RuntimeError, match="no value"):
        engine.search(start, depth=6)
    failing = False
    engine.clear()
    again = engine.search(start, depth=6)
    assert (again.value, again.nodes) == (expected.value, expected.nodes)


@compiled_only
def test_threads_know_of_each_other_what_they_are_at() -> None:
    line = NativeLine(0.1)
    other = NativeLine(0.1, shared=line)
    for one in (line, other):
        one.share(True)
    for key in (1, BUSY, 1 << 62):
        assert busy_before_within_after(line.record[0], key) == (False, True, False)
    assert other.busy == line.busy != 0
    other.share(False)
    assert other.busy == 0


@compiled_only
def test_what_all_seem_to_be_at_is_searched_all_the_same() -> None:
    for position in random_positions(CHECKERS, 29, 20):
        moves = CHECKERS.legal_moves(position)
        if CHECKERS.noisy(position) or len(moves) < 2:
            continue
        engine = Engine(CHECKERS, CLASSIC, equal_depth=True, repetition=False)
        exact = engine.search(position, depth=6)
        engine.clear()
        search = engine._without_dice()
        line = search.line
        line.share(True)
        line.put(node_limit=1 << 60)
        search._start(line, position, list(moves), [])
        assert begin_all(line.record[0], 0) == len(moves)
        found = search_from(line.record[0], 6)
        assert found == exact.value


@compiled_only
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_that_share_a_table_find_the_minimax_value(threads: int) -> None:
    # with equal_depth, entries written by other threads must not change a value
    for position in random_positions(CHECKERS, 23, 6):
        # neither must repetition, whose values belong to lines, not to positions
        exact: dict[str, Any] = {"equal_depth": True, "repetition": False}
        twin = Engine(CHECKERS, CLASSIC, **exact).search(position, depth=8)
        engine = Engine(CHECKERS, CLASSIC, **exact, threads=threads, table_mib=0.1)
        for _ in range(3):
            result = engine.search(position, depth=8)
            assert result.value == twin.value
            assert result.depth == twin.depth
            assert result.nodes > 0


@compiled_only
def test_threads_end_with_the_search_and_the_engine_goes_on() -> None:
    threads = threading.active_count()
    engine = Engine(CHECKERS, CLASSIC, threads=3)
    start = CHECKERS.start()
    with ctrl_c():
        assert engine.search(start, depth=90).interrupted
    assert threading.active_count() == threads
    assert 1 <= engine.search(start, seconds=0.1).depth
    found = engine.search(start, depth=7)
    assert (found.depth, found.interrupted) == (7, False)
    assert len(engine.analyse(start, depth=6).moves) == 7
    # with a limit on nodes only one thread searches, so the result is reproducible
    one, other = (engine.search(start, nodes=3000) for _ in range(2) if engine.clear() is None)
    assert dataclasses.replace(one, seconds=0.0) == dataclasses.replace(other, seconds=0.0)


@compiled_only
def test_an_evaluator_that_raises_in_any_thread_ends_them_all() -> None:
    threads = threading.active_count()
    calls = -(10**9)

    def evaluate(position: Any) -> float:
        nonlocal calls
        calls += 1
        if calls > 300:
            raise KeyError("no value")
        return float(hash(position) % 7)

    engine = Engine(CHECKERS, evaluate, threads=3)
    calls = 0
    with pytest.raises(KeyError, match="no value"):
        engine.search(CHECKERS.start(), depth=12)
    calls = -(10**9)
    assert threading.active_count() == threads
    found = engine.search(CHECKERS.start(), depth=5)
    assert (found.depth, found.interrupted) == (5, False)


@compiled_only
def test_threads_that_cannot_be_started_leave_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = threading.active_count()
    engine = Engine(CHECKERS, CLASSIC, threads=4)
    usual = threading.Thread.start
    left = 2

    def start(self: threading.Thread) -> None:
        nonlocal left
        if self.name != "search":
            left -= 1
            if left < 0:
                raise RuntimeError("can't start new thread")
        usual(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="can't start"):
        engine.search(CHECKERS.start(), depth=80)
    monkeypatch.undo()
    assert threading.active_count() == threads
    assert engine.search(CHECKERS.start(), depth=5).depth == 5


@plain
def test_a_stop_while_a_search_is_set_up_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(CHECKERS, CLASSIC)
    search = engine._search
    assert search is not None
    usual = search._start

    def start(*arguments: Any) -> None:
        engine.stop()
        usual(*arguments)

    monkeypatch.setattr(search, "_start", start)
    result = engine.search(CHECKERS.start(), depth=9)
    assert result.interrupted
    assert result.depth < 9


@compiled_only
def test_an_entry_half_of_two_searches_of_one_position_is_no_entry() -> None:
    # two wins differ only in the last bits of their values
    engine = Engine(CHECKERS, CLASSIC, table_mib=0.01)
    line = engine._search.line  # type: ignore[union-attr]
    key = 0x1234567890ABCDEF

    def stored(value: float, bound: int) -> Any:
        engine.clear()
        store_entry(line.record[0], key, value, bound)
        assert probe_entry(line.record[0], key)
        assert (line.hit_value, line.hit_bound, line.hit_depth) == (value, bound, 9)
        return line.pinned["table"].copy()

    values = [WIN - 5, WIN - 6, WIN - 8, 7 - WIN, 0.25, 0.25 + 2**-50, -1.5, 0.0]
    torn = 0
    for one in values:
        for other in values:
            first, second = stored(one, 1), stored(other, 2)
            (place,) = np.flatnonzero(first)[:1]
            line.pinned["table"][place] = first[place]
            line.pinned["table"][place + 1] = second[place + 1]
            assert probe_entry(line.record[0], key) == (one == other)
            torn += one != other
    assert torn


@compiled_only
def test_hits_are_told() -> None:
    engine = Engine(CHECKERS, CLASSIC, table_mib=0.25)
    result = engine.search(CHECKERS.start(), depth=13)
    assert 0 < result.hits < result.probes < result.nodes


@plain
def test_text_and_back() -> None:
    assert parse_techniques("exact", CHECKERS) == EXACT_SEARCH == Techniques()
    assert parse_techniques("selective", CHECKERS) == SELECTIVE
    assert parse_techniques("late_moves=0.7,-aspiration,singular=5", CHECKERS) == Techniques(
        late_moves=0.7, aspiration=False, singular=5
    )
    assert parse_techniques("selective,-late_moves", CHECKERS).late_moves == 0.0
    for techniques in (EXACT_SEARCH, SELECTIVE, Techniques(singular=7, null_window=False)):
        assert parse_techniques(str(techniques), CHECKERS) == techniques
    four = games.load("connect_four")
    assert parse_techniques("selective", four) == Techniques(late_moves=1.2)
    assert Engine(four, "hand", techniques="selective,singular=5").techniques == Techniques(
        late_moves=1.2, singular=5
    )
    assert EXACT_SEARCH.exact
    assert not SELECTIVE.exact


test_errors = errors_of(globals())
