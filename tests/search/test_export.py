"""Evaluators as C: the values of Python without a warning, or one line that says why not."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
from games.extras import extra
from games.feature_file import add_features
from games.features import Cells
from games.features.walks import walks
from games.kernels import kernel, uncompiled
from play.commands.export import main
from search import LinearEvaluator
from search.evaluators.evaluator import Evaluator, KernelEvaluator, PythonEvaluator
from search.evaluators.files.shipped import DATA, shipped_files
from search.evaluators.load import as_evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.samples import sample_positions
from search.evaluators.signature import SignatureEvaluator, layout_of
from search.evaluators.trees import TreeEvaluator
from search.evaluators.tuples import TupleEvaluator
from search.export.export import export
from search.export.translator import TranslationError

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
RANDOM = np.random.default_rng(5)
pytestmark = pytest.mark.skipif(not COMPILERS, reason="needs gcc or clang")


def layers(*widths: int) -> list[tuple[Any, Any]]:
    return [
        (RANDOM.normal(size=(a, b)) * 0.3, RANDOM.normal(size=b) * 0.3)
        for a, b in zip(widths, widths[1:], strict=False)
    ]


def shipped(game: str, name: str) -> Callable[[], Evaluator]:
    return lambda: as_evaluator(games.load(game), name)


def signature() -> Evaluator:
    game = games.load("checkers")
    layout = layout_of(game)
    tables = layout.empty_tables()
    for key, table in tables.items():
        levels = key.endswith("levels")
        table[:] = RANDOM.integers(0, 2, table.shape) if levels else RANDOM.normal(size=table.shape)
    return SignatureEvaluator(game, layout, tables, material=dict.fromkeys(layout.material, 1.5))


def tuples() -> Evaluator:
    game = games.load("connect_four")
    cells = extra(game, Cells)
    assert cells is not None
    layout = walks(cells, "walks:20,4", 1)
    return TupleEvaluator(game, layout, RANDOM.normal(size=layout.size))


def network() -> Evaluator:
    game = games.load("checkers")
    inputs = (game.encodings["piece_squares"], game.features["classic"])
    size = sum(map(len, inputs))
    kinds = ("tanh", "screlu", "gelu", "gelu_tanh", "silu", "normalise")
    net = layers(size, 20, 20, 20, 12, 9, 9, 1)
    return NetworkEvaluator(game, inputs, net, activations=kinds, skips=[(0, 1)], scale=2.0)


def outcomes() -> Evaluator:
    """As `wide`, by whose size compiling takes minutes, with few units."""
    wide = as_evaluator(games.load("backgammon"), "wide")
    assert isinstance(wide, OutcomeNetwork)
    nets = []
    for net in wide.nets:
        widths = [len(net.layers[0][0]), *(8 * min(2, len(b) // 8) for _, b in net.layers[:-1])]
        nets.append((net.inputs, layers(*widths, len(wide.kinds))))
    return OutcomeNetwork(wide.game, nets)


def trees() -> Evaluator:
    game = games.load("checkers")
    inputs = (game.encodings["piece_squares"], game.features["classic"])
    tests = [128, 5, 3, 40, -1, -1, -1, -1, -1]
    bounds = [0.5, 0.5, 1.5, 0.0, 3.0, 0.25, -2.0, 7.0, -1.0]
    low, high = [3, 4, 5, 6, 0, 0, 0, 0, 0], [4, 5, 6, 7, 0, 0, 0, 0, 0]
    return TreeEvaluator(game, inputs, tests, bounds, low, high, trees=3)


@kernel(signature="float64(float64, int64)")
def halved(number, times):
    """A kernel that calls itself."""
    return halved(number / 2, times - 1) if times > 0 else number


@kernel
def weighed(weights: Any, position: Any) -> Any:
    """Arrays, negative indices, loops over tuples, `and` and `or` of numbers, all kinds of
    division, and kernels that call themselves.
    """
    first, second = weights
    either = position[0] & 7 or position[1] & 1 and first[0] or -3
    total = 0.0
    for number in position:
        rest = number & 0xFFFF
        while rest:
            total += first[rest % 3] * second[-1, rest & 1]
            rest = (rest - 7) // 5 if rest > 12 else rest >> 2
    for i in range(5, -1, -2):
        total += first[i - 6] / (i + 1) if not i == 3 else min(i, total, 2.5)
    if position[1] & 2 or total > 3:
        total -= either
    return halved(total, position[0] & 3)


def own() -> Evaluator:
    weights = (np.array([0.5, -2.0, 3.25, 1.0, 7.0, 0.1]), np.ones((3, 2), np.float32) / 3)
    return KernelEvaluator(games.load("checkers"), weighed, weights)


def own_features() -> Evaluator:
    file = Path(__file__).parents[2] / "docs/examples/my_features.py"
    game = add_features(games.load("checkers"), file)
    features = list(game.features.values())[-1]
    return LinearEvaluator(game, features, RANDOM.normal(size=len(features)))


EVALUATORS: dict[str, Callable[[], Evaluator]] = {
    "linear": shipped("checkers", "classic"),
    "backgammon": shipped("backgammon", "hand"),
    "chinese": shipped("chinese_checkers", "hand"),
    "tic": shipped("tic_tac_toe", "open_lines"),
    "quantised": shipped("checkers", "quantised"),
    "outcomes": outcomes,
    "signature": signature,
    "tuples": tuples,
    "network": network,
    "trees": trees,
    "kernel": own,
    "features": own_features,
    "own game": shipped("docs.examples.hexapawn:Hexapawn", "hand"),
}
#: Kinds that are translated each in a way of its own.
QUICK = ("linear", "quantised", "signature", "tuples", "network", "trees", "kernel")
OTHERS = [kind for kind in EVALUATORS if kind not in QUICK]


def compiled(folder: Path, compiler: str, *more: str) -> Any:
    command = [compiler, *WARNINGS, "-O1", *more, "-fPIC", "-c", "net.c", "-o", "net.o"]
    subprocess.run(command, cwd=folder, check=True)
    command = [compiler, "-shared", "net.o", "-lm", "-o", "net.so"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "net.so"))
    library.net_value.restype = ctypes.c_double
    return library


def value_of(library: Any, position: Any) -> float:
    return float(library.net_value((ctypes.c_int64 * len(position))(*position)))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "compiler",
    [*COMPILERS[:1], *(pytest.param(name, marks=pytest.mark.whole_run) for name in COMPILERS[1:])],
)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in QUICK else pytest.mark.whole_run)
        for kind in EVALUATORS
    ],
)
def test_c_gives_the_values_of_python(kind: str, compiler: str, tmp_path: Path) -> None:
    evaluator = EVALUATORS[kind]()
    export(evaluator, tmp_path, name="net")
    # the interpreter is the oracle: no code of Numba's takes part
    value, positions = evaluator.plain(), sample_positions(evaluator.game, 3000)[::20]
    values = [value(position) for position in positions]
    rows = kind in ("network", "outcomes", "quantised")
    for more in ([], *([["-DPLAIN"], ["-march=native"]] if rows else [])):
        library = compiled(tmp_path, compiler, *more)
        for position, expected in zip(positions, values, strict=True):
            found = value_of(library, position)
            near = 0.0 if kind == "quantised" else 1e-5 if kind == "network" else 1e-6
            assert found == pytest.approx(expected, rel=near, abs=near)
        test = [compiler, *WARNINGS, *more, "net_selftest.c", "net.o", "-lm", "-o", "selftest"]
        subprocess.run(test, cwd=tmp_path, check=True)
        said = subprocess.run(["./selftest"], cwd=tmp_path, capture_output=True, text=True)
        assert (said.returncode, said.stdout) == (0, "0 of 1000 positions differ\n")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            f"{folder.name}/{short}", marks=() if short == "quantised" else pytest.mark.slow
        )
        for folder in sorted(DATA.iterdir())
        if folder.is_dir()
        for short in shipped_files(folder.name)
    ],
)
def test_every_shipped_evaluator_is_exported(name: str, tmp_path: Path) -> None:
    """1,000 positions have the values of native code; the header is one of C and of C++."""
    assert main([name, str(tmp_path), "--name", "net"]) == 0
    test = ["cc", *WARNINGS, "-O1", "net_selftest.c", "net.c", "-lm", "-o", "selftest"]
    subprocess.run(test, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "selftest"], capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, "0 of 1000 positions differ\n")
    if not shutil.which("c++"):
        return
    call = '#include "net.h"\nint main() { const int64_t p[NET_INTEGERS] = {0}; net_value(p); }\n'
    (tmp_path / "call.cpp").write_text(call)
    for command in (
        ["cc", "-std=c99", "-c", "net.c"],
        ["c++", "-Wall", "-Wextra", "-Werror", "call.cpp", "net.o", "-lm", "-o", "call"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs the sanitizers of gcc")
@pytest.mark.parametrize("kind", EVALUATORS)
def test_exported_code_is_clean_under_the_sanitizers(kind: str, tmp_path: Path) -> None:
    export(EVALUATORS[kind](), tmp_path, name="net")
    clean = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    test = ["gcc", *WARNINGS, *clean, "net_selftest.c", "net.c", "-lm", "-o", "selftest"]
    subprocess.run(test, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "selftest"], capture_output=True, text=True)
    assert (said.returncode, said.stdout, said.stderr) == (0, "0 of 1000 positions differ\n", "")


@pytest.mark.thorough
def test_selftest_fails_for_another_weight(tmp_path: Path) -> None:
    export(as_evaluator(games.load("checkers"), "material"), tmp_path, name="net")
    code = (tmp_path / "net.c").read_text()
    assert "5.0, /* kings */" in code
    (tmp_path / "net.c").write_text(code.replace("5.0, /* kings */", "5.1, /* kings */"))
    test = [COMPILERS[0], "net_selftest.c", "net.c", "-lm", "-o", "selftest"]
    subprocess.run(test, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "selftest"], capture_output=True).returncode == 1


@kernel
def listed(position):
    return [number + 1 for number in position][0]


@kernel
def branched(position):
    if position[0] > 3:
        place = position
    else:
        place = (1, 2)
    return place[0]


@pytest.mark.parametrize("broken", [listed, branched])
def test_what_cannot_be_written_is_refused_with_its_line(broken: Any, tmp_path: Path) -> None:
    evaluator = KernelEvaluator(games.load("checkers"), broken)
    with pytest.raises(TranslationError, match=rf"test_export.py:\d+: {broken.__name__}: expected"):
        export(evaluator, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert uncompiled(broken)((1, 2, 3, 4)) in (1, 2)


def test_command_writes_over_nothing_unasked(tmp_path: Path, capsys: Any) -> None:
    out = str(tmp_path / "out")
    assert main(["checkers/samuel", out, "--name", "net"]) == 0
    before = {path.name: path.read_bytes() for path in Path(out).iterdir()}
    assert set(before) == {"net.h", "net.c", "net_selftest.c"}
    assert all(text.startswith(b"/* SPDX-License-Identifier: MIT\n") for text in before.values())
    assert main(["checkers/rootstrap", out, "--name", "net"]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in Path(out).iterdir()}


def test_python_and_plain_games_are_refused(tmp_path: Path) -> None:
    game = games.load("checkers")
    with pytest.raises(TypeError, match="expected an evaluator in native code"):
        export(PythonEvaluator(game, lambda position: 0.0, name="mine"), tmp_path)
