"""The native searches for more than two players, beside the textbook's and Li's nim."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from games.chinese_checkers import ChineseCheckers
from games.nim import LiNim
from games.tree import Tree
from search import Engine, as_evaluator
from search.max_n import best_reply, for_every_player, max_n, paranoid

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


@pytest.mark.parametrize("method", ["paranoid", "best_reply", "max_n"])
@pytest.mark.parametrize("players", [3, 4])
def test_values_of_nim_are_those_of_the_textbook(method: str, players: int) -> None:
    textbook: Any = {"paranoid": paranoid, "best_reply": best_reply, "max_n": max_n}[method]
    for piles in itertools.product(range(3), range(3), (0, 1)):
        game = LiNim(piles, players)
        if not sum(piles):
            continue
        engine = Engine(game, lambda position: 0.0, method=method)
        value = textbook(game, game.start())
        expected = value[0] if method == "max_n" else value
        assert engine.search(game.start(), depth=10).value == expected, piles


def test_max_n_finds_who_wins_nim_by_li() -> None:
    for players, piles in itertools.product((3, 4), [(1, 1, 1), (2, 2), (3, 1), (2, 2, 2)]):
        game = LiNim(piles, players)
        found = Engine(game, lambda position: 0.0, method="max_n").analyse(game.start(), depth=8)
        # the side that moves is last only if it cannot move into a balanced position
        balanced = [
            move
            for move in game.legal_moves(game.start())
            if LiNim.balanced(game.play(game.start(), move)[:-1], players)
        ]
        wins = {move for move, value in found.moves if value == players - 1}
        assert wins == set(balanced)


@pytest.mark.parametrize("method", ["paranoid", "best_reply", "max_n"])
@pytest.mark.parametrize(("players", "depth"), [(3, 2), (6, 2)])
def test_values_of_chinese_checkers_are_those_of_the_textbook(
    method: str, players: int, depth: int
) -> None:
    game = ChineseCheckers(players)
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


class Unvalued(Tree):
    """A tree for three or more whose inner positions are worth nothing to anybody."""

    def turn(self, position: Any) -> Any:
        return position


def random_tree(generator: random.Random, depth: int, players: int) -> Any:
    if depth == 0:
        others = [generator.randint(0, 4) for _ in range(players - 1)]
        return (*others, 8 - sum(others))
    return [random_tree(generator, depth - 1, players) for _ in range(generator.randint(1, 4))]


def test_pruning_changes_no_value_of_max_n_and_spares_leaves() -> None:
    spared = searched = 0
    for seed in range(60):
        players = 3 + seed % 2
        tree = Unvalued(random_tree(random.Random(seed), 5, players), players=players)
        engine = Engine(tree, lambda position: 0.0, method="max_n")
        found = engine.search((), depth=5)
        plain = engine.analyse((), depth=5)
        expected = max_n(tree, ())[0] - 8 / players
        assert found.value == pytest.approx(expected) == pytest.approx(plain.value)
        spared += plain.nodes - found.nodes
        searched += found.nodes
    assert spared > 0


def test_a_win_is_counted_in_plies() -> None:
    game = ChineseCheckers(3)
    rows = game.position_text(game.start()).split()[0].replace("1", ".").split("/")
    rows[12] = rows[12][:4] + "1" + rows[12][5:]
    rows[13:] = [".111", "111", "11", "1"]
    position = game.parse_position("/".join(rows) + " 1 99")
    for method in ("paranoid", "best_reply", "max_n"):
        found = Engine(game, "hand", method=method).search(position, depth=2)
        assert found.plies_to_end == 1 and game.move_text(position, found.move) == "102-111"


def test_options_of_other_searches_are_refused() -> None:
    game = LiNim((1, 2), 3)
    with pytest.raises(ValueError, match="3 players and no dice: expected options among method"):
        Engine(game, lambda position: 0.0, equal_depth=True)
    with pytest.raises(ValueError, match="method: expected one of paranoid, best_reply, max_n"):
        Engine(game, lambda position: 0.0, method="alphabeta")
    with pytest.raises(ValueError, match="threads: expected none for 3 players"):
        Engine(game, lambda position: 0.0, threads=2)
