"""Training runs, as `train.py` starts them."""
