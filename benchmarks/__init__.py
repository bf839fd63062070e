"""Measurements, each of which is a program, such as `python -m benchmarks.speed`."""
