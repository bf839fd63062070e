"""Books, agreement with them, and their learners."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

import games
from benchmarks.book import BookPolynomial, compare
from games.features import FeatureSet
from games.file_form import NO_NAMES, form_of
from games.kernels import kernel
from games.record import GameRecord
from learner.books.agreement import BookRows, agreement
from learner.books.book import (
    BookEntry,
    BookReport,
    Settler,
    read_records,
    record_entries,
)
from learner.books.cells import CellPairs, counted_cells, levels_of, mirrored_cells
from learner.books.signature import SignatureTables
from search import WIN, PythonEvaluator
from search.evaluators.signature import SignatureLayout

plain = pytest.mark.plain
CHECKERS = games.load("checkers")


def entry(values: list[tuple[int, ...]], chosen: int = 0, game: int = 0) -> BookEntry:
    """Returns an entry whose moves lead to invented positions, with the choosing side to move."""
    count = len(values)
    return BookEntry(
        CHECKERS.start(), tuple(range(count)), chosen, tuple(values), (1.0,) * count,
        (None,) * count, game,
    )  # fmt: skip


def rated(*values: int, chosen: int = 0, game: int = 0) -> BookEntry:
    return entry([(value, 0, 0, 0) for value in values], chosen, game)


FIRST = PythonEvaluator(CHECKERS, lambda position: float(position[0]))
SECOND = PythonEvaluator(CHECKERS, lambda position: float(position[0] // 10))

# --- agreement -------------------------------------------------------------------------------


@plain
def test_agreement_by_hand() -> None:
    entries = [
        rated(5, 3, 2, 7),  # two lower, one higher: second
        rated(4, 4, 1),  # one lower, one tied: first or second by lot
        rated(1, 2, 3, 1, chosen=1, game=1),  # two lower, one higher: second
    ]
    found = agreement(FIRST, entries)
    assert found.coefficient.value == pytest.approx((5 - 2) / (5 + 2))
    assert found.strict.value == pytest.approx((5 - 2) / (5 + 2 + 1))
    assert [share.value for share in found.shares] == pytest.approx([0.5 / 3, 2.5 / 3, 0.0])
    assert found.entries == 3
    assert found.text().startswith("C 0.429 [-")


@plain
def test_signs_and_ends_of_games_count_for_the_side_that_chooses() -> None:
    seen_by_other = replace(rated(5, 3, 7), signs=(-1.0, 1.0, -1.0))
    assert BookRows.of([seen_by_other]).values(FIRST).tolist() == [-5, 3, -7]
    ended = replace(rated(5, 3, 7), outcomes=(None, 1.0, -1.0))
    assert BookRows.of([ended]).values(FIRST).tolist() == [5, WIN, -WIN]


@plain
def test_differences_are_paired() -> None:
    random = np.random.default_rng(3)
    entries = [
        rated(*random.permutation(40)[:6], chosen=int(random.integers(6)), game=game)
        for game in range(40)
        for _ in range(3)
    ]
    same = compare(FIRST, FIRST, entries)
    assert same.coefficient.value == 0
    ahead, behind = compare(FIRST, SECOND, entries), compare(SECOND, FIRST, entries)
    one, two = agreement(FIRST, entries), agreement(SECOND, entries)
    for name in ("coefficient", "strict"):
        estimate = getattr(ahead, name)
        apart = getattr(one, name).value - getattr(two, name).value
        assert estimate.value == pytest.approx(apart)
        assert estimate.low < estimate.value < estimate.high
        assert estimate.low == pytest.approx(-getattr(behind, name).high)
    # games agree on which book moves rank high, so the difference has a smaller error than either
    width = ahead.strict.high - ahead.strict.low
    assert width < one.strict.high - one.strict.low


# --- reading and making ----------------------------------------------------------------------

BOOK = """[Event "Black wins"]
[Result "0-1"]

1. 11-15 23-19 2. 8-11 22-17 0-1

[Event "A move that is not one"]
[Result "1-0"]

1. 11-15 23-19 2. 8-11 22-30 1-0

[Event "Drawn"]
[Result "1/2-1/2"]

1. 11-15 1/2-1/2

[Event "Results that differ"]
[Result "1-0"]

1. 9-13 22-18 0-1
"""


def read_book(game: Any, *paths: Path, **options: Any) -> list[BookEntry]:
    """Returns the entries of files of games, of the moves of the winner."""
    side = options.pop("side", "winner")
    told = {"report": options.setdefault("report", BookReport()), "side": side}
    return [
        entry
        for number, record in enumerate(read_records(game, paths, side=side, **options))
        for entry in record_entries(record, number=number, **told)
    ]


@plain
def test_reading_a_damaged_book(tmp_path: Path) -> None:
    path = tmp_path / "book.pdn"
    path.write_text(BOOK)
    report = BookReport()
    with pytest.raises(ValueError, match=f"^{path}: it is unclear whom results name first"):
        read_book(CHECKERS, path)
    entries = read_book(CHECKERS, path, black_first=False, report=report)
    assert report.orders == [f"{path}: results name White first: as asked for"]
    assert [e.game for e in entries] == [0, 0, 1]
    assert [CHECKERS.move_text(e.position, e.move) for e in entries] == ["11-15", "8-11", "9-13"]
    assert report.games == 2 and report.entries == 3
    assert report.positions == {"move of the side that lost": 3}
    damaged, drawn = report.skipped
    assert (damaged.path, damaged.game) == (str(path), 2)
    assert damaged.reason.startswith("line 9: move 4 of the game: expected")
    assert str(drawn) == f"{path}: game 3: no winner"
    (repaired,) = report.repaired
    assert repaired.game == 4 and "line 17: expected the result" in repaired.reason
    both = read_book(CHECKERS, path, path, side="both")
    assert [e.game for e in both] == [0] * 4 + [1] * 3 + [2, 3, 3] + [4] * 4 + [5] * 3 + [6, 7, 7]


OLD = """[Black "Marion Tinsley"]
[White "Asa Long"]
[Result "1-0"]

1. 11-15 23-19 2. 8-11 22-17 {White resigns} 1-0

[Black "Long, Asa"]
[White "TINSLEY"]
[Result "1/2-1/2"]

1. 9-13 22-18 1/2-1/2
"""


@plain
def test_the_winner_of_an_old_english_game(tmp_path: Path) -> None:
    path = tmp_path / "old.pdn"
    path.write_text(OLD)
    report = BookReport()

    def movers(**options: Any) -> list[int]:
        return [CHECKERS.to_move(e.position) for e in read_book(CHECKERS, path, **options)]

    assert movers(report=report) == [0, 0]  # Black, although 1-0 is White's win in PDN
    assert "results name Black first: 1 of 1 decided games show it" in report.text()
    assert movers(black_first=False) == [1, 1]


@plain
def test_a_file_of_another_game_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "russian.pdn"
    path.write_text('[GameType "25"]\n\n1. c3-d4 d6-c5 *\n')
    with pytest.raises(ValueError, match=f"^{path}: expected games of English .* found 1 of Russ"):
        read_book(CHECKERS, path)


@plain
def test_a_report_says_how_much_of_a_book_was_read(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.pdn", "two.pdn", "three.pdn")]
    for path in paths:
        path.write_text("1. 11-15 *\n" * 3 + "1. 11-11 *\n")
    for most, said in (
        (2, "0 moves of 2 games of 4, and 2 files not read; 0 games skipped"),
        (3, "0 moves of 3 games of 4, and 2 files not read; 0 games skipped"),
        (4, "0 moves of 4 games of 8, and 1 file not read; 1 game skipped"),
        (99, "0 moves of 9 games; 3 games skipped"),
    ):
        report = BookReport()
        assert len(list(islice(read_records(CHECKERS, paths, report=report), most))) <= most
        assert report.text().splitlines()[0] == said


@plain
def test_a_book_of_any_game(tmp_path: Path) -> None:
    nim = games.load("nim")
    record = GameRecord(nim)
    while not record.over:
        record.play(nim.legal_moves(record.position)[0])
    path = tmp_path / "book.txt"
    path.write_text(form_of(nim).write(record, NO_NAMES, {}) + "\nno move\n")
    report = BookReport()
    entries = read_book(nim, path, side="both", report=report)
    assert [entry.move for entry in entries] == record.moves[:-1]  # the last has one move
    assert [skipped.game for skipped in report.skipped] == [2]


def test_moves_lead_to_the_quiet_positions_behind_captures() -> None:
    record = GameRecord(CHECKERS)
    for text in ("11-15", "23-19", "8-11"):
        record.play_text(text)
    found = [e for e in record_entries(record) if e.position[3] == 0][-1]
    settler = Settler(CHECKERS)
    for move, quiet, sign in zip(found.moves, found.settled, found.signs, strict=True):
        after = CHECKERS.play(found.position, move)
        assert not CHECKERS.noisy(quiet)
        assert sign == (1.0 if quiet[3] == found.position[3] else -1.0)
        assert (quiet == after) == (not CHECKERS.noisy(after))
        if CHECKERS.noisy(after):
            # captures chosen by material lead to the value of the search's quiescence
            quiet_again, same = settler(after)
            assert quiet_again == quiet and same == -sign
    noisy = [CHECKERS.noisy(CHECKERS.play(found.position, move)) for move in found.moves]
    assert any(noisy) and not all(noisy)
    assert CHECKERS.move_text(found.position, found.move) == "8-11"


# --- votes and cells -------------------------------------------------------------------------


@plain
def test_votes() -> None:
    entries = [rated(1, 2, 3, chosen=1), rated(1, 2), replace(rated(1, 2), outcomes=(1.0, None))]
    rows = BookRows.of(entries)
    assert rows.votes().tolist() == [-1, 2, -1, 1, -1, 0, 0]


def pairs(**changes: Any) -> CellPairs:
    """Four rows in two phases; row 0 was preferred to 1 (twice) and to 2, 3 to 1."""
    given: dict[str, Any] = {
        "better": np.array([0, 0, 0, 3]), "worse": np.array([1, 1, 2, 1]),
        "material": np.zeros(4),
        "phase": np.array([0, 0, 0, 0]), "phases": 2,
    }  # fmt: skip
    return CellPairs(**{**given, **changes})


@plain
def test_counted_cells_by_hand() -> None:
    cells = np.array([[0], [1], [0], [2]])
    apart = np.array([3, 4, 5, 0, 1, 2])  # images that no move leads to
    found = counted_cells(pairs(), cells, 6, smoothing=0.0, mirror=apart)
    # the pair 0, 2 lies in one cell and says nothing: cell 1 is 3 times worse
    assert found[0].tolist() == [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]
    assert not found[1].any()
    # A - D is 2, -3, 1 of 2, 3, 1; in all phases together (A - D) / (A + D + 1)
    smooth = counted_cells(pairs(), cells, 6, smoothing=1.0, mirror=apart)
    together = np.array([2 / 3, -3 / 4, 1 / 2])
    np.testing.assert_allclose(smooth[0, :3], (np.array([2, -3, 1]) + together) / [3, 4, 2])
    np.testing.assert_allclose(smooth[1, :3], together)
    np.testing.assert_allclose(smooth[:, 3:], -smooth[:, :3])
    mirrored = counted_cells(pairs(), cells, 3, smoothing=0.0, mirror=mirrored_cells((3,)))
    # cell 0 has 2 for it and, as the image of cell 2, 1 against it
    np.testing.assert_allclose(mirrored[0], [1 / 3, 0.0, -1 / 3])


@plain
def test_levels_are_evenly_wide_and_mirrored() -> None:
    cells = np.array([[-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0]])
    assert levels_of(cells, np.ones((1, 7)), (7,), 5).tolist() == [[0, 1, 2, 2, 2, 3, 4]]
    assert levels_of(cells, np.zeros((1, 7)), (7,), 5).tolist() == [[2] * 7]
    assert mirrored_cells((2, 3)).tolist() == [1, 0, 4, 3, 2]


# --- learning --------------------------------------------------------------------------------


@kernel
def a(position):
    return position[0]


@kernel
def b(position):
    return position[1]


@kernel
def c(position):
    return position[2]


@kernel
def negated(position):
    return (-position[0], -position[1], -position[2], position[3])


ONE_SIDED = FeatureSet("one side", {"a": a, "b": b, "c": c})
TWO_SIDED = FeatureSet("two sides", {"a": a, "b": b, "c": c}, negated)
STEPS = {"a": (-3, -1, 1, 3), "b": (-3, -1, 1, 3), "c": (-1, 1)}


def tables_layout() -> SignatureLayout:
    """Returns a layout over the terms of one side less those of the other, which are twice them."""
    steps = {term: tuple(2 * step for step in steps) for term, steps in STEPS.items()}
    return SignatureLayout("test", TWO_SIDED, (("a", "b", "c"),), steps, ((0,),))


def synthetic(rule: Any, games: int, seed: int) -> list[BookEntry]:
    """Returns a book whose preferred moves are those that a rule of three numbers rates highest."""
    random = np.random.default_rng(seed)
    entries = []
    while len(entries) < 5 * games:
        moves = [tuple(int(x) for x in (*random.integers(-3, 4, 3), 0)) for _ in range(5)]
        values = [rule(*move[:3]) for move in moves]
        if values.count(max(values)) == 1:
            entries.append(entry(moves, int(np.argmax(values)), len(entries) // 5))
    return entries


def test_tables_learn_what_terms_say_together() -> None:
    def rule(a: int, b: int, c: int) -> float:
        return float(np.sign(a) * np.sign(b) * np.sign(c))

    learn, held = synthetic(rule, 200, 1), synthetic(rule, 60, 2)
    tables = (
        SignatureTables(CHECKERS, layout=tables_layout(), material={}, smoothing=1.0)
        .fit(learn)
        .evaluator_
    )
    polynomial = BookPolynomial(CHECKERS, features=ONE_SIDED, material={}).fit(learn).evaluator_
    assert agreement(tables, held).coefficient.value > 0.9
    assert agreement(polynomial, held).coefficient.value < 0.6
    ahead = compare(tables, polynomial, held)
    assert ahead.coefficient.low > 0.2 and ahead.strict.low > 0.2


def test_polynomials_find_the_weights_of_a_polynomial() -> None:
    learn = synthetic(lambda a, b, c: 4.0 * a - 2.0 * b + 0.5 * c, 300, 5)
    learner = BookPolynomial(CHECKERS, features=ONE_SIDED, material={"a": 4.0})
    weights = learner.fit(learn).evaluator_.weights
    assert weights[0] == 4.0  # which is given
    assert weights[1] < 0 < weights[2] and abs(weights[1]) > weights[2]
    rows = BookRows.of(learn)
    own, values = rows.chosen[rows.entry], np.array(rows.positions)[:, 1]
    lower, higher = (values < values[own]).sum(), (values > values[own]).sum()
    assert learner.coefficients_[1] == pytest.approx((lower - higher) / (lower + higher))


LEARNERS = pytest.mark.parametrize(
    "make",
    [
        lambda **o: BookPolynomial(CHECKERS, features=ONE_SIDED, material={"c": 1.0}, **o),
        lambda **o: SignatureTables(CHECKERS, layout=tables_layout(), smoothing=1.0, **o),
    ],
    ids=["polynomial", "tables"],
)


def learned(learner: Any) -> list[bytes]:
    found = learner.evaluator_
    if isinstance(learner, BookPolynomial):
        return [found.weights.tobytes()]
    return [array.tobytes() for array in (*found.tables.values(), found.scale)]


@LEARNERS
def test_portions_give_the_same_as_one_go(make: Any) -> None:
    entries = synthetic(lambda a, b, c: a * b + c, 40, 6)
    whole = make().fit(entries)
    parts = make()
    for start in range(0, len(entries), 63):
        parts.partial_fit(entries[start : start + 63])
        if start == 63:
            assert learned(parts) != learned(whole)
    assert learned(parts) == learned(whole) and parts.entries_ == len(entries)


@LEARNERS
def test_learners_without_anything_to_learn(make: Any) -> None:
    learner = make()
    with pytest.raises(AttributeError, match="expected `fit` before evaluator_"):
        _ = learner.evaluator_
    assert learner.fit([]).evaluator_((1, 2, 0, 0)) == 0.0
    one = learner.fit([rated(1, 1)]).evaluator_
    assert one((1, 2, 0, 0)) == 0.0


test_errors = errors_of(globals())
