"""Connections to the web server: how long they may wait, and how many there are.

A connection that waits for a request costs nothing and may be closed at any time; browsers open
another. uvicorn closes those that are silent after a request, but neither those that never send
one nor those that send it byte by byte, and it counts them all against its limit of requests.
"""

from __future__ import annotations

import asyncio
import logging

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HEAD_SECONDS", "MOST_CONNECTIONS", "server_of"]

#: Seconds within which the head of a request has to arrive, from the beginning of the connection or
#: the end of the last answer.
HEAD_SECONDS = 10
#: Maximum connections at a time, fewer than the files that any system lets a process open.
MOST_CONNECTIONS = 200


class Connection(H11Protocol):
    """A connection that is closed if the head of its next request does not arrive in time.

    If there are too many connections, the one that has waited longest for a head is closed.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # The timer of uvicorn, which runs after each answer until the head of the next request.
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )
        self._make_room()

    def data_received(self, data: bytes) -> None:
        # as uvicorn does, but parts of a head leave the timer alone
        self.conn.receive_data(data)
        self.handle_events()

    def _make_room(self) -> None:
        """Close a waiting connection, which may be this one, if there are too many."""
        ours = [one for one in self.connections if isinstance(one, Connection)]
        here = [one for one in ours if not one.transport.is_closing()]
        if len(here) > MOST_CONNECTIONS:
            timers = {one: one.timeout_keep_alive_task for one in here}
            waiting = {one: timer.when() for one, timer in timers.items() if timer is not None}
            min(waiting, key=lambda one: waiting[one]).transport.abort()


def server_of(app: ASGIApp) -> uvicorn.Server:
    """Returns the server of an application, to be run with a socket that listens."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=HEAD_SECONDS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=32 << 10,
        http=Connection,
        ws="none",
        proxy_headers=False,
    )
    # Ctrl-C ends requests that still wait, of which nobody needs to read.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: "timeout graceful shutdown" not in record.getMessage()
    )
    return uvicorn.Server(config)
