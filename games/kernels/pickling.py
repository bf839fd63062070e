"""Lets compiled kernels be copied and sent to other processes: `pickle`, `copy`, joblib.

Numba's own pickling would lose the fingerprint. A kernel of a module is pickled by its name, as a
function is; any other (typed in, of the main program, of a file that was loaded by its path) is
pickled by value. Nothing here reads or writes a file.
"""

from __future__ import annotations

import copyreg
import operator
import sys
from typing import Any

import cloudpickle
from numba.core.registry import CPUDispatcher

from games.kernels import compiler
from games.kernels.compiler import GENERATED, is_kernel, kernel_again, kernel_parts

__all__: list[str] = []


def _reduced(dispatcher: Any) -> Any:
    """Returns the reduced form of a compiled function, for pickle."""
    if not is_kernel(dispatcher):
        return dispatcher.__reduce__()
    if _has_a_name(dispatcher):
        return dispatcher.__qualname__
    data = cloudpickle.dumps(kernel_parts(dispatcher))
    return _kernel_of, (dispatcher.fingerprint, data)


def _has_a_name(kernel: Any) -> bool:
    """Returns whether another process can import the kernel by its name."""
    if kernel.__module__ in ("__main__", "__mp_main__", GENERATED):
        return False
    try:
        named = operator.attrgetter(kernel.__qualname__)(sys.modules.get(kernel.__module__))
    except AttributeError:
        return False
    return named is kernel


def _kernel_of(mark: str, data: bytes) -> Any:
    """Returns the kernel with fingerprint `mark`: this process's own, or one made from `data`."""
    known = compiler._known.get(mark)
    return kernel_again(mark, *cloudpickle.loads(data)) if known is None else known


copyreg.pickle(CPUDispatcher, _reduced)
