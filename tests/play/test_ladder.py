"""Round robins in games with dice: standings, their intervals, and the command line."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from toys import Walk

from games.backgammon import Backgammon
from play.__main__ import main
from play.matches.driver import play_match
from play.matches.ladder import ladder, standings
from play.matches.report import Match
from play.matches.units import Unit
from play.players.limits import STATIC
from play.players.player import Player
from play.ratings.statistics import mean_interval
from search import PythonEvaluator

plain = pytest.mark.plain


GAME = Walk(6)
FAST = Player("fast", PythonEvaluator(GAME, lambda position: position[1] - position[0]))
SLOW = Player("slow", PythonEvaluator(GAME, lambda position: position[0] - position[1]))
RANDOM = Player("random")


def match(first: str, second: str, *points: tuple[float, float]) -> Match:
    units = [Unit(tuple((point, -point) for point in pair)) for pair in points]
    return Match(Backgammon(), (first, second), STATIC, units=units)  # of -3 to 3 points


@plain
def test_every_match_of_a_ladder_is_the_match_of_its_two() -> None:
    players = [SLOW, RANDOM, FAST]
    found, matches = ladder(GAME, players, games=60, seed=4, threads=1)
    assert [m.names for m in matches] == [("slow", "random"), ("slow", "fast"), ("random", "fast")]
    by_name = {player.name: player for player in players}
    for one in matches:
        alone = play_match(GAME, *map(by_name.get, one.names), games=60, seed=4, threads=1)
        assert alone.points == one.points
    assert [one.name for one in found] == ["fast", "random", "slow"]
    assert [one.games for one in found] == [120, 120, 120]
    assert sum(one.points.value for one in found) == pytest.approx(0.0, abs=1e-12)


@plain
def test_standings_by_hand() -> None:
    found = standings(
        [
            match("a", "b", (2, -1), (1, 1), (-1, 3)),
            match("a", "c", (-1, -1), (1, -3), (2, 2)),
            match("b", "c", (1, 1), (1, -1), (-2, 1)),
        ]
    )
    # A unit is the mean result of the pairs with one number against both others, in four games.
    units = {
        "a": [(1 - 2) / 4, (2 - 2) / 4, (2 + 4) / 4],
        "b": [(-1 + 2) / 4, (-2 + 0) / 4, (-2 - 1) / 4],
        "c": [(2 - 2) / 4, (2 - 0) / 4, (-4 + 1) / 4],
    }
    assert [one.name for one in found] == ["a", "c", "b"]
    for one in found:
        assert one.games == 12
        assert one.points == mean_interval(units[one.name], bounds=(-3.0, 3.0))


@plain
def test_standings_of_matches_of_different_lengths() -> None:
    played = [match("a", "b", (2, -1), (1, 1), (-1, 3), (1, 2)), match("a", "c", (-1, -1), (3, 1))]
    found = {one.name: one for one in standings([*played, match("b", "c")])}
    assert {name: one.games for name, one in found.items()} == {"a": 12, "b": 8, "c": 4}
    assert found["a"].points.value == pytest.approx((8 + 2) / 12)
    assert found["b"].points.value == pytest.approx(-8 / 8)
    # The ratio of points to games over the numbers of the pairs, by the delta method.
    points, counts = np.array([-1.0, 6.0, 2.0, 3.0]), np.array([4.0, 4.0, 2.0, 2.0])
    rest = points - 10 / 12 * counts
    error = math.sqrt((rest**2).sum() / 3 / 4) / counts.mean()
    student = 3.182446  # 97.5 % with three degrees of freedom
    assert found["a"].points.margin == pytest.approx(student * error, rel=1e-5)


@plain
def test_an_interrupted_ladder_ranks_who_has_played() -> None:
    calls = []

    def progress(played: Match) -> None:
        calls.append(played)
        if len(calls) == 13:
            raise KeyboardInterrupt

    found, matches = ladder(
        GAME, [RANDOM, SLOW, FAST], games=20, seed=1, threads=1, progress=progress
    )
    assert [(len(m.units), m.interrupted) for m in matches] == [(10, False), (3, True)]
    assert {one.name: one.games for one in found} == {"random": 26, "slow": 20, "fast": 6}
    calls[:] = [matches[0]] * 12
    found, matches = ladder(
        GAME, [RANDOM, SLOW, FAST], games=20, seed=1, threads=1, progress=progress
    )
    assert {one.name: one.games for one in found} == {"random": 2, "slow": 2}


def test_ladder_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    players = ["random", "hand", "pips"]
    options = ["--games", "40", "--quiet", "--json", "--seed", "2"]
    command = ["ladder", "backgammon", *players, *options]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("depth 0 (GNU plies), same dice for all; points per game against all")
    assert re.search(r"^  1 hand +\+[0-9.]+ \[\+[0-9.]+, \+[0-9.]+\]  of 80 games$", out, re.M)
    assert re.search(r"^  3 random +-[0-9.]+ \[-[0-9.]+, -[0-9.]+\]  of 80 games$", out, re.M)
    assert re.search(r"^    random +-[0-9.]+ \[.*\]  of 40 games against hand$", out, re.M)
    figures = json.loads(out.splitlines()[-1])
    assert [one["name"] for one in figures["standings"]] == ["hand", "pips", "random"]
    assert [one["games"] for one in figures["matches"]] == [40, 40, 40]
    points = [one["points_per_game"][0] for one in figures["matches"]]
    assert figures["standings"][-1]["points_per_game"][0] == pytest.approx(
        (points[0] + points[1]) / 2
    )
    assert main(["match", "backgammon", "random", "pips", *options]) == 0
    alone = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert alone == figures["matches"][1]
    assert main([*command, "--jobs", "1"]) == 0
    again = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert again == figures
