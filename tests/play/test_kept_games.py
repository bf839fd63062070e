"""Games kept on disk: nothing is lost with a server, and nothing in a file is trusted."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")


from play.web.kept_games import FORMAT, KeptGames
from play.web.table import Table
from tests.web_client import acted, new_table, same
from tests.web_server import HUMAN


def test_moves_that_are_taken_back_stay_as_a_variation(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A return exchanges the lines, and none is kept that another begins with."""

    def variations(view: Any) -> list[tuple[int, list[str]]]:
        return [(one["ply"], [m["text"] for m in one["moves"]]) for one in view["variations"]]

    with server() as client:
        view = new_table(client)
        for text in ("11-15", "22-18", "15x22"):
            view = acted(client, view, "move", text=text)
        view = acted(client, acted(client, view, "undo", to=2), "undo", to=1)
        assert variations(view) == [(1, ["11-15", "22-18", "15x22"])]
        view = acted(client, view, "move", text="23-19")
        view = acted(client, view, "variation", number=0)
        assert [move["text"] for move in view["moves"]] == ["11-15", "22-18", "15x22"]
        assert variations(view) == [(1, ["11-15", "23-19"])]
        refused = client.post(f"/api/tables/{view['id']}/variation", json={"number": 1})
        assert refused.json()["error"] == "expected one of 1 variations, found 1"
    with server() as client:
        again = client.get(f"/api/tables/{view['id']}").json()
        assert same(again) == same(view)
        told = []
        moves = Table.moves
        monkeypatch.setattr(Table, "moves", lambda table: told.append(table) or moves(table))
        client.get(f"/api/tables/{view['id']}")
        assert len(told) == 1  # the texts of the moves are written once, variations or not
        assert variations(acted(client, again, "new")) == []


def test_a_server_that_starts_again_goes_on_with_every_game(server: Any) -> None:
    with server() as client:
        checkers = new_table(client)
        for text in ("11-15", "22-18", "15x22"):
            checkers = acted(client, checkers, "move", text=text)
        set_up = acted(client, new_table(client), "position", text="W:WK18:B1,5,K9")
        resigned = acted(client, new_table(client, moves=[{"text": "11-15"}]), "resign")
        dice = new_table(client, "backgammon")
        for _ in range(2):
            dice = acted(client, dice, "move", text=dice["legal"][0])
            dice = acted(client, dice, "roll")
        dice = acted(client, dice, "undo")  # the later roll stays as it was, and is kept too
        match = "XGID=-b----E-C---eE---c-e----B-:1:1:1:31:3:2:0:7:10"
        scored = acted(client, new_table(client, "backgammon"), "position", text=match)
        assert scored["situation"] == match
        untouched = new_table(client)
    with server() as client:
        listed = client.get("/api/games").json()["games"]
        # a position without a move has an address, but is no game
        assert {one["id"] for one in listed} == {one["id"] for one in (checkers, resigned, dice)}
        (one,) = [one for one in listed if one["id"] == resigned["id"]]
        assert (one["ply"], one["result"]) == (1, "Black wins: White resigned")
        for view in (checkers, set_up, resigned, dice, scored):
            again = client.get(f"/api/tables/{view['id']}").json()
            assert same(again) == same(view)
        assert dice["roll"] is not None and dice["rolled"]
        assert client.get(f"/api/tables/{untouched['id']}").status_code == 404
        assert acted(client, checkers, "move", text="25x18")["ply"] == 4


def test_an_idle_hour_loses_nothing(server: Any) -> None:
    with server(idle=1000.0) as client:
        view = acted(client, new_table(client), "move", text="11-15")
        sittings = client.app.app.state.host.sittings
        sittings[view["id"]].used -= 1001.0
        until = time.monotonic() + 120
        while view["id"] in sittings:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert same(client.get(f"/api/tables/{view['id']}").json()) == same(view)


def test_only_the_server_gives_addresses(server: Any) -> None:
    with server() as client:
        view = acted(client, new_table(client), "move", text="11-15")
        client.delete(f"/api/tables/{view['id']}")
        assert client.get(f"/api/tables/{view['id']}").status_code == 404
        again = client.post("/api/tables", json={**view, "position": view["start"]}).json()
        assert again["id"] != view["id"] and again["ply"] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"moves": [{"text": "1-2"}]},
        {"moves": [7]},
        {"moves": "11-15"},
        {"declared": [1.0]},
        {"declared": "x"},
        {"rolled": []},
        {"names": 7, "declared": [1, 2]},
    ],
)
def test_what_is_no_game_is_refused(server: Any, change: dict[str, Any]) -> None:
    if change == {"rolled": []}:
        change = {"rolled": ["x"]}
    with server() as client:
        answer = client.post(
            "/api/tables", json={"game": "checkers", "seats": [HUMAN, HUMAN], **change}
        )
    assert answer.status_code == 400 and "expected" in answer.json()["error"]


def test_files_of_others_run_no_code_and_break_nothing(server: Any, tmp_path: Path) -> None:
    (tmp_path / "evil_game.py").write_text("raise SystemExit('imported')")
    kept = tmp_path / "kept"
    kept.mkdir()
    moves = [{"text": "11-15"}]
    plain = {"format": FORMAT, "seats": [HUMAN, HUMAN], "moves": moves, "names": {}, "result": ""}
    plain |= {"saved": 1.0, "game": "checkers"}
    for name, content in {
        "evil": {**plain, "id": "evil", "game": "evil_game:Game"},
        "renamed": {**plain, "id": "other"},
        "format": {**plain, "id": "format", "format": "plysmith-table-99"},
        "seats": {**plain, "id": "seats", "seats": 7},
        "saved": {**plain, "id": "saved", "saved": None},
        "good": {**plain, "id": "good"},
    }.items():
        (kept / f"{name}.json").write_text(json.dumps(content))
    (kept / "cut.json").write_text('{"format": "plysmith-table-1", "id": "cut", ')
    (kept / "deep.json").write_text("[" * 100_000)
    (kept / "large.json").write_text(json.dumps({**plain, "id": "large", "x": "x" * (1 << 20)}))
    (kept / "folder.json").mkdir()
    (tmp_path / "linked.json").write_text(json.dumps({**plain, "id": "linked"}))
    (kept / "linked.json").symlink_to(tmp_path / "linked.json")
    sys.path.insert(0, str(tmp_path))
    try:
        with server() as client:
            listed = client.get("/api/games").json()["games"]
            assert [one["id"] for one in listed] == ["good"]
            for name in (
                "evil",
                "renamed",
                "format",
                "cut",
                "deep",
                "large",
                "folder",
                "seats",
                "linked",
            ):
                status = client.get(f"/api/tables/{name}").status_code
                assert status == (400 if name in ("evil", "seats") else 404), name
            assert client.get("/api/tables/good").json()["ply"] == 1
            assert client.get("/api/tables/..%2fkept%2fgood").status_code == 404
    finally:
        sys.path.remove(str(tmp_path))
    assert "evil_game" not in sys.modules


def test_a_game_whose_evaluator_is_gone_is_opened(server: Any, tmp_path: Path) -> None:
    with server() as client:
        view = acted(client, new_table(client), "move", text="11-15")
    path = tmp_path / "kept" / f"{view['id']}.json"
    content = json.loads(path.read_text())
    content["seats"][1] = {"kind": "evaluator", "evaluator": "run:gone/evaluator.json"}
    path.write_text(json.dumps(content))
    with server() as client:
        again = client.get(f"/api/tables/{view['id']}").json()
        assert again["ply"] == 1 and again["seats"][1]["kind"] == "human"


def test_the_number_of_files_is_bounded_and_each_is_whole(tmp_path: Path) -> None:
    kept = KeptGames(tmp_path / "kept", most=3)
    for number in range(6):
        kept.put({"id": f"game{number}", "moves": [number] * 1000})
        kept._writer.submit(lambda: time.sleep(0.02)).result()  # another time of writing
    kept.put({"id": "game4", "moves": []})
    assert kept.read("game4") == {"id": "game4", "moves": []}  # written or not
    assert [one["id"] for one in kept.list()][0] == "game4"
    kept.forget("game3")
    kept.close()
    found = {path.name: json.loads(path.read_text()) for path in (tmp_path / "kept").iterdir()}
    assert sorted(found) == ["game4.json", "game5.json"]
    assert found["game4.json"]["moves"] == [] and found["game4.json"]["format"] == FORMAT
    assert [one["id"] for one in kept.list()] == ["game4", "game5"]


def test_a_folder_that_cannot_be_written_is_said(server: Any, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file in the way")
    with server() as client:
        view = acted(client, new_table(client), "move", text="11-15")
        until = time.monotonic() + 120
        host = client.app.app.state.host
        while not host.kept.problem:
            assert time.monotonic() < until
            time.sleep(0.02)
        acted(client, view, "move", text="22-18")  # the game goes on
        _, news = host.sittings[view["id"]].news["problem"]
        assert news["error"].startswith("this game is not kept on disk: ")
