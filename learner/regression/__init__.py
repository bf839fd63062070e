"""Regression: methods of fitting, targets, validation, calibration."""
