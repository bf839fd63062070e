"""Traces from files: `.npz` without pickles, and `.csv`; everything is checked, and named by place.

Columns `result` (0, 1/2, 1 or an expected score), `value`, `game`, `weight` and `phase` (1 in the
opening, 0 at the end) have their own meaning, every other one is a term. In an `.npz` each column
is an array of its own, or the terms are sparse: `names`, and one row number, one term number and
one count for each entry in `row`, `term` and `count`.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.regression.matrix import Matrix
from learner.traces.traces import TraceError, Traces, pairs, table_of

__all__ = ["join", "read_traces"]

LABELS = ("result", "value", "game", "weight", "phase")
SPARSE = ("names", "row", "term", "count")
#: Rows of a text that are read at a time; the maximum number of terms; and the share of counts
#: other than 0 below which the rows of a text are kept sparse.
ROWS, MOST_TERMS, DENSE = 100_000, 20_000, 0.25
Labels = dict[str, Any]


def read_traces(paths: Sequence[Path]) -> Traces:
    """Returns the rows of all files, one after the other.

    Games of different files are different, whatever their names. Raises TraceError that names file,
    row and column for anything that is not as described above, and OSError if a file cannot be
    read.
    """
    return join([_read(path) for path in paths], [str(path) for path in paths])


def _read(path: Path) -> tuple[tuple[str, ...], Matrix, Labels]:
    readers = {".npz": _read_npz, ".csv": _read_csv}
    if path.suffix.lower() not in readers:
        raise TraceError(f"{path}: expected a file that ends with .npz or .csv")
    return readers[path.suffix.lower()](path)


def join(parts: Sequence[tuple[tuple[str, ...], Matrix, Labels]], sources: Sequence[str]) -> Traces:
    """Returns traces of parts: the names of their terms, these, and their labels by name.

    Raises TraceError, with the source's name, for a part that does not fit the first one, or whose
    labels are out of range.
    """
    names, _, first = parts[0]
    games: list[NDArray[np.int64]] = []
    for (own, matrix, labels), source in zip(parts, sources, strict=True):
        if own != names or set(labels) != set(first):
            mine, others = set(own) | set(labels), set(names) | set(first)
            wrong = ", ".join(sorted(mine ^ others)[:8]) or "another order"
            raise TraceError(f"{source}: expected the columns of {sources[0]}, found {wrong}")
        _check_labels(source, labels, len(matrix))
        numbers = labels.get("game", np.arange(len(matrix)))
        _, numbers = np.unique(numbers, return_inverse=True)
        games.append(numbers.reshape(-1) + (games[-1].max() + 1 if games else 0))
    labels = {name: np.concatenate([part[2][name] for part in parts]) for name in first}
    matrix = _stacked([part[1] for part in parts])
    tapered = pairs(names)
    if tapered and "phase" not in labels:
        raise TraceError(
            f"{sources[0]}: expected a column phase for the pairs .mg and .eg, found none"
        )
    if tapered:
        _taper(matrix, names, labels["phase"])
    rows = len(matrix)
    present = [name for name in ("result", "value") if name in labels]
    if not present:
        raise TraceError(f"{sources[0]}: expected a column result or value, found neither")
    if len(present) == 1 and np.ptp(one := labels[present[0]]) == 0:
        raise TraceError(
            f"{sources[0]}: expected rows of different {present[0]}, found {one[0]:g} in all"
        )
    if rows < len(names):
        raise TraceError(
            f"{sources[0]}: expected at least as many rows as terms, found {rows} rows and"
            f" {len(names)} terms"
        )
    weight = labels.get("weight", np.ones(rows))
    if not weight.sum() > 0:
        raise TraceError(f"{sources[0]}: expected a weight above 0, found none")
    return Traces(
        names, matrix, labels.get("result"), labels.get("value"), np.concatenate(games),
        weight, "game" in labels,
    )  # fmt: skip


def _check_labels(source: str, labels: Labels, rows: int) -> None:
    if not rows:
        raise TraceError(f"{source}: expected rows, found none")
    bounds = {"result": (0.0, 1.0), "phase": (0.0, 1.0), "weight": (0.0, math.inf)}
    for name, column in labels.items():
        if name == "game":
            continue
        low, high = bounds.get(name, (-math.inf, math.inf))
        wrong = ~np.isfinite(column) | (column < low) | (column > high)
        if wrong.any():
            row = int(np.argmax(wrong))
            wanted = "a finite number" if low == -math.inf else f"{low:g} to {high:g}"
            raise TraceError(
                f"{source}, row {row + 1}, column {name}: expected {wanted}, found {column[row]:g}"
            )


def _taper(matrix: Matrix, names: Sequence[str], phase: Any) -> None:
    """Multiply the terms of tapered pairs by the share of their phase, in place."""
    own = np.zeros(len(names), dtype=np.float32)  # share = first + own * phase
    first = np.ones(len(names), dtype=np.float32)
    for i, name in enumerate(names):
        if name.endswith(".mg"):
            first[i], own[i] = 0.0, 1.0
        elif name.endswith(".eg"):
            own[i] = -1.0
    share = phase.astype(np.float32)
    for low in range(0, len(matrix), ROWS):
        part = slice(low, low + ROWS)
        if matrix.dense is not None:
            matrix.dense[part] *= first + own * share[part, None]
            continue
        sizes = np.diff(matrix.start[low : low + ROWS + 1])
        entries = slice(int(matrix.start[low]), int(matrix.start[min(low + ROWS, len(matrix))]))
        terms = matrix.term[entries]
        matrix.count[entries] *= first[terms] + own[terms] * np.repeat(share[part], sizes)


def _stacked(parts: list[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    if all(part.dense is not None for part in parts):
        return Matrix(parts[0].columns, np.concatenate([part.dense for part in parts]))
    parts = [part if part.dense is None else _sparse(part.dense) for part in parts]
    sizes = np.concatenate([np.diff(part.start) for part in parts])
    return Matrix(
        parts[0].columns,
        start=np.concatenate([[0], np.cumsum(sizes)]),
        term=np.concatenate([part.term for part in parts]),
        count=np.concatenate([part.count for part in parts]),
    )


def _sparse(dense: Any) -> Matrix:
    row, term = np.nonzero(dense)
    start = np.searchsorted(row, np.arange(len(dense) + 1))
    return Matrix(
        dense.shape[1], start=start, term=term.astype(np.int32),
        count=dense[row, term].astype(np.float32),
    )  # fmt: skip


def _names(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the terms; raises TraceError for wrong ones."""
    again = [name for name, times in Counter(names).items() if times > 1]
    if again:
        raise TraceError(f"{path}: expected a name for one column only, found {again[0]} twice")
    terms = [name for name in names if name not in LABELS]
    if not 1 <= len(terms) <= MOST_TERMS:
        raise TraceError(f"{path}: expected 1 to {MOST_TERMS} terms, found {len(terms)}")
    if "" in (name.strip() for name in terms):
        raise TraceError(f"{path}: expected a name for each column, found a column without")
    return tuple(terms)


def _counts(path: Path, names: Sequence[str], numbers: Any, before: int = 0) -> Any:
    """Returns the counts of some columns as they are kept; raises TraceError if one is too large.

    before: the number of rows before these.
    """
    with np.errstate(over="ignore"):
        counts = numbers.astype(np.float32)
    if counts.size and not math.isfinite(float(counts.max()) - float(counts.min())):
        row, column = divmod(int(np.argmin(np.isfinite(counts))), len(names))
        values = numbers.reshape(-1, len(names))[row, column]
        raise TraceError(
            f"{path}, row {before + row + 1}, column {names[column]}: expected a number within"
            f" 3.4e38, found {values:g}"
        )
    return counts


# --- .csv ---------------------------------------------------------------------------------------


def _read_csv(path: Path) -> tuple[tuple[str, ...], Matrix, Labels]:
    with table_of(path) as (sign, file):
        if sign != ",":
            file = (line.replace(",", ".").replace(sign, ",") for line in file)
        header = [name.strip() for name in next(csv.reader([next(file, "")]), [])]
        header = [name.lower() if name.lower() in LABELS else name for name in header]
        if header and all(re.fullmatch(r"[-+.\d]+", name) for name in header):
            raise TraceError(f"{path}: expected the names of the columns first, found numbers")
        terms = _names(path, header)
        columns = {name: i for i, name in enumerate(header)}
        places = [columns[name] for name in terms]
        numbers: dict[str, int] = {}
        number: Callable[[str], int] = lambda text: numbers.setdefault(text.strip(), len(numbers))  # noqa: E731
        read = {columns["game"]: number} if "game" in columns else {}
        blocks, parts, rows = [], list[Matrix](), 0
        while lines := list(itertools.islice(file, ROWS)):
            block = _numbers(path, lines, header, read, rows)
            chosen = _counts(path, terms, block[:, places], before=rows)
            rows += len(block)
            if np.count_nonzero(chosen) < DENSE * chosen.size:
                parts.append(_sparse(chosen))
            else:
                parts.append(Matrix(len(places), chosen))
            blocks.append(block[:, [columns[name] for name in LABELS if name in columns]])
    if not blocks:
        raise TraceError(f"{path}: expected rows, found none")
    labels = np.concatenate(blocks)
    own = [name for name in LABELS if name in columns]
    return terms, _stacked(parts), {name: labels[:, i].copy() for i, name in enumerate(own)}


def _numbers(
    path: Path, lines: list[str], header: list[str], read: Any, before: int
) -> NDArray[np.float64]:
    """Returns the cells of some lines; raises TraceError that names the first wrong number."""
    try:
        block = np.loadtxt(
            lines, delimiter=",", ndmin=2, comments=None, converters=read or None, encoding=None,
            quotechar='"',
        )  # fmt: skip
        if block.shape[1] == len(header) and np.isfinite(block).all():
            return np.asarray(block, dtype=np.float64)
    except ValueError:
        pass
    for row, cells in enumerate(csv.reader(lines), before + 1):
        if len(cells) != len(header):
            raise TraceError(f"{path}, row {row}: expected {len(header)} cells, found {len(cells)}")
        for place, (name, cell) in enumerate(zip(header, cells, strict=True)):
            try:
                fine = place in read or math.isfinite(float(cell))
            except ValueError:
                fine = False
            if not fine:
                raise TraceError(
                    f"{path}, row {row}, column {name}: expected a finite number, found {cell!r}"
                )
    raise TraceError(
        f"{path}, row {before + 1}: expected numbers and commas, found {lines[0][:60]!r}"
    )


# --- .npz ---------------------------------------------------------------------------------------


def _read_npz(path: Path) -> tuple[tuple[str, ...], Matrix, Labels]:
    if path.is_file() and not zipfile.is_zipfile(path):
        raise TraceError(
            f"{path}: expected a whole .npz file, found one cut short or of other kind"
        )
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays: dict[str, Any] = dict(archive)
    except OSError:
        raise
    except Exception as error:  # zip and NumPy raise a dozen kinds for members that are damaged
        raise TraceError(
            f"{path}: expected a whole .npz file of numbers, found one that is damaged: {error}"
        ) from None
    other = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
    if other:
        raise TraceError(f"{path}: expected arrays alone, found the member {other[0]}")
    labels: Labels = {name: arrays.pop(name) for name in LABELS if name in arrays}
    if all(name in arrays for name in SPARSE):
        names, matrix = _sparse_terms(path, arrays, labels)
    else:
        names = _names(path, list(arrays))
        matrix = _dense_terms(path, names, arrays)
    for name, column in labels.items():
        if column.shape != (len(matrix),):
            raise TraceError(
                f"{path}, column {name}: expected {len(matrix)} rows, found shape {column.shape}"
            )
        if name != "game":
            labels[name] = _numeric(path, name, column)
    return names, matrix, labels


def _numeric(path: Path, name: str, column: Any) -> NDArray[np.float64]:
    if column.ndim != 1 or column.dtype.kind not in "biuf":
        raise TraceError(
            f"{path}, column {name}: expected one number a row, found {column.dtype} of shape"
            f" {column.shape}"
        )
    numbers: NDArray[np.float64] = column.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise TraceError(
            f"{path}, row {row + 1}, column {name}: expected a finite number, found {numbers[row]}"
        )
    return numbers


def _dense_terms(path: Path, names: Sequence[str], arrays: dict[str, Any]) -> Matrix:
    rows = len(np.atleast_1d(arrays[names[0]]))
    dense = np.empty((rows, len(names)), dtype=np.float32)
    for i, name in enumerate(names):
        column = _numeric(path, name, arrays.pop(name))
        if len(column) != rows:
            raise TraceError(f"{path}, column {name}: expected {rows} rows, found {len(column)}")
        dense[:, i] = _counts(path, [name], column)
    return Matrix(len(names), dense)


def _sparse_terms(
    path: Path, arrays: dict[str, Any], labels: Labels
) -> tuple[tuple[str, ...], Matrix]:
    other = [name for name in arrays if name not in SPARSE]
    if other:
        raise TraceError(f"{path}: expected {', '.join(SPARSE)} and labels, found {other[0]}")
    names = _names(path, [str(name) for name in arrays.pop("names").reshape(-1)])
    row, term, count = (arrays.pop(name) for name in SPARSE[1:])
    if not row.shape == term.shape == count.shape or row.ndim != 1:
        raise TraceError(
            f"{path}: expected a row, a term and a count for each entry, found {row.shape},"
            f" {term.shape} and {count.shape}"
        )
    if row.dtype.kind not in "iu" or term.dtype.kind not in "iu" or count.dtype.kind not in "biuf":
        raise TraceError(
            f"{path}: expected whole numbers in row and term, found {row.dtype}, {term.dtype}"
        )
    rows = len(np.atleast_1d(next(iter(labels.values()), 0)))
    for name, numbers, most in (("row", row, rows), ("term", term, len(names))):
        if len(numbers) and not (0 <= int(numbers.min()) and int(numbers.max()) < most):
            raise TraceError(
                f"{path}, array {name}: expected 0 to {most - 1}, found {numbers.min()} to"
                f" {numbers.max()}"
            )
    count = _counts(path, ["count"], count)
    if len(row) and (np.diff(row) < 0).any():
        order = np.argsort(row, kind="stable")
        row, term, count = row[order], term[order], count[order]
    start = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=rows), out=start[1:])
    return names, Matrix(len(names), start=start, term=term.astype(np.int32), count=count)
