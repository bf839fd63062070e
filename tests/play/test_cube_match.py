"""Matches with the cube, for money and to a number of points."""

from __future__ import annotations

import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from games import load
from games.backgammon.doubling import DoublingCube, MatchEquities
from games.backgammon.match_file import read_matches
from games.backgammon.record import BackgammonRecord
from play.__main__ import main
from play.dice import Dice
from play.matches.driver import play_match
from play.matches.loop import play_with_dice
from play.matches.units import CubePairs, Terms
from play.players.limits import Limits
from play.players.parse import parse_player

GAME: Any = load("backgammon")


class Scripted:
    """Plays the first legal move; doubles at a ply, and takes or drops as it is told."""

    def __init__(self, doubles_at: int = -1, take: bool = True, greedy: bool = False) -> None:
        self.doubles_at, self.take, self.greedy = doubles_at, take, greedy
        self.asked: list[Any] = []
        self.ply = 0

    def begin(self, stream: int, side: int) -> None:
        self.ply = 0

    def decision(self, situation: Any) -> Any:
        self.asked.append(situation)
        double = self.greedy or self.ply == self.doubles_at
        return SimpleNamespace(double=double, take=self.take)

    def choose_at(self, situation: Any) -> Any:
        self.ply += 1
        return GAME.legal_moves(situation.position, situation.roll)[0]


def played(first: Scripted, second: Scripted, **options: Any) -> BackgammonRecord:
    record = BackgammonRecord(GAME, **options)
    play_with_dice(record, (first, second), Dice(GAME, 3), 17)
    return record


def test_a_double_that_is_dropped_ends_the_game() -> None:
    record = played(Scripted(doubles_at=2), Scripted(take=False))
    assert (record.outcome(), record.reason, record.ply) == (1.0, "double dropped", 4)
    assert [action.kind for action in record.actions] == ["double", "drop"]


def test_a_double_that_is_taken_gives_the_cube_away() -> None:
    first, second = Scripted(doubles_at=2), Scripted()
    record = played(first, second)
    assert record.cube == 2 and record.owner == 1 and abs(record.outcome() or 0) in (2, 4, 6)

    assert len([s for s in first.asked if s.owner == 1]) == 0  # X has no access any more
    assert any(situation.offered == "double" for situation in second.asked)


def test_nobody_doubles_in_the_first_turn_or_the_crawford_game() -> None:
    greedy = Scripted(greedy=True), Scripted(greedy=True, take=False)
    record = played(*greedy)
    actions = [(action.ply, action.kind) for action in record.actions]
    assert actions == [(1, "double"), (1, "take"), (2, "double"), (2, "drop")]
    greedy = Scripted(greedy=True), Scripted(greedy=True)
    record = played(*greedy, match_length=3, score=(2, 0), crawford=True)
    assert record.actions == [] and record.over and greedy[0].asked == []


def play_to(length: int, seats: Any, **options: Any) -> list[Any]:
    """The games of the first match with the dice of seed 1."""
    players = [parse_player(GAME, "wide")] * 2
    units = CubePairs(GAME, players, Terms(Limits(0), 1, length=length, **options))
    return [*units.sitting(0, lambda one, stream: play_with_dice(one, seats, units.dice, stream))]


def test_a_match_is_played_to_its_end() -> None:
    seats = Scripted(doubles_at=3), Scripted(doubles_at=5)
    records = play_to(5, seats)
    score = (0, 0)
    for number, record in enumerate(records):
        assert record.score == score and max(score) < 5 and record.match_length == 5
        before = [max(other.score) == 4 for other in records[:number]]
        assert record.crawford == (max(score) == 4 and not any(before))
        score = record.final_score()
    assert max(score) >= 5
    (money,) = play_to(0, seats, jacoby=True)
    assert money.jacoby and money.match_length == 0
    again = play_to(5, seats)
    assert again == records  # the dice depend on the number of the pair alone


@pytest.mark.parametrize("length", [0, 3])
def test_equal_players_win_and_lose_the_same(length: int) -> None:
    """Both halves of a pair have the same dice, so that equal players play the same game twice."""
    player = parse_player(GAME, "wide")
    match = play_match(GAME, player, player, length=length, games=6, threads=1, keep_records=True)
    assert len(match.points) == 3 and match.games == 6
    assert all(mine == -theirs != 0 for mine, theirs in match.points)
    assert all(unit.sittings[0] == unit.sittings[1] for unit in match.units)
    assert match.actions("double") and match.played == sum(len(unit.games) for unit in match.units)
    assert play_match(GAME, player, player, length=length, games=6).points == match.points
    if length:
        assert {abs(point) for pair in match.points for point in pair} == {1.0}
    else:  # the cube makes no gammon of a game
        ends = [record.position for unit in match.units for record in unit.games]
        kinds = [abs(GAME.outcome(end) or 1.0) for end in ends]
        summary = match.summary()
        assert summary.won(2.0) + summary.lost(2.0) == sum(kind >= 2 for kind in kinds)
        assert max(abs(point) for pair in match.points for point in pair) >= 2 > max(kinds)


def test_the_command_writes_matches_that_are_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.mat"
    command = ["match", "backgammon", "wide", "wide", "--match", "3", "--games", "4"]
    assert main([*command, "--quiet", "--save", str(path), "--json"]) == 0
    shown = capsys.readouterr().out
    assert "matches to 3 points" in shown and "matches 4: won 2, 50.0 %" in shown
    files = [tmp_path / f"m-{number}.mat" for number in range(1, 5)]
    assert sorted(tmp_path.iterdir()) == files  # one each, as GNU Backgammon reads only the first
    matches = [match for file in files for match in read_matches(file.read_text(), GAME)]
    assert len(matches) == 4 and {match.match_length for match in matches} == {3}
    for match in matches:
        assert match.players == ("wide", "wide")
        assert all(read.record and read.problems == [] for read in match.games)
        last = match.games[-1].record
        assert last is not None and max(last.final_score() or (0, 0)) >= 3
    assert main([*command[:4], "--cube", "--jacoby", "--games", "2", "--quiet"]) == 0
    assert "games for money with the cube" in capsys.readouterr().out


def test_the_table_decides() -> None:
    level = np.array([[0.5, 0.9, 0.95], [0.1, 0.5, 0.8], [0.05, 0.2, 0.5]])
    changed = copy.copy(GAME)
    changed.cube = DoublingCube(MatchEquities(level, np.array([0.5, 0.5, 0.3])))
    situation = BackgammonRecord(GAME, match_length=3).situation()
    even = (0.5, 0.13, 0.005, 0.13, 0.005)
    decisions = [game.cube.decision(situation, even).chances[2] for game in (GAME, changed)]
    assert decisions[1] == 0.8 and decisions[0] < 0.7
