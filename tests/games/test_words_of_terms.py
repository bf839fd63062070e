"""The shipped terms that the program invented count what their words say, square by square."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import games
from games.extras import extra
from games.features import Cells
from search import LinearEvaluator, load_evaluator
from search.evaluators.samples import sample_positions

CHECKERS = games.load("checkers")
LINES = {
    "back": 0,
    "1st": 0,
    "2nd": 1,
    "3rd": 2,
    "last": 7,
    **{f"{n}th": n - 1 for n in range(4, 9)},
}
#: Rows from a side's own back row, columns from its left.
Square = tuple[int, int]
View = dict[str, set[Square]]
#: The numbered squares as a side sees them: number 1 is in its back row, at the right.
SQUARES = {
    4 * row + place + 1: (row, 6 - 2 * place if row % 2 == 0 else 7 - 2 * place)
    for row in range(8)
    for place in range(4)
}
ALL = set(SQUARES.values())


def parts(pattern: str, text: str) -> tuple[str, ...]:
    """Returns the groups of a pattern that must fit the whole text."""
    match = re.fullmatch(pattern, text)
    assert match is not None, text
    return match.groups("")


def views(position: Any) -> list[View]:
    """Returns what stands where, as the side to move and as the other side sees it."""
    text = CHECKERS.position_text(position)
    mover, white, black = parts(r"([BW]):W([K\d,]*):B([K\d,]*)", text)
    return [view(colour, white, black) for colour in (mover, "BW"[mover == "B"])]


def view(colour: str, white: str, black: str) -> View:
    found: View = {
        f"{w} {k}": set() for w in ("own", "enemy") for k in ("man", "king", "mover", "jumper")
    }
    for owner, text in (("W", white), ("B", black)):
        for piece in filter(None, text.split(",")):
            number = int(piece.lstrip("K"))
            kind = "king" if piece[0] == "K" else "man"
            whose = "own" if owner == colour else "enemy"
            found[f"{whose} {kind}"].add(SQUARES[number if colour == "B" else 33 - number])
    sides = {whose: found[f"{whose} man"] | found[f"{whose} king"] for whose in ("own", "enemy")}
    empty = ALL - sides["own"] - sides["enemy"]
    for whose, other in (("own", "enemy"), ("enemy", "own")):
        for row, column in sides[whose]:
            king = (row, column) in found[f"{whose} king"]
            for up in (1, -1) if king else (1,) if whose == "own" else (-1,):
                for across in (1, -1):
                    near, far = (row + up, column + across), (row + 2 * up, column + 2 * across)
                    if near in empty:
                        found[f"{whose} mover"].add((row, column))
                    if near in sides[other] and far in empty:
                        found[f"{whose} jumper"].add((row, column))
    return {**found, "empty square": empty}


def zone(words: str) -> set[Square]:
    """Returns the squares that are "on the back row", "in the 3rd column" and so on."""
    if not words:
        return ALL
    if words == "in the centre":
        return {square for square in ALL if {*square} <= {2, 3, 4, 5}}
    if words == "in the double corner":
        return {SQUARES[1], SQUARES[5]}
    if "corner" in words:
        (numbers,) = parts(r"in the (?:far )?corner of squares ([\d ]+)", words)
        return {SQUARES[int(number)] for number in numbers.split()}
    which, line = parts(r"(?:in|on) the (\w+) (row|column)", words)
    return {square for square in ALL if square[line == "column"] == LINES[which]}


def counts(words: str, seen: Iterable[View]) -> list[int]:
    """Returns for each view the number of squares on which a term's words hold."""
    head, _, rest = words.partition(" with ")
    anchor, where = parts(r"(own \w+|empty square)(?: ((?:in|on) the .*))?", head)
    conditions = []
    for part in filter(None, re.split(r", | and ", rest)):
        what, way = parts(r"(?:an|the) (own \w+|enemy \w+|empty square|board's edge) (.*)", part)
        steps = 2 if way.startswith("two ") else 1
        up = steps * (("ahead" in way) - ("behind" in way))
        conditions.append((what, up, steps * (way.endswith("right") - way.endswith("left"))))
    squares = {
        (row, column)
        for row, column in zone(where)
        if all(((row + u, column + a) in ALL) == (w != "board's edge") for w, u, a in conditions)
    }
    conditions = [one for one in conditions if one[0] != "board's edge"]
    return [
        sum(
            all((r + u, c + a) in view[w] for w, u, a in conditions)
            for r, c in view[anchor] & squares
        )
        for view in seen
    ]


def test_words_are_read_as_people_read_them() -> None:
    """A side has square 1 at the right of its back row."""
    assert (SQUARES[1], SQUARES[5], SQUARES[4]) == ((0, 6), (1, 7), (0, 0))
    seen = views(CHECKERS.parse_position("B:W32,K21:B1,5,K18"))
    for words, number in {
        "own man with an own man ahead to the right": [1, 0],
        "own man in the corner of squares 1 5 6": [2, 1],
        "own man with the board's edge two to the right": [2, 1],
        "own king with an enemy king behind to the left": [0, 0],
        "own mover": [3, 2],
        "own jumper": [0, 0],
    }.items():
        assert counts(words, seen) == number, words


def set_up(chance: random.Random) -> Any:
    """Returns a position with pieces on squares drawn by lot, half of them kings."""
    squares = chance.sample(range(1, 33), chance.randint(4, 12))
    sides: dict[str, list[str]] = {"W": [], "B": []}
    for number in squares:
        colour = chance.choice("WB")
        crowned = number <= 4 if colour == "W" else number > 28
        sides[colour].append(f"{'K' * (crowned or chance.random() < 0.5)}{number}")
    white, black = (",".join(sides[colour]) for colour in "WB")
    return CHECKERS.parse_position(f"{chance.choice('WB')}:W{white}:B{black}")


@pytest.mark.thorough
def test_every_shipped_invented_term_counts_what_its_words_say() -> None:
    evaluator, cells = load_evaluator("checkers/invented"), extra(CHECKERS, Cells)
    assert isinstance(evaluator, LinearEvaluator) and cells is not None
    chance = random.Random(4)
    positions = sample_positions(CHECKERS, 400) + [set_up(chance) for _ in range(600)]
    measured = evaluator.features.measure(positions)
    mine, theirs = zip(*map(views, positions), strict=True)
    terms = evaluator.features.cell_terms.values()
    assert len(terms) == 60
    for column, term in zip(measured.T, terms, strict=True):
        words = term.text(cells)
        differences = np.subtract(counts(words, mine), counts(words, theirs))
        np.testing.assert_array_equal(column, differences, err_msg=words)
        assert np.any(column), f"{words}: expected a position that tells"
