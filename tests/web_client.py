"""A client of play.web's server within this process, for tests: tables, actions and waiting."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.web_server import HUMAN, ROOT

BASE = "http://127.0.0.1:8000"
#: Seconds that anything may take on a machine that is busy with other work.
PATIENCE = 60
Client = Any


def client_of(runs: Path, **limits: Any) -> Any:
    """Returns a client of a server with a folder of runs; takes the options of `ServerLimits`."""
    from starlette.testclient import TestClient

    from play.web.limits import ServerLimits
    from play.web.server import create_app

    seeds = iter(range(1000))
    app = create_app(
        data=ROOT / "data", runs=runs, limits=ServerLimits(**limits), seed=lambda: next(seeds)
    )
    return TestClient(app, base_url=BASE)


def new_table(client: Client, game: str = "checkers", **content: Any) -> dict[str, Any]:
    content = {"game": game, "seats": [HUMAN, HUMAN], **content}
    answer = client.post("/api/tables", json=content)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def act(client: Client, view: dict[str, Any], action: str, **content: Any) -> Any:
    return client.post(f"/api/tables/{view['id']}/{action}", json=content)


def acted(client: Client, view: dict[str, Any], action: str, **content: Any) -> dict[str, Any]:
    """Returns the table after an action that is taken."""
    answer = act(client, view, action, **content)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def same(view: dict[str, Any]) -> dict[str, Any]:
    """Returns what stays of a table if a server or a page begins anew."""
    return {key: value for key, value in view.items() if key != "version"}


def wait_for(client: Client, view: dict[str, Any], ply: int) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = client.get(f"/api/tables/{view['id']}").json()
        if found["ply"] >= ply:
            return dict(found)
        time.sleep(0.05)
    raise AssertionError(f"no move {ply} within {PATIENCE} s")


async def events(client: Any, address: str) -> Any:
    """Yields the events of a table one by one, as (kind, content)."""
    async with client.stream("GET", address) as response:
        kind = ""
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                yield kind, json.loads(line[6:])
