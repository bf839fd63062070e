"""The code that workers of a cluster run, and the way to its scheduler."""

from __future__ import annotations

import asyncio
import errno
import importlib
import logging
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from play.workers.bench import bench
from play.workers.sources import digest, marks
from play.workers.transport import do_packed

__all__ = ["check_worker", "connect", "do_part", "offer", "say"]

#: Errors of a machine: it is left out, and others do the work.
FULL = (errno.ENOSPC, errno.EDQUOT)


def do_part(mark: str, function: bytes, tasks: bytes) -> tuple[str, str, str, float, bytes]:
    """Do the tasks of a part.

    mark: the coordinator's `digest`; if this worker has another, nothing is done.

    Returns the worker, its digest, a fault of the machine or "", the seconds it took, and the
    packed list of (True, result) or, as the last, (False, exception).
    """
    began, address = time.perf_counter(), _worker().address
    if mark != digest():
        return address, digest(), "", 0.0, b""
    data, fault = do_packed(function, tasks)
    if isinstance(fault, MemoryError) or (isinstance(fault, OSError) and fault.errno in FULL):
        return address, mark, f"{type(fault).__name__}: {fault}", 0.0, b""
    return address, mark, "", time.perf_counter() - began, data


def check_worker(name: str, mark: str, expected: Mapping[str, str]) -> dict[str, Any]:
    """Let this worker offer the resource if its digest and values equal ours.

    Returns its `marks` if they differ, otherwise its bench and its numbers of threads and cores.
    """
    if digest() != mark:
        return {"marks": marks()}
    threads = int(_worker().state.nthreads)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    results = bench()
    if results == dict(expected):
        offer(name, min(threads, cores or 1))
    return {"bench": results, "threads": threads, "cores": cores or 1}


def offer(name: str, slots: int) -> None:
    """Let this worker offer a resource, from the moment at which its event loop is free."""
    worker = _worker()
    worker.loop.add_callback(partial(worker.set_resources, **{name: slots}))


def _worker() -> Any:
    return importlib.import_module("dask.distributed").get_worker()


def say(text: str) -> None:
    """Log a line for the user."""
    logging.getLogger("plysmith").warning(text)


def connect(address: str, patience: float) -> Any:
    """Returns a client of the scheduler at an address."""
    try:
        distributed = importlib.import_module("dask.distributed")
    except ImportError:
        raise ModuleNotFoundError(
            "backend: expected dask to be installed (pip install 'plysmith[dask]'), found it is not"
        ) from None
    # That a scheduler is gone is said by us in a line, and by Dask in a traceback for each try.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        # A client would wait for ever for an answer of another kind of server.
        with ThreadPoolExecutor(1) as thread:  # this thread may have an event loop already
            thread.submit(asyncio.run, _greet(address, patience)).result()
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except Exception as error:  # of many kinds if another kind of server answers
        raise ConnectionError(
            f"address: expected a dask scheduler, found none at {address} that answers within"
            f" {patience:g} s ({str(error) or type(error).__name__})"
        ) from None
    try:
        theirs = client.sync(client.scheduler.versions, callback_timeout=3 * patience)
        version = theirs["packages"]["distributed"]
        if version != distributed.__version__:
            raise ValueError(
                f"address: expected a scheduler of dask {distributed.__version__}, as here, found"
                f" {version} at {address}"
            )
    except BaseException as error:
        client.close(timeout=1)
        if isinstance(error, TimeoutError):
            raise ConnectionError(
                f"address: expected the dask scheduler at {address} to answer, found it silent for"
                f" {3 * patience:g} s"
            ) from None
        raise
    return client


async def _greet(address: str, patience: float) -> None:
    """Say hello to a scheduler; raises TimeoutError or another exception if it does not reply."""
    comm = importlib.import_module("distributed.comm")
    security = importlib.import_module("distributed.security").Security()
    options = security.get_connection_args("client")
    connection = await asyncio.wait_for(comm.connect(address, patience, **options), patience)
    await connection.close()
