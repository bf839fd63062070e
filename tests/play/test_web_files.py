"""Games that the web server saves and loads."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")

from tests.web_client import act, new_table
from tests.web_server import HUMAN

Client = Any


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
    for damaged in ("", "nothing", "1. 12-15 11-15 *"):
        refused = act(client, other, "load", text=damaged)
        assert refused.status_code == 400 and "expected" in refused.json()["error"]
    assert client.get(f"/api/tables/{other['id']}").json()["ply"] == 4


def test_one_of_several_games_is_chosen(client: Client) -> None:
    view = new_table(client)
    text = "1. 11-15 *\n\n1. 9-14 22-18 *\n\n1. 1-2 *\n"
    answer = act(client, view, "load", text=text, number=1).json()
    assert len(answer["games"]) == 3 and answer["view"]["ply"] == 2
    refused = act(client, view, "load", text=text, number=2)
    assert refused.status_code == 400 and "line 5" in refused.json()["error"]
    assert act(client, view, "load", text=text, number=3).status_code == 400
    assert act(client, view, "load", text=text, number=-1).status_code == 400


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
