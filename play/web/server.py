"""The web server: its routes, the files of the page, and starting it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import reprlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from games.contract import Game
from games.kernels import hurry
from play.players.levels import usual_level
from play.ports import named_port
from play.web import inspection
from play.web.catalogue import LEVEL, PROGRAM, Catalogue, game_view
from play.web.cube_decisions import cube_hint
from play.web.cube_table import act_with_cube
from play.web.files import EVALUATOR, LOOKUP
from play.web.game_files import read_file, write_file
from play.web.guard import FILE_BYTES, Guard
from play.web.host import Host, NoTable, Sitting, TooMany
from play.web.limits import ServerLimits
from play.web.puzzles import Puzzles
from play.web.rollouts import roll_out
from play.web.runs import Runs
from play.web.seat import DEEPEST, MOST_SECONDS
from programs.outside import added, additions
from programs.waiting import compiling_text

__all__ = ["create_app", "serve"]

STATIC = Path(__file__).resolve().parent / "static"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Seconds between comments in a stream, which distinguish a quiet connection from a broken one.
HEARTBEAT = 10.0
LISTENERS, ALL_LISTENERS = 8, 100  # most listeners at one table, and at all tables

Act = Callable[[Host, Sitting, dict[str, Any]], Awaitable[dict[str, Any] | None]]


def create_app(
    *,
    data: Path,
    runs: Path,
    port: int | None = None,
    kept: Path | None = None,
    limits: ServerLimits | None = None,
    seed: Callable[[], int] | None = None,
    own: Sequence[Game] = (),
) -> ASGIApp:
    """The web application, which reads nothing outside `data`, `runs` and `kept`.

    data: folder of the shipped evaluators.
    runs: folder of the runs of training.
    port: the port that browsers must name as Host; None accepts any.
    kept: folder in which games are kept, the only one that is written to; None to keep none.
    limits: the limits of the server. Default: the usual ones.
    seed: called for the seed of each new table; None for random seeds.
    own: games of the user, beside those of Plysmith or instead of one. No request and no file can
        add another.
    """
    limits = limits or ServerLimits()
    catalogue = Catalogue(data, runs, own)
    host = Host(catalogue, limits=limits, kept=kept, seed=seed)
    folders = {"run": runs.resolve(), "shipped": data.resolve()}
    pages = Pages(host, Runs(folders))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(host.sweep(every=min(5.0, limits.idle / 2)))
        yield
        sweeping.cancel()
        host.close()

    app = Starlette(routes=pages.routes(), lifespan=lifespan)
    for error in (ValueError, LookupError, TypeError, RuntimeError, Exception):
        app.add_exception_handler(error, _refusal)
    app.state.host = host
    return Guard(app, port=port)


async def _refusal(request: Request, error: Exception) -> Response:
    """The answer to a refused request: what was expected, and what was found."""
    status = 400
    if isinstance(error, NoTable):
        status = 404
    elif isinstance(error, TooMany):
        status = 429
    elif isinstance(error, Stale):
        status = 409
    elif not isinstance(error, ValueError | TypeError | ArithmeticError):
        return JSONResponse({"error": "the server failed at this"}, 500)
    return JSONResponse({"error": str(error)[:1000]}, status)


class Stale(ValueError):
    """Raised for a request that was meant for an earlier state of the table."""


class Pages:
    """The answers of the server to each address."""

    def __init__(self, host: Host, runs: Runs) -> None:
        self.host = host
        self.runs = runs
        self.puzzles = Puzzles(host.catalogue, host.thinking)
        self.files = {path.name: _file(path) for path in sorted(STATIC.iterdir()) if path.is_file()}
        #: the pages of other packages, each a module of JavaScript
        self.others = additions("pages")
        for name, entry in self.others.items():
            self.files[f"page-{name}.js"] = _file(Path(added(entry)))

    def routes(self) -> list[Route]:
        """Returns all addresses."""
        table = "/api/tables/{id}"
        return [
            Route("/", self.page),
            Route("/static/{name}", self.static),
            Route("/api/catalogue", self.catalogue),
            Route("/api/compiling", self.compiling),
            Route("/api/runs", self.list_runs),
            Route("/api/run", self.run),
            Route("/api/games", self.games),
            Route("/api/puzzles", self.list_puzzles),
            Route("/api/puzzles/{name}/{action}", self.puzzle, methods=["POST"]),
            Route("/api/tables", self.open, methods=["POST"]),
            Route(table, self.view, methods=["GET"]),
            Route(table, self.end, methods=["DELETE"]),
            Route(f"{table}/events", self.events),
            Route(f"{table}/board", self.board),
            Route(f"{table}/save", self.save),
            Route(f"{table}/{{action}}", self.act, methods=["POST"]),
        ]

    # --- files -------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """The page."""
        return self._send(request, "index.html")

    async def static(self, request: Request) -> Response:
        """A file of the page, if it existed when the server started."""
        return self._send(request, request.path_params["name"])

    def _send(self, request: Request, name: str) -> Response:
        found = self.files.get(name)
        if found is None:
            return JSONResponse({"error": "expected a file of the page, found none"}, 404)
        content, kind, tag = found
        headers = {"etag": tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    # --- lists -------------------------------------------------------------------------------

    async def catalogue(self, request: Request) -> Response:
        """The games, the evaluators and the limits."""
        catalogue = self.host.catalogue
        entries = await self.host.thinking.work(catalogue.entries)
        content = {
            "pages": list(self.others),
            "games": [game_view(game) for game in catalogue.games.values()],
            **{
                f"{role}s": [entry.view() for entry in entries.values() if entry.role == role]
                for role in (EVALUATOR, LOOKUP, PROGRAM, LEVEL)
            },
            "opponents": {
                name: f"{LEVEL}:{name}/{level}"
                for name, game in catalogue.games.items()
                if (level := usual_level(game))
            },
            "defaults": {name: catalogue.default(game) for name, game in catalogue.games.items()},
            "limits": {"seconds": MOST_SECONDS, "depth": DEEPEST, "file": FILE_BYTES},
        }
        return JSONResponse(content)

    async def compiling(self, request: Request) -> Response:
        """A text that something is compiled for the first time, or an empty one."""
        return JSONResponse({"text": compiling_text()})

    async def list_runs(self, request: Request) -> Response:
        """The runs on disk."""
        return JSONResponse({"runs": await self.host.thinking.work(self.runs.list)})

    async def run(self, request: Request) -> Response:
        """A run; with `stamp`, only if it has changed since."""
        id, stamp = request.query_params.get("id"), request.query_params.get("stamp")

        def read() -> dict[str, Any]:
            if stamp and stamp == self.runs.stamp(id):
                return {"unchanged": True}
            return self.runs.read(id)

        return JSONResponse(await self.host.thinking.work(read))

    async def games(self, request: Request) -> Response:
        """The games that are kept on disk."""
        return JSONResponse({"games": await self.host.thinking.work(self.host.games)})

    # --- puzzles -----------------------------------------------------------------------------

    async def list_puzzles(self, request: Request) -> Response:
        """The puzzles."""
        return JSONResponse({"puzzles": await self.host.thinking.work(self.puzzles.list)})

    async def puzzle(self, request: Request) -> Response:
        """A position of a puzzle, why a heuristic values it so, or the lines of a search."""
        name, action = request.path_params["name"], request.path_params["action"]
        content = await _content(request)
        if action == "solve":
            lines = await self.puzzles.solve(name, content)
            headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
            return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)
        ask = {"look": self.puzzles.look, "why": self.puzzles.why}.get(action)
        if ask is None:
            return JSONResponse(
                {"error": f"expected look, why or solve, found {action[:20]!r}"}, 404
            )
        return JSONResponse(await ask(name, content))

    # --- tables ------------------------------------------------------------------------------

    async def open(self, request: Request) -> Response:
        """A new table, at an address of its own."""
        sitting = await self.host.open({**await _content(request), "id": None})
        return JSONResponse(sitting.table.view(), 201)

    async def _find(self, request: Request) -> Sitting:
        return await self.host.reach(request.path_params["id"])

    async def view(self, request: Request) -> Response:
        """A table in its present state."""
        return JSONResponse((await self._find(request)).table.view())

    async def end(self, request: Request) -> Response:
        """Close a table, and keep its game no longer."""
        self.host.remove(await self._find(request))
        return JSONResponse({})

    async def board(self, request: Request) -> Response:
        """The board after the first `ply` moves."""
        table = (await self._find(request)).table
        text = request.query_params.get("ply", "")
        if not text.isdecimal() or len(text) > 9 or int(text) > table.record.ply:
            raise ValueError(f"ply: expected 0 to {table.record.ply}, found {text[:40]!r}")
        ply = int(text)
        position = table.game.position_text(table.record.positions[ply])
        return JSONResponse({"ply": ply, "board": table.board(ply), "position": position})

    async def save(self, request: Request) -> Response:
        """The game as a file."""
        table = (await self._find(request)).table
        names = await self.host.thinking.work(lambda: self.host.names(table))
        name, content = write_file(table.records, names)
        return JSONResponse({"name": name, "text": content})

    async def events(self, request: Request) -> Response:
        """News of a table as server-sent events: view, thought, analysis, problem, ended."""
        sitting = await self._find(request)
        if len(sitting.listeners) >= LISTENERS:
            raise TooMany(f"expected at most {LISTENERS} listeners at a table")
        if sum(len(one.listeners) for one in self.host.sittings.values()) >= ALL_LISTENERS:
            raise TooMany(f"expected at most {ALL_LISTENERS} listeners at all tables")
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(_stream(sitting), media_type="text/event-stream", headers=headers)

    async def act(self, request: Request) -> Response:
        """Carry out an action at a table; the answer is its result or the new state."""
        sitting = await self._find(request)
        name = request.path_params["action"]
        action = ACTIONS.get(name)
        if action is None:
            known = ", ".join(ACTIONS)
            return JSONResponse({"error": f"expected one of {known}, found {name[:20]!r}"}, 404)
        content = await _content(request)
        version = content.get("version")
        if version is not None and version != sitting.table.version:
            raise Stale("the table has changed in the meantime: look again")
        answer = await action(self.host, sitting, content)
        return JSONResponse(sitting.table.view() if answer is None else answer)


async def _content(request: Request) -> dict[str, Any]:
    try:
        content = json.loads(body := await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise ValueError(f"expected JSON, found {reprlib.repr(body)[1:]}") from None
    if not isinstance(content, dict):
        raise ValueError(f"expected a JSON object, found {reprlib.repr(content)}")
    return content


async def _stream(sitting: Sitting) -> AsyncIterator[str]:
    """The present state of a table, then the latest news of each kind."""
    news = asyncio.Event()
    sitting.listeners.add(news)
    seen: dict[str, int] = {}
    try:
        yield "retry: 1000\n\n"
        yield _event("view", sitting.table.view())
        # Results from before the page connected, or connected again, are still useful.
        found = ("thought", "analysis")
        seen = {kind: count for kind, (count, _) in sitting.news.items() if kind not in found}
        while True:
            for kind in ("view", "thought", "analysis", "problem", "ended"):
                count, content = sitting.news.get(kind, (0, None))
                if count > seen.get(kind, 0):
                    seen[kind] = count
                    yield _event(kind, sitting.table.view() if kind == "view" else content)
            if sitting.ended:
                return
            try:
                await asyncio.wait_for(news.wait(), HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"
            news.clear()
    finally:
        sitting.listeners.discard(news)


def _event(kind: str, content: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps(content)}\n\n"


def _file(path: Path) -> tuple[bytes, str, str]:
    content = path.read_bytes()
    kind = KINDS.get(path.suffix, "application/octet-stream")
    return content, kind, f'"{hashlib.sha256(content).hexdigest()[:20]}"'


# --- actions at a table -----------------------------------------------------------------------


def _moves(change: Callable[[Sitting, dict[str, Any]], None], *, human: bool = True) -> Act:
    """Make an action of a function that changes the table at once."""

    async def act(host: Host, sitting: Sitting, content: dict[str, Any]) -> None:
        if human:
            host.must_be_human(sitting)
        change(sitting, content)
        host.changed(sitting)

    return act


async def _load_file(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    table = sitting.table
    text, number = content.get("text"), content.get("number", 0)
    record, found = await host.thinking.work(lambda: read_file(table.game, text, number))
    table.seat_down(record)
    table.names = found["names"]
    host.changed(sitting)
    return {"view": table.view(), **found}


async def _check(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    try:
        sitting.table.situation(content.get("text"))
    except ValueError as error:
        return {"error": str(error)}
    return {"error": ""}


ACTIONS: dict[str, Act] = {
    "step": _moves(lambda s, c: s.table.step(c.get("from"), c.get("to"))),
    "back": _moves(lambda s, c: s.table.step_back()),
    "confirm": _moves(lambda s, c: s.table.confirm()),
    "move": _moves(lambda s, c: s.table.play_text(c.get("text"))),
    "roll": _moves(lambda s, c: s.table.roll_dice(c.get("dice"))),
    "undo": _moves(lambda s, c: s.table.undo(c.get("to")), human=False),
    "variation": _moves(lambda s, c: s.table.return_to(c.get("number")), human=False),
    "resign": _moves(lambda s, c: s.table.resign(c.get("kind", 1))),
    "cube": _moves(lambda s, c: act_with_cube(s.table, c.get("kind"))),
    "cube-hint": lambda host, sitting, content: cube_hint(
        host.thinking, host.loaded, sitting.table, content
    ),
    "new": _moves(lambda s, c: s.table.start(), human=False),
    "position": _moves(lambda s, c: s.table.set_position(c.get("text")), human=False),
    "pause": _moves(lambda s, c: s.table.pause(c.get("on")), human=False),
    "advance": Host.advance,
    "check": _check,
    "seats": Host.set_seats,
    "load": _load_file,
    "analyse": inspection.analyse,
    "rollout": roll_out,
    "why": inspection.why,
    "curve": inspection.curve,
}


# --- starting ---------------------------------------------------------------------------------


def serve(
    *,
    data: Path,
    runs: Path,
    port: int,
    started: Callable[[int], None],
    kept: Path | None = None,
    own: Sequence[Game] = (),
) -> None:
    """Serve on 127.0.0.1 until Ctrl-C.

    data: folder of the shipped evaluators.
    runs: folder of the runs of training.
    port: the port to listen on; 0 for any free one.
    kept: folder in which games are kept; None to keep none.
    own: games of the user.
    started: called with the port when the server is ready.

    Raises OSError if the port is taken.
    """
    import socket

    from play.web.connections import server_of

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        with named_port(port):
            listener.bind(("127.0.0.1", port))
        port = listener.getsockname()[1]
        app = create_app(data=data, runs=runs, kept=kept, port=port, own=own)
        listener.listen(128)
        hurry()
        started(port)
        server_of(app).run(sockets=[listener])
    finally:
        listener.close()
