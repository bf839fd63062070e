"""Stored positions: shards, filters, and batch queries to a game's rules."""
