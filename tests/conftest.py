"""Settings that apply to all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import settings

# A shell that starts the tests in the background makes them ignore Ctrl-C, and so the programs that
# they start, to which some tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Libraries start no threads of their own, because several processes share the machine's cores.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
# What tests read on standard error does not depend on whether something was compiled before.
os.environ["PLYSMITH_QUIET"] = "1"

# An example may take long on a busy machine, and the first may compile.
settings.register_profile("tests", deadline=None, max_examples=40)
settings.register_profile("proofs", deadline=None, max_examples=2000)
settings.load_profile("tests")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Look for no garbage while tests are collected, which takes a quarter of the time for nothing.

    Later searches pass over the modules and tests of then.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def quick_runs() -> Iterator[None]:
    """Let runs in this process measure in threads, because each process takes two seconds to start.

    Their pictures take a third of their time; those of the first run of each learner are drawn, and
    others get copies. Runs of train.py as a separate program do all as they do for users.
    """
    if not {"learner", "train", "plysmith"} & set(sys.modules):
        yield
        return
    from learner import arena
    from learner.run.measured_run import MeasuredRun

    draw = MeasuredRun._plot
    drawn: dict[type, dict[str, bytes]] = {}

    def plot(run: Any, best: int) -> None:
        folder, kind = run.folder.path, type(run.learner)
        if kind not in drawn:
            draw(run, best)
            drawn[kind] = {path.name: path.read_bytes() for path in folder.glob("*.png")}
        for name, picture in drawn[kind].items():
            (folder / name).write_bytes(picture)

    def executor(workers: int, *context: Any, **options: Any) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(workers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena, "ProcessPoolExecutor", executor)
        patch.setattr(MeasuredRun, "_plot", plot)
        yield
