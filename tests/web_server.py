"""A server of play.web for tests: in a thread of this process, on a port of its own."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CLASSIC = {"kind": "evaluator", "evaluator": "checkers:classic", "seconds": 5, "depth": 2}
HAND = {"kind": "evaluator", "evaluator": "backgammon:hand", "seconds": 5, "depth": 0}
HUMAN = {"kind": "human"}
RANDOM = {"kind": "random"}


@contextlib.contextmanager
def running(runs: Path, *, port: int = 0, **options: Any) -> Iterator[str]:
    """Yields the address of a server that runs during the block; takes create_app's options."""
    from play.web.connections import server_of
    from play.web.server import create_app

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    port = listener.getsockname()[1]
    app = create_app(data=ROOT / "data", runs=runs, port=port, **options)
    server = server_of(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 120
        while not server.started:
            assert thread.is_alive() and time.monotonic() < until, "the server did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
