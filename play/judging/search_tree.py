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
from games.whole_files import write_atomically
from play.judging.tree_node import CHANCE, MAX, MIN, TreeNode, average, number
from play.judging.tree_picture import tree_picture
from search.textbook.max_n import for_every_player, max_n
from search.textbook.minimax import expectiminimax

__all__ = ["ORDERS", "SearchTree", "TreeNode", "search_tree"]

Evaluate = Callable[[Any], float]
#: How moves are ordered: as the game lists them, by static value, by backed-up value.
ORDERS = ("game", "evaluation", "perfect")


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
    most_lines: int = 10_000,
) -> SearchTree:
    """Returns the tree of textbook alpha-beta to `depth` (Knuth and Moore 1975, fail-soft).

    With more than two players it is that of max^n (Luckhardt and Irani 1986) with shallow pruning
    (Korf 1991): no player has less than the least value at the leaves of the whole tree, and all
    together no more than the greatest sum there.

    It is `alphabeta` of `search.textbook.minimax`: no transposition table and no quiescence. The
    side to move at the root is MAX, in explicit trees side 0. The average of a chance node needs
    the exact values of its branches, so their windows are open.

    depth: plies to search; None for the end of the game.
    evaluate: static values for the side to move. Without it the depth has to reach the end.
    order: which moves come first: "game" as the game lists them, "evaluation" those with the best
        static value after them, "perfect" those with the best backed-up value.
    most_lines: greatest number of lines of the text.

    Raises ValueError for a depth below 1, an unknown order, chance nodes with more than two
    players, and if the text would exceed `most_lines` lines.
    """
    if depth is not None and depth < 1:
        raise ValueError(f"depth: expected at least 1, found {depth}")
    if order not in ORDERS:
        raise ValueError(f"order: expected one of {', '.join(ORDERS)}, found {order!r}")
    if game.players > 2:
        if game.chances is not None:
            raise ValueError(f"expected no chance nodes for {game.players} players, found some")
        side = game.to_move(position)
        of_all = _MaxN(game, evaluate, order, most_lines)
        of_all.measure(position, depth)
        root = of_all.look(position, depth, math.inf, "", side)
        return SearchTree(root.vector[side], of_all.leaves, _leaves(game, position, depth), root)
    player = game.sides[game.to_move(position)]
    player = player if game.sides == (MAX, MIN) else MAX
    search = _Search(game, evaluate, order, most_lines)
    root = search.visit(position, depth, -math.inf, math.inf, "", None, player)
    assert root.value is not None
    return SearchTree(
        root.value if player == MAX else -root.value + 0.0,
        search.leaves,
        _leaves(game, position, depth),
        root,
    )


@dataclass
class _Search:
    game: Game
    evaluate: Evaluate | None
    order: str
    most_lines: int
    lines: int = 0
    leaves: int = 0

    def count_line(self) -> None:
        self.lines += 1
        if self.lines > self.most_lines:
            raise ValueError(
                f"expected a tree of at most {self.most_lines} lines, found more: try a smaller"
                " depth"
            )

    def visit(
        self,
        position: Any,
        rest: int | None,
        alpha: float,
        beta: float,
        move: str,
        chance: float | None,
        player: str,
    ) -> TreeNode:
        """Returns the node of a position; the window and the value are MAX's.

        player: MAX or MIN, who moves here unless chance does.
        """
        game = self.game
        sign = 1.0 if player == MAX else -1.0
        outcome = game.outcome(position)
        self.count_line()
        if outcome is not None or rest == 0:
            self.leaves += 1
            kind = "static" if outcome is None else "end of the game"
            own = self.static(position) if outcome is None else outcome
            return TreeNode(move, chance, player, (alpha, beta), sign * own + 0.0, kind)
        chances = game.chances(position) if game.chances is not None else ()
        moves = game.legal_moves(position)
        below = None if rest is None else rest - 1
        children = []
        if chances:
            for one, share in zip(moves, chances, strict=True):
                after = game.play(position, one)
                text = game.move_text(position, one)
                children.append(self.visit(after, below, -math.inf, math.inf, text, share, player))
            mean = average(chances, [child.value or 0.0 for child in children])
            return TreeNode(move, chance, CHANCE, (alpha, beta), mean, "", children=tuple(children))
        other = MIN if player == MAX else MAX
        window = (alpha, beta)
        best = -math.inf * sign
        cut = False
        for one in self.ordered(position, moves, below):
            text = game.move_text(position, one)
            after = game.play(position, one)
            if cut:
                children.append(self.left_out(after, text, other))
                continue
            child = self.visit(after, below, alpha, beta, text, None, other)
            children.append(child)
            assert child.value is not None
            value = child.value
            if player == MAX:
                best = max(best, value)
                cut = best >= beta
                alpha = max(alpha, best)
            else:
                best = min(best, value)
                cut = best <= alpha
                beta = min(beta, best)
        cut = len(children) > 0 and children[-1].kind == "not looked at"
        if cut:
            self.count_line()
        return TreeNode(move, chance, player, window, best, "", cut, tuple(children))

    def left_out(self, position: Any, move: str, player: str) -> TreeNode:
        """Returns the node of a position that is not looked at: a leaf's value is shown."""
        sign = 1.0 if player == MAX else -1.0
        try:
            outcome = self.game.outcome(position)
        except PositionError:  # a leaf without a value
            outcome = None
        value = None if outcome is None else sign * outcome + 0.0
        return TreeNode(move, None, player, (-math.inf, math.inf), value, "not looked at")

    def static(self, position: Any) -> float:
        if self.evaluate is None:
            raise ValueError("expected an evaluator for a search of limited depth, found none")
        return self.evaluate(position)

    def ordered(self, position: Any, moves: Sequence[Any], rest: int | None) -> Sequence[Any]:
        """Returns the moves in the order in which they are searched."""
        if self.order == "game":
            return moves
        game = self.game

        return sorted(
            moves, key=lambda move: self.worth(game.play(position, move), rest), reverse=True
        )

    def worth(self, after: Any, rest: int | None) -> float:
        """Returns the value of a move for its mover, by the position after it."""
        if self.order == "perfect":
            return -expectiminimax(self.game, after, rest, self.evaluate)
        outcome = self.game.outcome(after)
        return -(self.static(after) if outcome is None else outcome)


@dataclass
class _MaxN(_Search):
    """The search for more than two players.

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
            yield self.at_leaf(position) if ended is None else ended
            return
        below = None if rest is None else rest - 1
        for move in self.game.legal_moves(position):
            yield from self.all_vectors(self.game.play(position, move), below)

    def at_leaf(self, position: Any) -> tuple[float, ...]:
        """Returns the static values, the side to move first."""
        return for_every_player(self.game, self.static)(position)

    def look(self, position: Any, rest: int | None, bound: float, move: str, side: int) -> TreeNode:
        """Returns the node of a position.

        bound: the value of the mover from which on the player before has no use for the position.
        side: the side to move.
        """
        game, name = self.game, self.game.sides[side]
        window = (-math.inf, bound)
        outcomes = game.outcome_vector(position)
        self.count_line()
        if outcomes is not None or rest == 0:
            self.leaves += 1
            kind = "static" if outcomes is None else "end of the game"
            own = self.at_leaf(position) if outcomes is None else outcomes
            vector = self.by_side(own, side)
            return TreeNode(move, None, name, window, own[0], kind, vector=vector)
        below, after_side = None if rest is None else rest - 1, (side + 1) % game.players
        children: list[TreeNode] = []
        best, vector = -math.inf, ()
        for one in self.ordered(position, game.legal_moves(position), below):
            text, after = game.move_text(position, one), game.play(position, one)
            if best >= bound:
                children.append(self.passed_over(after, text, after_side))
                continue
            child = self.look(after, below, self.room - best, text, after_side)
            children.append(child)
            if child.vector and child.vector[side] > best:
                best, vector = child.vector[side], child.vector
        cut = children[-1].kind == "not looked at"
        if cut:
            self.count_line()
            vector = ()
        return TreeNode(move, None, name, window, best, "", cut, tuple(children), vector)

    def passed_over(self, position: Any, move: str, side: int) -> TreeNode:
        """Returns the node of a position that is not looked at: a leaf's values are shown."""
        try:
            own = self.game.outcome_vector(position)
        except PositionError:  # a leaf without a value
            own = None
        vector = () if own is None else self.by_side(own, side)
        window = (-math.inf, math.inf)
        value = None if own is None else own[0]
        name = self.game.sides[side]
        return TreeNode(move, None, name, window, value, "not looked at", vector=vector)

    def by_side(self, own: Sequence[float], side: int) -> tuple[float, ...]:
        """Returns values that begin with the side to move in the order of the sides."""
        first = -side % self.game.players
        return tuple(value + 0.0 for value in (*own[first:], *own[:first]))

    def worth(self, after: Any, rest: int | None) -> float:
        """Returns the value of a move for its mover, by the position after it."""
        if self.order == "perfect":
            return max_n(self.game, after, rest, for_every_player(self.game, self.static))[-1]
        outcomes = self.game.outcome_vector(after)
        return (self.at_leaf(after) if outcomes is None else outcomes)[-1]


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
    value = "" if node.value is None else f"  = {node.value_text}"
    if not node.children:
        yield f"{stem}{name}{value}  ({node.kind})"
        return
    alpha, beta = node.window
    window = "" if node.player == CHANCE else f"  alpha {number(alpha)}, beta {number(beta)}"
    many = node.player not in (MAX, MIN, CHANCE)
    if many:
        window = f"  bound {number(beta)}" if math.isfinite(beta) else ""
        value = value if node.vector else f"  >= {number(node.value or 0.0)}"
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
