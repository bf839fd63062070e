"""Endings that a database knows, taught to a network: positions of played games, labels, fit."""
