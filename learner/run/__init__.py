"""Training runs, as `train.py` drives them."""
