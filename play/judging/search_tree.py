"""The tree of a small search, with every window, value and cutoff, as text and as a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from games.contract import Game
from games.errors import PositionError
from play.judging.tree_node import CHANCE, MAX, MIN, TreeNode, average, number
from play.judging.tree_picture import tree_picture
from programs.whole_files import write_atomically
from search.textbook.max_n import for_every_player, max_n
from search.textbook.minimax import expectiminimax

__all__ = ["ORDERS", "SearchTree", "TreeNode", "search_tree"]

Evaluate = Callable[[Any], float]
#: The orders of moves: as the game lists them, by static value, by backed-up value.
ORDERS = ("game", "evaluation", "perfect")
#: Greatest number of lines of the text.
MOST_LINES = 10_000


@dataclass(frozen=True)
class SearchTree:
    """The tree of a search; notebooks show it as a picture.

    value: value of the root for its side to move.
    leaves: number of positions valued at the end of a line.
    all_leaves: number of positions that minimax would have valued.
    root: the tree.
    """

    value: float
    leaves: int
    all_leaves: int
    root: TreeNode

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The tree as text: one line for each position and for each cutoff."""
        return tuple(_lines(self.root, "", ""))

    @property
    def svg(self) -> str:
        """The tree as a picture in the form SVG."""
        return tree_picture(self.root)

    def _repr_svg_(self) -> str:
        return self.svg

    def save_svg(self, path: str | Path) -> None:
        """Write the picture to a file; raises OSError if it cannot be written."""
        write_atomically(path, self.svg)


def search_tree(
    game: Game,
    position: Any,
    depth: int | None = None,
    evaluate: Evaluate | None = None,
    *,
    order: str = "game",
) -> SearchTree:
    """Returns the tree of textbook alpha-beta to `depth` (Knuth and Moore 1975, fail-soft).

    With more than two players it is that of max^n (Luckhardt and Irani 1986) with shallow pruning
    (Korf 1991): no player has less than the least value at the leaves of the whole tree, and all
    together no more than the greatest sum there.

    It is `alphabeta` of `search.textbook.minimax`: no transposition table and no quiescence. The
    side to move at the root is MAX, in explicit trees side 0. The average of a chance node needs
    the exact values of its branches, so their windows are open.

    depth: plies to search. Default: to the end of the game.
    evaluate: static values for the side to move. Without it the depth has to reach the end.
    order: which moves come first: "game" as the game lists them, "evaluation" those with the best
        static value after them, "perfect" those with the best backed-up value.

    Raises ValueError for a depth below 1, an unknown order, chance nodes with more than two
    players, and if the text would exceed `MOST_LINES` lines.
    """
    if depth is not None and depth < 1:
        raise ValueError(f"depth: expected at least 1, found {depth}")
    if order not in ORDERS:
        raise ValueError(f"order: expected one of {', '.join(ORDERS)}, found {order!r}")
    side = game.to_move(position)
    window = (-math.inf, math.inf)
    if game.players > 2:
        if game.chances is not None:
            raise ValueError(f"chance nodes: not for {game.players} players")
        of_all = _MaxN(game, evaluate, order, game.sides)
        of_all.measure(position, depth)
        root = of_all.visit(position, depth, window, "", None, side)
        return SearchTree(root.vector[side], of_all.leaves, _leaves(game, position, depth), root)
    side = side if game.sides == (MAX, MIN) else 0
    search = _Search(game, evaluate, order, (MAX, MIN))
    root = search.visit(position, depth, window, "", None, side)
    assert root.value is not None
    return SearchTree(
        -root.value + 0.0 if side else root.value,
        search.leaves,
        _leaves(game, position, depth),
        root,
    )


@dataclass
class _Search:
    """The search for two players, whose windows and values are MAX's.

    names: the players by side.
    """

    game: Game
    evaluate: Evaluate | None
    order: str
    names: Sequence[str]
    lines: int = 0
    leaves: int = 0

    def count_line(self) -> None:
        self.lines += 1
        if self.lines > MOST_LINES:
            raise ValueError(
                f"expected a tree of at most {MOST_LINES} lines, found more: try a smaller depth"
            )

    def visit(
        self,
        position: Any,
        rest: int | None,
        window: tuple[float, float],
        move: str,
        chance: float | None,
        side: int,
    ) -> TreeNode:
        """Returns the node of a position.

        side: who moves here unless chance does.
        """
        game, name = self.game, self.names[side]
        values = game.outcome_vector(position)
        self.count_line()
        if values is not None or rest == 0:
            self.leaves += 1
            kind = "static" if values is None else "end of the game"
            value, vector = self.seen(self.static(position) if values is None else values, side)
            return TreeNode(move, chance, name, window, value, kind, vector=vector)
        chances = game.chances_at(position)
        moves = game.legal_moves(position)
        below = None if rest is None else rest - 1
        children: list[TreeNode] = []
        if chances:
            for one, share in zip(moves, chances, strict=True):
                text, after = game.move_text(position, one), game.play(position, one)
                children.append(self.visit(after, below, (-math.inf, math.inf), text, share, side))
            mean = average(chances, [child.value or 0.0 for child in children])
            return TreeNode(move, chance, CHANCE, window, mean, "", children=tuple(children))
        best, vector = -math.inf, ()
        bound, next_side = self.bound(window, side), (side + 1) % len(self.names)
        for one in self.ordered(position, moves, below):
            text, after = game.move_text(position, one), game.play(position, one)
            if best >= bound:
                children.append(self.left_out(after, text, next_side))
                continue
            narrowed = self.narrowed(window, best, side)
            children.append(self.visit(after, below, narrowed, text, None, next_side))
            gain = self.gain(children[-1], side)
            if gain > best:
                best, vector = gain, children[-1].vector
        cut = len(children) > 0 and children[-1].kind == "not looked at"
        if cut:
            self.count_line()
            vector = ()
        value = self.shown(best, side)
        return TreeNode(move, chance, name, window, value, "", cut, tuple(children), vector)

    def left_out(self, position: Any, move: str, side: int) -> TreeNode:
        """Returns the node of a position that is not looked at: a leaf's values are shown."""
        try:
            values = self.game.outcome_vector(position)
        except PositionError:  # a leaf without a value
            values = None
        value, vector = (None, ()) if values is None else self.seen(values, side)
        name, window = self.names[side], (-math.inf, math.inf)
        return TreeNode(move, None, name, window, value, "not looked at", vector=vector)

    def ordered(self, position: Any, moves: Sequence[Any], rest: int | None) -> Sequence[Any]:
        """Returns the moves in the order in which they are searched."""
        if self.order == "game":
            return moves
        play = self.game.play
        return sorted(moves, key=lambda move: self.worth(play(position, move), rest), reverse=True)

    def worth(self, after: Any, rest: int | None) -> float:
        """Returns the value of a move for its mover, by the position after it."""
        if self.order == "perfect":
            return self.perfect(after, rest)
        values = self.game.outcome_vector(after)
        return (self.static(after) if values is None else values)[-1]

    def static_value(self, position: Any) -> float:
        if self.evaluate is None:
            raise ValueError("expected an evaluator for a search of limited depth, found none")
        return self.evaluate(position)

    def static(self, position: Any) -> tuple[float, ...]:
        """Returns the static values, the side to move first."""
        value = self.static_value(position)
        return value, -value

    def perfect(self, after: Any, rest: int | None) -> float:
        """Returns the backed-up value of a move for its mover, by the position after it."""
        return -expectiminimax(self.game, after, rest, self.evaluate)

    def seen(self, values: tuple[float, ...], side: int) -> tuple[float, tuple[float, ...]]:
        """Returns the value and the vector of a node by values, those of the side first."""
        return self.shown(values[0], side), ()

    def shown(self, value: float, side: int) -> float:
        """Returns a value for the side as the tree shows it."""
        return (-value if side else value) + 0.0

    def gain(self, child: TreeNode, side: int) -> float:
        """Returns the value of a child for the side."""
        assert child.value is not None
        return self.shown(child.value, side)

    def bound(self, window: tuple[float, float], side: int) -> float:
        """Returns the value for the side from which on nothing more is searched."""
        return -window[0] if side else window[1]

    def narrowed(self, window: tuple[float, float], best: float, side: int) -> tuple[float, float]:
        """Returns the window of the next child after one of value `best` for the side."""
        alpha, beta = window
        return (alpha, min(beta, 0.0 - best)) if side else (max(alpha, best), beta)


@dataclass
class _MaxN(_Search):
    """The search for more than two players; a window ends at the mover's value that cuts.

    room: what two players have together at most: the greatest sum less the least values of others.
    """

    room: float = math.inf

    def measure(self, position: Any, depth: int | None) -> None:
        """Set the room by the values at all leaves."""
        vectors = list(self.all_vectors(position, depth))
        if vectors:
            least = min(map(min, vectors))
            self.room = max(map(sum, vectors)) - (self.game.players - 2) * least

    def all_vectors(self, position: Any, rest: int | None) -> Iterator[tuple[float, ...]]:
        """Yields the values at all leaves, the side to move first; not those without a value."""
        try:
            ended = self.game.outcome_vector(position)
        except PositionError:
            return
        if ended is not None or rest == 0:
            yield self.static(position) if ended is None else ended
            return
        below = None if rest is None else rest - 1
        for move in self.game.legal_moves(position):
            yield from self.all_vectors(self.game.play(position, move), below)

    def static(self, position: Any) -> tuple[float, ...]:
        return for_every_player(self.game, self.static_value)(position)

    def perfect(self, after: Any, rest: int | None) -> float:
        return max_n(self.game, after, rest, self.static)[-1]

    def seen(self, values: tuple[float, ...], side: int) -> tuple[float, tuple[float, ...]]:
        first = -side % self.game.players
        by_side = tuple(value + 0.0 for value in (*values[first:], *values[:first]))
        return values[0], by_side

    def shown(self, value: float, side: int) -> float:
        return value

    def gain(self, child: TreeNode, side: int) -> float:
        return child.vector[side] if child.vector else -math.inf

    def bound(self, window: tuple[float, float], side: int) -> float:
        return window[1]

    def narrowed(self, window: tuple[float, float], best: float, side: int) -> tuple[float, float]:
        return -math.inf, self.room - best


def _leaves(game: Game, position: Any, depth: int | None) -> int:
    """Returns the number of positions that minimax values."""
    if depth == 0 or not (moves := _moves(game, position)):
        return 1
    rest = None if depth is None else depth - 1
    return sum(_leaves(game, game.play(position, move), rest) for move in moves)


def _moves(game: Game, position: Any) -> Sequence[Any]:
    """Returns the legal moves; none in a finished game, leaves without a value among them."""
    try:
        return () if game.outcome(position) is not None else game.legal_moves(position)
    except PositionError:
        return ()


def _lines(node: TreeNode, stem: str, twigs: str) -> Iterator[str]:
    """Yields the lines of a position and all below it."""
    name = node.move or "position"
    if node.chance is not None:
        name += f" ({number(node.chance)})"
    value = "" if node.value is None else f"  {node.relation} {node.value_text}"
    if not node.children:
        yield f"{stem}{name}{value}  ({node.kind})"
        return
    alpha, beta = node.window
    window = "" if node.player == CHANCE else f"  alpha {number(alpha)}, beta {number(beta)}"
    many = node.player not in (MAX, MIN, CHANCE)
    if many:
        window = f"  bound {number(beta)}" if math.isfinite(beta) else ""
    yield f"{stem}{name}  {node.player}{window}{value}"
    looked_at = node.looked_at
    for i, child in enumerate(looked_at):
        last = i == len(looked_at) - 1 and not node.cut
        corner, below = ("└ ", "  ") if last else ("├ ", "│ ")
        yield from _lines(child, twigs + corner, twigs + below)
    if node.cut:
        left = len(node.children) - len(looked_at)
        limit = f">= beta {number(beta)}" if node.player == MAX else f"<= alpha {number(alpha)}"
        limit = f">= bound {number(beta)}" if many else limit
        yield (
            f"{twigs}└ cut: {looked_at[-1].move} gives {number(node.value or 0.0)} {limit};"
            f" {left} move{'s' * (left > 1)} not looked at"
        )
