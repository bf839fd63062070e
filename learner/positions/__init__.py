"""Stored positions: shards, filters, what the game says of many at once."""
