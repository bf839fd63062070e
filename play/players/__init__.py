"""Players: evaluators with limits, external engines, GNU Backgammon's networks."""
