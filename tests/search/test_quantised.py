"""Quantised networks in the native search: vector code, the plain twin and a naive one agree."""

# mypy: allow-untyped-defs

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from damage import reread
from errors import errors_of
from marks import compiled_only, plain
from toys import sticks_left
from twin import random_positions

from games.checkers import Checkers
from games.checkers.encoding import PIECE_SQUARES
from games.contract import Game
from games.features import Encoding
from games.kernels import kernel
from games.kernels import memory as native
from games.nim import Nim
from play.judging.explanation import explain
from search import EvaluatorError, load_evaluator
from search.evaluators.quantised import UNIT, QuantisedNetwork

CHECKERS, NIM = Checkers(), Nim((3, 4, 5))
POSITIONS = [CHECKERS.start(), *random_positions(CHECKERS, 4, 40, plies=120)]


STICKS = Encoding("sticks", 24, 3, sticks_left)


def network(
    game: Game, encoding: Encoding, *hidden: int, seed: int = 5, **options: Any
) -> QuantisedNetwork:
    """Returns a network with random weights, some of whose units reach both ends of their range."""
    random = np.random.default_rng(seed)
    phases = len(options.get("phases", ())) + 1
    widths = [*hidden, 1]
    first = random.integers(-200, 201, (len(encoding), hidden[0]))
    layers = [(first, random.integers(-300, 400, hidden[0]))]
    for before, after in zip(widths, widths[1:], strict=False):
        most = min(127, int(250 / before**0.5))
        weights = random.integers(-most, most + 1, (phases, before, after))
        layers.append((weights, random.integers(-9000, 9001, (phases, after))))
    return QuantisedNetwork(game, encoding, layers, **options)


def naive(evaluator: QuantisedNetwork, position: Any) -> float:
    """Returns the value by the docstring's formula in Python integers, one number at a time."""
    places = evaluator.encoding.places(position)
    phase = len([border for border in evaluator.phases if border <= len(places)])
    weights, bias = evaluator.layers[0]
    sums = [int(b) + sum(int(weights[p, i]) for p in places) for i, b in enumerate(bias)]
    shift = 1
    for weights, bias in evaluator.layers[1:]:
        given = [min(max(total >> shift, 0), 255) for total in sums]
        sums = [
            int(b) + sum(one * int(w) for one, w in zip(given, weights[phase, :, i], strict=True))
            for i, b in enumerate(bias[phase])
        ]
        shift = 6
    return sums[0] * (evaluator.scale / (255 << 6))


# --- values ----------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("hidden", [(1,), (33,), (64, 9, 5), (40, 7), (96, 32, 32), (200, 65)])
def test_values_are_those_of_the_formula(hidden: tuple[int, ...]) -> None:
    for phases in ((), (9, 17, 24)):
        evaluator = network(CHECKERS, PIECE_SQUARES, *hidden, phases=phases, scale=1.5)
        expected = [naive(evaluator, position) for position in POSITIONS]
        slow = evaluator.plain()
        assert [slow(position) for position in POSITIONS] == expected
        assert evaluator.values(POSITIONS).tolist() == expected
        assert evaluator(POSITIONS[3]) == expected[3]
        assert len(set(expected)) > 1


@plain
def test_sums_to_the_ends_of_their_types() -> None:
    """The largest weights allowed: sums are clipped as stated, and none overflows."""
    first = np.full((128, 64), 1023), np.full(64, 31)
    after = np.full((1, 64, 64), 127), np.full((1, 64), 1 << 30)
    last = np.where(np.arange(64) < 60, 127, -128).reshape(1, 64, 1), np.full((1, 1), -(1 << 30))
    evaluator = QuantisedNetwork(CHECKERS, PIECE_SQUARES, [first, after, last], scale=UNIT)
    expected = 255 * (60 * 127 - 4 * 128) - (1 << 30)
    assert evaluator.values(POSITIONS).tolist() == [expected] * len(POSITIONS)
    first = np.full((128, 64), -1024), np.zeros(64)
    low = QuantisedNetwork(CHECKERS, PIECE_SQUARES, [first, last], scale=UNIT)
    assert low(CHECKERS.start()) == -(1 << 30)


def test_sums_that_would_not_fit_are_refused() -> None:
    tail = (np.zeros((1, 2, 1)), np.zeros((1, 1)))
    weights = np.zeros((128, 2))
    weights[:32, 1] = 1023
    QuantisedNetwork(CHECKERS, PIECE_SQUARES, [(weights, [0, 31]), tail])
    weights[40, 1] = 1024  # which takes the place of a smaller one among the 32 largest
    with pytest.raises(ValueError, match="sums of 32 inputs .* to 32768"):
        QuantisedNetwork(CHECKERS, PIECE_SQUARES, [(weights, [0, 31]), tail])
    with pytest.raises(ValueError, match="from -32769 to"):
        QuantisedNetwork(CHECKERS, PIECE_SQUARES, [(-weights, [0, -32]), tail])


def unfit(change: dict[str, Any]) -> None:

    first = np.zeros((128, 32))
    last, bias = np.zeros((1, 32, 1)), np.zeros((1, 1))
    first[3, 3], last[0, 3], bias[0] = (change.pop(k, 0) for k in ("first", "last", "bias"))
    layers = [(first, np.zeros(32)), (last, bias)][: change.pop("layers", 2)]
    QuantisedNetwork(CHECKERS, PIECE_SQUARES, layers, **change)


# --- search ----------------------------------------------------------------------------------


@compiled_only
@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86")
def test_vector_instructions_do_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # compiled, not read back
    evaluator = network(CHECKERS, PIECE_SQUARES, 352, 32, 32)
    evaluator.native(lambda error: None)
    text = native._kept[-1]._library.get_asm_str()
    products = re.findall(r"\bv?(?:pmaddwd|pdpwssd)\s+.*%[xyz]mm", text)
    sums = re.findall(r"\bv?paddw\s+.*%[xyz]mm", text)
    assert len(products) >= 8
    assert len(sums) >= 8
    # no scalar multiplications, and no calls except those that raise errors
    assert not re.findall(r"\bimulw\s", text)


@plain
def test_shares_explain_it() -> None:
    evaluator = network(CHECKERS, PIECE_SQUARES, 32, 8, phases=(2,))
    found = {
        one.name: one.value for one in explain(evaluator, CHECKERS.parse_position("B:W18:BK30"))
    }
    values = [
        evaluator(CHECKERS.parse_position(text)) for text in ("B:W18:BK30", "B:W18:B", "B:W:BK30")
    ]
    base = evaluator((0, 0, 0, 0))
    assert found["White man on 18"] == pytest.approx((values[1] - base + values[0] - values[2]) / 2)
    assert found["Black king on 30"] == pytest.approx(
        (values[2] - base + values[0] - values[1]) / 2
    )
    assert sum(found.values()) == pytest.approx(values[0])


# --- files -----------------------------------------------------------------------------------


def test_an_encoding_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "sticks.safetensors"
    evaluator = network(NIM, STICKS, 20)
    evaluator.save(path)
    with pytest.raises(EvaluatorError, match="pass inputs="):
        load_evaluator(path, game=NIM)
    assert load_evaluator(path, game=NIM, inputs=STICKS)(NIM.start()) == evaluator(NIM.start())
    with pytest.raises(EvaluatorError, match="another definition"):
        load_evaluator(path, game=NIM, inputs=Encoding("sticks", 24, 4, sticks_left_reversed))


@kernel
def sticks_left_reversed(position, places):
    """List the same inputs at other places."""
    count = 0
    for pile in range(3):
        places[count] = 6 * (2 - pile) + position[pile]
        count += 1
    return count


def damaged(tmp_path: Path, change: Any) -> None:
    evaluator = network(CHECKERS, PIECE_SQUARES, 32, 8, phases=(9, 17))
    reread(tmp_path / "bad.safetensors", evaluator, change)


def with_header(tmp_path: Path, change: dict[str, Any]) -> None:
    damaged(tmp_path, lambda header, _: header.update(change))


def test_damaged_arrays_are_refused(tmp_path: Path) -> None:
    weights = {"weights_0": np.full((128, 32), 30000, np.int16)}
    with pytest.raises(EvaluatorError, match="sums of 32 inputs"):
        damaged(tmp_path, lambda _, arrays: arrays.update(weights))
    features = [{"features": "classic", "identity": {"material": "0"}}]
    with pytest.raises(EvaluatorError, match="material|encoding"):
        with_header(tmp_path, {"inputs": features})


test_errors = errors_of(globals())
