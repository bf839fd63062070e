"""Extras of nim for play: who knows exact values."""

from __future__ import annotations

from games.extras import extend
from games.nim import Nim
from games.truth import Exhaustive
from play.judging.truth import Referees

extend(Nim, Referees({"truth": Exhaustive}))
