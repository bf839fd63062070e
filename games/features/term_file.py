"""The source of terms that are data: for a file that a person can edit, and for feature sets."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from games.features.cell_terms import OFF, CellTerm
from games.features.cells import EMPTY, THEIR, Cells
from games.features.feature_set import FeatureSet
from games.kernels import kernel, popcount, shift_left, shift_right, word
from games.kernels.compiler import GENERATED

__all__ = ["INVENTED", "feature_set_of", "named", "term_file"]

#: The name of the feature set.
INVENTED = "invented"

HEAD = '''"""Terms of {title} that `plysmith learner invent` found.

{counted}
"""

from games import load
from games.extras import extra
from games.features import Cells, FeatureSet
from games.kernels import {names}

_cells = extra(load({name!r}), Cells)
'''


#: The count and its drawing, for two sides and for one agent.
COUNTED = """\
Each counts squares as the side to move sees them, itself at the bottom; the feature set subtracts
the other side's own count. In the drawings a kind is its first letter, a capital for own pieces;
[ ] is the square that is counted, o an empty square, # no square at all, and . any square."""
ALONE = """\
Each counts squares; the feature set subtracts the count at the goal. In the drawings a kind is the
first letter of its last word; [ ] is the square that is counted, # no square at all, and . any."""


def named(cells: Cells, terms: Iterable[CellTerm]) -> dict[str, CellTerm]:
    """Returns the terms by names made from their words; equal words are numbered."""
    names: dict[str, CellTerm] = {}
    for term in terms:
        stem = own = term.name(cells)
        number = 2
        while own in names:
            own, number = f"{stem}_{number}", number + 1
        names[own] = term
    return names


def term_file(
    game: Any, cells: Cells, name: str, weights: Mapping[str, float], features: FeatureSet
) -> str:
    """Returns the text of a file of the cell terms of a set that `feature_set_of` made.

    cells: the cells that it was made for.
    name: the game's name as `games.load` takes it.
    weights: of the terms by their names.
    """
    title = game.title or game.name.replace("_", " ")
    unit = "moves" if cells.alone else game.unit
    notes = {own: f"Weight {weight:+.4g} {unit}." for own, weight in weights.items()}
    terms = "".join(f'    "{own}": {own},\n' for own in features.cell_terms)
    return (
        HEAD.format(
            title=title,
            name=name,
            counted=ALONE if cells.alone else COUNTED,
            names="kernel, popcount" + ", shift_left, shift_right" * (cells.width > 63),
        )
        + _source(cells, features.cell_terms, notes)
        + f'\n\nFEATURES = FeatureSet(\n    "{INVENTED}",\n    {{\n'
        + textwrap.indent(terms, "    ")
        + "    },\n    _cells.swap,\n    together=True,\n)\n"
    )


def feature_set_of(
    cells: Cells, terms: Mapping[str, CellTerm], base: FeatureSet | None = None
) -> FeatureSet:
    """Returns the feature set of terms; it holds them as data, and files of weights keep them.

    base: a set whose terms come first and whose name is kept, such as terms written by hand.

    Raises ValueError if the terms of `base` are not differences between the same sides, or share a
    name with another term.
    """
    if base is not None and (not base.differences or base.swap is not cells.swap):
        raise ValueError(f"expected a set of differences as those of the cells, found {base.name}")
    before = dict(base.terms) if base else {}
    if not before.keys().isdisjoint(terms):
        raise ValueError(f"expected other names than those of {sorted(before)}, found {[*terms]}")
    scope: dict[str, Any] = {
        "__name__": GENERATED, "__text__": _source(cells, terms, {}), "_cells": cells,
        "kernel": kernel, "popcount": popcount, "shift_left": shift_left,
        "shift_right": shift_right,
    }  # fmt: skip
    exec(compile(scope["__text__"], GENERATED, "exec"), scope)
    kernels = {**before, **{own: scope[own] for own in terms}}
    name = base.name if base else INVENTED
    return FeatureSet(name, kernels, cells.swap, together=True, cell_terms=terms)


def _source(cells: Cells, terms: Mapping[str, CellTerm], notes: Mapping[str, str]) -> str:
    """Returns the text of the kernels of terms, over `_cells`."""
    used = {term.anchor for term in terms.values()}
    used |= {atom for term in terms.values() for _, atom in term.conditions}
    pieces = [prefix + kind for kind in cells.pieces() for prefix in ("", THEIR)]
    read = used | set(pieces) if EMPTY in used else used
    lines = [
        f"_{atom.replace(' ', '_')} = _cells.kinds[{atom.removeprefix(THEIR)!r}]"
        f".{'their' if atom.startswith(THEIR) else 'own'}\n"
        for atom in sorted(read - {EMPTY, OFF})
    ]
    if EMPTY in used:
        taken = " | ".join(f"_{piece.replace(' ', '_')}(position)" for piece in pieces)
        lines.append(
            f'\n\n@kernel\ndef _empty(position):\n    """The squares without a piece."""\n'
            f"    return {hex(word(cells.mask(cells.bits)))} & ~({taken})\n"
        )
    for own, term in terms.items():
        words = term.text(cells)
        story = textwrap.wrap(f"{words[0].upper()}{words[1:]}.", 96)
        story += ["", *([notes[own], ""] if own in notes else [])]
        story += [f"    {line}" for line in term.drawing(cells)]
        doc = textwrap.indent("\n".join(story), "    ").lstrip()
        lines.append(
            f'\n\n@kernel\ndef {own}(position):\n    """{doc}\n    """\n    {term.source(cells)}\n'
        )
    return "".join(lines)
