"""Self-play in which Alpha learns and Beta is frozen: Samuel, least mean squares."""
