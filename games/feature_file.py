"""Features in a file of the user's own: `my_features.py` with kernels `term(position)`.

The file is ordinary Python, in any folder. Each kernel in it whose name does not begin with `_` is
a term and is added to a feature set of the game; or the file makes a feature set of its own and
calls it `FEATURES`. Its kernels belong to no module (`games.kernels.compiler.GENERATED`), so every
process finds them in Numba's cache, and they are sent to other processes by value.

Loading runs the file. Therefore only a file that the user names is loaded, never one that a data
file names.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import math
import re
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from games import kernels
from games.contract import Game, rolled
from games.features import FeatureSet
from games.kernels.compiler import GENERATED

__all__ = ["FeatureFileError", "add_features", "file_digest", "load_features"]

#: The name of a file's own feature set.
OWN_SET = "FEATURES"
#: Number of positions of random play on which terms are tried before learning.
TRIED = 200
#: The same in which a term of a game in kernels has to differ from all others.
SEEN = 4000

#: Colours in Numba's messages, which occur if colorama is installed.
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
#: The two forms in which Numba's messages name a line.
WHERE = re.compile(r"""(?:File "|at )([^"\n]+?)(?:", line | \()(\d+)""")
#: Parts of its messages about code that allocates memory.
MADE_OBJECTS = ("NRT required", "returning of array passed")

Terms = Mapping[str, Callable[[Any], float]]


class FeatureFileError(ValueError):
    """A file of features cannot be used."""


def load_features(path: Any, game: Game, base: FeatureSet | None = None) -> FeatureSet:
    """Returns a feature set of the terms of `base` and those of the file.

    path: the file.
    game: the game on whose positions every term is tried, compiled and uncompiled.
    base: the set whose terms come first; terms are differences between the sides if its terms are.
        Default: none. A file with a feature set of its own returns that set, without `base`.

    The name of the set joins those of its parts, as in `classic+trapped_men`. Raises
    FileNotFoundError if there is no such file. Raises FeatureFileError if the file is not Python or
    raises; if it has no term, or a term that `base` also has; and if a term cannot be compiled for
    positions of the game, raises, or does not return a finite number; in a game in kernels also if
    a term is the same as another in all positions of random play.
    """
    path = Path(path)
    own = _read(path)
    if isinstance(own, FeatureSet):
        made, new = own, list(own.terms)
        if game.features.get(own.name, own) != own:
            raise FeatureFileError(
                f"{path}: expected a name for {OWN_SET} that no feature set of {game.name} has,"
                f" found {own.name!r}"
            )
    else:
        clash = _clash(own, base)
        if clash:
            raise FeatureFileError(
                f"{path}: expected names that no term of {base.name if base else ''} has, found"
                f" {', '.join(clash)}"
            )
        shared, swap, theirs = (
            (base.terms, base.swap, base.theirs) if base is not None else ({}, None, frozenset())
        )
        name = "+".join([*([base.name] if base is not None else []), *own])
        made, new = FeatureSet(name, {**shared, **own}, swap, theirs), list(own)
    positions = _positions(game, TRIED if game.rules is None else SEEN)
    for term in new:
        _try(path, game, made.only([term]), positions[:TRIED])
    if kernels.compiled and game.rules is not None:
        _tell_apart(path, made, new, positions)
    return made


def add_features(game: Game, path: Any) -> Game:
    """Returns the game with further feature sets, which join the file's terms to each of its own.

    Files with weights for such a set then find its terms. Sets of the game that already have a term
    of the same name are skipped. Raises the same errors as `load_features`.
    """
    own = _read(Path(path))
    bases: list[FeatureSet | None] = [None]
    if not isinstance(own, FeatureSet) and game.features:
        bases = [base for base in game.features.values() if not _clash(own, base)]
        bases = bases or [next(iter(game.features.values()))]  # this set is refused
    added = [load_features(path, game, base) for base in bases]
    result = copy.copy(game)
    result.features = {**game.features, **{features.name: features for features in added}}
    return result


def file_digest(path: Any) -> str:
    """Returns the SHA-256 of a file's bytes in hexadecimal digits."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _clash(own: Terms, base: FeatureSet | None) -> list[str]:
    return [name for name in own if base is not None and name in base.terms]


# --- reading the file ------------------------------------------------------------------------


def _read(path: Path) -> Terms | FeatureSet:
    """Returns the terms of a file by name, or its own feature set."""
    scope = _run(path)
    if OWN_SET in scope:
        own = scope[OWN_SET]
        if not isinstance(own, FeatureSet):
            raise FeatureFileError(
                f"{path}: expected {OWN_SET} to be a games.features.FeatureSet, found"
                f" {type(own).__name__}"
            )
        return own
    terms = {
        name: value
        for name, value in scope.items()
        if not name.startswith("_") and kernels.is_kernel(value) and _is_written_in(scope, value)
    }
    if not terms:
        plain = [
            name
            for name, value in scope.items()
            if isinstance(value, types.FunctionType) and _is_written_in(scope, value)
        ]
        raise FeatureFileError(
            f"{path}: expected a function term(position) marked with @kernel, found"
            f" {', '.join(plain) + ' without the mark' if plain else 'none'}"
        )
    for name, term in terms.items():
        parameters = len(inspect.signature(term).parameters)
        if parameters != 1:
            raise FeatureFileError(
                f"{path}: expected term {name} to take a position, found {parameters} parameters"
                " (the names of helpers begin with _)"
            )
    return terms


def _is_written_in(scope: Mapping[str, Any], function: Any) -> bool:
    """Whether a function is defined in the file rather than imported into it."""
    return getattr(function, "py_func", function).__globals__ is scope


#: Names that files define, by the text of the file: a copy of a file has the same kernels.
_made: dict[str, dict[str, Any]] = {}


def _run(path: Path) -> dict[str, Any]:
    """Returns the names that the file defines."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file with features, found none")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FeatureFileError(f"{path}: expected Python as UTF-8, found {error}") from None
    if text in _made:
        return _made[text]
    sys.modules.setdefault(GENERATED, types.ModuleType(GENERATED))
    file = str(path.absolute())
    scope: dict[str, Any] = {"__name__": GENERATED, "__file__": file}
    try:
        exec(compile(text, file, "exec", dont_inherit=True), scope)
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.filename == file and error.lineno else ""
        raise FeatureFileError(
            f"{path}{where}: expected Python, found {error.msg}: {(error.text or '').strip()!r}"
        ) from None
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
        where = f", line {lines[-1]}" if lines else ""
        raise FeatureFileError(f"{path}{where}: {type(error).__name__}: {error}") from error
    _made[text] = scope
    return scope


# --- trying the terms ------------------------------------------------------------------------


def _positions(game: Game, count: int) -> list[Any]:
    """Returns unfinished positions of random play, the same every time."""
    random = np.random.default_rng(0)
    positions: list[Any] = []
    position = game.start()
    for _ in range(2 * count):
        roll = rolled(game, lambda rolls: int(random.integers(len(rolls))))
        moves = game.legal_moves(position, *roll)
        if not moves or game.outcome(position) is not None:
            position = game.start()
            continue
        positions.append(position)
        position = game.play(position, moves[int(random.integers(len(moves)))])
    return positions[:count]


def _try(path: Path, game: Game, one: FeatureSet, positions: list[Any]) -> None:
    """Raise FeatureFileError unless the only term of a set can be measured on the positions."""
    name, term = next(iter(one.terms.items()))
    plain = kernels.uncompiled(term)
    swap = kernels.uncompiled(one.swap) if one.swap else None
    native = kernels.compiled and game.rules is not None
    if native:
        _compile(path, game, name, term)
    for position in [side for p in positions for side in ((p, swap(p)) if swap else (p,))]:
        where = f"in position {game.position_text(position)}"
        # the source first, because out of bounds it raises, while native code reads any memory
        value = _value(path, name, where, plain, position)
        if native:
            result = _value(path, name, where, term, position)
            if not math.isclose(value, result, rel_tol=1e-9, abs_tol=1e-12):
                raise FeatureFileError(
                    f"{path}: expected term {name} to be the same compiled and uncompiled, found"
                    f" {result!r} and {value!r} {where}"
                )


def _tell_apart(path: Path, made: FeatureSet, new: list[str], positions: list[Any]) -> None:
    """Raise FeatureFileError for a new term that is the same as another.

    One that is 0 in all positions may occur where random play does not come.
    """
    columns = made.measure(positions).T
    first: dict[bytes, str] = {}
    for name, column in zip(made.terms, columns, strict=True):
        other = first.setdefault(column.tobytes(), name)
        if column.any() and other != name and not {name, other}.isdisjoint(new):
            raise FeatureFileError(
                f"{path}: expected a term that says something of its own, found {name}, which is"
                f" the same as {other} in all of {len(positions)} positions of random play"
            )


def _value(path: Path, name: str, where: str, term: Any, position: Any) -> float:
    try:
        value = term(position)
    except Exception as error:
        raise FeatureFileError(
            f"{path}: term {name} raised {type(error).__name__}: {error} {where}"
        ) from error
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise FeatureFileError(
            f"{path}: expected term {name} to return a number, found {value!r} {where}"
        ) from None
    if not math.isfinite(number):
        raise FeatureFileError(
            f"{path}: expected term {name} to return a finite number, found {number} {where}"
        )
    return number


def _compile(path: Path, game: Game, name: str, term: Any) -> None:
    try:
        term(game.start())
    except NumbaError as error:
        message = COLOURS.sub("", str(error))
        raise FeatureFileError(
            f"{path}{_line_of(path, message)}: term {name} cannot be compiled for positions of"
            f" {len(game.start())} integers: {_reason(message)}"
        ) from error
    except Exception:
        return  # it also raises uncompiled, where the position is known


def _line_of(path: Path, message: str) -> str:
    """Returns the line of the file at which Numba failed, as text; empty if not known."""
    for file, line in WHERE.findall(message):
        if Path(file).name == path.name:
            return f", line {line}"
    return ""


def _reason(message: str) -> str:
    """Returns the reason in a message of Numba, without lines and attempts."""
    if any(sign in message for sign in MADE_OBJECTS):
        return "a kernel makes no lists, dictionaries, arrays or other objects"
    lines = [line.strip() for line in message.splitlines()]
    useful = [line for line in lines if line and not line.startswith(("Failed in nopython", "Dur"))]
    if not useful:
        return message.strip()
    first = useful[0]
    if first.endswith("for signature:") and len(useful) > 1:
        return f"there is no {useful[1].removeprefix('>>>').strip()}"
    if first.startswith("Untyped global name"):
        return f"{first} (a function that a kernel calls must be a kernel as well)"
    return first
