"""Making evaluators out of games played."""
