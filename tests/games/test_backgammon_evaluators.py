"""Hand-crafted evaluators of backgammon."""

from __future__ import annotations

import numpy as np
import pytest

from games import load
from games.backgammon import linear_terms, race_terms, rules, terms
from games.backgammon.evaluators import EVALUATORS, HAND, PIPS
from games.backgammon.features import LINEAR
from games.backgammon.phases import RACE, phase
from games.backgammon.pips import other_side
from games.backgammon.rules import PROBABILITIES, START, packed
from search.evaluators.linear import LinearEvaluator

BACKGAMMON = load("backgammon")
plain = pytest.mark.plain

#: A term that is a difference, the term of which it is the difference, and whether it is 0 in a
#: race.
DIFFERENCES = {
    "board": (terms.home_points, True),
    "outposts": (terms.outside_points, True),
    "primes": (terms.prime, True),
    "barriers": (terms.barrier, False),
    "anchors": (terms.anchor, True),
    "prisoners": (terms.trapped, False),
    "stragglers": (terms.last_checker, True),
    "shut_outs": (terms.shut_out, False),
    "bars": (terms.on_bar, False),
    "loose_blots": (terms.blots, True),
    "loose_home_blots": (terms.home_blots, True),
    "stacks": (terms.stacked, True),
    "dead_checkers": (terms.out_of_play, True),
    "more_builders": (terms.builders, True),
    "gammon_lag": (race_terms.gammon_pips, True),
    "borne_off_lead": (terms.borne_off, False),
}


def play_games(choose, games, seed):
    """Returns every position of games whose moves `choose(candidates, generator, side)` picks."""
    generator = np.random.default_rng(seed)
    moves = np.zeros(rules.MOST_MOVES, dtype=np.int64)
    found = []
    for _ in range(games):
        position = START
        while True:
            found.append(position)
            roll = int(generator.choice(21, p=PROBABILITIES))
            count = rules.legal_moves(position, roll, moves)
            if not count:
                break
            after = [rules.play(position, int(move)) for move in moves[:count]]
            position = after[choose(after, generator, position[4])]
    return found


def anything(after, generator, side):
    return int(generator.integers(len(after)))


@pytest.fixture(scope="module")
def positions():
    """Returns positions of random games, including races and finished games."""
    return play_games(anything, 5, seed=3)


@plain
def test_differences_are_differences(positions):
    races = 0
    for position in positions[::11]:
        race = phase(position) == RACE
        races += race
        for name, (term, contact_only) in DIFFERENCES.items():
            difference = term(position) - term(other_side(position))
            found = linear_terms.TERMS[name](position)
            assert found == (0.0 if race and contact_only else difference), name
        total = terms.pips(other_side(position)) - terms.pips(position)
        assert linear_terms.lead(position) == pytest.approx(0 if race else 1.67 * total)
        chance = race_terms.race_chance(position) if race else 0.0
        assert linear_terms.race(position) == chance
        rolls = race_terms.rolls_left(other_side(position)) - race_terms.rolls_left(position)
        assert linear_terms.race_rolls(position) == (rolls if race else 0.0)
        gammons = race_terms.gammon_race(other_side(position)) - race_terms.gammon_race(position)
        assert linear_terms.race_gammons(position) == (gammons / 2 if race else 0.0)
    assert races
    sides = {"lead", "race", "race_rolls", "race_gammons"}
    assert set(DIFFERENCES) | sides == set(linear_terms.TERMS)


def test_weights_belong_to_terms():
    assert set(EVALUATORS) == {"pips", "hand"}
    for features, weights in EVALUATORS.values():
        assert features == LINEAR.name
        LinearEvaluator(BACKGAMMON, LINEAR, weights)
    assert set(HAND) == set(LINEAR.names) - {"loose_blots"}


def test_the_start_is_even_but_for_the_first_roll():
    assert LinearEvaluator(BACKGAMMON, LINEAR, HAND)(START) == 0.0
    # a prime in front of an enemy on the bar is good, to be that enemy is bad
    counts = [0] * 26
    counts[2] = counts[3] = counts[4] = counts[5] = counts[6] = counts[7] = 2
    counts[8] = 3
    theirs = [0] * 26
    theirs[25], theirs[6], theirs[13] = 1, 7, 7
    primed = (*packed(tuple(counts)), *packed(tuple(theirs)), 0)
    hand = LinearEvaluator(BACKGAMMON, LINEAR, HAND)
    assert 1.0 < hand(primed) < 4.0
    assert -4.0 < hand(other_side(primed)) < -1.0


def test_hand_beats_pips_and_pips_beats_chance():
    """At depth 0, `hand` wins about 2.3 points a game against `pips`, `pips` 2.7 against chance."""

    def best(weights):
        used = LINEAR.only(weights)
        numbers = np.array(list(weights.values()))

        def choose(after, generator, side):
            return int(np.argmin(used.measure(after) @ numbers))

        return choose

    hand, pips = best(HAND), best(PIPS)

    def points(first, second, games, seed):
        sides = [first, second]
        played = play_games(lambda a, g, side: sides[side](a, g, side), games, seed)
        over = [
            position for position in played if rules.outcome(position) == rules.outcome(position)
        ]
        assert len(over) == games
        return sum(rules.outcome(p) * (1 if p[4] == 0 else -1) for p in over) / games

    assert points(hand, pips, 15, seed=1) > 1.0
    assert points(pips, hand, 15, seed=2) < -1.0
    assert points(pips, anything, 15, seed=3) > 1.0
