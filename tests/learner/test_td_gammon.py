"""TD-Gammon: options, checkpoints, learning, and workers that play and learn in native code."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from numpy.typing import NDArray

import games
from games import kernels
from games.backgammon import Backgammon
from games.backgammon.encoding import POINTS
from games.backgammon.rules import ROLLS, START, outcome
from games.features import FeatureSet
from games.kernels import kernel
from learner.frame import Progress
from learner.td_gammon import td_gammon
from learner.td_gammon.td_gammon import TDGammon, find_inputs, new_network
from learner.td_gammon.td_play import ActorLearner
from play.matches.driver import play_match
from play.players.parse import parse_player
from play.players.player import Player
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import Prefilter
from search.native import rules_addresses

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="learning is native code")

GAME = games.load("backgammon")
#: One architecture for all, for each is compiled.
SMALL: dict[str, Any] = {
    "inputs": "points",
    "hidden": (24,),
    "games_per_report": 100,
    "round_games": 10,
}


@pytest.fixture(autouse=True, scope="module")
def prefiltering_early() -> Iterator[None]:
    """Make short runs prefilter replies too, before and after a checkpoint."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(td_gammon, "_UNFILTERED", 150)
        yield


def learner(games: int = 300, **options: Any) -> TDGammon:
    return TDGammon(GAME, games=games, **{**SMALL, **options})


def bits(network: OutcomeNetwork) -> list[NDArray[np.float32]]:
    return [array for net in network.nets for layer in net.layers for array in layer]


def same(one: TDGammon, other: TDGammon) -> bool:
    """Returns whether two learners have learned the same, bit for bit."""
    equal = all(map(np.array_equal, bits(one.evaluator_), bits(other.evaluator_)))
    return equal and one.errors_ == other.errors_ and one.updates_ == other.updates_


@functools.cache
def whole_run() -> tuple[TDGammon, list[str], list[Progress]]:
    """A short run, with checkpoints as text after each report."""
    run = learner(games=330, seed=5)
    checkpoints: list[str] = []
    reports: list[Progress] = []

    def watch(progress: Progress) -> None:
        reports.append(progress)
        checkpoints.append(json.dumps(run.checkpoint()))

    assert run.fit(watch=watch) is run
    return run, checkpoints, reports


# --- options ---------------------------------------------------------------------------------


@kernel
def odd(position):
    """A term that is NaN in half of all positions."""
    return float("nan") if position[4] else 1.0


def test_inputs_by_name() -> None:
    class Named(Backgammon):
        features = {"odd": FeatureSet("odd", {"odd": odd}), "more": FeatureSet("more", {"o": odd})}
        encodings = {"points": POINTS}

    game = Named()
    both = (POINTS, game.features["odd"])
    assert find_inputs(game, "points") is POINTS
    assert find_inputs(game, "odd") is game.features["odd"]
    assert find_inputs(game, "points+odd") == find_inputs(game, "odd+points") == both
    assert find_inputs(game, both) is both
    for wrong in ("odd+more", "points+odd+more", "points+", "Points"):
        with pytest.raises(ValueError, match=r"inputs: expected .* \(odd, more\)"):
            find_inputs(game, wrong)
    # what is no text is told by its names in a checkpoint
    identity = TDGammon(game, inputs=both).identity()
    assert identity["inputs"] == "points+odd" and json.loads(json.dumps(identity)) == identity
    assert "games" not in identity and "workers" not in identity


def test_a_new_network_knows_nothing() -> None:
    network = new_network(GAME, POINTS, (24,), spread=0.3, seed=3)
    assert [net.widths for net in network.nets] == [(326, 24, 5)] * 3
    assert network.outcomes([START]).tolist() == [[0.5] * 5] and network(START) == 0.0
    first = [net.layers[0][0] for net in network.nets]
    assert not np.array_equal(first[0], first[1])
    for weights in first:
        assert weights.std() == pytest.approx(0.3 * math.sqrt(2 / 30), rel=0.05)
    again, other = (new_network(GAME, POINTS, (24,), spread=0.3, seed=s) for s in (3, 4))
    assert all(map(np.array_equal, bits(network), bits(again)))
    assert not np.array_equal(first[0], other.nets[0].layers[0][0])


# --- learning --------------------------------------------------------------------------------


def test_every_table_counts() -> None:
    one, two = (learner(games=60, seed=1, tables=tables).fit() for tables in (1, 3))
    assert not same(one, two)
    assert [actor.updates > 0 for actor in two._actors] == [True] * 3
    again = learner(games=60, seed=1, tables=3).fit()
    assert same(two, again)
    # fewer games than tables
    few = learner(games=2, seed=1, tables=3).fit()
    assert [actor.updates > 0 for actor in few._actors] == [True, True, False]
    squares = few.errors_[0]
    assert 0 < squares < 0.3


def test_what_tables_learned_is_added_up() -> None:
    """A round by hand: each actor learns on its own from the same weights."""
    run = learner(games=20, seed=9, tables=2, round_games=10)
    run.prepare()
    first = [array.copy() for array in bits(run.network_)]
    own = []
    for number in range(2):
        actor = ActorLearner(run.network_.copy(), seed=(9, number))
        actor.play(10, rate=0.06, last_rate=0.06 * 0.3, lambda_=0.5)
        own.append(bits(actor.evaluator))
    run.fit()
    for common, before, one, two in zip(bits(run.network_), first, *own, strict=True):
        assert np.array_equal(common, before + (one - before) + (two - (before)))


def test_learning_goes_on_from_an_evaluator() -> None:
    run = whole_run()[0]
    start = run.evaluator_
    before = [array.copy() for array in bits(start)]
    more = learner(games=20, seed=1).fit(start)
    assert all(map(np.array_equal, bits(start), before))
    assert not same(more, learner(games=20, seed=1).fit())
    change = max(np.abs(a - b).max() for a, b in zip(bits(more.network_), before, strict=True))
    assert 0 < change < 2


def test_weights_that_are_lost_are_told() -> None:
    class Odd(Backgammon):
        phases = None
        features = {"odd": FeatureSet("odd", {"odd": odd})}

    with pytest.raises(ValueError, match="rate: expected weights that stay finite, found NaN or"):
        TDGammon(Odd(), inputs="odd", hidden=(3,), games=20).fit()


def test_it_learns() -> None:
    run = TDGammon(GAME, games=2000, inputs="points", hidden=(24,), seed=2).fit()
    learned, rival = Player("learned", run.evaluator_), parse_player(GAME, "random")
    match = play_match(GAME, learned, rival, games=200, seed=3, threads=2)
    assert match.summary().mean.low > 1.5  # points a game; gammons are the rule
    chances = run.evaluator_.outcomes([START])[0]
    assert 0.4 < chances[0] < 0.7 and chances[1] > 0.05 < chances[3]


# --- checkpoints -----------------------------------------------------------------------------


def packed(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def resumed(change: Callable[[dict[str, Any]], Any]) -> None:
    """Goes on from a checkpoint that was changed."""
    state = json.loads(whole_run()[1][2])
    change(state)
    learner(games=330, seed=5).fit(resume=state)


def test_checkpoints_are_small_and_quick() -> None:
    run, checkpoints, _ = whole_run()
    nets = [run.evaluator_, *run._learning[1:]]
    weights = sum(array.size for net in nets for array in bits(net))
    assert len(checkpoints[-1]) < 4 / 3 * 4 * weights + 20_000


# --- tables ----------------------------------------------------------------------------------


def an_actor(seed: int = 4) -> ActorLearner:
    network = new_network(GAME, POINTS, (24,), spread=0.3, seed=1)
    return ActorLearner(network, seed=(seed, 0))


def test_an_actor_learns_once_from_each_position_and_keeps_its_last_game() -> None:
    actor = an_actor()
    plies = 0
    for _ in range(8):
        actor.play(1, rate=0.1, last_rate=0.03, lambda_=0.5)
        positions, rolls = actor.last_game()
        assert len(positions) == len(rolls) + 1
        ends = [outcome(tuple(p)) == outcome(tuple(p)) for p in positions.tolist()]
        assert ends == [False] * len(rolls) + [True]
        plies += len(rolls)
    assert actor.updates == plies


def test_first_rolls_of_games_are_no_doubles() -> None:
    actor = an_actor()
    firsts, later = set(), set()
    for _ in range(200):
        actor.play(1, rate=0.1, last_rate=0.03, lambda_=0.5)
        first, second, *_ = actor.last_game()[1].tolist()
        firsts.add(ROLLS[first])
        later.add(ROLLS[second])
    assert all(high != low for high, low in firsts) and len(firsts) == 15
    assert len(later) > 18


@pytest.mark.parametrize("prefiltering", [False, True])
def test_what_an_actor_plays_with_small_nets(prefiltering: bool) -> None:
    """The best of the two that are best by the small nets, which learn from the same games."""
    large, small = (new_network(GAME, POINTS, (24,), spread=1.0, seed=seed) for seed in (1, 2))
    for seed, network in enumerate((large, small)):
        random = np.random.default_rng(seed)
        for net in network.nets:
            net.layers[-1][0][...] = random.normal(0, 0.5, net.layers[-1][0].shape)
    prefilter = Prefilter(small.copy(), 2)
    actor = ActorLearner(large.copy(), seed=(3, 0), prefilter=prefilter)
    actor.play(1, rate=0.0, last_rate=0.0, lambda_=0.5, prefilter=prefiltering)
    positions, rolls = actor.last_game()
    passed_over = 0
    for before, after, roll in zip(positions[:-1], positions[1:], rolls.tolist(), strict=True):
        position = tuple(before.tolist())
        replies = [GAME.play(position, move) for move in GAME.legal_moves(position, roll)]
        ends = np.array([GAME.outcome(reply) for reply in replies], dtype=float)
        cheap, dear = (
            np.where(np.isnan(ends), network.values(replies), ends).tolist()
            for network in (small, large)
        )
        limit = sorted(cheap)[:2][-1] if prefiltering else np.inf
        kept = [i for i, one in enumerate(cheap) if one <= limit]
        assert tuple(after.tolist()) == replies[min(kept, key=dear.__getitem__)]
        passed_over += min(dear) < min(dear[i] for i in kept)
    assert (passed_over > 0) == prefiltering
    actor.play(5, rate=0.1, last_rate=0.1, lambda_=0.5, prefilter=prefiltering)
    moved = [
        np.abs(a - b).max() for a, b in zip(bits(small), bits(prefilter.evaluator), strict=True)
    ]
    assert max(moved) > 0.01


@kernel
def endless(position):
    """No game ends."""
    return float("nan")


def test_games_without_end_are_dropped() -> None:
    class Endless(Backgammon):
        rules = dataclasses.replace(Backgammon.rules, outcome=endless)

    actor = an_actor()
    actor.play(4, rate=0.1, last_rate=0.03, lambda_=0.5)
    updates = actor.updates
    before = [array.copy() for array in bits(actor.evaluator)]
    ends = actor._turn.outcome_at
    actor._turn.put(outcome_at=rules_addresses(Endless())["outcome_at"])
    assert actor.play(2, rate=0.1, last_rate=0.03, lambda_=0.5) == 0.0
    actor._turn.put(outcome_at=ends)
    assert actor.updates == updates
    assert all(map(np.array_equal, before, bits(actor.evaluator)))
    # what goes on from there is the same with a checkpoint in between
    again = an_actor()
    again.set_state(actor.get_state())
    for found, array in zip(bits(again.evaluator), before, strict=True):
        found[...] = array
    errors = [one.play(3, rate=0.1, last_rate=0.03, lambda_=0.5) for one in (actor, again)]
    assert errors[0] == errors[1] > 0
    assert all(map(np.array_equal, bits(actor.evaluator), bits(again.evaluator)))


test_errors = errors_of(globals())
