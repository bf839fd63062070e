"""A whole engine as one file of C99: the rules, the search and the evaluator of a game.

`negamax`, `quiesce`, the root, the rules and the evaluator are translated from the kernels that
Plysmith itself compiles, so that the engine searches the same tree. Options of the search are
constants of the file. The rest of it, the lines of the protocol, is in `templates/engine.c`.
"""

from __future__ import annotations

import base64
import importlib.util
import inspect
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from games.contract import Game
from games.kernels import kernel
from games.kernels.bits import NATIVE
from games.kernels.memory import load_int, store_int
from games.kinds import FOR_TWO_WITHOUT_DICE
from search.alphabeta.negamax import finished_value
from search.alphabeta.root import search_depth
from search.alphabeta.search import AlphaBetaOptions, options_for_line
from search.alphabeta.techniques import Techniques, as_techniques
from search.alphabeta.trace import keep_trace, trace
from search.evaluators.evaluator import Evaluator
from search.export.c_values import Array, Record, Value
from search.export.export import begun, translated
from search.export.templates import LineProtocol, filled, template
from search.line import LINE, MOST_EARLIER, MOST_PLIES, NONE
from search.native import (
    legal_moves,
    move_at,
    play,
    position_key,
    rules_texts,
    static_value,
)
from search.root import begin, iterate
from search.search import DEEPEST
from search.sizes import ENTRY, STACK, WIDTH

__all__ = ["engine_files"]

#: Buckets of the transposition table, 16 MiB.
BUCKETS = 1 << 19
#: Types behind the addresses that native code takes, by the names of its parameters. The numbers
#: of the evaluator are constants in C, so that it does not take their address.
ELEMENTS_AT = {
    **dict.fromkeys(("source", "target", "stack"), "int64"),
    "order": "float64",
    "data": None,
}
#: Native code that returns a float.
FLOATS = ("outcome_at", "evaluate_at", "root_at")


@kernel
def forget(line: Any) -> None:
    """Make the next search the same as that of a new engine, once the table is cleared too."""
    line.generation = 0
    line.history[:] = 0.0
    line.killers[:] = NONE


@kernel
def list_moves(line: Any) -> int:
    """Write the legal moves at the root to `root_moves`, and return their number."""
    line.first[0] = 0
    count = int(legal_moves(line, 0))
    for i in range(count):
        line.root_moves[i] = move_at(line, i)
    return count


@kernel
def advance(line: Any, move: int) -> None:
    """Play a move at the root; the position before it is an earlier one, if it can come again."""
    if line.repeats:
        if line.earlier == MOST_EARLIER:
            for i in range(1, MOST_EARLIER):
                line.keys[i - 1] = line.keys[i]
            line.earlier -= 1
        line.keys[line.earlier] = position_key(line, 0)
        line.earlier += 1
    if play(line, 0, move):
        line.earlier = 0
    for i in range(line.width):
        store_int(line.positions, i, load_int(line.positions, WIDTH + i))


@kernel
def think(line: Any, depth: int, nodes: int) -> bool:
    """Search the root; returns whether it has a move. The result is in the record."""
    count = list_moves(line)
    line.completed = 0
    line.nodes = 0
    if count == 0:
        line.value = finished_value(line, 0)
        return False
    if line.repeats:
        line.keys[line.earlier] = position_key(line, 0)
    begin(line, line.generation + 1, line.earlier, count)
    line.depth_limit = depth
    line.node_limit = nodes
    iterate(line)
    if line.value != line.value:  # stopped before any move was valued
        line.value = static_value(line, 0)
    return True


#: Kernels that native code enters by an address or the protocol by a name; the root comes first.
ENTERED: dict[str, Any] = {
    "root_at": search_depth,
    "forget_at": forget,
    "list_at": list_moves,
    "advance_at": advance,
    "think_at": think,
}


def engine_files(
    evaluator: Evaluator,
    name: str | None = None,
    techniques: Techniques | str | None = None,
    page: bool = False,
) -> dict[str, str]:
    """Returns the text of the file, by its name, and of the page.

    evaluator, name: as in `search.export.export.c_files`, which also says what is raised.
    techniques: as in `AlphaBetaOptions`.
    page: add a page for browsers that contains the engine as WebAssembly.

    Raises ValueError for a game with dice or for more than two players, and for a page without the
    package ziglang, which compiles it.
    """
    game = evaluator.game
    FOR_TWO_WITHOUT_DICE.expect(game)
    evaluator, unit, made, entries = begun(evaluator, name)
    chosen = as_techniques(techniques, game)
    line = _record(game, options_for_line(game, evaluator, AlphaBetaOptions(), chosen))
    most = line.fixed["most_moves"]
    kinds: dict[str, Any] = {
        "source": Array("int64", (WIDTH,), True),
        "target": Array("int64", (WIDTH,)),
        "stack": Array("int64", (most,)),
        "order": Array("float64", (most,)),
        "line": line,
        "data": Value("data", ""),
    }
    texts: dict[str, tuple[str, Mapping[str, Any]]] = {
        entered: text[:2] for entered, text in rules_texts(game).items()
    }
    texts["evaluate_at"] = made.text, made.scope
    for entered, kernel_of in ENTERED.items():
        parameters = ", ".join(inspect.signature(kernel_of.py_func).parameters)
        text = f"def {entered}({parameters}):\n    return kernel_of({parameters})\n"
        texts[entered] = text, {"kernel_of": kernel_of}
    for entered, (text, scope) in texts.items():
        names = text.partition("(")[2].partition(")")[0].split(", ")
        elements = tuple(ELEMENTS_AT.get(own, "") for own in names)
        result = "float" if entered in FLOATS else "int"
        given = {own: kinds.get(own, "int") for own in names}
        own = translated(unit, text, scope, given, entered, entries)
        line.functions[entered] = own, elements, result
    protocol = LineProtocol.of(game).name
    values = {
        "protocol": template(f"{protocol}.c") if protocol else "",
        "heeded": f"@{protocol}(&line, text)" if protocol else "0",
        "name": unit.name,
        "unit": repr(float(evaluator.unit)),
        "start": ", ".join(map(str, game.start())),
        "integers": len(game.start()),
        "depths": DEEPEST,
        "entries": 2 * ENTRY * BUCKETS,
        "game": game.name,
    }
    unit.add(filled(template("engine.c"), unit.name, **values))
    title = f"{game.name} with {evaluator.name}"
    head = filled(template("engine_head.c"), unit.name, title=title, file=unit.name)
    text = "\n".join([head, template("compilers.c"), unit.text()])
    files = {f"{unit.name}.c": text}
    if page:
        values = {"wasm": base64.b64encode(_webassembly(text)).decode(), "title": title}
        files[f"{unit.name}.html"] = filled(template("page.html"), unit.name, **values)
    return files


def _webassembly(text: str) -> bytes:
    """Returns a program in C as WebAssembly, with the functions of its library."""
    if importlib.util.find_spec("ziglang") is None:
        raise ValueError("--page: expected the package ziglang (pip install ziglang), found none")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "engine.wasm")
        source = Path(folder, "engine.c")
        source.write_text(text, encoding="utf-8")
        options = ["-target", "wasm32-wasi", "-std=c99", "-O3", "-s", "-w", "-lm", "-o", str(made)]
        command = [sys.executable, "-m", "ziglang", "cc", str(source), *options]
        subprocess.run(command, check=True)
        return made.read_bytes()


def _record(game: Game, options: dict[str, Any]) -> Record:
    most = int(getattr(game, "most_moves", 256))
    fixed = {
        **options,
        "width": len(game.start()),
        "most_moves": most,
        "table_mask": BUCKETS - 1,
        "left_at": int(game.rules is not None and game.rules.left is not None),
        **dict.fromkeys(("busy", "lookup_at", "exact_root", "keep_order", "trace_first"), 0),
    }
    words = {"positions": WIDTH * (MOST_PLIES + 1), "moves": STACK, "scratch": 8, "table": 0}
    memory = {name: ("int64", count) for name, count in words.items()}
    memory["order"] = "float64", STACK
    without = frozenset(NATIVE[function] for function in (trace, keep_trace))
    return Record(LINE, fixed, memory, {}, without)
