"""Extras of nim for play: its levels and referee."""

from __future__ import annotations

from games.extras import extend
from games.nim import Nim
from games.truth import Exhaustive
from play.judging.truth import Referees
from play.players.levels import Levels

extend(Nim, Levels(("bouton@1,noise=3", "bouton@1,noise=1")), Referees({"truth": Exhaustive}))
