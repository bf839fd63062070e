"""Known values of positions: rote memory, databases, opening books."""
