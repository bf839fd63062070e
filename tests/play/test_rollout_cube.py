"""Rollouts with the cube: against exact endings, in matches, and their command."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest

from benchmarks.cube_endings import endings
from games import PositionError, kernels, load
from games.backgammon.bear_off import rank
from games.backgammon.doubling import CubefulStakes
from games.backgammon.situation import Situation
from play.__main__ import main
from play.rollout.cube import rollout_cube
from search import Engine
from search.expectiminimax.cubeful import best_afters

GAME: Any = load("backgammon")
RANK: Any = rank

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(GAME, "wide")


def home(mine: dict[int, int], theirs: dict[int, int]) -> Any:
    """Returns a position of sides with these checkers at home, X to move."""
    near = [
        sum(n << 4 * p for p, n in side.items()) + 15 - sum(side.values())
        for side in (mine, theirs)
    ]
    return near[0], 0, near[1], 0, 0


class Twin:
    """The exact value for money of what both sides do by static values, roll by roll."""

    def __init__(self, engine: Engine) -> None:
        self.search = engine.dice_search
        self.rolled = functools.cache(self._rolled)

    def _rolled(self, position: Any, cube: int, owner: int | None) -> float:
        turned = None if owner is None else 1 - owner
        afters, _, _ = best_afters(self.search, [position], CubefulStakes(), cube, owner)
        total = 0.0
        for chance, row in zip(GAME.rolls, afters.tolist(), strict=True):
            points = GAME.outcome(tuple(row))
            worth = self.offered(tuple(row), cube, turned) if points is None else points * cube
            total -= chance * worth
        return total

    def offered(self, position: Any, cube: int, owner: int | None) -> float:
        if owner != 1:
            outcomes = self.search.outcomes([position])
            waiting, taken = (
                CubefulStakes().values([position], outcomes, value, whose)[0]
                for value, whose in ((cube, owner), (2 * cube, 1))
            )
            if min(taken, cube) > waiting:
                if taken > cube:
                    return cube
                cube, owner = 2 * cube, 1
        return self.rolled(position, cube, owner)


@pytest.mark.parametrize(
    ("mine", "theirs", "owner"),
    [
        ({6: 1, 3: 1}, {5: 1, 2: 1}, None),
        ({6: 1, 3: 1}, {5: 1, 2: 1}, 0),
        ({5: 2}, {6: 1, 1: 2}, 0),
        ({1: 2, 2: 2}, {1: 4}, None),
    ],
    ids=str,
)
def test_endings_come_out_as_they_are_played(engine: Engine, mine: Any, theirs: Any,
                                             owner: int | None) -> None:  # fmt: skip
    position, twin = home(mine, theirs), Twin(engine)
    found = rollout_cube(engine, Situation(position, owner=owner), games=1296, truncate=None)
    for value, true, interval in (
        (found.waiting, twin.rolled(position, 1, owner), found.intervals[0]),
        (found.taken, twin.rolled(position, 2, 1), found.intervals[1]),
    ):
        assert interval < 0.05
        assert abs(value - true) < 1.5 * interval + 1e-9
    # the best that both could do is not far
    exact, at = endings(4), (RANK(position[0]), RANK(position[2]))
    best = (exact.middle if owner is None else exact.own)[at]
    assert found.waiting == pytest.approx(best, abs=0.05)
    assert found.decision.no_double == pytest.approx(found.waiting)


def test_luck_is_taken_off_and_a_truncated_game_counts_as_it_stands(engine: Engine) -> None:
    """After one ply the mean is that of all rolls, exactly, whatever was rolled."""
    position = GAME.start()
    one, other = (
        rollout_cube(engine, Situation(position, match_length=5), games=36, truncate=1, seed=seed)
        for seed in (1, 2)
    )
    assert one.waiting == pytest.approx(other.waiting, abs=0.01)
    values = engine.roll_values(Situation(position, match_length=5))
    assert one.waiting == pytest.approx(float(values @ np.array(GAME.rolls)), abs=0.02)
    assert 0 < one.taken < 1


def test_bad_input_is_refused(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PositionError, match="expected a side that may double"):
        rollout_cube(engine, Situation(GAME.start(), cube=2, owner=1))
    with pytest.raises(ValueError, match="games: expected at least 1, found 0"):
        rollout_cube(engine, Situation(GAME.start()), games=0)
    with pytest.raises(ValueError, match="expected an evaluator that gives chances of outcomes"):
        rollout_cube(Engine(GAME, "hand"), Situation(GAME.start()))
    command = ["rollout", "backgammon", "4HPwATDgc/ABMA", "hand", "--cube", "--roll", "31"]
    assert main(command) != 0
    assert "--roll: expected it without --cube, found both" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("position", "unit"),
    [
        ("4HPwATDgc/ABMA:cAkAAAAAAAAA", "points: no double 0.1"),
        (
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:7:10",
            "chance to win the match: no double 0.5",
        ),
    ],
)
def test_the_command_tells_the_decision(
    position: str, unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["rollout", "backgammon", position, "wide", "--cube"]
    assert main([*command, "--games", "36", "--truncate", "2", "--json"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert "no double, take" in lines[0]
    assert lines[1].strip().startswith(unit)
    figures = json.loads(last)["rolled_out"][0]
    assert figures["games"] == 36
    assert len(figures["intervals"]) == 3
