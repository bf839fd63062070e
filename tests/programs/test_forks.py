"""Conditions on the kind of a game, counted by meaning, so that they can only become fewer.

What differs by kind (dice, the number of sides, one agent) belongs into the kind's own object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("programs", "games", "search", "play", "learner", "plysmith.py", "train.py")
#: Attributes and classes that tell the kind of a game.
ATTRIBUTES, CLASSES = {"dice", "chances", "players"}, {"DiceGame", "Problem"}
#: The number of conditions, which only shrinks; it was 154 at commit 9e0b245.
MOST = 80

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
CONDITIONS = (ast.If, ast.While, ast.IfExp)


def sources(root: Path) -> Iterator[Path]:
    for name in FOLDERS:
        path = root / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.is_file()


def tells(node: ast.AST, attributes: set[str], names: set[str]) -> bool:
    """Returns whether an expression mentions an attribute, class or local that tells the kind."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in attributes | CLASSES:
            return True
        if isinstance(part, ast.Name) and part.id in names | CLASSES:
            return True
        if isinstance(part, ast.Constant) and part.value in attributes:  # getattr(game, "dice")
            return True
    return False


def is_telling(node: ast.AST, attributes: set[str], names: set[str]) -> bool:
    """Returns whether the value of an expression is the kind, or a truth about it."""
    if isinstance(node, ast.Attribute):
        return node.attr in attributes
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Call):
        asked = isinstance(node.func, ast.Name) and node.func.id in (
            "isinstance",
            "bool",
            "getattr",
        )
        return asked and tells(node, attributes, names)
    if isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return any(is_telling(part, attributes, names) for part in parts)
    return False


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a function or module without those of functions within it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, FUNCTIONS):
            yield from own_nodes(node)


def telling_properties(trees: Iterable[ast.Module]) -> set[str]:
    """Returns the attributes that tell the kind, with the properties that return one of them."""
    found = set(ATTRIBUTES)
    properties = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    for node in properties:
        returns = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
        if any(value is not None and is_telling(value, ATTRIBUTES, set()) for value in returns):
            found.add(node.name)
    return found


def conditions(node: ast.AST) -> list[ast.expr]:
    """Returns the expressions on which a node decides."""
    if isinstance(node, CONDITIONS):
        return [node.test]
    if isinstance(node, ast.comprehension):
        return node.ifs
    if isinstance(node, ast.Match):
        return [node.subject]
    if isinstance(node, ast.match_case):
        return [node.guard] * (node.guard is not None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [
            part
            for part in (node.left, node.right)
            if isinstance(part, (ast.Compare, ast.BoolOp))
            or (isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not))
            or (isinstance(part, ast.Call) and ast.unparse(part.func) in ("bool", "isinstance"))
        ]
    return []


def forks_in(scope: ast.AST, attributes: set[str], outer: set[str]) -> Iterator[ast.expr]:
    names = set(outer)
    nodes = list(own_nodes(scope))
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = [node.target]
        if targets and is_telling(node.value, attributes, names):  # type: ignore[attr-defined]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    for node in nodes:
        yield from (test for test in conditions(node) if tells(test, attributes, names))
        if isinstance(node, FUNCTIONS):
            yield from forks_in(node, attributes, names)


def forks(root: Path) -> list[str]:
    """Returns the place of every condition on the kind of a game."""
    texts = {path: path.read_text("utf-8") for path in sources(root)}
    attributes = telling_properties(ast.parse(t) for t in texts.values() if "property" in t)
    return [
        f"{path.relative_to(root)}:{test.lineno}: {ast.unparse(test)[:80]}"
        for path, text in texts.items()
        if any(word in text for word in attributes | CLASSES)
        for test in forks_in(ast.parse(text), attributes, set())
    ]


def test_conditions_on_the_kind_of_a_game_only_become_fewer() -> None:
    found = forks(ROOT)
    assert len(found) <= MOST, "\n".join(found)


@pytest.mark.plain
def test_a_fork_is_counted_whatever_its_form(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        """
class Seat:
    @property
    def many(self):
        return self.game.players > 2

def play(game, seat):
    rolls = game.dice
    if rolls:  # 1
        pass
    elif isinstance(game, Problem):  # 2
        pass
    while seat.many:  # 3
        pass
    plies = 3 if not game.chances else 4  # 4
    moves = [1 for _ in plies if game.players == 2]  # 5
    match game.dice:  # 6
        case None if getattr(game, "players", 2):  # 7
            pass
    return plies * (game.players > 2) + (lambda: 1 if rolls else 2)() + (3 if plies else 4)  # 8, 9
"""
    )
    assert len(forks(tmp_path)) == 9
