"""A table of a game with a cube: stakes, doubles, resignations, and the games of a match."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from games.contract import Game
from games.errors import MoveError
from games.record import GameRecord
from play.web.seat import WebSeat
from play.web.table import Table, start_text

__all__ = ["KINDS", "CubeTable", "Play", "act_with_cube", "play_of", "table_for"]

#: Maximum points of a match.
LONGEST = 64
KINDS = {1: "a single game", 2: "a gammon", 3: "a backgammon"}


@dataclass(frozen=True)
class Play:
    """The stakes of a table.

    cube: whether there is a cube.
    length: points of the match, which has a cube; 0 for money.
    jacoby, beavers: whether these rules are in force, for money with a cube.
    """

    cube: bool = False
    length: int = 0
    jacoby: bool = False
    beavers: bool = False


def play_of(content: Any) -> Play:
    """Returns the stakes in JSON as a `Play`; all of them may be missing.

    Raises ValueError for anything else, and for rules that exclude each other.
    """
    if content is None:
        return Play()
    if not isinstance(content, dict):
        raise ValueError(f"play: expected an object, found {str(content)[:40]!r}")
    length = content.get("length", 0)
    flags = {name: content.get(name, False) for name in ("cube", "jacoby", "beavers")}
    if type(length) is not int or not 0 <= length <= LONGEST:
        raise ValueError(f"play: expected a match to 0 to {LONGEST} points, found {length!r:.40}")
    for name, flag in flags.items():
        if type(flag) is not bool:
            raise ValueError(f"play: expected {name} to be true or false, found {flag!r:.40}")
    if (flags["jacoby"] or flags["beavers"]) and (length or not flags["cube"]):
        raise ValueError("play: expected Jacoby rule and beavers for money with a cube only")
    return Play(flags["cube"] or length > 0, length, flags["jacoby"], flags["beavers"])


class CubeTable(Table):
    """A table with stakes; the other arguments are those of `Table`.

    A match is played game by game, and the earlier ones stay in `earlier`.
    """

    record: Any

    def __init__(self, *arguments: Any, play: Play, **options: Any) -> None:
        self.stakes = play
        #: The games of the match that are over.
        self.earlier: list[GameRecord] = []
        #: The side that resigns and its offer, 1 to 3; None if nobody resigns.
        self.resigning: tuple[int, int] | None = None
        super().__init__(*arguments, **options)

    # --- games of a match ----------------------------------------------------------------------

    def start(self, position: Any = None, roll: int | None = None, **options: Any) -> None:
        """As `Table.start`; a game from the usual start begins a new match."""
        self.earlier, self.resigning = [], None
        super().start(position, roll, **(options if position is not None else self._rules()))

    def seat_down(self, record: GameRecord, rolled: dict[int, int] | None = None) -> None:
        """As `Table.seat_down`; the stakes of a match or a turned cube stay as they are."""
        now: Any = record
        if now.match_length or now.actions:
            self.stakes = Play(True, now.match_length, now.jacoby, now.beavers)
        self.resigning = None
        super().seat_down(record, rolled)

    def _rules(self) -> dict[str, Any]:
        play = self.stakes
        return {"match_length": play.length, "jacoby": play.jacoby, "beavers": play.beavers}

    @property
    def records(self) -> list[GameRecord]:
        """The games of the match."""
        return [*self.earlier, self.record]

    @property
    def match_goes_on(self) -> bool:
        """Whether the game is over, and another game of its match follows."""
        return self.record.next_game() is not None

    def next_game(self) -> None:
        """Begin the next game of the match; its first roll decides who begins."""
        last = self.record
        earlier, names, rules = [*self.earlier, last], self.names, last.next_game()
        if rules is None:
            raise MoveError("expected a finished game in a match in progress")
        super().start(**rules)
        self.earlier, self.names, self.resigning = earlier, names, None
        self._begin_turn()

    # --- the cube ------------------------------------------------------------------------------

    @property
    def waiting(self) -> str:
        """As `Table.waiting`, or "answer" if a double or a resignation must be answered."""
        if not self.over and self.answering is not None:
            return "answer"
        return super().waiting

    @property
    def answering(self) -> int | None:
        """The side that must answer a double or a resignation; None if neither was offered."""
        if self.resigning is not None:
            return 1 - self.resigning[0]
        return 1 - self.record.to_move if self.record.offered else None

    @property
    def acting(self) -> int:
        """The side that must act next: answer, double or roll, or move."""
        return self.record.to_move if self.answering is None else self.answering

    @property
    def may_double(self) -> bool:
        """Whether the side to move may double instead of rolling."""
        record = self.record
        # Nobody doubles before the first roll.
        begun = record.ply > 0 or self.set_up
        return self.stakes.cube and begun and self.waiting == "roll" and record.may_double

    def double(self) -> None:
        """Let the side to move offer the cube."""
        if not self.may_double:
            raise MoveError("expected a side that may double before its roll")
        self._act("double")

    def answer(self, kind: str) -> None:
        """Answer an offer.

        kind: "take", "drop" or "beaver" for a double; "accept" or "decline" for a resignation.
        """
        wanted = ("accept", "decline") if self.resigning else ("take", "drop", "beaver")
        if self.answering is None or kind not in wanted:
            raise MoveError(f"expected an offer to {kind}")
        if self.resigning is None:
            self._act(kind)
            return
        (side, what), self.resigning = self.resigning, None
        if kind == "accept":
            self.record.resign(side, what)
        self._begin_turn()

    @property
    def passive(self) -> str:
        """The action of a player without chances: it never doubles, and accepts every offer."""
        return "accept" if self.resigning else "roll" if self.answering is None else "take"

    def action(self, decision: Any) -> str:
        """Returns the action that a decision about the cube recommends now."""
        if self.answering is not None:
            return str(decision.answer)
        return "double" if decision.double else "roll"

    def reply(self, outcomes: Any) -> str:
        """Returns the answer to a resignation by the chances of outcomes: accept or decline."""
        situation, cube = self.record.situation(), self.game.cube
        accepts = cube is not None and cube.accepts(situation, outcomes, *(self.resigning or ()))
        return "accept" if accepts else "decline"

    def _act(self, kind: str) -> None:
        self.record.act(kind)
        self._begin_turn()

    def resign(self, kind: Any = 1, side: int | None = None) -> None:
        """As `Table.resign`: offer to resign 1, 2 or 3 times the cube, which may be declined."""
        if type(kind) is not int or kind not in KINDS:
            raise MoveError(f"resign: expected 1, 2 or 3, found {kind!r:.40}")
        if self.over or self.answering is not None:
            raise MoveError(
                "expected a game in progress without an offer, found it over or with one"
            )
        self.resigning = (self.record.to_move if side is None else side, kind)
        self.version += 1

    def undo(self, to: Any = None) -> None:
        """As `Table.undo`; an offer of a resignation is withdrawn."""
        self.resigning = None
        super().undo(to)

    def expect_turn(self, found: str) -> None:
        """Raise MoveError as long as an offer waits for its answer."""
        if self.answering is not None and not self.over:
            raise MoveError(f"expected an answer to the offer first, found {found}")

    # --- views ---------------------------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """As `Table.plain`, with the cube, and the earlier games of the match."""
        return {
            **super().plain(),
            "play": asdict(self.stakes),
            "actions": _actions(self.record),
            "resigning": None if self.resigning is None else list(self.resigning),
            "earlier": [self._game(record) for record in self.earlier],
        }

    def _game(self, record: GameRecord) -> dict[str, Any]:
        game: Any = self.game
        moves = [
            {"text": game.move_text(position, move), "roll": game.dice.named(roll)}
            for position, move, roll in zip(
                record.positions[:-1], record.moves, record.rolls, strict=True
            )
        ]
        declared = None if record.declared is None else list(record.declared)
        position = start_text(record)
        return {"position": position, "moves": moves, "actions": _actions(record),
                "declared": declared}  # fmt: skip

    def view(self) -> dict[str, Any]:
        """As `Table.view`, with `stakes`: the cube, the match and the current offer."""
        record = self.record
        final = record.final_score() if self.match_goes_on or self.over else None
        return {
            **super().view(),
            "stakes": {
                **asdict(self.stakes),
                "value": record.cube,
                "owner": record.owner,
                "offered": record.offered and not self.over,
                "may_double": self.may_double,
                "may_beaver": record.may_beaver,
                "answering": None if self.over else self.answering,
                "resigning": None if self.resigning is None else KINDS[self.resigning[1]],
                "match_length": record.match_length,
                "score": list(final or record.score),
                "crawford": record.crawford,
                "match_goes_on": self.match_goes_on,
                "games": len(self.earlier) + 1,
            },
        }


def table_for(game: Game, seats: tuple[WebSeat, ...], play: Play, **options: Any) -> Table:
    """Returns a new table of a game; `play` counts in games with a cube. Options: `Table`'s."""
    return (
        CubeTable(game, seats, play=play, **options) if game.cube else Table(game, seats, **options)
    )


def act_with_cube(table: Table, kind: Any) -> None:
    """Double, answer an offer, or continue the match.

    kind: "double", "next", or an answer as in `CubeTable.answer`.

    Raises ValueError for other kinds, and if the rules do not allow it.
    """
    if not isinstance(table, CubeTable):
        raise ValueError(f"expected a game with a cube, found {table.game.name}")
    if kind == "double":
        table.double()
    elif kind == "next":
        table.next_game()
    else:
        table.answer(str(kind)[:40])


def _actions(record: Any) -> list[list[Any]]:
    return [[action.ply, action.kind] for action in record.actions]
