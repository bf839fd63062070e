"""What results say: error bars, sequential tests, joint ratings, points."""
