"""Networks of outcomes: native code, its plain twin and float64 agree; files hold their bits."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import reread
from errors import errors_of
from marks import compiled_only, plain
from numpy.typing import NDArray

from games import kernels
from games.backgammon import Backgammon
from games.backgammon.encoding import POINTS
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.phases import phase
from games.backgammon.rules import MOST_MOVES, legal_moves, outcome, play
from games.contract import Game
from games.features import FeatureSet
from games.kernels import kernel
from search import EvaluatorError, as_evaluator, load_evaluator
from search.evaluators.evaluator import KernelEvaluator, PythonEvaluator
from search.evaluators.linear import LinearEvaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import Prefilter, Replies


@kernel
def turned(position):
    """Returns the same board with the other side to move."""
    return position[2], position[3], position[0], position[1], 1 - position[4]


@kernel
def gone(position):
    """Returns the number of checkers borne off."""
    return position[0] & 15


@kernel
def low_bits(position):
    """Returns a meaningless number of either sign."""
    return 0.37 * (position[0] >> 4 & 255) - 0.5 * (position[2] >> 8 & 63)


@kernel
def high_bits(position):
    """Returns another meaningless number."""
    return 0.01 * (position[1] & 1023) - 3.0


DIFFERENCES = FeatureSet("differences", {"gone": gone, "low": low_bits}, swap=turned)
NUMBERS = FeatureSet("numbers", {"high": high_bits, "low": low_bits, "gone": gone})


class Phased(Backgammon):
    """Backgammon with few features, which compiles quickly."""

    features = {"differences": DIFFERENCES, "numbers": NUMBERS}
    encodings = {"points": POINTS}


class Whole(Phased):
    """The same without phases."""

    phases = None


class Bare(Whole):
    """The same without these features."""

    features = {}


GAME, WHOLE, BARE = Phased(), Whole(), Bare()
#: A game, and the inputs and the widths of the hidden layers of each net.
SHAPES: dict[str, tuple[Game, list[tuple[Any, tuple[int, ...]]]]] = {
    "one net of points": (WHOLE, [(POINTS, (17,))]),
    "one for all phases": (GAME, [(NUMBERS, (5, 12))]),
    "three kinds": (
        GAME,
        [((POINTS, NUMBERS), (9, 4)), (DIFFERENCES, (3, 1)), ((POINTS, DIFFERENCES), (8,))],
    ),
    "three of points": (GAME, [(POINTS, (24,)), (POINTS, (8, 6, 4)), (POINTS, (72, 16))]),
}
any_shape = pytest.mark.parametrize("shape", SHAPES)


def layers_of(
    inputs: Any, hidden: tuple[int, ...], generator: np.random.Generator
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    parts = inputs if isinstance(inputs, tuple) else (inputs,)
    widths = [sum(map(len, parts)), *hidden, 5]
    return [
        (generator.normal(0, (2 / min(a, 30)) ** 0.5, (a, b)), generator.normal(0, 0.5, b))
        for a, b in zip(widths, widths[1:], strict=False)
    ]


def network(shape: str, *, seed: int = 8, **options: Any) -> OutcomeNetwork:
    game, nets = SHAPES[shape]
    generator = np.random.default_rng(seed)
    return OutcomeNetwork(
        game, [(inputs, layers_of(inputs, hidden, generator)) for inputs, hidden in nets], **options
    )


def positions_of_games(seed: int, count: int) -> list[Any]:
    """Returns positions of random games, from all phases."""
    generator = random.Random(seed)
    moves = np.zeros(MOST_MOVES, dtype=np.int64)
    found: list[Any] = []
    while len(found) < count:
        position = GAME.start()
        while outcome(position) != outcome(position):
            if generator.random() < 0.2:
                found.append(position)
            listed = legal_moves(position, generator.randrange(21), moves)
            position = play(position, int(moves[generator.randrange(listed)]))
    generator.shuffle(found)
    return found[:count]


POSITIONS = positions_of_games(4, 60 if kernels.compiled else 8)
START = GAME.start()


def in_double(evaluator: OutcomeNetwork, position: Any) -> NDArray[np.float64]:
    """Returns the probabilities in float64, by matrices and the exponential function."""
    which = int(phase(position)) if len(evaluator.nets) > 1 else 0
    net = evaluator.nets[which]
    parts = [net.encoding.dense([position])[0].astype(float)] if net.encoding else []
    parts += [net.features.measure([position])[0]] if net.features else []
    values = np.concatenate(parts)
    for number, (weights, bias) in enumerate(net.layers):
        values = np.maximum(values, 0) if number else values
        values = values @ weights.astype(np.float64) + bias
    probabilities = 1 / (1 + np.exp(-values))
    OUTCOMES.confine(position, probabilities)
    return np.array(probabilities)


def plain_value(probabilities: NDArray[np.float64]) -> float:
    total = OUTCOMES.base
    for payoff, probability in zip(OUTCOMES.payoffs, probabilities.tolist(), strict=True):
        total += payoff * probability
    return total


# --- values ----------------------------------------------------------------------------------


@plain
@any_shape
def test_native_and_plain_outcomes_are_the_same_bits(shape: str) -> None:
    evaluator = network(shape)
    assert evaluator.gives_outcomes and evaluator.bounds == (-3.0, 3.0)
    found = evaluator.outcomes(POSITIONS)
    assert (found.shape, found.dtype) == ((len(POSITIONS), 5), np.float64)
    slow = evaluator._plain_outcomes()
    value = evaluator.plain()
    for position, row, said in zip(POSITIONS, found, evaluator.values(POSITIONS), strict=True):
        assert row.tolist() == slow(position).tolist()
        assert np.abs(row - in_double(evaluator, position)).max() < 1e-5
        assert said == value(position) == plain_value(row)
        assert said == pytest.approx(OUTCOMES.values(row), abs=1e-12)
        assert evaluator(position) == said and -3 <= said <= 3
    assert {int(phase(position)) for position in POSITIONS} == {0, 1, 2} or not kernels.compiled
    assert len({tuple(row) for row in found.tolist()}) > len(POSITIONS) // 2


@kernel
def wild(position):
    """Returns NaN or a number that is too large, depending on the position."""
    kind = position[0] & 3
    if kind == 0:
        return float("nan")
    return float("inf") if kind == 1 else (-1e39 if kind == 2 else 3e38)


@plain
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_inputs_that_are_no_numbers_do_no_harm() -> None:
    evaluator = OutcomeNetwork(
        WHOLE,
        [(FeatureSet("wild", {"wild": wild, "gone": gone}),
          layers_of(NUMBERS.only(["low", "gone"]), (9, 8), np.random.default_rng(1)))],
    )  # fmt: skip
    slow = evaluator._plain_outcomes()
    near, *rest = START
    for kind in range(4):
        for other in range(0, 12, 4):
            position = (near + kind + other, *rest)
            found = evaluator.outcomes([position])[0]
            assert found.tolist() == slow(position).tolist()
            assert ((found >= 0) & (found <= 1)).all()
            assert -3 <= evaluator(position) <= 3


# --- weights ---------------------------------------------------------------------------------


GOOD = [(np.zeros((3, 2)), np.zeros(2)), (np.zeros((2, 5)), np.zeros(5))]


# --- files -----------------------------------------------------------------------------------


@plain
def test_a_file_holds_equal_nets_once(tmp_path: Path) -> None:
    first, second = (layers_of(POINTS, (30,), np.random.default_rng(seed)) for seed in (1, 2))
    whole, shared = tmp_path / "whole.safetensors", tmp_path / "shared.safetensors"
    OutcomeNetwork(GAME, [(POINTS, first)]).save(whole)
    evaluator = OutcomeNetwork(GAME, [(POINTS, first), (POINTS, first), (POINTS, second)])
    evaluator.save(shared)
    assert shared.stat().st_size < 2.2 * whole.stat().st_size
    read = load_evaluator(shared, game=GAME)
    assert read.outcomes(POSITIONS).tolist() == evaluator.outcomes(POSITIONS).tolist()


@plain
def test_inputs_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    inputs = (POINTS, NUMBERS)
    evaluator = OutcomeNetwork(WHOLE, [(inputs, layers_of(inputs, (3,), np.random.default_rng(3)))])
    evaluator.save(path)
    with pytest.raises(
        EvaluatorError, match="found 'numbers'; expected inputs= for a set of your own"
    ):
        load_evaluator(path, game=BARE)
    read = load_evaluator(path, game=BARE, inputs=evaluator.inputs)
    assert read.outcomes(POSITIONS).tolist() == evaluator.outcomes(POSITIONS).tolist()
    with pytest.raises(EvaluatorError, match="expected nets over differences, found none"):
        load_evaluator(path, game=WHOLE, inputs=DIFFERENCES)
    # a set whose meaning has changed since
    other = FeatureSet("numbers", {"high": low_bits, "low": low_bits, "gone": gone})
    with pytest.raises(EvaluatorError, match="weights were made for other definitions of high"):
        load_evaluator(path, game=WHOLE, inputs=other)
    # moved and added terms are harmless, because the file's order applies
    moved = FeatureSet("numbers", {"more": gone, **dict(reversed(NUMBERS.terms.items()))})
    read = load_evaluator(path, game=BARE, inputs=(POINTS, moved))
    assert read.outcomes(POSITIONS).tolist() == evaluator.outcomes(POSITIONS).tolist()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    network("three kinds").save(path)
    return path


def nets_with(number: int, **entries: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda content, arrays: content["nets"][number].update(entries)


def put(**entries: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda content, arrays: content.update(entries)


NAMES = list(OUTCOMES.names)


def changed(tmp_path: Path, change: Any) -> None:
    reread(tmp_path / "network.safetensors", network("three kinds"), change, game=GAME)


@plain
def test_files_of_another_game(saved: Path) -> None:
    with pytest.raises(EvaluatorError, match="expected the phases of backgammon, none, found"):
        load_evaluator(saved, game=WHOLE)


# --- the best reply --------------------------------------------------------------------------


def reply(
    evaluator: Any, position: Any, roll: int, prefilter: Prefilter | None = None
) -> tuple[Any, float]:
    """Returns the position after the best move, by native code."""
    failed: list[BaseException] = []
    native = evaluator.native(failed.append)
    replies = Replies(evaluator.game, native, prefilter, fail=failed.append)
    call = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_int64] * 4)(replies.reply_at)
    source, target = np.array(position), np.zeros(len(position), dtype=np.int64)
    value = call(replies.address, source.ctypes.data, roll, target.ctypes.data)
    assert not failed
    assert source.tolist() == list(position)
    after = tuple(target.tolist())
    assert GAME.play(position, replies.move) == after
    # the position may be replaced by the next one
    call(replies.address, source.ctypes.data, roll, source.ctypes.data)
    assert source.tolist() == target.tolist()
    return after, value


def slow_reply(
    evaluator: Any, position: Any, roll: int, prefilter: Prefilter | None = None
) -> tuple[Any, float]:
    """Returns the first move of greatest value, valuing one at a time."""
    best: tuple[Any, float] | None = None
    moves = GAME.legal_moves(position, roll)
    if prefilter is not None:
        ends = {move: GAME.outcome(GAME.play(position, move)) for move in moves}
        cheap = {
            m: prefilter.evaluator(GAME.play(position, m)) if ends[m] is None else ends[m]
            for m in moves
        }
        last = sorted(cheap[move] for move in moves)[: prefilter.keep][-1]
        moves = [move for move in moves if cheap[move] <= last]
    for move in moves:
        after = GAME.play(position, move)
        end = GAME.outcome(after)
        value = -(evaluator(after) if end is None else end)
        if best is None or value > best[1]:
            best = after, value
    assert best is not None
    return best


@kernel
def few_values(weights, position):
    """Returns one of a few numbers, so that many moves are equal."""
    return float((position[0] >> 4 & 7) % 3) * weights[0]


REPLIERS: dict[str, Callable[[], Any]] = {
    "network": lambda: network("three kinds"),
    "linear": lambda: LinearEvaluator(GAME, NUMBERS, [1.0, -0.3, 0.4]),
    "kernel": lambda: KernelEvaluator(GAME, few_values, np.array([0.5])),
    "python": lambda: PythonEvaluator(GAME, lambda position: (position[0] >> 20 & 7) % 3),
    "all the same": lambda: as_evaluator(GAME, None),
    "endless": lambda: LinearEvaluator(GAME, NUMBERS, [1e308, 1e308, -1e308]),
}


@compiled_only
@pytest.mark.parametrize("kind", REPLIERS)
def test_the_best_reply_is_that_of_the_twin(kind: str) -> None:
    evaluator = REPLIERS[kind]()
    generator = random.Random(6)
    # some of them may be won with one roll
    late = [p for p in positions_of_games(7, 600) if p[0] & 15 > 10]
    assert len(late) > 5
    for position in [*POSITIONS, *late]:
        roll = generator.randrange(21)
        found = reply(evaluator, position, roll)
        if kind != "endless":
            assert found == slow_reply(evaluator, position, roll)
        # whatever the values, a move was played
        assert found[0] in {GAME.play(position, m) for m in GAME.legal_moves(position, roll)}


@compiled_only
@pytest.mark.parametrize("keep", [1, 5, 1024])
def test_the_best_of_the_replies_that_a_prefilter_keeps(keep: int) -> None:
    evaluator = network("three kinds")
    generator = random.Random(7)
    prefilters = [
        Prefilter(LinearEvaluator(GAME, NUMBERS, [1.0, -0.3, 0.4]), keep),
        Prefilter(KernelEvaluator(GAME, few_values, np.array([0.5])), keep),  # many equals
        Prefilter(PythonEvaluator(GAME, lambda position: (position[0] >> 20 & 7) % 3), keep),
    ]
    late = [p for p in positions_of_games(7, 600) if p[0] & 15 > 10]
    others = 0
    for position in [*POSITIONS[::3], *late]:
        roll = generator.randrange(21)
        for prefilter in prefilters:
            found = reply(evaluator, position, roll, prefilter)
            assert found == slow_reply(evaluator, position, roll, prefilter)
            others += found != slow_reply(evaluator, position, roll)
    assert (others > 2) == (keep < 10)


test_errors = errors_of(globals())
