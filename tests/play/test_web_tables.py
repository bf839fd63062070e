"""Tables of the web server: games played by requests, from the first move to their end."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")

import games
from games.checkers.pieces import PLACES
from play.web.backgammon_face import BackgammonSteps
from play.web.grid_face import face_of
from tests.web_client import PATIENCE, act, client_of, new_table, wait_for
from tests.web_server import CLASSIC, HAND, HUMAN, RANDOM

Client = Any


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
    with client_of(runs, idle=2.0) as client:
        view, sittings = new_table(client), client.app.app.state.host.sittings
        assert client.get(f"/api/tables/{view['id']}").status_code == 200
        for sitting in sittings.values():
            sitting.used -= 2.0
        until = time.monotonic() + PATIENCE
        while sittings:  # no request, for which it would be kept
            assert time.monotonic() < until
            time.sleep(0.05)
        answer = client.get(f"/api/tables/{view['id']}")
        assert answer.status_code == 404 and "ended" in answer.json()["error"]


def test_a_table_is_closed_and_unknown_ones_are_not_found(client: Client) -> None:
    view = new_table(client)
    assert client.delete(f"/api/tables/{view['id']}").status_code == 200
    assert client.get(f"/api/tables/{view['id']}").status_code == 404
    assert act(client, view, "step", **{"from": PLACES[11], "to": PLACES[15]}).status_code == 404
    assert client.get("/api/tables/none/events").status_code == 404


def test_a_game_of_checkers_by_steps(client: Client) -> None:
    view = new_table(client, seats=[HUMAN, CLASSIC])
    assert view["waiting"] == "human" and len(view["next"]) == 4  # pieces that can move
    view = act(client, view, "step", **{"from": PLACES[11], "to": PLACES[15]}).json()
    assert view["moves"][0]["text"] == "11-15" and view["waiting"] == "evaluator"
    view = wait_for(client, view, 2)
    assert view["moves"][1]["depth"] == 2 and view["moves"][1]["value"] is not None
    view = act(client, view, "undo").json()
    assert view["ply"] == 0  # back to the last decision of a human


def test_an_illegal_move_changes_nothing_and_says_why(client: Client) -> None:
    view = new_table(client, position="B:W18,26:B15,12")
    for source, target, reason in [
        (PLACES[12], PLACES[16], "a capture is mandatory: expected 15, found 12"),
        (PLACES[15], PLACES[19], "a capture is mandatory: expected 15 to go to 22 or 31, found 19"),
        (PLACES[1], PLACES[5], "expected 15, found 1"),
        (99, 100, "found square 99"),
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
    here, next_, end = (PLACES[square] for square in (15, 22, 31))
    view = act(client, view, "step", **{"from": -1, "to": here}).json()
    ends = {step["to"]: step["far"] for step in view["next"]}
    assert ends == {next_: False, end: True}
    view = act(client, view, "step", **{"from": here, "to": next_}).json()
    assert view["ply"] == 0 and view["taken"] == [[-1, here], [here, next_]]
    assert view["board"]["captured"] == [PLACES[18]]
    assert [next_, 0, ""] in view["board"]["pieces"]
    answer = act(client, view, "step", **{"from": here, "to": PLACES[19]})
    assert "expected the move to continue from 22, found 15" in answer.json()["error"]
    for taken in ([[-1, here]], []):
        view = act(client, view, "back").json()
        assert view["taken"] == taken and [here, 0, ""] in view["board"]["pieces"]
    view = act(client, view, "step", **{"from": here, "to": end}).json()  # both at once
    assert view["moves"][0]["text"] == "15x22x31" and [end, 0, "K"] in view["board"]["pieces"]


def test_a_stale_request_is_refused(client: Client) -> None:
    view = new_table(client)
    act(client, view, "step", **{"from": PLACES[11], "to": PLACES[15]})
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


def test_hand_of_backgammon_answers(client: Client) -> None:
    view = new_table(client, "backgammon", seats=[HUMAN, HAND], seed=2)
    if view["side"] == 0:
        view = act(client, view, "move", text=view["legal"][0]).json()
    view = wait_for(client, view, view["ply"] + 1)
    assert view["waiting"] == "roll" and view["moves"][-1]["depth"] == 0
