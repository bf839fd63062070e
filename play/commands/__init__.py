"""The commands of `python -m play`, one file each."""
