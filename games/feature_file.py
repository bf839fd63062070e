"""Features in a file of the user's own: `my_features.py` with kernels `term(position)`.

The file is ordinary Python, in any folder. Each kernel in it whose name has no `_` in front is a
term, and joins the terms of a feature set of the game; or the file makes a feature set of its own
and calls it `FEATURES`. Its kernels belong to no module (`games.kernels.compiler.GENERATED`), so
that every process finds them in Numba's cache, and they travel to other processes by value.

Loading runs the file. So it is loaded where the user names it, and never because a data file does.
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
from games.contract import DiceGame, Game
from games.features import FeatureSet
from games.kernels.compiler import GENERATED

__all__ = ["FeatureFileError", "add_features", "file_digest", "load_features"]

#: What a file calls a feature set of its own.
OWN_SET = "FEATURES"
#: Positions of random play on which terms are tried before anything is learned.
TRIED = 200

#: Two ways in which Numba's messages name a place.
WHERE = re.compile(r"""(?:File "|at )([^"\n]+?)(?:", line | \()(\d+)""")
#: Parts of its messages about code that needs memory of its own.
MADE_OBJECTS = ("NRT required", "returning of array passed")

Terms = Mapping[str, Callable[[Any], float]]


class FeatureFileError(ValueError):
    """A file of features that cannot be used."""


def load_features(path: Any, game: Game, base: FeatureSet | None = None) -> FeatureSet:
    """The terms of `base` and those of the file, differences of both sides as in `base`.

    The set is called after its parts, as in `classic+trapped_men`. A file with a set of its own
    gives that set, whatever `base` is. Every term of the file has been tried on positions of the
    game, compiled and uncompiled.

    Raises FileNotFoundError, and FeatureFileError for a file that is no Python or raises, has no
    term, or one that the base has already, and for a term that cannot be compiled for positions of
    the game, raises, or returns anything but a finite number.
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
    positions = _positions(game)
    for term in new:
        _try(path, game, made.only([term]), positions)
    return made


def add_features(game: Game, path: Any) -> Game:
    """The game with the feature sets that `load_features` makes of the file and of each of its own.

    So a file with weights over such a set finds its terms. Sets of the game that have a term of
    the same name already are left out. Raises what `load_features` does.
    """
    own = _read(Path(path))
    bases: list[FeatureSet | None] = [None]
    if not isinstance(own, FeatureSet) and game.features:
        bases = [base for base in game.features.values() if not _clash(own, base)]
        bases = bases or [next(iter(game.features.values()))]  # which is refused
    added = [load_features(path, game, base) for base in bases]
    result = copy.copy(game)
    result.features = {**game.features, **{features.name: features for features in added}}
    return result


def file_digest(path: Any) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal digits."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _clash(own: Terms, base: FeatureSet | None) -> list[str]:
    return [name for name in own if base is not None and name in base.terms]


# --- reading the file ------------------------------------------------------------------------


def _read(path: Path) -> Terms | FeatureSet:
    """The terms of a file by name, or its own feature set."""
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
    """Whether a function stands in the file, rather than having been imported into it."""
    return getattr(function, "py_func", function).__globals__ is scope


#: What files have made, by their text: the copy of a file gives the same kernels.
_made: dict[str, dict[str, Any]] = {}


def _run(path: Path) -> dict[str, Any]:
    """The names that the file has defined at its end."""
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


def _positions(game: Game) -> list[Any]:
    """Positions of random play that are not finished, the same every time."""
    random = np.random.default_rng(0)
    positions: list[Any] = []
    position = game.start()
    for _ in range(2 * TRIED):
        if isinstance(game, DiceGame):
            moves = game.legal_moves(position, int(random.integers(len(game.rolls))))
        else:
            moves = game.legal_moves(position)
        if not moves or game.outcome(position) is not None:
            position = game.start()
            continue
        positions.append(position)
        position = game.play(position, moves[int(random.integers(len(moves)))])
    return positions[:TRIED]


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
        # the source first: out of bounds it raises, where native code reads any memory
        value = _value(path, name, where, plain, position)
        if native:
            found = _value(path, name, where, term, position)
            if not math.isclose(value, found, rel_tol=1e-9, abs_tol=1e-12):
                raise FeatureFileError(
                    f"{path}: expected term {name} to be the same compiled and uncompiled, found"
                    f" {found!r} and {value!r} {where}"
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
        raise FeatureFileError(
            f"{path}{_line_of(path, str(error))}: term {name} cannot be compiled for positions of"
            f" {len(game.start())} integers: {_reason(str(error))}"
        ) from error
    except Exception:
        return  # it raises uncompiled as well, where the position is known


def _line_of(path: Path, message: str) -> str:
    """Where in the file Numba was when it gave up."""
    for file, line in WHERE.findall(message):
        if Path(file).name == path.name:
            return f", line {line}"
    return ""


def _reason(message: str) -> str:
    """What Numba has to say, without where it was and what it tried."""
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
        return f"{first} (a function that a kernel calls has to be a kernel as well)"
    return first
