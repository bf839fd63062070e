"""The native searches for more than two players, beside the textbook's and Li's nim."""

from __future__ import annotations

import itertools
import random
from functools import partial
from typing import Any

import pytest
from errors import errors_of

from docs.examples.li_nim import LiNim
from games import ContractError, Game, check_game
from games.chinese_checkers import ChineseCheckers
from games.tree import Tree
from search import Engine, as_evaluator
from search.textbook.max_n import best_reply, for_every_player, max_n, paranoid

pytestmark = pytest.mark.plain


class InOrder:
    """A game with its moves in the order of their gains, as the native search tries them."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def legal_moves(self, position: Any) -> list[Any]:
        moves = self.game.legal_moves(position)
        return sorted(moves, key=lambda move: -self.game.gain(position, move))


def centred(values: Any) -> Any:
    def found(position: Any) -> tuple[float, ...]:
        rounded = [round(value * 65536) / 65536 for value in values(position)]
        return tuple(value - sum(rounded) / len(rounded) for value in rounded)

    return found


def middle(game: ChineseCheckers, seed: int, plies: int) -> Any:
    generator, position = random.Random(seed), game.start()
    for _ in range(plies):
        position = game.play(position, generator.choice(game.legal_moves(position)))
    return position


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("method", "players"),
    [("paranoid", 3), ("best_reply", 3), ("max_n", 3)],
)
def test_values_of_chinese_checkers_are_those_of_the_textbook(method: str, players: int) -> None:
    game, depth = ChineseCheckers(players), 2
    evaluator = as_evaluator(game, "hand")
    engine = Engine(game, evaluator, method=method)
    values = for_every_player(game, evaluator.plain())
    position = middle(game, players, 12)
    ordered: Any = InOrder(game)
    if method == "max_n":
        expected = max_n(ordered, position, depth, centred(values))[0]
    else:
        textbook: Any = paranoid if method == "paranoid" else best_reply
        expected = textbook(ordered, position, depth, values)
    assert engine.search(position, depth=depth).value == pytest.approx(expected, abs=1e-9)


def constant(generator: random.Random, players: int) -> tuple[float, ...]:
    others = [generator.randint(0, 4) for _ in range(players - 1)]
    return (*others, 8 - sum(others))


def bounded(generator: random.Random, players: int) -> tuple[float, ...]:
    return tuple(generator.uniform(0, 1 / players) for _ in range(players))


def real(generator: random.Random, players: int) -> tuple[float, ...]:
    return tuple(generator.gauss(0, 1) for _ in range(players))


def tied(generator: random.Random, players: int) -> tuple[float, ...]:
    return tuple(generator.randint(0, 1) for _ in range(players))


def real_constant(generator: random.Random, players: int) -> tuple[float, ...]:
    others = [generator.random() for _ in range(players - 1)]
    return (*others, 1 - sum(others))


KINDS = [constant, bounded, real, tied, real_constant]


def random_tree(generator: random.Random, depth: int, leaf: Any) -> Any:
    if depth == 0 or generator.random() < 0.05:
        return leaf()
    return [random_tree(generator, depth - 1, leaf) for _ in range(generator.randint(1, 4))]


def first_best(tree: Any, textbook: Any, depth: int) -> tuple[float, int]:
    """Returns the value of a method for the side to move, and the first move that has it."""
    values = [textbook(tree, (move,), depth - 1) for move in tree.legal_moves(())]
    return max(values), values.index(max(values))


@pytest.mark.parametrize("leaf", KINDS)
@pytest.mark.parametrize("players", [3, 5])
def test_value_and_move_of_random_trees_are_those_of_the_textbook(leaf: Any, players: int) -> None:
    spared = 0
    for seed in range(12):
        generator = random.Random(seed)
        root = [random_tree(generator, 4, partial(leaf, generator, players)) for _ in range(3)]
        tree = Tree(root, players=players)
        assert tree.constant_sum == (8 if leaf is constant else None)
        engine = Engine(tree, lambda position: 0.0, method="max_n")
        found, exact = engine.search((), depth=5), engine.analyse((), depth=5)
        expected = first_best(tree, lambda *where: max_n(*where)[-1], 5)
        assert (found.value, found.move) == expected == (exact.value, exact.move)
        spared += exact.nodes - found.nodes
        engine = Engine(tree, lambda position: 0.0, method="paranoid")
        found = engine.search((), depth=5)
        value, _ = first_best(tree, lambda *where: paranoid(*where, behind=players - 1), 5)
        assert found.value == value == paranoid(tree, (found.move,), behind=players - 1)
    assert spared > 0 if (leaf, players) == (constant, 3) else spared == 0 or leaf is constant


class Scattered(Game):
    """Any positions with any values, and turns: a number and the side to move decide it all."""

    wins = False
    name = "scattered"

    def __init__(self, players: int, seed: int, leaf: Any) -> None:
        self.players, self.seed, self.leaf = players, seed, leaf

    def random(self, position: Any, what: str) -> random.Random:
        return random.Random(f"{self.seed} {position} {what}")

    def start(self) -> Any:
        return 1, 0, 0

    def to_move(self, position: Any) -> int:
        return int(position[2])

    def turn(self, position: Any) -> Any:
        return *position[:2], (position[2] + 1) % self.players

    def play(self, position: Any, move: int) -> Any:
        number, ply, side = position
        # few numbers, so that positions are met again
        return (5 * number + 3 * move + side) % 17, ply + 1, (side + 1) % self.players

    def legal_moves(self, position: Any) -> list[int]:
        if self.outcome_vector(position) is not None:
            return []
        return list(range(self.random(position, "moves").randint(1, 3)))

    def outcome_vector(self, position: Any) -> tuple[float, ...] | None:
        generator = self.random(position[:2], "end")
        if generator.random() > 0.1 and position[1] < 6:
            return None
        first = self.leaf(generator, self.players)
        return (*first[position[2] :], *first[: position[2]])

    def static(self, position: Any) -> float:
        return self.random(position, "value").choice(
            [0.0, 0.25, 1.0, self.random(position, "").random()]
        )


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["paranoid", "best_reply", "max_n"])
@pytest.mark.parametrize("players", [3, 6])
def test_search_with_values_and_turns_is_that_of_the_textbook(method: str, players: int) -> None:
    textbook: Any = {"paranoid": paranoid, "best_reply": best_reply, "max_n": max_n}[method]
    compared = 0
    for leaf, seed in itertools.product((real, tied), range(6)):
        game = Scattered(players, seed, leaf)
        start = game.start()
        if game.outcome_vector(start) is not None:
            continue
        engine = Engine(game, game.static, method=method)
        values = for_every_player(game, game.static)
        for depth in (1, 2, 3, 4):
            found = engine.search(start, depth=depth)
            expected = textbook(game, start, depth, values)
            assert found.value == (expected[0] if method == "max_n" else expected)
            after = {}
            for move in game.legal_moves(start):
                where = game.play(start, move), depth - 1, values
                own: dict[str, Any] = {} if method == "max_n" else {"behind": players - 1}
                if method == "best_reply":
                    own["replying"] = True
                value = textbook(game, *where, **own)
                after[move] = value[-1] if method == "max_n" else value
            best = [move for move, value in after.items() if value == max(after.values())]
            assert found.move == best[0] if method == "max_n" else found.move in best
            compared += 1
    assert compared > 30


def test_an_equal_move_that_was_left_open_is_preferred_if_it_comes_first() -> None:
    """B gets 2 by its second and by its third move; by the third A would have 3."""
    deep = [(1, 2, 6), [(3, 2, 4)]]  # left open at first: C has 6, so that A or B does not want it
    tree = Tree([(2, 2, 5), [(2, 1, 6), deep, (3, 2, 4)]], players=3)
    assert tree.constant_sum == 9 and max_n(tree, ()) == (2, 2, 5)
    found = Engine(tree, lambda position: 0.0, method="max_n").search((), depth=4)
    assert (found.move, found.value) == (0, 2.0)


def test_check_game_looks_at_the_sum_that_a_game_declares() -> None:
    class Wrong(LiNim):
        constant_sum = 1.0

    with pytest.raises(
        ContractError, match=r"outcomes add up to constant_sum; .* 1\.0, found 0\.0"
    ):
        check_game(Wrong((1, 1), 3), games=1)

    class Fine(Scattered):
        constant_sum = 1.0

    thirds = Fine(3, 0, lambda generator, players: (1 / 3, 1 / 3, 1 / 3))
    with pytest.raises(ContractError, match="exact sums; .* expected multiples of 1/65536"):
        check_game(thirds, games=1)


def test_a_win_is_counted_in_plies() -> None:
    game = ChineseCheckers(3)
    rows = game.position_text(game.start()).split()[0].replace("1", ".").split("/")
    rows[12] = rows[12][:4] + "1" + rows[12][5:]
    rows[13:] = [".111", "111", "11", "1"]
    position = game.parse_position("/".join(rows) + " 1 99")
    for method in ("paranoid", "best_reply", "max_n"):
        found = Engine(game, "hand", method=method).search(position, depth=2)
        assert found.plies_to_end == 1 and game.move_text(position, found.move) == "102-111"


test_errors = errors_of(globals())
