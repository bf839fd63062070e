"""Star1, Star2, move ordering, filters and threads of the search with dice: the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dice_twin import (
    BACKGAMMON,
    RACE,
    Bounded,
    DiceTwin,
    Lattice,
    PlainFace,
    lattice_order,
    lattice_outcome,
    lattice_value,
    played,
)
from errors import errors_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marks import compiled_only, plain

from games.contract import DiceGame
from games.kernels import kernel, uncompiled
from search import Engine, KernelEvaluator, Lookup, MoveFilters, PythonEvaluator
from search.evaluators.evaluator import MOST_KEPT, Prefilter
from search.textbook.minimax import expectiminimax

thorough = settings(suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=12)

#: Options that must not change a move or a value.
OPTIONS: list[dict[str, Any]] = [
    {"prune": "none"},
    {"prune": "star1"},
    {"prune": "star2"},
    {"prune": "star1", "order": lattice_order},
    {"prune": "star2", "order": lattice_order},
    {"prune": "star2", "order": lattice_value, "table_mib": 0.0001},
    {"threads": 2},
    {"threads": 3, "prune": "star1"},
]
seeds = st.integers(0, 10**6)
value_of = uncompiled(lattice_value)


def engines(seed: int, order: Any = None, **options: Any) -> list[tuple[DiceGame, Engine]]:
    """Returns engines for the lattice and for the same game in plain Python.

    order: a kernel by which a prefilter that keeps all moves orders them.
    """
    game = Lattice(seed)
    face = PlainFace(game)
    bounded = Bounded(game, lattice_value)
    python = as_plain(face, bounded)
    if order is not None:
        cheap = KernelEvaluator(game, order)
        bounded.prefilter = Prefilter(cheap, MOST_KEPT)
        python.prefilter = Prefilter(PythonEvaluator(face, cheap.plain()), MOST_KEPT)
    return [(game, Engine(game, bounded, **options)), (face, Engine(face, python, **options))]


def as_plain(face: DiceGame, evaluator: Any) -> Any:
    """Returns a kernel's evaluator for the plain face of its game."""
    found = PythonEvaluator(face, evaluator.plain())
    found.bounds = evaluator.bounds
    return found


@pytest.mark.thorough
@plain
@thorough
@given(seeds, st.sampled_from(OPTIONS))
def test_moves_and_values_are_those_of_the_textbook(seed: int, options: dict[str, Any]) -> None:
    for game, engine in engines(seed, **options):
        twin = DiceTwin(game, value_of)
        position = game.start()
        for depth in (0, 2, 1, 4, 3, 9):  # one engine, so that each finds what the others left
            before = engine.search(position, depth=depth)
            assert (before.move, before.value) == (None, twin.value(position, depth))
            for roll in (0, 1, 2, 3):
                moves = twin.moves(position, roll, depth)
                result = engine.search(position, roll=roll, depth=depth)
                assert (result.move, result.value) == moves[0]
                analysis = engine.analyse(position, roll=roll, depth=depth)
                assert list(analysis.moves) == moves
                assert (analysis.move, analysis.value) == moves[0]
        assert twin.value(position, 3) == expectiminimax(game, position, 3, value_of)


@pytest.mark.thorough
@plain
@thorough
@given(
    seeds,
    st.sampled_from(["none", "star1", "star2"]),
    st.sampled_from(
        [
            MoveFilters(((2, 0.5),)),
            MoveFilters(((2, 1e9), (1, 0.0))),
            MoveFilters((None, (2, 0.3)), replies=(1, 0.0)),
            MoveFilters(replies=(2, 0.5)),
            MoveFilters(((3, 0.2),), replies=(2, 1.0)),
        ]
    ),
    st.integers(1, 3),
)
def test_filters_keep_what_they_say(
    seed: int, prune: str, filters: MoveFilters, threads: int
) -> None:
    options: dict[str, Any] = {"prune": prune, "filters": filters, "threads": threads}
    for game, engine in engines(seed, **options):
        twin = DiceTwin(game, value_of, filters)
        position = game.start()
        for depth in (0, 1, 3, 2, 4):
            assert engine.search(position, depth=depth).value == twin.value(position, depth)
            for roll in (0, 1, 3):
                result = engine.search(position, roll=roll, depth=depth)
                assert (result.move, result.value) == twin.decide(position, roll, depth)
                analysis = engine.analyse(position, roll=roll, depth=depth)
                assert list(analysis.moves) == twin.moves(position, roll, depth)


@kernel
def some_known(tables, position):
    """Knows every other place of level 3: its value plus the second number of the table."""
    seed, level, place = position
    depth = int(tables[0])
    value = lattice_value((seed, level, place)) + tables[1]
    return level == 3 and place % 2 == 0, value, depth


@plain
@pytest.mark.parametrize("prune", ["none", "star1", "star2"])
@pytest.mark.parametrize("seed", range(2))
def test_lookups_answer_before_the_evaluator(prune: str, seed: int) -> None:
    tables = np.array([100.0, 0.25])

    class Known(DiceTwin):
        def _value(self, position: Any, depth: int) -> float:
            known, value, deep = uncompiled(some_known)(tables, position)
            if known and deep >= depth and lattice_outcome(position) != lattice_outcome(position):
                return float(value)
            return super()._value(position, depth)

    for deep in (100, 1, 0):
        tables[0] = deep
        game = Lattice(seed)
        lookup = Lookup(some_known, tables)
        evaluator = Bounded(game, lattice_value)
        evaluator.bounds = (-2.5, 2.5)
        twin = Known(game, value_of)
        for depth in range(6):
            engine = Engine(game, evaluator, lookup=lookup, prune=prune)
            result = engine.search(game.start(), roll=1, depth=depth)
            assert (result.move, result.value) == twin.moves(game.start(), 1, depth)[0]
            if depth >= 2 and prune == "none":
                assert result.lookups >= result.lookup_hits > 0


# --- backgammon ----------------------------------------------------------------------------------


@compiled_only
def test_star2_saves_most_leaves_of_backgammon_and_changes_nothing() -> None:
    leaves = dict.fromkeys(("none", "star1", "star2"), 0)
    found: dict[str, list[Any]] = {}
    positions = list(played(BACKGAMMON, 5, 12))
    for prune in leaves:
        engine = Engine(BACKGAMMON, RACE, prune=prune)
        results = []
        for position, roll in positions:
            engine.clear()
            results.append(engine.search(position, roll=roll, depth=1))
        leaves[prune] = sum(result.evaluations for result in results)
        found[prune] = [(result.move, result.value) for result in results]
    assert found["none"] == found["star1"] == found["star2"]
    assert leaves["star1"] < leaves["none"]
    assert leaves["star2"] < 0.25 * leaves["none"]


# --- wrong input ---------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("prune", ["star1", "star2"])
def test_a_value_outside_the_bounds_is_refused(prune: str) -> None:
    for game, engine in engines(3, prune=prune):
        engine.evaluator.bounds = (-0.25, 0.25)  # as if it had been so from the start
        liar = Engine(game, engine.evaluator, prune=prune)
        with pytest.raises(ValueError, match=r"within the bounds of .*\(-0.25, 0.25\), found -?\d"):
            liar.search(game.start(), roll=0, depth=5)
        # bounds are not needed without pruning
        assert Engine(game, engine.evaluator, prune="none").search(game.start(), depth=5).depth == 5


test_errors = errors_of(globals())
