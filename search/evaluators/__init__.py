"""Evaluators of every kind, and the files that hold them."""
