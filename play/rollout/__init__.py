"""Rollouts: positions of games with dice, played out many times."""
