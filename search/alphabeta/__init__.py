"""Alpha-beta for games without dice: negamax, its root, its line, its techniques."""
