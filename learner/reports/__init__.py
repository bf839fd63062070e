"""Reports on what was learned: terms, calibration, worth, plots."""
