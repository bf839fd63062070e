"""`check_evaluator`: every shipped evaluator passes, and values without a meaning are refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import games
import search
from games import ContractError, Game, check_game
from games.chinese_checkers import ChineseCheckers
from games.connect_four import ConnectFour
from search import Engine, check_evaluator
from search.evaluators.files.shipped import shipped_files

#: Of three players: the logarithms of the odds of coming first, which do not add up to 0.
ODDS = ("chinese_checkers", "batch")
SHIPPED = [(name, file) for name in games.names() for file in shipped_files(name)]
#: Those that a game names itself, which `check_game` checks briefly.
NAMED = [(name, own) for name in games.names() for own in games.load(name).evaluators]


@pytest.mark.parametrize(
    ("name", "evaluator", "nodes"),
    [
        *((*one, 50_000) for one in SHIPPED),
        *(pytest.param(*one, 2_000_000, marks=pytest.mark.slow) for one in [*NAMED, *SHIPPED]),
    ],
)
def test_values_of_every_evaluator_mean_the_same_at_all_depths(
    name: str, evaluator: str, nodes: int
) -> None:
    game = games.load(name)
    if (name, evaluator) == ODDS:
        odds = search.as_evaluator(game, evaluator)(game.start())
        assert 1 / (1 + 2.718281828**-odds) == pytest.approx(1 / 3, abs=0.05)
        with pytest.raises(ContractError, match="a board for all its sides average to 0"):
            check_evaluator(game, evaluator, nodes=200_000)
    else:
        check_evaluator(game, evaluator, nodes=nodes)


@pytest.mark.parametrize("players", [2, 3, 6])
def test_nobody_is_ahead_at_the_start_of_chinese_checkers(players: int) -> None:
    game = ChineseCheckers(players)
    for name in game.evaluators:
        engine = Engine(game, name)
        values = [engine.search(game.start(), depth=depth).value for depth in range(1, 4)]
        assert engine.evaluator(game.start()) == 0 and 0 <= min(values) and max(values) < 6
        check_evaluator(game, name, positions=120, nodes=100_000)


class Heaps(Game):
    """Stones of two colours are taken; who takes the last has won. White takes the first colour."""

    name, unit = "heaps", "stones"
    evaluators: Any = {}

    def start(self) -> Any:
        return (14, 14, 0)

    def legal_moves(self, position: Any) -> list[Any]:
        return [taken for taken in (1, 2, 3) if taken <= position[0]]

    def play(self, position: Any, move: Any) -> Any:
        own, other, side = position
        return (other, own - move, 1 - side)

    def outcome(self, position: Any) -> float | None:
        return None if position[0] else -1.0

    def to_move(self, position: Any) -> int:
        return int(position[2])


def ahead(position: Any) -> float:
    return float(position[0] - position[1])


@pytest.mark.plain
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda p: ahead(p) * (1 - 2 * p[2]), "values for the side to move at depths 0 and 1"),
        (lambda p: ahead(p) + 30.0, "values for a fixed side at depths 0 and 1 say the same"),
        (lambda p: ahead(p) + (3.0 * (p[0] + p[1]) if p[2] else 0.0), "values"),
        (lambda p: float(hash(p) % 1009), "values for the side to move at depths 0 and 1"),
    ],
)
def test_values_that_mean_nothing_are_refused(value: Any, message: str) -> None:
    game = Heaps()
    game.evaluators = {"wrong": value}
    with pytest.raises(ContractError, match=f"heaps, evaluator .*: {message}"):
        check_game(game, games=1)


@pytest.mark.plain
def test_values_that_mean_something_pass() -> None:
    check_evaluator(Heaps(), ahead)


def test_steps_without_those_of_the_others_are_refused() -> None:
    game = ChineseCheckers(2)
    own = search.LinearEvaluator(game, game.features["race"], {"steps": -1.0})
    with pytest.raises(ContractError, match="values for the side to move at depths 0 and 1"):
        check_evaluator(game, own, positions=120, nodes=100_000)


def test_a_board_is_worth_nothing_to_all_its_sides_together() -> None:
    game = ChineseCheckers(3)
    lead = search.as_evaluator(game, "hand")
    with pytest.raises(ContractError, match="values of a board for all its sides average to 0"):
        check_evaluator(game, lambda position: lead(position) + 4.0, positions=60, nodes=1)


def test_the_right_to_move_is_no_fault() -> None:
    # stones in the middle: each move adds one, so that values go up and down with the depth
    check_evaluator(ConnectFour(), "centre")


@pytest.mark.plain
def test_check_game_says_that_it_cannot_search() -> None:
    program = "from games import tic_tac_toe as t, check_game; check_game(t.TicTacToe(), games=1)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    said = "tic_tac_toe: the values of its evaluators are not checked: import search first"
    assert done.returncode == 0 and said in done.stderr
