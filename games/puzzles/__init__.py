"""Puzzles for one agent, each in one file; `games.problem` says what a problem supplies."""
