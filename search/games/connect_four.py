"""What search wants to know of Connect Four: techniques, a calibration and n-tuples."""

from __future__ import annotations

from games.connect_four import ConnectFour
from games.connect_four.encoding import LINES_AND_COLUMNS
from games.extras import extend
from search.alphabeta.techniques import Selective
from search.evaluators.calibration import Calibration, Calibrations
from search.evaluators.tuples import Tuples

#: By `python -m learner calibrate connect_four hand --games 400 --nodes 2000 --plies 4`. The
#: results of `centre` against itself do not rise with its values.
HAND = Calibration((3.357,), (1.372,), {"nodes": 2000})

extend(
    ConnectFour,
    Selective("late_moves=1.2"),  # singular extensions lose here
    Calibrations({"hand": HAND}),
    Tuples({"lines": LINES_AND_COLUMNS}),
)
