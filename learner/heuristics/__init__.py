"""Heuristics that the computer invents: learned from the solutions that it finds itself."""
