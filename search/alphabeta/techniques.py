"""`Techniques`: what alpha-beta does beyond alpha-beta, each to be switched on or off."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from search.alphabeta.probcut import ProbCut
from search.sizes import DEPTHS

__all__ = [
    "EXACT_SEARCH",
    "SELECTIVE_SEARCH",
    "Techniques",
    "as_techniques",
    "parse_techniques",
    "probcut_file",
]

#: Moves of a position that are never searched less deep, the first of all.
FIRST_MOVES = 2
#: The least depth at which moves are searched less deep.
LEAST_REDUCED = 3
#: Plies by which internal iterative deepening searches less deep.
DEEPEN_LESS = 2
NEVER = 1 << 30


@dataclass(frozen=True)
class Techniques:
    """What alpha-beta search does beyond alpha-beta, for any game without dice.

    Exact techniques leave values those of plain minimax (of the same depth with `equal_depth`):

    null_window: ask of moves after the first only whether they are better (principal-variation
        search, Marsland and Campbell 1982).
    aspiration: begin an iteration in a window about the value of the last (Slate and Atkin 1977).
    deepening: least depth at which a search two plies less deep finds the move to try first, where
        the table has none (internal iterative deepening, Scott 1969); 0 for never.
    malus: take credit in the history table from moves tried in vain before a refutation.

    Inexact techniques see less here and more there at the same depth, except at the root, whose
    moves are all searched in full:

    late_moves: strength of late-move reductions (Romstad 2006 and others): quiet moves after the
        first two are searched by late_moves * log(depth) * log(number of the move) plies less deep,
        rounded down, one more ply where the window is wide, and again in full where they are
        better than expected; 0 for none.
    singular: least depth at which the table's move is searched a ply deeper if all others, searched
        half as deep, are worse by the margin below (singular extensions, Anantharaman, Campbell and
        Hsu 1988, in the form that tests the table's move alone); 0 for never.
    singular_margin: that margin for each ply of depth, in units of the usual size of the
        evaluator's values (`search.evaluators.samples.value_scale`).
    probcut: cut where a shallow search lies far enough beyond the window (ProbCut, Buro 1995;
        several depths: Multi-ProbCut, Buro 1997), by what `learner.fit.probcut` has fitted; None
        for never.
    beam: number of moves of a quiet position that are searched, by move-ordering score (beam
        search, Lowerre 1976); 0 for all. A win in n plies is then one against the replies searched.

    Raises ValueError for a number out of range.
    """

    null_window: bool = True
    aspiration: bool = True
    deepening: int = 0
    malus: bool = False
    late_moves: float = 0.0
    singular: int = 0
    singular_margin: float = 0.024
    probcut: ProbCut | None = None
    beam: int = 0

    def __post_init__(self) -> None:
        for name, least in (("deepening", 3), ("singular", 4), ("beam", 1)):
            number = getattr(self, name)
            if type(number) is not int:
                raise ValueError(f"{name}: expected a whole number, found {number!r}")
            if number != 0 and not least <= number < NEVER:
                raise ValueError(f"{name}: expected 0 or at least {least}, found {number}")
        if not 0.0 <= self.late_moves <= 4.0:
            raise ValueError(f"late_moves: expected 0 to 4, found {self.late_moves}")
        if not (math.isfinite(self.singular_margin) and self.singular_margin >= 0.0):
            raise ValueError(f"singular_margin: expected at least 0, found {self.singular_margin}")

    @property
    def exact(self) -> bool:
        """Whether values are those of plain minimax."""
        return not (self.late_moves or self.singular or self.probcut or self.beam)

    @property
    def proves(self) -> bool:
        """Whether a reported win or loss is proven within the stated number of plies.

        Repetition and other drawing rules are ignored.
        """
        # A move that is searched less deep, or that ProbCut cuts, has a value short of a loss: a
        # position is lost only when all of its moves are. A beam does not look at some of them.
        return not self.beam

    def __str__(self) -> str:
        """The text that `parse_techniques` reads, on top of those that are on by default.

        Of ProbCut it tells the width and the digest of its checks, not the file.
        """
        parts = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, bool):
                parts.append(field.name if value else f"-{field.name}")
            else:
                parts.append(f"{field.name}={value}")
        return ",".join(parts) or "exact"

    def for_line(self, scale: float = 1.0) -> dict[str, Any]:
        """The fields of a search's record that say the same; `scale` is that of the evaluator."""
        reductions = np.zeros((DEPTHS, DEPTHS), dtype=np.int64)
        for depth in range(LEAST_REDUCED, DEPTHS):
            for tried in range(FIRST_MOVES, DEPTHS):
                plies = int(self.late_moves * math.log(depth) * math.log(tried + 1))
                reductions[depth, tried] = min(plies, depth - 2)
        return {
            "null_window": int(self.null_window),
            "aspiration": int(self.aspiration),
            "selective": int(bool(not self.exact or self.deepening)),
            "deepen_from": self.deepening or NEVER,
            "deepen_less": DEEPEN_LESS,
            "singular_from": self.singular or NEVER,
            "singular_margin": self.singular_margin * scale,
            "beam": self.beam,
            "malus": int(self.malus),
            "reductions": reductions,
            **({"cut_width": 0.0} if self.probcut is None else self.probcut.for_line()),
        }


#: The default of `Engine`: every value is that of plain minimax.
EXACT_SEARCH = Techniques()
#: What gained strength in matches at 0.02 s a move (docs/results/search.md), for playing. With it,
#: `parse_techniques` adds ProbCut for evaluators that it was fitted to.
SELECTIVE_SEARCH = Techniques(late_moves=1.2, singular=6)
PRESETS = {"exact": EXACT_SEARCH, "selective": SELECTIVE_SEARCH}


def as_techniques(techniques: Techniques | str | None, evaluator: Any = None) -> Techniques:
    """Techniques as given, by their text, or for None those that change no value.

    Raises TypeError for anything else, and what `parse_techniques` raises.
    """
    if techniques is None:
        return EXACT_SEARCH
    if isinstance(techniques, str):
        return parse_techniques(techniques, evaluator)
    if not isinstance(techniques, Techniques):
        raise TypeError(f"techniques: expected Techniques or their text, found {techniques!r}")
    return techniques


def probcut_file(evaluator: Any) -> Path:
    """Where what ProbCut knows of an evaluator stands, beside its file."""
    return Path(evaluator).with_suffix(".probcut.json")


def parse_techniques(text: str, evaluator: Any = None) -> Techniques:
    """The techniques that a text names: `selective,-malus,late_moves=0.6`.

    `exact` and `selective` stand for sets, and come first; a name switches a technique on or, with
    a `-`, off; `name=number` says how. `probcut` is in the file beside that of the evaluator whose
    path is given, or `probcut=FILE`; `selective` has it where there is such a file. Raises
    ValueError, or FileNotFoundError for that file, with what was expected and found.
    """
    found = EXACT_SEARCH
    learned = False  # ProbCut, without being asked for
    usual = {"deepening": 5, "late_moves": 1.2, "singular": 6, "beam": 8}
    known: dict[str, Any] = {field.name: field.default for field in fields(Techniques)}
    for part in text.split(","):
        if part in PRESETS and found is EXACT_SEARCH:
            found = PRESETS[part]
            learned = part == "selective" and _learned(evaluator)
            continue
        name, equals, number = part.removeprefix("-").partition("=")
        switch = part.startswith("-") or isinstance(known.get(name), bool)
        if name not in known or (equals and switch):
            raise ValueError(
                f"expected techniques among {', '.join([*PRESETS, *known])} (the first"
                f" {len(PRESETS)} in front), found {part[:40]!r}"
            )
        default = known[name]
        learned = learned and name != "probcut"
        value: Any
        if part.startswith("-"):
            value = False if isinstance(default, bool) else default
        elif name == "probcut":
            if not equals and evaluator is None:
                raise ValueError("probcut: expected probcut=FILE, found no file")
            value = ProbCut.load(number if equals else probcut_file(evaluator))
        elif isinstance(default, bool) and not equals:
            value = True
        else:
            try:
                value = type(default)(number) if equals else usual[name]
            except (KeyError, ValueError):
                raise ValueError(f"{name}: expected {name}=NUMBER, found {part[:40]!r}") from None
        found = replace(found, **{name: value})
    return replace(found, probcut=ProbCut.load(probcut_file(evaluator))) if learned else found


def _learned(evaluator: Any) -> bool:
    """Whether the evaluator stands in a file, and beside it what ProbCut knows of it."""
    return evaluator is not None and Path(evaluator).is_file() and probcut_file(evaluator).is_file()
