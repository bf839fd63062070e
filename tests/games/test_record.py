"""Game records: moves, draws, declared results, and the history passed to a search."""

from __future__ import annotations

import random
from typing import Any

import pytest
from errors import errors_of
from hypothesis import given
from hypothesis import strategies as st
from toys import Pile

from games import load
from games.contract import Game
from games.errors import MoveError
from games.record import Annotation, GameRecord
from games.values import places, places_text

pytestmark = pytest.mark.plain

CHECKERS = load("checkers")
TWO_KINGS = "B:WK32:BK1"  # far from each other, so that both can wander


class Levers(Game):
    """Positions 0 to 2 in a ring; moves go either way, and `lock` cannot be undone."""

    name = "levers"

    def start(self) -> tuple[int, int]:
        return 0, 0

    def legal_moves(self, position: tuple[int, int]) -> list[str]:
        return ["next", "back", "lock"]

    def play(self, position: tuple[int, int], move: str) -> tuple[int, int]:
        step = {"next": 1, "back": 2, "lock": 0}[move]
        return (position[0] + step) % 3, position[1] + (move == "lock")

    def outcome(self, position: tuple[int, int]) -> float | None:
        return None

    irreversible = staticmethod(lambda position, move: move == "lock")


def wander(**options: Any) -> GameRecord:
    return GameRecord(CHECKERS, CHECKERS.parse_position(TWO_KINGS), **options)


def play(record: GameRecord, *texts: str) -> GameRecord:
    for text in texts:
        record.play_text(text)
    return record


LAP = ("1-6", "32-27", "6-1", "27-32")  # back to the first position


def test_a_new_record() -> None:
    record = GameRecord(CHECKERS)
    assert record.position == record.start == CHECKERS.start()
    assert record.positions == [CHECKERS.start()]
    assert (record.ply, record.to_move, record.moves, record.annotations) == (0, 0, [], [])
    assert (record.outcome(), record.over, record.reason) == (None, False, "")
    assert (record.history, record.quiet_plies) == ([], 0)


def test_moves_and_what_is_noted_with_them() -> None:
    record = GameRecord(CHECKERS, comment="a friendly game")
    first = record.game.parse_move(record.position, "11-15")
    record.play(first, value=0.25, depth=7, comment="the usual")
    record.play_text("22-18")
    assert record.moves[0] == first
    assert record.positions[1] == CHECKERS.play(CHECKERS.start(), first)
    assert record.position == record.positions[2]
    assert (record.ply, record.to_move) == (2, 0)
    assert record.annotations == [Annotation(0.25, 7, "the usual"), Annotation()]
    record.annotate(depth=3)
    assert record.annotations[1] == Annotation(None, 3, "")


def test_nothing_changes_by_a_move_that_is_not_legal() -> None:
    record = play(GameRecord(CHECKERS), "11-15")
    with pytest.raises(MoveError, match="^expected one of .*22-18.*, found 12345$"):
        record.play(12345)
    with pytest.raises(MoveError, match="^expected one of .*22-18.*, found '11-15'$"):
        record.play_text("11-15")
    assert (record.ply, len(record.positions), len(record.annotations)) == (1, 2, 1)
    record.play_text("22-18")


def test_no_moves_after_the_end() -> None:
    record = GameRecord(CHECKERS, CHECKERS.parse_position("B:W14:B9"))
    play(record, "9x18")
    assert (record.over, record.reason) == (True, "no move")
    for attempt in (lambda: record.play(1), lambda: record.play_text("18-22")):
        with pytest.raises(MoveError, match=r"^expected no move after the end \(no move\), found"):
            attempt()


@pytest.mark.parametrize(
    ("text", "moves", "outcome"),
    [
        ("B:W14:B9", ["9x18"], 1.0),  # Black, who begins, has won
        ("W:W18:B14", ["18x9"], -1.0),
        ("B:W14,K32:B9,1", ["9x18", "32-27", "1-5", "27-23", "18x27"], 1.0),
        ("B:W9,14:B5", [], -1.0),
        ("W:W28:B24,19", [], 1.0),
    ],
)
def test_outcomes_are_for_the_side_that_begins(text: str, moves: list[str], outcome: float) -> None:
    record = play(GameRecord(CHECKERS, CHECKERS.parse_position(text)), *moves)
    assert (record.outcome(), record.over, record.reason) == (outcome, True, "no move")


def test_the_side_to_move_is_counted_where_the_game_does_not_tell() -> None:
    record = GameRecord(Pile(5))
    for move, side in ((1, 0), (3, 1), (1, 0)):
        assert record.to_move == side
        assert record.outcome() is None
        record.play(move)
    assert (record.outcome(), record.reason) == (1.0, "end of the game")
    assert record.history == []  # no position of this game comes back
    shorter = GameRecord(Pile(5))
    shorter.play(2)
    shorter.play(3)
    assert shorter.outcome() == -1.0


def test_third_repetition_is_a_draw() -> None:
    record = play(wander(), *LAP, *LAP[:3])
    assert not record.over
    play(record, LAP[3])
    assert (record.outcome(), record.reason) == (0.0, "repetition")
    with pytest.raises(MoveError, match="repetition"):
        record.play_text("1-6")
    record.undo()
    assert (record.outcome(), record.reason) == (None, "")


def test_number_of_repetitions() -> None:
    assert play(wander(repetitions=2), *LAP).reason == "repetition"
    assert not play(wander(repetitions=4), *LAP, *LAP).over
    assert play(wander(repetitions=4), *LAP, *LAP, *LAP).reason == "repetition"
    assert not play(wander(repetitions=None), *LAP * 10).over


def test_positions_before_an_irreversible_move_do_not_count() -> None:
    record = GameRecord(Levers(), repetitions=2)
    record.play("next")
    record.play("back")
    assert record.reason == "repetition"

    record = GameRecord(Levers(), repetitions=2)
    record.play("next")
    record.play("lock")
    assert (record.history, record.quiet_plies) == ([], 0)
    record.play("back")
    assert not record.over  # (0, 1), not the (0, 0) of the start
    assert (record.history, record.quiet_plies) == ([(1, 1)], 1)
    record.play("next")
    assert record.reason == "repetition"  # the position that the lock led to counts


def test_forty_moves_of_each_side_without_capture_or_mans_move_are_a_draw() -> None:
    record = wander(repetitions=None)
    play(record, *LAP * 20)
    assert record.ply == record.quiet_plies == 80
    assert (record.outcome(), record.reason) == (0.0, "40 moves each")
    record.undo()
    assert not record.over


def test_a_lost_game_is_not_drawn() -> None:
    class Trap(Levers):
        def outcome(self, position: tuple[int, int]) -> float | None:
            return -1.0 if position[0] == 2 else None

    for start, outcome in (((0, 0), -1.0), ((1, 0), 1.0)):
        record = GameRecord(Trap(), start, quiet_moves=1)
        while record.position[0] != 2:
            record.play("next")
        assert (record.outcome(), record.reason) == (outcome, "no move")
    assert record.quiet_plies == 1
    drawn = GameRecord(Trap(), quiet_moves=1)
    drawn.play("next")
    drawn.play("back")
    assert (drawn.outcome(), drawn.reason) == (0.0, "1 moves each")


def test_a_declared_outcome() -> None:
    record = play(GameRecord(CHECKERS), "11-15")
    record.declare(-1, "Black resigns")
    assert (record.outcome(), record.over, record.reason) == (-1.0, True, "Black resigns")
    with pytest.raises(MoveError, match=r"after the end \(Black resigns\)"):
        record.play_text("22-18")
    with pytest.raises(ValueError, match=r"found it over \(Black resigns\)"):
        record.declare(0, "agreed")
    record.undo()
    assert (record.outcome(), record.ply) == (None, 0)
    play(record, "11-15", "22-18")


@given(st.integers(0, 2**32))
def test_taking_back_restores_everything(seed: int) -> None:
    generator = random.Random(seed)
    record = wander(repetitions=3, quiet_moves=5) if seed % 2 else GameRecord(CHECKERS)
    seen = []
    while not record.over and record.ply < 60:
        seen.append(snapshot(record))
        record.play(generator.choice(CHECKERS.legal_moves(record.position)))
    moves = list(record.moves)
    for expected in reversed(seen):
        assert record.undo() == moves[record.ply]
        assert snapshot(record) == expected


def snapshot(record: GameRecord) -> tuple[Any, ...]:
    return (
        list(record.positions), list(record.moves), list(record.annotations), record.history,
        record.quiet_plies, record.outcome(), record.reason, record.to_move,
    )  # fmt: skip


@given(st.integers(0, 2**32))
def test_history_and_draws_against_a_slow_twin(seed: int) -> None:
    """The twin finds draws from the whole game: captures and men's moves are irreversible."""
    generator = random.Random(seed)
    record = wander(quiet_moves=8) if seed % 2 else GameRecord(CHECKERS, quiet_moves=3)
    while True:
        counts = [
            pieces(record.positions[ply + 1]) != pieces(record.positions[ply])
            for ply in range(record.ply)
        ]
        last = max((ply + 1 for ply, final in enumerate(counts) if final), default=0)
        quiet = record.ply - last
        assert record.quiet_plies == quiet
        assert record.history == record.positions[last:-1]
        drawn = record.positions.count(record.position) >= 3 or quiet >= 2 * record.quiet_moves
        moves = CHECKERS.legal_moves(record.position)
        assert record.over == (drawn or not moves)
        if record.over:
            assert (record.outcome() == 0.0) == bool(moves)
            break
        record.play(generator.choice(moves))


def pieces(position: Any) -> tuple[int, int, frozenset[int]]:
    """Returns the numbers of pieces and the men's squares, which kings' moves leave unchanged."""
    own, opponent, kings, _ = position
    men = (own | opponent) & ~kings
    return (own | opponent).bit_count(), kings.bit_count(), frozenset([men])


def test_who_forfeits_a_game_of_three_is_last() -> None:
    record = GameRecord(load("chinese_checkers"))
    record.play_text("6-14")
    with pytest.raises(ValueError, match="expected 3 outcomes, found 2"):
        record.declare((1.0, -1.0), "agreed")
    record.forfeit(1, "resignation")
    assert record.outcomes() == (0.5, -1.0, 0.5) and record.outcome() == 0.5
    assert (record.over, record.reason) == (True, "resignation")
    assert places(record.outcomes() or ()) == (1.5, 3.0, 1.5)
    text = places_text(("A", "B", "C"), record.outcomes() or ())
    assert text == "A and C are first, then B"
    assert places_text(("A", "B", "C"), (0.0, 0.0, 0.0)) == ""


test_errors = errors_of(globals())
