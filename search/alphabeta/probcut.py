"""`ProbCut`: predicts the values of deep searches from those of shallow ones.

Deep value = a * shallow value + b + e, where e is normally distributed with standard deviation
sigma (Buro 1995). If the shallow value lies so far beyond the window that the deep one probably
does too, the deep search is skipped. `learner.fit.probcut` fits the numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Game
from games.whole_files import write_atomically
from search.evaluators.header import EvaluatorError, check_fields, parse_json, short
from search.evaluators.samples import value_mark
from search.sizes import CHECKS, DEPTHS, PHASES

__all__ = ["Check", "ProbCut"]

FORMAT = "plysmith-probcut-1"
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Check:
    """A shallow search before a deep one, in one phase of the game.

    phase: number of the phase, 0 in a game without phases; phases from `search.sizes.PHASES` on
        count as the last below it.
    depth: plies of the deep search. Deeper searches than `search.sizes.DEPTHS` - 1 use the check of
        the greatest depth of the same parity, with as many plies less.
    shallow: plies of the shallow search.
    a, b: slope and intercept of the prediction, `b` in the evaluator's unit.
    sigma: standard deviation of its error, in the evaluator's unit.
    positions: number of positions of the fit.
    """

    phase: int
    depth: int
    shallow: int
    a: float
    b: float
    sigma: float
    positions: int = 0


@dataclass(frozen=True)
class ProbCut:
    """The checks of an evaluator, at most two for a depth, made in the order given.

    game: name of the game.
    evaluator: name of the evaluator that the checks were fitted to.
    mark: digest of the evaluator's values (`search.evaluators.samples.value_mark`).
    checks: the shallow searches.
    width: distance beyond the window, in sigma, from which a shallow value cuts.
    provenance: how the checks were fitted.
    file: path that the checks were read from; empty for none.

    Raises ValueError if a number is out of range.
    """

    game: str
    evaluator: str
    mark: str
    checks: tuple[Check, ...]
    width: float = 1.5
    provenance: Mapping[str, Any] = field(default_factory=dict, compare=False)
    file: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not 0.0 < self.width <= 10.0:
            raise ValueError(f"width: expected more than 0 and at most 10, found {self.width}")
        seen: dict[tuple[int, int], int] = {}
        for check in self.checks:
            good = (
                0 <= check.phase < PHASES
                and 2 <= check.depth < DEPTHS
                and 1 <= check.shallow < check.depth
                and all(map(math.isfinite, (check.a, check.b, check.sigma)))
                and check.a > 0.0
                and check.sigma >= 0.0
            )
            if not good:
                raise ValueError(
                    f"expected a check of a phase below {PHASES}, a depth of 2 to {DEPTHS - 1} by a"
                    f" shallower one, with a > 0 and sigma >= 0, found {check}"
                )
            place = check.phase, check.depth
            seen[place] = seen.get(place, 0) + 1
            if seen[place] > CHECKS:
                raise ValueError(f"expected at most {CHECKS} checks for a depth, found more")

    def __str__(self) -> str:
        """The width, and a digest of the checks."""
        checks = hashlib.sha256(repr(self.checks).encode()).hexdigest()[:8]
        return f"{self.width}sigma:{checks}"

    def for_line(self) -> dict[str, Any]:
        """Returns the width and the checks as fields of a search's record."""
        cuts = np.zeros((PHASES, DEPTHS, CHECKS, 4))
        for check in self.checks:
            row = cuts[check.phase, check.depth]
            row[int(np.argmin(row[:, 0] > 0))] = check.shallow, check.a, check.b, check.sigma
        return {"cut_width": self.width, "cuts": cuts}

    def check_evaluator(self, game: Game, evaluator: Any) -> None:
        """Raises ValueError if the game is another one or the evaluator has other values."""
        if game.name != self.game:
            raise ValueError(f"ProbCut: expected {self.game}, found {game.name}")
        mark = value_mark(game, evaluator)
        if mark != self.mark:
            raise ValueError(
                f"ProbCut{f' of {self.file}' if self.file else ''} was learned of"
                f" {self.evaluator}: expected an evaluator with its values (mark {self.mark}),"
                f" found {evaluator.name} (mark {mark}); learn it again with python -m learner"
                " probcut, take the file away, or search with -probcut"
            )

    def save(self, path: Any) -> None:
        """Write the checks as JSON, replacing the file atomically."""
        content = {
            "format": FORMAT,
            "game": self.game,
            "evaluator": self.evaluator,
            "mark": self.mark,
            "width": self.width,
            "columns": list(Check.__dataclass_fields__),
            "checks": [list(vars(check).values()) for check in self.checks],
            "provenance": dict(self.provenance),
        }
        write_atomically(path, json.dumps(content, indent=1) + "\n")

    @classmethod
    def load(cls, path: Any) -> ProbCut:
        """Returns the checks in a file.

        Raises FileNotFoundError if the file does not exist, EvaluatorError if it does not fit.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(
                f"{path}: expected a file that learner.fit.probcut wrote, found none"
            )
        if path.stat().st_size > MOST_BYTES:
            raise EvaluatorError(
                f"{path}: expected at most {MOST_BYTES} bytes, found a larger file"
            )
        content = parse_json(path, path.read_bytes())
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            found = content.get("format") if isinstance(content, dict) else content
            raise EvaluatorError(f"{path}: expected format {FORMAT!r}, found {short(found)!r}")
        kinds = {
            "game": str, "evaluator": str, "mark": str, "width": float, "columns": list,
            "checks": list, "provenance": dict,
        }  # fmt: skip
        check_fields(path, content, kinds)
        columns = list(Check.__dataclass_fields__)
        if content["columns"] != columns:
            raise EvaluatorError(f"{path}: expected columns {columns}, found {content['columns']}")
        try:
            checks = tuple(_check(row) for row in content["checks"])
            return cls(
                content["game"], content["evaluator"], content["mark"], checks, content["width"],
                content["provenance"], str(path),
            )  # fmt: skip
        except (TypeError, ValueError) as error:
            raise EvaluatorError(f"{path}: {error}") from None


def _check(row: Sequence[Any]) -> Check:
    kinds = (int, int, int, float, float, float, int)
    if not isinstance(row, list) or [type(x) for x in row] != list(kinds):
        raise ValueError(f"expected a check of {len(kinds)} numbers, found {short(row)}")
    return Check(*row)
