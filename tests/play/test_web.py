"""The server of the browser's page: its answers, and the requests that it refuses."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx2")

import games  # noqa: E402
from games.backgammon.rules import BAR, ROLLS  # noqa: E402
from games.backgammon.situation import checker_counts  # noqa: E402
from games.errors import MoveError  # noqa: E402
from play.web.backgammon_face import BackgammonSteps  # noqa: E402
from play.web.catalogue import Catalogue, face_of  # noqa: E402
from play.web.descriptions import measured  # noqa: E402
from play.web.limits import Bucket, Limits  # noqa: E402
from play.web.server import create_app  # noqa: E402
from search import EvaluatorError  # noqa: E402
from search.alphabeta.probcut import ProbCut  # noqa: E402
from search.alphabeta.techniques import SELECTIVE_SEARCH  # noqa: E402
from search.first_use import FirstUse  # noqa: E402
from search.lookups.rote import RoteMemory  # noqa: E402
from tests.web_server import CLASSIC, HAND, HUMAN, RANDOM, ROOT, running  # noqa: E402

BASE = "http://127.0.0.1:8000"
#: Seconds that anything may take on a machine that is busy with other work.
PATIENCE = 60
HAND_AND_MORE = "backgammon:hand+bearoff"
Client = Any


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Returns a folder with two kinds of runs, one with snapshots, and a secret beside them."""
    (tmp_path / "secret.json").write_text('{"format": "plysmith-linear-1"}')
    folder = tmp_path / "runs"
    run = folder / "first"
    (run / "snapshots").mkdir(parents=True)
    source = json.loads((ROOT / "data/checkers/rootstrap.json").read_text())
    for games_played, weight in ((10, 1.0), (20, 2.5)):
        source["weights"]["mobility"] = weight
        path = run / "snapshots" / f"{games_played:06d}.json"
        path.write_text(json.dumps(source))
    (run / "options.json").write_text(
        json.dumps({"game": "checkers", "learner": "rootstrap", "games": 20, "seed": 3})
    )
    (run / "log.csv").write_text(
        "game,updates,alpha_side,outcome,plies,note\n"
        "1,5,0,1.0,40,error 0.5\n2,9,1,0.0,60,error 0.25\n3,12"
    )
    (run / "snapshots.csv").write_text(
        "game,opponent,games,wins,draws,losses,score,value,low,high\n"
        "10,random,100,90,0,10,0.9,381.7,300.0,480.0\n"
        "20,random,100,95,0,5,0.95,511.5,400.0,700.0\n"
    )
    (folder / "out").symlink_to(tmp_path)
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    return folder


def client_of(runs: Path, **limits: Any) -> Any:
    from starlette.testclient import TestClient

    seeds = iter(range(1000))
    app = create_app(
        data=ROOT / "data", runs=runs, limits=Limits(**limits), seed=lambda: next(seeds)
    )
    return TestClient(app, base_url=BASE)


@pytest.fixture
def client(runs: Path) -> Iterator[Client]:
    with client_of(runs) as made:
        yield made


def new_table(client: Client, game: str = "checkers", **content: Any) -> dict[str, Any]:
    content = {"game": game, "seats": [HUMAN, HUMAN], **content}
    answer = client.post("/api/tables", json=content)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def act(client: Client, view: dict[str, Any], action: str, **content: Any) -> Any:
    return client.post(f"/api/tables/{view['id']}/{action}", json=content)


def wait_for(client: Client, view: dict[str, Any], ply: int) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = client.get(f"/api/tables/{view['id']}").json()
        if found["ply"] >= ply:
            return dict(found)
        time.sleep(0.05)
    raise AssertionError(f"no move {ply} within {PATIENCE} s")


# --- access -----------------------------------------------------------------------------------


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


# --- what can be read -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/server.py",
        "/static/%2e%2e%2f%2e%2e%2f__main__.py",
        "/static//etc/passwd",
        "/static/..\\server.py",
        "/static/%00",
        "/../../etc/passwd",
        "/play/web/server.py",
    ],
)
def test_no_path_leads_out_of_the_pages_files(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "passwd" not in answer.text and "Starlette" not in answer.text


@pytest.mark.parametrize(
    "id",
    [
        "../secret.json",
        "run:../secret.json",
        "run:out/secret.json",
        "run:link.json",
        "shipped:../pyproject.toml",
        "/etc/passwd",
        "classic",
        "",
        None,
        7,
        ["checkers:classic"],
    ],
)
def test_no_evaluator_outside_the_folders_is_loaded(client: Client, id: Any) -> None:
    seat = {"kind": "evaluator", "evaluator": id}
    answer = client.post("/api/tables", json={"game": "checkers", "seats": [HUMAN, seat]})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(("evaluator: expected", "seat: expected"))


@pytest.mark.parametrize(
    "id", ["run:..", "run:out/runs/first", "run:out", "../runs/first", "", "x"]
)
def test_no_run_outside_the_folders_is_read(client: Client, id: str) -> None:
    answer = client.get("/api/run", params={"id": id})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("run: expected")


def test_the_catalogue_holds_what_is_there_and_no_paths(client: Client, runs: Path) -> None:
    answer = client.get("/api/catalogue")
    entries = {entry["id"]: entry for entry in answer.json()["evaluators"]}
    assert {"checkers:classic", "backgammon:hand"} <= set(entries)
    assert entries["shipped:checkers/network.safetensors"]["kind"] == "network"
    assert entries["run:first/snapshots/000020.json"]["game"] == "checkers"
    assert "run:link.json" not in entries and not any("secret" in id for id in entries)
    assert str(ROOT) not in answer.text and str(runs.parent) not in answer.text


def test_the_server_says_what_it_compiles(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    state = FirstUse(34, 83, 8.0)
    monkeypatch.setattr("play.web.server.first_use", lambda: state)
    answer = client.get("/api/compiling").json()
    assert answer == {"functions": 34, "total": 83, "seconds": 8.0, "text": state.text}
    monkeypatch.setattr("play.web.server.first_use", lambda: None)
    assert client.get("/api/compiling").json() == {}


def test_the_catalogue_says_what_each_evaluator_is(client: Client, runs: Path) -> None:
    """From the cards of the shipped ones, the game, and what a run has recorded and measured."""
    (runs / "first" / "best.json").write_bytes((ROOT / "data/checkers/samuel.json").read_bytes())
    (runs / "mine.json").write_bytes((ROOT / "data/checkers/samuel.json").read_bytes())
    match = {"opponent": "rote", "value": 49.2, "low": 25.0, "high": 74.0, "unit": "Elo"}
    (runs / "first" / "report.json").write_text(json.dumps({"matches": [match]}))
    entries = {e["id"]: e for e in client.get("/api/catalogue").json()["evaluators"]}
    shipped = [entry for entry in entries.values() if entry["group"] == "shipped"]
    assert len(shipped) >= 7 and all(entry["about"] and entry["strength"] for entry in shipped)
    assert "+164 [+135, +195] Elo" in entries["shipped:checkers/quantised.safetensors"]["strength"]
    material = entries["checkers:material"]
    assert material["about"] == "2 terms with weights set by hand: men, kings."
    snapshot = entries["run:first/snapshots/000020.json"]
    assert (snapshot["group"], snapshot["strength"]) == ("snapshot", "95 % against random")
    best, mine = entries["run:first/best.json"], entries["run:mine.json"]
    assert best["group"] == "run" and best["strength"] == "+49 [+25, +74] Elo against rote"
    assert mine["group"] == "file" and mine["strength"] == ""
    assert mine["about"] == "Learned by Samuel, from 500 games, depth 5, seed 0"


def test_what_is_proposed_is_there_with_and_without_data(runs: Path, tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    for data, start in ((ROOT / "data", "shipped:"), (tmp_path / "none", "")):
        app = create_app(data=data, runs=runs)
        with TestClient(app, base_url=BASE) as client:
            answer = client.get("/api/catalogue").json()
        ids = {entry["id"] for entry in answer["evaluators"]}
        assert [game["name"] for game in answer["games"]] == games.names()
        for game in games.names():
            found = answer["defaults"][game]
            assert found in ids if games.load(game).evaluators else found is None
        for game in ("checkers", "backgammon"):
            assert answer["defaults"][game].startswith(start or game)


def test_lookups_and_programs_are_offered_as_a_match_takes_them(client: Client) -> None:
    answer = client.get("/api/catalogue").json()
    lookups = [(entry["game"], entry["id"]) for entry in answer["lookups"]]
    assert lookups[:1] == [("checkers", "endgame")] and lookups[-1:] == [("backgammon", "bearoff")]
    names = {entry["id"] for entry in answer["programs"]}
    wanted = {"gnubg:0", "gnubg:1", "gnubg:2", "pubeval"}
    assert names == (wanted if importlib.util.find_spec("gnubg_nn") else set())


def test_an_evaluator_with_bear_off_databases_knows_the_end(runs: Path) -> None:
    """One checker each on the ace point: the side to roll wins, which no weights can tell."""
    id = HAND_AND_MORE
    text = f"XGID=-B{'-' * 22}b-:0:0:1:21:0:0:0:0:10"

    async def analyse(base: str) -> dict[str, Any]:
        async with httpx.AsyncClient(timeout=30) as client:
            content = {"game": "backgammon", "seats": [HUMAN, {**HAND, "evaluator": id}]}
            answer = await client.post(f"{base}/api/tables", json={**content, "position": text})
            assert answer.status_code == 201, answer.text
            address = f"{base}/api/tables/{answer.json()['id']}"
            asked = {"evaluator": id, "depth": 0, "seconds": 5}
            assert (await client.post(f"{address}/analyse", json=asked)).json()["started"]
            await asyncio.sleep(0.5)  # a page that asks again gets the results found meanwhile
            async for kind, news in _events(client, f"{address}/events"):
                if kind == "analysis" and news["done"]:
                    return dict(news)
        raise AssertionError("the stream ended")

    with running(runs) as base:
        found = asyncio.run(asyncio.wait_for(analyse(base), 60))
    assert found["name"] == "hand + bear-off databases"
    assert [move["value"] for move in found["moves"]] == [1.0]


def test_an_evaluator_with_endgame_databases_knows_the_end(client: Client) -> None:
    """Two kings win against one, however far away; a search of one ply alone does not see it."""
    found = []
    for id in ("checkers:material+endgame", "checkers:material"):
        seats = [{**CLASSIC, "evaluator": id, "depth": 1}, HUMAN]
        view = new_table(client, seats=seats, position="B:WK29:BK1,K10")
        found.append(wait_for(client, view, 1)["moves"][0]["value_text"])
    assert found[0].startswith("won in ") and not found[1].startswith("won")


def test_only_lookups_of_the_list_go_with_an_evaluator(client: Client) -> None:
    view = new_table(client, "backgammon", seats=[HUMAN, {**HAND, "evaluator": HAND_AND_MORE}])
    saved = client.get(f"/api/tables/{view['id']}/save").json()["text"]
    assert "hand + bear-off databases" in saved
    for game, wrong in (
        ("backgammon", "backgammon:hand+"),
        ("backgammon", "backgammon:hand+../memory.sqlite"),
        ("backgammon", f"{HAND_AND_MORE}+bearoff"),
        ("backgammon", "bearoff"),
        ("checkers", "checkers:classic+bearoff"),
    ):
        seats = [HUMAN, {**HAND, "evaluator": wrong}]
        answer = client.post("/api/tables", json={"game": game, "seats": seats})
        assert answer.status_code == 400 and "evaluator: expected" in answer.json()["error"]


def test_a_rote_memory_of_a_run_is_asked(client: Client, runs: Path) -> None:
    game = games.load("checkers")
    memory = RoteMemory(game)
    memory.store(game.play(game.start(), game.parse_move(game.start(), "9-13")), -5.0, 20)
    memory.merge()
    memory.save(runs / "first" / "memory.sqlite")
    (runs / "first" / "other.sqlite").write_bytes(b"SQLite format 3\0 and then nothing")
    until = time.monotonic() + PATIENCE
    while len(found := _memories(client)) == 0:  # the list is read anew
        assert time.monotonic() < until
        time.sleep(0.1)
    (entry,) = found
    assert (entry["id"], entry["kind"]) == ("run:first/memory.sqlite", "rote memory")
    id = f"checkers:material+{entry['id']}"
    view = new_table(client, seats=[{**CLASSIC, "evaluator": id, "depth": 1}, HUMAN])
    view = wait_for(client, view, 1)
    # A value loses 0.2 % for each of the 20 plies that it was backed up.
    assert (view["moves"][0]["text"], view["moves"][0]["value"]) == ("9-13", pytest.approx(4.8))


def _memories(client: Client) -> list[dict[str, Any]]:
    lookups = client.get("/api/catalogue").json()["lookups"]
    return [entry for entry in lookups if entry["source"] == "run"]


@pytest.mark.skipif(importlib.util.find_spec("gnubg_nn") is None, reason="needs gnubg_nn")
def test_a_program_of_others_plays(client: Client) -> None:
    seat = {"kind": "program", "evaluator": "gnubg:1"}
    view = new_table(client, "backgammon", seats=[HUMAN, seat], seed=2)
    if view["side"] == 0:
        view = act(client, view, "move", text=view["legal"][0]).json()
    view = wait_for(client, view, view["ply"] + 1)
    assert view["waiting"] == "roll" and view["side"] == 0
    assert "GNU Backgammon 1-ply" in client.get(f"/api/tables/{view['id']}/save").json()["text"]
    for wrong in ("gnubg:7", "backgammon:hand", "bearoff", None):
        seats = [HUMAN, {"kind": "program", "evaluator": wrong}]
        answer = client.post("/api/tables", json={"game": "backgammon", "seats": seats})
        assert answer.status_code == 400, wrong
    assert act(client, view, "analyse", evaluator="gnubg:1").status_code == 400


def test_errors_name_no_folder(client: Client, runs: Path) -> None:
    content = json.loads((ROOT / "data/checkers/rootstrap.json").read_text())
    content["weights"] = {"no_such_term": 1.0}
    (runs / "broken.json").write_text(json.dumps(content))
    until = time.monotonic() + PATIENCE
    while "run:broken.json" not in client.get("/api/catalogue").text:  # the list is read anew
        assert time.monotonic() < until
        time.sleep(0.1)
    seat = {"kind": "evaluator", "evaluator": "run:broken.json"}
    answer = client.post("/api/tables", json={"game": "checkers", "seats": [HUMAN, seat]})
    assert answer.status_code == 400
    assert "run:broken.json" in answer.text and str(runs.parent) not in answer.text


def test_probcut_beside_an_evaluator_is_taken_as_soon_as_it_is_there(
    tmp_path: Path, runs: Path
) -> None:
    data = tmp_path / "shipped" / "checkers"
    data.mkdir(parents=True)
    shipped = ROOT / "data" / "checkers"
    (data / "one.safetensors").write_bytes((shipped / "network.safetensors").read_bytes())
    catalogue = Catalogue(tmp_path / "shipped", runs)
    checkers, name = games.load("checkers"), "shipped:checkers/one.safetensors"
    assert catalogue.load(name, checkers).techniques == SELECTIVE_SEARCH
    beside = data / "one.probcut.json"
    beside.write_bytes((shipped / "network.probcut.json").read_bytes())
    techniques = catalogue.load(name, checkers).techniques
    assert techniques is not None and techniques.probcut == ProbCut.load(beside)
    os.utime(beside, (1, 1))
    beside.write_text("{")
    with pytest.raises(EvaluatorError, match=r"^one.probcut.json: expected JSON"):
        catalogue.load(name, checkers)


def test_runs_are_shown_with_curves_and_weights(client: Client) -> None:
    (entry,) = client.get("/api/runs").json()["runs"]
    assert (entry["id"], entry["learner"], entry["state"]) == ("run:first", "rootstrap", "going on")
    run = client.get("/api/run", params={"id": "run:first"}).json()
    assert run["strength"]["unit"] == "% of the points"
    (first, second) = run["strength"]["curves"]["random"]
    assert first[:2] == [10, 90] and second[:2] == [20, 95]
    assert 80 < first[2] < 90 < first[3] < 100  # Elo intervals as shares
    # The incomplete last line is left out.
    assert run["log"]["curves"]["plies a game"] == [[1, 40], [2, 60]]
    assert run["log"]["curves"]["error"] == [[1, 0.5], [2, 0.25]]
    assert run["weights"]["curves"]["mobility"] == [[10, 1.0], [20, 2.5]]
    assert len(run["weights"]["curves"]) == 16 and run["weights"]["left_out"] == 0
    known = {entry["id"] for entry in client.get("/api/catalogue").json()["evaluators"]}
    assert [one["game"] for one in run["players"]] == [10, 20]
    assert {one["id"] for one in run["players"]} <= known
    again = client.get("/api/run", params={"id": "run:first", "stamp": run["stamp"]}).json()
    assert again == {"unchanged": True}


# --- sizes and rates --------------------------------------------------------------------------


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


def test_too_many_requests_at_a_table_are_refused(runs: Path) -> None:
    with client_of(runs, rate=0.001, burst=5) as client:
        view = new_table(client)
        answers = [client.get(f"/api/tables/{view['id']}").status_code for _ in range(8)]
        assert answers == [200] * 5 + [429] * 3
        other = new_table(client)
        assert client.get(f"/api/tables/{other['id']}").status_code == 200


def test_too_many_requests_at_the_server_are_refused(runs: Path) -> None:
    with client_of(runs, server_rate=0.001, server_burst=4) as client:
        assert [client.get("/").status_code for _ in range(6)] == [200] * 4 + [429] * 2


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    bucket = Bucket(2.0, 3, clock=lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.6
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


# --- tables that end --------------------------------------------------------------------------


def test_there_are_only_so_many_tables(runs: Path) -> None:
    with client_of(runs, tables=2, spare=1000.0) as client:
        first, second = new_table(client), new_table(client)
        content = {"game": "checkers", "seats": [HUMAN, HUMAN]}
        answer = client.post("/api/tables", json=content)
        assert answer.status_code == 429 and "at most 2 tables" in answer.json()["error"]
        for sitting in client.app.app.state.host.sittings.values():
            sitting.used -= 1001.0
        assert client.get(f"/api/tables/{second['id']}").status_code == 200
        third = new_table(client)  # replaces the one that was left longest ago
        codes = [client.get(f"/api/tables/{t['id']}").status_code for t in (first, second, third)]
        assert codes == [404, 200, 200]


def test_idle_tables_end(runs: Path) -> None:
    with client_of(runs, idle=0.2) as client:
        view = new_table(client)
        assert client.get(f"/api/tables/{view['id']}").status_code == 200
        until = time.monotonic() + PATIENCE
        while (answer := client.get(f"/api/tables/{view['id']}")).status_code == 200:
            assert time.monotonic() < until
            time.sleep(0.5)  # longer than `idle`, for which each request keeps it
        assert answer.status_code == 404 and "ended" in answer.json()["error"]
        assert client.app.app.state.host.sittings == {}


def test_a_table_is_closed_and_unknown_ones_are_not_found(client: Client) -> None:
    view = new_table(client)
    assert client.delete(f"/api/tables/{view['id']}").status_code == 200
    assert client.get(f"/api/tables/{view['id']}").status_code == 404
    assert act(client, view, "step", **{"from": 11, "to": 15}).status_code == 404
    assert client.get("/api/tables/none/events").status_code == 404


# --- playing ----------------------------------------------------------------------------------


def test_a_game_of_checkers_by_steps(client: Client) -> None:
    view = new_table(client, seats=[HUMAN, CLASSIC])
    assert view["waiting"] == "human" and len(view["next"]) == 7
    view = act(client, view, "step", **{"from": 11, "to": 15}).json()
    assert view["moves"][0]["text"] == "11-15" and view["waiting"] == "evaluator"
    view = wait_for(client, view, 2)
    assert view["moves"][1]["depth"] == 2 and view["moves"][1]["value"] is not None
    view = act(client, view, "undo").json()
    assert view["ply"] == 0  # back to the last decision of a human


def test_an_illegal_move_changes_nothing_and_says_why(client: Client) -> None:
    view = new_table(client, position="B:W18,26:B15,12")
    for source, target, reason in [
        (12, 16, "a capture is mandatory"),
        (15, 19, "a capture is mandatory"),
        (1, 5, "none on 1"),
        (40, 50, "none on 40"),
        ("x", None, "a step from a number"),
    ]:
        answer = act(client, view, "step", **{"from": source, "to": target})
        assert answer.status_code == 400 and reason in answer.json()["error"]
    assert act(client, view, "move", text="12-16").status_code == 400
    assert act(client, view, "move", text=17).status_code == 400
    after = client.get(f"/api/tables/{view['id']}").json()
    assert after["version"] == view["version"] and after["ply"] == 0


def test_a_capture_goes_jump_by_jump(client: Client) -> None:
    view = new_table(client, position="B:W18,26,27:B15")
    ends = {step["to"]: step["far"] for step in view["next"]}
    assert ends == {22: False, 31: True}
    view = act(client, view, "step", **{"from": 15, "to": 22}).json()
    assert view["ply"] == 0 and view["taken"] == [[15, 22]]
    assert view["board"]["captured"] == [18]
    assert [22, "b"] in view["board"]["pieces"]
    view = act(client, view, "back").json()
    assert view["taken"] == [] and [15, "b"] in view["board"]["pieces"]
    view = act(client, view, "step", **{"from": 15, "to": 31}).json()  # both at once
    assert view["moves"][0]["text"] == "15x22x31" and [31, "B"] in view["board"]["pieces"]


def test_a_stale_request_is_refused(client: Client) -> None:
    view = new_table(client)
    act(client, view, "step", **{"from": 11, "to": 15})
    answer = act(client, view, "move", text="22-18", version=view["version"])
    assert answer.status_code == 409


def test_nobody_moves_for_the_computer(client: Client) -> None:
    slow = {**CLASSIC, "seconds": 5, "depth": 60}
    view = new_table(client, seats=[slow, HUMAN])
    answer = act(client, view, "move", text="11-15")
    assert answer.status_code == 400 and "expected Black, the computer" in answer.json()["error"]
    assert act(client, view, "seats", seats=[HUMAN, HUMAN]).json()["waiting"] == "human"
    assert act(client, view, "move", text="11-15").status_code == 200


def test_dice_fall_by_the_seed_and_stay_after_undo(client: Client) -> None:
    rolls = []
    for _ in range(2):
        view = new_table(client, "backgammon", seed=11)
        assert view["roll"][0] != view["roll"][1]  # the first roll is of one die each
        view = act(client, view, "move", text=view["legal"][0]).json()
        assert view["waiting"] == "roll" and view["next"] == []
        assert act(client, view, "move", text="8/5").status_code == 400
        view = act(client, view, "roll").json()
        rolls.append((view["moves"][0]["roll"], view["roll"]))
        assert act(client, view, "roll").status_code == 400  # not a second time
        assert act(client, view, "undo").json()["roll"] == rolls[-1][0]
    assert rolls[0] == rolls[1]


def test_backgammon_is_played_die_by_die_and_confirmed(client: Client) -> None:
    view = new_table(
        client, "backgammon", position="XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    )
    assert view["roll"] == "31"
    view = act(client, view, "step", **{"from": 8, "to": 5}).json()
    assert view["board"]["dice_left"] == [1] and not view["ready"]
    assert act(client, view, "confirm").status_code == 400
    view = act(client, view, "step", **{"from": 6, "to": 5}).json()
    assert view["ready"] and view["text"] == "8/5 6/5"
    answer = act(client, view, "step", **{"from": 6, "to": 5})
    assert answer.status_code == 400 and "no further step" in answer.json()["error"]
    view = act(client, view, "confirm").json()
    assert view["moves"][0]["text"] == "8/5 6/5" and view["waiting"] == "roll" and view["side"] == 1


def test_a_position_keeps_its_match_and_cube(client: Client) -> None:
    text = "XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:2:3:0:7:10"
    view = new_table(client, "backgammon", position=text)
    assert view["situation"] == text
    gnu = "4HPwATDgc/ABMA:cAngAAAAAAAE"  # of the manual: a match to 7 points at 0 : 0, X to move
    view = act(client, view, "position", text=gnu).json()
    assert view["situation"].endswith(":0:0:0:7:10")


def test_doubles_take_four_steps_and_a_dance_is_passed(client: Client) -> None:
    text = "XGID=-b----E-C---eE---c-e----B-:0:0:1:11:0:0:0:0:10"
    view = new_table(client, "backgammon", position=text)
    assert view["board"]["dice_left"] == [1, 1, 1, 1]
    for source in (8, 8, 6, 6):
        view = act(client, view, "step", **{"from": source, "to": source - 1}).json()
    assert view["text"] == "8/7(2) 6/5(2)"
    closed = "XGID=-BBBBBB---------------AA-a"  # not a position
    assert act(client, view, "position", text=closed).status_code == 400
    shut = "XGID=-a-----------------bbbbbbA:0:0:1:21:0:0:0:0:10"
    view = act(client, view, "position", text=shut).json()
    assert view["legal"] == ["no move"] and view["ready"] and view["next"] == []
    assert act(client, view, "confirm").json()["moves"][0]["text"] == "no move"


def test_two_computers_play_only_where_somebody_looks_on(client: Client) -> None:
    view = new_table(client, seats=[RANDOM, RANDOM])
    time.sleep(1.0)
    assert client.get(f"/api/tables/{view['id']}").json()["ply"] == 0


def test_steps_of_backgammon_reach_all_legal_moves_and_no_others() -> None:
    """Random walks along steps end in legal moves only, and each legal move is reached."""
    game = games.load("backgammon")
    face = face_of(game)
    chance = random.Random(5)
    position = game.start()
    for _ in range(40):
        if game.outcome(position) is not None:
            position = game.start()
        roll = chance.randrange(21)
        legal = game.legal_moves(position, roll)  # type: ignore[call-arg]
        steps = face.steps(position, roll)
        assert isinstance(steps, BackgammonSteps)
        found: set[int] = set()
        _walk(steps, found, set())
        assert found == set(legal)
        position = game.play(position, chance.choice(legal))


def _walk(steps: BackgammonSteps, found: set[int], seen: set[Any]) -> None:
    """Add to `found` all complete moves that single steps lead to, one die at a time."""
    key = (str(steps.board()), steps.dice_left)
    if key in seen:
        return
    seen.add(key)
    if steps.move is not None:
        found.add(steps.move)
    else:
        assert steps.next() != []  # no way ends before a move is complete
    for step in steps.next():
        if not step["far"]:
            steps.step(step["from"], step["to"])
            _walk(steps, found, seen)
            steps.back()


def test_steps_of_backgammon_keep_to_the_bar_and_the_home() -> None:
    game = games.load("backgammon")
    face = face_of(game)
    parse = game.parse_position
    on_bar = parse("XGID=-b----E-C---dD---c-e----BA:0:0:1:21:0:0:0:0:10")
    roll = ROLLS.index((2, 1))
    steps = face.steps(on_bar, roll)
    assert {step["from"] for step in steps.next()} == {BAR}
    with pytest.raises(MoveError, match="the bar to enter first"):
        steps.step(6, 5)
    with pytest.raises(MoveError, match="none on 3"):
        face.steps(game.start(), roll).step(3, 2)
    home = parse("XGID=--BBBBB-A----------ccccc--:0:0:1:62:0:0:0:0:10")
    near, far, *_ = home
    assert checker_counts(near, far)[8] == 1
    steps = face.steps(home, ROLLS.index((6, 2)))
    assert not any(s["to"] == 0 and s["from"] != 8 and not s["far"] for s in steps.next())


# --- looking at positions ---------------------------------------------------------------------


def test_why_adds_up_and_compares_two_evaluators(client: Client) -> None:
    view = new_table(client, position="B:W18,26,29:B15,12,K3")
    ids = ["checkers:classic", "shipped:checkers/network.safetensors"]
    answer = act(client, view, "why", evaluators=ids, move="15x22x31").json()
    linear, network = answer["of"]
    assert (linear["kind"], network["kind"]) == ("sum", "shares")
    for when in ("before", "after"):
        total = sum(part[when] for part in linear["parts"])
        assert total == pytest.approx(linear[when], abs=1e-9)
    assert linear["after"] > linear["before"]  # a man was won
    men = next(part for part in linear["parts"] if part["name"] == "men")
    assert men["term"] * men["weight"] == pytest.approx(men["before"])
    assert {tuple(part["place"]) for part in network["parts"] if part["place"]} >= {
        ("", 15),
        ("", 3),
    }
    act(client, view, "position", text="B:W18:B15")
    (ended,) = act(client, view, "why", evaluators=ids[:1], move="15x22").json()["of"]
    assert ended["after_text"] == "won"
    for wrong in ([], ["x"], ids * 2, "checkers:classic"):
        assert act(client, view, "why", evaluators=wrong).status_code == 400
    assert act(client, view, "why", evaluators=ids, move="1-2").status_code == 400
    assert act(client, view, "why", evaluators=ids, ply=7).status_code == 400


def test_the_curve_is_for_the_side_that_begins(client: Client) -> None:
    view = new_table(client, position="W:WK18:B1,5,K9")
    view = act(client, view, "move", text=view["legal"][0]).json()
    answer = act(client, view, "curve", evaluator="checkers:material", depth=1).json()
    assert len(answer["values"]) == 2 and all(value > 0 for value in answer["values"])


def test_moves_are_marked_and_players_rated_by_what_they_lost(client: Client) -> None:
    """White gives a man away for nothing; Black had no choice but to take one before."""
    moves = [{"text": text} for text in ("11-15", "22-18", "15x22", "25x18", "12-16", "24-20")]
    view = new_table(client, moves=moves)
    answer = act(client, view, "curve", evaluator="checkers:classic", depth=5).json()
    *others, last = answer["moves"]
    assert last["mark"] == "??" and last["best"] and last["loss"] > 0.5 and last["lost"] >= 0.15
    assert [one["mark"] for one in others][:4] == [""] * 4
    assert [one["choice"] for one in others][2:4] == [False, True]
    black, white = answer["players"]
    assert (black["decisions"], white["decisions"]) == (2, 3)
    assert white["accuracy"] < 80 < black["accuracy"] <= 100
    assert white["lost"] == pytest.approx(
        sum(one["loss"] for one in answer["moves"][1::2] if one["choice"])
    )


def test_moves_of_backgammon_are_marked_by_points(client: Client) -> None:
    position = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    found = {}
    for text in ("8/5 6/5", "24/20"):
        view = new_table(client, "backgammon", position=position)
        view = act(client, view, "move", text=text).json()
        evaluator = client.get("/api/catalogue").json()["defaults"]["backgammon"]
        answer = act(client, view, "curve", evaluator=evaluator, depth=0).json()
        (found[text],) = answer["moves"]
    assert answer["points"]
    good, bad = found["8/5 6/5"], found["24/20"]
    assert (good["mark"], good["loss"], good["best"]) == ("", 0.0, "")
    assert bad["best"] == "8/5 6/5" and bad["loss"] == pytest.approx(2 * bad["lost"])
    assert bad["mark"] == ("??" if bad["loss"] >= 0.16 else "?") and bad["loss"] > 0.08


def test_boards_of_earlier_positions(client: Client) -> None:
    view = new_table(client)
    act(client, view, "move", text="11-15")
    table = f"/api/tables/{view['id']}"
    board = client.get(f"{table}/board", params={"ply": 0}).json()["board"]
    assert [11, "b"] in board["pieces"]
    for ply in ("2", "-1", "x", "9" * 30, ""):
        assert client.get(f"{table}/board", params={"ply": ply}).status_code == 400


# --- files ------------------------------------------------------------------------------------


def test_a_game_of_checkers_is_saved_and_loaded(client: Client) -> None:
    view = new_table(client)
    for text in ("11-15", "22-18", "15x22", "25x18"):
        view = act(client, view, "move", text=text).json()
    saved = client.get(f"/api/tables/{view['id']}/save").json()
    assert saved["name"].endswith(".pdn") and "1. 11-15 22-18" in saved["text"]
    other = new_table(client)
    answer = act(client, other, "load", text=saved["text"]).json()
    assert [move["text"] for move in answer["view"]["moves"]] == [
        "11-15",
        "22-18",
        "15x22",
        "25x18",
    ]
    assert answer["names"] == {"Black": "human", "White": "human"}
    for damaged in ("", "nothing", "1. 11-16 11-15 *"):
        refused = act(client, other, "load", text=damaged)
        assert refused.status_code == 400 and "expected" in refused.json()["error"]
    assert client.get(f"/api/tables/{other['id']}").json()["ply"] == 4


def test_a_game_of_backgammon_is_saved_and_loaded(client: Client) -> None:
    view = new_table(client, "backgammon", seed=5)
    for _ in range(3):
        view = act(client, view, "move", text=view["legal"][0]).json()
        view = act(client, view, "roll").json()
    saved = client.get(f"/api/tables/{view['id']}/save").json()
    assert saved["name"].endswith(".mat")
    other = new_table(client, "backgammon")
    answer = act(client, other, "load", text=saved["text"]).json()
    wanted = [(move["roll"], move["text"]) for move in view["moves"]]
    assert [(m["roll"], m["text"]) for m in answer["view"]["moves"]] == wanted


def test_one_of_several_games_is_chosen(client: Client) -> None:
    view = new_table(client)
    text = "1. 11-15 *\n\n1. 9-14 22-18 *\n\n1. 9-14 1-2 *\n"
    answer = act(client, view, "load", text=text, number=1).json()
    assert len(answer["games"]) == 3 and answer["view"]["ply"] == 2
    refused = act(client, view, "load", text=text, number=2)
    assert refused.status_code == 400 and "line 5" in refused.json()["error"]
    assert act(client, view, "load", text=text, number=3).status_code == 400
    assert act(client, view, "load", text=text, number=-1).status_code == 400


def test_a_file_of_many_games_says_how_many_are_shown(client: Client) -> None:
    text = '[Event "one of many"]\n\n1. 11-15 *\n\n' * 724
    answer = act(client, new_table(client), "load", text=text, number=499).json()
    assert (len(answer["games"]), answer["total"], answer["number"]) == (500, 724, 499)
    refused = act(client, new_table(client), "load", text=text, number=500)
    assert "expected the number of a game below 500" in refused.json()["error"]
    few = act(client, new_table(client), "load", text=text[: len(text) // 724 * 3]).json()
    assert (len(few["games"]), few["total"], few["problems"]) == (3, 3, [])


def test_a_table_goes_on_with_the_moves_of_another(client: Client) -> None:
    view = new_table(client, "backgammon", seed=9)
    for _ in range(2):
        view = act(client, view, "move", text=view["legal"][-1]).json()
        view = act(client, view, "roll").json()
    moves = [{"text": move["text"], "roll": move["roll"]} for move in view["moves"]]
    again = new_table(client, "backgammon", position=view["start"], moves=moves)
    assert again["position"] == view["position"] and again["ply"] == 2
    content = {"game": "backgammon", "seats": [HUMAN, HUMAN], "moves": [{"text": "1/2"}] * 3000}
    assert client.post("/api/tables", json={**content, "moves": [7]}).status_code == 400


# --- a server of its own ----------------------------------------------------------------------


async def _events(client: Any, address: str) -> Any:
    """Yields the events of a table one by one, as (kind, content)."""
    async with client.stream("GET", address) as response:
        kind = ""
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                yield kind, json.loads(line[6:])


async def _reply(client: Any, base: str, seconds: float, ready: asyncio.Barrier) -> float:
    """Returns the seconds from sending a move to the computer's answer.

    Like the page, it also asks for the curve of the values.
    """
    seat = {**CLASSIC, "seconds": seconds, "depth": None}
    content = {"game": "checkers", "seats": [HUMAN, seat]}
    view = (await client.post(f"{base}/api/tables", json=content)).json()
    address = f"{base}/api/tables/{view['id']}"
    began = 0.0
    async for kind, news in _events(client, f"{address}/events"):
        if kind == "view" and news["ply"] == 0:
            await ready.wait()
            began = time.monotonic()
            step, curve = {"from": 11, "to": 15}, {"evaluator": "checkers:classic", "depth": 3}
            assert (await client.post(f"{address}/step", json=step)).status_code == 200
            assert (await client.post(f"{address}/curve", json=curve)).status_code == 200
        if kind == "view" and news["ply"] == 2:
            return time.monotonic() - began
    raise AssertionError("the stream ended")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Runs `python -m play web` as a process; yields its address and its process number."""
    runs = tmp_path_factory.mktemp("runs")
    command = [sys.executable, "-m", "play", "web", "--port", "0", "--runs", str(runs)]
    command += ["--kept", str(runs / "kept")]  # not in the folder of whoever tests
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        yield line.split()[3].rstrip("/"), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(15) in (0, 130, -signal.SIGINT)
        finally:
            process.kill()
            process.stdout.close()


def test_fifty_sessions_are_answered_in_time(program: tuple[str, int]) -> None:
    base, number = program
    seconds = 0.5

    async def play(count: int) -> list[float]:
        limits = httpx.Limits(max_connections=None)
        ready = asyncio.Barrier(count)
        async with httpx.AsyncClient(limits=limits, timeout=60) as client:
            tasks = [
                asyncio.create_task(_reply(client, base, seconds, ready)) for _ in range(count)
            ]
            return list(await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE))

    asyncio.run(play(1))  # compiled by now
    free = _share_of_a_processor()
    times = asyncio.run(play(50))
    print(f"\n50 answers: {sorted(times)[25]:.2f} s in the middle, {max(times):.2f} s at the most")
    assert len(times) == 50
    if sys.platform == "linux":
        status = Path(f"/proc/{number}/status").read_text()
        size = int(status.split("VmRSS:")[1].split()[0]) >> 10
        print(f"the server holds {size} MiB")
        assert size < 1000
    if min(free, _share_of_a_processor()) < 0.8:
        pytest.skip("others keep this machine busy: times say nothing of the server")
    assert max(times) < seconds + 0.5


def _share_of_a_processor() -> float:
    """Returns the share of a processor that other processes leave to this one."""
    began, used = time.monotonic(), time.process_time()
    while time.monotonic() < began + 0.3:
        pass
    return (time.process_time() - used) / (time.monotonic() - began)


def test_news_come_while_a_search_goes_on(runs: Path) -> None:
    async def listen(base: str) -> list[dict[str, Any]]:
        async with httpx.AsyncClient(timeout=30) as client:
            seat = {**CLASSIC, "seconds": 0.8, "depth": None}
            content = {"game": "checkers", "seats": [seat, HUMAN]}
            view = (await client.post(f"{base}/api/tables", json=content)).json()
            found = []
            async for kind, news in _events(client, f"{base}/api/tables/{view['id']}/events"):
                if kind == "thought":
                    found.append(news)
                if kind == "view" and news["ply"] == 1:
                    return found
            return found

    with running(runs) as base:
        thoughts = asyncio.run(asyncio.wait_for(listen(base), 60))
    depths = [news["depth"] for news in thoughts]
    assert len(depths) >= 2 and depths == sorted(depths)
    assert all(news["pv"] and news["nodes"] > 0 for news in thoughts)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from play.__main__ import main

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "uvicorn" else find(name)
    )
    assert main(["web", "--port", "0"]) == 2
    with pytest.raises(ModuleNotFoundError, match=r"needs uvicorn: pip install 'plysmith\[web\]'"):
        from play.commands.web import run_web

        class Options:
            port = 0
            runs = Path(os.devnull)

        run_web(Options())  # type: ignore[arg-type]


def test_a_port_that_is_taken_is_said(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from play.__main__ import main

    with running(runs) as base:
        port = base.rpartition(":")[2]
        assert main(["web", "--port", port, "--runs", str(runs)]) == 2
    assert f"port {port}: expected one that is free" in capsys.readouterr().err
    assert main(["web", "--port", "99999"]) == 2


def test_hand_of_backgammon_answers(client: Client) -> None:
    view = new_table(client, "backgammon", seats=[HUMAN, HAND], seed=2)
    if view["side"] == 0:
        view = act(client, view, "move", text=view["legal"][0]).json()
    view = wait_for(client, view, view["ply"] + 1)
    assert view["waiting"] == "roll" and view["moves"][-1]["depth"] == 0
