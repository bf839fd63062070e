"""Expectiminimax for games with dice: the same rooms as alpha-beta."""
