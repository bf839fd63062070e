"""Heuristics that the computer learns from the solutions that it finds itself."""
