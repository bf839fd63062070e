"""The extras of search for the built-in games, one module a game; see `games.extras`."""
