"""Positions of backgammon as FIBS, the First Internet Backgammon Server, sends them to clients."""

from __future__ import annotations

import re

from games.backgammon.rules import BAR, ROLLS
from games.backgammon.situation import (
    Situation,
    by_colour,
    must_hold,
    position_error,
    position_of,
    roll_of,
    whole,
)

__all__ = ["fibs_text", "parse_fibs"]

UNLIMITED = 9999  # the number that FIBS sends for a match without a length


def fibs_text(situation: Situation) -> str:
    """Returns the board line of FIBS as the side to move sees it, or the side that was doubled.

    Players without a name are `You` and `opponent`. Raises ValueError if the line cannot
    hold the situation: names with a colon, rules for money, a limit of the cube, beavers.
    """
    must_hold(situation, "a FIBS board", "jacoby", "beavers", "highest_cube")
    if situation.offered not in ("", "double"):
        raise ValueError(f"a FIBS board cannot hold a {situation.offered}")
    side = situation.position[4]
    # The doubled side must answer; the line cannot say that the side to move has doubled.
    view = 1 - side if situation.offered else side
    boards = by_colour(situation.position)
    own, theirs = boards[view], boards[1 - view]
    names = [situation.players[view] or "You", situation.players[1 - view] or "opponent"]
    if any(re.search(r"[:\s]", name) for name in names):
        raise ValueError(f"a FIBS board: expected names without colons and spaces, found {names}")
    sign = 1 if view else -1
    points = [sign * (own[p] - theirs[BAR - p]) for p in range(1, 25)]
    high, low = (0, 0) if situation.roll is None else ROLLS[situation.roll]
    length = situation.match_length
    crawford_over = length > 1 and length - 1 in situation.score and not situation.crawford
    numbers = (
        length or UNLIMITED, situation.score[view], situation.score[1 - view],
        -sign * theirs[BAR], *points, sign * own[BAR],
        1 if side else -1, high, low, 0, 0,
        situation.cube, situation.owner in (None, view), situation.owner in (None, 1 - view),
        situation.offered == "double",
        sign, -1, 0, 25, own[0], theirs[0], own[BAR], theirs[BAR], 0, 0, 0, crawford_over,
    )  # fmt: skip
    return ":".join(["board", *names, *(str(int(number)) for number in numbers)])


def parse_fibs(text: str) -> Situation:
    """Returns the situation that such a line describes; the text begins with `board:`.

    The owner of the cube follows from who may double; if neither side may, it is in the middle.
    With a cube of 1 and a side one point away it is the Crawford game, unless the last of 53 parts
    says that this is over; also if neither side may double. GNU Backgammon as a host marks it by a
    1 in the last part but one. Repeated fields are not read. Raises PositionError if the line is
    not valid.
    """
    parts = text.split(":")
    if not 43 <= len(parts) <= 53:
        raise position_error("a FIBS board line with 43 to 53 parts", f"{len(parts)}", quote=False)
    numbers = [whole(f"FIBS board, part {i}", part) for i, part in enumerate(parts[3:], 4)]
    length, score, board = numbers[0], numbers[1:3], numbers[3:29]
    turn, dice, cube = numbers[29], numbers[30:34], numbers[34]
    may, their_may, doubled, sign, direction = numbers[35:40]
    if sign not in (1, -1) or direction not in (1, -1):
        found = (sign, direction)
        raise position_error("a FIBS board with a colour and a direction of 1 or -1", found)
    if turn not in (1, -1):
        raise position_error("a FIBS board with a side to move, 1 or -1", turn)
    if direction == 1:
        board.reverse()
    own = [max(0, sign * x) for x in board]
    theirs = [max(0, -sign * x) for x in reversed(board)]
    if own[0] or theirs[0]:
        found = (board[0], board[25])
        raise position_error("a FIBS board with each side's bar at its own end", found)
    colour = 1 if sign == 1 else 0
    side = 1 - colour if doubled else 1 if turn == 1 else 0
    pairs = [dice[:2], dice[2:]] if colour == side else [dice[2:], dice[:2]]
    if any(pair != [0, 0] and not 1 <= min(pair) <= max(pair) <= 6 for pair in pairs):
        raise position_error("a FIBS board with pairs of dice from 1 to 6, or 0", dice)
    thrown = next((pair for pair in pairs if pair[0]), None)
    roll = None if thrown is None or doubled else roll_of(*thrown)
    length = 0 if length == UNLIMITED else length
    live = may or their_may
    no_rule, crawford_over = numbers[48:50] if len(numbers) == 50 else (0, int(live))
    crawford = not live or no_rule == 1 or not (no_rule or crawford_over)
    points = (score[0], score[1]) if colour == 0 else (score[1], score[0])
    names = (parts[1], parts[2]) if colour == 0 else (parts[2], parts[1])
    boards = (own, theirs) if side == colour else (theirs, own)
    return Situation(
        position=position_of(*boards, side),
        roll=roll,
        match_length=length,
        score=points,
        cube=cube,
        owner=(colour if may else 1 - colour) if live and not (may and their_may) else None,
        offered="double" if doubled else "",
        crawford=crawford and cube == 1 and max(points) == length - 1 > min(points),
        players=(_name(names[0]), _name(names[1])),
    )


def _name(text: str) -> str:
    return "" if text in ("You", "opponent") else text
