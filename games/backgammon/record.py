"""Game records of backgammon, with the score of the match and the cube."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from games.backgammon.situation import COLOURS, Situation
from games.contract import Game
from games.errors import MoveError
from games.record import Ending, GameRecord

__all__ = ["BackgammonRecord", "CubeAction"]


MOST_CUBE = 1 << 15
ACTIONS = ("double", "take", "drop", "beaver")


class CubeAction(NamedTuple):
    """An action of the cube by `side` after `ply` moves: double, take, drop or beaver."""

    ply: int
    side: int
    kind: str


class BackgammonRecord(GameRecord):
    """A record of backgammon with match length, score and cube.

    match_length: points of the match; 0 for money.
    score: points of both sides before the game, by colour.
    cube: the value of the cube at the beginning of the game.
    owner: the colour that owns the cube then; None for the middle.
    crawford: whether nobody may double in this game.
    jacoby: whether, for money, gammons count as single games until a double is taken.
    beavers: whether, for money, a double may be answered by doubling again, keeping the cube.
    offered: whether the side to move has doubled and awaits the answer.

    Doubles are never made automatically: without actions of the cube, outcomes are those of
    `GameRecord` times `cube`. Outcomes are points for X (colour 0). Raises PositionError if these
    make no valid `Situation`.
    """

    def __init__(
        self,
        game: Game,
        start: Any = None,
        *,
        match_length: int = 0,
        score: tuple[int, int] = (0, 0),
        cube: int = 1,
        owner: int | None = None,
        crawford: bool = False,
        jacoby: bool = False,
        beavers: bool = False,
        offered: bool = False,
        comment: str = "",
    ) -> None:
        if game.name != "backgammon":
            raise ValueError(f"expected the game of backgammon, found {game.name!r}")
        super().__init__(game, start, repetitions=None, quiet_moves=None, comment=comment)
        self.match_length = match_length
        self.score = score
        self.crawford = crawford
        self.jacoby = jacoby
        self.beavers = beavers
        #: The actions with the cube, in order.
        self.actions: list[CubeAction] = []
        #: The cube as the game began.
        self.first_cube, self.first_owner = cube, owner
        self.situation()  # raises PositionError if it is impossible
        if offered:
            self.act("double")

    def beginning(self) -> Self:
        """Returns a record with the same start, score and cube, in which nothing was played."""
        new = super().beginning()
        new.actions = []
        return new

    @property
    def cube(self) -> int:
        """The value of the cube; an offered double does not count yet."""
        beavers = sum(action.kind == "beaver" for action in self.actions)
        return self.first_cube << len(self._takes()) + beavers

    @property
    def owner(self) -> int | None:
        """The colour that owns the cube; None if it is in the middle."""
        takes = self._takes()
        return takes[-1].side if takes else self.first_owner

    @property
    def offered(self) -> bool:
        """Whether the side to move has doubled and awaits the answer."""
        return bool(self.actions) and self.actions[-1].kind == "double"

    @property
    def may_double(self) -> bool:  # type: ignore[override]
        """Whether the side to move may offer the cube, before its roll."""
        if self.over or self.offered or self.crawford or self.match_length == 1:
            return False
        return self.owner != 1 - self.to_move and self.cube < MOST_CUBE

    def situation(self, roll: int | None = None) -> Situation:
        """Returns the current position with roll, match and cube, for use by other programs."""
        return Situation(
            self.position,
            roll=roll,
            match_length=self.match_length,
            score=self.score,
            cube=self.cube,
            owner=self.owner,
            offered="double" if self.offered else "",
            crawford=self.crawford,
            jacoby=self.jacoby,
            beavers=self.beavers,
        )

    @property
    def may_beaver(self) -> bool:
        """Whether the double that was offered may be beavered."""
        return self.offered and self.beavers and 4 * self.cube <= MOST_CUBE

    def act(self, kind: str) -> None:
        """Let the side to move double, or the other side answer: take, drop or beaver.

        A drop ends the game; a beaver doubles again, and the side that answers keeps the cube.
        Raises MoveError if that is not possible, and for other words.
        """
        if kind not in ACTIONS:
            super().act(kind)
        side = self.to_move
        if kind == "double":
            self._must_go_on("a double")
            if self.crawford:
                raise MoveError("no double is allowed in the Crawford game")
            if self.owner == 1 - side:
                raise MoveError(
                    f"{COLOURS[side]} may not double, because the other side has the cube"
                )
            if self.cube >= MOST_CUBE:
                raise MoveError("expected a double to at most 32768")
        elif kind == "beaver" and self.offered and not self.may_beaver:
            raise MoveError("expected take or drop, because beavers are not allowed, found beaver")
        elif not self.offered or self.over:
            raise MoveError(f"expected a double before {kind}")
        self.actions.append(CubeAction(self.ply, side if kind == "double" else 1 - side, kind))
        if kind == "drop":
            self.declare(float(-self.cube if side else self.cube), "double dropped")

    def resign(self, side: int, kind: int = 1) -> None:
        """Let a side resign a single game, a gammon or a backgammon: kind 1, 2 or 3.

        Under the Jacoby rule a game whose cube was not turned counts single. Raises ValueError for
        other kinds, and if the game is over.
        """
        if kind not in (1, 2, 3):
            raise ValueError(f"resignation: expected 1 to 3, found {kind}")
        if self.jacoby and not self._takes():
            kind = 1
        points = float(kind * self.cube)
        self.declare(points if side else -points, "resignation")

    def undo(self) -> Any:
        """Take back the last move and the actions of the cube after it, as in GameRecord."""
        move = super().undo()
        self.actions = [action for action in self.actions if action.ply <= self.ply]
        return move

    def final_score(self) -> tuple[int, int] | None:
        """Returns the score after the game, by colour; None while it is in progress."""
        outcome = self.outcome()
        if outcome is None:
            return None
        won = int(outcome)
        return self.score[0] + max(0, won), self.score[1] + max(0, -won)

    def next_game(self) -> dict[str, Any] | None:
        """Returns the options of the next game of the match; None if it ends, or goes on.

        The first game after a side comes within a point of the end is the Crawford game.
        """
        score, length = self.final_score(), self.match_length
        if score is None or max(score) >= length:
            return None
        crawford = max(score) == length - 1 > max(self.score)
        return {"match_length": length, "score": score, "crawford": crawford}

    def _takes(self) -> list[CubeAction]:
        return [action for action in self.actions if action.kind in ("take", "beaver")]

    def _must_go_on(self, move: Any) -> None:
        super()._must_go_on(move)
        if self.offered:
            raise MoveError(f"expected an answer to the double, take or drop, found {move!r}")

    def _ending(self) -> Ending | None:
        ending = super()._ending()
        if ending is None or self._declared is not None:
            return ending
        outcomes, reason = ending
        most = 1.0 if self.jacoby and not self._takes() else 3.0
        return tuple(max(-most, min(most, points)) * self.cube for points in outcomes), reason
