"""Inventing terms: the search among all that a board's geometry allows, and their file."""
