"""The exact values of Connect Four against published ones, a slow twin and another solver."""

from __future__ import annotations

import functools
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from benchmarks.bitbully import BitBully
from benchmarks.solver import main as benchmark
from benchmarks.solver import position_after as after
from games.connect_four import ConnectFour
from games.connect_four.features import completing
from games.connect_four.rules import BOTTOM
from games.connect_four.solver import (
    EVEN,
    FILE,
    HIGH,
    KEY,
    LOW,
    Solver,
    bounds_of,
    entry_of,
    known_bounds,
)
from games.connect_four.zugzwang import UNKNOWN, proven
from games.kernels import compiled
from games.tic_tac_toe import TicTacToe
from games.truth import Exhaustive
from games.values import WIN
from play.players.limits import Limits
from play.players.opponents import usual_evaluator
from play.players.parse import seated
from search import Engine
from search.lookups.database import DatabaseLookup

GAME = ConnectFour()
SOLVER = Solver(table_mib=8)


def unfinished(plies: int, count: int) -> list[Any]:
    """Returns positions after so many random moves."""
    generator, found = random.Random(plies), []
    while len(found) < count:
        position = GAME.start()
        for _ in range(plies):
            moves = GAME.legal_moves(position)
            if not moves:
                break
            position = GAME.play(position, generator.choice(moves))
        if GAME.legal_moves(position):
            found.append(position)
    return found


@functools.cache
def slow_score(position: Any) -> int:
    """Returns the score by plain minimax, which counts the stones that the winner has left."""
    outcome = GAME.outcome(position)
    if outcome is not None:
        played = sum(stones.bit_count() for stones in position[:2])
        return int(outcome) * (22 - (played + 1) // 2)
    return max(-slow_score(GAME.play(position, move)) for move in GAME.legal_moves(position))


@pytest.mark.plain
def test_what_zugzwang_proves_is_what_play_to_the_end_gives() -> None:
    found = set()
    for position in (p for plies in (30, 31, 36, 37) for p in unfinished(plies, 100)):
        own, opponent, side = position
        fours = completing(position), completing((opponent, own, side))
        if fours[0] & ((own | opponent) + BOTTOM):
            continue
        for beta in (-2, 0, 1, 3):
            known = int(proven(own, opponent, *fours, beta))
            if known != UNKNOWN:
                found.add((side, beta, known))
                low, high = (known, 21) if known >= beta else (-21, known)
                assert low <= slow_score(position) <= high
    draws = {(side, beta, 0) for side in (0, 1) for beta in (-2, 0, 1, 3)}
    wins = {(1, beta, 1) for beta in (0, 1)}  # of the second side, on squares of even rows
    assert found == draws | wins | {(side, beta, -1) for side in (0, 1) for beta in (0, 1)}


# The first two by P. Pons; the openings by V. Allis 1988, with distances by J. Tromp.
def test_published_scores() -> None:
    assert SOLVER.value(after("4455")) == 18
    assert SOLVER.value(after("44455554221")) == -15


@pytest.mark.slow
def test_the_seven_openings() -> None:
    solver = Solver(table_mib=256)
    assert list(solver.values(GAME.start()).items()) == [
        (3, 1), (2, 0), (4, 0), (1, -1), (5, -1), (0, -2), (6, -2)
    ]  # fmt: skip
    assert solver.value(GAME.start()) == 1


@pytest.mark.plain
@pytest.mark.parametrize("plies", [33, 36, 38, 41])
def test_scores_are_those_of_plain_minimax(plies: int) -> None:
    for position in unfinished(plies, 20):
        expected = {
            move: -slow_score(GAME.play(position, move)) for move in GAME.legal_moves(position)
        }
        assert SOLVER.values(position) == expected
        best = max(expected.values())
        assert SOLVER.value(position) == best
        assert SOLVER.value(position, -1, 1) == min(1, max(-1, best))


@pytest.mark.plain
@pytest.mark.parametrize("plies", [33, 37, 40])
def test_best_moves_are_those_of_the_greatest_score(plies: int) -> None:
    for position in unfinished(plies, 20):
        values = SOLVER.values(position)
        assert SOLVER.best(position) == [m for m in values if values[m] == max(values.values())]


def test_the_book_answers_openings_at_once() -> None:
    solver = Solver(table_mib=1)
    assert solver.best(after("444")) == [3] and solver.value(after("444")) == -1
    assert solver.classes(after("4444")) == {3: 1, 2: -1, 4: -1, 1: -1, 5: -1, 0: -1, 6: -1}
    assert solver.nodes < 1000
    solver.clear()
    assert solver.value(after("4444")) == 1 and solver.nodes < 1000
    assert Solver(table_mib=1, book=[]).bounds().size == 0


@pytest.mark.plain
def test_the_bounds_of_the_book_are_in_order() -> None:
    entries = known_bounds()
    low, high = (entries >> LOW & 63) - EVEN, (entries >> HIGH & 63) - EVEN
    assert (np.diff(entries) > 0).all() and (low <= high).all() and low.min() >= -21
    assert (np.diff(known_bounds("later")) > 0).all()
    assert FILE.stat().st_size < 1_500_000


@pytest.mark.plain
def test_the_lookup_of_openings_knows_who_wins() -> None:
    truth, found = Solver(table_mib=8), set()
    probe = DatabaseLookup(GAME, "openings").plain()
    for line in ("4", "41", "43", "444", "4444", "44441", "44444", "444442", "44444222"):
        position = after(line)
        known, value, _ = probe(position)
        found.add(truth.value(position, -1, 1))
        assert known and np.sign(value) == truth.value(position, -1, 1)
        assert WIN - abs(value) <= 42 - len(line)
        assert probe(after("".join(str(8 - int(column)) for column in line)))[1] == value
    assert found == {-1, 1}
    # one that nobody asked about, and one beyond the book
    assert not any(probe(after(line))[0] for line in ("121212343", "5771643672513111651462"))


@pytest.mark.skipif(not compiled, reason="takes minutes uncompiled")
def test_the_lookup_of_openings_knows_every_position_of_eight_stones() -> None:
    truth, kinds = Solver(table_mib=8, book=[]), set()
    probe = DatabaseLookup(GAME, "openings").plain()
    for position in unfinished(8, 40):
        known, value, _ = probe(position)
        assert known and np.sign(value) == truth.value(position, -1, 1)
        kinds.add(np.sign(value))
    assert len(kinds) == 3
    assert all(probe(position)[0] for plies in range(8) for position in unfinished(plies, 10))


@pytest.mark.skipif(not compiled, reason="takes minutes uncompiled")
def test_a_book_of_every_position_is_made_and_gone_on_with(tmp_path: Path, capsys: Any) -> None:
    line, path = "44444422222", tmp_path / "book.safetensors"
    command = ["--book", "12", "--every", "--after", line, "--file", str(path)]
    assert benchmark(command) == benchmark(command) == 0
    solved = [text.split()[0] for text in capsys.readouterr().out.splitlines()]
    assert solved == ["7", "0"]  # six columns are open, and the position itself
    entries = safetensors.numpy.load_file(path)["entries"]
    for position in (after(line), *(GAME.play(after(line), m) for m in (0, 1, 2, 4, 5, 6))):
        key = entry_of(position, 0, 0) & KEY
        (low, high), kind = (
            bounds_of(int(entries[entries & KEY == key][0])),
            SOLVER.classes(position),
        )
        assert np.sign(low) * (low > 0) + np.sign(high) * (high < 0) == max(kind.values())


@pytest.mark.skipif(not compiled, reason="takes minutes uncompiled")
def test_what_the_solver_knows_is_its_book_and_what_it_passed() -> None:
    solver, truth = Solver(table_mib=8), Solver(table_mib=8)
    before = {tuple(row[:3]): row[3] for row in solver.known().tolist()}
    for position in unfinished(11, 3):
        solver.classes(position)
    known = {tuple(row[:3]): row[3] for row in solver.known().tolist()}
    new = [position for position in known if position not in before]
    chosen = random.Random(4)
    for position in chosen.sample([*before], 30) + chosen.sample(new, 20):
        own, opponent, side = position
        assert own & opponent == 0 and GAME.outcome(position) is None
        assert (own | opponent).bit_count() % 2 == side
        assert known[position] == truth.value(position, -1, 1)
    assert {(p[0] | p[1]).bit_count() for p in new} == {12}
    solver.clear()
    assert {tuple(row[:3]) for row in solver.known().tolist()} == {*before}


@pytest.mark.skipif(not compiled, reason="takes minutes uncompiled")
def test_the_player_whom_people_meet_values_openings_with_the_right_sign() -> None:
    thinker = seated(GAME, usual_evaluator(GAME), Limits(depth=1))
    truth = Solver(table_mib=8)
    positions = [p for plies in (0, 2, 4, 6, 7) for p in unfinished(plies, 6)]
    for position in positions + unfinished(8, 1):
        deeper = Limits(depth=5) if position in unfinished(8, 1) else None
        result = thinker.think(position, all_moves=True, limits=deeper)
        classes = truth.classes(position)
        assert {move: np.sign(value) for move, value in result.moves} == classes
        assert np.sign(result.value) == max(classes.values())


@pytest.mark.skipif(not compiled, reason="takes minutes uncompiled")
@pytest.mark.parametrize("plies", [14, 24])
def test_a_search_that_asks_the_solver_knows_the_end(plies: int) -> None:
    lookup = DatabaseLookup(GAME, "solver")
    engine = Engine(GAME, "centre", lookup=lookup, table_mib=1)
    proven = 0
    for position in unfinished(plies, 40):
        engine.clear()
        result = engine.search(position, depth=2)
        engine.clear()
        again = engine.search(position, depth=2)
        assert (again.move, again.value) == (result.move, result.value)
        if abs(result.value) > 1e6:
            assert np.sign(result.value) == SOLVER.value(position, -1, 1)
            proven += 1
    assert proven >= {14: 20, 18: 30, 24: 35}[plies]


@pytest.mark.plain
def test_finished_games() -> None:
    lost = after("1212121")
    drawn = GAME.parse_position("/".join(["OOOXOOO", "XXXOXXX"] * 3) + " X")
    assert (SOLVER.values(lost), SOLVER.value(lost)) == ({}, slow_score(lost))
    assert GAME.outcome(drawn) == 0.0
    assert (SOLVER.values(drawn), SOLVER.value(drawn)) == ({}, 0)


@pytest.mark.plain
def test_a_table_of_any_size_gives_the_same_scores() -> None:
    small = Solver(table_mib=1e-4)
    for position in unfinished(27, 5):
        assert small.value(position) == SOLVER.value(position)
    assert small.nodes > 0
    small.clear()
    assert small.nodes == 0
    with pytest.raises(ValueError, match="table_mib: expected more than 0, found 0"):
        Solver(table_mib=0)


@pytest.mark.plain
def test_a_solver_that_is_stopped_gives_no_value() -> None:
    solver = Solver(table_mib=1)
    solver.stop()
    with pytest.raises(KeyboardInterrupt):
        solver.value(GAME.start())


@pytest.mark.skipif(find_spec("bitbully") is None, reason="needs bitbully")
@pytest.mark.skipif(not compiled, reason="takes minutes uncompiled")
@pytest.mark.parametrize(
    ("plies", "count"), [(14, 6), (27, 60), pytest.param(
        12, 60, marks=pytest.mark.slow)]
)  # fmt: skip
def test_scores_are_those_of_bitbully(plies: int, count: int) -> None:
    peer = BitBully()
    for position in unfinished(plies, count):
        assert SOLVER.values(position) == peer.values(position)


@pytest.mark.plain
def test_tic_tac_toe_is_a_draw_which_only_corner_and_centre_replies_keep() -> None:
    game = TicTacToe()
    truth = Exhaustive(game)
    assert set(truth.values(game.start()).values()) == {0.0}
    reply = truth.values(game.play(game.start(), 1))  # a corner is taken
    assert [move for move, value in reply.items() if value == 0.0] == [1 << 4]


@pytest.mark.plain
def test_classes_are_the_signs_of_scores() -> None:
    solver = Solver(table_mib=0.25)
    for position in unfinished(19, 8):
        values = SOLVER.values(position)
        assert solver.classes(position) == {m: (v > 0) - (v < 0) for m, v in values.items()}
