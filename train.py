"""Train an evaluator by self-play: `python train.py checkers`; see `learner.run.command_line`."""

from __future__ import annotations

import sys

from learner.run.command_line import main

if __name__ == "__main__":
    sys.exit(main())
