"""The extras of play for the built-in games, one module a game; see `games.extras`."""
