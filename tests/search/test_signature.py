"""Signature tables: cells worked out by hand, native code against its plain twin, files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import reread
from errors import errors_of
from twin import random_positions

import games
from games.checkers.rules import swap_sides
from games.features import FeatureSet
from games.kernels import kernel
from search import EvaluatorError, load_evaluator
from search.evaluators.signature import SignatureEvaluator, SignatureLayout, layout_of

plain = pytest.mark.plain
CHECKERS = games.load("checkers")
LAYOUT = layout_of(CHECKERS)
MATERIAL = {"men": 1.0, "kings": 1.35, "superiority": 2.5}


@kernel
def first(position):
    """Returns the first integer of a position, whatever it means."""
    return position[0]


@kernel
def second(position):
    return position[1]


@kernel
def half(position):
    """Returns half the third integer, which may be a fraction."""
    return 0.5 * position[2]


@kernel
def stage(position):
    return position[3]


RAW = FeatureSet("raw", {"a": first, "b": second, "h": half})
#: Two first-level tables: (a: 3 levels, b: 2 levels) and (h: 5 levels); 3 and 2 output levels.
SMALL = SignatureLayout(
    "small",
    RAW,
    (("a", "b"), ("h",)),
    {"a": (-1, 1), "b": (4,), "h": (-2, -1, 1, 2)},
    ((0,), (1,)),
    material=("b",),
    first_levels=3,
    second_levels=2,
    phases=2,
    phase=stage,
)


def by_hand() -> SignatureEvaluator:
    tables = SMALL.empty_tables()
    # cells of the first table are 2 * (level of a) + (level of b), of the second from 6 on
    tables["first_levels"][0] = [0, 1, 2, 0, 1, 2, 0, 0, 1, 2, 2]
    tables["first_levels"][1] = 0
    tables["second_levels"][:] = [0, 1, 1, 1, 0, 1]
    tables["third"][0] = [0.5, -1.0, 2.0, 4.0]
    tables["third"][1] = [7.0, 8.0, 9.0, 10.0]
    tables["first"][0] = np.arange(11)
    tables["second"][0] = [100, 200, 300, 400, 500, 600]
    return SignatureEvaluator(CHECKERS, SMALL, tables, material={"b": 0.25}, scale=10.0)


def random_tables(layout: SignatureLayout, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    tables = layout.empty_tables()
    for name, top in (("first", layout.first_levels), ("second", layout.second_levels)):
        tables[name][:] = random.normal(0, 1, tables[name].shape)
        levels = tables[f"{name}_levels"]
        levels[:] = random.integers(0, top, levels.shape)
    tables["third"][:] = random.normal(0, 1, tables["third"].shape)
    return tables


def evaluator() -> SignatureEvaluator:
    return SignatureEvaluator(
        CHECKERS, LAYOUT, random_tables(LAYOUT, 1), material=MATERIAL, scale=0.3
    )


# --- values ----------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize(
    ("position", "value"),
    [
        # a = -1 is level 0, b = 3 level 0: cell 0, output 0; h = 0 is level 2: cell 8, output 1.
        # Second level: cell 0 puts out 0, cell 3 + 1 puts out 0; third: cell 0. 10 * 0.5 + 3 / 4
        ((-1, 3, 0, 0), 5.75),
        # a = 0 is level 1, b = 4 level 1: cell 3, output 0; h = -1 is level 1: cell 7, output 0,
        # so cells 0 and 3, which put out 0 and 1; third: cell 1. 10 * -1 + 4 / 4
        ((0, 4, -2, 0), -9.0),
        # a = 1 is level 2: cell 5, output 2, then 1; h = 2 is level 4: cell 10, output 2, then 1
        ((1, 9, 4, 0), 42.25),
        # h = 1.5 is level 3: cell 9, output 2, then 1; a = -5 and b = -3: cell 0
        ((-5, -3, 3, 0), -10.75),
        # the other phase: outputs 0 throughout, then 0 and 1
        ((1, 0, 0, 1), 80.0),
        # phases out of range count as the nearest one
        ((1, 0, 0, 6), 80.0),
        ((-1, 3, 0, -2), 5.75),
    ],
)
def test_a_small_layout_by_hand(position: tuple[int, ...], value: float) -> None:
    assert by_hand()(position) == value
    assert by_hand().plain()(position) == value


@plain
def test_cells_of_many_positions_are_those_of_the_evaluator() -> None:
    tested = evaluator()
    layout, tables = tested.layout, tested.tables
    positions = [*random_positions(CHECKERS, 5, 40)]
    terms = layout.features.measure(positions)
    phase = layout.phases_of(positions)
    assert set(phase.tolist()) <= set(range(layout.phases)) and len(set(phase.tolist())) > 2
    outputs = tables["first_levels"][phase[:, None], layout.first_cells(terms)]
    above = tables["second_levels"][phase[:, None], layout.second_cells(outputs)]
    found = 0.3 * tables["third"][phase, layout.third_cells(above)]
    worth = terms[:, -3:] @ np.array([1.0, 1.35, 2.5])
    np.testing.assert_allclose(tested.values(positions), found + worth, atol=1e-12)


@plain
def test_the_layout_of_checkers_is_samuels() -> None:
    terms = [term for group in LAYOUT.groups for term in group]
    assert len(LAYOUT.groups) == 9 and len(set(terms)) == 27
    assert LAYOUT.sizes == ((105,) * 9, (125,) * 3, 343)
    assert LAYOUT.symmetric
    assert [len(LAYOUT.thresholds[t]) + 1 for t in LAYOUT.groups[0]] == [7, 5, 3]


@plain
def test_symmetric_layouts_mirror_cells() -> None:
    positions = [*random_positions(CHECKERS, 7, 30)]
    ends = np.cumsum(LAYOUT.sizes[0]) - 1
    begins = ends - np.array(LAYOUT.sizes[0]) + 1
    seen = LAYOUT.first_cells(LAYOUT.features.measure(positions))
    other = [tuple(int(x) for x in swap_sides(position)) for position in positions]
    mirrored = LAYOUT.first_cells(LAYOUT.features.measure(other))
    assert (seen + mirrored == begins + ends).all()


# --- as an evaluator among others -------------------------------------------------------------


def layout(**changes: Any) -> SignatureLayout:
    return replace(SMALL, **changes)


# --- files -----------------------------------------------------------------------------------


@plain
def test_files_of_layouts_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "small.safetensors"
    by_hand().save(path)
    loaded: Any = load_evaluator(path, game=CHECKERS, inputs=SMALL)  # type: ignore[call-overload]
    assert loaded((0, 4, -2, 0)) == -9.0
    with pytest.raises(EvaluatorError, match="expected the layout checkers, found one with other"):
        load_evaluator(path)
    with pytest.raises(EvaluatorError, match="expected a layout as inputs"):
        load_evaluator(path, game=CHECKERS, inputs=RAW)


def changed(tmp_path: Path, change: Any) -> None:
    reread(tmp_path / "tables.safetensors", evaluator(), change)


test_errors = errors_of(globals())
