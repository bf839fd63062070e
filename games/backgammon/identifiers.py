"""Positions of backgammon as a single word: GNU Backgammon's position ID and match ID, and XGID."""

from __future__ import annotations

import base64
import binascii
import re

from games.backgammon.rules import BAR, ROLLS, Position
from games.backgammon.situation import (
    COLOURS,
    Situation,
    by_colour,
    checker_counts,
    must_hold,
    position_error,
    position_of,
    roll_of,
    whole,
)

__all__ = ["parse_gnu_id", "parse_xgid", "position_id", "xgid"]

_OFFER_LETTERS = {"D": "double", "B": "beaver", "R": "raccoon"}


# --- position ID and match ID ---------------------------------------------------------------------


def position_id(position: Position) -> str:
    """Returns GNU Backgammon's position ID, 14 characters, without the colour to move.

    Each point, the ace point first and the bar last, has a bit 1 for each checker and then a 0. The
    side that waits comes first. (The manual of GNU Backgammon names the sides the other
    way round; this follows the program.)
    """
    near, far, their_near, their_far, _ = position
    bits, place = 0, 0
    for count in checker_counts(their_near, their_far)[1:] + checker_counts(near, far)[1:]:
        bits |= ((1 << count) - 1) << place
        place += count + 1
    return _base64(bits, 10)


def _base64(bits: int, size: int) -> str:
    return base64.b64encode(bits.to_bytes(size, "little")).decode().rstrip("=")


def _bits(text: str) -> int:
    """Returns the bits of a text in base 64, the lowest first; -1 if it is not base 64."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return -1
    bits = int.from_bytes(data, "little")
    return bits if _base64(bits, len(data)) == text else -1


def _parse_position_id(text: str, side: int) -> Position:
    bits = _bits(text)
    counts = [0]
    while bits > 0:
        if bits & 1:
            counts[-1] += 1
        else:
            counts.append(0)
        bits >>= 1
    if bits < 0 or len(counts) > 50:
        raise position_error("a position ID such as 4HPwATDgc/ABMA", text)
    counts += [0] * (50 - len(counts))
    return position_of([0, *counts[25:]], [0, *counts[:25]], side)


def parse_gnu_id(position: str, match: str | None, letter: str | None) -> Situation:
    """Returns the situation of a position ID and a match ID.

    position: the position ID.
    match: the match ID, if there is one.
    letter: the side to move, X or O, if it is stated.

    Whether the game has begun, and an offer to resign, are ignored. Raises PositionError if the IDs
    are not valid or contradict `letter`.
    """
    if match is None:
        return Situation(_parse_position_id(position, COLOURS.index((letter or "X").upper())))
    bits = _bits(match)
    if bits < 0:
        raise position_error("a match ID of 12 characters such as cAkAAAAAAAAA", match)
    values = []
    for width in (4, 2, 1, 1, 3, 1, 1, 2, 3, 3, 15, 15, 15, 1):
        values.append(bits & (1 << width) - 1)
        bits >>= width
    cube, owner, player, crawford, _, _, doubled, _, first, second, length, *score, money = values
    side = 1 - player
    if letter is not None and COLOURS.index(letter.upper()) != side:
        raise position_error(f"{COLOURS[side]} to move, as the match ID says", letter)
    if owner == 2:
        raise position_error("a match ID with an owner of the cube of 0, 1 or 3", match)
    if max(first, second) > 6 or (first == 0) != (second == 0):
        raise position_error("a match ID with dice from 1 to 6", match)
    return Situation(
        position=_parse_position_id(position, side),
        roll=roll_of(first, second) if first and not doubled else None,
        match_length=length,
        score=(score[1], score[0]),
        cube=1 << cube,
        owner=None if owner == 3 else 1 - owner,
        offered="double" if doubled else "",
        crawford=bool(crawford and length),
        jacoby=not money and not length,
    )


# --- XGID -----------------------------------------------------------------------------------------


def xgid(situation: Situation) -> str:
    """Returns the situation as eXtreme Gammon writes it, after `XGID=`.

    Raises ValueError if the players have names, because there is no room for them.
    """
    must_hold(situation, "an XGID", "players")
    own, theirs = by_colour(situation.position)
    points = [_letter(own[p], theirs[BAR - p]) for p in range(1, 25)]
    letters = [_letter(0, theirs[BAR]), *points, _letter(own[BAR], 0)]
    dice = "00" if situation.roll is None else "{}{}".format(*ROLLS[situation.roll])
    fields = (
        "".join(letters),
        situation.cube.bit_length() - 1,
        0 if situation.owner is None else 1 - 2 * situation.owner,
        1 - 2 * situation.position[4],
        situation.offered[0].upper() if situation.offered else dice,
        *situation.score,
        situation.crawford if situation.match_length else situation.jacoby + 2 * situation.beavers,
        situation.match_length,
        situation.highest_cube.bit_length() - 1,
    )
    return "XGID=" + ":".join(str(int(x) if isinstance(x, bool) else x) for x in fields)


def _letter(own: int, theirs: int) -> str:
    if own:
        return chr(ord("A") + own - 1)
    return chr(ord("a") + theirs - 1) if theirs else "-"


def parse_xgid(letters: str, fields: list[str]) -> Situation:
    """Returns the situation of an XGID, from its board and 3 to 9 other fields.

    Raises PositionError if they are not valid.
    """
    names = ("cube", "cube's owner", "turn", "dice", "score of X", "score of O", "rules")
    fields += ["00", "0", "0", "0", "0", "10"][len(fields) - 3 :]
    numbers = [whole(f"XGID, {name}", text) for name, text in zip(names[:3], fields, strict=False)]
    cube, owner, turn = numbers
    rest = [
        whole(f"XGID, {name}", text)
        for name, text in zip((*names[4:], "match length", "highest cube"), fields[4:], strict=True)
    ]
    if turn not in (1, -1) or owner not in (1, 0, -1) or not (0 <= cube < 16 > rest[4] >= 0):
        raise position_error(
            "an XGID with a cube of 0 to 15, its owner 1, 0 or -1, and a turn of 1 or -1",
            ":".join(fields),
        )
    own, theirs = [0] * 26, [0] * 26
    for place, letter in enumerate(letters):
        if letter != "-":
            counts, point = (own, place) if letter.isupper() else (theirs, BAR - place)
            if point == 0:
                raise position_error("the bar of O first and that of X last", letters)
            counts[point] = ord(letter.upper()) - ord("A") + 1
    side = 0 if turn == 1 else 1
    dice = fields[3].upper()
    offered, roll = _OFFER_LETTERS.get(dice, ""), None
    if not offered and dice not in ("00", "0"):
        if re.fullmatch("[1-6]{2}", dice) is None:
            raise position_error("an XGID with dice such as 31, 00, D, B or R", fields[3])
        roll = roll_of(int(dice[0]), int(dice[1]))
    length, rules = rest[3], rest[2]
    if not 0 <= rules <= (1 if length else 3):
        expected = (
            "0 or 1 for the Crawford game" if length else "0 to 3 for Jacoby rule and beavers"
        )
        raise position_error(f"an XGID with {expected}", rules)
    return Situation(
        position=position_of(own, theirs, 0) if side == 0 else position_of(theirs, own, 1),
        roll=roll,
        match_length=length,
        score=(rest[0], rest[1]),
        cube=1 << cube,
        owner=None if owner == 0 else (1 - owner) // 2,
        offered=offered,
        crawford=bool(length and rules),
        jacoby=bool(not length and rules & 1),
        beavers=bool(not length and rules & 2),
        highest_cube=1 << rest[4],
    )
