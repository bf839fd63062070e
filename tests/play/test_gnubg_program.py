"""GNU Backgammon itself as a player with the cube."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from games import load
from games.backgammon.doubling import CubefulStakes, match_equities
from games.backgammon.match_file import read_matches
from games.backgammon.situation import Situation, position_of, roll_of
from games.contract import starts
from play.__main__ import main
from play.players import gnubg_program
from play.players.gnubg import GnubgNetworks
from play.players.gnubg_program import GnubgCubeSeat, find_gnubg
from play.players.limits import STATIC
from play.players.player import Player

GAME: Any = load("backgammon")
installed = pytest.mark.skipif(find_gnubg() is None, reason="GNU Backgammon is not installed")


def last_roll(*points: int, side: int = 0, **options: Any) -> Situation:
    """Returns a situation in which the game ends with this roll, or the other side wins."""
    own, theirs = [0] * 26, [0] * 26
    for point in points:
        own[point] += 1
    theirs[1] = 1
    return Situation(position_of(own, theirs, side), **options)


def scored(behind: int, ahead: int, side: int = 0, **options: Any) -> Situation:
    score = (behind, ahead) if side == 0 else (ahead, behind)
    return Situation(starts(GAME)[side], match_length=7, score=score, **options)


@pytest.fixture(scope="module")
def seat() -> GnubgCubeSeat:
    return GnubgCubeSeat(GAME, 0)


@installed
@pytest.mark.parametrize("side", [0, 1])
def test_it_doubles_and_takes_at_the_score(seat: GnubgCubeSeat, side: int) -> None:
    assert seat.decision(scored(4, 6, side)).double  # after the Crawford game
    assert not seat.decision(scored(6, 4, side)).double
    assert not seat.decision(scored(4, 5, side)).double
    # 26 of 36 rolls take both checkers off, 19 with the second pair of points, 36 with the third
    assert seat.decision(last_roll(4, 1, side=side)).double
    assert seat.decision(last_roll(5, 2, side=side)).double
    for points, right in (((5, 2), True), ((1, 1), False)):
        offered = last_roll(*points, side=side, offered="double")
        assert seat.decision(offered).take is right
    # the side that is doubled wins 17 of 36: enough for money, too little if it is far ahead
    ahead = last_roll(5, 2, side=side, match_length=7, cube=4, owner=side, offered="double")
    scores = {True: (0, 0), False: (0, 6)}
    table = match_equities(25)
    for take, score in scores.items():
        at = replace(ahead, score=score if side == 0 else score[::-1])
        stakes = CubefulStakes.of_situation(at, lambda _: table).turned()
        worth = 17 / 36 * stakes.points(0, 8) + 19 / 36 * stakes.points(0, -8)
        assert (worth > stakes.points(0, -4)) is take, score
        assert seat.decision(at).take is take, score


@installed
def test_it_moves_in_the_crawford_game_and_in_a_match_of_a_point(seat: GnubgCubeSeat) -> None:
    roll = roll_of(3, 1)
    best = GAME.parse_move(GAME.start(), "8/5 6/5", roll)
    crawford = scored(2, 6, crawford=True, roll=roll)
    point = Situation(GAME.start(), match_length=1, roll=roll)
    for situation in (crawford, point, Situation(GAME.start(), jacoby=True, roll=roll)):
        assert seat.choose_at(situation) == best


@installed
def test_the_program_ends_with_its_seat() -> None:
    seat = GnubgCubeSeat(GAME, 0)
    assert not seat.decision(Situation(GAME.start())).double
    assert seat._running is not None
    process = seat._running[1]._process
    assert process.poll() is None
    del seat
    gc.collect()
    assert process.poll() is not None


@installed
def test_a_match_is_played_to_its_end(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("gnubg_nn")
    file = tmp_path / "match.mat"
    words = ["--match", "3", "--games", "2", "--threads", "1", "--quiet", "--save", str(file)]
    assert main(["match", "backgammon", "wide", "gnubg:0", *words]) == 0
    assert "matches 2: won" in capsys.readouterr().out
    for number in (1, 2):  # of a file with several matches GNU Backgammon reads only the first
        one = tmp_path / f"match-{number}.mat"
        (match,) = read_matches(one.read_text("utf-8"), GAME)
        assert match.match_length == 3


def test_without_the_program_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gnubg_program, "find_gnubg", lambda: None)
    with pytest.raises(ModuleNotFoundError, match="expected GNU Backgammon to be installed"):
        Player("gnubg:0", program=GnubgNetworks("gnubg", 0)).seat(GAME, STATIC, cube=True)
