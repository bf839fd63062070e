"""Inventing terms: a search of the terms that a game's cells allow for those that explain values."""
