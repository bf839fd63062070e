"""What the web server offers: evaluators, lookups, programs and runs of training."""

from __future__ import annotations

import importlib.util
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")

import games
from learner.arena import FIRST, Strength
from play.players.opponents import Opponents
from play.web.catalogue import Catalogue
from play.web.descriptions import measured
from play.web.runs import strength_of
from play.web.server import create_app
from search.evaluators.load import evaluator_names
from search.lookups.database import DatabaseLookup
from search.lookups.rote import RoteMemory
from tests.web_client import BASE, PATIENCE, act, new_table, wait_for
from tests.web_server import CLASSIC, HAND, HUMAN, ROOT

HAND_AND_MORE = "backgammon:hand+bearoff"
Client = Any


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
    for seconds, text in ((8.0, "compiling for the first time, 8 s"), (None, "")):
        monkeypatch.setattr("programs.waiting.compiling_seconds", lambda now=seconds: now)
        assert client.get("/api/compiling").json() == {"text": text}


def test_the_catalogue_says_what_each_evaluator_is(client: Client, runs: Path) -> None:
    """From the cards of the shipped ones, the game, and what a run has recorded and measured."""
    (runs / "first" / "best.json").write_bytes((ROOT / "data/checkers/samuel.json").read_bytes())
    (runs / "mine.json").write_bytes((ROOT / "data/checkers/samuel.json").read_bytes())
    match = {"opponent": "rote", "value": 49.2, "low": 25.0, "high": 74.0, "unit": "Elo"}
    (runs / "first" / "report.json").write_text(json.dumps({"matches": [match]}))
    entries = {e["id"]: e for e in client.get("/api/catalogue").json()["evaluators"]}
    shipped = [entry for entry in entries.values() if entry["group"] == "shipped"]
    assert len(shipped) >= 7 and all(entry["about"] and entry["strength"] for entry in shipped)
    strength = entries["shipped:checkers/quantised.safetensors"]["strength"]
    assert re.fullmatch(r"\+\d+ Elo above material \[.*\](, out of date)?, the strongest", strength)
    assert strength.split(" Elo")[0] in (ROOT / "data/README.md").read_text("utf-8")
    for group in ("shipped", "hand-crafted"):
        own = [e for e in entries.values() if (e["game"], e["group"]) == ("checkers", group)]
        figures = [int(e["strength"].split()[0]) for e in own if e["strength"]]
        assert len(figures) >= 2 and figures == sorted(figures, reverse=True)
    material = entries["checkers:material"]
    assert material["about"] == "2 terms with weights set by hand: men, kings."
    snapshot = entries["run:first/snapshots/000020.json"]
    assert (snapshot["group"], snapshot["strength"]) == ("snapshot", "95 % against random")
    best, mine = entries["run:first/best.json"], entries["run:mine.json"]
    assert best["group"] == "run" and best["strength"] == "+49 [+25, +74] Elo against rote"
    assert mine["group"] == "file" and mine["strength"] == ""
    assert mine["about"] == "Learned by Samuel, from 900 games, depth 6, seed 0"


def test_what_is_proposed_is_there_with_and_without_data(runs: Path, tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    for data, start in ((ROOT / "data", "shipped:"), (tmp_path / "none", "")):
        app = create_app(data=data, runs=runs)
        with TestClient(app, base_url=BASE) as client:
            answer = client.get("/api/catalogue").json()
        ids = {entry["id"] for entry in answer["evaluators"]}
        assert [game["name"] for game in answer["games"]] == list(games.names())
        for game in games.names():
            found = answer["defaults"][game]
            assert found in ids if games.load(game).evaluators else found is None
            levels = [entry["id"] for entry in answer["levels"] if entry["game"] == game]
            assert answer["opponents"][game] == levels[(len(levels) - 1) // 2]
        for game in ("checkers", "backgammon"):
            assert answer["defaults"][game].startswith(start or game)


def test_the_player_whom_people_meet_in_connect_four_asks_the_solver(runs: Path) -> None:
    catalogue = Catalogue(ROOT / "data", runs)
    game = catalogue.games["connect_four"]
    shipped = catalogue.default(game)
    met = catalogue.load(shipped, game)
    assert isinstance(met.lookup, DatabaseLookup) and met.lookup.name == "solver"
    assert catalogue.load(shipped, game) is met and met.entry.name == "solved"
    assert catalogue.load("connect_four:hand", game).lookup is None


def test_every_shipped_player_is_offered_and_proposed_as_opponent(runs: Path) -> None:
    catalogue = Catalogue(ROOT / "data", runs)
    proposed = {}
    for game in catalogue.games.values():
        if shipped := Opponents.of(game).shipped:
            id = catalogue.default(game)
            loaded = catalogue.load(id, game)
            proposed[loaded.entry.name] = loaded.entry.source
            offered = {e.name for e in catalogue.entries().values() if e.game == game.name}
            assert offered >= set(evaluator_names(game)) and shipped == loaded.entry.name
    assert set(proposed.values()) == {"shipped"} and "solved" in proposed


def test_only_lookups_of_the_list_go_with_an_evaluator(client: Client) -> None:
    view = new_table(client, "backgammon", seats=[HUMAN, {**HAND, "evaluator": HAND_AND_MORE}])
    saved = client.get(f"/api/tables/{view['id']}/save").json()["text"]
    assert "hand + bear-off databases" in saved
    for game, wrong in (
        ("backgammon", "backgammon:hand+"),
        ("backgammon", "backgammon:hand+../memory.safetensors"),
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
    memory.save(runs / "first" / "memory.safetensors")
    (runs / "first" / "other.safetensors").write_bytes(b"SQLite format 3\0 and then nothing")
    until = time.monotonic() + PATIENCE
    while len(found := _memories(client)) == 0:  # the list is read anew
        assert time.monotonic() < until
        time.sleep(0.1)
    (entry,) = found
    assert (entry["id"], entry["kind"]) == ("run:first/memory.safetensors", "rote memory")
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


def test_first_places_are_shares_of_games_not_points(tmp_path: Path) -> None:
    first = Strength("steps", 60, 45, 3, 12, 0.75, 0.75, 0.64, 0.86, FIRST)
    (tmp_path / "snapshots.csv").write_text(
        "game,opponent,games,wins,draws,losses,score,value,low,high,unit\n"
        "200,steps,60,45,3,12,0.7500,0.75,0.64,0.86,share of first places\n"
    )
    (tmp_path / "report.json").write_text(json.dumps({"matches": [first.as_dict()]}))
    strength = strength_of(tmp_path)
    assert strength == {"unit": "% first places", "curves": {"steps": [[200, 75, 64, 86]]}}
    assert measured(tmp_path) == dict.fromkeys(
        ("snapshots/000200", "best"), "First in 75 % against steps"
    )


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
    assert run["log"]["curves"]["loss"] == [[1, 2.5], [2, 2.25]]
    assert len(run["log"]["curves"]) == 3  # the number of a round makes none
    assert run["weights"]["curves"]["mobility"] == [[10, 1.0], [20, 2.5]]
    assert len(run["weights"]["curves"]) == 16 and run["weights"]["left_out"] == 0
    known = {entry["id"] for entry in client.get("/api/catalogue").json()["evaluators"]}
    assert [one["game"] for one in run["players"]] == [20, 10]
    assert {one["id"] for one in run["players"]} <= known
    again = client.get("/api/run", params={"id": "run:first", "stamp": run["stamp"]}).json()
    assert again == {"unchanged": True}


def test_a_game_with_a_name_that_is_taken_is_refused(runs: Path) -> None:
    other = type("Other", (type(games.load("backgammon")),), {})()
    with pytest.raises(ValueError, match="'backgammon', which is taken"):
        Catalogue(ROOT / "data", runs, [other])
