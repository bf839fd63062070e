"""Judging players by truth: shares and losses worked out by hand, and by an independent count."""

from __future__ import annotations

import numpy as np
import pytest

from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from games.tic_tac_toe import TicTacToe
from games.truth import Exhaustive
from play.__main__ import main
from play.judging.judge import random_positions
from play.judging.truth import Known, judge_by_truth, known_values
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from search import as_evaluator

GAME = TicTacToe()
STATIC = Limits(depth=1)
# X completes its row by 3; by any other move O completes the second row: a win or a loss
WON = GAME.parse_position("XX.OO.... X")
# O must take 7, or X wins at once
LOST_OR_DRAWN = GAME.parse_position("....O..XX O")


@pytest.mark.plain
def test_share_and_loss_worked_out_by_hand() -> None:
    known = known_values(GAME, "truth", [WON, LOST_OR_DRAWN], threads=1)
    assert known.decisions == 2
    found = judge_by_truth(GAME, Player("zero", as_evaluator(GAME, None)), known, limits=STATIC)
    # at one ply it sees that it can win but not that it will lose, and takes the first square
    assert (found.positions, found.decisions, found.kept.value) == (2, 2, 0.5)
    assert found.loss.value == 0.5
    assert found.text().startswith("zero: keeps the class in 50.00% [")
    assert found.figures()["decisions"] == 2


@pytest.mark.plain
def test_a_perfect_player_loses_nothing_and_a_random_one_its_share() -> None:
    positions = random_positions(GAME, 200, seed=3, least_plies=0, most_plies=9)
    known = known_values(GAME, "truth", positions, threads=2)
    perfect = judge_by_truth(GAME, parse_player(GAME, "open_lines@9"), known, limits=STATIC)
    assert (perfect.kept.value, perfect.loss.value) == (1.0, 0.0)
    chance = [
        np.mean([np.sign(value) == np.sign(max(moves.values())) for value in moves.values()])
        for moves in known.values
        if len({np.sign(value) for value in moves.values()}) > 1
    ]
    found = judge_by_truth(GAME, parse_player(GAME, "random"), known, limits=STATIC, seed=1)
    assert found.kept.value == pytest.approx(np.mean(chance), abs=0.1)
    assert found.kept.low <= float(np.mean(chance)) <= found.kept.high


@pytest.mark.plain
def test_positions_that_decide_nothing_are_refused() -> None:
    start = GAME.start()
    moves = Exhaustive(GAME).values(start)
    with pytest.raises(ValueError, match="expected positions in which a move throws something"):
        judge_by_truth(GAME, Player("random"), Known((start,), (moves,)), limits=STATIC)
    with pytest.raises(ValueError, match="expected positions with more than one legal move"):
        known_values(GAME, "truth", [GAME.parse_position("XOXXOOOX. X")])
    with pytest.raises(ValueError, match="referee: expected one of truth for tic_tac_toe, found"):
        known_values(GAME, "hand", [start])


def test_random_positions_of_so_many_plies() -> None:
    game = ConnectFour()
    positions = random_positions(game, 60, seed=2, least_plies=14, most_plies=17)
    stones = {(p[0] | p[1]).bit_count() for p in positions}
    assert stones == {14, 15, 16}
    with pytest.raises(ValueError, match="most_plies: expected more than least_plies"):
        random_positions(game, 1, least_plies=5, most_plies=5)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["judge", "connect_four", "hand", "random", "--positions", "30", "--seed", "4"]
    assert main([*arguments, "--referee", "truth", "--json"]) == 0
    out = capsys.readouterr().out
    solver = Solver()
    positions = random_positions(ConnectFour(), 30, seed=4, least_plies=14, most_plies=31)
    decisions = [p for p in positions if len({np.sign(v) for v in solver.values(p).values()}) > 1]
    assert f"30 positions of 14 to 30 random plies, {len(decisions)} of them decisions" in out
    assert "hand: keeps the class in " in out and '"judged": [{"player": "hand"' in out
    assert main([*arguments, "--referee", "truth", "--referee-depth", "3"]) == 2
    assert "--referee-depth: expected a referee that searches" in capsys.readouterr().err
