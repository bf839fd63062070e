"""Puzzles on the server of the page: positions, explanations, and searches as they go on."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx2")

import games  # noqa: E402
from play.web.catalogue import Catalogue  # noqa: E402
from play.web.host import TooMany  # noqa: E402
from play.web.puzzles import SEARCHES, Puzzles  # noqa: E402
from play.web.server import create_app  # noqa: E402
from play.web.thinking import Thinking  # noqa: E402
from search.evaluators.heuristic import LearnedHeuristic  # noqa: E402
from search.single_agent.patterns import build_patterns  # noqa: E402
from search.textbook import breadth_first  # noqa: E402
from tests.web_client import client_of  # noqa: E402
from tests.web_server import ROOT  # noqa: E402

EIGHT: Any = games.load("sliding8")
SCRAMBLED = "1 2 5 3 4 8 6 7 0"
HARD = "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"
PATIENCE = 60
Client = Any


def learned(seed: int = 0) -> LearnedHeuristic:
    encoding = EIGHT.encodings["tile_pairs"]
    weights = np.random.default_rng(seed).normal(0.3, 0.2, encoding.size)
    return LearnedHeuristic(EIGHT, encoding, weights, offset=-0.5, base=["manhattan"])


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    from starlette.testclient import TestClient

    runs = tmp_path_factory.mktemp("runs")
    learned().save(runs / "pairs.safetensors")
    sums = build_patterns(EIGHT, [[(1, 2, 3), (4, 5, 6)]])
    sums.save(runs / "sums.safetensors")
    app = create_app(data=ROOT / "data", runs=runs)
    with TestClient(app, base_url="http://127.0.0.1:8000") as made:
        yield made


def ask(client: Client, action: str, puzzle: str = "sliding8", **content: Any) -> Any:
    return client.post(f"/api/puzzles/{puzzle}/{action}", json=content)


def refused(runs: Path, action: str, puzzle: str = "sliding8", **content: Any) -> None:
    """Raises what a server says as it refuses to act."""
    with client_of(runs) as client:
        answer = ask(client, action, puzzle, **{"position": SCRAMBLED, **content})
    assert answer.status_code == 400
    raise ValueError(answer.json()["error"])


def solved(client: Client, puzzle: str = "sliding8", **content: Any) -> list[dict[str, Any]]:
    answer = ask(client, "solve", puzzle, **content)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_every_puzzle_is_shown_and_played(client: Client) -> None:
    puzzles = client.get("/api/puzzles").json()["puzzles"]
    assert [puzzle["name"] for puzzle in puzzles] == games.problems()
    for puzzle in puzzles:
        view = ask(client, "look", puzzle["name"]).json()
        assert view["position"] == puzzle["example"]
        move = view["moves"][-1]
        assert all(move["clicks"]) and bool(move["clicks"]) == (puzzle["kind"] == "grid")
        after = ask(
            client, "look", puzzle["name"], position=view["position"], move=move["text"]
        ).json()
        problem: Any = games.load(puzzle["name"])
        position = problem.parse_position(view["position"])
        expected = problem.play(position, problem.parse_move(position, move["text"]))
        assert after["position"] == problem.position_text(expected)


def test_a_new_puzzle_is_another_one_that_can_be_solved(client: Client) -> None:
    first, second = (ask(client, "look", "sliding15", random=True).json() for _ in range(2))
    assert first["position"] != second["position"]
    assert first["unsolvable"] == second["unsolvable"] == ""


def test_only_known_actions_are_answered(client: Client) -> None:
    assert ask(client, "play").status_code == 404


def test_manhattan_is_taken_apart_by_tiles(client: Client) -> None:
    """Each tile's steps along rows and columns to its square, and nothing for one that is there."""
    answer = ask(client, "why", position=SCRAMBLED, heuristic="sliding8:manhattan").json()
    parts = {part["name"]: (part["value"], part["squares"]) for part in answer["parts"]}
    tiles = EIGHT.tiles(EIGHT.parse_position(SCRAMBLED))
    expected = {}
    for square, tile in enumerate(tiles):
        steps = abs(square // 3 - tile // 3) + abs(square % 3 - tile % 3)
        if tile and steps:
            expected[f"tile {tile}"] = (float(steps), [square])
    assert parts == expected
    assert answer["value"] == sum(value for value, _ in parts.values())


def test_a_learned_heuristic_is_taken_apart_by_pairs_of_tiles(client: Client) -> None:
    """The parts of its 36 pairs, its offset and its rounding add up to its value."""
    for text in (SCRAMBLED, "8 7 6 5 4 3 2 1 0"):
        content = {"position": text, "heuristic": "run:pairs.safetensors"}
        answer = ask(client, "why", **content).json()
        heuristic, position = learned(), EIGHT.parse_position(text)
        assert answer["value"] == heuristic(position)
        total = sum(part["value"] for part in answer["parts"]) + answer["rest"]
        assert total == pytest.approx(answer["value"], abs=1e-9)
        names = {part["name"]: part for part in answer["parts"]}
        assert {"tiles 3 and 7", "blank and 8", "offset"} <= set(names)
        tiles = EIGHT.tiles(position)
        assert sorted(names["tiles 3 and 7"]["squares"]) == sorted(map(tiles.index, (3, 7)))
        # the weight of that pair on these squares, from the encoding's formula
        place = ((7 * 6 // 2 + 3) * 9 + tiles.index(3)) * 9 + tiles.index(7)
        assert names["tiles 3 and 7"]["value"] == pytest.approx(float(heuristic.weights[place]))


def test_what_has_no_parts_is_whole(client: Client) -> None:
    """A map has no pieces to take away."""
    content = {"position": "Arad", "heuristic": "romania:straight_line"}
    answer = ask(client, "why", "romania", **content).json()
    assert (answer["kind"], answer["value"], answer["parts"]) == ("whole", 366.0, [])


def test_a_pattern_database_is_taken_apart_by_its_patterns(client: Client) -> None:
    content = {"position": "8 7 6 5 4 3 2 1 0", "heuristic": "run:sums.safetensors"}
    answer = ask(client, "why", **content).json()
    parts = {part["name"].removeprefix("mirror image of "): part for part in answer["parts"]}
    assert set(parts) == {"pieces 1, 2, 3", "pieces 4, 5, 6"}
    assert sum(part["value"] for part in parts.values()) == answer["value"] > 0


def test_a_search_ends_with_its_solution(client: Client) -> None:
    start = EIGHT.parse_position("2 5 7 1 8 4 3 6 0")
    content = {"position": EIGHT.position_text(start), "heuristic": "sliding8:manhattan"}
    (*_, last) = solved(client, **content)
    solution = last["solution"]
    assert solution["cost"] == breadth_first(EIGHT, start).cost == solution["length"]
    assert solution["factor"] == 1 and solution["proved"] == "manhattan never overestimates"
    position = start
    for step in solution["steps"]:
        position = EIGHT.play(position, EIGHT.parse_move(position, step["move"]))
        assert step["position"] == EIGHT.position_text(position)
    assert EIGHT.solved(position)


def test_a_strategy_of_the_textbook_shows_its_frontiers(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    (last,) = solved(client, "road_map", method="breadth_first", trace=True)
    frontiers = last["solution"]["frontiers"]
    assert [text for text, *_ in frontiers[2]["waiting"]] == [
        "Minneapolis", "La Crosse", "Dubuque", "Fargo", "Rochester"
    ]  # fmt: skip
    assert frontiers[2]["size"] == 5 and len(frontiers) == 9
    (last,) = solved(
        client, "romania", method="astar", trace=True, heuristic="romania:straight_line"
    )
    values = [frontier["waiting"][0] for frontier in last["solution"]["frontiers"]]
    assert values[-1] == ["Bucharest", 418.0, None] and last["solution"]["factor"] == 1
    second = last["solution"]["frontiers"][1]["waiting"]
    assert second[0] == ["Sibiu", 393.0, "140 + 253"]  # as in the textbook
    assert last["solution"]["frontiers"][0]["waiting"] == [["Arad", 366.0, "0 + 366"]]
    (last,) = solved(
        client, "romania", method="greedy", trace=True, heuristic="romania:straight_line"
    )
    assert last["solution"]["frontiers"][0]["waiting"] == [["Arad", 366.0, None]]
    (last,) = solved(client, "sliding8", position="1 2 0 3 4 5 6 8 7", trace=True)
    assert last["error"].startswith("the tiles are 3 swaps")
    content = {"position": "8 7 6 5 4 3 2 1 0", "method": "iterative_deepening", "trace": True}
    (last,) = solved(client, seconds=60, **content)
    assert last["solution"]["proved"] == "stopped after 2,000 expansions"
    assert len(last["solution"]["frontiers"]) == 200 < last["solution"]["taken"]
    # more expansions than any machine makes in that time
    monkeypatch.setattr("play.web.puzzles.MOST_EXPANDED", 10**9)
    (last,) = solved(client, seconds=0.1, **{**content, "position": HARD}, puzzle="sliding15")
    assert last["error"] == "no solution within 0.1 seconds"


def test_a_search_without_a_solution_says_why(client: Client) -> None:
    swapped = {"position": "1 2 0 3 4 5 6 8 7", "heuristic": "sliding8:manhattan"}
    (*_, last) = solved(client, **swapped)
    assert last["error"].startswith("the tiles are 3 swaps from the goal and the blank is 2 steps")
    little = {"position": HARD, "heuristic": "sliding15:misplaced", "memory": 1}
    (*_, last) = solved(client, "sliding15", **little)
    assert not last["solution"]["found"]
    assert last["solution"]["proved"].startswith("out of memory with ")


def test_a_page_is_not_told_of_a_proof_where_there_is_none(client: Client) -> None:
    """`factor` is what the page calls cheapest, or at most so many times it: None is no proof."""
    (*_, last) = solved(client, "queens8", heuristic="queens8:attacks")
    found = last["solution"]
    assert (found["found"], found["cost"], found["factor"]) == (True, 10, None)
    assert found["proved"] == "attacks is known to overestimate"
    for method in ("greedy", "ida"):  # which take no weight; the page has one for all methods
        (*_, last) = solved(client, position=SCRAMBLED, method=method, weight=2)
        assert last["solution"]["factor"] == (1 if method == "ida" else None)


def test_a_puzzle_without_a_heuristic_is_solved_too(client: Client) -> None:
    (*_, last) = solved(client, "road_map")
    assert [step["move"] for step in last["solution"]["steps"]] == ["Minneapolis", "Wausau"]


def test_a_search_streams_its_frontier_and_ends_when_nobody_reads(tmp_path: Path) -> None:
    async def read() -> None:
        puzzles = Puzzles(Catalogue(ROOT / "data", tmp_path), Thinking())
        content = {"position": HARD, "heuristic": "sliding15:misplaced", "seconds": 60}
        searches = [await puzzles.solve("sliding15", content) for _ in range(SEARCHES)]
        first: Any = searches[0]
        states = []
        async for line in first:
            states.append(json.loads(line)["progress"])
            if len(states) > 3 and states[-1]["expanded"] > states[-3]["expanded"] > 0:
                break
        assert states[-1]["frontier"] > 0 and states[-1]["f"] >= 12
        other: Any = searches[1]
        await anext(other)
        with pytest.raises(TooMany, match="expected at most 2 searches at a time"):
            await puzzles.solve("sliding15", content)
        for search in searches:
            await search.aclose()  # type: ignore[attr-defined]
        until = time.monotonic() + PATIENCE
        while puzzles.searching:
            assert time.monotonic() < until, "a search went on"
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(read(), 2 * PATIENCE))


test_errors = errors_of(globals())
