"""The search with a cube, against exact endings and a slow twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dice_twin import BACKGAMMON, RACE_OUTCOMES, PlainFace, played
from interrupts import ctrl_c

from benchmarks.cube_endings import endings
from games import kernels
from games.backgammon import Backgammon
from games.backgammon.bear_off import unrank
from games.backgammon.doubling import DoublingCube, MatchEquities, match_equities
from games.backgammon.situation import Situation, position_of
from search import Engine, PythonEvaluator, as_evaluator
from search.expectiminimax.cubeful import searched_values
from search.lookups.database import DatabaseLookup

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


def racing(own: int, theirs: int) -> Any:
    sides = [[0, *(unrank(number) >> 4 * k & 15 for k in range(1, 7)), *[0] * 19]
             for number in (own, theirs)]  # fmt: skip
    return position_of(*sides, 0)


def test_searches_to_the_end_of_a_game_give_exact_values() -> None:
    """Two checkers a side are off after at most four rolls; moves follow exact values."""
    exact, size = endings(2), len(endings(2).own)
    lookup = DatabaseLookup(BACKGAMMON, "bearoff")
    search = Engine(BACKGAMMON, "wide", lookup=lookup)._search
    for own in range(1, size, 2):
        for theirs in range(own % 20 + 1, size, 20):
            for owner, table in ((None, exact.middle), (0, exact.own)):
                situation = Situation(racing(own, theirs), owner=owner)
                waiting, taken = searched_values(search, situation, 6)
                assert waiting == pytest.approx(table[own, theirs], abs=1e-6)
                assert taken == pytest.approx(2 * exact.theirs[own, theirs], abs=1e-6)


class Twin:
    """The same values by recursion over positions, one at a time."""

    def __init__(self, game: Any, evaluator: Any) -> None:
        self.game, self.evaluator = game, evaluator

    def outcomes(self, position: Any) -> Any:
        if self.game.outcome(position) is None:
            return self.evaluator.outcomes([position])
        found = np.zeros(5)
        self.game.outcomes.finished(position, found)
        return found[None]

    def static(self, position: Any, stakes: Any, cube: int, owner: Any) -> float:
        return float(stakes.values([position], self.outcomes(position), cube, owner)[0])

    def kept(self, afters: Any) -> Any:
        """Returns the four replies that are best by the prefilter, within 0.1 of the best."""
        ends = [self.game.outcome(after) for after in afters]
        cheap = self.evaluator.prefilter.evaluator
        ranks = [cheap(after) if end is None else end
                 for after, end in zip(afters, ends, strict=True)]  # fmt: skip
        order = sorted(range(len(afters)), key=lambda n: ranks[n])
        return [afters[n] for n in order[:4] if ranks[n] <= min(ranks) + 0.1]

    def rolling(self, position: Any, stakes: Any, now: Any, chosen_for: Any, depth: int) -> float:
        if depth == 0 or self.game.outcome(position) is not None:
            return self.static(position, stakes, *now)
        theirs, total = stakes.turned(), 0.0
        for roll, chance in enumerate(self.game.rolls):
            moves = self.game.legal_moves(position, roll)
            afters = self.kept([self.game.play(position, move) for move in moves])
            worth = [self.static(after, theirs, *turned(chosen_for)) for after in afters]
            after = afters[worth.index(min(worth))]
            total += chance * self.offered(
                after, theirs, turned(now), turned(chosen_for), depth - 1
            )
        return float(stakes.turned_values(np.array(total)))

    def offered(self, position: Any, stakes: Any, now: Any, chosen_for: Any, depth: int) -> float:
        cube, owner = now
        value = self.rolling(position, stakes, now, chosen_for, depth)
        if not stakes.can_double(0, cube, owner):
            return value
        taken = self.rolling(position, stakes, (2 * cube, 1), chosen_for, depth)
        return max(value, min(taken, stakes.points(0, cube)))


def turned(now: Any) -> Any:
    return now[0], None if now[1] is None else 1 - now[1]


@pytest.mark.parametrize("score", [None, (0, 0), (5, 2), (3, 5)])
def test_the_search_agrees_with_a_slow_twin(score: Any) -> None:
    engine = Engine(BACKGAMMON, "wide")
    twin = Twin(BACKGAMMON, engine.evaluator)
    match = {"jacoby": True} if score is None else {"match_length": 7, "score": score}
    for position, _ in played(BACKGAMMON, 5, 1):
        situation = Situation(position, **match)
        stakes, owner = BACKGAMMON.cube.stakes(situation)
        found = searched_values(engine._search, situation, 1)
        for value, now in zip(found, ((1, owner), (2, 1)), strict=True):
            expected = twin.rolling(position, stakes, now, now, 1)
            assert value == pytest.approx(expected, abs=1e-9)


def test_the_plain_search_finds_the_same() -> None:
    class Ratings(PythonEvaluator):
        gives_outcomes = True

        def outcomes(self, positions: Any) -> Any:
            return RACE_OUTCOMES.outcomes(positions)

    class Face(PlainFace):
        cube = BACKGAMMON.cube

    position, face = racing(30, 25), Face(BACKGAMMON)
    values = [
        searched_values(Engine(game, evaluator)._search, Situation(position), 1)
        for game, evaluator in (
            (BACKGAMMON, RACE_OUTCOMES),
            (face, Ratings(face, RACE_OUTCOMES.plain())),
        )
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_a_game_takes_a_match_equity_table_of_its_own() -> None:
    own = match_equities(7)
    before = own.before.copy()
    before[6, 5], before[5, 6] = 0.25, 0.75
    other = MatchEquities(before, own.after)
    situation = Situation(BACKGAMMON.start(), match_length=7)
    own_game = Backgammon()
    own_game.cube = DoublingCube(other)
    usual, changed = (
        Engine(game, "wide").cube(situation, depth=1).chances for game in (BACKGAMMON, own_game)
    )
    assert usual[2] == pytest.approx(own.before[5, 6]) and changed[2] == 0.75


def test_a_search_that_ran_out_of_nodes_leaves_a_decision() -> None:
    evaluator = as_evaluator(BACKGAMMON, "wide")  # which consults no database
    engine = Engine(BACKGAMMON, evaluator, filters="normal")
    situation = Situation(racing(900, 800))
    depth = engine.search(situation.position, nodes=3000).depth
    assert depth >= 1
    engine.clear()
    decision = engine.cube(situation, nodes=3000)
    assert decision == Engine(BACKGAMMON, evaluator, filters="normal").cube(situation, depth=depth)


def test_ctrl_c_ends_the_search_for_a_decision() -> None:
    engine = Engine(BACKGAMMON, "wide", filters="normal")
    with ctrl_c(), pytest.raises(KeyboardInterrupt):
        engine.cube(Situation(BACKGAMMON.start()), nodes=1_000_000_000)
