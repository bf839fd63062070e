"""Exact backups, positions of self-play, and growing networks, each against a slower version."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from games import kernels
from games.backgammon import Backgammon
from games.checkers import Checkers
from games.kernels import kernel
from games.values import EXACT
from learner.td_gammon.backup import backed_up, lambda_returns
from learner.td_gammon.explore import explore
from learner.td_gammon.growth import grown
from learner.td_gammon.td_gammon import new_network
from search import as_evaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import Prefilter
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
    found = explore(NET, 4, seed=(3,), first_plies=2000, first_share=1.0).positions
    return np.concatenate([found[:: len(found) // 12], found[-3:]])


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
def test_one_ply_equals_its_twin(positions: Any, with_exact: bool) -> None:
    exact = DatabaseLookup(GAME, "bearoff") if with_exact else None
    found = backed_up(NET, positions, exact=exact)
    slow = [twin(tuple(row), 1, exact) for row in positions.tolist()]
    np.testing.assert_allclose(found, slow, atol=1e-12)
    assert (found[:, 0] >= found[:, 1]).all() and (found[:, 1] >= found[:, 2]).all()


def test_two_plies_equal_one_ply_after_the_replies() -> None:
    # few replies: two sides with a few checkers at home, and one with a checker in contact
    start = GAME.parse_position(GAME.position_text(GAME.start()))
    late = explore(NET, 1, seed=(5,), first_plies=2000, first_share=1.0).positions[-4]
    rows = np.array([late, start])
    found = backed_up(NET, rows, depth=2)
    np.testing.assert_allclose(found[0], twin(tuple(late.tolist()), 2), atol=1e-12)
    # the start is too wide for the twin: its replies by 0-ply, and their 1-ply outcomes by `found`
    total = np.zeros(5)
    for roll, chance in enumerate(GAME.rolls):
        after = [GAME.play(start, move) for move in GAME.legal_moves(start, roll)]
        best = after[int(np.argmin(NET.values(after)))]
        total += chance * turned(backed_up(NET, [best])[0])
    np.testing.assert_allclose(found[1], total, atol=1e-12)


def test_threads_change_nothing(positions: Any) -> None:
    rows = np.concatenate([positions] * 12)
    one = backed_up(NET, rows, threads=1)
    assert len(rows) > 128 and np.array_equal(one, backed_up(NET, rows, threads=3))
    assert np.array_equal(one[: len(positions)], one[-len(positions) :])


@kernel
def _nothing(tables, position):
    return False, 0.0, 0, EXACT


@kernel
def _never(tables, position, target):
    return False


@kernel
def _always(tables, position, target):
    for k in range(5):
        target[k] = tables[k]
    return True


def test_what_is_known_is_not_backed_up(positions: Any) -> None:
    told = np.array([0.7, 0.2, 0.1, 0.15, 0.05])
    known = backed_up(NET, positions, exact=Lookup(_nothing, told, outcomes=_always))
    over = [GAME.outcome(tuple(row)) is not None for row in positions.tolist()]
    assert not any(over) and np.array_equal(known, np.tile(told, (len(positions), 1)))
    none = backed_up(NET, positions, exact=Lookup(_nothing, told, outcomes=_never))
    assert np.array_equal(none, backed_up(NET, positions))


def test_two_checkers_on_the_ace_point_are_off_with_any_roll() -> None:
    near = 13 | 2 << 4
    (found,) = backed_up(NET, [(near, 0, near, 0, 0)])
    assert found.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0], found
    # a checker on the six point and one on the ace: a roll that does not end the game loses it
    late = (13 | 1 << 4 | 1 << 24, 0, near, 0, 0)
    ends = [
        any(GAME.outcome(GAME.play(late, m)) is not None for m in GAME.legal_moves(late, roll))
        for roll in range(21)
    ]
    assert 0 < sum(ends) < 21
    (found,) = backed_up(NET, [late], depth=2)
    assert found[0] == pytest.approx(sum(np.array(GAME.rolls)[ends]))
    assert found[1:].tolist() == [0.0] * 4


def test_wrong_requests() -> None:
    with pytest.raises(ValueError, match="depth: expected 0 to 2, found 3"):
        backed_up(NET, [GAME.start()], depth=3)
    with pytest.raises(ValueError, match="threads: expected at least 1"):
        backed_up(NET, [GAME.start()], threads=0)
    with pytest.raises(ValueError, match="positions of 5 integers"):
        backed_up(NET, [(1, 2, 3)])
    with pytest.raises(ValueError, match="found checkers"):
        backed_up(as_evaluator(Checkers(), "classic"), [Checkers().start()])
    with pytest.raises(TypeError, match="gives outcomes"):
        backed_up(as_evaluator(GAME, lambda position: 0.0), [GAME.start()])
    with pytest.raises(TypeError, match="a lookup that knows outcomes"):
        backed_up(NET, [GAME.start()], exact=Lookup(_nothing))
    with pytest.raises(TypeError, match="marked with @kernel"):
        Lookup(_nothing, outcomes=lambda tables, position, target: False)
    with pytest.raises(
        ValueError, match="lookup of checkers: expected endgame, .* found 'bearoff'"
    ):
        DatabaseLookup(Checkers(), "bearoff")
    assert backed_up(NET, []).shape == (0, 5)


# --- positions of self-play --------------------------------------------------------------------


def test_games_are_legal_and_go_to_their_end() -> None:
    found = explore(NET, 30, seed=(1, 2), first_plies=4, first_share=0.5, share=0.1)
    starts = np.flatnonzero((found.positions == GAME.start()).all(axis=1))
    assert len(starts) == 30 and starts[0] == 0
    rows = [tuple(row) for row in found.positions.tolist()]
    for i in [*range(40), *(starts[1:] - 1)]:
        after = {
            GAME.play(rows[i], m) for roll in range(21) for m in GAME.legal_moves(rows[i], roll)
        }
        ends = i + 1 in starts or i + 1 == len(rows)
        assert any(GAME.outcome(one) is not None for one in after) if ends else rows[i + 1] in after
    assert found.last.outcome() is not None
    assert found.last.ply == len(rows) - starts[-1]


def test_moves_without_chance_are_the_best_replies() -> None:
    found = explore(NET, 1, seed=(9,)).positions.tolist()
    for position, after in zip(found[:30], found[1:30], strict=False):
        replies = []
        for roll in range(21):
            after_all = [
                GAME.play(tuple(position), m) for m in GAME.legal_moves(tuple(position), roll)
            ]
            replies.append(list(after_all[int(np.argmin(NET.values(after_all)))]))
        assert after in replies


def test_another_evaluator_chooses_a_share_of_the_moves() -> None:
    other = network(12, seed=8)
    options: dict[str, Any] = {"seed": (6,), "other": other}
    alone = explore(NET, 3, seed=(6,)).positions
    assert np.array_equal(alone, explore(NET, 3, **options, other_share=0.0).positions)
    whole = explore(NET, 3, **options, other_share=1.0).positions
    assert np.array_equal(whole, explore(other, 3, seed=(6,)).positions)
    assert not np.array_equal(alone[:20], whole[:20])
    some = explore(NET, 3, **options, other_share=0.5).positions
    assert not np.array_equal(some[:20], alone[:20]) and not np.array_equal(some[:20], whole[:20])


def test_a_prefilter_that_keeps_all_changes_nothing(positions: Any) -> None:
    prefilter = Prefilter(network(12, seed=8), 1024)
    assert np.array_equal(
        explore(NET, 3, seed=(6,)).positions,
        explore(NET, 3, seed=(6,), prefilter=prefilter).positions,
    )
    assert np.array_equal(backed_up(NET, positions), backed_up(NET, positions, prefilter=prefilter))
    fewer = backed_up(NET, positions, prefilter=Prefilter(network(12, seed=8), 1))
    assert not np.array_equal(backed_up(NET, positions), fewer)
    # the side with fewer replies to choose from does worse
    assert KINDS is not None
    assert (KINDS.values(fewer) <= KINDS.values(backed_up(NET, positions)) + 1e-12).all()


def test_threads_and_seeds_of_games() -> None:
    one = explore(NET, 60, seed=(4,), share=0.2, threads=1)
    two = explore(NET, 60, seed=(4,), share=0.2, threads=2)
    other = explore(NET, 60, seed=(5,), share=0.2)
    assert np.array_equal(one.positions, two.positions)
    assert one.positions.shape != other.positions.shape
    assert np.array_equal(one.follows, two.follows)


def test_games_tell_where_the_evaluator_chose() -> None:
    """Each position follows from the one before by the best reply to some roll."""
    found = explore(NET, 8, seed=(2,), first_plies=6, first_share=0.6, share=0.2)
    rows = [tuple(row) for row in found.positions.tolist()]
    starts = [i for i, row in enumerate(rows) if row == GAME.start()]
    assert not any(found.follows[i - 1] for i in [*starts, len(rows)])
    for i in range(0, len(rows) - 1, 3):
        if found.follows[i]:
            best = set()
            for roll in range(21):
                after = [GAME.play(rows[i], m) for m in GAME.legal_moves(rows[i], roll)]
                best.add(after[int(np.argmin(NET.values(after)))])
            assert rows[i + 1] in best
    assert 0.6 < found.follows.mean() < 0.8
    assert explore(NET, 8, seed=(2,)).follows.sum() == len(explore(NET, 8, seed=(2,)).positions) - 8


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


def test_returns_of_whole_games_are_results_without_luck() -> None:
    """They have the same mean as results, and a far smaller variance."""
    found = explore(NET, 300, seed=(8,))
    static, backups = (backed_up(NET, found.positions, depth=depth) for depth in (0, 1))
    starts = np.flatnonzero((found.positions == GAME.start()).all(axis=1))
    assert KINDS is not None
    returns = lambda_returns(GAME, static, backups, found.follows, 1.0)
    # the side that moves last wins at least a point
    lengths = np.diff([*starts, len(static)])
    won = np.where(lengths % 2 == 1, 1.0, 0.0)
    chances = returns[starts, 0]
    error = np.sqrt((chances.var() + won.var()) / 300)
    assert abs(chances.mean() - won.mean()) < 4 * error
    assert chances.var() < 0.8 * won.var()


# --- networks that grow -------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(12,), (20,), (12, 10), (24, 16), (16, 12, 10)])
def test_growth_keeps_values(positions: Any, hidden: tuple[int, ...]) -> None:
    rows = [tuple(row) for row in positions.tolist()]

    def values(evaluator: OutcomeNetwork) -> list[float]:
        value = evaluator.plain()  # which compiles nothing
        return [value(row) for row in rows[::2]]

    large = grown(NET, hidden, seed=(1,))
    assert all(net.widths[1:-1] == hidden for net in large.nets)
    np.testing.assert_allclose(values(large), values(NET), atol=1e-5)
    again = grown(large, tuple(width + 3 for width in hidden), seed=(2,))
    np.testing.assert_allclose(values(again), values(NET), atol=1e-5)
    if hidden[0] > 12:  # new units have inputs, which differ between nets
        one, two = (net.layers[0][0][:, 12:] for net in large.nets[:2])
        assert np.abs(one).mean() > 0.01 and not np.array_equal(one, two)
    large.nets[0].layers[-1][0][-1] += 1.0
    large.nets[2].layers[-1][0][-1] += 1.0
    assert not np.allclose(values(large), values(NET))  # they learn


@pytest.mark.parametrize("hidden", [(11,), (12, 9), ()])
def test_growth_that_cannot_be(hidden: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="hidden: expected widths that"):
        grown(NET, hidden, seed=(1,))
