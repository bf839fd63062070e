"""Self-play in rounds; evaluators are fitted to stored positions."""
