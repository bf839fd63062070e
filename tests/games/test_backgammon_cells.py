"""The cells of backgammon against counts of men, and terms over positions that are compared."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import games
from games.backgammon.cells import CELLS
from games.backgammon.rules import checkers, points_held, points_made
from games.backgammon.shots import blots_hit, hitting_rolls
from games.features.cell_terms import CellTerm, Neighbours, atoms
from games.features.cells import EMPTY
from games.features.term_file import feature_set_of, named
from play.judging.explanation import explain
from search import LinearEvaluator

BACKGAMMON: Any = games.load("backgammon")


def positions(count: int = 60) -> list[Any]:
    """Returns unfinished positions of random games, of all phases."""
    chance, found = random.Random(3), []
    position = BACKGAMMON.start()
    while len(found) < count:
        moves = BACKGAMMON.legal_moves(position, chance.randrange(21))
        position = BACKGAMMON.play(position, chance.choice(moves))
        if BACKGAMMON.outcome(position) is not None:
            position = BACKGAMMON.start()
        elif chance.random() < 0.1:
            found.append(position)
    return found


def expected(position: Any, kind: str) -> set[int]:
    """Returns the bits of a kind of the side to move, by counts of men."""
    near, far, their_near, their_far, side = position
    own = {point: checkers(near, far, point) for point in range(26)}
    theirs = [point for point in range(1, 26) if checkers(their_near, their_far, point)]
    pips = sum(point * men for point, men in own.items())
    ahead = 25 - max(theirs)
    race = not any(men and point > ahead for point, men in own.items() if point)
    amounts = {
        "man borne off": own[0], "eight pips to go": min(pips // 8, 51),
        "four pips to go in a race": min(pips // 4, 51) if race else 0,
        "four pips to bring home": 0 if own[0] else sum(max(p - 6, 0) * own[p] for p in own) // 4,
        "roll that hits": 0 if side & 2 else hitting_rolls(*position[:4]),
    }  # fmt: skip
    if kind in amounts:
        return set(range(1, amounts[kind] + 1))
    if "blot " in kind:
        hit = {"blot in danger": 1, "blot under direct fire": 11}[kind]
        attacked = blots_hit(their_near, their_far, near, far, hit) if side & 2 else 0
        return {point for point in own if attacked >> point & 1}
    least = {"man": 1, "point": 2, "blot": 1, "spare": 3, "stack": 4, "tower": 6}[kind.split()[-1]]
    most = 1 if kind.endswith("blot") else 15
    held = {point for point, men in own.items() if point and least <= men <= most}
    if kind.startswith("racing"):
        return held if race else set()
    return {point for point in held if point > ahead} if " " in kind else held


def test_a_lone_blot_is_hit_by_as_many_rolls_as_hit() -> None:
    lone = 0
    for near, far, their_near, their_far, _ in positions(300):
        blots = points_held(near, far) & ~points_made(near, far) & (1 << 25) - 2
        if bin(blots).count("1") == 1:
            lone += 1
            rolls = hitting_rolls(their_near, their_far, near, far)
            assert blots_hit(their_near, their_far, near, far, max(rolls, 1)) == blots * (rolls > 0)
            assert blots_hit(their_near, their_far, near, far, rolls + 1) == 0
    assert lone > 20


def test_kinds_hold_what_the_counts_of_men_say() -> None:
    found = positions()
    words = CELLS.words(np.array(found))
    for kind in CELLS.kinds:
        for i, position in enumerate(found):
            swapped = tuple(int(x) for x in CELLS.swap(position))
            for viewer, (mine, theirs) in enumerate([(position, swapped), (swapped, position)]):
                own, enemy = expected(mine, kind), expected(theirs, kind)
                if not CELLS.kinds[kind].amount:
                    enemy = {25 - point for point in enemy}
                assert int(words[kind][viewer, i]) == sum(1 << bit for bit in own), kind
                assert int(words[f"their {kind}"][viewer, i]) == sum(1 << bit for bit in enemy)


def test_kernels_agree_with_terms_as_data_and_comparisons_are_differences() -> None:
    chance, rows = random.Random(4), np.array(positions())
    terms = [CellTerm(EMPTY, "home board"), CellTerm("blot", "6 point")]
    terms += [CellTerm(kind) for kind in CELLS.kinds if CELLS.kinds[kind].amount]
    for anchor in CELLS.kinds:
        if not CELLS.kinds[anchor].amount:
            way = chance.choice([step for step in range(-6, 7) if step])
            terms.append(CellTerm(anchor).also((way, 0), chance.choice(atoms(CELLS))))
    around = Neighbours(CELLS, CELLS.words(rows))
    found = np.array([term.difference(around) for term in terms]).T
    assert (feature_set_of(CELLS, named(CELLS, terms)).measure(rows) == found).all()
    others = Neighbours(CELLS, CELLS.words(rows[::-1]))
    for term, own in zip(terms, found.T, strict=True):
        pairs = Neighbours(CELLS, CELLS.words(rows), others)
        assert term.difference(pairs).tolist() == (own - own[::-1]).tolist()
    assert terms[1].text(CELLS) == "own blot on the 6 point"


def test_explanations_tell_terms_in_words_and_their_points_as_x_counts_them() -> None:
    terms = [
        CellTerm("blot", "far outer board"),
        CellTerm("man", "bar"),
        CellTerm("eight pips to go"),
    ]
    features = feature_set_of(CELLS, named(CELLS, terms))
    evaluator = LinearEvaluator(BACKGAMMON, features, np.array([-0.1, -0.2, -0.05]), name="found")
    # X has a blot on its 14 point; O one on its 13 point, X's 12, and a man on the bar
    for turn in ("1", "-1"):
        text = f"XGID=a-----N-----a-A----m------:0:0:{turn}:00:0:0:0:0:10"
        found = explain(evaluator, BACKGAMMON.parse_position(text))
        assert {part.name: part.squares for part in found} == {
            "own blot in the far outer board": (12, 14),
            "own man on the bar": (0,),
            "each eight pips to go": (),
        }
