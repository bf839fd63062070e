"""Textbook search without a heuristic (Russell and Norvig, chapter 3), for any problem.

These functions are written to be read, and tests compare the fast search, `search.solve`, with
them. Each takes a `problem`, the first `position` (default: the problem's start) and `nodes`, the
greatest number of positions to expand, and returns a `Solution`. Its `trace` is called with the
frontier at each step (`search.textbook.solution.Trace`).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Unpack

from games.contract import Position
from games.problem import Problem
from programs.phrases import counted
from search.textbook.best_first import best_first
from search.textbook.solution import Count, Node, Solution, StrategyOptions

__all__ = [
    "bidirectional",
    "breadth_first",
    "depth_first",
    "depth_limited",
    "iterative_deepening",
    "uniform_cost",
]

FIRST = "it is the first solution that was met"


def breadth_first(
    problem: Problem, position: Position | None = None, **options: Unpack[StrategyOptions]
) -> Solution:
    """Returns the solution with the fewest moves; the shallowest positions are expanded first.

    A position is tested for the goal when it leaves the queue, and expanded once; it may be in the
    queue several times.
    """
    return _in_order(Count(problem, position, **options), deque.extend, fewest=True)


def depth_first(
    problem: Problem, position: Position | None = None, **options: Unpack[StrategyOptions]
) -> Solution:
    """Returns a solution; the positions that were found last are expanded first.

    It differs from `breadth_first` only in that new positions go to the front of the queue.
    """
    return _in_order(Count(problem, position, **options), deque.extendleft, fewest=False)


def _in_order(
    count: Count, insert: Callable[[deque[Node], list[Node]], None], *, fewest: bool
) -> Solution:
    queue, expanded = deque([count.root]), set[Any]()
    while queue:
        count.show(queue)
        node = queue.popleft()
        while node.position in expanded:
            if not queue:
                return count.exhausted(len(expanded))
            node = queue.popleft()
        if count.problem.solved(node.position):
            if not fewest:
                return count.solution(node, math.inf, FIRST)
            return count.solution(node, *count.by_depth(node.depth, expanded=True))
        if count.spent:
            return count.cut_short()
        expanded.add(node.position)
        insert(queue, count.children(node))
        count.frontier(len(queue))
    return count.exhausted(len(expanded))


def uniform_cost(
    problem: Problem, position: Position | None = None, **options: Unpack[StrategyOptions]
) -> Solution:
    """Returns the cheapest solution; the positions cheapest to reach are expanded first."""
    return best_first(
        problem,
        position,
        lambda node: (node.cost,),
        1.0,
        "the cheapest was expanded first",
        **options,
    )


def depth_limited(
    problem: Problem,
    position: Position | None = None,
    *,
    depth: int,
    **options: Unpack[StrategyOptions],
) -> Solution:
    """Returns a solution of at most `depth` moves, found depth first in the memory of one line.

    Positions that are already on the line are not entered again.
    """
    count = Count(problem, position, **options)
    node, _ = _down(count, count.root, depth, {count.root.position})
    if node is not None:
        return count.solution(node, math.inf, FIRST)
    return count.cut_short() if count.spent else count.solution(
        None, 1.0, f"no solution of at most {counted(depth, 'move')}"
    )  # fmt: skip


def _down(
    count: Count, node: Node, depth: int, line: set[Position], *, goals: bool = True
) -> tuple[Node | None, bool]:
    """Returns the goal within `depth` moves of a node, and whether the limit cut anything off.

    goals: whether a goal ends the search; otherwise it expands all positions, for their costs.
    """
    count.show_line(node)
    if goals and count.problem.solved(node.position):
        return node, False
    if depth == 0 or count.spent:
        return None, True
    cut = False
    for child in count.children(node):
        if child.position in line:
            continue
        line.add(child.position)
        count.frontier(len(line))
        goal, cut_below = _down(count, child, depth - 1, line, goals=goals)
        line.remove(child.position)
        if goal is not None:
            return goal, False
        cut |= cut_below
    return None, cut


def iterative_deepening(
    problem: Problem, position: Position | None = None, **options: Unpack[StrategyOptions]
) -> Solution:
    """Returns the solution with the fewest moves, by depth-limited search with growing limits.

    Unless the problem says that all moves cost the same, the last search is done once more to its
    end, which shows the costs of all shorter lines.
    """
    count = Count(problem, position, **options)
    depth = 0
    while True:
        goal, cut = _down(count, count.root, depth, {count.root.position})
        if goal is not None:
            if count.open_costs:
                _down(count, count.root, depth, {count.root.position}, goals=False)
            return count.solution(goal, *count.by_depth(depth, expanded=not count.spent))
        if count.spent:
            return count.cut_short()
        if not cut:
            return count.solution(None, 1.0, f"no line is longer than {counted(depth, 'move')}")
        depth += 1


def bidirectional(
    problem: Problem, position: Position | None = None, **options: Unpack[StrategyOptions]
) -> Solution:
    """Returns the solution with the fewest moves, breadth first from both ends.

    The problem must have a known goal and be able to take back moves (`goal`, `undo`). The moves
    that the search from the goal plays, reversed, are the second half of the solution. Raises
    TypeError if the problem has no `goal`, or at a move that cannot be taken back.
    """
    count = Count(problem, position, **options)
    ends: list[dict[Position, Node]] = [
        {count.root.position: count.root},
        {problem.goal(): Node(problem.goal())},
    ]
    layers = [list(end.values()) for end in ends]
    while layers[0]:
        count.show(layers[0] + layers[1])
        met = [node for node in layers[0] + layers[1] if all(node.position in e for e in ends)]
        if met:
            meeting = min(
                (node.position for node in met),
                key=lambda place: ends[0][place].depth + ends[1][place].depth,
            )
            first, second = ends[0][meeting], ends[1][meeting]
            moves = (*first.moves(), *_reversed(problem, second))
            return count.result(moves, _cost(count, moves), *count.by_depth(len(moves)))
        if count.spent:
            return count.cut_short()
        # if all that is behind the goal is known, whatever can be reached is still looked at
        side = 1 if 0 < len(layers[1]) < len(layers[0]) else 0
        layers[side] = _next_layer(count, layers[side], ends[side])
        count.frontier(len(layers[0]) + len(layers[1]))
    return count.exhausted(len(ends[0]))


def _next_layer(count: Count, layer: list[Node], known: dict[Position, Node]) -> list[Node]:
    new = []
    for node in layer:
        for child in count.children(node):
            count.problem.undo(node.position, child.move)
            if child.position not in known:
                known[child.position] = child
                new.append(child)
    return new


def _cost(count: Count, moves: tuple[Any, ...]) -> float:
    """Returns the cost of moves from the first position."""
    position, cost = count.root.position, 0.0
    for move in moves:
        cost += count.problem.cost(position, move)
        position = count.problem.play(position, move)
    return cost


def _reversed(problem: Problem, node: Node) -> list[Any]:
    """Returns the moves from a node of the search from the goal back to the goal."""
    moves = []
    while node.parent is not None:
        moves.append(problem.undo(node.parent.position, node.move))
        node = node.parent
    return moves
