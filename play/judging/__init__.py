"""Judgements without games: quality of moves, explanations, analyses."""
