"""`Result`: the result of a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from games.contract import line_texts
from games.values import PROVEN, WIN, value_text
from search.evaluators.calibration import Chances

if TYPE_CHECKING:
    from search.evaluators.evaluator import Evaluator

__all__ = ["Depth", "Result"]


@dataclass(frozen=True)
class Depth:
    """The result of one iteration.

    depth: plies searched.
    value: the value of the position, for the side to move.
    move: the best move; None in a game with dice before the roll.
    nodes: number of positions searched up to the end of the iteration.
    """

    depth: int
    value: float
    move: Any
    nodes: int


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a search; values are for the side to move.

    move: the best move found; None if the game is over, and in a game with dice before a roll.
    value: the value of the position. Beyond `search.PROVEN` it counts plies to the end of the game,
        see `plies_to_end`: a win in n plies is 1e12 - n, a loss n - 1e12. `within` bounds it.
    pv: the principal variation, which begins with `move`; with dice it is `move` alone.
    depth: the depth searched in full. With dice it is GNU Backgammon's number of plies, 0 for
        static values after the move.
    nodes: number of positions searched.
    seconds: time that the search took.
    history: the result of each iteration, from depth 1 on, with dice from depth 0 on.
    moves: (move, value) for every legal move, best first; empty unless `Engine.analyse` was called.
    lookups: number of probes of the lookup.
    lookup_hits: number of those that it answered.
    interrupted: whether Ctrl-C or `Engine.stop` ended the search.
    outcomes: with dice, the probabilities of the game's outcomes after the best move, or before the
        roll, backed up from `depth`; None if the evaluator gives no probabilities.
    evaluations: with dice, number of calls of the evaluator.
    probes: without dice, number of probes of the transposition table.
    hits: number of those that it answered.
    move_outcomes: with dice, the probabilities of the game's outcomes after each of `moves`, for
        the side that moves; empty without `moves`, or if the evaluator gives no probabilities.
    position: the position that was searched.
    evaluator: the evaluator that was searched with; None if there was no search.
    drawn: the moves after which a draw is proven, by the rules or by a lookup that knows the end of
        the game; also None if the position itself is so.
    compiling: whether the search was not compiled yet, so that it was slow and not deep.

    A result is shown as people read it: the move, the value in the game's unit with its chances,
    the depth, the nodes and the principal variation.
    """

    move: Any
    value: float
    pv: tuple[Any, ...]
    depth: int
    nodes: int
    seconds: float
    history: tuple[Depth, ...] = ()
    moves: tuple[tuple[Any, float], ...] = ()
    lookups: int = 0
    lookup_hits: int = 0
    interrupted: bool = field(default=False, compare=False)
    outcomes: tuple[float, ...] | None = None
    evaluations: int = 0
    probes: int = 0
    hits: int = 0
    move_outcomes: tuple[tuple[float, ...], ...] = ()
    position: Any = field(default=None, compare=False)
    evaluator: Evaluator | None = field(default=None, compare=False)
    drawn: frozenset[Any] = field(default=frozenset(), compare=False)
    compiling: bool = field(default=False, compare=False)

    def whole(self) -> Result:
        """Returns the result itself; raises KeyboardInterrupt if the search was interrupted."""
        if self.interrupted:
            raise KeyboardInterrupt
        return self

    @property
    def plies_to_end(self) -> int | None:
        """Plies to the end of the game if the value is a proven win or loss, else None."""
        if abs(self.value) <= PROVEN:
            return None
        return int(WIN - abs(self.value))

    def within(self, limit: float) -> float:
        """Returns the value for a regression: one beyond `limit`, as a proven one is, is `limit`.

        limit: the greatest value, more than 0, in the evaluator's unit.
        """
        return max(-limit, min(limit, self.value))

    @property
    def pv_text(self) -> str:
        """The principal variation as people write it; the moves themselves without `evaluator`."""
        if self.evaluator is None:
            return " ".join(map(str, self.pv))
        return " ".join(line_texts(self.evaluator.game, self.position, self.pv))

    @property
    def value_text(self) -> str:
        """The value in the game's unit, such as "+0.150 men", "won in 5 plies" or "drawn"."""
        if None in self.drawn:
            return "drawn"
        if self.evaluator is None or self.plies_to_end is not None:
            return value_text(self.value)
        return f"{value_text(self.evaluator.in_units(self.value))} {self.evaluator.game.unit}"

    @property
    def chances(self) -> Chances | None:
        """The chances of the side to move; None if the evaluator does not know them."""
        return self._chances(None, self.value, self.outcomes)

    def chances_after(self, move: Any) -> Chances | None:
        """Returns the chances of the side to move if it plays one of `moves`, as `chances`."""
        place = [listed for listed, _ in self.moves].index(move)
        outcomes = self.move_outcomes[place] if self.move_outcomes else None
        return self._chances(move, self.moves[place][1], outcomes)

    def _chances(self, move: Any, value: float, outcomes: Any) -> Chances | None:
        if move in self.drawn:
            return Chances.of_outcome(0.0)
        if abs(value) > PROVEN:
            return Chances.of_outcome(value)
        if outcomes:
            return Chances.of_win(outcomes[0])
        if self.evaluator is None:
            return None
        return self.evaluator.chances(self.position, value, self.nodes)

    @property
    def chances_text(self) -> str:
        """The chances, and the play for which they hold; empty if proven or not known."""
        proven = self.plies_to_end is not None or None in self.drawn
        chances = None if proven else self.chances
        if chances is None:
            return ""
        calibration = (
            None if self.evaluator is None or self.outcomes else self.evaluator.calibration
        )
        return chances.text if calibration is None else calibration.text(chances, self.nodes)

    def __repr__(self) -> str:
        chances = self.chances_text
        value = self.value_text + (f" ({chances})" if chances else "")
        parts = [value, f"depth {self.depth}", f"{self.nodes:,} nodes in {self.seconds:.2f} s"]
        if self.pv:
            first = self.pv[0]
            game = None if self.evaluator is None else self.evaluator.game
            parts.insert(0, str(first) if game is None else game.move_text(self.position, first))
        if len(self.pv) > 1:
            parts.append(f"pv {self.pv_text}")
        if self.interrupted:
            parts.append("interrupted")
        return f"Result({', '.join(parts)})"
