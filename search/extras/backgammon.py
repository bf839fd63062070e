"""Extras of backgammon for searches: calibrations and bear-off databases."""

from __future__ import annotations

from typing import Any

from games.backgammon import Backgammon, bear_off, bear_off_tables
from games.extras import extend
from search.evaluators.calibration import Calibration, Calibrations
from search.lookups.database import Database, Databases

#: By `python -m learner calibrate backgammon NAME --games 1000` (pips: 100, which are
#: long); one number a phase. Nothing is drawn.
CALIBRATIONS = Calibrations(
    {
        "hand": Calibration((0.866, 0.6944, 0.3142), (0.0, 0.0, 0.0), {"depth": 1}),
        "pips": Calibration((0.6274, 0.4515, 0.01984), (0.0, 0.0, 0.0), {"depth": 1}),
    }
)


def _tables() -> Any:
    return bear_off_tables.bear_off().tables


BEAR_OFF = Database("bear-off databases", bear_off.probe, _tables, bear_off.outcomes)

extend(Backgammon, CALIBRATIONS, Databases({"bearoff": BEAR_OFF}, usual="bearoff"))
