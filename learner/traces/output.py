"""The files of a fit: a report, weights as text, C and Rust, and numbers in a source file."""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from learner.regression.validation import calibration_error, students_quantile
from learner.reports.plots import new_figure
from learner.traces.fitted import Fitted
from learner.traces.traces import TraceError
from programs.whole_files import write_atomically, write_figure

__all__ = ["header", "patched", "report", "rust", "spots", "write_all"]

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w.])")
MARKER = re.compile(r"fit:((?:[^\s*]|\*(?!/))+)")


def report(fitted: Fitted) -> str:
    """Returns the report of a fit for people."""
    judged, learned = fitted.judged, len(fitted.terms)
    lines = [
        f"{fitted.rows:,} rows of {fitted.games:,} games, {learned} terms; K {fitted.scale:.6g};"
        f" alpha {fitted.alpha:g}; {fitted.steps} steps"
    ]
    if not fitted.settled:
        lines.append("the weights were still moving after the last step")
    lines += [f"doubt: {doubt}" for doubt in fitted.doubts]
    lines += [
        f"mean loss of what was fitted: {fitted.loss:.6f}",
        f"on {judged.rows:,} rows of {judged.games:,} games that were not:"
        f" before {judged.before:.6f}, after {judged.after:.6f},"
        f" {judged.after - judged.before:+.6f}"
        f" [{judged.low:+.6f}, {judged.high:+.6f}]",
        f"calibration there: mean distance {calibration_error(fitted.bins):.4f}",
    ]
    quantile = students_quantile(fitted.games)
    width = max(4, *(len(term.name) for term in fitted.terms))
    lines.append("")
    lines.append(f"{'term':<{width}}  {'weight':>10}  {'95 %':>9}  {'worth':>8}  {'rows':>10}")
    for term in sorted(fitted.terms, key=lambda t: -t.worth if t.worth == t.worth else 1.0):
        half = "" if math.isnan(term.error) else f"± {quantile * term.error + term.pull:.4g}"
        worth = "" if math.isnan(term.worth) else f"{1000 * term.worth:.3f}"
        lines.append(
            f"{term.name:<{width}}  {term.weight:>10.5g}  {half:>9}  {worth:>8}  {term.rows:>10,}"
            + (f"  {term.note}" if term.note else "")
        )
    lines.append("")
    lines.append(
        "95 %: by games, with the penalty's pull. worth: growth of the mean loss without the"
        " term, in thousandths"
    )
    return "\n".join(lines)


def write_all(folder: Path, fitted: Fitted, integers: bool) -> None:
    """Write the report and the weights in all forms into a folder."""
    write_atomically(folder / "report.txt", report(fitted) + "\n")
    content = {name: value for name, value in asdict(fitted).items() if name != "terms"}
    terms = [
        {name: None if value != value else value for name, value in asdict(term).items()}
        for term in fitted.terms
    ]
    write_atomically(
        folder / "weights.json", json.dumps(content | {"terms": terms}, indent=1) + "\n"
    )
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["term", "weight", "error", "worth", "rows", "note"])
    for term in fitted.terms:
        rows.writerow([term.name, repr(term.weight), term.error, term.worth, term.rows, term.note])
    write_atomically(folder / "weights.csv", table.getvalue())
    write_atomically(folder / "weights.h", header(fitted, integers))
    write_atomically(folder / "weights.rs", rust(fitted, integers))
    _draw(folder / "calibration.png", fitted)


def _draw(path: Path, fitted: Fitted) -> None:
    """Plot results against predictions on the games that judge, with 95 % intervals."""
    figure, axes = new_figure(f"Calibration on {fitted.judged.games:,} games that were not fitted")
    at = [bin.predicted for bin in fitted.bins]
    observed = [bin.found for bin in fitted.bins]
    low = [bin.found - bin.found_low for bin in fitted.bins]
    high = [bin.found_high - bin.found for bin in fitted.bins]
    axes.plot([0, 1], [0, 1], color="black", linewidth=1, alpha=0.6, label="as predicted")
    axes.errorbar(
        at, observed, yerr=[low, high], fmt="o", capsize=3, label="found, with 95 % interval"
    )
    axes.set_xlabel("expectation predicted (0: lost, 1: won)")
    axes.set_ylabel("expectation found")
    axes.legend(loc="upper left")
    write_figure(path, figure)


def _entries(fitted: Fitted, integers: bool) -> dict[str, list[str]]:
    """Returns the numbers of each constant, by its identifier: of a term, a pair or a row of terms.

    Terms `NAME.0`, `NAME.1` and so on are one constant, and so are `NAME.mg` and `NAME.eg`.
    """
    numbers = {term.name: _number(term.weight, integers) for term in fitted.terms}
    made: dict[str, list[str]] = {}
    for name, number in numbers.items():
        if name.endswith(".eg") and name[:-3] + ".mg" in numbers:
            continue
        both = [number, numbers[name[:-3] + ".eg"]] if name.endswith(".mg") else [number]
        base = name.removesuffix(".mg")
        row = re.fullmatch(r"(.+)\.(\d+)", base)
        known = made.get(row[1], []) if row else []
        if row and len(known) == int(row[2]) * len(both):
            made[row[1]] = known + both
        else:
            made[base] = both
    entries: dict[str, list[str]] = {}
    for name, found in made.items():
        identifier = re.sub(r"\W", "_", name).upper()
        if identifier in entries:
            raise TraceError(f"{name}: expected names that differ as {identifier}, found two")
        entries[identifier] = found
    return entries


def _number(weight: float, integers: bool) -> str:
    return str(round(weight)) if integers else repr(float(f"{weight:.9g}"))


def header(fitted: Fitted, integers: bool) -> str:
    """Returns the weights as a header of C: a macro for each term, pair or row of terms."""
    lines = ["/* Weights of a fit. A pair is {middle game, end game}. */", "#ifndef FIT_WEIGHTS_H"]
    lines += ["#define FIT_WEIGHTS_H", f"#define FIT_SCALE {fitted.scale!r}"]
    for name, numbers in _entries(fitted, integers).items():
        value = f"({numbers[0]})" if len(numbers) == 1 else f"{{{', '.join(numbers)}}}"
        lines.append(f"#define FIT_{name} {value}")
    return "\n".join([*lines, "#endif", ""])


def rust(fitted: Fitted, integers: bool) -> str:
    """Returns the weights as constants of Rust."""
    kind, scale = "i32" if integers else "f64", repr(fitted.scale)
    lines = ["// Weights of a fit. A pair is [middle game, end game]."]
    for name, numbers in {"SCALE": [scale], **_entries(fitted, integers)}.items():
        form, value = f"[{kind}; {len(numbers)}]", f"[{', '.join(numbers)}]"
        if len(numbers) == 1:
            form, value = "f64" if name == "SCALE" else kind, numbers[0]
        lines.append(f"pub const FIT_{name}: {form} = {value};")
    return "\n".join([*lines, ""])


# --- numbers in a source file ---------------------------------------------------------------------


@dataclass(frozen=True)
class Spot:
    """A number in a source file: its term, its line, its place there, and its text."""

    term: str
    line: int
    start: int
    end: int
    text: str


def spots(path: Path, names: Sequence[str]) -> tuple[list[str], list[Spot]]:
    """Returns the lines of a source file, and the numbers in it that are weights of terms.

    A comment `fit:NAME` at the end of a line stands for the last number of that line, or the last
    two for a pair NAME.mg and NAME.eg. Alone on its line it opens a block, up to a line with
    `fit:end`, whose numbers are those of NAME, of its pair, or of all terms that fit NAME with a
    `*` for any text, in their order.

    Raises TraceError for a marker without a term, one found twice, a missing one, or another number
    of numbers than of weights, and OSError if the file cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except UnicodeDecodeError:
        raise TraceError(f"{path}: expected text in UTF-8, found other bytes") from None
    made, seen = list[Spot](), dict[str, int]()
    block: tuple[str, int] | None = None
    for place, line in enumerate(lines):
        marker = MARKER.search(line)
        if marker is None:
            continue
        name, where = marker[1], f"{path}, line {place + 1}"
        if name == "end":
            if block is None:
                raise TraceError(f"{where}: expected fit:NAME before fit:end, found none")
            made += _spots(lines, range(block[1], place), _terms(names, block[0], where), where)
            block = None
            continue
        if name in seen:
            raise TraceError(
                f"{where}: expected fit:{name} once, found it in line {seen[name]} too"
            )
        if block is not None:
            raise TraceError(f"{where}: expected fit:end after fit:{block[0]}, found fit:{name}")
        seen[name] = place + 1
        if re.search(r"\w", line[: marker.start()]) is None:
            block = name, place + 1
        else:
            own = _terms(names, name, where)
            made += _spots(lines, range(place, place + 1), own, where, before=marker.start())
    if block is not None:
        raise TraceError(
            f"{path}: expected fit:end after fit:{block[0]}, found the end of the file"
        )
    if not seen:
        raise TraceError(f"{path}: expected comments fit:NAME beside numbers, found none")
    return lines, made


def patched(path: Path, fitted: Fitted) -> tuple[str, str]:
    """Returns the text of a source file with new numbers, and the difference to the old one.

    A whole number stays one. Raises as `spots`.
    """
    weights = {term.name: term.weight for term in fitted.terms}
    old, made = spots(path, [*weights])
    lines = [*old]
    for spot in reversed(made):
        whole = re.fullmatch(r"[-+]?\d+", spot.text) is not None
        line, text = lines[spot.line], _number(weights[spot.term], whole)
        lines[spot.line] = line[: spot.start] + text + line[spot.end :]
    names = f"{path} (before)", f"{path} (after)"
    return "".join(lines), "".join(difflib.unified_diff(old, lines, *names, n=0))


def _terms(names: Sequence[str], name: str, where: str) -> list[str]:
    if "*" in name:
        chosen = [own for own in names if fnmatchcase(own, name)]
    elif name in names:
        chosen = [name]
    else:
        chosen = [part for part in (f"{name}.mg", f"{name}.eg") if part in names]
    if not chosen:
        raise TraceError(f"{where}: expected fit: and the name of a term, found {name}")
    return chosen


def _spots(
    lines: list[str], places: Sequence[int], terms: list[str], where: str,
    before: int | None = None,
) -> list[Spot]:  # fmt: skip
    """Returns the numbers of some lines, or the last ones before a place."""
    numbers = [(at, number) for at in places for number in NUMBER.finditer(lines[at][:before])]
    if before is not None:
        numbers = numbers[-len(terms) :]
    if len(numbers) != len(terms):
        raise TraceError(f"{where}: expected {len(terms)} numbers, found {len(numbers)}")
    return [
        Spot(term, at, *number.span(), number[0])
        for term, (at, number) in zip(terms, numbers, strict=True)
    ]
