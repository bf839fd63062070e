"""Exact backups, positions of self-play, and nets of phases, each against a slower version."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from errors import errors_of
from numpy.typing import NDArray

from benchmarks.exploring import explore
from games import kernels
from games.backgammon import Backgammon, kinds
from games.backgammon.rules import ROLLS
from games.kernels import kernel
from learner.models.outcome_model import OutcomeModel
from learner.positions.kinds import RareKinds
from learner.td_gammon.backup import Backed, Backups, lambda_returns
from learner.td_gammon.backup_fit import composed, single
from learner.td_gammon.table import GreedyPlay, PlayedPositions
from learner.td_gammon.td_gammon import new_network
from search.evaluators.evaluator import Prefilter
from search.evaluators.outcome_network import OutcomeNetwork
from search.lookups.database import DatabaseLookup
from search.lookups.lookup import Lookup

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")

GAME = Backgammon()
KINDS = GAME.outcomes
POINTS = GAME.encodings["points"]


def network(*hidden: int, seed: int = 1, inputs: Any = POINTS) -> OutcomeNetwork:
    """A network with random weights."""
    made = new_network(GAME, inputs, hidden, spread=1.0, seed=seed)
    random = np.random.default_rng(seed)
    for net in made.nets:
        weights, bias = net.layers[-1]
        weights[...] = random.normal(0.0, 0.4, weights.shape)
        bias[...] = random.normal(-0.5, 0.3, bias.shape)
    return made


NET = network(12)


@pytest.fixture(scope="module")
def positions() -> NDArray[np.int64]:
    """Returns positions of random games, of which some are nearly over."""
    found = explore(NET, 4, seed=(3,), first_plies=2000, first_share=1.0)
    return np.concatenate([found[:: len(found) // 12], found[-3:]])


def backups(evaluator: Any = NET, **options: Any) -> Backups:
    return Backups(GAME, evaluator.outcomes, **options)


def backed_up(positions: Any, evaluator: Any = NET, **options: Any) -> Any:
    return backups(evaluator, **options)(positions).outcomes


def turned(outcomes: Any) -> Any:
    """Returns outcomes (win, gammon, backgammon and the losses) as the other side sees them."""
    return np.array([1 - outcomes[0], outcomes[3], outcomes[4], outcomes[1], outcomes[2]])


def twin(position: Any, depth: int, exact: Lookup | None = None) -> Any:
    """Returns a backup, in a few lines of plain Python."""
    points = GAME.outcome(position)
    if points is not None:
        won = [points > 0, points > 1, points > 2, points < -1, points < -2]
        return np.array(won, dtype=float)
    if exact is not None:
        found = np.zeros(5)
        if kernels.uncompiled(exact.outcomes)(exact.tables, position, found):
            return found
    if depth == 0:
        return NET.outcomes([position])[0]
    total = np.zeros(5)
    for roll, chance in enumerate(GAME.rolls):
        after = [GAME.play(position, move) for move in GAME.legal_moves(position, roll)]
        values = [KINDS.values(twin(one, 0, exact)) for one in after]
        total += chance * turned(twin(after[int(np.argmin(values))], depth - 1, exact))
    return total


@pytest.mark.parametrize("with_exact", [False, True])
def test_backups_equal_their_twin(positions: Any, with_exact: bool) -> None:
    exact = DatabaseLookup(GAME, "bearoff") if with_exact else None
    found = backed_up(positions, exact=exact)
    slow = [twin(tuple(row), 1, exact) for row in positions.tolist()]
    known = backups(exact=exact).outcomes(positions)[1]
    assert known.any() == with_exact and not known.all()
    # what is known needs no backup
    np.testing.assert_allclose(found[~known], np.array(slow)[~known], atol=1e-12)
    assert (found[:, 0] >= found[:, 1]).all() and (found[:, 1] >= found[:, 2]).all()


@pytest.mark.parametrize("device", ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"])
def test_a_model_in_torch_backs_up_as_native_code_does(positions: Any, device: str) -> None:
    one = single(NET)
    exact = Backups(GAME, one.outcomes)(positions).outcomes
    for precision, error in (("float32", 2e-5), ("bfloat16", 0.01)):
        model = OutcomeModel(one, precision=precision, device=device)

        def source(rows: Any, model: OutcomeModel = model) -> Any:
            return model.probabilities(rows)

        found = Backups(GAME, source)(positions).outcomes
        assert np.abs(found - exact).max() < error, precision
    assert np.abs(found - exact).max() > 1e-5  # it is another precision


def test_backups_tell_the_replies_that_they_compared() -> None:
    backed = backups()([GAME.start()])
    assert isinstance(backed, Backed) and backed.firsts[-1] == len(backed.replies)
    for roll in range(21):
        mine = slice(*backed.firsts[roll : roll + 2])
        after = {GAME.play(GAME.start(), move) for move in GAME.legal_moves(GAME.start(), roll)}
        assert {tuple(row) for row in backed.replies[mine].tolist()} == after
        assert len(after) == mine.stop - mine.start
        values = KINDS.values(backed.found[mine])
        assert backed.best[0, roll] == mine.start + int(np.argmin(values))
    assert not backed.known.any()


@kernel
def _nothing(tables, position):
    return False, 0.0, 0


@kernel
def _never(tables, position, target):
    return False


@kernel
def _always(tables, position, target):
    for k in range(5):
        target[k] = tables[k]
    return True


def test_what_is_known_is_not_valued(positions: Any) -> None:
    told = np.array([0.7, 0.2, 0.1, 0.15, 0.05])
    found, known = backups(exact=Lookup(_nothing, told, outcomes=_always)).outcomes(positions)
    assert known.all() and np.array_equal(found, np.tile(told, (len(positions), 1)))
    found, known = backups(exact=Lookup(_nothing, told, outcomes=_never)).outcomes(positions)
    assert not known.any() and np.array_equal(found, NET.outcomes(positions))


def test_wrong_requests() -> None:
    assert backed_up([]).shape == (0, 5)


# --- positions of self-play --------------------------------------------------------------------


def test_a_prefilter_that_keeps_all_changes_nothing(positions: Any) -> None:
    prefilter = Prefilter(network(12, seed=8), 1024)
    assert np.array_equal(backed_up(positions), backed_up(positions, prefilter=prefilter))


def test_a_prefilter_keeps_what_is_near_the_best_by_it(positions: Any) -> None:
    cheap = network(12, seed=8)

    def kept(margin: float, keep: int = 5) -> Any:
        return backed_up(positions, prefilter=Prefilter(cheap, keep, margin))

    assert np.array_equal(kept(1e9), kept(np.inf))
    # below every difference the best alone is left
    assert np.array_equal(kept(1e-12), kept(np.inf, keep=1))
    assert KINDS is not None
    # the side with fewer replies to choose from does worse
    equities = [KINDS.values(kept(margin)) for margin in (1e-12, 0.01, 0.1, 1e9)]
    equities.append(KINDS.values(backed_up(positions)))
    for narrow, wide in zip(equities, equities[1:], strict=False):
        assert (narrow <= wide + 1e-12).all() and (narrow < wide - 1e-6).any()


def table(games: int, seed: int = 1, starts: Any = None, **options: Any) -> PlayedPositions:
    begun = np.tile(np.array(GAME.start()), (games, 1)) if starts is None else starts
    return GreedyPlay(backups(), **{"at_once": 7, **options}).play(
        begun, np.random.default_rng(seed)
    )


def test_a_table_plays_games_and_backs_up_their_positions() -> None:
    played = table(6, first_plies=4, first_share=0.5, share=0.1)
    rows = [tuple(row) for row in played.positions.tolist()]
    starts = [i for i, row in enumerate(rows) if row == GAME.start()]
    assert len(starts) == 6 and starts[0] == 0
    np.testing.assert_allclose(played.static, NET.outcomes(played.positions), atol=1e-12)
    np.testing.assert_allclose(played.backups, backed_up(played.positions), atol=1e-12)
    for i in [*range(0, len(rows), 17), *(i - 1 for i in starts[1:])]:
        after = [
            [GAME.play(rows[i], m) for m in GAME.legal_moves(rows[i], roll)] for roll in range(21)
        ]
        if i + 1 in (*starts, len(rows)):
            assert not played.follows[i]
            assert any(GAME.outcome(one) is not None for one in sum(after, []))
        elif played.follows[i]:
            assert rows[i + 1] in [one[int(np.argmin(NET.values(one)))] for one in after]
        else:
            assert rows[i + 1] in sum(after, [])
    assert 0.7 < played.follows.mean() < 0.95
    assert played.last.outcome() is not None and played.last.ply == len(rows) - starts[-1]


@pytest.mark.whole_run
def test_games_of_a_table_begin_where_they_are_told_to() -> None:
    """Also with a double, which no game begins with; and they end where a lookup knows more."""
    later = GAME.play(GAME.start(), GAME.legal_moves(GAME.start(), 4)[0])
    played = table(0, starts=np.array([later] * 12), at_once=12)
    first = played.positions[np.append(True, ~played.follows[:-1])]
    assert (first == later).all() and len(first) == 12
    assert played.last.ply == 0
    after = played.positions[np.append(False, np.append(True, ~played.follows[:-1])[:-1])]
    doubles = {i for i, (a, b) in enumerate(ROLLS) if a == b}
    by_doubles = {GAME.play(later, m) for roll in doubles for m in GAME.legal_moves(later, roll)}
    assert 1 <= sum(tuple(row) in by_doubles for row in after.tolist()) < 7
    races = GreedyPlay(backups(exact=DatabaseLookup(GAME, "bearoff")), at_once=12).play(
        np.array([later] * 12), np.random.default_rng(3)
    )
    assert len(races) < len(played) and RareKinds.of(GAME).kinds is kinds.KINDS
    assert (kinds.KINDS.of(races.positions) != kinds.KINDS.names.index("race")).all()


@pytest.mark.parametrize("lambda_", [0.0, 0.6, 1.0])
def test_returns_add_up_the_corrections_that_follow(lambda_: float) -> None:
    random = np.random.default_rng(3)
    static = random.uniform(0.3, 0.5, (9, 5))
    backups = static + random.uniform(-0.05, 0.05, (9, 5))
    follows = np.array([1, 1, 0, 1, 1, 1, 0, 0, 1], dtype=bool)  # the last: nothing does
    found = lambda_returns(GAME, static, backups, follows, lambda_)
    for i in range(9):
        total, mine, share = static[i].copy(), True, 1.0
        for j in range(i, 9):
            more = (backups - static)[j]
            turned_more = np.array([-more[0], more[3], more[4], more[1], more[2]])
            # the other side's wins are losses here
            total += share * (more if mine else turned_more)
            if not follows[j]:
                break
            mine, share = not mine, share * lambda_
        np.testing.assert_allclose(found[i], np.clip(total, 0, 1), atol=1e-12)
    assert lambda_ > 0 or np.allclose(found, backups)
    assert lambda_returns(GAME, static * 0, backups * 0 - 1, follows, lambda_).min() == 0


@pytest.mark.slow
def test_returns_of_whole_games_are_results_without_luck() -> None:
    """They have the same mean as results, and a far smaller variance."""
    # by the best reply alone, which the same evaluator finds as a prefilter
    fast = GreedyPlay(backups(prefilter=Prefilter(NET, 1)), at_once=100)
    found = fast.play(np.tile(np.array(GAME.start()), (150, 1)), np.random.default_rng(8))
    static = found.static
    starts = np.flatnonzero((found.positions == GAME.start()).all(axis=1))
    returns = lambda_returns(GAME, static, found.backups, found.follows, 1.0)
    # the side that moves last wins at least a point
    lengths = np.diff([*starts, len(static)])
    won = np.where(lengths % 2 == 1, 1.0, 0.0)
    chances = returns[starts, 0]
    error = np.sqrt((chances.var() + won.var()) / 150)
    assert abs(chances.mean() - won.mean()) < 4 * error
    assert chances.var() < 0.8 * won.var()


# --- nets of phases -----------------------------------------------------------------------------


def test_one_net_stands_beside_one_that_is_kept(positions: Any) -> None:
    alone = single(NET)
    assert len(alone.nets) == 1 and composed(alone, None, ()).nets[0].widths == NET.nets[0].widths
    whole = composed(alone, NET, ("race",))
    assert [net.widths[1:-1] for net in whole.nets] == [(12,), (12,), (12,)]
    expected, others = NET.outcomes(positions), alone.outcomes(positions)
    phases = GAME.phases.of(positions)
    assert set(phases) >= {0, 2}
    expected[phases == 1] = others[phases == 1]
    np.testing.assert_allclose(whole.outcomes(positions), expected, atol=1e-6)


test_errors = errors_of(globals())
