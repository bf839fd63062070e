"""Wrong answers made of right ones: each differs by one small slip, as students make them.

    python -m tests.course_mutants 300 7

draws 300 of them by seed 7 and prints those that the checker calls right.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from play.course import answers, solutions
from play.course.check import answered, check, equal
from play.course.exercises import EXERCISES

OTHERS = Path(__file__).with_name("course_answers.txt")
#: Cases by which a mutant is judged, with a limit of seconds for all of them.
CASES, SECONDS = 600, 5.0

#: Operators, and those that stand in their place.
SWAPPED = """
Lt LtE Gt | LtE Lt GtE Eq | Gt GtE Lt | GtE Gt LtE | Eq NotEq | NotEq Eq | In NotIn | NotIn In
Is IsNot | IsNot Is | Add Sub | Sub Add | Mult Add | Mod FloorDiv | FloorDiv Mod | Pow Mult
BitXor BitOr Add | And Or | Or And | Div Mult
"""
OPERATORS = {pair[0]: pair[1:] for pair in map(str.split, re.split("[|\n]", SWAPPED)) if pair}
NAMES = dict(
    zip(
        "max min any all sum sorted reversed pop popleft heappop".split(),
        "min max all any max list list copy pop nlargest".split(),
        strict=True,
    )
)


def right_answers() -> Iterator[tuple[int, str]]:
    """Yields the number and the source of each right answer: ours, and those of other styles."""
    ours = Path(solutions.__file__).read_text("utf-8")
    for number in EXERCISES:
        yield number, ours
    for part in re.split(r"^### ", OTHERS.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, source = part.partition("\n")
        yield int(head.split()[0]), source


def _slips(node: ast.AST) -> Iterator[ast.AST | None]:
    """Yields what may stand in place of a part of a program by mistake; None for nothing."""
    if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.AugAssign):
        operator = node.ops[0] if isinstance(node, ast.Compare) else node.op
        for other in OPERATORS.get(type(operator).__name__, ()):
            new: Any = copy.deepcopy(node)
            if isinstance(new, ast.Compare):
                new.ops[0] = getattr(ast, other)()
            else:
                new.op = getattr(ast, other)()
            yield new
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is):
        yield ast.UnaryOp(ast.Not(), node.left)  # `if not best`
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield from (ast.Constant(node.value + step) for step in (1, -1))
    if isinstance(node, ast.Constant) and node.value is None:
        yield ast.Constant(0)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id], node.ctx)
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    if isinstance(node, ast.Call) and len(node.args) > 1:
        new = copy.deepcopy(node)
        new.args[0], new.args[1] = new.args[1], new.args[0]
        yield new
    if (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and not isinstance(node.args[0], ast.Starred)
    ):
        yield node.args[0]
    if isinstance(node, ast.Subscript):
        yield node.value
    if isinstance(node, ast.AugAssign | ast.Break | ast.Continue | ast.Expr | ast.If):
        yield None
    if isinstance(node, ast.If):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    if isinstance(node, ast.Return) and node.value is not None:
        yield ast.Expr(node.value)


def _needed(tree: ast.Module, name: str) -> ast.Module:
    """Returns a module with imports, constants, and the functions that one of them calls."""
    parts = {
        part.name: part for part in tree.body if isinstance(part, ast.FunctionDef | ast.ClassDef)
    }
    if tree.body and ast.get_docstring(tree):  # ours
        wanted, waiting = set[str](), [name]
        while waiting:
            one = waiting.pop()
            if one in parts and one not in wanted:
                wanted.add(one)
                waiting += [part.id for part in ast.walk(parts[one]) if isinstance(part, ast.Name)]
        tree.body = [part for part in tree.body[1:] if getattr(part, "name", name) in wanted]
    return tree


def mutants(source: str, name: str) -> list[str]:
    """Returns all programs that differ from one by one slip, within functions."""
    tree, texts = _needed(ast.parse(source), name), []
    for part in list(ast.walk(tree)):
        if isinstance(part, ast.FunctionDef):
            if ast.get_docstring(part):
                part.body = part.body[1:]
            part.returns = None
            for argument in part.args.args:
                argument.annotation = None
    right = ast.unparse(ast.fix_missing_locations(tree))
    functions = [part for part in tree.body if isinstance(part, ast.FunctionDef | ast.ClassDef)]
    for owner in (part for function in functions for part in ast.walk(function)):
        for field, value in ast.iter_fields(owner):
            whole = value if isinstance(value, list) else [value]
            for place, part in enumerate(whole):
                for slip in _slips(part) if isinstance(part, ast.AST) else ():
                    new = whole.copy()
                    new[place] = ast.Pass() if slip is None else slip
                    setattr(owner, field, new if isinstance(value, list) else new[0])
                    texts.append(ast.unparse(ast.fix_missing_locations(tree)))
                setattr(owner, field, value)
    return [text for text in dict.fromkeys(texts) if text != right]


@functools.cache
def _boards() -> list[str]:
    """Returns all boards of tic-tac-toe that occur in games."""
    boards, waiting = set[str](), ["." * 9]
    while waiting:
        board = waiting.pop()
        if board not in boards:
            boards.add(board)
            side = "XO"[board.count(".") % 2 == 0]
            if not solutions.result(board):
                waiting += [
                    board[:at] + side + board[at + 1 :] for at in range(9) if board[at] == "."
                ]
    return sorted(boards)


def _small(lots: Random, leaf: Any, depth: int = 3) -> Any:
    """Returns a tree of at most three plies and two moves, with a leaf of a few kinds."""
    if depth == 0 or depth < 3 and lots.random() < 0.3:
        return lots.choice(leaf)
    return [_small(lots, leaf, depth - 1) for _ in range(lots.randint(1, 2))]


def _judging(number: int) -> Iterator[tuple[Any, ...]]:
    """Yields cases that the checker does not use; half of them it would not draw so, either."""
    exercise, lots = EXERCISES[number], Random(f"judge {number}")
    name, drawn_like = exercise.name, exercise.cases[0]
    every = {
        "hits": [(one,) for one in range(1, 25)],
        "fewest": list(itertools.product(range(1, 50), range(12))),
        **dict.fromkeys(("result", "open_lines"), [(one,) for one in _boards()]),
        **dict.fromkeys(
            ("wins", "lines", "positions"),
            [
                (piles,)
                for most in (1, 2, 3)
                for piles in itertools.product(range(1, 4), repeat=most)
            ],
        ),
        "security": [
            ([row, other],)
            for row in itertools.product((-1, 0, 1), repeat=3)
            for other in itertools.product((-1, 0, 1), repeat=3)
        ],
        "attacks": [(list(rows),) for rows in itertools.product(range(5), repeat=4)],
    }
    yield from every.get(name, ())
    for _ in range(CASES // 2):
        yield exercise.draw(lots)
        if name in ("max_n", "paranoid"):
            yield (_small(lots, list(itertools.product((0, 1), repeat=3))),)
        elif (
            isinstance(drawn_like[0], list)
            and isinstance(drawn_like[0][0], list)
            and name != "security"
        ):
            yield (_small(lots, (-1, 0, 1)), *(lots.randint(0, 3) for _ in drawn_like[1:]))


def is_wrong(number: int, file: Path) -> bool:
    """Returns whether a file errs on one of many cases that the checker does not use."""
    exercise, cases = EXERCISES[number], list(_judging(number))
    try:
        replies = list(answered(file, exercise.name, cases, SECONDS))
    except ValueError:
        return True
    return len(replies) < len(cases) or any(
        "error" in reply or not equal(reply["answer"], answers.plain(exercise.solution(*case)))
        for case, reply in zip(cases, replies, strict=False)
    )


def drawn(count: int, seed: int, folder: Path) -> Iterator[tuple[int, str, bool]]:
    """Yields wrong answers, each with its exercise, and whether the checker refuses it."""
    lots = Random(seed)
    pools = [
        (number, mutants(text, EXERCISES[number].name))
        for number, text in right_answers()
        if "sleep" not in text  # the judge's limit would call all of these wrong
    ]
    while count:
        number, pool = lots.choice(pools)
        text = lots.choice(pool)
        file = folder / f"ex{number}.py"
        file.write_text(text)
        if is_wrong(number, file):
            count -= 1
            try:
                yield number, text, any(one.wrong for one in check(file, lots.randrange(10**6), 3))
            except ValueError:
                yield number, text, True


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        given = [int(one) for one in sys.argv[1:]]
        missed = [one[:2] for one in drawn(*given, Path(folder)) if not one[2]]
    print(*(f"# ex{number}.py\n{text}\n" for number, text in missed), sep="\n")
    print(f"{len(missed)} of {given[0]} wrong answers called right")
