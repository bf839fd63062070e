"""Fitting: methods, targets, validation, selection of terms."""
