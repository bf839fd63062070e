"""What is fitted to targets: weights, and networks in torch."""
