"""Connections to the web server that send little or nothing, and keep nobody else out."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from play.web import connections, guard, server
from tests.web_server import HUMAN, running

#: Seconds for the head of a request in these tests, and for an answer on a busy machine.
SHORT, PATIENCE = 0.5, 60.0
#: Fewer than the ten seconds of a server that is not patched.
SOON = 9.5
Port = int


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """The port of a server that waits for heads and bodies for only half a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "HEAD_SECONDS", SHORT)
        patch.setattr(guard, "BODY_SECONDS", SHORT)
        with running(tmp_path_factory.mktemp("runs")) as base:
            yield int(base.rpartition(":")[2])


def connect(port: Port) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def head(port: Port, path: str = "/static/main.js", method: str = "GET", more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n".encode()


def answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """Returns the status and the body of one answer, and leaves the connection open."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(1 << 16)
        assert part, data
        data += part
    start, _, body = data.partition(b"\r\n\r\n")
    length = int(start.lower().split(b"content-length: ")[1].split()[0])
    while len(body) < length:
        body += connection.recv(1 << 16)
    return start.split()[1], body


def seconds_until_closed(connection: socket.socket, drip: bytes = b"") -> float:
    """Returns how long a server leaves a connection open to which `drip` is sent byte by byte."""
    began = time.monotonic()
    connection.settimeout(0.1)
    while time.monotonic() - began < PATIENCE:
        try:
            connection.sendall(drip[:1])
            drip = drip[1:]
            if not connection.recv(1 << 16):
                return time.monotonic() - began
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - began
    raise AssertionError("the connection stays open")


SECONDS = connections.HEAD_SECONDS, guard.BODY_SECONDS


def test_a_head_and_a_body_have_ten_seconds() -> None:
    assert SECONDS == (10, 10)


@pytest.mark.parametrize("served", [False, True], ids=["at first", "after an answer"])
@pytest.mark.parametrize("drip", [b"", b"x" * 1000], ids=["silent", "byte by byte"])
def test_a_head_that_never_ends_is_given_up(port: Port, served: bool, drip: bytes) -> None:
    with closing(connect(port)) as connection:
        if served:
            connection.sendall(head(port))
            assert answer(connection)[0] == b"200"
        connection.sendall(head(port)[:20] if drip else b"")
        assert SHORT / 2 < seconds_until_closed(connection, drip) < SOON


def test_a_body_that_never_ends_is_given_up(port: Port) -> None:
    more = "Content-Type: application/json\r\nContent-Length: 1000\r\n"
    with closing(connect(port)) as connection:
        connection.sendall(head(port, "/api/tables", "POST", more))
        assert SHORT / 2 < seconds_until_closed(connection, b" " * 900) < SOON


def test_a_body_after_the_answer_is_not_waited_for(port: Port) -> None:
    # refused for its type before the body is read
    with closing(connect(port)) as connection:
        connection.sendall(head(port, "/api/tables", "POST", "Content-Length: 1000\r\n"))
        assert answer(connection)[0] == b"415"
        assert seconds_until_closed(connection, b" " * 900) < SOON


def test_a_connection_serves_several_requests(port: Port) -> None:
    with closing(connect(port)) as connection:
        for _ in range(12):
            connection.sendall(head(port))
            assert answer(connection)[0] == b"200"
            time.sleep(0.1 * SHORT)  # together longer than one head may take
        connection.sendall(head(port) + head(port))  # the second waits for the first
        assert answer(connection)[0] == b"200"


@pytest.mark.parametrize("begun", [False, True], ids=["silent", "half a head"])
def test_idle_connections_keep_nobody_out(tmp_path: Path, begun: bool) -> None:
    with ExitStack() as stack:
        port = int(stack.enter_context(running(tmp_path)).rpartition(":")[2])
        idle = []
        for _ in range(connections.MOST_CONNECTIONS + 30):
            idle.append(stack.enter_context(closing(connect(port))))
            idle[-1].sendall(head(port)[:20] if begun else b"")
        own = stack.enter_context(closing(connect(port)))
        own.sendall(head(port))
        assert answer(own)[0] == b"200"


def test_streams_stay_open_and_leave_room(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "ALL_LISTENERS", 3)
    assert 2 * 100 <= connections.MOST_CONNECTIONS
    with ExitStack() as stack:

        def stream() -> socket.socket:
            text = json.dumps({"game": "nim", "seats": [HUMAN, HUMAN]}).encode()
            more = f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
            with closing(connect(port)) as own:
                own.sendall(head(port, "/api/tables", "POST", more) + text)
                status, body = answer(own)
            assert status == b"201", body
            events = head(port, f"/api/tables/{json.loads(body)['id']}/events")
            connection = stack.enter_context(closing(connect(port)))
            connection.sendall(events)
            return connection

        streams = [stream() for _ in range(3)]
        for open_stream in streams:
            assert b"200 OK" in open_stream.recv(1 << 16)
        assert answer(stream())[0] == b"429"
        time.sleep(2 * SHORT)
        for open_stream in streams:
            open_stream.settimeout(0.05)
            try:
                while open_stream.recv(1 << 16):
                    continue
                raise AssertionError("the stream was closed")
            except TimeoutError:
                pass


def test_a_request_that_waits_ends_with_the_server_and_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    began, forever = threading.Event(), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        began.set()
        await forever.wait()

    made = connections.server_of(guard.Guard(app, port=None))
    made.config.timeout_graceful_shutdown = 0
    logging.getLogger("uvicorn").addHandler(caplog.handler)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=made.run, kwargs={"sockets": [listener]})
        thread.start()
        with closing(connect(port)) as connection:
            connection.sendall(head(port))
            assert began.wait(PATIENCE)
            made.should_exit = True
            assert answer(connection)[0] == b"503"
        thread.join()
    assert not caplog.records
