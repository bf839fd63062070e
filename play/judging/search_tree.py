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
from search.minimax import expectiminimax

__all__ = ["ORDERS", "SearchTree", "TreeNode", "search_tree"]

Evaluate = Callable[[Any], float]
#: How moves are ordered: as the game lists them, by static value, by backed-up value.
ORDERS = ("game", "evaluation", "perfect")
MAX, MIN, CHANCE = "MAX", "MIN", "chance"


@dataclass(frozen=True)
class TreeNode:
    """A position of the tree of a search; values and windows are MAX's.

    move: the move that leads here, as people write it; empty at the root.
    chance: the probability of that move after a chance node, else None.
    player: who moves here: "MAX", "MIN" or "chance"; also at a leaf, who would move next.
    window: alpha and beta on entering.
    value: the value found; for a leaf that was not looked at its own, if it has one, else None.
    kind: "" for an inner position, else "static", "end of the game" or "not looked at".
    cut: whether moves were left out because alpha or beta was reached.
    children: the positions after the moves, in the order of the search; those not looked at last.
    """

    move: str
    chance: float | None
    player: str
    window: tuple[float, float]
    value: float | None
    kind: str
    cut: bool = False
    children: tuple[TreeNode, ...] = ()

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which minimax's value of the position lies, by what was searched."""
        if self.kind == "not looked at":
            return -math.inf, math.inf
        if not self.children:
            assert self.value is not None
            return self.value, self.value
        low, high = zip(*(child.interval for child in self.children), strict=True)
        if self.player == MAX:
            return max(low), max(high)
        if self.player == MIN:
            return min(low), min(high)
        chances = [child.chance or 0.0 for child in self.children]
        return _average(chances, low), _average(chances, high)

    @property
    def looked_at(self) -> list[TreeNode]:
        """The children that were searched."""
        return [child for child in self.children if child.kind != "not looked at"]


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
        from play.judging.tree_picture import tree_picture

        return tree_picture(self.root)

    def _repr_svg_(self) -> str:
        return self.svg

    def save_svg(self, path: str | Path) -> None:
        """Write the picture to a file; raises OSError if it cannot be written."""
        from games.whole_files import write_atomically

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

    It is the search of `search.minimax.alphabeta`: no transposition table and no quiescence. The
    side to move at the root is MAX, in explicit trees side 0. The average of a chance node needs
    the exact values of its branches, so their windows are open.

    depth: plies to search; None for the end of the game.
    evaluate: static values for the side to move. Without it the depth has to reach the end.
    order: which moves come first: "game" as the game lists them, "evaluation" those with the best
        static value after them, "perfect" those with the best backed-up value.
    most_lines: greatest number of lines of the text.

    Raises ValueError for a depth below 1, an unknown order, a game that is not for two, and if the
    text would exceed `most_lines` lines.
    """
    if depth is not None and depth < 1:
        raise ValueError(f"depth: expected at least 1, found {depth}")
    if order not in ORDERS:
        raise ValueError(f"order: expected one of {', '.join(ORDERS)}, found {order!r}")
    if game.players != 2:
        raise ValueError(f"expected a game for two, found {game.players} players")
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
            average = _average(chances, [child.value or 0.0 for child in children])
            return TreeNode(
                move, chance, CHANCE, (alpha, beta), average, "", children=tuple(children)
            )
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

        def value(move: Any) -> float:
            after = game.play(position, move)
            if self.order == "perfect":
                return -expectiminimax(game, after, rest, self.evaluate)
            outcome = game.outcome(after)
            return -(self.static(after) if outcome is None else outcome)

        return sorted(moves, key=value, reverse=True)


def _average(chances: Sequence[float], values: Sequence[float]) -> float:
    return math.fsum(chance * value for chance, value in zip(chances, values, strict=True))


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
    value = "" if node.value is None else f"  = {number(node.value)}"
    if not node.children:
        yield f"{stem}{name}{value}  ({node.kind})"
        return
    alpha, beta = node.window
    window = "" if node.player == CHANCE else f"  alpha {number(alpha)}, beta {number(beta)}"
    yield f"{stem}{name}  {node.player}{window}{value}"
    looked_at = node.looked_at
    for i, child in enumerate(looked_at):
        last = i == len(looked_at) - 1 and not node.cut
        corner, below = ("└ ", "  ") if last else ("├ ", "│ ")
        yield from _lines(child, twigs + corner, twigs + below)
    if node.cut:
        left = len(node.children) - len(looked_at)
        limit = f">= beta {number(beta)}" if node.player == MAX else f"<= alpha {number(alpha)}"
        yield (
            f"{twigs}└ cut: {looked_at[-1].move} gives {number(node.value or 0.0)} {limit};"
            f" {left} move{'s' * (left > 1)} not looked at"
        )


def number(value: float) -> str:
    """Returns a value as the tree shows it."""
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return f"{value + 0.0:.4g}"
