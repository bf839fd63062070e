"""Joint ratings: known strengths are recovered, and unbounded intervals stay unbounded."""

import itertools
import math

import numpy as np
import pytest
from errors import errors_of
from scipy.optimize import minimize

from benchmarks.groups import rate_groups
from play.ratings.bradley_terry import PRIOR_ELO, Rating, rate, rate_rounds
from play.ratings.statistics import Tally, elo, elo_interval, expected_score

STRENGTHS = {"ada": 0.0, "bob": -120.0, "cyd": 80.0, "dot": 250.0}


def round_robin(strengths, pairs, rng, draws=0.4):
    """Simulated pairs of games whose expected scores follow from the strengths."""
    table = {}
    for first, second in itertools.combinations(strengths, 2):
        score = expected_score(strengths[first] - strengths[second])
        drawn = draws * 2 * min(score, 1 - score)
        games = rng.choice(
            [0, 0.5, 1], size=(pairs, 2), p=[1 - score - drawn / 2, drawn, score - drawn / 2]
        )
        table[first, second] = Tally(np.bincount((2 * games.sum(axis=1)).astype(int), minlength=5))
    return table


def by_name(ratings):
    return {rating.name: rating for rating in ratings}


def figures(rating):
    return (rating.elo.value, rating.elo.low, rating.elo.high)


@pytest.fixture
def table():
    return round_robin(STRENGTHS, 50, np.random.default_rng(5))


def test_known_strengths_come_back():
    table = round_robin(STRENGTHS, 5000, np.random.default_rng(6))
    ratings = rate(table, anchor="ada")
    assert [rating.name for rating in ratings] == ["dot", "cyd", "ada", "bob"]
    for rating in ratings:
        assert rating.elo.value == pytest.approx(STRENGTHS[rating.name], abs=10)


def test_agrees_with_direct_maximisation(table):
    names = sorted(STRENGTHS)

    def loss(ratings):
        rating = dict(zip(names, ratings, strict=True))
        total = (ratings**2).sum() / (2 * PRIOR_ELO**2)
        for (first, second), tally in table.items():
            score = expected_score(rating[first] - rating[second])
            total -= tally.points * math.log(score)
            total -= (tally.games - tally.points) * math.log(1 - score)
        return total

    slow = minimize(loss, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-9})
    quick = by_name(rate(table, anchor="ada"))
    for name, rating in zip(names, slow.x - slow.x[0], strict=True):
        assert quick[name].elo.value == pytest.approx(rating, abs=0.05)


def test_two_players_get_the_elo_of_their_match():
    tally = Tally((34, 54, 31 + 32, 64, 75))
    winner, loser = rate({("new", "old"): tally}, anchor="old")
    assert winner.elo.value == pytest.approx(elo_interval(tally).value, abs=0.1)
    slope = 400 / math.log(10) / (tally.score * (1 - tally.score))
    margin = 1.96 * slope * math.sqrt(tally.variance / tally.units)
    assert winner.elo.margin == pytest.approx(margin, rel=0.01)
    assert figures(loser) == (0, 0, 0)
    assert (winner.games, winner.score) == (580, pytest.approx(0.579310, abs=1e-6))


def test_either_side_may_be_named_first(table):
    turned = {(b, a): tally.mirrored() for (a, b), tally in reversed(table.items())}
    for rating, twin in zip(rate(table, anchor="ada"), rate(turned, anchor="ada"), strict=True):
        assert (twin.name, twin.games) == (rating.name, rating.games)
        assert twin.score == pytest.approx(rating.score)
        assert figures(twin) == pytest.approx(figures(rating), abs=1e-4)


def test_the_anchor_moves_all_ratings_alike(table):
    ada = by_name(rate(table, anchor="ada"))
    dot = by_name(rate(table, anchor="dot"))
    assert figures(dot["dot"]) == (0, 0, 0)
    shift = -ada["dot"].elo.value
    for name in STRENGTHS:
        assert dot[name].elo.value == pytest.approx(ada[name].elo.value + shift, abs=1e-4)
    # The distance of two players is known equally well from either end.
    assert dot["ada"].elo.margin == pytest.approx(ada["dot"].elo.margin, rel=1e-6)


def test_games_and_scores_are_counted_on_both_sides():
    table = {
        ("a", "b"): Tally((0, 1, 0, 0, 1)),
        ("c", "a"): Tally((2, 0, 1)),
    }
    ratings = by_name(rate(table, anchor="a"))
    assert {name: rating.games for name, rating in ratings.items()} == {"a": 7, "b": 4, "c": 3}
    assert ratings["a"].score == pytest.approx(4.5 / 7)
    assert ratings["b"].score == pytest.approx(1.5 / 4)


@pytest.mark.parametrize(("pairs", "slack"), [(1, 220), (10, 20), (500, 20)])
def test_who_won_everything_is_finite_and_open_above(table, pairs, slack):
    winner = rate(table | {("eve", "ada"): Tally((0, 0, 0, 0, pairs))}, anchor="ada")[0]
    assert winner.name == "eve"
    assert math.isfinite(winner.elo.value)
    assert winner.elo.high == math.inf
    # As in a match of two: for a strength below the bound, winning every pair has a chance of less
    # than 1 in 20. The doubt about the prior comes on top.
    alone = elo_interval(Tally((0, 0, 0, 0, pairs))).low
    assert alone - slack < winner.elo.low <= alone


def test_wins_against_all_others_count_together(table):
    """30 pairs won from three players say as much as 30 from one of their strength."""
    level = {("a", "b"): Tally((50, 100, 200, 100, 50)), ("b", "c"): Tally((50, 100, 200, 100, 50))}
    level["a", "c"] = level["a", "b"]
    ten = Tally((0, 0, 0, 0, 10))
    of_three = rate(level | {("eve", name): ten for name in "abc"}, anchor="a")[0]
    of_one = rate(level | {("eve", "a"): Tally((0, 0, 0, 0, 30))}, anchor="a")[0]
    assert of_three.elo.low == pytest.approx(of_one.elo.low, abs=15)
    assert of_three.elo.low < of_one.elo.low  # b and c are known less well than the anchor


def test_open_ends_add_up_along_a_chain():
    table = {("b", "a"): Tally((0, 0, 0, 0, 10)), ("c", "b"): Tally((0, 0, 0, 0, 20))}
    ratings = by_name(rate(table, anchor="a"))
    first, second = elo(0.025**0.1), elo(0.025**0.05)
    assert first - 20 < ratings["b"].elo.low <= first
    assert first + second - 50 < ratings["c"].elo.low <= first + second
    assert ratings["c"].elo.high == ratings["b"].elo.high == math.inf


def test_who_lost_everything_is_the_mirror_image(table):
    winner = rate({("eve", "ada"): Tally((0, 0, 0, 0, 10))}, anchor="ada")[0]
    loser = rate({("eve", "ada"): Tally((10, 0, 0, 0, 0))}, anchor="ada")[-1]
    assert figures(loser) == pytest.approx((-winner.elo.value, -math.inf, -winner.elo.low))


def test_an_anchor_that_lost_everything_leaves_all_others_open_above(table):
    lost = {("ada", "bob"): Tally((10, 0, 0, 0, 0))}
    kept = {pairing: tally for pairing, tally in table.items() if "ada" not in pairing}
    for rating in rate(lost | kept, anchor="ada")[:-1]:
        assert math.isfinite(rating.elo.low)
        assert rating.elo.high == math.inf


def test_players_without_games_against_the_others_are_open_on_both_sides(table):
    apart = {("x", "y"): Tally((1, 2, 3, 2, 1)), ("ada", "new"): Tally((0,) * 5)}
    ratings = by_name(rate(table | apart, anchor="ada"))
    for name in ("x", "y", "new"):
        assert figures(ratings[name])[1:] == (-math.inf, math.inf)
        assert math.isfinite(ratings[name].elo.value)
    assert (ratings["new"].games, ratings["new"].score) == (0, 0.5)


def test_no_games_at_all():
    ratings = rate({("a", "b"): Tally((0,) * 5)}, anchor="a")
    assert [rating.elo.value for rating in ratings] == [0, 0]
    assert isinstance(ratings[0], Rating)


def test_rounds_of_one_pairing_each_are_a_table():
    counts = {("A", "B"): (30, 5, 20), ("B", "C"): (9, 4, 12), ("A", "C"): (6, 0, 30)}
    rounds = [
        {pairing: (place / 2, 1)}
        for pairing, places in counts.items()
        for place, count in enumerate(places)
        for _ in range(count)
    ]
    table = {pairing: Tally(places) for pairing, places in counts.items()}
    for one, other in zip(rate_rounds(rounds, anchor="B"), rate(table, anchor="B"), strict=True):
        assert (one.name, one.games, one.score) == (other.name, other.games, other.score)
        ends = [(each.elo.value, each.elo.low, each.elo.high) for each in (one, other)]
        assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def test_a_group_of_one_is_that_player_and_the_anchors_error_is_in_every_interval(table):
    ratings = by_name(rate(table, anchor="ada"))
    alone = rate_groups(table, {name: [name] for name in STRENGTHS}, anchor="ada")
    for name in STRENGTHS:
        assert (alone[name].value, alone[name].low) == pytest.approx(figures(ratings[name])[:2])
    # two members that happen to be equal do not make the rating exact
    few = {("one", "ada"): Tally((1, 1, 2, 3, 3)), ("two", "ada"): Tally((1, 1, 2, 3, 3))}
    assert rate_groups(few, {"both": ["one", "two"]}, anchor="ada")["both"].margin > 50


test_errors = errors_of(globals())
