"""The extras of learners for the built-in games, one module a game; see `games.extras`."""
