"""Search against a model of the opponent, beside the textbook's few lines."""

from __future__ import annotations

import math
import pickle
import random
from typing import Any

import pytest
from errors import errors_of
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from games import kernels
from games.contract import Game
from games.nim import Nim
from games.tree import Tree
from search import WIN, Engine, Opponent, as_evaluator
from search.textbook.minimax import against

CHECKERS = games.load("checkers")
TIC_TAC_TOE = games.load("tic_tac_toe")
plain = pytest.mark.plain


class Values(Game):
    """A game of `levels` plies without an end, with pseudorandom values for both sides."""

    wins = False

    def __init__(self, width: int = 3) -> None:
        self.width = width

    def start(self) -> Any:
        return ()

    def to_move(self, position: Any) -> int:
        return len(position) % 2

    def legal_moves(self, position: Any) -> list[int]:
        return list(range(self.width))

    def play(self, position: Any, move: int) -> Any:
        return (*position, move)

    def outcome(self, position: Any) -> float | None:
        return None


def value_of(seed: int) -> Any:
    """Returns an evaluator with values from -3 to 3 in halves, so that there are ties."""

    def value(position: Any) -> float:
        return random.Random(f"{seed} {position}").randint(-6, 6) / 2

    return value


temperatures = st.sampled_from([0.0, 0.2, 1.0, 30.0, math.inf])


@plain
@settings(deadline=None)
@given(
    st.integers(0, 50),
    st.integers(1, 4),
    temperatures,
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([None, 1, 2]),
)
def test_searches_agree_with_the_textbook(
    seed: int, depth: int, temperature: float, looks: int | None, replies: int | None
) -> None:
    game, own, theirs = Values(), value_of(seed), value_of(seed + 1000)
    opponent = Opponent(theirs, temperature, looks, replies)
    result = Engine(game, own, opponent=opponent).analyse((), depth=depth)
    assert result.depth == depth
    expected = {
        move: -against(game, (move,), opponent, depth - 1, own, ply=1)
        for move in game.legal_moves(())
    }
    assert dict(result.moves) == pytest.approx(expected)
    value = against(game, (), opponent, depth, own)
    assert result.value == pytest.approx(value)
    found = Engine(game, own, opponent=opponent).search((), depth=depth)  # with cutoffs
    assert found.value == pytest.approx(value)
    assert expected[found.move] == pytest.approx(value)


@plain
@pytest.mark.parametrize("seed", range(12))
def test_an_opponent_without_errors_is_minimax_bit_for_bit(seed: int) -> None:
    game, value = Values(), value_of(seed)
    model = Engine(game, value, opponent=Opponent()).analyse((), depth=5)
    exact = Engine(game, value).analyse((), depth=5)
    assert (model.moves, model.value, model.move) == (exact.moves, exact.value, exact.move)


@pytest.mark.parametrize("fen", ["start", "W:W20,21,K31:B23,K22", "B:W18,K25,30:B10,K19,4"])
def test_so_it_is_in_checkers_with_captures_and_repetitions(fen: str) -> None:
    position = CHECKERS.start() if fen == "start" else CHECKERS.parse_position(fen)
    for depth in (1, 4, 7):
        model = Engine(CHECKERS, "classic", opponent=Opponent()).analyse(position, depth=depth)
        exact = Engine(CHECKERS, "classic").analyse(position, depth=depth)
        assert dict(model.moves) == dict(exact.moves)
        assert model.value == exact.value


@plain
def test_which_way_against_a_random_mover() -> None:
    game = Nim((2, 2))
    found = Engine(game, opponent=Opponent(temperature=math.inf)).analyse(game.start(), depth=4)
    values = {game.play(game.start(), move)[:2]: value for move, value in found.moves}
    assert values == pytest.approx({(1, 2): 1 / 3, (2, 1): 1 / 3, (0, 2): 0, (2, 0): 0})
    assert sorted(game.play(game.start(), found.move)[:2]) == [1, 2]
    textbook = against(game, (1, 2, 1), Opponent(temperature=math.inf), ply=1)
    assert -textbook == pytest.approx(1 / 3)


@plain
def test_the_opponent_falls_into_the_trap_that_he_does_not_see() -> None:
    # He prefers the first reply by his own values, and it is the worse one.
    tree = Tree([[9, -1], [2, 2]])
    theirs = {(0, 0): 5.0, (0, 1): 1.0, (1, 0): 0.0, (1, 1): 0.0}

    class Open(Tree):
        """The tree, whose leaves are valued by evaluators."""

        def outcome(self, position: Any) -> float | None:
            return None if len(position) == 2 else super().outcome(position)

    game = Open(tree.root)
    own = {(0, 0): 9.0, (0, 1): -1.0, (1, 0): 2.0, (1, 1): 2.0}

    def ours(position: Any) -> float:
        return own.get(position, 0.0)  # iterations before the last ask for others

    opponent = Opponent(lambda position: -theirs.get(position, 0.0))
    found = Engine(game, ours, opponent=opponent).search((), depth=2)
    assert (found.move, found.value) == (0, 9)
    assert Engine(game, ours).search((), depth=2).move == 1
    warm = Opponent(opponent.evaluator, 4.0)
    chance = 1 / (1 + math.exp(-(5 - 1) / 4.0))
    value = Engine(game, ours, opponent=warm).search((), depth=2).value
    assert value == pytest.approx(9 * chance - (1 - chance))


@plain
def test_proven_results() -> None:
    # X takes the last line of three; no opponent can prevent it
    won = TIC_TAC_TOE.parse_position("XX.OO.... X")
    found = Engine(TIC_TAC_TOE, opponent=Opponent(temperature=1.0)).search(won, depth=3)
    assert found.value == WIN - 1
    # against a random mover, a win that he may miss is not proven
    start = TIC_TAC_TOE.start()
    found = Engine(TIC_TAC_TOE, opponent=Opponent(temperature=math.inf)).search(start, depth=9)
    assert 0.9 < found.value < 1
    assert found.plies_to_end is None


@pytest.mark.skipif(not kernels.compiled, reason="compares compiled with plain search")
def test_native_and_plain_searches_agree() -> None:
    class Plain(Game):
        wins, sides, name = CHECKERS.wins, CHECKERS.sides, "plain checkers"
        start, play = CHECKERS.start, CHECKERS.play
        legal_moves, outcome, noisy = CHECKERS.legal_moves, CHECKERS.outcome, CHECKERS.noisy
        to_move, irreversible, gain = CHECKERS.to_move, CHECKERS.irreversible, CHECKERS.gain

    own, theirs = as_evaluator(CHECKERS, "classic"), as_evaluator(CHECKERS, "material")
    position = CHECKERS.parse_position("W:W20,21,K31:B23,K22")
    for temperature in (0.0, 0.4):
        native = Engine(CHECKERS, own, opponent=Opponent(theirs, temperature))
        slow = Engine(
            Plain(), lambda p: own(p), opponent=Opponent(lambda p: theirs(p), temperature)
        )
        first, second = (engine.analyse(position, depth=4) for engine in (native, slow))
        assert dict(first.moves) == pytest.approx(dict(second.moves))


@plain
def test_limits_and_copies() -> None:
    engine = Engine(TIC_TAC_TOE, "open_lines", opponent=Opponent(temperature=0.5))
    found = engine.search(TIC_TAC_TOE.start(), nodes=300)
    assert found.nodes <= 310 and 1 <= found.depth < 9
    assert "Opponent(" in repr(engine)
    again = pickle.loads(pickle.dumps(engine))
    assert again.opponent == engine.opponent
    engine.clear()
    start = TIC_TAC_TOE.start()
    assert again.search(start, depth=3).value == engine.search(start, depth=3).value


test_errors = errors_of(globals())
