"""Judging players by truth: shares and losses worked out by hand, and by an independent count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from errors import errors_of

import games
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
    assert " stones of Pons's score a move" in out
    early = random_positions(ConnectFour(), 30, seed=4, least_plies=1, most_plies=14)
    decisions = [p for p in early if len({*solver.classes(p).values()}) > 1]
    assert f"30 positions of 1 to 13 random plies, of which decisions: {len(decisions)};" in out
    assert out.index("13 random plies") < out.index("30 random plies") and " points a move" in out
    assert '"plies": [1, 13]' in out and '"plies": [14, 30]' in out
    small = ["judge", "tic_tac_toe", "open_lines", "--referee", "truth", "--positions", "30"]
    assert main(small) == 0
    out = capsys.readouterr().out
    assert "30 positions from all stages of random games, of which decisions: " in out
    assert out.endswith(" points a move\n")


class Late(Exhaustive):
    """The truth of a small game, valued only from the fifth move on, where one move is best."""

    plies = (4, 64)

    def best(self, position: Any) -> list[Any]:
        return super().best(position)[-1:]


class LateGame(TicTacToe):
    extras = (Referees({"truth": Late}),)


@pytest.mark.plain
def test_whole_games_are_on_both_sides_and_opponents_err_once() -> None:
    game, truth, player = LateGame(), Late(GAME), parse_player(LateGame(), "random")
    turns: list[list[tuple[Any, int]]] = []  # the record and the ply of each turn, by game

    class Seat:
        def __init__(self, *given: Any) -> None:
            self.seat = player.seat(*given)

        def begin(self, seed: int) -> None:
            self.seat.begin(seed)
            turns.append([])

        def move(self, record: Any) -> None:
            turns[-1].append((record, record.ply))
            self.seat.move(record)

    given: dict[str, Any] = {"limits": STATIC, "threads": 1}
    found = judge_by_games(game, Player("watched", program=Seat), "truth", 300, seed=3, **given)
    kept: dict[int, list[bool]] = {0: [], 1: []}
    errors, choices, first_plies = [], [], set()
    for record, ply in (game[0] for game in turns if game):
        side, positions = ply % 2, [*record.positions]
        lost, thrown, erred = True, False, 0
        for at in range(ply, record.ply):
            classes = truth.classes(positions[at])
            best, chosen = max(classes.values()), classes[record.moves[at]]
            if at % 2 == side:
                lost, thrown = lost and best == -1, thrown or chosen < best
            elif chosen < best:
                erred += 1
            elif at < 4:
                choices.append(([*classes.values()].count(best), record.moves[at]))
            else:
                assert [record.moves[at]] == truth.best(positions[at])
        assert record.over or thrown
        assert erred <= 1
        if not lost:
            kept[side].append(not thrown)
            errors.append(erred)
            first_plies.add(ply)
    assert [len(kept[side]) for side in (0, 1)] == [150, 150]
    assert found.kept.value == pytest.approx(np.mean(kept[0] + kept[1]))
    assert (found.first.value, found.second.value) == tuple(np.mean(kept[side]) for side in (0, 1))
    assert 0 < found.first.value < 1 and 30 < sum(errors) < 300
    assert first_plies >= {*range(8)}
    assert len({move for count, move in choices if count > 1}) == 9  # any move that keeps the class
    plain = judge_by_games(game, player, "truth", 60, seed=1, limits=STATIC)
    assert plain == judge_by_games(game, player, "truth", 60, seed=1, **given)
    assert plain != judge_by_games(game, player, "truth", 60, seed=2, **given)
    with pytest.raises(ValueError, match="games: expected at least 2, one on each side, found 1"):
        judge_by_games(game, player, "truth", 1, **given)


@pytest.mark.plain
@pytest.mark.parametrize("name", ["tic_tac_toe", "nim"])
def test_a_player_that_searches_to_the_end_keeps_all_classes(name: str) -> None:
    game = games.load(name)
    deep = Player("zero", as_evaluator(game, None), limits=Limits(depth=20))
    found = judge_by_games(game, deep, "truth", 40, limits=STATIC)
    assert (found.kept.value, found.first.value, found.second.value) == (1.0, 1.0, 1.0)


@pytest.mark.plain
def test_the_command_for_whole_games(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["judge", "tic_tac_toe", "open_lines@9", "--referee", "truth", "--games", "12"]
    assert main([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert "12 games from 0 to 8 random plies, the judged moving first in every other one" in out
    assert (
        "open_lines@9: keeps the class in 100.0% [73.5%, 100.0%] of 12 games, moving first" in out
    )
    assert '"games": 12, "kept": [1.0, 0.73' in out


test_errors = errors_of(globals())
