"""Learning from preferred moves: books, signature tables."""
