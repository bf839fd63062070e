"""Weights for anybody's engine, fitted to traces: rows of terms with the result of their game."""
