"""Models that are fitted to targets: weights, and networks in torch."""
