"""What holds for all tests."""

from __future__ import annotations

import signal

# A shell that starts the tests in the background has them ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)
