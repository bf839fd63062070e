"""Kernels as C99: a function of a small, typed part of Python, statement by statement.

Integers, floats, tuples, arrays, loops and bit operations keep their meaning: division rounds down,
a negative index counts from the end, an integer and a float give a float. A function is translated
once for each list of types that it is called with. Anything else is refused with its file, its line
and the construct.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from search.export.c_values import ELEMENTS, Array, Block, Tuple, Value, joined
from search.export.calls import Calls
from search.export.sources import TranslationError, declared_types, source_tree
from search.export.unit import CFile

__all__ = ["Function", "TranslationError"]

#: Words that a name in C cannot be; such a name gets a `_` at its end.
RESERVED = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register restrict return short signed sizeof static struct switch typedef"
    " union unsigned void volatile while y0 y1 yn j0 j1 jn index main".split()
)


class Function(Calls):
    """The translation of one function for one list of types.

    unit: the file of C.
    tree: the function.
    scope: the names that it reads, other than its own.
    given: for each parameter its type, or the value that stands for it.
    file: the name of its file, for errors.
    entries: what `load_int` and `load_float` read from the parameter `data`.
    """

    def __init__(
        self,
        unit: CFile,
        tree: ast.FunctionDef,
        scope: Mapping[str, Any],
        given: Mapping[str, Any],
        file: str,
        entries: Any = None,
    ) -> None:
        self.unit, self.tree, self.scope = unit, tree, scope
        self.given, self.file, self.entries = given, file, entries
        # parameters that hold numbers are variables
        self.parameters = {n: k for n, k in given.items() if isinstance(k, (str, Tuple))}
        self.kinds: dict[str, Any] = dict(self.parameters)
        self.unnatural = set(self.parameters)
        self.result: Any = "void"
        self.natural = True

    def body(self) -> list[str]:
        """Returns the lines of the body; `result` is then the type of the returned value.

        The body is translated until the types of its variables, which the first translations only
        know in part, stay as they are.
        """
        while True:
            before = (dict(self.kinds), set(self.unnatural), self.result, self.natural)
            self.lines: list[str] = []
            self.depth = 1
            self.aliases = {
                name: kind if isinstance(kind, Value) else Value(kind, self.c_name(name))
                for name, kind in self.given.items()
                if name not in self.parameters
            }
            self.blocks: list[Block] = []
            self.read: set[str] = set()
            self.looped: set[str] = set()
            self.statements(self.tree.body)
            if before == (self.kinds, self.unnatural, self.result, self.natural):
                return self._declared()

    def _declared(self) -> list[str]:
        """Returns the body with declarations before it."""
        lines = []
        for name, kind in self.kinds.items():
            if name not in self.looped | set(self.parameters):
                start = " = 0" if isinstance(kind, str) else ""
                lines.append(f"    {self.unit.c_type(kind)} {self.c_name(name)}{start};")
        for block in self.blocks:
            if block.element:
                count = block.size // np.dtype(block.element).itemsize
                lines.append(f"    {ELEMENTS[block.element][0]} {block.name}[{count}] ALIGNED;")
        declared = {*self.kinds, *(n for n, k in self.given.items() if not isinstance(k, Value))}
        unused = [name for name in declared if name not in self.read | self.looped]
        lines += [f"    (void){self.c_name(name)};" for name in sorted(unused)]
        return lines + self.lines

    def head(self, name: str) -> str:
        """Returns the head of the function in C, once its body is known."""
        parts = []
        for own, given in self.given.items():
            if isinstance(given, Value):
                continue
            kind = self.unit.c_type(self.kinds.get(own, given))
            parts.append(f"{kind}{' ' * (kind[-1] != '*')}{self.c_name(own)}")
        return f"static inline {self.unit.c_type(self.result)} {name}({', '.join(parts)})"

    def c_name(self, name: str) -> str:
        """Returns a variable's name in C."""
        return name + "_" if name in RESERVED else name

    def called(self, kernel: Any, arguments: list[Value]) -> tuple[str, Any, bool]:
        # a kernel is translated where it is first needed, for the types of these arguments or, if
        # it calls itself, for those of its signature
        unit, function = self.unit, getattr(kernel, "py_func", kernel)
        declared = declared_types(kernel)
        if declared is not None and len(declared) == len(arguments) + 1:
            arguments = [
                Value(kind, "") if kind else argument
                for kind, argument in zip(declared[1:], arguments, strict=True)
            ]
        key = (
            getattr(kernel, "fingerprint", kernel),
            tuple((value.kind, value.natural) for value in arguments),
        )
        if key not in unit.specialised:
            file, tree = source_tree(function)
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            scope = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
            names = [argument.arg for argument in tree.args.args]
            given = {name: value.kind for name, value in zip(names, arguments, strict=False)}
            made = Function(unit, tree, scope, given, file)
            made.unnatural -= {n for n, v in zip(names, arguments, strict=False) if v.natural}
            plain = tree.args.vararg is tree.args.kwarg is None and not tree.args.kwonlyargs
            if not plain or len(names) != len(arguments):
                raise made.fail(tree, f"a call with {len(arguments)} arguments")
            own = unit.named(tree.name)
            unit.specialised[key] = (own, declared and declared[0], False)
            body = "\n".join(made.body())
            unit.add(f"{made.head(own)}\n{{\n{body}\n}}\n")
            unit.specialised[key] = (own, made.result, made.natural)
        return unit.specialised[key]

    def fail(self, node: Any, found: str = "") -> TranslationError:
        """Returns an error that names the file, the line and the construct."""
        line = getattr(node, "lineno", self.tree.lineno)
        text = found or f"{type(node).__name__} `{ast.unparse(node)[:60]}`"
        return TranslationError(
            f"{self.file}:{line}: {self.tree.name}: expected Python that can be written as C,"
            f" found {text}"
        )

    def say(self, line: str) -> None:
        """Append a line."""
        self.lines.append("    " * self.depth + line)

    # --- statements ------------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> bool:
        """Translate statements, and return whether they end in a return or leave their loop.

        Those behind are left out.
        """
        for statement in body:
            method = getattr(self, f"_{type(statement).__name__}", None)
            if method is None:
                raise self.fail(statement)
            if method(statement) or isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                return True
        return False

    def inner(self, body: list[ast.stmt]) -> None:
        """Translate the statements inside a block.

        What arrays and addresses are called by there, they are called only there.
        """
        before = dict(self.aliases)
        self.depth += 1
        self.statements(body)
        self.depth -= 1
        # a name that means another array now is not known to mean either
        self.aliases = {k: v for k, v in before.items() if self.aliases.get(k) == v}

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _Break(self, node: ast.Break) -> None:
        self.say("break;")

    def _Continue(self, node: ast.Continue) -> None:
        self.say("continue;")

    def _Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        value = self.value(node.value)
        self.say(f"{'(void)' * (value.kind != 'void')}{value.text};")

    def _Return(self, node: ast.Return) -> None:
        if node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            self.say("return;")
            return
        value = self.value(node.value)
        if value.kind == "void":
            self.say(f"{value.text};")
            self.say("return;")
            return
        value = self.number(node.value)
        kind = value.kind if self.result == "void" else joined(self.result, value.kind)
        if kind is None:
            raise self.fail(node)
        self.result = kind
        self.natural &= value.natural
        self.say(f"return {self.as_kind(value, kind, node).text};")

    def _If(self, node: ast.If) -> bool:
        test = self.truth(node.test)
        if test.fixed is not None:
            return self.statements(node.body if test.fixed else node.orelse)
        self.say(f"if {test.text} {{" if test.text[0] == "(" else f"if ({test.text}) {{")
        self.inner(node.body)
        if node.orelse:
            self.say("} else {")
            self.inner(node.orelse)
        self.say("}")
        return False

    def _While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.fail(node, "a loop with else")
        test = self.truth(node.test)
        self.say(f"while ({test.text}) {{")
        self.inner(node.body)
        self.say("}")

    def _For(self, node: ast.For) -> None:
        if node.orelse:
            raise self.fail(node, "a loop with else")
        if not isinstance(node.target, ast.Name):
            raise self.fail(node.target)
        name, over = node.target.id, node.iter
        if isinstance(over, ast.Call) and self.global_of(over.func) is range:
            self._count(node, name, over)
            return
        value = self.value(over)
        kind = value.kind
        if isinstance(kind, Tuple) and kind.alike:
            element, size, place = kind.kinds[0], len(kind.kinds), f"{value.text}.v"
        elif isinstance(kind, Array) and len(kind.shape) == 1:
            element, size, place = ELEMENTS[kind.element][1], kind.shape[0], value.text
        else:
            raise self.fail(over)
        counter = f"i{self.depth}_"
        numbers = value.fixed if isinstance(value.fixed, tuple) else None
        natural = numbers is not None and element == "int" and min(numbers) >= 0
        if any(isinstance(part, (ast.If, ast.IfExp)) for part in ast.walk(node)):
            self.say("UNROLL")  # the constants decide
        self.say(f"for (int {counter} = 0; {counter} < {size}; {counter}++) {{")
        self.depth += 1
        self.store(name, Value(element, f"{place}[{counter}]", None, natural), node)
        self.depth -= 1
        self.inner(node.body)
        self.say("}")

    def _count(self, node: ast.For, name: str, over: ast.Call) -> None:
        """Translate a loop over a range; its end is calculated once."""
        parts = [self.integer(part) for part in over.args]
        if over.keywords or not 1 <= len(parts) <= 3:
            raise self.fail(over)
        start = parts[0] if len(parts) > 1 else Value("int", "0", 0, True)
        end = parts[min(1, len(parts) - 1)]
        step = parts[2].fixed if len(parts) == 3 else 1
        if not step:
            raise self.fail(over, "a range whose step is not a fixed number")
        own = self._only_counts(name)
        counter = self.c_name(name) if own else f"i{self.depth}_"
        more = ""
        if end.fixed is None:
            more, end = f", end{self.depth}_ = {end.text}", Value("int", f"end{self.depth}_")
        change = f"{counter}++" if step == 1 else f"{counter} += {step}"
        sign = "<" if step > 0 else ">"
        test = f"{counter} {sign} {end.text}"
        self.say(f"for (int64_t {counter} = {start.text}{more}; {test}; {change}) {{")
        natural = step > 0 and start.natural
        if own:
            self.looped.add(name)
            self.remember(name, "int", natural, node)
        else:
            self.depth += 1
            self.store(name, Value("int", counter, None, natural), node)
            self.depth -= 1
        self.inner(node.body)
        if own and name not in self.read:
            self.depth += 1
            self.say(f"(void){counter};")
            self.depth -= 1
        self.say("}")

    def _only_counts(self, name: str) -> bool:
        """Returns whether a variable is changed only by loops, and read only inside them."""
        names = [n for n in ast.walk(self.tree) if isinstance(n, ast.Name) and n.id == name]
        loops = [
            loop
            for loop in ast.walk(self.tree)
            if isinstance(loop, ast.For) and getattr(loop.target, "id", "") == name
        ]
        inside = {id(n) for loop in loops for part in loop.body for n in ast.walk(part)}
        stored = [n for n in names if not isinstance(n.ctx, ast.Load)]
        read = [n for n in names if isinstance(n.ctx, ast.Load)]
        return len(stored) == len(loops) and all(id(n) in inside for n in read)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, node.value, node)

    def _Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assign(target, node.value, node)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        whole: Any = ast.BinOp(_read(node.target), node.op, node.value)
        self._assign(node.target, ast.copy_location(whole, node), node)

    def _assign(self, target: Any, source: Any, node: Any) -> None:
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            self._fill(target, source)
        elif isinstance(target, ast.Attribute):
            self.say(f"{self.value(target).text} = {self.scalar(source).text};")
        elif isinstance(target, ast.Subscript):
            place = self.place(target)
            value = self.number(source)
            wanted = ELEMENTS[place.kind][1]
            cast = f"({ELEMENTS[place.kind][0]})" * (value.kind != wanted or "int64" != place.kind)
            if wanted == "int" and value.kind not in ("bool", "int"):
                cast = f"({ELEMENTS[place.kind][0]})"
            self.say(f"{place.text} = {cast if place.kind != 'float64' else ''}{value.text};")
        elif isinstance(target, ast.Tuple):
            self._unpack(target, source, node)
        elif isinstance(target, ast.Name):
            value = self.value(source)
            self.store(target.id, value, node)
        else:
            raise self.fail(target)

    def _fill(self, target: ast.Subscript, source: Any) -> None:
        """Translate the assignment of a number to all elements of an array, `array[:] = number`."""
        array = self.value(target.value)
        if ast.unparse(target.slice) != ":" or not isinstance(array.kind, Array):
            raise self.fail(target)
        size = math.prod(array.kind.shape)
        self.say(f"for (int i = 0; i < {size}; i++)")
        self.say(f"    {array.text}[i] = {self.scalar(source).text};")

    def _unpack(self, target: ast.Tuple, source: Any, node: Any) -> None:
        """Translate the assignment of a tuple to several variables, all read before any changes."""
        value = self.value(source)
        if not isinstance(value.kind, Tuple):
            raise self.fail(node)
        self.say("{")
        self.depth += 1
        whole = "all_"
        names = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
        if isinstance(source, ast.Name) and source.id not in names:
            whole = value.text
        else:
            self.say(f"const {self.unit.c_type(value.kind)} all_ = {value.text};")
        self._spread(target, Value(value.kind, whole), node)
        self.depth -= 1
        self.say("}")

    def _spread(self, target: Any, value: Value, node: Any) -> None:
        if isinstance(target, ast.Name):
            self.store(target.id, value, node)
            return
        kind = value.kind
        if not (
            isinstance(target, ast.Tuple)
            and isinstance(kind, Tuple)
            and len(kind.kinds) == len(target.elts)
        ):
            raise self.fail(node)
        for i, part in enumerate(target.elts):
            self._spread(part, Value(kind.kinds[i], f"{value.text}.{self.member(kind, i)}"), node)

    def store(self, name: str, value: Value, node: Any) -> None:
        """Assign a value to a variable; arrays and addresses only get another name."""
        if not isinstance(value.kind, (str, Tuple)):
            self.aliases[name] = value
            self.kinds.pop(name, None)
            return
        if value.kind == "void":
            raise self.fail(node, "a function that returns nothing")
        if self.depth == 1 and value.fixed is not None and self._changes(name) == 1:
            self.aliases[name] = value  # a constant, so that conditions on it are known
            return
        self.aliases.pop(name, None)
        kind = self.remember(name, value.kind, value.natural, node)
        self.say(f"{self.c_name(name)} = {self.as_kind(value, kind, node).text};")

    def _changes(self, name: str) -> int:
        """Returns the number of places that assign to a variable."""
        names = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        return sum(node.id == name and not isinstance(node.ctx, ast.Load) for node in names)

    def remember(self, name: str, kind: Any, natural: bool, node: Any) -> Any:
        """Returns the type of a variable that also holds values of a type."""
        whole = joined(self.kinds.get(name, kind), kind)
        if whole is None:
            raise self.fail(node, f"{name} with values of different types")
        self.kinds[name] = whole
        if not natural:
            self.unnatural.add(name)
        return whole


def _read(target: Any) -> Any:
    """Returns the expression that reads what an assignment changes."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target
