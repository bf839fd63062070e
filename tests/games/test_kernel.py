"""Kernels: contents of fingerprints, the cache, what is refused, and operations on bits."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
import types
import warnings
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from errors import errors_of
from hypothesis import given
from hypothesis import strategies as st
from marks import compiled_only, plain

from games import kernels
from games.checkers import Checkers, rules
from games.kernels import bits, fingerprint, is_kernel, kernel, uncompiled
from games.kernels.cache import SharedCacheFile
from search import Engine, KernelEvaluator

ROOT = Path(__file__).resolve().parents[2]


def define(source: str, **scope: Any) -> dict[str, Any]:
    """Returns the definitions in source text, made as at the interactive prompt."""
    names = {"kernel": kernel, "__name__": "__main__", **scope}
    exec(textwrap.dedent(source), names)
    return names


def mark(source: str, **scope: Any) -> str:
    return fingerprint(define(source, **scope)["f"])


# --- fingerprints ----------------------------------------------------------------------------

F = "@kernel\ndef f(x): return x + {}"
WITH_G = """
@kernel
def g(x): return x * {}

@kernel
def f(x): return g(x) + 1
"""
WITH_H = """
@kernel
def h(x): return x * {}

@kernel
def g(x): return h(x)

@kernel
def f(x): return g(x) + 1
"""
WITH_DEFAULT = """
@kernel
def g(x, y={}): return x * y

@kernel
def f(x): return g(x)
"""
WITH_OPTION = """
@kernel(fastmath={})
def g(x): return x * 2.0

@kernel
def f(x): return g(x)
"""
WITH_CLOSURE = """
def make(y):
    @kernel
    def f(x): return x + y
    return f

f = make({})
"""
WITH_NJIT = """
@njit
def g(x): return x * {}

@kernel
def f(x): return g(x)
"""


@plain
@pytest.mark.parametrize(
    "source", [F, WITH_G, WITH_H, WITH_DEFAULT, WITH_OPTION, WITH_CLOSURE, WITH_NJIT]
)
def test_fingerprints_cover_the_source(source: str) -> None:
    values = ("False", "True") if "fastmath" in source else ("2", "3")
    first, second = (mark(source.format(value), njit=numba.njit) for value in values)
    assert first != second
    assert first == mark(source.format(values[0]), njit=numba.njit)
    assert len(first) == 64


def module(**values: Any) -> types.ModuleType:
    made = types.ModuleType("values")
    vars(made).update(values)
    return made


@plain
@pytest.mark.parametrize(
    ("source", "first", "second"),
    [
        ("return x + V", 2, 3),
        ("return x + V", 2, 2.0),
        ("return x + V", True, 1),
        ("return x + V[0]", (2, 3), (2, 4)),
        ("return x + V[0]", np.array([2, 3]), np.array([2, 4])),
        ("return x + V[0]", np.array([2, 3]), np.array([[2, 3]])),
        ("return x + V[0]", np.array([2, 3]), np.array([2, 3], dtype=np.int32)),
        ("return x + V.number", module(number=2), module(number=3)),
        ("return x + V.a.b", module(a=module(b=2)), module(a=module(b=3))),
        ("return x + V.table[0]", module(table=np.zeros(2)), module(table=np.ones(2))),
    ],
    ids=range(10),
)  # fmt: skip
def test_fingerprints_cover_what_names_stand_for(source: str, first: Any, second: Any) -> None:
    source = f"@kernel\ndef f(x): {source}"
    assert mark(source, V=first) != mark(source, V=second)
    assert mark(source, V=first) == mark(source, V=first)


@plain
def test_modules_that_know_each_other_have_a_fingerprint() -> None:
    one, other = module(number=1), module()
    one.other, other.one = other, one  # type: ignore[attr-defined]
    assert mark("@kernel\ndef f(x): return x + V.other.one.number", V=one)


@plain
def test_a_fingerprint_of_something_else() -> None:
    with pytest.raises(TypeError, match="expected a function marked with @kernel, found"):
        fingerprint(len)
    assert not is_kernel(len)
    assert not is_kernel("kernel")


# --- what is refused -------------------------------------------------------------------------


@plain
def test_names_of_attributes_and_builtins_are_no_recursion() -> None:
    names = define(
        """
        @kernel
        def size(x): return x.size

        @kernel
        def largest(x): return max(x, abs(-3))
        """
    )
    assert (names["size"](np.zeros(4)), names["largest"](2)) == (4, 3)


@plain
def test_a_recursive_kernel_with_a_signature() -> None:
    names = define(
        """
        @kernel(signature="int64(int64)")
        def factorial(n): return n * factorial(n - 1) if n > 1 else 1
        """
    )
    assert names["factorial"](10) == uncompiled(names["factorial"])(10) == 3_628_800


@compiled_only
def test_a_callee_defined_anew_is_noticed() -> None:
    """Otherwise the cache would store the new callee's code under the old one's name."""
    names = define(
        """
        @kernel
        def g(position): return 1.0

        @kernel
        def f(position): return g(position)
        """
    )
    exec("@kernel\ndef g(position): return 2.0", names)
    with pytest.raises(TypeError, match="kernel f: something that it uses was defined anew"):
        Engine(Checkers(), names["f"])
    exec("@kernel\ndef f(position): return g(position)", names)
    assert KernelEvaluator(Checkers(), names["f"])(Checkers().start()) == 2.0


# --- kernels at the prompt, and uncompiled ---------------------------------------------------


@plain
def test_kernels_defined_at_the_prompt_work_in_a_search() -> None:
    names = define(
        """
        from games.kernels import popcount
        WORTH = 3

        @kernel
        def ahead(position): return WORTH * (popcount(position[0]) - popcount(position[1]))
        """
    )
    game = Checkers()
    position = game.parse_position("B:W30,31:B1,K2,11")
    assert names["ahead"](position) == 3
    assert Engine(game, names["ahead"]).search(position, depth=2).value == 3


@plain
def test_uncompiled_twins_run_in_python_all_the_way_down() -> None:
    names = define(
        """
        @kernel
        def g(x): return x + 1

        @kernel
        def f(x): return 2 * g(x)
        """
    )
    twin = uncompiled(names["f"])
    assert isinstance(twin, types.FunctionType)
    assert isinstance(twin.__globals__["g"], types.FunctionType)
    assert twin(10**30) == 2 * (10**30 + 1)  # larger than any 64-bit integer
    assert names["f"](20) == twin(20) == 42


# --- several processes -----------------------------------------------------------------------


class Project:
    """A user's folder with modules that use kernels, whose compiled code is kept beside them.

    The code of our own kernels is taken from where the tests keep it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, source: str) -> None:
        path = self.folder / f"{name}.py"
        times = (path.stat().st_atime, path.stat().st_mtime) if path.exists() else None
        path.write_text(textwrap.dedent(source))
        if times:  # an edit within the clock's resolution
            os.utime(path, times)

    def run(self, source: str, **variables: str) -> str:
        path = os.pathsep.join([str(ROOT), str(self.folder)])
        variables = {"PYTHONPATH": path, **variables}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(source)],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


USE = """
import games
from search import Engine
from caller import value
game = games.load("tic_tac_toe")
print(value((3, 4, 0)), Engine(game, value).search(game.start(), depth=1).value)
"""


@compiled_only
def test_an_edited_kernel_is_never_answered_from_a_stale_cache(project: Project) -> None:
    project.write("constants", "FACTOR = 10.0")
    project.write(
        "callee",
        """
        import constants
        from games.kernels import kernel

        @kernel
        def scaled(x, bonus=1): return x * constants.FACTOR + bonus
        """,
    )
    project.write(
        "caller",
        """
        from callee import scaled
        from games.kernels import kernel

        @kernel
        def value(position): return scaled(position[2])
        """,
    )
    # after X's move it is O's turn (2nd number), whose value is negated
    assert project.run(USE) == "1.0 -11.0"
    project.write("constants", "FACTOR = 20.0")
    assert project.run(USE) == "1.0 -21.0"
    text = (project.folder / "callee.py").read_text()
    project.write("callee", text.replace("bonus=1", "bonus=2").replace("FACTOR +", "FACTOR -"))
    assert project.run(USE) == "-2.0 -18.0"


@compiled_only
def test_a_second_process_takes_everything_from_the_cache(project: Project) -> None:
    source = """
        from numba.core import event
        with event.install_recorder("numba:compile") as recorder:
            import games
            from games.kernels import kernel
            from search import Engine
            from search.perft import perft
            from recursive import depth_sum
            game = games.load("checkers")
            result = Engine(game, "classic").search(game.start(), depth=5)
            print(result.value, result.move, result.nodes, perft(game, game.start(), 5), end=" ")
            print(depth_sum(20), Engine(game, lambda position: 5).search(game.start(), depth=3).pv)
        with open("compiled", "w") as file:
            print(len(recorder.buffer), file=file)
        """
    project.write(
        "recursive",
        """
        from games.kernels import kernel

        @kernel(signature="int64(int64)")
        def depth_sum(n): return n + depth_sum(n - 1) if n > 0 else 0
        """,
    )
    results, compiled = [], []
    for _ in range(2):
        results.append(project.run(source))
        compiled.append(int((project.folder / "compiled").read_text()))
    assert results[0] == results[1]
    assert "7361 210" in results[0]
    assert compiled[0] > 0
    assert compiled[1] == 0


@plain
def test_processes_that_compile_at_once_keep_their_code_apart(tmp_path: Path) -> None:
    first, second, third = (SharedCacheFile(str(tmp_path), "kernel", 1) for _ in range(3))
    save = first._save_data

    def interrupted(*arguments: Any) -> None:
        second._load_index = dict  # as if read before the first had written its own
        second.save("float64", "code for floats")
        save(*arguments)

    first._save_data = interrupted
    first.save("int64", "code for integers")
    assert third.load("int64") == "code for integers"
    assert third.load("float64") == "code for floats"


@plain
def test_no_damaged_file_of_the_cache_ends_a_program(tmp_path: Path) -> None:
    """200 damages of both files: the code comes back, or is to be compiled and kept again."""
    random, damaged = np.random.default_rng(0), set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(200):
            cache = SharedCacheFile(str(tmp_path), f"k{number}", 1)
            cache.save("int64", ["code"] * 9)
            (path,) = tmp_path.glob(f"k{number}.{'nbi' if number % 2 else '*.nbc'}")
            content = bytearray(path.read_bytes())
            if number % 10 < 2:  # as a version wrote it that knew no digests
                del content[: content.index(b"\n") + 1]
            elif number % 4 < 2:
                content[int(random.integers(len(content)))] ^= 1 << int(random.integers(8))
            else:
                del content[int(random.integers(len(content))) :]
            path.write_bytes(content)
            if number < 2:
                path.unlink()
                os.mkfifo(path)
            else:
                damaged.add(f"{path}: damaged, so that its code is compiled again")
            assert cache.load("int64") is None
            cache.save("int64", "again")
            assert SharedCacheFile(str(tmp_path), f"k{number}", 1).load("int64") == "again"
    assert {str(one.message).rpartition(":")[0] for one in caught} == damaged


@compiled_only
def test_kernels_keep_their_code_in_such_files() -> None:
    assert type(rules.legal_moves._cache._cache_file) is SharedCacheFile


@compiled_only
def test_code_with_bounds_checks_is_kept_apart(project: Project) -> None:
    project.write(
        "indexing",
        """
        from games.kernels import kernel

        @kernel
        def item(array, i): return array[i]
        """,
    )
    source = """
        import numpy as np
        from indexing import item
        try:
            item(np.zeros(4)[:2], 3)
            print("unchecked")
        except IndexError:
            print("checked")
        """
    for checks, said in (("1", "checked"), ("0", "unchecked")):
        assert project.run(source, NUMBA_BOUNDSCHECK=checks) == said


NOWHERE = """
    import numba.core.caching
    numba.core.caching.CacheImpl._locator_classes = []  # as where no folder can be written
    import games
    from search import as_evaluator
    from search.perft import perft
    game = games.load("tic_tac_toe")
    print(perft(game, game.start(), 2), as_evaluator(game, "open_lines")((1, 2, 0)))
    """


@compiled_only
def test_nowhere_to_keep_compiled_code(project: Project) -> None:
    (project.folder / "file").write_text("")
    nowhere = str(project.folder / "file/in/the/way")
    assert project.run(NOWHERE, NUMBA_CACHE_DIR=nowhere) == "72 1.0"


# --- bits ------------------------------------------------------------------------------------


@kernel
def float_bits_of(x):
    return bits.float_bits(x)


@kernel
def bits_float_of(x):
    return bits.bits_float(x)


@kernel
def next_up_of(x):
    return bits.next_up(x)


integers = st.integers(0, (1 << 63) - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)


@plain
@given(finite)
def test_bits_of_floats(x: float) -> None:
    number = bits.float_bits(x)
    assert float_bits_of(x) == number
    assert number.to_bytes(8, "little", signed=True) == np.float64(x).tobytes()
    for back in (bits.bits_float(number), bits_float_of(number)):
        assert (back, math.copysign(1, back)) == (x, math.copysign(1, x))


@plain
@given(finite | st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308]))
def test_next_up(x: float) -> None:
    assert next_up_of(x) == bits.next_up(x) == math.nextafter(x, math.inf)


MOVED = """
import sys
from {module} import twice
from games.kernels.memory import native_function
import ctypes
text = "def twice_at(x):\\n    return twice(x)\\n"
address = native_function("twice_at", text, {{"twice": twice}}, "int64(int64)")
print(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(21))
"""


@pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")
def test_code_that_was_kept_of_a_module_that_was_renamed(tmp_path: Path) -> None:
    source = "from games.kernels import kernel\n\n\n@kernel\ndef twice(x):\n    return 2 * x\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    (tmp_path / "before.py").write_text(source)
    for module in ("before", "after"):
        if module == "after":
            (tmp_path / "before.py").rename(tmp_path / "after.py")
        done = subprocess.run(
            [sys.executable, "-c", MOVED.format(module=module)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.stdout, done.stderr) == ("42\n", "")


test_errors = errors_of(globals())
