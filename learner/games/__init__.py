"""What learners want to know of the games of this repository, see `games.extras`."""
