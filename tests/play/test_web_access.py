"""Requests to the web server that it refuses: other hosts and pages, strange paths, too much."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")

from play.web.descriptions import measured
from play.web.server import create_app
from tests.web_client import BASE, act, new_table
from tests.web_server import HUMAN, ROOT

Client = Any


def test_every_answer_forbids_what_the_page_does_not_need(client: Client) -> None:
    for path in ("/", "/static/main.js", "/api/catalogue", "/nothing", "/api/tables/none"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] in ("no-store", "no-cache")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "127.0.0.1:x", "0"]
)
def test_another_host_is_refused(client: Client, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 403


def test_only_its_own_port_is_a_host(runs: Path) -> None:
    from starlette.testclient import TestClient

    app = create_app(data=ROOT / "data", runs=runs, port=8000)
    with TestClient(app, base_url=BASE) as made:
        assert made.get("/").status_code == 200
        assert made.get("/", headers={"host": "localhost:8000"}).status_code == 200
        assert made.get("/", headers={"host": "127.0.0.1:8001"}).status_code == 403
        assert made.get("/", headers={"host": "127.0.0.1"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_pages_are_refused(client: Client, headers: dict[str, str]) -> None:
    content = {"game": "checkers", "seats": [HUMAN, HUMAN]}
    assert client.post("/api/tables", json=content, headers=headers).status_code == 403
    assert client.get("/api/catalogue", headers=headers).status_code == 403


def test_its_own_page_may_ask_and_links_to_it_work(client: Client) -> None:
    content = {"game": "checkers", "seats": [HUMAN, HUMAN]}
    own = {"origin": BASE, "sec-fetch-site": "same-origin"}
    assert client.post("/api/tables", json=content, headers=own).status_code == 201
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200
    assert client.get("/api/catalogue", headers=link).status_code == 403


def test_forms_of_other_pages_cannot_write(client: Client) -> None:
    text = json.dumps({"game": "checkers", "seats": [HUMAN, HUMAN]})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        headers = {"content-type": kind}
        assert client.post("/api/tables", content=text, headers=headers).status_code == 415
    assert client.put("/api/tables", json={}).status_code == 405
    assert client.options("/api/tables").status_code == 405


def test_a_run_that_won_every_game_is_shown(client: Client, runs: Path) -> None:
    run = runs / "first"
    (run / "snapshots.csv").write_text(
        "game,opponent,games,wins,draws,losses,score,value,low,high\n"
        "20,random,4,4,0,0,1.0000,inf,-212.4,inf\n"
    )
    match = {"opponent": "random", "games": 4, "wins": 4, "draws": 0, "losses": 0, "score": 1.0}
    report = {"matches": [{**match, "value": math.inf, "low": -212.4, "high": math.inf}]}
    (run / "report.json").write_text(json.dumps(report))
    found = client.get("/api/run", params={"id": "run:first"}).json()
    assert found["matches"] == [
        {**match, "value": None, "low": -212.4, "high": None, "unit": "Elo"}
    ]
    ((game, score, low, high),) = found["strength"]["curves"]["random"]
    assert (game, score) == (20, 100) and 0 < low < 50 and 99.9 < high <= 100
    assert measured(run)["best"] == "At least -212 (95 %) Elo against random"


def test_large_and_strange_requests_are_refused(client: Client) -> None:
    headers = {"content-type": "application/json"}
    large = b'{"game": "' + b"x" * 20_000 + b'"}'
    step = "/api/tables/any/step"
    assert client.post(step, content=large, headers=headers).status_code == 413
    parts = iter([b"x" * 10_000] * 3)  # without a length
    assert client.post(step, content=parts, headers=headers).status_code == 413
    large = b"x" * ((1 << 20) + 1)
    assert client.post("/api/tables", content=large, headers=headers).status_code == 413
    assert client.get("/" + "x" * 2000).status_code == 414
    for content in (b"", b"[]", b"null", b"{", b"\xff\xfe", b"[" * 10_000, b'{"game": 1}'):
        answer = client.post("/api/tables", content=content, headers=headers)
        assert answer.status_code == 400, content
        assert "expected" in answer.json()["error"]


def test_a_file_may_be_larger_than_other_requests(client: Client) -> None:
    view = new_table(client)
    text = "1. 11-15 *\n" + "{" + "x" * 100_000 + "}"
    assert act(client, view, "load", text=text).status_code == 200
    assert act(client, view, "load", text="x" * (1 << 20)).status_code == 413
    assert act(client, view, "position", text="x" * 100_000).status_code == 413
