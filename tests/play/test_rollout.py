"""Rollouts of games with dice: their dice, a slow twin, their estimates and their errors."""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain
from toys import Walk

from games.backgammon import Backgammon
from games.backgammon.bear_off import outcomes, probe
from games.backgammon.bear_off_tables import build
from games.backgammon.rules import CHECKERS, PROBABILITIES, START, packed
from games.kernels import kernel
from games.kernels.chance import next_state
from games.kernels.memory import native_function, read_position
from games.rolls import Rolls
from play.__main__ import main
from play.rollout.dice import RolloutDice, advantage, mean_and_error, tickets
from play.rollout.rollout import Blocks, rollout
from play.workers import Workers
from search import Engine, Evaluator, KernelEvaluator, Lookup, PythonEvaluator

GAME = Backgammon()


# --- weak evaluators -------------------------------------------------------------------------


@kernel
def chances(position):
    """Five probabilities by checkers borne off and on the bar; gammons while they can be."""
    near, far, their_near, their_far, _ = position
    off, their_off = near & 15, their_near & 15
    ahead = 0.02 * (off - their_off) - 0.05 * ((far >> 48 & 15) - (their_far >> 48 & 15))
    ahead += 0.01 * ((near >> 24 & 15) - (their_near >> 24 & 15))
    win = min(max(0.53 + ahead, 0.0), 1.0)
    gammon = 0.2 * win if their_off == 0 else 0.0
    lost = 0.3 * (1.0 - win) if off == 0 else 0.0
    return win, gammon, 0.1 * gammon, lost, 0.1 * lost


@kernel
def chances_value(position):
    """What they come to."""
    win, gammon, backgammon, lost, lost_backgammon = chances(position)
    return -1.0 + 2.0 * win + gammon + backgammon - lost - lost_backgammon


class Chances(KernelEvaluator):
    """Gives outcomes, badly."""

    gives_outcomes = True
    bounds = (-3.0, 3.0)

    def native_outcomes(self) -> tuple[int, int, Any]:
        numbers = "".join(f"    store_float(target, {k}, found[{k}])\n" for k in range(5))
        text = f"def outcomes_at(data, source, target):\n    found = chances({read_position(5)})\n"
        signature = "int64(int64, int64, int64)"
        address = native_function(
            "outcomes_at", f"{text}{numbers}    return 0\n", {"chances": chances}, signature
        )
        return address, 0, None

    def outcomes(self, positions: Any) -> Any:
        return np.array([chances(tuple(position)) for position in positions]).reshape(-1, 5)


POOR = Chances(GAME, chances_value, name="poor")
VALUES_ONLY = KernelEvaluator(GAME, chances_value, name="values only")


@functools.cache
def tables(both: int) -> Any:
    return build(checkers=6, both=both).tables


def bear_off(both: int) -> Lookup:
    """Returns a lookup with the exact values of bear-off positions, `both` checkers a side."""
    return Lookup(probe, tables(both), outcomes=outcomes)


def home(mine: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
    """Returns a bear-off position from the checkers on points 1, 2 and so on."""
    sides = [packed((CHECKERS - sum(counts), *counts)) for counts in (mine, theirs)]
    return (*sides[0], *sides[1], 0)


SHORT = home((0, 1, 0, 1, 1, 1), (1, 0, 0, 2, 0, 1))
SMALL = home((0, 0, 1, 0, 1), (0, 1, 1))
#: Each side is about to bear off.
RACE = (*packed((0, 3, 3, 3, 2, 2, 2)), *packed((0, 2, 3, 3, 3, 2, 2)), 0)


def middle() -> Any:
    """Returns a position with contact that no sensible player would reach."""
    position = START
    for turn in range(14):
        moves = GAME.legal_moves(position, 5 * turn % 21)
        position = GAME.play(position, moves[len(moves) // 2])
    return position


WALK = Walk()
#: Prefers to have steps left, so it plays badly.
LAZY = PythonEvaluator(WALK, lambda position: 0.1 * position[0] - 0.02 * position[1] ** 2)


# --- a slow twin ---------------------------------------------------------------------------------


class Twin:
    """Plays games one by one; `choose(position, roll)` is the player if it is not depth 0."""

    def __init__(
        self,
        game: Any,
        evaluator: Evaluator,
        *,
        lookup: Lookup | None = None,
        choose: Callable[[Any, int], Any] | None = None,
        known: Callable[..., Any] | None = None,
    ) -> None:
        self.game, self.evaluator = game, evaluator
        self.probe = lookup.plain() if lookup else lambda position: (False, 0.0, 0)
        self.lookup, self.known = lookup, known
        self.choose = choose or (lambda position, roll: self.best(position, roll)[0])

    def value_of(self, position: Any) -> float:
        outcome, (found, value, *_) = self.game.outcome(position), self.probe(position)
        return outcome if outcome is not None else value if found else self.evaluator(position)

    def rate(self, position: Any) -> list[float]:
        value = self.value_of(position)
        if not self.evaluator.gives_outcomes:
            return [value]
        probabilities = np.zeros(5)
        if self.game.outcome(position) is not None:
            self.game.outcomes.finished(position, probabilities)
        elif not (self.known and self.known(self.lookup.tables, position, probabilities)):
            probabilities[:] = self.evaluator.outcomes([position])[0]
        return [*probabilities.tolist(), value]

    def turned(self, numbers: list[float]) -> list[float]:
        if len(numbers) == 1:
            return [-numbers[0]]
        win, gammon, backgammon, lost, lost_backgammon, value = numbers
        return [1.0 - win, lost, lost_backgammon, gammon, backgammon, -value]

    def best(self, position: Any, roll: int) -> tuple[Any, list[float]]:
        """Returns the best move by static values, and its value for the side that moves."""
        moves = self.game.legal_moves(position, roll)
        after = [self.game.play(position, move) for move in moves]
        values = [-self.value_of(one) for one in after]
        i = values.index(max(values))
        return moves[i], self.turned(self.rate(after[i]))

    def play(
        self, position: Any, state: int, rolls: Any, dice: RolloutDice, plies: int, look: bool
    ) -> tuple[list[float], int]:
        """Returns outcomes and value for the side to move, and the number of plies."""
        luck, sides = None, 0
        for ply in range(plies + 1):
            found, _, depth = self.probe(position)
            certain = found and depth > 20
            if self.game.outcome(position) is not None or certain or ply == plies:
                break
            state = int(next_state(state))
            roll = dice.roll(state)
            if ply < 2 and rolls[ply] >= 0:
                roll = int(rolls[ply])
            if look:
                brought = self.luck(position, roll, sides)
                luck = (
                    brought if luck is None else [a + b for a, b in zip(luck, brought, strict=True)]
                )
            position = self.game.play(position, self.choose(position, roll))
            sides = 1 - sides
        result = self.rate(position)
        result = self.turned(result) if sides else result
        return [a - b for a, b in zip(result, luck or [0.0] * len(result), strict=True)], ply

    def luck(self, position: Any, roll: int, other: int) -> list[float]:
        each = [self.best(position, r)[1] for r in range(len(self.game.rolls))]
        mean = [0.0] * len(each[0])
        for chance, numbers in zip(self.game.rolls, each, strict=True):
            mean = [a + chance * b for a, b in zip(mean, numbers, strict=True)]
        actual = each[roll]
        if other:
            actual, mean = self.turned(actual), self.turned(mean)
        return [a - b for a, b in zip(actual, mean, strict=True)]

    def block(
        self, position: Any, dice: RolloutDice, games: int, plies: int, look: bool
    ) -> tuple[Any, list[int]]:
        streams, rolls = dice.block(0)
        played = [
            self.play(position, int(streams[i]), rolls[i], dice, plies, look) for i in range(games)
        ]
        return np.array([numbers for numbers, _ in played]), [plies for _, plies in played]


def samples(
    evaluator: Evaluator, position: Any, games: int, *, depth: int = 0, truncate: int | None = None,
    variance_reduction: bool = True, lookup: Any = None, seed: int = 0,
) -> Any:  # fmt: skip
    """Returns the games of a rollout, [games, outcomes + 1], and their numbers of plies."""
    rolled = Blocks(
        evaluator.game, evaluator, lookup, depth, None, truncate, variance_reduction, seed
    )
    blocks = [block for _, block in rolled.play([position], False, games, None)]
    return np.concatenate([b[0] for b in blocks]), sum((b[1].tolist() for b in blocks), [])


@compiled_only
@pytest.mark.parametrize("look", [True, False])
@pytest.mark.parametrize("evaluator", [POOR, VALUES_ONLY], ids=["outcomes", "values"])
@pytest.mark.parametrize("truncate", [None, 5])
def test_native_games_are_the_slow_ones(evaluator: Any, look: bool, truncate: int | None) -> None:
    dice = RolloutDice(GAME, 7)
    games = 3
    for position in (SHORT, RACE) if truncate is None else (START, middle()):
        options = {"truncate": truncate, "variance_reduction": look, "seed": 7}
        found, plies = samples(evaluator, position, games, **options)
        twin = Twin(GAME, evaluator).block(position, dice, games, truncate or 4000, look)
        assert found.tolist() == twin[0].tolist()
        assert plies == twin[1]
        assert truncate is None or max(plies) == truncate


@plain
@pytest.mark.parametrize("look", [True, False])
@pytest.mark.parametrize("truncate", [None, 3])
def test_games_in_python_are_the_slow_ones(look: bool, truncate: int | None) -> None:
    dice = RolloutDice(WALK, 3)
    options = {"truncate": truncate, "variance_reduction": look, "seed": 3}
    found, plies = samples(LAZY, (3, 3), 36, **options)
    twin = Twin(WALK, LAZY).block((3, 3), dice, 36, truncate or 4000, look)
    assert found.tolist() == twin[0].tolist()
    assert plies == twin[1]
    assert (max(plies) == 3) == (truncate is not None)


@compiled_only
def test_games_end_where_the_lookup_knows_exactly() -> None:
    dice, lookup = RolloutDice(GAME, 2), bear_off(2)
    found, plies = samples(POOR, SHORT, 12, lookup=lookup, seed=2)
    twin = Twin(GAME, POOR, lookup=lookup, known=outcomes).block(SHORT, dice, 12, 4000, True)
    assert found.tolist() == twin[0].tolist()
    assert plies == twin[1]
    assert max(plies) < max(samples(POOR, SHORT, 12, seed=2)[1])
    known = rollout(GAME, [home((1,), (1, 1)), home((1, 1), (2,))], POOR, games=5, lookup=lookup)
    assert known.plies == 0
    assert known.equity_error.tolist() == [0.0, 0.0]
    assert known.equity[0] == 1.0
    assert known.outcomes is not None
    assert known.outcomes[:, 0] == pytest.approx((known.equity + 1) / 2)
    assert known.outcomes[:, 1:].tolist() == [[0.0] * 4] * 2


@compiled_only
@pytest.mark.parametrize("truncate", [None, 2])
def test_at_depth_1_a_search_chooses_and_values(truncate: int | None) -> None:
    engine = Engine(GAME, POOR)
    twin = Twin(GAME, POOR, choose=lambda p, roll: engine.search(p, roll=roll, depth=1).move)
    dice = RolloutDice(GAME, 5)
    found, plies = samples(POOR, SMALL, 8, depth=1, seed=5, truncate=truncate)
    slow, its_plies = twin.block(SMALL, dice, 8, truncate or 4000, True)
    assert plies == its_plies
    if truncate is None:
        assert found.tolist() == slow.tolist()
        return
    deep = samples(POOR, SMALL, 8, depth=1, seed=5, truncate=1, variance_reduction=False)[0]
    for i, roll in enumerate(dice.block(0)[1][:8, 0]):
        after = GAME.play(SMALL, engine.search(SMALL, roll=int(roll), depth=1).move)
        result = engine.search(after, depth=1)
        assert deep[i, -1] == -result.value
        assert result.outcomes is not None
        assert deep[i, 0] == 1.0 - result.outcomes[0]


# --- dice ------------------------------------------------------------------------------------


@plain
def test_every_pair_of_first_rolls_comes_in_its_exact_proportion() -> None:
    dice = RolloutDice(GAME, 11)
    rolls = dice.rolls(2 * 1296)
    for square in (rolls[:1296], rolls[1296:]):
        found = Counter(map(tuple, square.tolist()))
        for a, first in enumerate(PROBABILITIES):
            for b, second in enumerate(PROBABILITIES):
                assert found[a, b] == round(1296 * first * second)
    assert rolls[:1296].tolist() != rolls[1296:].tolist()
    for block in range(72):
        for column in (0, 1):
            found = Counter(rolls[36 * block : 36 * block + 36, column].tolist())
            assert [found[r] for r in range(21)] == [round(36 * p) for p in PROBABILITIES]


@plain
def test_dice_belong_to_a_seed_and_a_game() -> None:
    first, again, other = (RolloutDice(GAME, seed) for seed in (1, 1, 2))
    for part in (0, 1):
        assert first.block(40)[part].tolist() == again.block(40)[part].tolist()
        assert first.block(40)[part].tolist() != other.block(40)[part].tolist()
    streams = np.concatenate([first.block(number)[0] for number in range(50)])
    assert len(set(streams.tolist())) == 1800
    later = [first.roll(int(next_state(state))) for state in streams.tolist()]
    share = np.bincount(later, minlength=21) / 1800
    assert np.abs(share - PROBABILITIES).max() < 4 * math.sqrt(1 / 18 / 1800)


@plain
def test_rolls_without_a_common_denominator_are_left_to_chance() -> None:
    assert tickets((0.25, 0.75)) == [0, 1, 1, 1]
    assert tickets((0.0, 1.0)) == [1]
    assert tickets((0.1234, 0.8766)) == []

    class Odd(Walk):
        dice = Rolls((0.1234, 0.8766))

    assert set(RolloutDice(Odd(), 0).rolls(36).ravel()) == {-1}
    odd = PythonEvaluator(Odd(), lambda position: 0.0)
    result = rollout(Odd(), [(3, 3)], odd, games=72, threads=1)
    assert 0 < result.equity_error[0] < 0.3


# --- estimates -------------------------------------------------------------------------------


def exact(game: Any, evaluator: Evaluator, position: Any, plies: int = 99) -> float:
    """Returns the mean outcome between two players at depth 0, over all possible rolls."""
    twin = Twin(game, evaluator)

    @functools.cache
    def mean(position: Any, plies: int) -> float:
        if game.outcome(position) is not None or plies == 0:
            return twin.value_of(position)
        return -sum(
            chance * mean(game.play(position, twin.best(position, roll)[0]), plies - 1)
            for roll, chance in enumerate(game.rolls)
        )

    return mean(position, plies)


@plain
@pytest.mark.parametrize("look", [True, False])
@pytest.mark.parametrize("plies", [None, 2, 3])
def test_the_mean_is_what_all_rolls_come_to(look: bool, plies: int | None) -> None:
    truth = exact(WALK, LAZY, (3, 3), plies or 99)
    options = {"truncate": plies, "variance_reduction": look, "threads": 1, "seed": 4}
    result = rollout(WALK, [(3, 3)], LAZY, games=720, **options)
    if plies == 2 and look:
        assert result.equity[0] == pytest.approx(truth)
    assert abs(result.equity[0] - truth) < 3.5 * result.equity_error[0] + 1e-12
    if plies is None:
        assert exact(WALK, LAZY, (3, 3), 2) != pytest.approx(truth, abs=0.05)


# --- standard errors ---------------------------------------------------------------------------


@compiled_only
@pytest.mark.parametrize(
    ("games", "look"),
    [(36, False), *(pytest.param(144, look, marks=pytest.mark.slow) for look in (False, True))],
)
def test_errors_are_those_of_other_seeds(games: int, look: bool) -> None:
    """In short games the first two rolls decide much, and stratification removes their variance."""
    options = {"games": games, "variance_reduction": look, "threads": 1}
    found = [rollout(GAME, [START], POOR, truncate=4, seed=s, **options) for s in range(80)]
    for mean, error in (
        (lambda r: r.equity[0], lambda r: r.equity_error[0]),
        (lambda r: r.outcomes[0, 0], lambda r: r.outcome_errors[0, 0]),
    ):
        spread = np.std([mean(result) for result in found], ddof=1)
        said = math.sqrt(np.mean([error(result) ** 2 for result in found]))
        least = 0.8 if games > 36 else 0.5  # with few games the second roll counts as random
        assert least * said < spread < 1.2 * said


@plain
def test_standard_errors_by_hand() -> None:
    none = np.full((4, 2), -1)
    mean, error = mean_and_error(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [6.0, 5.0]]), none)
    assert mean.tolist() == [3.0, 5.0]
    assert error == pytest.approx([math.sqrt(14 / 3 / 4), 0.0])
    assert np.isnan(mean_and_error(np.zeros((1, 1)), none[:1])[1]).all()
    assert np.isnan(mean_and_error(np.zeros((0, 1)), none[:0])[0]).all()
    # variation explained by the rolls does not count as error
    rolls = RolloutDice(GAME, 0).rolls(144)
    rest = np.random.default_rng(0).normal(size=144)
    explained = np.sin(rolls[:, 0]) + np.cos(rolls[:, 1])
    errors = mean_and_error(np.array([rest, rest + 9 * explained]).T, rolls)[1]
    assert errors[0] == pytest.approx(errors[1])
    assert errors[0] == pytest.approx(1 / 12, rel=0.2)


@plain
def test_the_surer_the_farther_apart() -> None:
    rest = np.random.default_rng(1).normal(size=400)
    rolls = np.full((400, 2), -1)
    assert advantage(rest, rest, rolls) == 0.5
    assert advantage(rest + 1, rest, rolls) == 1.0
    near = advantage(rest + 0.05, rest[::-1], rolls)
    assert 0.5 < near < advantage(rest + 0.1, rest[::-1], rolls) < 1.0
    assert advantage(rest[::-1], rest + 0.05, rolls) == pytest.approx(1 - near)


# --- candidates -----------------------------------------------------------------------------


@compiled_only
def test_moves_are_valued_for_the_side_that_makes_them() -> None:
    roll = GAME.dice.parse("31")
    moves = [GAME.parse_move(START, text, roll) for text in ("8/5 6/5", "24/20")]
    options = {"games": 72, "truncate": 3}
    found = rollout(GAME, START, POOR, roll=roll, moves=moves, **options)
    after = rollout(GAME, [GAME.play(START, move) for move in moves], POOR, **options)
    assert found.moves == tuple(moves)
    assert found.equity == pytest.approx(-after.equity)
    assert found.equity_error == pytest.approx(after.equity_error)
    assert found.outcomes is not None and after.outcomes is not None
    assert found.outcomes[:, 0] == pytest.approx(1 - after.outcomes[:, 0])
    assert found.outcomes[:, 1] == pytest.approx(after.outcomes[:, 3])
    assert found.best == int(np.argmax(found.equity))
    assert found.lead[found.best] == 0.5
    assert 0.5 <= found.lead[1 - found.best] <= 1
    assert after.lead.shape == (0,)
    every = rollout(GAME, START, POOR, roll=roll, games=1, truncate=1)
    assert list(every.moves) == GAME.legal_moves(START, roll)


# --- bits, interruptions, workers -------------------------------------------------------------


@compiled_only
@pytest.mark.parametrize("backend", ["threads", pytest.param("loky", marks=pytest.mark.whole_run)])
def test_a_seed_decides_every_bit(backend: str) -> None:
    def rolled(**options: Any) -> list[Any]:
        result = rollout(GAME, [START, RACE], POOR, games=100, truncate=6, **options)
        assert result.outcomes is not None and result.outcome_errors is not None
        numbers = (result.equity, result.equity_error, result.outcomes, result.outcome_errors)
        return [result.plies, *(array.tolist() for array in numbers)]

    first = rolled(threads=1, seed=3)
    assert first == rolled(threads=3, seed=3)
    assert first != rolled(threads=1, seed=4)
    with Workers(backend, 1) as workers:
        assert first == rolled(workers=workers, seed=3)
    alone = rollout(GAME, [RACE], POOR, games=100, truncate=6, seed=3)
    assert alone.equity[0] == first[1][1]


@compiled_only
def test_ctrl_c_returns_what_there_is() -> None:
    done = []

    def interrupt(games: int) -> None:
        done.append(games)
        if len(done) == 3:
            raise KeyboardInterrupt

    for threads in (1, 2):
        done.clear()
        options: dict[str, Any] = {"threads": threads, "progress": interrupt, "truncate": 9}
        result = rollout(GAME, [START, RACE], POOR, games=50_000, **options)
        assert result.interrupted
        assert result.games.tolist() == [72, 36]
        assert np.isfinite(result.equity_error).all()
        assert result.plies > 0 and result.plies_per_second > 0

    def at_once(position: Any) -> float:
        raise KeyboardInterrupt

    nothing = rollout(GAME, [START], PythonEvaluator(GAME, at_once), threads=1)
    assert nothing.interrupted
    assert nothing.games.tolist() == [0]
    assert np.isnan(nothing.equity).all()


@compiled_only
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("depth", [0, 1])
def test_what_an_evaluator_raises_is_raised(threads: int, depth: int) -> None:
    def bad(position: Any) -> float:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        rollout(GAME, [START], PythonEvaluator(GAME, bad), threads=threads, depth=depth, games=72)


@plain
def test_positions_may_be_none_or_over() -> None:
    assert rollout(WALK, [], LAZY, games=5).equity.shape == (0,)
    over = rollout(WALK, [(2, 0)], LAZY, games=5)
    assert over.equity.tolist() == [-2.0]
    assert over.equity_error.tolist() == [0.0]
    assert over.outcomes is None and over.outcome_errors is None
    assert np.isnan(rollout(WALK, [(3, 3)], LAZY, games=1).equity_error[0])


# --- the command ------------------------------------------------------------------------------


@compiled_only
def test_the_command_rolls_positions_out(capsys: Any) -> None:
    text = GAME.position_text(SHORT)
    arguments = ["rollout", "backgammon", text, GAME.position_text(SMALL), "pips+bearoff"]
    assert main([*arguments, "--games", "36", "--quiet", "--json"]) == 0
    printed = capsys.readouterr().out.splitlines()
    figures = json.loads(printed[-1])
    assert [one["name"] for one in figures["rolled_out"]] == [text, GAME.position_text(SMALL)]
    truth = [probe(tables(6), position)[1] for position in (SHORT, SMALL)]
    assert [one["equity"] for one in figures["rolled_out"]] == pytest.approx(truth)
    assert figures["plies"] == 0 and not figures["interrupted"]
    assert f"{truth[0]:+.4f} ± 0.0000; 36 games" in printed[1]


@compiled_only
def test_the_command_compares_moves(capsys: Any) -> None:
    arguments = ["rollout", "backgammon", "start", "pips", "--roll", "31"]
    few = ["--games", "36", "--truncate", "2", "--quiet"]
    assert main([*arguments, "--moves", "8/5 6/5", "24/20", *few, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {one["name"] for one in figures["rolled_out"]} == {"8/5 6/5", "24/20"}
    equities = [one["equity"] for one in figures["rolled_out"]]
    assert equities == sorted(equities, reverse=True)
    assert main([*arguments, "--best", "3", *few, "--with-luck"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("the best is better with") == 2
    assert main([*arguments, "--moves", "8/5 6/5", "24/20", *few[:1], "360", *few[2:]]) == 0
    assert "the best is better with more than 99.9%" in capsys.readouterr().out
    assert "not luck-adjusted" in printed and "plies/s" in printed


test_errors = errors_of(globals())
