"""Terms of backgammon against hand-worked positions, slow twins, and the rules themselves."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from games.backgammon import race_terms, rules, terms
from games.backgammon.features import EXPERT
from games.backgammon.kinds import KINDS
from games.backgammon.pips import other_side
from games.backgammon.rules import START, packed
from games.backgammon.shots import choosing_rolls, hitting_rolls, pips_lost
from games.kernels import is_kernel

pytestmark = pytest.mark.plain

ROLLS = [(a, b) for a in range(1, 7) for b in range(1, 7)]


def place(own, theirs, off=0, their_off=0):
    """Returns a position from {point: checkers}, each side by its own numbering.

    Checkers missing from 15, borne off ones included, are put on the own ace point.
    """
    boards = []
    for given, out in ((own, off), (theirs, their_off)):
        counts = [given.get(point, 0) for point in range(26)]
        counts[0] = out
        counts[1] += 15 - sum(counts)
        boards += packed(tuple(counts))
    return (*boards, 0)


def counts(position):
    """Returns the number of checkers of each side on points 0 to 25."""
    near, far, their_near, their_far, _ = position
    return tuple(
        [(low | high << 52) >> 4 * point & 15 for point in range(26)]
        for low, high in ((near, far), (their_near, their_far))
    )


@pytest.fixture(scope="module")
def positions():
    """Returns positions of random games, and of games in which each side likes to run or to hit."""
    generator = random.Random(1976)
    moves = np.zeros(rules.MOST_MOVES, dtype=np.int64)
    found = []
    for game in range(30):
        position = START
        while True:
            if generator.random() < 0.3:
                found.append(position)
            count = rules.legal_moves(position, generator.randrange(21), moves)
            if not count:
                found.append(position)
                break
            tried = [int(moves[generator.randrange(count)]) for _ in range(1 + game % 3)]
            after = [rules.play(position, move) for move in tried]
            position = max(after, key=lambda p: (p[1] >> 48, -terms.blots(other_side(p))))
    return found


# --- slow twins ------------------------------------------------------------------------------


def paths(own, theirs, dice):
    """Returns the sets of blots hit by each way to use the dice in order, or only the first."""
    found = {frozenset()}
    if not dice:
        return found
    bar = own[25]
    for source in [25] if bar else [p for p in range(1, 25) if own[p]]:
        target = source - dice[0]
        if target < 1 or theirs[25 - target] >= 2:
            continue
        after, them = own[:], theirs[:]
        after[source] -= 1
        after[target] += 1
        hit = frozenset([25 - target]) if them[25 - target] == 1 else frozenset()
        if hit:
            them[25 - target] = 0
        found |= {hit | more for more in paths(after, them, dice[1:])}
    return found


def hits(own, theirs):
    """Returns for each of the 36 rolls the sets of blots that it can hit."""
    known = {}
    for a, b in ROLLS:
        orders = [(a,) * 4] if a == b else [(a, b), (b, a)]
        if (b, a) in known:
            known[a, b] = known[b, a]
        else:
            known[a, b] = set().union(*(paths(own, theirs, dice) for dice in orders))
    return known


def escaping(point, theirs):
    """Returns the number of rolls that take a checker past the last block of the next six."""

    def blocked(at):
        return at >= 1 and theirs[25 - at] >= 2

    last = max((pips for pips in range(1, 7) if blocked(point - pips)), default=0)
    escaped = 0
    for a, b in ROLLS:
        reached = set()
        for dice in [(a,) * 4] if a == b else [(a, b), (b, a)]:
            at = 0
            for die in dice:
                at += die
                if blocked(point - at):
                    break
                reached.add(at)
        escaped += last == 0 or any(pips > last for pips in reached)
    return escaped


def kleinman(lead, total):
    return math.erf((lead + 4) / math.sqrt(max(total - 4, 1)))


def wasted(own):
    spare = 2 * max(own[1] - 1, 0) + max(own[2] - 1, 0) + max(own[3] - 3, 0)
    return spare + sum(own[point] == 0 for point in (4, 5, 6))


def to_save(own):
    if own[0]:
        return 0
    nearest = min([point for point in range(1, 6) if own[point]], default=6)
    return sum(n * max(point - 6, 0) for point, n in enumerate(own)) + nearest


def spread(own):
    on = [point for point in range(1, 26) for _ in range(own[point])]
    if not on:
        return 0.0
    middle = sum(on) // len(on)
    return sum(abs(point - middle) for point in on) / len(on) / 10


def twins(position):
    """Returns the value of every term, computed literally from its definition."""
    own, theirs = counts(position)
    board = range(1, 25)
    held = [point for point in range(1, 26) if own[point]]
    made = [point for point in board if own[point] >= 2]
    anchors = [point for point in made if 18 <= point]
    last = max(held, default=0)
    their_last = max((point for point in range(1, 26) if theirs[point]), default=0)
    back = [point for point in range(19, 26) for _ in range(own[point])]
    pips = sum(n * point for point, n in enumerate(own))
    their_pips = sum(n * point for point, n in enumerate(theirs))
    waste, their_waste = wasted(own), wasted(theirs)
    runs = [
        length
        for length in range(1, 8)
        for start in board
        if set(range(start, start + length)) <= set(made)
    ]
    closed = sum(theirs[point] >= 2 for point in range(1, 7))
    return {
        "pips": pips / 167,
        "borne_off": own[0] / 15,
        "blots": sum(own[p] == 1 for p in board) / 5,
        "home_blots": sum(own[p] == 1 for p in range(1, 7)) / 3,
        "on_bar": own[25] / 2,
        "shut_out": closed**2 / 36 if own[25] else 0,
        "home_points": sum(p <= 6 for p in made) / 6,
        "outside_points": sum(7 <= p <= 17 for p in made) / 5,
        "prime": max(runs, default=0) / 6,
        "barrier": sum(1 <= 25 - p <= 24 and own[25 - p] >= 2
                       for p in range(their_last - 6, their_last)) / 6,
        "containment": 1 - min(escaping(p, own) for p in range(18, 26)) / 36,
        "anchor": (25 - min(anchors)) / 7 if anchors else 0,
        "deep_anchor": (max(anchors) - 17) / 7 if anchors else 0,
        "last_checker": last / 25,
        "escapes": escaping(last, theirs) / 36,
        "trapped": sum(36 - escaping(p, theirs) for p in back) / 72,
        "to_pass": sum(n * max(p - (25 - their_last), 0) for p, n in enumerate(own)) / 60,
        "passed_pips": sum(n * p for p, n in enumerate(own) if p < 25 - their_last) / 60,
        "timing": (sum(own[p] * (p - 6) for p in range(7, 19))
                   + sum(max(own[p] - 2, 0) * (p - 3) for p in (4, 5, 6))) / 40,
        "stacked": sum(max(own[p] - 3, 0) for p in board) / 5,
        "out_of_play": sum(max(own[p] - 2, 0) for p in (1, 2)) / 5,
        "builders": sum(own[p] >= (3 if p < 7 else 1) for p in range(4, 13)) / 5,
        "gaps": sum(own[p] < 2 <= min(own[p - 1], own[p + 1]) for p in range(2, 8)) / 3,
        "spread": spread(own),
        "waste": waste / 10,
        "rolls_left": max((pips + waste) / 8.167, (15 - own[0]) / 2) / 20,
        "home_gaps": sum(n == 0 for n in own[1:7]) / 6,
        "gammon_race": -kleinman(their_pips + their_waste - to_save(own),
                                 their_pips + their_waste + to_save(own)) if own[0] == 0 else -1,
        "gammon_pips": to_save(own) / 100,
        "backgammon_pips": sum(n * max(p - 18, 0) for p, n in enumerate(own)) / 20,
        "race_chance": kleinman(their_pips + their_waste - pips - waste,
                                their_pips + their_waste + pips + waste),
    }  # fmt: skip


TWINS = tuple(twins(START))
KERNELS = {
    name: term
    for module in (terms, race_terms)
    for name, term in vars(module).items()
    if is_kernel(term) and term.__module__ == module.__name__ and not name.startswith("_")
}
PARTS = {"wasted", "kleinman", "save_pips"}


def test_every_term_has_a_twin():
    assert set(TWINS) | {"shots", "damage", "choices"} | PARTS == set(KERNELS)


@pytest.mark.thorough
def test_terms_agree_with_their_definitions(positions):
    for position in positions[:: len(positions) // 700]:
        for name, expected in twins(position).items():
            found = KERNELS[name](position)
            assert found == pytest.approx(expected, abs=1e-12), (name, counts(position))


def test_terms_of_the_other_side(positions):
    assert len(EXPERT.theirs) == 31
    places = {name: place for place, name in enumerate(EXPERT.names)}
    some = positions[::40]
    measured = EXPERT.measure(some)
    for name in EXPERT.theirs:
        own = KERNELS[name.removeprefix("their_")]
        expected = [own(other_side(position)) for position in some]
        assert measured[:, places[name]].tolist() == expected


@pytest.mark.thorough
def test_shots_agree_with_all_ways_to_play(positions):
    """They agree with the rules too, except for hits forbidden because both dice can be played."""
    moves = np.zeros(rules.MOST_MOVES, dtype=np.int64)
    forbidden = seen = 0
    for position in positions[:: len(positions) // 250]:
        own, theirs = counts(position)
        found = hits(own, theirs)
        some = {roll: frozenset().union(*ways) for roll, ways in found.items()}
        assert hitting_rolls(*position[:4]) == sum(bool(hit) for hit in some.values())
        assert choosing_rolls(*position[:4]) == sum(len(hit) >= 2 for hit in some.values())
        lost = sum(25 - min(hit) for hit in some.values() if hit)
        assert pips_lost(*position[:4]) == lost
        assert terms.shots(position) == hitting_rolls(*position[:4]) / 36
        assert terms.damage(position) == pytest.approx(lost / 36 / 12)
        assert terms.choices(position) == choosing_rolls(*position[:4]) / 36
        if own[0] == 15 or theirs[0] == 15:
            continue
        for number, (high, low) in enumerate(rules.ROLLS):
            count = rules.legal_moves(position, number, moves)
            after = [rules.play(position, int(move)) for move in moves[:count]]
            legal = any(p[1] >> 48 > theirs[25] for p in after)
            assert legal <= bool(some[high, low])
            forbidden += legal < bool(some[high, low])
            seen += bool(some[high, low])
    assert seen > 1000
    assert forbidden <= seen // 200


# --- by hand ---------------------------------------------------------------------------------


def test_sets_measure_natively_what_python_reads(positions):
    some = positions[::200]
    native = EXPERT.measure(some)
    assert native.shape == (len(some), len(EXPERT))
    assert native == pytest.approx(np.array([EXPERT.values(p) for p in some]), abs=1e-12)
    assert np.isfinite(EXPERT.measure(positions)).all()


def test_kinds_are_those_of_the_checkers_counted(positions):
    """Every kind occurs in the random games, and is what the numbers of checkers say."""
    seen = set()
    for position in positions:
        own, other = counts(position)
        last = [max((p for p in range(1, 26) if side[p]), default=0) for side in (own, other)]
        back = [
            any(
                sum(side[p] >= 2 for p in range(19, 25)) >= 2 and sum(side[19:26]) >= most
                for side in (own, other)
            )
            for most in (8, 6, 4)
        ]
        tests = {
            "race": sum(last) < 25,
            "bear-off contact": any(
                side[0] > 0 or rear <= 6 for side, rear in zip((own, other), last, strict=True)
            ),
            **dict(zip(("back game of 8", "back game of 6", "back game"), back, strict=True)),
            "crashed": any(sum(side[3:]) <= 6 for side in (own, other)),
            "bar": own[25] > 0,
            "holding": any(side[p] >= 2 for side in (own, other) for p in range(18, 24)),
            "contact": True,
        }
        name = next(name for name, holds in tests.items() if holds)
        assert KINDS.names[KINDS.phase(position)] == name
        seen.add(name)
    assert seen == set(KINDS.names)
