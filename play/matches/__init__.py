"""Matches: openings, dice, whole games, ladders and luck."""
