"""The rules of backgammon: figures, hard cases, a slow twin, and OpenSpiel."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from games import load
from games.backgammon import rules
from games.backgammon.identifiers import position_id
from games.backgammon.rules import ROLLS, START, Position
from games.backgammon.situation import checker_counts, position_of, roll_of

GAME: Any = load("backgammon")
PAIRS = 300  # pairs of a position and a roll for each player; an option in the benchmark
Board = tuple[tuple[int, ...], tuple[int, ...]]

plain = pytest.mark.plain


def position(own: dict[int, int], theirs: dict[int, int], side: int = 0) -> Position:
    """Returns a position from each side's points, in its own numbering; others are off."""
    boards = [[points.get(point, 0) for point in range(26)] for points in (own, theirs)]
    return position_of(boards[0], boards[1], side)


# --- figures --------------------------------------------------------------------------------------


@plain
def test_the_start() -> None:
    assert position_id(START) == "4HPwATDgc/ABMA"
    assert START == position({6: 5, 8: 3, 13: 5, 24: 2}, {6: 5, 8: 3, 13: 5, 24: 2})
    assert GAME.outcome(START) is None


# --- hard cases -----------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize(
    ("theirs", "points"),
    [
        ({6: 15}, 2),
        ({6: 14}, 1),
        ({1: 1}, 1),
        ({6: 14, 18: 1}, 2),
        ({6: 14, 19: 1}, 3),
        ({6: 14, 24: 1}, 3),
        ({6: 14, 25: 1}, 3),
        ({6: 13, 25: 1}, 1),  # one is borne off: no gammon
        ({24: 13, 12: 2}, 3),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_ends(theirs: dict[int, int], points: int, side: int) -> None:
    where = position({2: 1}, theirs, side)
    assert GAME.outcome(where) is None
    (move,) = GAME.legal_moves(where, roll_of(6, 5))
    after = GAME.play(where, move)
    assert GAME.outcome(after) == -points
    assert GAME.outcome((*after[2:4], *after[:2], side)) == points
    assert all(GAME.legal_moves(after, roll) == [] for roll in range(21))


@plain
def test_keys_and_symmetry() -> None:
    generator = random.Random(4)
    keys: dict[int, Position] = {}
    for where in scattered(generator, 2000):
        twin = (*where[:4], 1 - where[4])
        assert rules.key(where) == rules.key(twin) >= 0
        assert rules.standard(where) == rules.standard(twin) == (*where[:4], 0)
        assert keys.setdefault(rules.key(where), where[:4]) == where[:4]


# --- a slow twin ----------------------------------------------------------------------------------


def single_moves(board: Board, die: int) -> Iterator[Board]:
    """Yields every way to move one checker; a board has both sides' checkers by own points."""
    own, theirs = board
    for point in range(1, 26):
        if not own[point] or (own[25] and point != 25):
            continue
        target = point - die
        if target <= 0:
            farthest = max(p for p in range(1, 26) if own[p])
            if farthest > 6 or (target < 0 and farthest != point):
                continue
            target = 0
        elif theirs[25 - target] >= 2:
            continue
        mine, other = list(own), list(theirs)
        mine[point] -= 1
        mine[target] += 1
        if target and other[25 - target] == 1:
            other[25 - target] = 0
            other[25] += 1
        yield tuple(mine), tuple(other)


def lines(board: Board, dice: tuple[int, ...]) -> Iterator[tuple[int, Board]]:
    """Yields the number of dice used and the board for every way to play dice in this order."""
    stuck = True
    for after in single_moves(board, dice[0]) if dice else ():
        stuck = False
        for played, last in lines(after, dice[1:]):
            yield played + 1, last
    if stuck:
        yield 0, board


def twin(board: Board, high: int, low: int) -> set[Board]:
    """Returns the boards that a roll leads to, computed literally from the rules."""
    if high == low:
        found = list(lines(board, (high,) * 4))
    else:
        found = [*lines(board, (high, low)), *lines(board, (low, high))]
    most = max(played for played, _ in found)
    if high != low and most == 1:
        only = set(single_moves(board, high)) or set(single_moves(board, low))
        return only
    return {last for played, last in found if played == most}


def board_of(where: Position) -> Board:
    return tuple(checker_counts(*where[:2])), tuple(checker_counts(*where[2:4]))


def scattered(generator: random.Random, count: int) -> Iterator[Position]:
    """Yields positions with checkers anywhere; in every third both sides are nearly home."""
    for number in range(count):
        boards = [[0] * 26, [0] * 26]
        last = generator.choice([8, 25, 25])
        for side in (0, 1):
            for _ in range(generator.randint(1, 15)):
                point = generator.randint(1, last)
                if generator.random() < 0.4:
                    point = generator.randint(1, 6)
                if point == 25 or not boards[1 - side][25 - point]:
                    boards[side][point] += 1
        if any(boards[0]) and any(boards[1]):
            yield position_of(boards[0], boards[1], number % 2)


def played(generator: random.Random, games: int) -> Iterator[Position]:
    """Yields all positions of random games."""
    for _ in range(games):
        where = START
        while GAME.outcome(where) is None:
            yield where
            roll = generator.randrange(21)
            where = GAME.play(where, generator.choice(GAME.legal_moves(where, roll)))


@plain
@pytest.mark.parametrize("kind", ["scattered", "played"])
@pytest.mark.thorough
def test_legal_moves_are_those_of_the_slow_twin(kind: str) -> None:
    generator = random.Random(7)
    source = scattered(generator, 800) if kind == "scattered" else played(generator, 8)
    pairs = 0
    for where in source:
        roll = generator.randrange(21)
        found = [GAME.play(where, move) for move in GAME.legal_moves(where, roll)]
        boards = {(theirs, own) for own, theirs in map(board_of, found)}
        assert len(boards) == len(found), (where, roll)
        assert boards == twin(board_of(where), *ROLLS[roll]), (where, roll)
        assert all(after[4] == 1 - where[4] for after in found)
        pairs += 1
    assert pairs > 400


@plain
def test_a_position_with_the_most_moves_that_fit() -> None:
    """15 checkers on 15 points and nothing in the way give more moves than any known game."""
    where = position(dict.fromkeys(range(10, 25), 1), {25: 1})
    for roll in range(21):
        moves = GAME.legal_moves(where, roll)
        assert 0 < len(moves) < rules.MOST_MOVES
        assert len({GAME.play(where, move) for move in moves}) == len(moves)


# --- OpenSpiel ------------------------------------------------------------------------------------


@pytest.mark.openspiel
@pytest.mark.parametrize("player", ["random", "gnu"])
def test_rules_are_those_of_open_spiel(player: str) -> None:
    pytest.importorskip("pyspiel")
    if player == "gnu":
        pytest.importorskip("gnubg_nn")
    from benchmarks.backgammon_rules import as_gnu_does, at_random, compare

    generator = random.Random(1)
    choose = at_random(generator) if player == "random" else as_gnu_does
    pairs = 0
    while pairs < PAIRS:
        for where, roll, mine, theirs in compare(generator, choose, rolls=1):
            assert mine == theirs, (where, roll)
            pairs += 1
