"""What is known of positions beforehand: rote memory, databases, opening books."""
