"""What the web server says about positions: why, curves, marks, and boards of earlier moves."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")

import games
from games.checkers.pieces import PLACES
from play.judging.decision import decision_of
from play.rollout.rollout import rollout
from play.web.host import Sitting
from play.web.inspection import _deepened
from search import Engine, as_evaluator
from tests.web_client import act, acted, new_table

Client = Any
#: A game of backgammon that X has won.
OVER = "XGID=-a------------------------:0:0:1:00:0:0:0:0:10"


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
        ("", "15"),
        ("", "3"),
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
    (curve,) = answer["curves"]
    assert len(curve) == 2 and all(value > 0 for value in curve)


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


def test_rolls_of_backgammon_have_luck(client: Client) -> None:
    """X has a checker on its 6 point, off with 27 of 36 rolls; O is off with any."""
    found = {}
    for roll, text in (("21", "6/3"), ("61", "6/off")):
        position = f"XGID=------A{'-' * 17}a-:0:0:1:{roll}:0:0:0:0:10"
        view = new_table(client, "backgammon", position=position)
        view = act(client, view, "move", text=text).json()
        evaluator = client.get("/api/catalogue").json()["defaults"]["backgammon"]
        answer = act(client, view, "curve", evaluator=evaluator, depth=0).json()
        (found[roll],) = answer["moves"]
        assert answer["points"] and answer["players"][0]["luck"] == found[roll]["luck"]
        assert answer["players"][1]["luck"] is None
    assert found["21"]["luck"] == pytest.approx(-1.5, abs=1e-6)
    assert found["61"]["luck"] == pytest.approx(0.5, abs=1e-6)
    assert (found["21"]["luck_word"], found["61"]["luck_word"]) == ("very unlucky", "lucky")


def test_boards_of_earlier_positions(client: Client) -> None:
    view = new_table(client)
    act(client, view, "move", text="11-15")
    table = f"/api/tables/{view['id']}"
    board = client.get(f"{table}/board", params={"ply": 0}).json()["board"]
    assert [PLACES[11], 0, ""] in board["pieces"]
    for ply in ("2", "-1", "x", "9" * 30, ""):
        assert client.get(f"{table}/board", params={"ply": ply}).status_code == 400


def test_a_mark_does_not_contradict_a_deeper_search_that_the_page_has_shown() -> None:
    """A deeper search with values of all moves, or one that chose the move, counts."""
    game = games.load("checkers")
    engine, position = Engine(game, "classic"), game.start()
    deep = engine.analyse(position, depth=5)
    best, (worst, _) = deep.move, deep.moves[-1]
    shallow = {"mark": "?!", "lost": 0.06, "best": "9-13", "depth": 3, "loss": 0.3}

    def judged(result: Any, move: Any) -> dict[str, Any]:
        place = {} if result is None else {(position, None): result}
        sitting: Any = SimpleNamespace(shown=place, table=SimpleNamespace(game=game))
        return _deepened(sitting, shallow, position, None, move)

    chosen = engine.search(position, depth=5)  # has values of no other move
    assert judged(None, best) == judged(replace(deep, depth=3), best) == shallow
    assert judged(replace(chosen, move=best), worst) == shallow
    for result in (deep, replace(chosen, move=best)):
        assert judged(result, best) == {**shallow, "mark": "", "lost": 0.0, "best": ""}
    again = judged(deep, worst)
    assert again["best"] == game.move_text(position, best)
    assert again["lost"] == decision_of(deep, worst).given_up != 0.06


def test_the_page_remembers_the_deepest_search_of_a_position() -> None:
    game = games.load("checkers")
    question: Any = SimpleNamespace(position=game.start(), roll=None)
    result = Engine(game, "classic").search(game.start(), depth=1)
    sitting = Sitting.__new__(Sitting)
    sitting.shown, sitting.news, sitting.listeners, sitting._count = {}, {}, set(), 0
    for depth in (5, 9, 7):
        question.best = replace(result, depth=depth)
        sitting.tell_result("thought", question, {"depth": depth, "move": 1}, ply=0)
    assert sitting.shown[game.start(), None].depth == 9
    assert sitting.news["thought"][1] == {"depth": 7, "move": None, "raw": None, "ply": 0}


def test_a_round_of_a_rollout_is_that_of_the_command(client: Client) -> None:
    """And before a roll the position itself is played out."""
    game: Any = games.load("backgammon")
    text = f"XGID=-AA-A-A-B{'-' * 11}b-b---:0:0:1:31:0:0:0:0:10"
    view = new_table(client, "backgammon", position=text)
    asked = {"evaluator": "backgammon:hand", "round": 3}
    answer = acted(client, view, "rollout", **asked)
    position, roll = game.parse_position(text), game.dice.parse("31")
    moves = [game.parse_move(position, one["text"], roll) for one in answer["rolled"]]
    hand = as_evaluator(game, "hand")
    found = rollout(game, position, hand, roll=roll, moves=moves, games=answer["games"], seed=3)
    assert [one["value"] for one in answer["rolled"]] == found.equity.tolist()
    assert [one["error"] for one in answer["rolled"]] == found.equity_error.tolist()
    assert len(moves) == 4 and answer["games"] == 36 and answer["side"] == view["side"]
    moved = acted(client, view, "move", text=answer["rolled"][0]["text"])
    (before,) = acted(client, moved, "rollout", **asked)["rolled"]
    own = rollout(game, [game.play(position, moves[0])], hand, games=36, seed=3)
    assert (before["text"], before["outcomes"]) == ("", None)
    assert before["value"] == own.equity[0]


@pytest.mark.parametrize(
    ("game", "content", "message"),
    [
        ("checkers", {}, "rollout: expected a game with dice, found checkers"),
        ("backgammon", {"round": 100}, "round: expected 0 to 99, found '100'"),
        ("backgammon", {"round": "x"}, "round: expected 0 to 99, found 'x'"),
        ("backgammon", {"ply": 1}, "ply: expected 0 to 0, found '1'"),
        ("backgammon", {"evaluator": "no"}, "expected one of backgammon in the list"),
        ("backgammon", {"position": OVER}, "rollout: the game is over"),
    ],
)
def test_a_rollout_of_nothing_is_refused(
    client: Client, game: str, content: dict[str, Any], message: str
) -> None:
    view = new_table(client, game, position=content.pop("position", None))
    answer = act(client, view, "rollout", **{"evaluator": f"{game}:hand", **content})
    assert answer.status_code == 400 and message in answer.json()["error"]
