"""Checks of what the repository promises about itself."""

from __future__ import annotations

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES: list[str] = PYPROJECT["tool"]["importlinter"]["root_packages"]
#: The packages from the lowest up.
LAYERS: list[str] = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"][::-1]
#: The programs beside the packages, one file each: the console command, and one for clones.
PROGRAMS = ["plysmith", "train"]

#: Folders used from the top of the clone, and never imported by the packages.
NOT_PACKAGES = {"benchmarks", "data", "docs", "tests"}

#: The names under which distributions are imported, if these are not their own.
MODULE_NAMES = {"scikit-learn": "sklearn"}

LONGEST_FILE = 450  # lines
#: Lines of everything, of the packages and programs, and of the benchmarks. They only shrink, to
#: 142,000, 70,500 and 8,000.
MOST_LINES = {"all": 151_250, "product Python": 78_550, "benchmarks": 8_030, "tests": 48_850}
#: Endings of the files whose lines count, besides all files of the tests.
COUNTED = (".py", ".js", ".mjs", ".css", ".c", ".h", ".html", ".md")
LARGEST_FILE = 6_000_000  # bytes

#: Texts that only mean something on the machine where they were written, each in two pieces, so
#: that this file does not contain them itself.
FOREIGN_TEXT = [
    first + second
    for first, second in [
        ("/wo", "rk/"),
        ("/ro", "ot/"),
        ("/opt/", "wheels"),
        (".lib", "rary/"),
        ("issues", " show "),
        ("pypi", ".org"),
        ("python", "hosted"),
    ]
]


def tree(*options: str) -> list[Path]:
    """Returns the files that git tracks in the repository; skips the test without git."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git clone")
    listing = subprocess.run(
        # The clone may belong to another user than the one who tests it; git has to be told.
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", *options],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    return [ROOT / os.fsdecode(name) for name in listing.split(b"\0") if name]


def package_files() -> list[Path]:
    """Returns every Python file of the packages, and the programs."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [*files, *(ROOT / f"{program}.py" for program in PROGRAMS)]


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), filename=str(path))


@functools.cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Returns the line and the top-level name of everything that a file imports."""
    names: list[tuple[int, str]] = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names += [(node.lineno, alias.name.partition(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append((node.lineno, node.module.partition(".")[0]))
    return names


def plain_strings(path: Path) -> Iterable[str]:
    """Yields the texts of a file that are no docstrings, those within others included."""
    nodes = list(ast.walk(parsed(path)))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def requirements() -> list[Requirement]:
    """Returns every requirement of pyproject.toml, including those of the extras."""
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    return [Requirement(line) for line in lines]


def constraints() -> dict[str, Requirement]:
    """Returns the entries of constraints.txt by canonical name."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]
    return {canonicalize_name(pin.name): pin for pin in pins}


def test_every_package_of_the_tree_is_listed() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - NOT_PACKAGES
    assert packages == set(PACKAGES)
    assert [path.stem for path in sorted(ROOT.glob("*.py"))] == PROGRAMS
    assert PYPROJECT["tool"]["setuptools"]["py-modules"] == ["plysmith"]
    patterns = PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert sorted(patterns) == sorted(f"{package}*" for package in [*PACKAGES, "data"])


def test_every_folder_of_a_package_is_a_package() -> None:
    folders = {path.parent for path in package_files()} - {ROOT}
    assert [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").exists()] == []


def test_no_layer_names_a_module_of_an_upper_one_in_a_text() -> None:
    """The import linter does not see what is imported by its name at run time."""
    begins = re.compile(rf"[\"'}}]({'|'.join(LAYERS)})\.")  # a text, or a part of one
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for number, package in enumerate(LAYERS)
        for path in sorted((ROOT / package).rglob("*.py"))
        if begins.search(path.read_text("utf-8"))
        for text in plain_strings(path)
        for upper in LAYERS[number + 1 :]
        if re.fullmatch(rf"{upper}(\.[a-z_]\w*)+", text)
    ]
    assert found == []


def test_games_import_no_upper_layer_to_look_for_an_extra() -> None:
    code = (
        "import sys, games\nfrom games.extras import Extra, extra\n"
        "kind = type('Kind', (Extra,), {'__module__': 'search.kinds'})\n"
        "extra(games.load('checkers'), kind)\n"
        "print({name.partition('.')[0] for name in sys.modules} & {'search', 'play', 'learner'})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_every_requirement_has_a_tested_version() -> None:
    pins = constraints()
    for requirement in requirements():
        pin = pins[canonicalize_name(requirement.name)]
        (specifier,) = pin.specifier
        assert specifier.operator == "==", f"{pin} is not one version"
        assert requirement.specifier.contains(specifier.version), f"{requirement} excludes {pin}"


def test_the_tested_versions_bring_no_gpu_packages() -> None:
    names = [name for name in constraints() if name.startswith(("nvidia-", "cuda-", "triton"))]
    assert names == []


def test_what_the_packages_import_is_declared() -> None:
    declared = {
        MODULE_NAMES.get(name, name)
        for name in (
            canonicalize_name(Requirement(line).name)
            for line in PYPROJECT["project"]["dependencies"]
        )
    }
    declared.add("llvmlite")  # numba requires exactly one minor version of it, and thus chooses it
    known = declared | {*PACKAGES, *PROGRAMS} | set(sys.stdlib_module_names)
    # The server is a program with its own extra, which is checked for when it starts.
    web = {Requirement(line).name for line in PYPROJECT["project"]["optional-dependencies"]["web"]}
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in package_files()
        for line, name in imports(path)
        if name not in known | (web if path.parent == ROOT / "play/web" else set())
    ]
    assert found == []


def test_nothing_reads_or_writes_pickles() -> None:
    """Loading a pickle runs code from it; an evaluator's file holds only numbers and text."""
    modules = {"_pickle", "cloudpickle", "dill", "marshal", "pickle", "shelve"}
    calls = {"torch.load", "torch.save", "joblib.load", "joblib.dump"}
    allowed = {
        # Sent between processes of one user, and never in a file.
        Path("play/workers/transport.py"): "cloudpickle",
        Path("games/kernels/pickling.py"): "cloudpickle",
        # Numba's compiled code, in folders of this user alone, checked by a digest before.
        Path("games/kernels/cache.py"): "pickle",
    }
    found = []
    for path in package_files():
        where = path.relative_to(ROOT)
        used = [
            (line, name) for line, name in imports(path) if name in modules - {allowed.get(where)}
        ]
        found += [f"{where}:{line}: {name}" for line, name in used]
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in calls:
                found.append(f"{where}:{node.lineno}: {ast.unparse(node)}")
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                    found.append(f"{where}:{node.value.lineno}: allow_pickle")
    assert found == []


def test_no_shell_starts_anything_and_the_page_writes_no_html() -> None:
    """A command or a name from elsewhere would be obeyed by either (docs/security.md)."""
    calls = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
    shells = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '')}"
        for path in package_files()
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.keyword) and node.arg == "shell")
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in calls)
    ]
    assert shells == []
    html = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write")
    scripts = [path.read_text("utf-8") for path in (ROOT / "play/web/static").glob("*.js")]
    assert [name for name in html if any(name in text for text in scripts)] == []


def test_no_interrupted_search_passes_for_a_whole_one_in_what_learns() -> None:
    """Ctrl-C would be lost with a result that is not asked whether it is `whole`."""
    found, asked = [], 0
    for path in (ROOT / "learner").rglob("*.py"):
        whole = {
            id(node.value)
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.Attribute) and node.attr == "whole"
        }
        for node in ast.walk(parsed(path)):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name == "solve" or name.endswith(("engine.search", "engine.analyse")):
                asked += 1
                if id(node) not in whole:
                    found.append(f"{path.relative_to(ROOT)}: {ast.unparse(node)}")
    assert found == [] and asked > 10


def test_files_are_short_enough_to_read() -> None:
    lengths = {path: len(path.read_bytes().splitlines()) for path in package_files()}
    long = {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n >= LONGEST_FILE}
    assert long == {}


def lines_by_kind() -> dict[str, int]:
    """Returns the number of lines of everything and of its parts; .ci/run prints them."""
    lines: Counter[str] = Counter()
    product = {*package_files()}
    for path in tree():
        folder = path.relative_to(ROOT).parts[0]
        if not path.is_file() or not (folder == "tests" or path.suffix in COUNTED):
            continue
        count = path.read_bytes().count(b"\n")
        kind = folder if folder in ("tests", "benchmarks") else path.suffix[1:]
        lines["product Python" if path in product else kind] += count
        lines["all"] += count
    return dict(lines.most_common())


def test_lines_only_become_fewer() -> None:
    lines = lines_by_kind()
    assert {kind: lines[kind] for kind in MOST_LINES if lines[kind] > MOST_LINES[kind]} == {}


def test_no_large_file_is_tracked() -> None:
    large = [str(path) for path in tree() if path.is_file() and path.stat().st_size > LARGEST_FILE]
    assert large == []


def test_no_file_speaks_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in tree("--cached", "--others", "--exclude-standard")
        if path.is_file()
        for text in FOREIGN_TEXT
        if text.encode() in path.read_bytes()
    ]
    assert found == []


def test_imports_go_one_way() -> None:
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    program = program or shutil.which("lint-imports")
    if program is None:
        pytest.skip("import-linter is not installed")
    missing = [name for name in PACKAGES if not (ROOT / name / "__init__.py").exists()]
    assert missing == [], "import-linter needs every package"
    result = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("train.py checkers --help", "--snapshot-games"),
        ("plysmith.py --version", "plysmith "),
        ("plysmith.py train --help", "--resume"),
        ("-m play --help", "usage: python -m play"),
        ("-m play match --help", "--sprt"),
        ("-m play ladder --help", "--depth"),
        ("-m play judge --help", "--referee"),
        ("plysmith.py learner invent --help", "--terms"),
        ("plysmith.py fit --help", "--alpha"),
        ("plysmith.py tune --help", "--pairs"),
    ],
)
def test_programs_start_without_importing_anything_slow(line: str, said: str) -> None:
    """These answers take half a second; any of the slow imports alone would take as long."""
    result = subprocess.run(
        [sys.executable, "-X", "importtime", *line.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert said in result.stdout
    # import time: self [us] | cumulative | name, indented by depth
    names = [line.rpartition("|")[2].strip() for line in result.stderr.splitlines()]
    assert "argparse" in names or said == "plysmith "
    slow = {"matplotlib", "numba", "numpy", "scipy", "sklearn", "torch", "tqdm"}
    assert sorted({name.partition(".")[0] for name in names} & slow) == []


LARGE = {"gnubg_nn", "matplotlib", "sklearn", "torch"}


def imported(*groups: Iterable[str]) -> list[str]:
    """Returns the large libraries that there are after each group of imports in a new process."""
    code = "import sys, importlib\n"
    for modules in groups:
        code += f"for name in {sorted(modules)}: importlib.import_module(name)\n"
        code += f"print(*sorted({LARGE} & set(sys.modules)))\n"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


SEARCH_AND_PRODUCT = """
import sys, games, numpy as np
from games.kernels import kernel
from search import Engine
game = games.load("checkers")
Engine(game, "classic").search(game.start(), depth=1)
print("scipy.linalg" in sys.modules)
product = kernel(lambda first, second: np.dot(first, second))
print(product(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
"""


def test_a_search_does_without_scipy_and_a_product_of_vectors_finds_it() -> None:
    command = [sys.executable, "-c", SEARCH_AND_PRODUCT]
    assert subprocess.check_output(command, cwd=ROOT, text=True, timeout=120) == "False\n11.0\n"


def test_large_libraries_are_imported_only_where_they_are_used() -> None:
    """A match begins without scikit-learn, and most learners without torch until they need it."""
    from learner.run.recipes import HEURISTICS, RECIPES

    with_torch = {"network", "quantised", "backups", "invent"}
    recipes = [recipe for name, recipe in RECIPES.items() if name not in with_torch]
    modules = {recipe.module for recipe in (*recipes, *HEURISTICS.values())}
    modules |= {
        "learner.regression.logistic",
        "learner.regression.calibration",
        "learner.invention.term_search",
        "learner.run.training",
        "play.__main__",
        "play.web.server",
    }
    commands = [f"play.commands.{path.stem}" for path in (ROOT / "play/commands").glob("*.py")]
    first, second = imported(commands, modules)
    assert first == "" and {"matplotlib", "torch"}.isdisjoint(second.split())


@pytest.mark.parametrize("name", ["run", "proofs"])
def test_ci_can_be_run(name: str) -> None:
    script = ROOT / ".ci" / name
    assert os.access(script, os.X_OK), f".ci/{name} is not executable"
    subprocess.run(["bash", "-n", str(script)], check=True)


#: Calls by which a process would send itself a signal, or another thread an exception. The process
#: of the tests is one that pytest-xdist talks to, and a signal that comes late ends it.
OWN_SIGNALS = re.compile(
    r"(\w+\.)?(raise_signal|pthread_kill|interrupt_main|alarm|setitimer|PyErr_SetInterrupt(Ex)?"
    r"|PyThreadState_SetAsyncExc)|os\.kill(pg)?\((0|os\.get(p?pid|pgrp|pgid)\b).*"
)


def own_signals(tree: ast.Module) -> list[str]:
    """Returns the names and calls of a module that send a signal to its own process."""
    kinds = ast.Attribute | ast.Name | ast.Call | ast.alias
    nodes = (node for node in ast.walk(tree) if isinstance(node, kinds))
    texts = [node.name if isinstance(node, ast.alias) else ast.unparse(node) for node in nodes]
    return [text for text in texts if OWN_SIGNALS.fullmatch(text)]


def test_no_test_sends_a_signal_to_its_own_process() -> None:
    """Programs that tests start may, in texts; Ctrl-C for a search is in tests/interrupts.py."""
    words = re.compile(r"signal|kill|interrupt_main|alarm|itimer|Interrupt|AsyncExc")
    files = [p for p in (ROOT / "tests").rglob("*.py") if words.search(p.read_text("utf-8"))]
    found = {str(path.relative_to(ROOT)): own_signals(parsed(path)) for path in files}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("signal.raise_signal(signal.SIGINT)", True),
        ("threading.Timer(1.0, lambda: signal.pthread_kill(main, 2))", True),
        ("from signal import raise_signal as tell\ntell(2)", True),
        ("_thread.interrupt_main()", True),
        ("os.kill(os.getpid(), signal.SIGTERM)", True),
        ("os.killpg(0, 2)", True),
        ("os.killpg(os.getpgid(0), 2)", True),
        ("os.kill(process.pid, signal.SIGINT)", False),
        ("process.send_signal(signal.SIGINT)", False),
        ("PROGRAM = 'os.kill(os.getpid(), 2)'", False),
    ],
)
def test_a_signal_to_the_own_process_is_seen_whatever_its_form(source: str, refused: bool) -> None:
    assert bool(own_signals(ast.parse(source))) == refused


def test_every_file_of_errors_is_compared() -> None:
    for path in (ROOT / "tests").glob("*/errors/*.txt"):
        module = path.parents[1] / f"test_{path.stem}.py"
        assert "\ntest_errors = errors_of(globals())\n" in module.read_text("utf-8"), path
