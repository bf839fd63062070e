"""Tables of the web server with more than two players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")

from play.web.kept_games import KeptGames
from tests.web_client import act, client_of, new_table, wait_for
from tests.web_server import HUMAN, RANDOM

Client = Any
STAR = "chinese_checkers"
HAND = {"kind": "evaluator", "evaluator": f"{STAR}:hand", "seconds": 5, "depth": 1}
#: Player 1's last piece has one step to go.
NEARLY = (
    "./../.../..../2222......333/222.....3333/2........33/22.......3/........./........../"
    ".........../............/....1......../.111/111/11/1 1 0"
)


def test_each_seat_has_a_player_of_its_own(client: Client) -> None:
    seats = [HUMAN, {**HAND, "method": "max_n"}, RANDOM]
    view = new_table(client, STAR, seats=seats)
    assert [seat["kind"] for seat in view["seats"]] == ["human", "evaluator", "random"]
    assert view["sides"] == ["Player 1", "Player 2", "Player 3"] and view["kind"] == "grid"
    view = wait_for(client, act(client, view, "move", text="6-14").json(), 3)
    assert [move["side"] for move in view["moves"]] == [0, 1, 2] and view["side"] == 0
    assert view["moves"][1]["depth"] == 1 and view["moves"][2]["depth"] is None
    assert act(client, view, "undo").json()["ply"] == 0  # back to the person's last decision
    for wrong, reason in (
        ([HUMAN, HUMAN], "a list of 3"),
        ([HUMAN, HUMAN, {**HAND, "method": "minimax"}], "paranoid, best_reply, max_n"),
    ):
        answer = act(client, view, "seats", seats=wrong)
        assert answer.status_code == 400 and reason in answer.json()["error"]
    for_two = {**HAND, "evaluator": "checkers:classic", "method": "max_n"}
    content = {"game": "checkers", "seats": [HUMAN, for_two]}
    answer = client.post("/api/tables", json=content)
    assert answer.status_code == 400 and "not for a game for two" in answer.json()["error"]


def test_the_star_is_drawn_with_goals_and_a_move_with_its_way(client: Client) -> None:
    view = new_table(client, STAR, seats=[HUMAN] * 3)
    board = view["board"]
    assert len(board["holes"]) == 121 and len(board["pieces"]) == 30
    goal = {square for square, side in board["tints"] if side == 0}
    assert len(goal) == 10 and goal.isdisjoint(square for square, *_ in board["pieces"])
    assert {len(way) for way in board["ways"].values()} == {2}
    view = act(client, view, "move", text="5-18").json()
    for _ in range(2):
        view = act(client, view, "move", text=view["legal"][0]).json()
    way = [board["holes"][cell] for cell in (0, 5, 16)]  # over two pieces
    assert view["board"]["ways"]["0-16"] == way
    view = act(client, view, "step", **{"from": -1, "to": way[0]}).json()
    view = act(client, view, "step", **{"from": way[0], "to": way[-1]}).json()
    assert view["moves"][-1]["text"] == "0-16" and view["board"]["trace"] == [way]


def test_values_of_all_players_are_centred_and_curves_told_for_each(client: Client) -> None:
    view = new_table(client, STAR, seats=[HUMAN] * 3)
    view = act(client, view, "move", text="6-14").json()
    answer = act(client, view, "curve", evaluator=f"{STAR}:hand", depth=1).json()
    assert [len(curve) for curve in answer["curves"]] == [2, 2, 2]
    before, after = zip(*answer["curves"], strict=True)
    assert before == (0.0, 0.0, 0.0)
    assert after[0] > 0 > after[1] == after[2] and sum(after) == pytest.approx(0.0)
    assert [player["decisions"] for player in answer["players"]] == [1, 0, 0]
    parts = act(client, view, "why", ply=0, evaluators=[f"{STAR}:steps"]).json()["of"][0]
    # nobody is ahead at the start, and then by a step the side whose turn it no longer is
    assert (parts["before"], parts["after"]) == (0.0, 1.0)


def test_the_end_tells_places_and_a_resignation_the_loser(client: Client) -> None:
    view = new_table(client, STAR, seats=[HUMAN] * 3, position=NEARLY)
    view = act(client, view, "move", text="102-111").json()
    assert view["waiting"] == "over" and view["outcomes"] == [2.0, -1.0, -1.0]
    assert view["result"] == "Player 1 is first, then Player 2 and Player 3"
    view = new_table(client, STAR, seats=[HUMAN] * 3)
    view = act(client, view, "move", text="6-14").json()
    view = act(client, view, "resign").json()
    assert view["outcomes"] == [0.5, -1.0, 0.5] and view["result"] == "Player 2 resigned"


def test_a_game_of_computers_pauses_and_goes_on_step_by_step(client: Client) -> None:
    view = new_table(client, STAR, seats=[RANDOM] * 3, paused=True)
    for ply in (1, 2, 3, 4):
        act(client, view, "advance")
        view = wait_for(client, view, ply)
        assert view["paused"] and view["side"] == ply % 3


def test_kept_games_go_on_with_their_seats_and_files_are_read_again(
    runs: Path, tmp_path: Path
) -> None:
    with client_of(runs) as client:
        view = new_table(client, STAR, seats=[HUMAN, HUMAN, {**HAND, "method": "best_reply"}])
        act(client, view, "move", text="6-14")
        view = act(client, view, "resign").json()
        kept = client.app.app.state.host.sittings[view["id"]].table.plain()
        file = client.get(f"/api/tables/{view['id']}/save").json()
        other = new_table(client, STAR, seats=[HUMAN] * 3)
        read = act(client, other, "load", text=file["text"]).json()
        assert read["view"]["result"] == "Player 2 resigned" and read["view"]["ply"] == 1
        assert read["view"]["names"]["Player 3"] == "hand"
    folder = KeptGames(tmp_path / "kept")
    folder.put(kept)
    folder.close()
    (again,) = KeptGames(tmp_path / "kept").list()
    with client_of(runs) as client:
        view = client.post("/api/tables", json=again).json()
        assert view["seats"][2]["method"] == "best_reply"
        assert view["outcomes"] == [0.5, -1.0, 0.5] and view["ply"] == 1
