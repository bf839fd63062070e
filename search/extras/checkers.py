"""Extras of checkers for searches: units, calibrations, signature tables and databases."""

from __future__ import annotations

import functools
from typing import Any

from games.checkers import Checkers, signature
from games.checkers.endgame import results
from games.checkers.endgame.building import endgame
from games.checkers.endgame.database import AT_FIRST_USE, path_of
from games.checkers.endgame.numbering import MOST_PIECES
from games.checkers.endgame.retrograde import probe
from games.extras import extend
from search.evaluators.calibration import Calibration, Calibrations
from search.evaluators.linear import UnitTerms
from search.evaluators.signature_layout import SignatureLayout
from search.export.templates import LineProtocol
from search.lookups.database import Database, Databases

#: By `python -m learner calibrate checkers NAME --games 400 --nodes 2000`; one number a phase.
_PLAY = {"games": 400, "nodes": 2000}
CALIBRATIONS = Calibrations(
    {
        "material": Calibration((1.547, 2.892, 3.09), (0.6591, 1.551, 3.87), _PLAY),
        "classic": Calibration((0.6164, 0.6537, 0.6732), (0.5065, 0.8048, 1.733), _PLAY),
        "rote": Calibration((9562.0, 10160.0, 10510.0), (6985.0, 13310.0, 27710.0), _PLAY),
    }
)

LAYOUT = SignatureLayout(
    "checkers",
    signature.TERMS,
    signature.GROUPS,
    signature.THRESHOLDS,
    signature.SECOND,
    signature.MATERIAL,
    phases=signature.PHASES,
    phase=signature.phase,
)


def endgame_database(pieces: int = AT_FIRST_USE) -> Database:
    """Returns the database of at most `pieces` pieces, in the user's cache directory."""
    return Database(
        title=f"endgames of {pieces} pieces",
        probe=probe,
        tables=functools.partial(_tables, pieces),
        at_hand=functools.partial(_at_hand, pieces),
    )


def _tables(pieces: int) -> Any:
    return endgame(pieces).tables


def _at_hand(pieces: int) -> bool:
    return pieces <= AT_FIRST_USE or path_of(pieces).is_file()


#: `endgame`, and `endgame2` to `endgame6` for other numbers of pieces.
DATABASES = {
    "endgame": endgame_database(),
    **{f"endgame{pieces}": endgame_database(pieces) for pieces in range(2, MOST_PIECES + 1)},
    "results5": Database("results of endgames of 5 pieces", results.probe_results, results.tables),
}

extend(
    Checkers,
    UnitTerms({"classic": {"men": 1.0}, "samuel": {"PIECES": 4.0}}),
    CALIBRATIONS,
    LAYOUT,
    Databases(DATABASES, usual="results5", consulting=("quantised",)),
    LineProtocol("hub"),
)
