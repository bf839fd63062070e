"""The guard before every request: origin and size; and the headers of every answer.

Every page that the browser has open can reach a server on 127.0.0.1. So a request must name this
server as its Host, because otherwise any name that points to 127.0.0.1 would be accepted (DNS
rebinding). Requests from other origins are refused, whether or not they could read the answer.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["FILE_BYTES", "HEADERS", "Guard"]

#: Headers of every answer: nothing is loaded from elsewhere or framed, and only our files run.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
NAMES = ("127.0.0.1", "localhost", "[::1]")
METHODS = ("GET", "HEAD", "POST", "DELETE")
LONGEST_PATH = 1000
#: Largest body in bytes of a request, and of a request that brings a game; seconds for a body to
#: arrive.
BODY_BYTES, FILE_BYTES, BODY_SECONDS = 16 << 10, 1 << 20, 10.0
_HOST = re.compile(r"(\[::1\]|[A-Za-z0-9.-]{1,100})(?::([0-9]{1,5}))?")
_LOAD = re.compile(r"/api/tables(?:/[^/]+/load)?")


class Refused(Exception):
    """A refused request, with the status of the answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """An ASGI application that passes permitted requests on to another.

    app: the application behind the guard.
    port: the port that browsers must name as Host; None to accept any, as in tests.
    """

    def __init__(self, app: ASGIApp, *, port: int | None) -> None:
        self.app = app
        self.port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket, which our pages do not use
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                added = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
                names = {name for name, _ in message["headers"]}
                if b"cache-control" not in names:
                    added.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *added]
            await send(message)

        try:
            self._check(scope)
            body = await self._body(scope, receive)
            await self.app(scope, _replay(body, receive), sending)
        except Refused as refusal:
            if started:
                raise
            await _answer(refusal, sending)
        except asyncio.CancelledError:  # the server ends, while something is compiled for example
            if started:
                raise
            await _answer(Refused(503, "the server has ended"), sending)

    def _check(self, scope: Scope) -> None:
        headers = _headers(scope)
        if scope["method"] not in METHODS:
            raise Refused(405, f"expected {', '.join(METHODS)}, found {scope['method'][:20]!r}")
        if len(scope["path"]) > LONGEST_PATH or len(scope.get("query_string", b"")) > LONGEST_PATH:
            raise Refused(414, f"expected an address of at most {LONGEST_PATH} characters")
        host = headers.get("host", "")
        if not self._is_own(host):
            raise Refused(403, f"expected Host 127.0.0.1 or localhost, found {host[:60]!r}")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            raise Refused(403, f"expected requests of this page only, found origin {origin[:60]!r}")
        site = headers.get("sec-fetch-site", "none")
        # Any page may link to this one, but only this one may request the rest.
        follows = scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"
        if site not in ("same-origin", "none") and not follows:
            raise Refused(403, f"expected requests of this page only, found one {site[:20]!r}")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind != "application/json":
            # Forms of other pages can send other types without a preflight request.
            raise Refused(415, f"expected application/json, found {kind[:40]!r}")

    def _is_own(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None or match[1].lower() not in NAMES:
            return False
        return self.port is None or int(match[2] or 80) == self.port

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body. Raises Refused if it is too large or does not arrive in time."""
        limit = FILE_BYTES if _LOAD.fullmatch(scope["path"]) else BODY_BYTES
        length = _headers(scope).get("content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > limit:
            raise Refused(413, f"expected at most {limit} bytes")
        parts, size = [], 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "expected a whole request, but it broke off")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit:
                        raise Refused(413, f"expected at most {limit} bytes")
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise Refused(408, f"expected a whole request within {BODY_SECONDS:g} s") from None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` for the application: first the whole body, then the messages after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _headers(scope: Scope) -> dict[str, str]:
    """Headers by lower-case name; different values of a repeated header are joined by commas."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = (
            f"{headers[key]}, {text}" if key in headers and headers[key] != text else text
        )
    return headers


async def _answer(refusal: Refused, send: Any) -> None:
    content = json.dumps({"error": str(refusal)}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    headers.append((b"content-length", str(len(content)).encode()))
    start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": content})
