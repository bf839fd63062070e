"""Levels for people: their names, the same move at every visit, errors by what they cost."""

from __future__ import annotations

import asyncio
import json
import re
from math import erf
from typing import Any

import pytest

import games
from games.record import GameRecord
from games.tic_tac_toe import TicTacToe
from play.players.levels import Levels, levels_of, usual_level
from play.players.limits import Limits
from play.players.opponents import usual_evaluator
from play.players.parse import parse_player, seated
from play.terminal import Session
from play.web.catalogue import LEVEL, Catalogue
from play.web.thinking import Question, Thinking
from search import PythonEvaluator
from search.evaluators.files.shipped import DATA
from search.evaluators.noise import NoisyEvaluator
from search.evaluators.samples import sample_positions

LEAST = {"nim": 3, "tic_tac_toe": 3}
MEASURED = sorted((DATA.parent / "docs" / "figures").glob("levels-*.json"))


@pytest.mark.parametrize("name", games.names())
def test_every_game_has_levels_by_name_and_only_the_strongest_looks_at_the_clock(name: str) -> None:
    game = games.load(name)
    levels = levels_of(game)
    assert len(levels) >= LEAST.get(name, 6)
    assert [*levels][(len(levels) - 1) // 2] == usual_level(game)
    *below, strongest = [parse_player(game, level) for level in levels]
    assert (strongest.limits, levels[strongest.name]) == (None, usual_evaluator(game))
    for player in below:
        assert player.limits is not None
        assert player.limits.seconds is None


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.stem)
def test_each_level_was_measured_as_it_is_and_beats_the_one_below_but_not_always(path: Any) -> None:
    """The tables of `docs/results/play.md`: the players of today, 60 to 85 % of the points."""
    rows = json.loads(path.read_text("utf-8"))["figures"]["rows"]
    levels = levels_of(games.load(path.stem.removeprefix("levels-")))
    assert {row[0]: row[1].split("`")[1] for row in rows} == levels
    measured = [(score, count) for _, _, score, count in rows[1:] if score != "not measured"]
    assert 2 * len(measured) >= len(rows) - 1
    for score, count in measured:
        share, low, high = map(float, re.findall(r"[0-9.]+", score))
        assert 60 <= share <= 85
        assert low > 55 and high < 90
        assert int(count.replace(",", "")) >= 40


def test_a_game_without_levels_of_its_own_gets_them_from_its_evaluator() -> None:
    class Own(TicTacToe):
        extras = (Levels(),)  # as a game that lists none

    assert [text.partition("@")[0] for text in levels_of(Own()).values()] == ["open_lines"] * 6
    assert levels_of(games.load("checkers"))["level1"] != levels_of(Own())["level1"]


async def _moves_in_the_page(game: Any, level: str, positions: list[Any]) -> list[Any]:
    loaded = Catalogue(DATA, DATA / "runs").load(f"{LEVEL}:{game.name}/{level}", game)
    thinking, moves = Thinking(), []
    for position in positions:
        question = Question(game, loaded, position)
        moves.append((await thinking.search(question, lambda news: None))["move"])
    thinking.close()
    return moves


@pytest.mark.parametrize("level", ["level1", "level2"])
def test_a_position_is_met_with_the_same_move_everywhere(level: str) -> None:
    """In a match by any seed, after other positions, and in the page."""
    game = TicTacToe()
    places = [p for p in sample_positions(game, 60) if game.outcome(p) is None]
    seat = seated(game, level, Limits(depth=9))
    moves = [seat.decide(GameRecord(game, position)).move for position in places]
    seat.begin(7)
    again = [seat.decide(GameRecord(game, position)).move for position in reversed(places)]
    assert again[::-1] == moves
    assert asyncio.run(_moves_in_the_page(game, level, places)) == moves
    strongest = seated(game, [*levels_of(game)][-1], Limits(depth=9))
    best = [strongest.decide(GameRecord(game, position)).move for position in places]
    assert moves != best


def test_a_mistake_is_the_rarer_the_more_it_costs() -> None:
    """Of two moves the worse is chosen by the normal law of the difference of two errors."""
    game = TicTacToe()
    noisy = NoisyEvaluator(PythonEvaluator(game, lambda position: position[1]), amplitude=1.0)
    value, count = noisy.plain(), 4000
    places = sample_positions(game, 60)
    assert noisy.values(places).tolist() == [value(place) for place in places]
    for cost in (0.0, 0.5, 1.0, 2.0):
        worse = sum(value((n, 0, 0)) > value((n, cost, 1)) for n in range(count)) / count
        expected = 0.5 * (1 - erf(cost / 2))
        assert abs(worse - expected) < 4 * (expected * (1 - expected) / count) ** 0.5 + 0.005


def test_hints_in_the_terminal_are_without_a_level_s_errors() -> None:
    game = TicTacToe()
    adviser = seated(game, "open_lines@9", Limits(depth=9))
    session = Session(game, seated(game, "level1", Limits(depth=9)), adviser=lambda: adviser)
    assert next(session.answer("hint")).startswith("open_lines@9 at depth 9")
    assert session.thinker.name == "level1"
