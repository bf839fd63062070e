"""Extras of Connect Four for searches: techniques, n-tuples, openings."""

from __future__ import annotations

from games.connect_four import ConnectFour
from games.connect_four.encoding import LINES_AND_COLUMNS
from games.connect_four.probes import (
    forget,
    known_by_key,
    new_tables,
    probe_openings,
    probe_solver,
)
from games.extras import extend
from search.alphabeta.techniques import Selective
from search.evaluators.calibration import Calibration, Calibrations
from search.evaluators.tuples import Tuples
from search.lookups.database import Database, Databases

#: By `python -m learner calibrate connect_four hand --games 400 --nodes 2000 --plies 4`. The
#: results of `centre` against itself do not rise with its values.
HAND = Calibration((3.357,), (1.372,), {"nodes": 2000})

extend(
    ConnectFour,
    Selective("late_moves=1.2"),  # singular extensions lose here
    Calibrations({"hand": HAND}),
    Tuples({"lines": LINES_AND_COLUMNS}),
    Databases(
        {
            "openings": Database("openings", probe_openings, known_by_key),
            "solver": Database(
                "these openings, and short searches to the end",
                probe_solver,
                new_tables,
                forget=forget,
            ),
        }
    ),
)
