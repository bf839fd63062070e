"""Games of files, played again: their actions are checked, and their ends compared with the rules.

Files of other programs are read as far as their moves are certain, up to the first fault. Servers
write a hidden move (`????`) if a player gave up; before other moves it is read if only one move
fits them. Impossible points of a result are replaced by possible ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from games.backgammon.notation import NO_MOVE
from games.backgammon.record import BackgammonRecord
from games.backgammon.situation import COLOURS
from games.contract import DiceGame
from games.errors import MoveError, PositionError

__all__ = ["Action", "Heading", "ReplayedGame", "replay"]

_HIDDEN = re.compile(r"\?{2,}|illegal (?:play|move)\b.*", re.I)
#: Actions that end a game.
ENDS = ("wins", "losses", "resign")


class ReplayedGame(NamedTuple):
    """One game of a file.

    A damaged game ends before its fault, of which the first of `problems` tells; `record` is None
    if it has no move before that. The moves of a record are certain despite any problems. Each
    problem begins with the number of its line.
    """

    record: BackgammonRecord | None
    problems: list[str]


class Action(NamedTuple):
    """An action that a file states.

    kind: `roll`, `double`, `take`, `beaver`, `drop`, `resign`, `wins` or `losses`.
    text: the dice of a roll, the value of a doubled cube, or the points won or lost.
    moves: the moves of a roll.
    side: the colour of the player whose action it is.
    line: the line of the file.
    """

    kind: str
    text: str
    moves: str
    side: int
    line: int


class Heading(NamedTuple):
    """The statements of a file about a game before its moves.

    line: the line with which the game begins.
    match_length: points of the match; 0 for money.
    score: points of both sides before the game, by colour; None if the file does not state them.
    crawford: whether it is the Crawford game; None if that follows from the scores.
    jacoby: whether the Jacoby rule is in force.
    start: the first position.
    """

    line: int
    match_length: int
    score: tuple[int, int] | None
    crawford: bool | None
    jacoby: bool
    start: Any


def replay(
    game: DiceGame,
    heading: Heading,
    actions: Sequence[Action],
    earlier: Sequence[ReplayedGame],
    problems: Sequence[str] = (),
) -> ReplayedGame:
    """Returns the game that these actions make.

    game: backgammon.
    heading: the match and the position at first.
    actions: the actions in order.
    earlier: the games of the same match before this one.
    problems: those that reading the text has shown.
    """
    return _Replay(game, heading, actions, list(problems)).run(earlier)


class _Replay:
    """A game that is being played again."""

    def __init__(
        self, game: DiceGame, heading: Heading, actions: Sequence[Action], problems: list[str]
    ) -> None:
        self.game = game
        self.heading = heading
        self.actions = actions
        self.problems = problems
        self.record: BackgammonRecord
        self.said_more = False

    def run(self, earlier: Sequence[ReplayedGame]) -> ReplayedGame:
        line = self.heading.line
        try:
            self.record = self.begin(earlier)
        except PositionError as error:
            return ReplayedGame(None, [f"line {line}: {error}", *self.problems])
        try:
            for index, action in enumerate(self.actions):
                line = action.line
                self.act(action, self.actions[index + 1 :])
        except MoveError as error:
            record = self.record if self.record.moves else None
            return ReplayedGame(record, [f"line {line}: {error}", *self.problems])
        if not self.record.over:
            self.problem(line, "a game with an end", "none")
        return ReplayedGame(self.record, self.problems)

    def problem(self, line: int, expected: str, found: str) -> None:
        self.problems.append(f"line {line}: expected {expected}, found {found}")

    def begin(self, earlier: Sequence[ReplayedGame]) -> BackgammonRecord:
        """Returns the record before the first move."""
        heading, length = self.heading, self.heading.match_length
        last = earlier[-1].record if earlier else None
        known = last.final_score() if last else None
        score = heading.score or known or (0, 0)
        if known is not None and known != score:
            self.problem(heading.line, f"a score of {known} after the previous game", f"{score}")
        if 0 < length <= max(score):
            self.problem(heading.line, f"scores below the match length, {length}", f"{score}")
            if known is not None and max(known) < length:
                score = known
            score = (min(score[0], length - 1), min(score[1], length - 1))
        # The first game in which a side is one point away is the Crawford game.
        one_away = max(score) == length - 1 > min(score)
        before = last is not None and max(last.score) == length - 1
        doubled = any(action.kind == "double" for action in self.actions)
        crawford = one_away and not before and not doubled
        return BackgammonRecord(
            self.game,
            heading.start,
            match_length=length,
            score=score,
            crawford=crawford if heading.crawford is None else heading.crawford,
            jacoby=heading.jacoby,
        )

    def act(self, action: Action, rest: Sequence[Action]) -> None:
        record, kind = self.record, action.kind
        if kind == "losses":
            if not any(other.kind == "wins" for other in self.actions):
                self.win(action, 1 - action.side)
        elif kind == "wins":
            self.win(action, action.side)
        elif record.over:
            if not self.said_more:
                self.problem(action.line, "nothing after the end of the game", f"a {kind}")
            self.said_more = True
        elif kind == "roll":
            self.move(action, rest)
        elif kind == "double":
            record.act("double")
            if action.text and int(action.text) != 2 * record.cube:
                self.problem(action.line, f"a double to {2 * record.cube}", action.text)
        elif kind in ("take", "drop", "beaver"):
            record.beavers |= kind == "beaver" and not record.match_length
            record.act(kind)

    def move(self, action: Action, rest: Sequence[Action]) -> None:
        record = self.record
        roll = self.game.dice.parse(action.text)
        if action.moves.startswith("Illegal play"):
            raise MoveError("expected a game from the start, found a position that was set up")
        hidden = _HIDDEN.fullmatch(action.moves) is not None
        ends = bool(rest) and rest[0].kind in ENDS
        if hidden and (ends or not rest):
            return
        last = ends or not rest
        if not action.moves and last and self.game.legal_moves(record.position, roll) != [0]:
            return  # a side may resign when it sees its roll, and a file may break off
        if action.side != record.to_move:
            column, other = COLOURS[record.to_move], COLOURS[action.side]
            raise MoveError(f"expected a move of {column}, found one of {other}")
        if hidden:
            self.hidden(action, roll, rest)
        else:
            record.play_text(action.moves or NO_MOVE, roll=roll)

    def hidden(self, action: Action, roll: int, rest: Sequence[Action]) -> None:
        """Play the only move that the rest of the game leaves possible."""
        position = self.record.position
        moves = self.game.legal_moves(position, roll)
        fitting = [move for move in moves if self.fits(self.game.play(position, move), rest)]
        shown = f"{action.moves[:20]!r}"
        if len(fitting) != 1:
            raise MoveError(f"expected a move, found {shown}, for which {len(fitting)} moves fit")
        self.record.play(fitting[0], roll=roll)
        text = self.game.move_text(position, fitting[0])
        self.problem(action.line, "a move", f"{shown}: only {text} fits the moves after it")

    def fits(self, position: Any, rest: Sequence[Action]) -> bool:
        """Whether the next moves, up to one that is not written, are legal after a position."""
        for action in rest:
            if action.kind != "roll" or self.game.outcome(position) is not None:
                continue
            if not action.moves or _HIDDEN.fullmatch(action.moves) is not None:
                return True
            try:
                roll = self.game.dice.parse(action.text)
                move = self.game.parse_move(position, action.moves, roll)
            except MoveError:
                return False
            position = self.game.play(position, move)
        return True

    def win(self, action: Action, winner: int) -> None:
        """End the game, or compare its outcome with that in the file."""
        record, points = self.record, int(action.text)
        outcome = record.outcome()
        lacking = record.match_length - record.score[winner] if record.match_length else 0
        if outcome is None and points:
            if record.offered:
                record.act("drop")
                outcome = record.outcome()
            else:
                counted = self.conceded(points, lacking)
                if counted != points:
                    ways = f"{record.cube}, {2 * record.cube} or {3 * record.cube} points"
                    self.problem(action.line, ways, f"{points}, counted as {counted}")
                record.declare(float(-counted if winner else counted), "resignation")
                return
        if outcome is None:
            self.problem(action.line, "1 point or more", "0")
        elif (outcome < 0) != (winner == 1):
            self.problem(
                action.line, f"a win of {COLOURS[1 - winner]}", f"one of {COLOURS[winner]}"
            )
        elif abs(outcome) != points and not points == lacking < abs(outcome):
            self.problem(action.line, f"{abs(outcome):g} points", f"{points}")

    def conceded(self, points: int, lacking: int) -> int:
        """Returns what a resignation counts: 1, 2 or 3 times the cube, or the points that lack.

        `lacking` is what the winner lacks for the match; 0 for money. Some servers write no more
        than that, others numbers without a meaning.
        """
        cube = self.record.cube
        if points == lacking < 3 * cube:
            return points
        possible = max([n for n in (cube, 2 * cube, 3 * cube) if n <= points], default=cube)
        return min(possible, lacking) if lacking and points > 3 * cube else possible
