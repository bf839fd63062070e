"""The exit status of the programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

__all__ = ["exit_status"]


def exit_status(name: str, run: Callable[[], int], *, stopped: str = "stopped") -> int:
    """Run a program; returns its exit status.

    name: the program as it was called; errors begin with it, without a leading "python -m".
    run: does the work and returns 0, or another status. An error that it raises because of bad
        input is printed as one line on standard error, and the status is 2.
    stopped: the line that is printed after Ctrl-C, when the status is 130.

    If the reader of the output goes away (`... | head`), the program ends in silence with 0.
    """
    try:
        status = run()
        sys.stdout.flush()
    except BrokenPipeError:
        # the interpreter flushes once more when it ends, into a pipe without a reader
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(stopped, file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(f"{name.removeprefix('python -m ')}: {error}", file=sys.stderr)
        return 2
    return status
