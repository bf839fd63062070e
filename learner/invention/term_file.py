"""The file of invented terms: Python that a person can read, rename, edit and load again."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from games.contract import Game
from games.features.cell_terms import EMPTY, OFF
from learner.invention.term_search import Found

__all__ = ["INVENTED", "term_file"]

#: The name of the feature set in the file.
INVENTED = "invented"

HEAD = '''"""Terms of {title} that `plysmith learner invent` found.

Each counts squares as the side to move sees them, itself at the bottom; the feature set subtracts
the other side's own count. In the drawings a kind is its first letter, a capital for own pieces;
[ ] is the square that is counted, o an empty square, # no square at all, and . any square.
"""

from games import load
from games.features import FeatureSet
from games.kernels import kernel, popcount

_game = load({name!r})
_cells = _game.cells
'''


def term_file(
    game: Game, name: str, found: Sequence[Found], base: str = ""
) -> tuple[str, Mapping[str, float]]:
    """Returns the text of a file of terms, and their weights by the names that they have in it.

    name: the game's name as `games.load` takes it.
    found: the terms, in the order in which they were found.
    base: the feature set of the game that they join; "" for none.
    """
    cells = game.cells
    assert cells is not None
    taken = set(game.features[base].terms) if base else set()
    names: dict[str, Found] = {}
    for one in found:
        stem = own = one.term.name(cells)
        number = 2
        while own in taken or own in names:
            own, number = f"{stem}_{number}", number + 1
        names[own] = one
    atoms = {
        atom for one in found for atom in (one.term.anchor, *dict(one.term.conditions).values())
    }
    parts = [HEAD.format(title=game.title or game.name.replace("_", " "), name=name)]
    if EMPTY in atoms:
        atoms |= {prefix + kind for kind in cells.pieces() for prefix in ("", "their ")}
    for atom in sorted(atoms - {EMPTY, OFF}):
        side = "their" if atom.startswith("their ") else "own"
        kind = atom.removeprefix("their ")
        parts[0] += f"{_variable(atom)} = _cells.kinds[{kind!r}].{side}\n"
    if cells.side is not None:
        parts[0] += "_side = _cells.side\n"
    if EMPTY in atoms:
        pieces = [f"{_variable(p + k)}(position)" for k in cells.pieces() for p in ("", "their ")]
        parts.append(
            _kernel("_empty", ["The squares without a piece."], [
                f"return {hex(cells.mask(cells.bits))} & ~({' | '.join(pieces)})"
            ])
        )  # fmt: skip
    for own, one in names.items():
        words = one.term.text(cells)
        story = textwrap.wrap(f"{words[0].upper()}{words[1:]}.", 96)
        story += ["", f"Weight {one.weight:+.4g} {game.unit}.", ""]
        story += [f"    {line}" for line in one.term.drawing(cells)]
        parts.append(_kernel(own, story, one.term.source(cells)))
    terms = [f"    **_game.features[{base!r}].terms,"] if base else []
    terms += [f"    {own!r}: {own},".replace("'", '"') for own in names]
    title = f"{base}+{INVENTED}" if base else INVENTED
    parts.append(
        "\n".join(
            [f'FEATURES = FeatureSet("{title}", {{', *terms, "}, _cells.swap)  # fmt: skip", ""]
        )
    )
    return "\n\n".join(parts), {own: one.weight for own, one in names.items()}


def _variable(atom: str) -> str:
    return "_" + atom.replace(" ", "_")


def _kernel(name: str, story: Sequence[str], body: Sequence[str]) -> str:
    first, *rest = story
    doc = [f'    """{first}', *(f"    {line}".rstrip() for line in rest), '    """']
    if not rest:
        doc = [f'    """{first}"""']
    lines = ["@kernel", f"def {name}(position):", *doc, *(f"    {line}" for line in body), ""]
    return "\n".join(lines)
