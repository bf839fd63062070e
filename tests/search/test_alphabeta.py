"""The search has the same values as a slow twin, whatever its options."""

from __future__ import annotations

import dataclasses
import functools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marks import compiled_only, plain
from twin import PlainFace, Twin, random_positions

from games import kernels
from games.checkers import Checkers
from games.contract import Game, Rules
from games.kernel_game import KernelGame
from games.kernels import kernel
from games.tic_tac_toe import TicTacToe
from games.tree import Tree
from search import WIN, Engine, LinearEvaluator, Result, as_evaluator

thorough = settings(suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=30)

CHECKERS = Checkers()
#: Options that must not change a value.
OPTIONS: list[dict[str, Any]] = [
    {},
    {"seed": 5},
    {"table_mib": 0.001},  # 16 entries, which replace each other
    {"seed": 7, "repetition": False},
    {"techniques": "-null_window"},
    {"techniques": "-aspiration"},
]


# --- random trees ----------------------------------------------------------------------------

leaves = st.integers(-3, 3) | st.floats(-1, 1, allow_nan=False)
trees = st.recursive(leaves, lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=40)


def height(tree: Any) -> int:
    return 1 + max(map(height, tree)) if isinstance(tree, list) else 0


@plain
@thorough
@given(trees, st.sampled_from(OPTIONS), st.booleans())
def test_random_trees_to_the_end(tree: Any, options: dict[str, Any], max_begins: bool) -> None:
    game = Tree(tree, max_begins=max_begins)
    twin = Twin(game, lambda position: 0.0)
    engine = Engine(game, **options)
    depth = max(height(tree), 1)
    result = engine.search((), depth=depth)
    assert result.value == twin.value((), depth)
    if result.move is not None:
        assert (result.move, result.value) in twin.moves((), depth)
        assert dict(engine.analyse((), depth=depth).moves) == dict(twin.moves((), depth))


class Lattice(Game):
    """Positions (level, place) reached by many lines, some tactical, with pseudorandom values."""

    wins = False

    def __init__(self, seed: int, width: int = 4, levels: int = 9) -> None:
        self.seed, self.width, self.levels = seed, width, levels

    def _number(self, *facts: int) -> int:
        return random.Random(hash((self.seed, *facts))).randrange(1 << 20)

    def start(self) -> tuple[int, int]:
        return (0, 0)

    def legal_moves(self, position: tuple[int, int]) -> list[int]:
        if position[0] == self.levels:
            return []
        places = random.Random(hash((self.seed, 1, *position)))
        return places.sample(range(self.width), 1 + self._number(2, *position) % 3)

    def play(self, position: tuple[int, int], move: int) -> tuple[int, int]:
        return (position[0] + 1, move)

    def outcome(self, position: tuple[int, int]) -> float | None:
        return self.static(position) if position[0] == self.levels else None

    def noisy(self, position: tuple[int, int]) -> bool:
        return self._number(3, *position) % 3 == 0

    def gain(self, position: tuple[int, int], move: int) -> float:
        return float(self._number(5, *position, move) % 3)

    def static(self, position: tuple[int, int]) -> float:
        return float(self._number(4, *position) % 9 - 4) / 2


@pytest.mark.thorough
@plain
@thorough
@given(st.integers(0, 10**6), st.sampled_from(OPTIONS), st.booleans())
def test_transpositions_and_quiescence(seed: int, options: dict[str, Any], wins: bool) -> None:
    game = Lattice(seed)
    game.wins = wins
    twin = Twin(game, game.static)
    engine = Engine(game, game.static, equal_depth=True, **options)
    for depth in (1, 3, 4, 6, 9, 5):  # one table for all depths
        result = engine.search(game.start(), depth=depth)
        assert result.value == twin.value(game.start(), depth)
        analysis = engine.analyse(game.start(), depth=depth)
        assert dict(analysis.moves) == dict(twin.moves(game.start(), depth))
        assert analysis.value == result.value == max(dict(analysis.moves).values())
        values = [value for _, value in analysis.moves]
        assert values == sorted(values, reverse=True)


# --- small games to the end ------------------------------------------------------------------


def unfinished(game: Game) -> list[Any]:
    """Every position of a small game that is not over."""
    found, pending = {game.start()}, [game.start()]
    for position in pending:
        for move in game.legal_moves(position):
            after = game.play(position, move)
            if after not in found:
                found.add(after)
                pending.append(after)
    return [position for position in pending if game.outcome(position) is None]


@functools.cache
def tic_tac_toe() -> tuple[Game, Twin, list[Any]]:
    """Returns the game, its slow twin, and every position that is not over."""
    game = TicTacToe()
    return game, Twin(game, lambda position: 0.0), unfinished(game)


@plain
def test_sooner_wins_and_later_losses_are_preferred() -> None:
    game = TicTacToe()
    engine = Engine(game)
    position = game.parse_position("XX.OO.... X")
    now = engine.search(position, depth=9)
    assert (now.move, now.value, now.plies_to_end) == (1 << 2, WIN - 1, 1)
    assert now.depth == 1  # a win in one ply needs no deeper search
    assert engine.analyse(position, depth=4).depth == 4  # but the other moves do
    lost = engine.analyse(game.parse_position("X.X..OXO. O"), depth=9)  # three threats
    assert (lost.value, lost.plies_to_end) == (2 - WIN, 2)
    fork = engine.search(game.parse_position("X...O...X O"), depth=7)
    assert (fork.value, fork.plies_to_end) == (0, None)
    corner = engine.analyse(game.parse_position("X...O...X O"), depth=7)
    assert dict(corner.moves)[1 << 2] == 4 - WIN
    over = engine.search(game.parse_position("XXXOO.... O"), depth=3)
    assert (over.move, over.value, over.plies_to_end, over.pv) == (None, -WIN, 0, ())


# --- checkers to a limited depth -------------------------------------------------------------


@kernel
def kernel_value(position):
    """An evaluator with few distinct values, so that many moves are equal."""
    own, opponent, kings, side = position
    total = 0
    for _ in range(40):
        total += (own & 1) - (opponent & 1) + 2 * (own & kings & 1) - 2 * (opponent & kings & 1)
        own >>= 1
        opponent >>= 1
        kings >>= 1
    return total / 3 + 0.25 * side


def random_linear(game: Game, seed: int) -> LinearEvaluator:
    features = game.features["classic"]
    weights = np.random.default_rng(seed).normal(0, 1, len(features))
    return LinearEvaluator(game, features, weights)


def checkers_evaluator(name: str) -> Any:
    return {
        "kernel": kernel_value,
        "python": lambda position: float(hash(position) % 7),
        "random": random_linear(CHECKERS, 9),
    }.get(name, name)


@plain
@pytest.mark.parametrize(
    ("evaluator", "options"),
    [
        *((name, {}) for name in ("material", "kernel", "python", "random", "rote")),
        *(("classic", options) for options in OPTIONS),
    ],
    ids=str,
)
def test_checkers_to_a_limited_depth(evaluator: str, options: dict[str, Any]) -> None:
    given = as_evaluator(CHECKERS, checkers_evaluator(evaluator))
    twin = Twin(CHECKERS, given)
    engine = Engine(CHECKERS, given, equal_depth=True, **{**options, "repetition": False})
    deepest = 4 if kernels.compiled else 2
    for position in random_positions(CHECKERS, OPTIONS.index(options), 3 if deepest > 2 else 2):
        for depth in range(1, deepest + 1):
            result = engine.search(position, depth=depth)
            assert result.value == twin.value(position, depth)
            assert (result.move, result.value) in twin.moves(position, depth)
            if not kernels.compiled:
                continue
            analysis = engine.analyse(position, depth=depth)
            assert dict(analysis.moves) == dict(twin.moves(position, depth))


@compiled_only
def test_the_principal_variation_leads_to_the_value() -> None:
    given = as_evaluator(CHECKERS, "classic")
    engine = Engine(CHECKERS, given, equal_depth=True, repetition=False)
    for position in random_positions(CHECKERS, 21, 20):
        result = engine.search(position, depth=6)
        sign, end = 1.0, position
        for move in result.pv:
            assert move in CHECKERS.legal_moves(end)
            sign, end = -sign, CHECKERS.play(end, move)
        assert result.pv[0] == result.move
        if result.plies_to_end is not None:
            assert CHECKERS.outcome(end) is not None or len(result.pv) < result.plies_to_end
        elif len(result.pv) >= 6:
            assert not CHECKERS.noisy(end)
            assert result.value == sign * given(end)


@compiled_only
def test_history_tells_what_each_depth_found() -> None:
    engine = Engine(CHECKERS, "classic")
    result = engine.search(CHECKERS.start(), depth=7)
    assert [entry.depth for entry in result.history] == [1, 2, 3, 4, 5, 6, 7]
    nodes = [entry.nodes for entry in result.history]
    assert nodes == sorted(nodes) and nodes[-1] == result.nodes
    last = result.history[-1]
    assert (last.value, last.move) == (result.value, result.move)


# --- native and plain ------------------------------------------------------------------------


def facts(result: Result) -> Any:
    """Returns the parts of a result that do not depend on the clock."""
    return dataclasses.replace(result, seconds=0.0)


@compiled_only
@pytest.mark.parametrize("evaluator", ["classic", "kernel", "python"])
def test_native_and_plain_search_do_the_same(evaluator: str) -> None:
    given = as_evaluator(CHECKERS, checkers_evaluator(evaluator))
    for position in random_positions(CHECKERS, 4, 6):
        native = Engine(CHECKERS, given)
        slow = Engine(PlainFace(CHECKERS), given.plain())
        assert native.native and not slow.native
        assert facts(native.search(position, depth=4)) == facts(slow.search(position, depth=4))
        assert facts(native.analyse(position, depth=3)) == facts(slow.analyse(position, depth=3))


#: Number of positions visited by a search of the start position: the signature of the search. It
#: changes whenever a change affects which positions are searched, or in which order; a commit that
#: changes it must say so and why.
SIGNATURE = {
    ("classic", 9): 40_308,
    ("classic", 11): 123_438,
    ("material", 9): 12_333,
    ("material", 11): 49_143,
}


@compiled_only
@pytest.mark.parametrize(("evaluator", "depth"), SIGNATURE)
def test_the_signature_of_the_search(evaluator: str, depth: int) -> None:
    result = Engine(CHECKERS, evaluator).search(CHECKERS.start(), depth=depth)
    assert result.nodes == SIGNATURE[evaluator, depth]


@plain
def test_the_signature_of_a_small_search() -> None:
    """Compiled and uncompiled searches have the same signature."""
    result = Engine(CHECKERS, "classic").search(CHECKERS.start(), depth=4)
    assert result.nodes == 236


# --- seeds -----------------------------------------------------------------------------------


@plain
def test_a_seed_decides_everything() -> None:
    def played(seed: int | None) -> list[Any]:
        engine = Engine(CHECKERS, "material", seed=seed)
        position, results = CHECKERS.start(), []
        for _ in range(6):
            results.append(facts(engine.search(position, depth=3)))
            position = CHECKERS.play(position, results[-1].move)
        return results

    assert played(1) == played(1)
    assert played(None) == played(None)
    openings = {tuple(result.move for result in played(seed)) for seed in range(6)}
    assert len(openings) > 3


@plain
def test_a_cleared_engine_is_as_new() -> None:
    engine = Engine(CHECKERS, "classic")
    first = facts(engine.search(CHECKERS.start(), depth=4))
    again = facts(engine.search(CHECKERS.start(), depth=4))
    assert again.nodes < first.nodes
    engine.clear()
    assert facts(engine.search(CHECKERS.start(), depth=4)) == first


# --- repetition ------------------------------------------------------------------------------


@kernel
def ring_moves(position, moves):
    """Write the one move onward; from 0 the side to move may also go to 10 and wait there."""
    moves[0] = 1
    moves[1] = 10
    return 2 if position[0] == 0 else 1


@kernel
def ring_play(position, move):
    if move == 10:
        return (10, 1 - position[1])
    if position[0] >= 10:
        return (position[0] + 1, 1 - position[1])
    return ((position[0] + 1) % 4, 1 - position[1])


@kernel
def ring_outcome(position):
    return float("nan")


@kernel
def ring_irreversible(position, move):
    return move == 10


@kernel
def ring_value(position):
    """Returns the first side's lead: 5 in the ring and 1 outside it."""
    value = 1.0 if position[0] >= 10 else 5.0
    return value if position[1] == 0 else -value


class Ring(KernelGame):
    name = "ring"
    rules = Rules(ring_moves, ring_play, ring_outcome, irreversible=ring_irreversible)
    start_position = (0, 0)
    most_moves = 2


@plain
@pytest.mark.parametrize("face", [Ring(), PlainFace(Ring())], ids=["native", "plain"])
def test_a_position_that_comes_back_on_the_line_is_a_draw(face: Game) -> None:
    evaluator = as_evaluator(Ring(), ring_value)
    given = evaluator if face.rules else evaluator.plain()

    def value(depth: int, **options: Any) -> float:
        return Engine(face, given, **options).search((0, 0), depth=depth).value

    assert value(4) == 5  # the repetition would be a leaf with a static value
    assert value(5) == value(8) == 1  # going round is a draw, so leaving the ring is better
    assert value(8, repetition=False) == 5


@plain
@pytest.mark.parametrize("face", [Ring(), PlainFace(Ring())], ids=["native", "plain"])
def test_earlier_positions_of_the_game_count_as_well(face: Game) -> None:
    evaluator = as_evaluator(Ring(), ring_value)
    engine = Engine(face, evaluator if face.rules else evaluator.plain())
    before = [(1, 0), (2, 1), (3, 0), (0, 1), (1, 0), (2, 1), (3, 0)]
    history = [(0, 0), (1, 1), (2, 0), (3, 1)]
    assert dict(engine.analyse((0, 0), depth=2, history=history).moves) == {1: 0, 10: 1}
    engine.clear()
    assert dict(engine.analyse((0, 0), depth=2).moves) == {1: 5, 10: 1}
    engine.clear()
    # a different side to move is a different position; so is one more than MOST_EARLIER plies ago
    assert dict(engine.analyse((0, 0), depth=2, history=before * 40).moves) == {1: 5, 10: 1}


@plain
@pytest.mark.parametrize("face", [Ring(), PlainFace(Ring())], ids=["native", "plain"])
@pytest.mark.parametrize("quiet", [76, 77, 78, 79, 80])
def test_a_game_without_an_irreversible_move_for_long_is_drawn(face: Game, quiet: int) -> None:
    """After 80 plies; a longer game is played without that draw. The table mixes neither."""
    evaluator = as_evaluator(Ring(), ring_value)
    engine = Engine(face, evaluator if face.rules else evaluator.plain())
    history = [(100 + n, n % 2) for n in range(quiet)]
    for _ in range(2):
        for depth in (1, 2, 3, 4):
            drawn = quiet < 80 <= quiet + depth
            assert engine.search((0, 0), depth=depth, history=history).value == (1 if drawn else 5)
            assert engine.search((0, 0), depth=depth).value == 5
