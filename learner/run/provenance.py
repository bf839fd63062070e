"""The origin of a run: the version, the code, the packages and the machine of each of its sessions.

A run promises the same bits after `--resume` as without a stop, which holds only under the same
code. So each session is recorded in the folder, and a run is resumed with other code only if its
owner says so. Code means what can change the result:

- the learner and the game: a digest of the source of each module that a session has loaded once
  the learner is prepared, but for those of other games, and without comments and docstrings, so
  that an edited text is no change; a module that only one of two sessions has loaded decides
  nothing;
- the terms: the fingerprint of each term, or of the encoding (`games.kernels.fingerprint`);
- Python's minor version, and the versions of the packages that calculate.

The version of Plysmith, its commit and the machine are recorded and reported, but may differ.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import games
import plysmith
from games.contract import Game
from games.features import Encoding, FeatureSet
from games.kernels import fingerprint
from programs.whole_files import write_atomically

__all__ = ["FILE", "ChangedError", "code_mark", "differences", "provenance", "record_session"]

FILE = "provenance.json"
ROOT = Path(__file__).resolve().parents[2]
OURS = ("programs", "games", "search", "play", "learner")
#: The packages whose versions may change the bits of a result.
PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "scikit-learn", "torch")
#: The parts of a session that must not change, with their names in messages.
PARTS = {"packages": "package", "learner": "module", "terms": "term"}
#: The most differences that a message lists.
MOST_LISTED = 12


class ChangedError(ValueError):
    """Raised for a run that began with other code."""


def record_session(
    folder: Path, game: Game, learner: Any, *, resume: bool, changed: bool
) -> list[str]:
    """Add this session to the record of a run; returns remarks for its owner.

    folder: the folder of the run.
    game: its game.
    learner: its learner, prepared.
    resume: whether the run has begun in an earlier session, or repeats one whose record is here.
    changed: go on even if the code has changed since.

    Raises ChangedError, which says what has changed, unless `changed`.
    """
    session = provenance(game, learner)
    remarks: list[str] = []
    sessions: list[Any] = []
    if resume:
        sessions = _read(folder / FILE)
        if not sessions:
            found = [f"no record of the code that it began with ({FILE})"]
        else:
            found = differences(sessions[-1], session)
            if sessions[-1]["machine"] != session["machine"]:
                remarks = ["resumed on another machine: results may differ in their last digits"]
        if found and not changed:
            more = len(found) - MOST_LISTED
            listed = "; ".join([*found[:MOST_LISTED], *([f"and {more} more"] if more > 0 else [])])
            raise ChangedError(
                f"{folder}: expected the code that the run began with, found {listed}. Its result"
                " will not be that of one code: go on all the same with --changed, or begin a new"
                " run"
            )
        if found:
            session["changed"] = found
    write_atomically(folder / FILE, json.dumps([*sessions, session], indent=1))
    return remarks


def provenance(game: Game, learner: Any) -> dict[str, Any]:
    """Returns the code, the packages and the machine of this session, as plain values."""
    return {
        "began": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "version": plysmith.__version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "machine": {
            "host": platform.node(),
            "system": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
        },
        "learner": _code_of(type(learner), game),
        "terms": _terms(getattr(learner, "evaluator_", None)),
    }


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Returns the changes between two sessions, each in a few words."""
    found = []
    python = [str(session["python"]).rpartition(".")[0] for session in (old, new)]
    if python[0] != python[1]:
        found.append(f"Python {new['python']} (was {old['python']})")
    for part, word in PARTS.items():
        before, now = old[part], new[part]
        for name in sorted({*before, *now}):
            alone = name not in before or name not in now
            if before.get(name) == now.get(name) or (part == "learner" and alone):
                continue
            if part == "packages":
                found.append(f"{name} {now.get(name)} (was {before.get(name)})")
            else:
                how = "changed" if not alone else "new" if name in now else "gone"
                found.append(f"{word} {name} {how}")
    if found and old["version"] != new["version"]:
        found.append(f"Plysmith {new['version']} (was {old['version']})")
    if found and old["commit"] != new["commit"]:
        found.append(f"commit {new['commit']} (was {old['commit']})")
    return found


def _read(path: Path) -> list[Any]:
    """Returns the sessions that a file records; [] if it cannot be used."""
    try:
        sessions = json.loads(path.read_text(encoding="utf-8"))
        for session in sessions:
            if not all(isinstance(session[part], dict) for part in (*PARTS, "machine")):
                return []
            differences(session, session)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return list(sessions)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Returns the commit of the clone that this code is in; None if it is in no clone."""
    if not (ROOT / ".git").exists():  # not the clone of somebody who installed Plysmith in it
        return None
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40"]
    command.append("--exclude=*")  # a tag is no commit
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _terms(evaluator: Any) -> dict[str, str]:
    """Returns the fingerprint of each term, or of the encoding, that an evaluator reads."""
    inputs = getattr(evaluator, "features", None) or getattr(evaluator, "inputs", None)
    if isinstance(inputs, FeatureSet):
        return {name: fingerprint(term)[:16] for name, term in inputs.terms.items()}
    if isinstance(inputs, Encoding):
        return {inputs.name: inputs.fingerprint[:16]}
    return {}


# --- source -----------------------------------------------------------------------------------


def _code_of(learner: type, game: Game) -> dict[str, str]:
    """Returns a digest of each loaded module of Plysmith, and of a user's learner and game.

    Modules of the games that come with Plysmith count only for a game that is made of them. No such
    game is made of another, and engines of other games that can be played against are loaded too.
    """
    own = [kind.__module__ for kind in type(game).__mro__[:-1]]
    tops = {*OURS, *(name.partition(".")[0] for name in (learner.__module__, *own))}
    ours = games.modules() if own[0].partition(".")[0] == "games" else []
    others = [module for module in ours if not any(_within(name, module) for name in own)]
    loaded = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
    files = {
        name: Path(file)
        for name, file in loaded.items()
        if file and file.endswith(".py") and name.partition(".")[0] in tops
        and not any(_within(name, module) for module in others)
    }  # fmt: skip
    return {name: _file_mark(file) for name, file in sorted(files.items())}


def _within(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


def _file_mark(path: Path) -> str:
    """Returns the digest of a source file; "-" if it is gone or is no Python."""
    try:
        return code_mark(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return "-"


@functools.lru_cache(maxsize=1024)  # a process that begins many runs parses each module once
def code_mark(source: str | bytes) -> str:
    """Returns a digest of Python source that comments, docstrings and line breaks do not change."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.body and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16]
