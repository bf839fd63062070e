"""Our solutions of the exercises, in plain Python; the checker compares other answers with theirs.

Their docstrings are the tasks, which `plysmith course tasks` prints. A tree is nested lists with
numbers as leaves, in which MAX moves at the root.
"""

from __future__ import annotations

import ast
import heapq
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def minimax(tree: Any, sign: int = 1) -> float:
    """Returns the value of a tree."""
    if not isinstance(tree, list):
        return float(tree)
    return sign * max(sign * minimax(child, -sign) for child in tree)


def best_moves(tree: Any) -> list[int]:
    """Returns the numbers of all best moves at the root of a tree, from 0."""
    values = [minimax(child, -1) for child in tree]
    return [move for move, value in enumerate(values) if value == max(values)]


def line(tree: Any, sign: int = 1) -> list[int]:
    """Returns the moves from the root of a tree to a leaf under best play.

    Moves are numbers from 0. Of equal moves the first one is played.
    """
    if not isinstance(tree, list):
        return []
    move = max(range(len(tree)), key=lambda one: sign * minimax(tree[one], -sign))
    return [move, *line(tree[move], -sign)]


def result(board: str) -> str:
    """Returns the result of tic-tac-toe: `X`, `O`, `draw`, or an empty text before the end.

    The board is a text of nine characters, `X`, `O` and `.`.
    """
    for side in "XO":
        if any(all(board[square] == side for square in three) for three in LINES):
            return side
    return "" if "." in board else "draw"


def wins(piles: Sequence[int]) -> bool:
    """Returns whether the player to move wins.

    A move takes any number of sticks from one pile, and who takes the last stick loses. Piles
    have at least one.
    """
    if max(piles) <= 1:
        return sum(piles) % 2 == 0
    total = 0
    for pile in piles:
        total ^= pile
    return total != 0


def _after(piles: Sequence[int]) -> list[tuple[int, ...]]:
    """The piles after each move."""
    return [
        (*piles[:at], pile - taken, *piles[at + 1 :])
        for at, pile in enumerate(piles)
        for taken in range(1, pile + 1)
    ]


def lines(piles: Sequence[int]) -> int:
    """Returns the number of different games that can be played.

    A move takes any number of sticks from one pile.
    """
    return sum(map(lines, _after(piles))) if any(piles) else 1


def positions(piles: Sequence[int]) -> int:
    """Returns the number of different positions of nim that can occur from here.

    The first and the last ones count. The order of piles and empty piles make no difference,
    and the side to move does.
    """
    seen, waiting = set(), [(tuple(sorted(piles)), 0)]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += [(tuple(sorted(after)), 1 - one[1]) for after in _after(one[0])]
    return len(seen)


def leaves(tree: Any) -> list[float]:
    """Returns the leaves that alpha-beta looks at, in order, as a list.

    It leaves a node when beta is at most alpha, and passes alpha and beta to all nodes below.
    """
    looked_at = []

    def value(node: Any, alpha: float, beta: float, is_max: bool) -> float:
        if not isinstance(node, list):
            looked_at.append(node)
            return float(node)
        for child in node:
            new = value(child, alpha, beta, not is_max)
            alpha, beta = (max(alpha, new), beta) if is_max else (alpha, min(beta, new))
            if alpha >= beta:
                break
        return alpha if is_max else beta

    value(tree, -math.inf, math.inf, True)
    return looked_at


def best_first(tree: Any) -> int:
    """Returns the number of leaves that alpha-beta looks at if moves are ordered perfectly.

    The children of each node are sorted by their minimax values, the best for the side that
    moves there first, and equal ones stay in their order.
    """

    def ordered(node: Any, sign: int) -> Any:
        if not isinstance(node, list):
            return node
        best = sorted(node, key=lambda child: -sign * minimax(child, -sign))
        return [ordered(child, -sign) for child in best]

    return len(leaves(ordered(tree, 1)))


def fewest(branching: int, depth: int) -> int:
    """Returns the number of leaves that alpha-beta looks at in a perfectly ordered tree.

    All leaves lie at this depth, and every node above them has `branching` children.
    """
    return int(branching ** (depth // 2) + branching ** (depth - depth // 2) - 1)


def open_lines(board: str) -> int:
    """Returns the rows, columns and diagonals open for X, less those open for O.

    A line is open for a side if the other has nothing on it. The board is a text of nine
    characters, `X`, `O` and `.`.
    """
    texts = [{board[square] for square in three} for three in LINES]
    return sum("O" not in text for text in texts) - sum("X" not in text for text in texts)


def _below(tree: Any) -> list[float]:
    """The leaves of a tree."""
    if not isinstance(tree, list):
        return [tree]
    return [leaf for child in tree for leaf in _below(child)]


def cutoff(tree: Any, depth: int, sign: int = 1) -> float:
    """Returns the minimax value of a tree from a search of `depth` plies.

    A position at this depth has the mean of all leaves below it as its static value.
    """
    if depth == 0 or not isinstance(tree, list):
        return sum(_below(tree)) / len(_below(tree))
    return sign * max(sign * cutoff(child, depth - 1, -sign) for child in tree)


def material(text: str) -> int:
    """Returns the pieces of the side to move less the other's: a king counts 5, a man 1.

    The text is a FEN: the side to move, then the squares of White (W) and Black (B) in either
    order.
    """
    side, *others = text.split(":")
    value = {
        pieces[0]: sum(5 if piece[0] == "K" else 1 for piece in pieces[1:].split(","))
        for pieces in others
    }
    return 2 * value[side] - sum(value.values())


def value(text: str) -> float:
    """Returns the value of a tree with chance nodes, which is given as text.

    `{0.9: branch, 0.1: branch}` is a chance node with its probabilities. Lists are the moves of
    MAX and MIN, who take turns; MAX begins.
    """

    def of(node: Any, is_max: bool) -> Any:
        if isinstance(node, dict):
            return sum(share * of(branch, is_max) for share, branch in node.items())
        if not isinstance(node, list):
            return node
        return (max if is_max else min)(of(child, not is_max) for child in node)

    return float(of(ast.literal_eval(text), True))


def careless(tree: Any, is_max: bool = True) -> float:
    """Returns the value for MAX if MIN makes each of its moves with equal probability."""
    if not isinstance(tree, list):
        return float(tree)
    values = [careless(child, not is_max) for child in tree]
    return max(values) if is_max else sum(values) / len(values)


def max_n(tree: Any, player: int = 0) -> tuple[float, ...]:
    """Returns the values of the leaf that is reached if each player takes its best move.

    Players 0, 1 and 2 take turns, leaves are tuples of their three values, and of equal moves
    the first one is played.
    """
    if isinstance(tree, tuple):
        return tree
    return max((max_n(child, (player + 1) % 3) for child in tree), key=lambda one: one[player])


def paranoid(tree: Any, player: int = 0) -> float:
    """Returns the value for player 0 if players 1 and 2 both want it to be small.

    Leaves are tuples of three values.
    """
    if isinstance(tree, tuple):
        return float(tree[0])
    values = [paranoid(child, (player + 1) % 3) for child in tree]
    return min(values) if player else max(values)


def hits(distance: int) -> int:
    """Returns the number of the 36 rolls of two dice by which a checker hits another one.

    The other stands `distance` points ahead on an empty board of backgammon. A checker moves by
    a die, by the sum, or up to four times the number of a double.
    """
    count = 0
    for one, two in itertools.product(range(1, 7), repeat=2):
        reached = {one, two, one + two} if one != two else {one, 2 * one, 3 * one, 4 * one}
        count += distance in reached
    return count


def security(matrix: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Returns the value that MAX can be sure of, and the one to which MIN can hold it.

    MAX chooses a row and MIN a column, at the same time and without dice. The entries are MAX's
    values.
    """
    return max(map(min, matrix)), min(map(max, zip(*matrix, strict=True)))


def credits(terms: Sequence[float], difference: float) -> list[int]:
    """Returns Samuel's credit for each term: 1, -1 or 0.

    It is 1 if the term has the sign of the difference between backed-up and static value, -1 if
    it has the other sign, and 0 if one of them is 0.
    """
    return [(term * difference > 0) - (term * difference < 0) for term in terms]


def cell(levels: Sequence[int], sizes: Sequence[int]) -> int:
    """Returns the number of a cell of a signature table, from 0.

    `sizes` has the number of levels of each term. Levels begin with 0, and the last one changes
    fastest from cell to cell.
    """
    number = 0
    for level, size in zip(levels, sizes, strict=True):
        number = number * size + level
    return number


def td(values: Sequence[float], outcome: float, rate: float) -> list[float]:
    """Returns the values of a game's positions after one step of TD(0).

    Each value moves the share `rate` of the way to the old value of the next position, and the
    last one to the outcome.
    """
    targets = [*values[1:], outcome]
    return [one + rate * (target - one) for one, target in zip(values, targets, strict=True)]


def tested(roads: Mapping[str, Sequence[str]], start: str, goal: str) -> list[str]:
    """Returns the towns in the order in which breadth-first search tests them, each once.

    The list ends with the goal. `roads` has for each town its neighbours in their order.
    """
    queue, seen = [start], list[str]()
    while goal not in seen:
        town = queue.pop(0)
        if town not in seen:
            seen.append(town)
            queue += roads[town]
    return seen


def depth_first(roads: Mapping[str, Sequence[str]], start: str, goal: str) -> list[str]:
    """Returns the towns in the order in which depth-first search tests them, each once.

    The list ends with the goal. All neighbours of a tested town go to the front of the queue
    one by one, which means that the last one is tried first.
    """
    stack, seen = [start], list[str]()
    while goal not in seen:
        town = stack.pop()
        if town not in seen:
            seen.append(town)
            stack += roads[town]
    return seen


def cheapest(roads: Mapping[str, Mapping[str, float]], start: str, goal: str) -> float:
    """Returns the length of the shortest way.

    `roads` has for each town the lengths of the roads to its neighbours.
    """
    queue, done = [(0.0, start)], set[str]()
    while goal not in done:
        cost, town = heapq.heappop(queue)
        done.add(town)
        for end, length in roads[town].items():
            if end not in done:
                heapq.heappush(queue, (cost + length, end))
    return cost


def greedy(
    roads: Mapping[str, Mapping[str, float]], estimates: Mapping[str, float], start: str, goal: str
) -> float:
    """Returns the length of the way that greedy best-first search takes.

    It tests the town with the smallest estimate next. A town keeps the way by which it was seen
    first. No two estimates are equal.
    """
    cost, waiting = {start: 0.0}, [start]
    while True:
        town = min(waiting, key=lambda one: estimates[one])
        if town == goal:
            return cost[town]
        waiting.remove(town)
        new = {end: cost[town] + length for end, length in roads[town].items() if end not in cost}
        cost |= new
        waiting += new


def manhattan(tiles: Sequence[int]) -> int:
    """Returns the steps that the tiles of the 8-puzzle are from their squares.

    `tiles` are nine numbers row by row, 0 is the blank, and the goal is 0 to 8.
    """
    return sum(
        abs(square // 3 - tile // 3) + abs(square % 3 - tile % 3)
        for square, tile in enumerate(tiles)
        if tile
    )


def solvable(tiles: Sequence[int]) -> bool:
    """Returns whether the 8-puzzle can be brought to its goal, 0 to 8."""
    pairs = itertools.combinations([tile for tile in tiles if tile], 2)
    return sum(first > second for first, second in pairs) % 2 == 0


def attacks(rows: Sequence[int]) -> int:
    """Returns the number of pairs of queens in one row or diagonal.

    `rows` has the row of the queen in each column.
    """
    pairs = itertools.combinations(enumerate(rows), 2)
    return sum(row == other or abs(row - other) == at - here for (here, row), (at, other) in pairs)


def arcs(
    colours: Mapping[str, Sequence[str]], neighbours: Mapping[str, Sequence[str]]
) -> dict[str, list[str]] | None:
    """Returns the colours that AC-3 leaves for each region, or None if one has none left.

    Neighbours must have different colours. The colours of each region are sorted.
    """
    left = {region: sorted(choices) for region, choices in colours.items()}
    queue = [(region, other) for region in left for other in neighbours[region]]
    while queue:
        region, other = queue.pop()
        choices = [one for one in left[region] if any(one != another for another in left[other])]
        if not choices:
            return None
        if choices != left[region]:
            left[region] = choices
            queue += [(one, region) for one in neighbours[region]]
    return left
