"""Judging players by truth: shares and losses worked out by hand, and by an independent count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from errors import errors_of

from games.checkers import Checkers
from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from games.tic_tac_toe import TicTacToe
from games.truth import Exhaustive
from play.__main__ import main
from play.judging.truth import (
    Referees,
    judge_by_games,
    judge_by_truth,
    known_values,
    random_positions,
)
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


def test_random_positions_of_so_many_plies() -> None:
    game = ConnectFour()
    positions = random_positions(game, 60, seed=2, least_plies=14, most_plies=17)
    stones = {(p[0] | p[1]).bit_count() for p in positions}
    assert stones == {14, 15, 16}
    assert positions == random_positions(game, 60, seed=2, least_plies=14, most_plies=17)
    assert positions != random_positions(game, 60, seed=3, least_plies=14, most_plies=17)
    checkers = Checkers()
    quiet = random_positions(checkers, 400, seed=1)
    assert len(set(quiet)) == 400
    for position in quiet:
        assert not checkers.noisy(position) and checkers.outcome(position) is None
        assert len(checkers.legal_moves(position)) > 1
    with pytest.raises(ValueError, match="most_plies: expected more than least_plies"):
        random_positions(game, 1, least_plies=5, most_plies=5)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["judge", "connect_four", "hand", "random", "--positions", "30", "--seed", "4"]
    assert main([*arguments, "--referee", "truth", "--json"]) == 0
    out = capsys.readouterr().out
    solver = Solver()
    positions = random_positions(ConnectFour(), 30, seed=4, least_plies=14, most_plies=31)
    decisions = [p for p in positions if len({np.sign(v) for v in solver.values(p).values()}) > 1]
    assert f"30 positions of 14 to 30 random plies, of which decisions: {len(decisions)};" in out
    assert "hand: keeps the class in " in out and '"judged": [{"player": "hand"' in out
    assert main([*arguments, "--referee", "truth", "--referee-depth", "3"]) == 2
    assert "--referee-depth: expected a game with dice" in capsys.readouterr().err
    assert " stones of Pons's score a move" in out
    small = ["judge", "tic_tac_toe", "open_lines", "--referee", "truth", "--positions", "30"]
    assert main(small) == 0
    out = capsys.readouterr().out
    assert "30 positions from all stages of random games, of which decisions: " in out
    assert out.endswith(" points a move\n")


@pytest.mark.plain
def test_whole_games_against_perfect_play() -> None:
    perfect = judge_by_games(GAME, parse_player(GAME, "open_lines@9"), "truth", 20, limits=STATIC)
    assert (perfect.wins, perfect.draws, perfect.losses) == (0, 20, 0)
    chance = parse_player(GAME, "random")
    found = judge_by_games(GAME, chance, "truth", 60, limits=STATIC, seed=1)
    assert found.wins == 0 and found.losses > 10 and found.draws + found.losses == 60
    assert found == judge_by_games(GAME, chance, "truth", 60, limits=STATIC, seed=1, threads=1)
    assert found != judge_by_games(GAME, chance, "truth", 60, limits=STATIC, seed=2)
    with pytest.raises(ValueError, match="games: expected at least 1, found 0"):
        judge_by_games(GAME, chance, "truth", 0, limits=STATIC)


@pytest.mark.plain
def test_perfect_play_varies_among_all_of_its_best_moves_and_no_others() -> None:
    class Watched(Exhaustive):
        def best(self, position: Any) -> list[Any]:
            moves = super().best(position)
            asked.append((position, moves))
            return moves

    class Game(TicTacToe):
        extras = (Referees({"watched": Watched}),)

    game, asked = Game(), []
    judge_by_games(game, parse_player(game, "open_lines"), "watched", 40, limits=STATIC)
    truth = Exhaustive(GAME)
    for position, moves in asked:
        values = truth.values(position)
        assert set(moves) == {m for m in values if values[m] == max(values.values())}
    replies = {position for position, _ in asked if sum(position[:2]).bit_count() == 3}
    first = asked[0]
    assert len(first[1]) > 1 and len(replies) == len(first[1])


@pytest.mark.plain
def test_a_first_player_that_never_errs_wins_every_game_of_nim() -> None:
    from games.nim import Nim

    game = Nim()
    assert max(Exhaustive(game).values(game.start()).values()) == 1  # won by the first player
    deep = Player("zero", as_evaluator(game, None), limits=Limits(depth=20))
    found = judge_by_games(game, deep, "truth", 15, limits=STATIC)
    assert (found.wins, found.draws, found.losses) == (15, 0, 0)


@pytest.mark.plain
def test_the_command_for_whole_games(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["judge", "tic_tac_toe", "open_lines@9", "--referee", "truth", "--games", "12"]
    assert main([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert "12 games, the judged moving first, at depth 1 or by limits of their own" in out
    assert "open_lines@9: 0 won, 12 drawn, 0 lost; wins 0.0% [0.0%, 22.1%]" in out
    assert '"wins": 0, "draws": 12, "losses": 0, "won": [0.0, 0.0, 0.22' in out


test_errors = errors_of(globals())
