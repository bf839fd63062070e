"""n-tuple networks against a slow twin that knows nothing of offsets, by symmetry and as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import reread
from errors import errors_of
from toys import CHECKERS_BLOCKS

from games.checkers import Checkers
from games.connect_four import ConnectFour
from games.connect_four.encoding import AHEAD, settle, wins_by_threats
from games.connect_four.solver import Solver
from games.features import Encoding, Group, TupleLayout
from games.kernels import kernel
from play.matches.openings import random_line
from search import load_evaluator
from search.evaluators.samples import sample_positions
from search.evaluators.tuples import TupleEvaluator, Tuples

FOUR, CHECKERS = ConnectFour(), Checkers()
LINES = Tuples.of(FOUR).named["lines"]
LAYOUTS = [(FOUR, LINES), (CHECKERS, CHECKERS_BLOCKS)]


def network(game: Any, layout: TupleLayout) -> TupleEvaluator:
    """Returns a network of random weights."""
    return TupleEvaluator(game, layout, np.random.default_rng(1).normal(size=layout.size))


def slow_value(evaluator: TupleEvaluator, position: Any) -> float:
    """Returns the value from the contents of each group, one table after another."""
    layout = evaluator.layout
    contents, phase, sign = [0] * layout.cells, 0, 1
    for place in layout.encoding.places(position):
        if place == layout.turn >= 0:
            sign = -1
            continue
        state, cell = divmod(int(place), layout.cells)
        if place >= layout.cells * (layout.states - 1):
            phase = cell + 1
        elif place >= 0:
            contents[cell] = state + 1
    total, start = 0.0, phase * layout.size // layout.phases
    for group in layout.groups:
        classes = group.classes or tuple(range(layout.states))
        radix = max(classes) + 1
        images = [group.cells, *(tuple(i[cell] for cell in group.cells) for i in layout.images)]
        for cells in dict.fromkeys(images):
            index = sum(classes[contents[cell]] * radix**i for i, cell in enumerate(cells))
            total += float(evaluator.weights[start + index])
        start += radix ** len(group.cells)
    return sign * total


@pytest.mark.plain
@pytest.mark.parametrize(("game", "layout"), LAYOUTS, ids=["connect_four", "checkers"])
def test_values_are_those_of_the_slow_twin(game: Any, layout: TupleLayout, tmp_path: Path) -> None:
    network(game, layout).save(tmp_path / "tuples.safetensors")
    evaluator = load_evaluator(tmp_path / "tuples.safetensors")
    assert isinstance(evaluator, TupleEvaluator) and evaluator.layout == layout
    positions = sample_positions(game, 60)
    values = evaluator.values(positions)
    assert values.tolist() == [evaluator.plain()(position) for position in positions]
    assert values == pytest.approx([slow_value(evaluator, p) for p in positions], abs=1e-9)
    assert len(set(values.tolist())) > 50


@pytest.mark.plain
def test_mirror_images_have_one_value() -> None:
    evaluator = network(FOUR, LINES)
    positions = sample_positions(FOUR, 60)
    mirrored = [
        (*(sum((p[k] >> 7 * c & 127) << 7 * (6 - c) for c in range(7)) for k in (0, 1)), p[2])
        for p in positions
    ]
    assert evaluator.values(mirrored) == pytest.approx(evaluator.values(positions), abs=1e-9)


@pytest.mark.plain
def test_threats_of_a_position_worked_out_by_hand() -> None:
    # X needs the square above the O in column 4; O needs nothing
    position = FOUR.parse_position("......./......./......./......./....O../XXX.OO. X")
    listed = sorted(p for p in FOUR.encodings["threats"].places(position) if p >= 0)
    assert listed.pop() == 49 * 8 + 1  # X wins
    states = {divmod(p, 49)[::-1]: None for p in listed}
    assert {cell: state + 1 for cell, state in states} == {
        **dict.fromkeys((0, 1, 2), 1),
        **dict.fromkeys((4, 5, 11), 2),
        **dict.fromkeys((7, 8, 9, 6, 12, 18), 3),
        3: 8,
    }


@pytest.mark.plain
@pytest.mark.parametrize(
    ("text", "played", "turned", "wins"),
    [
        # X completes four in column 4
        ("......./......./......./......./....O../XXX.OO. X", "", 0, 1),
        # O stops it, after which X has a choice
        ("......./......./......./......./O....../XXX...O O", "4", 1, 0),
        # O stops it by three in line, which X stops
        ("......./......./......./......./......./XXX.O.O O", "46", 0, 0),
        ("......./......./......./......./......./XO..... X", "", 0, 0),
        # X threatens two fours by one stone
        ("......./......./......./......./..O..../..XX..O X", "", 0, 1),
        # O has to play next to two stones, on either side
        ("......./......./......./......./..O..../..XX... O", "", 0, 0),
    ],
)
def test_forced_moves_are_played(text: str, played: str, turned: int, wins: int) -> None:
    position = after = FOUR.parse_position(text)
    for column in played:
        after = FOUR.play(after, int(column) - 1)
    assert settle(position) == (after, turned, wins)
    evaluator = network(FOUR, LINES)
    assert evaluator(position) == (-1) ** turned * evaluator(after)


def completing_moves(position: Any) -> list[Any]:
    after = [(move, FOUR.play(position, move)) for move in FOUR.legal_moves(position)]
    return [move for move, one in after if FOUR.outcome(one) == -1]


def wins_slowly(position: Any) -> bool:
    """Whether the side to move wins by threats, by the rules of the game alone."""
    if completing_moves(position):
        return True
    for move in FOUR.legal_moves(position):
        own, opponent, side = after = FOUR.play(position, move)
        if FOUR.outcome(after) is not None or completing_moves(after):
            continue
        answers = completing_moves((opponent, own, 1 - side))
        if len(answers) > 1 or (answers and wins_slowly(FOUR.play(after, answers[0]))):
            return True
    return False


@pytest.mark.plain
def test_wins_by_threats_are_those_of_the_slow_twin_and_true() -> None:
    truth, found = Solver(table_mib=8), []
    for number in range(120):
        position, _ = random_line(FOUR, 14 + number % 12, np.random.default_rng(number))
        if FOUR.outcome(position) is None:
            found.append(wins_slowly(position))
            assert wins_by_threats(position[0], position[1], AHEAD) == found[-1]
            _, turned, won = settle(position)
            if won:
                assert truth.value(position, -1, 1) == (-1) ** turned
    assert 20 < sum(found) < len(found) - 20


def with_header(tmp_path: Path, change: dict[str, Any]) -> None:
    evaluator = network(CHECKERS, CHECKERS_BLOCKS)
    reread(tmp_path / "tuples.safetensors", evaluator, lambda header, _: header.update(change))


@kernel
def two_cells(position, places):
    """Cell 0 holds 1 or nothing, cell 1 nothing; and one of two inputs is left over."""
    places[0] = 0
    return 1


@pytest.mark.plain
def test_a_layout_that_does_not_fit_is_refused() -> None:
    layout = TupleLayout(Encoding("two", 3, 2, two_cells), 2, (Group((0, 1)),))
    assert (layout.states, layout.phases, layout.size) == (2, 2, 8)
    starts, offsets = layout.lookups
    assert (starts.tolist(), offsets[:, 0].tolist()) == ([0], [1, 2, 4, 0])
    with pytest.raises(ValueError, match="images: expected permutations of 2 cells"):
        replace(layout, images=((1, 1),))
    with pytest.raises(ValueError, match="weights: expected 8 finite numbers, found an array"):
        TupleEvaluator(FOUR, layout, [1.0])


test_errors = errors_of(globals())
