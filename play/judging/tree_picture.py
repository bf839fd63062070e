"""The tree of a search as a picture, in the form SVG: triangles, windows, values and cutoffs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from play.judging.tree_node import CHANCE, MAX, MIN, TreeNode, number

__all__ = ["tree_picture"]

LEVEL = 92  # between two plies, in pixels
GAP = 14  # between two leaves
LETTER = 7.4  # width of a letter of 13 pixels
SMALL = 5.6  # of one of 10 pixels
SIDE = 17  # half the width of a triangle
INK, FAINT, CUT, BEST = "#222", "#b5b5b5", "#c0392b", "#1f6fb2"


def tree_picture(root: TreeNode) -> str:
    """Returns the picture of a tree as text in the form SVG.

    A triangle that points up is MAX's position, one that points down MIN's, a circle a chance node,
    a square a leaf. Next to a position is the window on entering it, above it its value
    (with ≤ or ≥ if the value is a bound only). The principal variation is blue. Moves that were not
    searched are grey, and crossed out in red if alpha or beta cut them off. With more than two
    players positions are circles with the last letter of the mover's name, and next to them is the
    bound that cuts.
    """
    top = _placed(root)
    width = top.width + 2 * GAP
    height = LEVEL * (_depth(root) - 1) + 96
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="13"'
        ' text-anchor="middle">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    edges: list[str] = []
    shapes: list[str] = []
    _draw(top, GAP, 40.0, True, edges, shapes)
    return "\n".join([*parts, *edges, *shapes, "</svg>"]) + "\n"


@dataclass
class _Placed:
    """A node with its place: `x` from the left edge of its subtree, which is `width` wide."""

    node: TreeNode
    x: float = 0.0
    width: float = 0.0
    children: list[tuple[float, _Placed]] = field(default_factory=list)


def _placed(node: TreeNode) -> _Placed:
    """Returns a node with places for all below it, side by side."""
    own = _own_width(node)
    if not node.children:
        return _Placed(node, own / 2, own)
    children = []
    left = 0.0
    for child in node.children:
        part = _placed(child)
        children.append((left, part))
        left += part.width + GAP
    width = left - GAP
    first, last = children[0], children[-1]
    x = (first[0] + first[1].x + last[0] + last[1].x) / 2
    # the labels of a position may be wider than what is below it
    before, after = max(0.0, own / 2 - x), max(0.0, x + own / 2 - width)
    children = [(place + before, child) for place, child in children]
    return _Placed(node, x + before, width + before + after, children)


def _own_width(node: TreeNode) -> float:
    letters = max(LETTER * len(_value(node)) + 10, SMALL * (len(_branch(node)) + 4))
    if not node.children:
        return max(letters, 30.0)
    # the window stands on the right of the position, and as much room is left on the left
    return max(letters, 2 * (SIDE + 6 + SMALL * len(_window(node))))


def _depth(node: TreeNode) -> int:
    return 1 + max((_depth(child) for child in node.children), default=0)


def _value(node: TreeNode) -> str:
    if node.value is None:
        return "…"
    bound = {"=": "", ">=": "≥ ", "<=": "≤ "}[node.relation]
    return bound + node.value_text.replace("-", "−")


def _window(node: TreeNode) -> str:
    if node.player == CHANCE:
        return ""
    if _of_many(node):
        bound = node.window[1]
        return node.player + (f", bound {number(bound)}" if math.isfinite(bound) else "")
    low, high = (
        number(value).replace("inf", "∞").replace("-", "−").replace("+", "")
        for value in node.window
    )
    return f"[{low}, {high}]"


def _of_many(node: TreeNode) -> bool:
    """Whether more than two players play."""
    return node.player not in (MAX, MIN, CHANCE)


def _branch(node: TreeNode) -> str:
    return node.move if node.chance is None else number(node.chance)


def _draw(
    placed: _Placed, left: float, y: float, best: bool, edges: list[str], shapes: list[str]
) -> None:
    """Add the shapes of a node whose subtree begins at `left`, and of all below it.

    best: whether the node is on the principal variation.
    """
    node = placed.node
    x = left + placed.x
    shapes.extend(_shape(node, x, y, best))
    chosen = _chosen(node) if best else None
    for place, child in placed.children:
        below = child.node
        end = left + place + child.x
        skipped = below.kind == "not looked at"
        follows = best and (below is chosen or node.player == CHANCE)
        colour = FAINT if skipped else BEST if follows else INK
        bottom = y + LEVEL - (32 if below.children else 12)
        edges.append(
            f'<line x1="{x:.1f}" y1="{y + 14:.1f}" x2="{end:.1f}" y2="{bottom:.1f}"'
            f' stroke="{colour}" stroke-width="{2.5 if follows else 1}"/>'
        )
        middle_x, middle_y = x + 0.5 * (end - x), y + 14 + 0.5 * (LEVEL - 36)
        if skipped:
            edges.append(
                f'<path d="M{middle_x - 5:.1f} {middle_y - 5:.1f}l10 10m0 -10l-10 10"'
                f' stroke="{CUT}" stroke-width="1.5"/>'
            )
        else:
            half = SMALL * len(_branch(below)) / 2 + 1
            edges.append(
                f'<rect x="{middle_x - half:.1f}" y="{middle_y - 6:.1f}" width="{2 * half:.1f}"'
                ' height="12" fill="white"/>'
            )
            edges.append(_text(_branch(below), middle_x, middle_y + 4, 10, colour))
        _draw(child, left + place, y + LEVEL, follows, edges, shapes)


def _chosen(node: TreeNode) -> TreeNode | None:
    """Returns the first child whose value is the node's."""
    if _of_many(node):
        return next((child for child in node.looked_at if child.vector == node.vector), None)
    return next((child for child in node.looked_at if child.value == node.value), None)


def _shape(node: TreeNode, x: float, y: float, best: bool) -> Iterator[str]:
    skipped = node.kind == "not looked at"
    colour = FAINT if skipped else BEST if best else INK
    stroke = f'fill="white" stroke="{colour}" stroke-width="{2 if best else 1}"'
    text = _value(node)
    if not node.children:
        half = LETTER * len(text) / 2 + 4
        box = f'x="{x - half:.1f}" y="{y - 12}" width="{2 * half:.1f}" height="24"'
        yield f"<rect {box} {stroke}/>"
        yield _text(text, x, y + 4.5, 13, colour)
        return
    if node.player == CHANCE or _of_many(node):
        yield f'<circle cx="{x:.1f}" cy="{y}" r="15" {stroke}/>'
    elif node.player == MIN:
        yield f'<path d="M{x - SIDE:.1f} {y - 13}h{2 * SIDE}l{-SIDE} 27z" {stroke}/>'
    else:
        yield f'<path d="M{x - SIDE:.1f} {y + 14}h{2 * SIDE}l{-SIDE} -27z" {stroke}/>'
    if _of_many(node):
        yield _text(node.player[-1], x, y + 4.5, 13, colour)
    yield _text(text, x, y - 18, 13, colour)
    window = _window(node)
    if window:
        half = SMALL * len(window) / 2
        yield _text(window, x + SIDE + 4 + half, y + 4, 10, "#666")


def _text(text: str, x: float, y: float, size: int, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}">{escape(text)}</text>'
