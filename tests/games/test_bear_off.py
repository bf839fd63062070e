"""Bear-off databases: ground truth, slow twins in fractions, GNU Backgammon, and damaged files."""

from __future__ import annotations

import ctypes
import functools
import itertools
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import cut, flipped
from errors import errors_of
from marks import compiled_only, plain

import games
from games import kernels
from games.backgammon import Backgammon, bear_off_tables
from games.backgammon.bear_off import (
    EXACT_DEPTH,
    FAR_AWAY,
    FAR_DEPTH,
    LONGEST,
    NEAR_DEPTH,
    WHOLE,
    outcomes,
    positions_of,
    probe,
    rank,
    unrank,
    write_successors,
)
from games.backgammon.bear_off_tables import FILE, BearOff, bear_off, build
from games.backgammon.one_sided import PLACES, ROLL, SPREAD, event, weights
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.race_terms import save_pips
from games.backgammon.rules import (
    CHECKERS,
    MOST_MOVES,
    PROBABILITIES,
    ROLLS,
    START,
    legal_moves,
    packed,
    play,
)
from search.lookups.database import DatabaseLookup

Counts = tuple[int, ...]
CHANCES = [Fraction(1 if high == low else 2, 36) for high, low in ROLLS]
#: Number of checkers in the positions that are compared one by one with a twin.
FEW = 4 if kernels.compiled else 2


@functools.cache
def full() -> BearOff:
    """Returns the tables of the usual size, built here and not read from a file."""
    return build()


@functools.cache
def small() -> BearOff:
    return build(checkers=FEW, both=2)


def near(counts: Counts) -> int:
    """Returns the lower half of the board with these numbers of checkers on points 1 to 6."""
    return packed((CHECKERS - sum(counts), *counts))[0]


def counts_of(number: int) -> Counts:
    board = unrank(number)
    return tuple(board >> 4 * point & 15 for point in range(1, 7))


def position(mine: Counts, theirs: Counts) -> tuple[int, ...]:
    return near(mine), 0, near(theirs), 0, 0


def all_counts(most: int) -> list[Counts]:
    return [c for c in itertools.product(range(most + 1), repeat=6) if sum(c) <= most]


# --- numbers of positions --------------------------------------------------------------------


@plain
def test_positions_are_numbered_by_checkers_and_then_by_how_far_they_are() -> None:
    def order(counts: Counts) -> list[int]:
        return [sum(counts[point:]) for point in range(6)]

    for number, counts in enumerate(sorted(all_counts(5), key=order)):
        assert rank(near(counts)) == number
        assert unrank(number) == near(counts)


@compiled_only
def test_every_number_has_its_position() -> None:
    assert positions_of(15) == 54264
    assert [positions_of(n) for n in (0, 1, 6)] == [1, 7, 924]
    boards = [unrank(number) for number in range(54264)]
    assert [rank(board) for board in boards] == list(range(54264))
    assert all(sum(board >> 4 * p & 15 for p in range(7)) == CHECKERS for board in boards)
    assert len(set(boards)) == 54264


# --- slow twins ------------------------------------------------------------------------------


def results(counts: Counts, dice: tuple[int, ...]) -> set[Counts]:
    """Returns all results of playing dice in one order, computed literally from the rules."""
    if not dice or not any(counts):
        return {counts}
    die, found = dice[0], set()
    highest = max(point for point in range(1, 7) if counts[point - 1])
    for point in range(1, 7):
        if counts[point - 1] and (point >= die or point == highest):
            after = list(counts)
            after[point - 1] -= 1
            if point > die:
                after[point - die - 1] += 1
            found |= results(tuple(after), dice[1:])
    return found


@functools.cache
def all_results(counts: Counts, roll: int) -> frozenset[Counts]:
    high, low = ROLLS[roll]
    if high == low:
        return frozenset(results(counts, (high,) * 4))
    return frozenset(results(counts, (high, low)) | results(counts, (low, high)))


@functools.cache
def least(counts: Counts) -> Fraction:
    """Returns the least mean number of rolls until all checkers are off."""
    if not any(counts):
        return Fraction(0)
    return 1 + sum(
        chance * min(least(after) for after in all_results(counts, roll))
        for roll, chance in enumerate(CHANCES)
    )


@functools.cache
def least_first(counts: Counts) -> Fraction:
    """Returns the least mean number of rolls until the first of 15 checkers is off."""
    if sum(counts) < CHECKERS:
        return Fraction(0)
    return 1 + sum(
        chance * min(least_first(after) for after in all_results(counts, roll))
        for roll, chance in enumerate(CHANCES)
    )


@plain
@pytest.mark.thorough
def test_moves_are_those_of_the_rules() -> None:
    moves, after = np.zeros((2, MOST_MOVES), dtype=np.int64)
    for number in range(1, positions_of(FEW)):
        for roll in range(21):
            count = write_successors(number, roll, moves, after)
            found = [counts_of(int(n)) for n in after[:count]]
            assert len(set(found)) == count
            assert set(found) == all_results(counts_of(number), roll)
            assert max(after[:count]) < number


@plain
@pytest.mark.thorough
def test_expected_rolls_are_those_of_a_slow_twin() -> None:
    assert len(small().expected) == positions_of(FEW)
    for number, rolls in enumerate(small().expected):
        assert rolls == pytest.approx(float(least(counts_of(number))), abs=1e-12)


@compiled_only
@pytest.mark.parametrize(
    "counts",
    [(15, 0, 0, 0, 0, 0), (0, 15, 0, 0, 0, 0), (0, 0, 15, 0, 0, 0), (0, 1, 12, 2, 0, 0)],
    ids=str,
)
def test_rolls_until_the_first_is_off_are_those_of_a_slow_twin(counts: Counts) -> None:
    tables = full()
    row = rank(near(counts)) - WHOLE
    assert tables.expected_first[row] == pytest.approx(float(least_first(counts)), abs=1e-12)


@functools.cache
def equity(game: Backgammon, at: tuple[int, ...]) -> float:
    """Returns the equity by plain expectiminimax to the end of the game, by the game's methods."""
    outcome = game.outcome(at)
    if outcome is not None:
        return outcome
    return sum(
        chance * max(-equity(game, game.play(at, move)) for move in game.legal_moves(at, roll))
        for roll, chance in enumerate(game.rolls)
    )


@plain
def test_equities_of_both_sides_are_those_of_plain_expectiminimax() -> None:
    game = Backgammon()
    most = 2 if kernels.compiled else 1
    boards = [counts for counts in all_counts(most) if any(counts)]
    for mine, theirs in itertools.product(boards, repeat=2):
        at = position(mine, theirs)
        found, value, depth = probe(small().tables, at)
        assert (found, depth) == (True, EXACT_DEPTH)
        assert value == pytest.approx(equity(game, at), abs=1e-7)


@compiled_only
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ((0, 0, 0, 0, 0, 15), (2, 2, 0, 0, 0, 0)),  # loses, but may save the gammon
        ((2, 2, 0, 0, 0, 0), (0, 0, 0, 0, 0, 15)),  # wins, perhaps a gammon
        ((0, 3, 0, 0, 0, 0), (13, 2, 0, 0, 0, 0)),
    ],
)
def test_gammons_are_those_of_plain_expectiminimax(mine: Counts, theirs: Counts) -> None:
    at = position(mine, theirs)
    found, value, depth = probe(full().tables, at)
    assert (found, depth) == (True, NEAR_DEPTH)
    assert value == pytest.approx(equity(Backgammon(), at), abs=1e-6)
    assert abs(value) > 1


# --- the full tables -------------------------------------------------------------------------


@compiled_only
def test_distributions_have_the_mean_that_they_were_played_for() -> None:
    tables = full()
    numbers = np.arange(LONGEST)
    for rows, means in ((tables.rolls, tables.expected), (tables.first, tables.expected_first)):
        rows = rows.astype(float)
        assert rows.min() == 0
        assert np.abs(rows.sum(1) - 1).max() < 1e-6
        assert np.abs(rows @ numbers - means).max() < 2e-6
    # no probability is lost at the end of the rows
    assert tables.rolls[:, -1].max() == tables.first[:, -1].max() == 0
    assert tables.first[:, 0].max() == 0


# --- races beyond home -----------------------------------------------------------------------

#: 15 checkers a side, none at home; and a side with six in the other's home, which bears off.
LONG_RACE = (*packed((*8 * (0,), 5, 5, 5)), *packed((*7 * (0,), 5, 5, 5)), 0)
GAMMON_RACE = (*packed((*6 * (0,), 9, *14 * (0,), 1, 5)), *packed((9, 3, 3)), 0)


@plain
def test_a_network_says_what_its_weights_say() -> None:
    """The kernel adds up one weight a point; a twin multiplies matrices."""
    hidden, outputs = weights()
    generator = np.random.default_rng(2)
    for _ in range(20):
        counts = np.bincount(generator.integers(0, 25, CHECKERS), minlength=25)
        near, far = packed((*counts.tolist(), 0))
        inputs = np.zeros(PLACES + 1)
        inputs[16 * np.arange(25) + counts] = inputs[PLACES] = 1
        inputs[16 * np.flatnonzero(counts == 0)] = 0
        found = outputs[:, :-1] @ np.maximum(hidden @ inputs, 0) + outputs[:, -1]
        for which, pips in ((0, counts @ np.arange(25)), (1, save_pips(near, far))):
            mean = max(max(found[2 * which], 0.0) + pips / ROLL, 1.0)
            spread = max(found[2 * which + 1] + SPREAD * mean, 0.02)
            assert event(hidden, outputs, near, far, which) == pytest.approx((mean, spread))


@compiled_only
def test_rolls_of_a_last_checker_on_its_way_home_follow_from_the_tables() -> None:
    """With one checker on the bar point, nearly all plays bring it home, where means are exact."""
    tables, moves = full(), np.zeros(MOST_MOVES, dtype=np.int64)
    errors = []
    for counts in np.random.default_rng(4).multinomial(14, np.ones(6) / 6, 60):
        near, far = packed((0, *counts.tolist(), 1))
        exact = 1.0
        for roll, chance in enumerate(PROBABILITIES):
            count = legal_moves((near, far, FAR_AWAY, 0, 0), roll, moves)
            after = [play((near, far, FAR_AWAY, 0, 0), int(move)) for move in moves[:count]]
            home = [rank(one[2]) for one in after if not one[2] >> 28]
            exact += chance * min(tables.expected[home])
        errors.append(event(*weights(), near, far, 0)[0] - exact)
    assert np.abs(np.mean(errors)) < 0.03
    assert np.std(errors) < 0.06


@compiled_only
def test_races_are_found_from_their_first_roll_on() -> None:
    tables = tables_here().tables
    for at in (LONG_RACE, GAMMON_RACE):
        for one in (at, (*at[2:4], *at[:2], 1)):
            found, value, depth = probe(tables, one)
            assert (found, depth) == (True, FAR_DEPTH)
            target = np.zeros(5)
            assert outcomes(tables, one, target)
            assert OUTCOMES.values(target) == pytest.approx(value)
            confined = target.copy()
            OUTCOMES.confine(one, confined)
            assert confined == pytest.approx(target, abs=1e-12)
    ahead, behind = np.zeros(5), np.zeros(5)
    outcomes(tables, (*LONG_RACE[2:4], *LONG_RACE[:2], 0), ahead)
    outcomes(tables, LONG_RACE, behind)
    assert ahead[0] > 0.7 > 0.5 > behind[0]
    outcomes(tables, GAMMON_RACE, behind)
    # the other side is off in three rolls, mostly before six checkers have left its home
    assert behind[3] > 0.95 and 0.3 < behind[4] < behind[3]


# --- the probe -------------------------------------------------------------------------------


def boards() -> list[tuple[int, ...]]:
    """Returns samples of all positions that the tables hold, including finished ones."""
    generator = np.random.default_rng(3)
    numbers = generator.integers(0, len(tables_here().rolls), (300, 2)).tolist()
    numbers += generator.integers(0, len(tables_here().equities), (100, 2)).tolist()
    last = len(tables_here().rolls) - 1
    numbers += [(0, 1), (1, 0), (0, last), (last, 0), (last, last)]
    return [position(counts_of(a), counts_of(b)) for a, b in numbers if a or b]


def tables_here() -> BearOff:
    return full() if kernels.compiled else small()


@plain
def test_outcomes_are_possible_and_worth_what_the_probe_says() -> None:
    tables = tables_here().tables
    game = Backgammon()
    for at in boards():
        target = np.full(5, np.nan)
        assert outcomes(tables, at, target)
        _, value, _ = probe(tables, at)
        assert OUTCOMES.values(target) == pytest.approx(value, abs=1e-12)
        confined = target.copy()
        OUTCOMES.confine(at, confined)
        assert confined == pytest.approx(target, abs=1e-12)
        ended = game.outcome(at)
        assert ended is None or value == pytest.approx(ended, abs=1e-6)
        assert probe(tables, (*at[:4], 1)) == probe(tables, at)


@plain
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (packed((14, *24 * (0,), 1)), packed((14, 1))),  # on the bar
        (packed((14, *24 * (0,), 1)), packed((15,))),  # and the game is over
        (packed((13, 0, 0, 0, 0, 0, 0, 1)), packed((14, 1))),  # on point 7, 14 checkers
        (packed((14, 0, 1)), packed((14, *23 * (0,), 1))),  # contact
        (packed((13, 1)), packed((14, 1))),  # 14 checkers
        (packed((14, 1)), packed((14, 2))),  # 16 checkers
        (packed((15, 15, 15, 15, 15, 15, 15)), packed((14, 1))),
    ],
)
def test_other_positions_are_not_found(mine: tuple[int, int], theirs: tuple[int, int]) -> None:
    at = (*mine, *theirs, 0)
    target = np.full(5, 7.0)
    for tables in (small().tables, tables_here().tables):
        assert probe(tables, at)[0] is False
        assert not outcomes(tables, at, target)
    assert (target == 7).all()


@plain
def test_the_start_and_what_the_tables_are_too_small_for_are_not_found() -> None:
    assert probe(small().tables, START)[0] is False
    assert probe(small().tables, position((FEW, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)))[0] is True
    assert probe(small().tables, position((FEW, 1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)))[0] is False


@compiled_only
def test_the_lookup_answers_natively_as_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builds: list[int]
) -> None:
    monkeypatch.setattr(bear_off_tables, "user_cache_dir", lambda *_, **__: str(tmp_path))
    game = games.load("backgammon")
    lookup = DatabaseLookup(game, "bearoff")
    again = pickle.loads(pickle.dumps(lookup))
    assert len(pickle.dumps(lookup)) < 1000
    python = again.plain()
    address, data, keep = lookup.native(game)
    ask = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)
    answer = np.zeros(2, dtype=np.int64)
    for at in [*boards(), START, LONG_RACE, GAMMON_RACE]:
        row = np.array(at, dtype=np.int64)
        found = ask(data, row.ctypes.data, answer.ctypes.data)
        value, depth = answer.view(np.float64)[0], answer[1]
        expected = python(at)
        assert found == expected[0]
        if found:
            assert (value, depth) == (pytest.approx(expected[1], abs=1e-12), expected[2])
    del keep


# --- files -----------------------------------------------------------------------------------


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Returns a list that gets one entry each time tables are built."""
    calls: list[int] = []

    def counted() -> BearOff:
        calls.append(1)
        return full()

    monkeypatch.setattr(bear_off_tables, "build", counted)
    return calls


def same(first: BearOff, second: BearOff) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("equities", "rolls", "first", "expected", "expected_first")
    )


@compiled_only
def test_tables_are_built_once_and_then_read(tmp_path: Path, builds: list[int]) -> None:
    for _ in range(2):
        assert same(bear_off(tmp_path / "new"), full())
    assert len(builds) == 1
    assert [path.name for path in (tmp_path / "new").iterdir()] == [FILE]


def older(content: bytes) -> bytes:
    return content.replace(bear_off_tables.FORMAT.encode(), b"plysmith-bear-off-0")


@compiled_only
@pytest.mark.parametrize(
    "damage",
    [
        cut, flipped(0), flipped(20), flipped(300), flipped(100_000), flipped(-1), older,
        lambda content: b"", lambda content: content + b"\0", lambda content: b"{}",
    ],
)  # fmt: skip
def test_damaged_files_are_built_anew(damage: Any, tmp_path: Path, builds: list[int]) -> None:
    bear_off(tmp_path)
    path = tmp_path / FILE
    whole = path.read_bytes()
    assert damage(whole) != whole
    path.write_bytes(damage(whole))
    assert same(bear_off(tmp_path), full())
    assert len(builds) == 2
    assert path.read_bytes() == whole


@compiled_only
def test_tables_do_without_a_file(tmp_path: Path, builds: list[int]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert same(bear_off(tmp_path / "file"), full())
    (tmp_path / "folder" / FILE).mkdir(parents=True)
    assert same(bear_off(tmp_path / "folder"), full())
    assert len(builds) == 2
    assert [path.name for path in (tmp_path / "folder").iterdir()] == [FILE]


# --- GNU Backgammon --------------------------------------------------------------------------


@compiled_only
def test_one_side_is_as_in_gnu_backgammon() -> None:
    gnu: Any = pytest.importorskip("gnubg_nn")
    tables = full()
    rows, means, errors = [], [], []
    for number in range(1, 54264):
        counts = gnu.bearoff_id_2_pos(number) if number < 54263 else (0, 0, 0, 0, 0, 15)
        rows.append(rank(near(counts)))
        theirs = np.array((0.0, *gnu.bearoff_probabilities(tuple(counts))))
        means.append(theirs @ np.arange(len(theirs)))
        errors.append(np.abs(tables.rolls[rows[-1], : len(theirs)] - theirs).max())
    assert sorted(rows) == list(range(1, 54264))
    assert np.abs(tables.expected[rows] - means).max() < 2e-4
    # of two nearly equal plays it may have chosen the other
    assert np.mean(np.array(errors) > 1e-4) < 0.005
    assert max(errors) < 3e-3


@compiled_only
def test_both_sides_are_as_in_gnu_backgammon() -> None:
    gnu: Any = pytest.importorskip("gnubg_nn")
    for most, kind in ((924, gnu.p_bearoff), (54264, gnu.p_1sbear)):
        for a, b in np.random.default_rng(2).integers(1, most, (2000, 2)).tolist():
            mine, theirs = counts_of(a), counts_of(b)
            board = [list(theirs) + 19 * [0], list(mine) + 19 * [0]]
            target = np.zeros(5)
            assert outcomes(full().tables, position(mine, theirs), target)
            assert target[0] == pytest.approx(gnu.probabilities(board, kind)[0], abs=2e-4)


test_errors = errors_of(globals())
