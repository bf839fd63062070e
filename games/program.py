"""How a program of this package ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

__all__ = ["exit_status"]


def exit_status(name: str, run: Callable[[], int], *, stopped: str = "stopped") -> int:
    """Run a program; returns its exit status.

    A user's mistake, which raises an error that says what was expected and what was found, is one
    line on standard error, and 2. Ctrl-C is the line `stopped`, and 130. Whoever has read enough
    (`... | head`) ends the program in silence, and 0.
    """
    try:
        status = run()
        sys.stdout.flush()
    except BrokenPipeError:
        # the interpreter flushes once more when it ends, into a pipe that nobody reads
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(stopped, file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return status
