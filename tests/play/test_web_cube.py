"""The cube at a table of the web server: offers, answers, resignations, matches, kept games."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pytest

pytest.importorskip("starlette")


from games import load
from games.file_form import form_of
from play.judging.cube import judge_cube
from play.players.limits import Limits
from play.players.parse import seated
from play.web.cube_decisions import PLIES
from tests.web_client import acted, new_table, same
from tests.web_server import HUMAN

GAME: Any = load("backgammon")
opened = partial(new_table, game="backgammon")
STRONG_ID = "shipped:backgammon/wide.safetensors"
STRONG = {"kind": "evaluator", "evaluator": STRONG_ID, "seconds": 5, "depth": 0}


def refused(client: Any, view: dict[str, Any], action: str, **content: Any) -> str:
    answer = client.post(f"/api/tables/{view['id']}/{action}", json=content)
    assert answer.status_code == 400, answer.text
    return str(answer.json()["error"])


def moved(client: Any, view: dict[str, Any]) -> dict[str, Any]:
    """Returns the table after the first legal move."""
    return acted(client, view, "move", text=view["legal"][0])


def waits(client: Any, view: dict[str, Any], for_: str) -> dict[str, Any]:
    until = time.monotonic() + 120
    while True:
        view = client.get(f"/api/tables/{view['id']}").json()
        if view["waiting"] == for_:
            return view
        assert time.monotonic() < until, view["waiting"]
        time.sleep(0.05)


def test_a_double_is_taken_and_turned_again(server: Any) -> None:
    with server() as client:
        view = opened(client, play={"cube": True})
        assert not view["stakes"]["may_double"]  # the first roll comes before any double
        view = moved(client, view)
        assert (view["waiting"], view["stakes"]["may_double"]) == ("roll", True)
        view = acted(client, view, "cube", kind="double")
        stakes = view["stakes"]
        assert (view["waiting"], stakes["offered"], stakes["answering"]) == (
            "answer",
            True,
            1 - view["side"],
        )
        assert "answer to the offer" in refused(client, view, "roll")
        assert "expected an offer to accept" in refused(client, view, "cube", kind="accept")
        assert "beavers are not allowed" in refused(client, view, "cube", kind="beaver")
        view = acted(client, view, "cube", kind="take")
        assert view["stakes"]["value"] == 2 and view["stakes"]["owner"] == 1 - view["side"]
        assert "may double" in refused(client, view, "cube", kind="double")
        view = moved(client, acted(client, view, "roll"))
        view = acted(client, acted(client, view, "cube", kind="double"), "cube", kind="drop")
        assert view["waiting"] == "over" and abs(view["outcome"]) == 2
        assert view["result"].endswith(
            "wins 2 points: " + view["sides"][1 - view["side"]] + " dropped"
        )


def test_a_beaver_quadruples_the_cube(server: Any) -> None:
    with server() as client:
        view = moved(client, opened(client, play={"cube": True, "jacoby": True, "beavers": True}))
        view = acted(client, acted(client, view, "cube", kind="double"), "cube", kind="beaver")
        assert view["stakes"]["value"] == 4 and view["stakes"]["owner"] == 1 - view["side"]


def test_without_a_cube_nobody_doubles(server: Any) -> None:
    with server() as client:
        view = moved(client, opened(client))
        assert not view["stakes"]["cube"] and "may double" in refused(
            client, view, "cube", kind="double"
        )


@pytest.mark.parametrize(
    ("play", "message"),
    [
        ({"length": 65}, "0 to 64 points"),
        ({"length": 3, "jacoby": True}, "for money with a cube"),
        ({"cube": 1}, "cube to be true or false"),
        ([], "expected an object"),
    ],
)
def test_stakes_that_exclude_each_other_are_refused(server: Any, play: Any, message: str) -> None:
    with server() as client:
        answer = client.post(
            "/api/tables", json={"game": "backgammon", "seats": [HUMAN] * 2, "play": play}
        )
        assert answer.status_code == 400 and message in answer.json()["error"]


def test_resignations_between_people_are_answered(server: Any) -> None:
    with server() as client:
        view = moved(client, opened(client, play={"cube": True}))
        side = view["side"]
        view = acted(client, view, "resign", kind=2)
        assert view["stakes"]["resigning"] == "a gammon" and view["waiting"] == "answer"
        view = acted(client, view, "cube", kind="decline")
        assert (view["waiting"], view["outcome"], view["side"]) == ("roll", None, side)
        view = acted(client, acted(client, view, "resign", kind=3), "cube", kind="accept")
        assert view["outcome"] == (-3 if side == 0 else 3)
        assert view["result"].endswith("resigned a backgammon")
        assert "found it over" in refused(client, view, "resign")


@pytest.mark.parametrize(("kind", "answer"), [(1, "declined"), (2, "accepted")])
def test_an_evaluator_declines_less_than_it_can_expect(server: Any, kind: int, answer: str) -> None:
    """X is gammoned for sure: O has a last checker on its ace point, and X has none at home."""
    with server() as client:
        lost = f"XGID={'-' * 12}GH{'-' * 10}a-:0:0:1:00:0:0:0:0:10"
        view = acted(client, opened(client, seats=[HUMAN, STRONG]), "position", text=lost)
        view = acted(client, view, "resign", kind=kind)
        view = waits(client, view, "over" if answer == "accepted" else "roll")
        assert view["outcome"] == (-2.0 if answer == "accepted" else None)


def test_an_evaluator_drops_a_double_that_it_should(server: Any) -> None:
    with server() as client:
        view = opened(client, seats=[HUMAN, STRONG], play={"cube": True})
        view = acted(
            client, view, "position", text="XGID=-CCB---------------bbbb---:0:0:1:00:0:0:0:0:10"
        )
        found = acted(client, view, "cube-hint", evaluator=STRONG_ID)
        assert found["action"] == "double" and found["text"].endswith("drop") and found["reason"]
        view = waits(client, acted(client, view, "cube", kind="double"), "over")
        assert view["outcome"] == 1.0


def test_a_match_goes_on_with_its_score_and_crawford_game_and_is_kept(server: Any) -> None:
    with server() as client:
        view = opened(client, play={"length": 2})
        view = moved(client, view)
        loser = view["side"]
        view = acted(client, acted(client, view, "resign"), "cube", kind="accept")
        assert view["stakes"]["match_goes_on"] and max(view["stakes"]["score"]) == 1
        view = acted(client, view, "cube", kind="next")
        assert view["stakes"]["crawford"] and view["stakes"]["score"][1 - loser] == 1
        view = moved(client, view)
        assert not view["stakes"]["may_double"]
        view = acted(client, view, "resign", kind=2)
    with server() as client:
        again = client.get(f"/api/tables/{view['id']}").json()
        assert same(again) == same(view) and len(again["earlier"]) == 1
        over = acted(client, view, "cube", kind="accept")
        assert (over["stakes"]["match_goes_on"], over["waiting"]) == (
            sum(over["stakes"]["score"]) != 3 and max(over["stakes"]["score"]) < 2, "over",
        )  # fmt: skip
        saved = client.get(f"/api/tables/{view['id']}/save").json()["text"]
        assert "2 point match" in saved and "Game 2" in saved
        other = opened(client, position=over["start"], **{
            name: over[name] for name in ("moves", "actions", "declared", "earlier", "play")
        })  # fmt: skip
        assert other["result"] == over["result"] and other["stakes"] == over["stakes"]


@pytest.mark.parametrize(
    "change",
    [
        {"actions": [[0, "__class__"]]}, {"actions": [[7, "double"]]}, {"actions": 3},
        {"resigning": [0, 9]},  {"actions": [[0, "undo"]]},
    ],
)  # fmt: skip
def test_what_is_no_game_with_a_cube_is_refused(server: Any, change: dict[str, Any]) -> None:
    with server() as client:
        content = {"game": "backgammon", "seats": [HUMAN] * 2, "play": {"cube": True}, **change}
        answer = client.post("/api/tables", json=content)
        assert answer.status_code == 400 and "expected" in answer.json()["error"]


def test_doubles_are_marked_and_count_as_in_analyse(server: Any) -> None:
    """A double after the first move throws points away, and so does dropping it."""
    with server() as client:
        view = moved(client, opened(client, play={"cube": True}))
        view = acted(client, view, "cube", kind="double")
        view = acted(client, view, "cube", kind="drop")
        plain = acted(client, moved(client, opened(client)), "curve", evaluator=STRONG_ID, depth=0)
        answer = acted(client, view, "curve", evaluator=STRONG_ID, depth=0)
        text = client.get(f"/api/tables/{view['id']}/save").json()["text"]
        assert plain["cubes"] == []
    double, drop = answer["cubes"]
    assert [double["action"], drop["action"]] == ["double", "drop"]
    assert (double["mark"], drop["mark"]) == ("??", "??")
    assert double["side"] == 1 - drop["side"] and double["best"] == "no double, take"
    mover = answer["players"][double["side"]]
    other = answer["players"][drop["side"]]
    assert other["decisions"] == 1 + (drop["side"] == view["moves"][0]["side"])
    assert mover["accuracy"] < 100 and mover["lost"] >= double["loss"]
    # the same by analyse, at the plies of a hint
    (read,) = form_of(GAME).games_in(text, GAME, None)
    thinker = seated(GAME, "wide", Limits(depth=PLIES))
    judged = list(judge_cube(read.record, thinker))
    assert [(one.action, one.side) for one in judged] == [
        ("double", double["side"]),
        ("drop", drop["side"]),
    ]
    assert [one.loss for one in judged] == pytest.approx([double["loss"], drop["loss"]], abs=1e-9)
