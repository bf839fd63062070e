"""Networks in the native search: the compiled kernel, its plain twin and torch agree."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from damage import reread
from errors import errors_of
from marks import compiled_only, plain
from numpy.typing import NDArray
from toys import sticks_left
from twin import random_positions

from games import kernels
from games.checkers import Checkers
from games.checkers.encoding import PIECE_SQUARES
from games.contract import Game
from games.features import Encoding, FeatureSet
from games.kernels import kernel, popcount
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from search import Engine, EvaluatorError, as_evaluator, load_evaluator
from search.evaluators.network import NetworkEvaluator

CHECKERS, TIC_TAC_TOE, NIM = Checkers(), TicTacToe(), Nim((3, 4, 5))
CLASSIC, LINES = CHECKERS.features["classic"], TIC_TAC_TOE.features["lines"]
BOTH = (PIECE_SQUARES, CLASSIC)


def network(
    game: Game, inputs: Any, *hidden: int, seed: int = 8, **options: Any
) -> NetworkEvaluator:
    generator = np.random.default_rng(seed)
    parts = inputs if isinstance(inputs, tuple) else (inputs,)
    widths = [sum(map(len, parts)), *hidden, 1]
    layers = [
        (generator.normal(0, (2 / a) ** 0.5, (a, b)), generator.normal(0, 0.3, b))
        for a, b in zip(widths, widths[1:], strict=False)
    ]
    return NetworkEvaluator(game, inputs, layers, **options)


def measured(evaluator: NetworkEvaluator, positions: Any) -> NDArray[np.float64]:
    """Returns all inputs of a network, [positions, inputs]."""
    parts = []
    if evaluator.encoding:
        parts.append(evaluator.encoding.dense(positions).astype(np.float64))
    if evaluator.features:
        parts.append(evaluator.features.measure(positions))
    return np.hstack(parts)


def in_double(evaluator: NetworkEvaluator, positions: Any) -> NDArray[np.float64]:
    """Returns the network's value in float64, by matrix products alone."""
    values = measured(evaluator, positions)
    for number, (weights, bias) in enumerate(evaluator.layers):
        values = np.maximum(values, 0) if number else values
        values = values @ weights.astype(np.float64) + bias
    return evaluator.scale * values[:, 0]


# --- the encoding ----------------------------------------------------------------------------


def from_text(position: Any) -> set[int]:
    """Returns the inputs that are 1, read from the position's PDN text."""
    mover, *sides = CHECKERS.position_text(position).split(":")
    places = set()
    for side in sides:
        for king, number in re.findall(r"(K?)(\d+)", side):
            square = int(number) if mover == "B" else 33 - int(number)
            places.add(square - 1 + 32 * bool(king) + 64 * (side[0] != mover))
    return places


@plain
def test_piece_squares_are_those_of_the_text() -> None:
    positions = [CHECKERS.start(), *random_positions(CHECKERS, 1, 60, plies=120)]
    rows = PIECE_SQUARES.active_rows(positions)
    dense = PIECE_SQUARES.dense(positions)
    assert (rows.shape, rows.dtype) == ((61, 32), np.int64)
    assert (dense.shape, dense.dtype) == ((61, 128), np.float32)
    for position, row, inputs in zip(positions, rows, dense, strict=True):
        count = int((row < 128).sum())
        assert set(row[:count].tolist()) == from_text(position) == set(np.flatnonzero(inputs))
        assert (row[count:] == 128).all()
        assert PIECE_SQUARES.places(position) == row[:count].tolist()
        assert inputs.sum() == count == popcount(position[0] | position[1])
    kings = {place // 32 for row in rows for place in row}
    assert kings == {0, 1, 2, 3, 4}  # all kinds were met, 4 being the padding


PILES = Encoding("piles", 18, 3, sticks_left)


@kernel
def out_of_range(position, places):
    """Lists a place that does not exist."""
    places[0] = 5
    return 1


@kernel
def too_many(position, places):
    """Lists more places than `most`."""
    places[0] = 1
    return 2


# --- values ----------------------------------------------------------------------------------


INPUTS: dict[str, tuple[Game, Any]] = {
    "encoding": (CHECKERS, PIECE_SQUARES),
    "features": (CHECKERS, CLASSIC),
    "both": (CHECKERS, BOTH),
    "tic-tac-toe": (TIC_TAC_TOE, LINES),
    "nim": (NIM, NIM.features["parity"]),
    "nim, both": (NIM, (PILES, NIM.features["parity"])),
}
any_inputs = pytest.mark.parametrize("inputs", INPUTS)


@plain
@any_inputs
@pytest.mark.parametrize(
    "hidden", [(), (1,), (3,), (17, 5), (8, 8, 8), (200, 72)], ids=lambda h: "-".join(map(str, h))
)
def test_native_and_plain_values_are_the_same_bits(inputs: str, hidden: tuple[int, ...]) -> None:
    evaluator = network(*INPUTS[inputs], *hidden, scale=3.5)
    positions = list(random_positions(evaluator.game, 4, 25 if kernels.compiled else 3))
    values = evaluator.values(positions)
    slow = evaluator.plain()
    assert values.tolist() == [slow(position) for position in positions]
    expected = in_double(evaluator, positions)
    assert np.allclose(values, expected, rtol=1e-5, atol=1e-4)
    assert len(set(expected)) > 1 or min(hidden, default=8) < 4  # with few units all may be off


# --- weights ---------------------------------------------------------------------------------


@compiled_only
def test_two_threads_get_what_one_gets() -> None:
    evaluators = [network(CHECKERS, BOTH, 32, 16, seed=seed) for seed in range(4)]
    positions = list(random_positions(CHECKERS, 5, 6))

    def search(evaluator: NetworkEvaluator) -> list[tuple[float, int]]:
        engine = Engine(CHECKERS, evaluator)
        results = [engine.search(position, depth=6) for position in positions]
        return [(result.value, result.nodes) for result in results]

    alone = [search(evaluator) for evaluator in evaluators]
    together: list[Any] = [None] * 4

    def work(number: int) -> None:
        together[number] = search(evaluators[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


ZEROS = np.zeros((128, 3)), np.zeros(3)


# --- activations and skips -------------------------------------------------------------------

SHAPED: dict[str, dict[str, Any]] = {
    "all": {"activations": ["tanh", "sigmoid", "silu", "screlu", "normalise", "identity"]},
    "skips": {"skips": [(0, 2), (1, 2), (2, 4)]},
    "both": {"activations": ["silu", "relu", "identity", "relu", "tanh", "relu"],
             "skips": [[0, 1], [1, 5], [2, 5]]},
}  # fmt: skip
NAMED_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": torch.relu, "identity": lambda sums: sums, "tanh": torch.tanh,
    "sigmoid": torch.sigmoid, "silu": torch.nn.functional.silu,
    "screlu": lambda sums: torch.clamp(sums, 0, 1) ** 2,
    "normalise": lambda sums: torch.nn.functional.layer_norm(sums, sums.shape[-1:]),
}  # fmt: skip


@plain
@any_inputs
@pytest.mark.parametrize("shape", SHAPED)
def test_activations_and_skips_are_those_of_torch(inputs: str, shape: str, tmp_path: Path) -> None:
    game, parts = INPUTS[inputs]
    evaluator = network(game, parts, *[5] * 6, scale=3.0, **SHAPED[shape])
    positions = list(random_positions(game, 4, 25 if kernels.compiled else 3))
    values = evaluator.values(positions)
    slow = evaluator.plain()
    # the last bits of tanh are not the same everywhere
    assert values.tolist() == pytest.approx([slow(p) for p in positions], abs=1e-5)
    units = [torch.tensor(measured(evaluator, positions))]
    for number, (weights, bias) in enumerate(evaluator.layers):
        sums = units[number] @ torch.tensor(weights, dtype=torch.float64) + torch.tensor(bias)
        for earlier, later in evaluator.skips:
            if later == number:
                sums += units[earlier + 1]
        if number < 6:
            units.append(NAMED_ACTIVATIONS[evaluator.activations[number]](sums))
    assert values.tolist() == pytest.approx((3 * sums[:, 0]).tolist(), rel=1e-4, abs=1e-4)
    own = parts if inputs == "nim, both" else None
    evaluator.save(tmp_path / "one.safetensors")
    read = load_evaluator(tmp_path / "one.safetensors", game=game, inputs=own)
    assert isinstance(read, NetworkEvaluator)
    assert (read.activations, read.skips) == (evaluator.activations, evaluator.skips)
    read.save(tmp_path / "two.safetensors")
    assert len({file.read_bytes() for file in tmp_path.iterdir()}) == 1
    for other in (read, evaluator.copy()):
        assert other.values(positions).tolist() == values.tolist()


# --- files -----------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    network(CHECKERS, BOTH, 3).save(path)
    return path


def with_field(tmp_path: Path, field: str, value: Any) -> None:
    path, evaluator = tmp_path / "network.safetensors", network(CHECKERS, BOTH, 3)
    reread(path, evaluator, lambda header, _: header.update({field: value}), game=CHECKERS)


@kernel
def unturned(position, places):
    """List own and opposing pieces, without turning the board."""
    count = 0
    for bit in range(35):
        if position[0] >> bit & 1:
            places[count] = bit
            count += 1
        if position[1] >> bit & 1:
            places[count] = 64 + bit
            count += 1
    return count


def test_inputs_that_mean_something_else_by_now_are_refused(saved: Path) -> None:
    other = Encoding("piece_squares", 128, 32, unturned)
    with pytest.raises(EvaluatorError, match="another definition of encoding piece_squares: exp"):
        load_evaluator(saved, inputs=(other, CLASSIC))
    with pytest.raises(EvaluatorError, match="expected 1 kinds of inputs, found 2"):
        load_evaluator(saved, inputs=PIECE_SQUARES)
    # moved and added terms are harmless, because the file's order applies
    terms = dict(reversed(CLASSIC.terms.items()))
    moved = FeatureSet("classic", {"kings_again": terms["kings"], **terms}, CLASSIC.swap)
    read = load_evaluator(saved, inputs=(PIECE_SQUARES, moved))
    expected = load_evaluator(saved)
    for position in random_positions(CHECKERS, 6, 10):
        assert read(position) == expected(position)
    network(CHECKERS, PIECE_SQUARES).save(saved)
    with pytest.raises(EvaluatorError, match="expected feature set classic, found an encoding"):
        load_evaluator(saved, inputs=CLASSIC)
    network(CHECKERS, CLASSIC).save(saved)
    with pytest.raises(EvaluatorError, match="expected encoding piece_squares, found a feature se"):
        load_evaluator(saved, inputs=PIECE_SQUARES)
    as_evaluator(CHECKERS, "classic").save(saved)
    with pytest.raises(EvaluatorError, match="expected weights of an encoding, found linear ones"):
        load_evaluator(saved, inputs=PIECE_SQUARES)


test_errors = errors_of(globals())
