"""Reports on the results of learning: terms, calibration, what a term is worth, plots."""
