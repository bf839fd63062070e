"""Statistics of results: error bars, sequential tests, joint ratings, points."""
