"""What search wants to know of the games of this repository: a module each, see `games.extras`."""
