"""Known values of positions: rote memory and databases."""
