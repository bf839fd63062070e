"""Backgammon in the browser: checkers on points, and moves die by die."""

from __future__ import annotations

from typing import Any

from games.backgammon.notation import move_text, pips
from games.backgammon.rules import BAR, OFF, ROLLS
from games.backgammon.situation import by_colour, checker_counts
from games.contract import Game
from games.errors import MoveError
from play.web.faces import Step

__all__ = ["BackgammonFace"]

#: The checkers of the side to move and of the other side, each on its own points 0 to 25.
Board = tuple[tuple[int, ...], tuple[int, ...]]


class BackgammonFace:
    """See `play.web.faces.Face`; each side numbers the points from its own home, 25 is the bar."""

    kind = "backgammon"
    light_first = True

    def __init__(self, game: Game) -> None:
        self.game = game

    def board(self, position: Any) -> dict[str, Any]:
        """Returns both sides' checkers on points 0 (off) to 25 (bar), and their pip counts."""
        own, theirs = by_colour(position)
        count = pips(position)
        side = position[4]
        return {"x": own, "o": theirs, "side": side, "pips": list(count[:: -1 if side else 1])}

    def steps(self, position: Any, roll: int | None) -> BackgammonSteps:
        """Returns the steps of a move with a roll; a person confirms the complete move."""
        assert roll is not None
        return BackgammonSteps(self, position, roll)

    def trace(self, position: Any, move: Any) -> list[list[int]]:
        """Returns the path of each checker, in the points of the side that moves."""
        found = []
        while move:
            source, die = move & 31, move >> 5 & 7
            found.append([source, max(source - die, OFF)])
            move >>= 8
        return found


class BackgammonSteps:
    """See `play.web.faces.Steps`."""

    at_once = False

    def __init__(self, face: BackgammonFace, position: Any, roll: int) -> None:
        self.face = face
        self.position = position
        self.first = _board(position)
        #: The legal moves by the board that they lead to.
        self.ends: dict[Board, int] = {}
        for move in face.game.legal_moves(position, roll):  # type: ignore[call-arg]
            after = _board(face.game.play(position, move))
            self.ends[after[1], after[0]] = move
        high, low = ROLLS[roll]
        self.dice = (high,) * 4 if high == low else (high, low)
        self._leads: dict[tuple[Board, tuple[int, ...]], bool] = {}
        #: The steps taken with the die of each, and the boards before them.
        self._steps: list[tuple[int, int, int]] = []
        self._boards = [self.first]

    @property
    def taken(self) -> list[tuple[int, int]]:
        """The steps so far."""
        return [(source, target) for source, target, _ in self._steps]

    @property
    def dice_left(self) -> tuple[int, ...]:
        """The dice that have not been used."""
        left = list(self.dice)
        for _, _, die in self._steps:
            left.remove(die)
        return tuple(left)

    def board(self) -> dict[str, Any]:
        """Returns the board with the steps taken."""
        board = self.face.board(self.position)
        own, theirs = self._boards[-1]
        side = board["side"]
        counts = [list(own), list(theirs)][:: -1 if side else 1]
        board["x"], board["o"] = counts
        board["pips"] = [sum(p * n for p, n in enumerate(one)) for one in counts]
        board["dice_left"] = list(self.dice_left)
        return board

    def next(self) -> list[Step]:
        """Steps with one die, and those of one checker with several."""
        return [
            {"from": source, "to": target, "far": len(dice) > 1}
            for (source, target), dice in self._ways().items()
        ]

    def _ways(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """Returns the dice of each step: of several ways the fewest dice, then the largest."""
        ways: dict[tuple[int, int], tuple[int, ...]] = {}
        board, dice = self._boards[-1], self.dice_left
        for source in range(BAR, OFF, -1):
            here = [(board, dice, source, ())] if board[0][source] else []
            while here:
                further = []
                for at, left, place, used in here:
                    for die in sorted(set(left), reverse=True):
                        after = _moved(at, place, die)
                        rest = _without(left, die)
                        if after is None or not self._leads_on(after, rest):
                            continue
                        target = max(place - die, OFF)
                        ways.setdefault((source, target), (*used, die))
                        if target != OFF:
                            further.append((after, rest, target, (*used, die)))
                here = further  # type: ignore[assignment]
        return ways

    def _leads_on(self, board: Board, dice: tuple[int, ...]) -> bool:
        """Returns whether a legal move ends at this board, or can after further steps."""
        key = (board, dice)
        if key not in self._leads:
            self._leads[key] = board in self.ends or any(
                self._leads_on(after, _without(dice, die))
                for die in set(dice)
                for source in range(BAR, OFF, -1)
                if board[0][source] and (after := _moved(board, source, die)) is not None
            )
        return self._leads[key]

    def step(self, source: int, target: int) -> None:
        """Move a checker, using as many dice as it needs."""
        dice = self._ways().get((source, target))
        if dice is None:
            raise MoveError(self._why_not(source, target))
        for die in dice:
            after = _moved(self._boards[-1], source, die)
            assert after is not None
            self._steps.append((source, max(source - die, OFF), die))
            self._boards.append(after)
            source -= die

    def _why_not(self, source: int, target: int) -> str:
        own = self._boards[-1][0]
        ways = self._ways()
        starts = {start for start, _ in ways}
        if not ways:
            return f"expected no further step, found one from {_name(source)}"
        if not (OFF < source <= BAR and own[source]):
            return f"expected a checker of the side to move, found none on {_name(source)}"
        if own[BAR] and source != BAR:
            return f"expected the checker on the bar to enter first, found one of {_name(source)}"
        if source not in starts:
            return f"expected a checker that these dice can move, found the {_name(source)} point"
        ends = " or ".join(_name(end) for start, end in ways if start == source)
        return f"expected {_name(source)} to go to {ends}, found {_name(target)}"

    def back(self) -> None:
        """Take back a step."""
        if not self._steps:
            raise MoveError("expected a step to take back, found none")
        self._steps.pop()
        self._boards.pop()

    @property
    def move(self) -> Any:
        """The legal move that ends at the present board, or None."""
        return self.ends.get(self._boards[-1])

    @property
    def text(self) -> str:
        """The notation of the steps so far; empty if they make no legal move yet."""
        return "" if self.move is None else move_text(self.position, self.move)


def _board(position: Any) -> Board:
    near, far, their_near, their_far, _ = position
    return tuple(checker_counts(near, far)), tuple(checker_counts(their_near, their_far))


def _moved(board: Board, source: int, die: int) -> Board | None:
    """Returns the board after a checker has moved; None if it may not move so.

    The rule that both dice must be used if possible is not checked here: a board that breaks it
    leads to none of the legal moves.
    """
    own, theirs = list(board[0]), list(board[1])
    target = max(source - die, OFF)
    if own[BAR] and source != BAR:
        return None
    if target == OFF and (any(own[7:]) or (source < die and any(own[source + 1 :]))):
        return None
    own[source] -= 1
    own[target] += 1
    if target != OFF:
        if theirs[BAR - target] > 1:
            return None
        if theirs[BAR - target]:
            theirs[BAR - target] = 0
            theirs[BAR] += 1
    return tuple(own), tuple(theirs)


def _without(dice: tuple[int, ...], die: int) -> tuple[int, ...]:
    place = dice.index(die)
    return dice[:place] + dice[place + 1 :]


def _name(point: int) -> str:
    return "the bar" if point == BAR else "off" if point == OFF else str(point)
