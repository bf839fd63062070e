"""Tuning numbers of players by matches: `plysmith tune`."""
