"""Backgammon positions, moves, rolls and boards as text.

A position is written as GNU Backgammon's position ID, followed by ` O` if the side with colour 1 is
to move; XGID, GNU ID and FIBS boards are read as well. A move is written as GNU Backgammon does,
`24/18*/13 bar/20(2)`: each side counts the points its own way, a `*` marks a hit, and only points
where something is hit are named between the ends of a checker's way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from games.backgammon import rules
from games.backgammon.fibs import parse_fibs
from games.backgammon.identifiers import parse_gnu_id, parse_xgid, position_id
from games.backgammon.rules import BAR, MOST_MOVES, OFF, ROLLS, Position
from games.backgammon.situation import (
    COLOURS,
    Situation,
    checker_counts,
    position_error,
    roll_of,
)
from games.errors import MoveError, embedded, stripped
from programs.phrases import listed, shortened

__all__ = [
    "NO_MOVE",
    "move_text",
    "parse_move",
    "parse_position",
    "parse_roll",
    "parse_situation",
    "pips",
    "position_text",
    "roll_text",
    "show",
]

NO_MOVE = "no move"
#: Longer texts are refused unread; legitimate ones are far shorter.
LONGEST_MOVE = 200
_ROWS = 5  # of a board that show checkers

_NOTHING = ("no move", "cannot move", "can't move", "pass", "dance", "dances", "fans", "-", "none")
_XGID = re.compile(r"(?:XGID\s*=\s*)?([-a-o]{26})((?::[ \t]*-?[0-9A-Z]+[ \t]*){3,9})", re.I | re.A)
_GNU_ID = re.compile(r"([A-Za-z0-9+/]{14})(?:==)?(?:[: ]([A-Za-z0-9+/]{12}))?(?:\s+([XOxo]))?")
#: Positions in the words of a program: an XGID, a FIBS board, or position ID and match ID.
_EMBEDDED = re.compile(
    r"(XGID\s*=\s*[-a-o]{26}(?::[ \t]*-?[0-9A-Z]+){3,9})|\b(board:[^\s\"')\]]+)"
    r"|(?<![\w+/])(?:Position\s+ID\s*:\s*)?([a-z0-9+/]{14}:[a-z0-9+/]{12})(?![\w+/])"
    r"|Position\s+ID\s*(?:[:=]|is\b)\s*([a-z0-9+/]{14})(?![\w+/])"
    r"(?:(?:(?!Position\s+ID).)*?Match\s+ID\s*(?:[:=]|is\b)\s*([a-z0-9+/]{12})(?![\w+/])|(?:==)?\s+([XO])\b)?",
    re.I | re.A | re.S,
)
_ROLL = re.compile(r"\(?\s*([1-6])\s*[-,/ ]?\s*([1-6])\s*\)?:?")
_POINT = r"(?:bar|off|b|o|[0-9]{1,2})"
_PART = re.compile(rf"({_POINT}\*?(?:[/-]{_POINT}\*?)+)(?:\(([1-4])\))?(\*?)")
_NAMES = {"bar": BAR, "b": BAR, "off": OFF, "o": OFF}

_legal_moves: Callable[[Position, int, Any], int] = rules.legal_moves


# --- positions ------------------------------------------------------------------------------------


def position_text(position: Position) -> str:
    """Returns the position ID, followed by ` O` if the side with colour 1 is to move."""
    return position_id(position) + (" O" if position[4] else "")


def parse_position(text: str) -> Position:
    """Returns the position that a text describes, in any form that `parse_situation` reads."""
    return parse_situation(text).position


def parse_situation(text: str) -> Situation:
    """Returns the situation of an XGID, a GNU ID, a position ID or a FIBS board line.

    Words and a drawn board may surround it. A position ID does not name the side to move: it is
    X unless an O follows.

    Raises PositionError for any other text and for impossible positions: more than 15 checkers of a
    side, both sides on one point, or both with all checkers borne off; also for hypergammon.
    """
    word = embedded(text, _EMBEDDED).strip("\"'. ")
    if word[:6].lower() == "board:":
        return parse_fibs(word)
    match = _XGID.fullmatch(word)
    if match is not None:
        fields = [part.strip() for part in match[2][1:].split(":")]
        return _of_backgammon(parse_xgid(match[1], fields))
    match = _GNU_ID.fullmatch(word)
    if match is not None:
        situation = parse_gnu_id(match[1], match[2], match[3])
        return _of_backgammon(situation) if match[2] else situation
    raise position_error(
        "a position ID such as 4HPwATDgc/ABMA (followed by O if O is to move), an XGID or"
        " a FIBS board",
        word,
    )


def _of_backgammon(situation: Situation) -> Situation:
    """Refuse three checkers of each side, of which both have some outside their home.

    Backgammon has such positions too, but hardly ever; their position IDs are read.
    """
    near, far, their_near, their_far, _ = situation.position
    sides = checker_counts(near, far), checker_counts(their_near, their_far)
    if all(sum(counts[1:]) <= 3 and any(counts[7:]) for counts in sides):
        raise position_error("15 checkers of each side", "3, as in hypergammon", quote=False)
    return situation


# --- rolls ----------------------------------------------------------------------------------------


def roll_text(roll: int) -> str:
    """Returns the two dice of a roll, the larger first, such as `31`."""
    return "{}{}".format(*ROLLS[roll])


def parse_roll(text: str) -> int:
    """Returns the roll of two dice in any order, such as `31`, `1-3` or `3 1`.

    Raises MoveError if the text is not a roll.
    """
    match = _ROLL.fullmatch(text.strip()) if len(text) <= LONGEST_MOVE else None
    if match is None:
        raise MoveError(f"expected a roll such as 31 or 6-6, found {shortened(text.strip())!r}")
    return roll_of(int(match[1]), int(match[2]))


# --- moves ----------------------------------------------------------------------------------------


def _steps_of(move: int) -> list[tuple[int, int]]:
    """Returns start and end of each checker's move, the farthest first."""
    steps = []
    while move:
        source = move & 31
        steps.append((source, max(source - (move >> 5 & 7), OFF)))
        move >>= 8
    return sorted(steps, reverse=True)


def _hitting(position: Position, move: int) -> list[tuple[int, int, bool]]:
    """Returns start and end of each checker's move, and whether it hits."""
    blots = _blots(position)
    hitting = []
    for source, target in _steps_of(move):
        hitting.append((source, target, target in blots))
        blots.discard(target)
    return hitting


def _blots(position: Position) -> set[int]:
    """Returns the points of the other side's blots, as the side to move counts them."""
    counts = checker_counts(position[2], position[3])
    return {BAR - point for point in range(1, BAR) if counts[point] == 1}


def move_text(position: Position, move: int) -> str:
    """Returns a legal move as GNU Backgammon writes it; `no move` if nothing moves.

    No two legal moves of a position with a roll have the same text. The farthest checker comes
    first.
    """
    if move == 0:
        return NO_MOVE
    ways: list[list[tuple[int, bool]]] = []  # of each checker: points, and whether it hits there
    for source, target, hits in _hitting(position, move):
        open_ends = [way for way in ways if way[-1][0] == source]
        # A checker that hit stays, if another one can continue.
        way = min(open_ends, key=lambda way: way[-1][1], default=[(source, False)])
        if not open_ends:
            ways.append(way)
        way.append((target, hits))
    hit_points: dict[tuple[int, ...], set[int]] = {}
    times: Counter[tuple[int, ...]] = Counter()
    for way in ways:
        inner = [point for point, hits in way[1:-1] if hits]
        points = (way[0][0], *inner, way[-1][0])
        times[points] += 1
        hit_points.setdefault(points, set()).update(point for point, hits in way if hits)
    parts = []
    for points in sorted(times, reverse=True):
        names = [_name(p) + "*" * (p in hit_points[points]) for p in points]
        parts.append("/".join(names) + (f"({times[points]})" if times[points] > 1 else ""))
    return " ".join(parts)


def _name(point: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(point, str(point))


def parse_move(position: Position, text: str, roll: int | None = None) -> int:
    """Returns the legal move with a roll that a text names.

    Parts may come in any order, a checker's way in one part or in several, hits with or without
    `*`, a part for several checkers with a number such as `(2)` or repeated; `25` is the bar and
    `0` off; case does not matter. If moves differ only in the blots that they hit on the way, the
    points that the text names decide.

    Raises MoveError if the text is not a move, names no legal move or several, or marks a hit that
    does not happen; the message lists the possible moves. Raises ValueError if `roll` is not a roll
    of the game.
    """
    if roll is None or not 0 <= roll < len(ROLLS):
        raise ValueError(f"roll: expected 0 to {len(ROLLS) - 1}, found {roll!r}")
    words = stripped(text, MoveError).lower().split()
    shown = " ".join(words) if len(text) <= LONGEST_MOVE else text[:LONGEST_MOVE]
    legal = _legal(position, roll)
    if shown in _NOTHING and len(text) <= LONGEST_MOVE:
        if legal != [0]:
            raise MoveError(f"expected {_choice(position, legal)}, found {shown!r}")
        return 0
    change, named, starred = _read_parts(shown if len(text) <= LONGEST_MOVE else "")
    if not change and not named:
        raise MoveError(
            f"expected a move such as 24/18 13/12 or bar/20*(2), found {shortened(text.strip())!r}"
        )
    matching = [
        (move, {target for _, target, hits in _hitting(position, move) if hits})
        for move in legal
        if move and _change(_steps_of(move)) == change
    ]
    shown = shortened(shown)
    if not matching:
        raise MoveError(f"expected {_choice(position, legal)}, found {shown!r}")
    hitting = [(move, hits) for move, hits in matching if starred <= hits]
    if not hitting:
        moves = [move for move, _ in matching]
        raise MoveError(
            f"expected {_choice(position, moves)}, found {shown!r}, which marks another hit"
        )
    expected = named & _blots(position)
    exact = [move for move, hits in hitting if hits == expected]
    moves = exact or [move for move, _ in hitting]
    if len(moves) > 1:
        raise MoveError(
            f"expected {_choice(position, moves)}, found {shown!r}, which names them all"
        )
    return moves[0]


def _read_parts(text: str) -> tuple[dict[int, int], set[int], set[int]]:
    """Returns the change of checkers on each point, and the points named as reached and as hit.

    All three are empty if the text is not a move.
    """
    nothing: tuple[dict[int, int], set[int], set[int]] = ({}, set(), set())
    text = re.sub(r"\s*([-/*(),;])\s*", r"\1", text)
    ways: list[tuple[int, int]] = []
    named: set[int] = set()
    starred: set[int] = set()
    for part in re.sub(r"[,;]|(?<=[*)])(?=[a-z0-9])", " ", text).split():
        match = _PART.fullmatch(part)
        if match is None:
            return nothing
        words = re.split("[/-]", match[1] + match[3])
        names = [word.rstrip("*") for word in words]
        points = [_NAMES[name] if name in _NAMES else int(name) for name in names]
        if points == [OFF, OFF]:
            continue  # written by some servers for a die without a legal move
        if any(after >= before for before, after in zip(points, points[1:], strict=False)):
            return nothing
        if points[0] > BAR or "*" in words[0]:
            return nothing
        ways += [(points[0], points[-1])] * int(match[2] or 1)
        named.update(points[1:])
        starred.update(p for p, word in zip(points, words, strict=True) if word.endswith("*"))
    return _change(ways), named, starred


def _change(ways: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Returns by how much each point's number of checkers changes."""
    change: dict[int, int] = {}
    for source, target in ways:
        change[source] = change.get(source, 0) - 1
        change[target] = change.get(target, 0) + 1
    return {point: count for point, count in change.items() if count}


def _legal(position: Position, roll: int) -> list[int]:
    moves = np.zeros(MOST_MOVES, dtype=np.int64)
    count = _legal_moves(position, roll, moves)
    return [int(move) for move in moves[:count]]


def _choice(position: Position, legal: list[int]) -> str:
    """Returns the legal moves that an error message lists."""
    if not legal:
        return "no move after the end of the game"
    return "one of " * (len(legal) > 1) + listed(move_text(position, move) for move in legal)


# --- boards ---------------------------------------------------------------------------------------


def pips(position: Position) -> tuple[int, int]:
    """Returns the pip counts of the side to move and of the other side."""
    near, far, their_near, their_far, _ = position
    own, theirs = checker_counts(near, far), checker_counts(their_near, their_far)
    return sum(p * n for p, n in enumerate(own)), sum(p * n for p, n in enumerate(theirs))


def show(position: Position) -> str:
    """Returns the board as the side to move sees it, with its home at the bottom right.

    Checkers are X (colour 0) and O (colour 1); a number stands for checkers for which there is no
    room. Those on the bar stand in the middle, the opponent's at the bottom.
    """
    near, far, their_near, their_far, side = position
    own, theirs = checker_counts(near, far), checker_counts(their_near, their_far)
    mine, other = COLOURS[side], COLOURS[1 - side]
    counts = [own[p] or theirs[BAR - p] for p in range(BAR)]
    signs = [mine if own[p] else other for p in range(BAR)]
    upper, lower = _column(own[BAR], mine), _column(theirs[BAR], other)
    columns = [_column(counts[p], signs[p]) for p in range(BAR)]
    points = pips(position)

    def row(depth: int, numbers: list[range], bar: list[str]) -> str:
        left, right = (" ".join(f"{columns[p][depth]:>2}" for p in half) for half in numbers)
        return f" |{left} |{bar[depth]:>2} |{right} |"

    top = [range(13, 19), range(19, 25)]
    bottom = [range(12, 6, -1), range(6, 0, -1)]
    return "\n".join(
        [
            f" +{_numbers(top[0])}-+BAR+{_numbers(top[1])}-+"
            f"  {other}: {theirs[OFF]} off, {points[1]} pips",
            *(row(depth, top, upper) for depth in range(_ROWS)),
            " |" + " " * 18 + "|   |" + " " * 18 + "|",
            *(row(depth, bottom, lower) for depth in reversed(range(_ROWS))),
            f" +{_numbers(bottom[0])}-+---+{_numbers(bottom[1])}-+"
            f"  {mine}: {own[OFF]} off, {points[0]} pips",
            f"{mine} to move",
        ]
    )


def _numbers(points: range) -> str:
    return "-".join(f"{p:->2}" for p in points)


def _column(count: int, sign: str) -> list[str]:
    """Returns the signs in each row of a point, from its edge of the board on."""
    column = [sign if depth < count else "" for depth in range(_ROWS)]
    if count > _ROWS:
        column[-1] = str(count)
    return column
