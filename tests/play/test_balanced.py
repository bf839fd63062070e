"""Balanced openings: the shipped list, its order, making one, and files that are none."""

from __future__ import annotations

import json
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from errors import errors_of
from marks import compiled_only

import games
from games.record import GameRecord
from play.__main__ import main
from play.matches.balanced import BalancedOpenings, find_openings, openings_file, usual_openings
from play.matches.driver import play_match
from play.matches.journal import MatchJournal
from play.matches.openings import Openings
from play.players.limits import Limits
from play.players.parse import parse_player
from search import Engine
from search.evaluators.files.shipped import DATA
from search.evaluators.samples import value_mark

CHECKERS = games.load("checkers")
TIC_TAC_TOE = games.load("tic_tac_toe")
SHIPPED = DATA / "checkers" / "even.openings.json"


def end_of(moves: tuple[Any, ...]) -> Any:
    position = CHECKERS.start()
    for move in moves:
        assert move in CHECKERS.legal_moves(position)
        position = CHECKERS.play(position, move)
    return position


def test_the_shipped_ones_come_shortest_first_then_with_random_plies() -> None:
    openings = BalancedOpenings(CHECKERS, SHIPPED, seed=3)
    drawn = list(islice(openings, 900))
    assert [len(moves) for moves in drawn] == [3] * 147 + [4] * 536 + [5] * 217
    ends = [end_of(moves) for moves in drawn]
    assert len(set(ends)) == 900
    assert {moves[:4] for moves in drawn[683:]} <= set(drawn[147:683])
    assert drawn == list(islice(openings, 900))
    other = list(islice(BalancedOpenings(CHECKERS, SHIPPED, seed=4), 147))
    assert other != drawn[:147] and set(other) == set(drawn[:147])


@compiled_only
def test_the_shipped_ones_are_those_that_the_shipped_network_calls_even() -> None:
    content = json.loads(SHIPPED.read_text())
    judge = parse_player(CHECKERS, content["judge"])
    assert judge.evaluator is not None
    assert value_mark(CHECKERS, judge.evaluator) == content["mark"]
    engine = Engine(CHECKERS, judge.evaluator, **judge.options)
    shipped = set(BalancedOpenings(CHECKERS, SHIPPED).lines)
    kept = []
    for moves in islice(Openings(CHECKERS, plies=3, seed=1), 12):
        engine.clear()
        value = engine.search(end_of(moves), nodes=content["nodes"]).value
        kept.append(moves in shipped)
        assert kept[-1] == (abs(engine.evaluator.in_units(value)) <= content["within"])
    assert set(kept) == {True, False}


def test_openings_are_found_by_a_search_of_every_position() -> None:
    judge = parse_player(TIC_TAC_TOE, "open_lines@exact")
    content = find_openings(TIC_TAC_TOE, judge, lengths=(1, 2), nodes=100_000, within=0.1)
    # all nine first moves draw; so do 24 of the 72 replies: to the centre the corners, to a corner
    # the centre, and to an edge the centre, the corners beside it and the edge opposite
    assert [text for text in content["openings"] if " " not in text] == list("123456789")
    drawn = {text for text in content["openings"] if " " in text}
    assert {text for text in drawn if text[0] == "5"} == {"5 1", "5 3", "5 7", "5 9"}
    assert {text for text in drawn if text[0] == "1"} == {"1 5"}
    assert {text for text in drawn if text[0] == "2"} == {"2 5", "2 1", "2 3", "2 8"}


def test_biased_openings_are_those_in_which_all_judges_find_the_same_side_ahead() -> None:
    judges = [parse_player(TIC_TAC_TOE, name) for name in ("open_lines@exact", "open_lines@exact")]
    content = find_openings(
        TIC_TAC_TOE, *judges, lengths=(2,), nodes=100_000, beyond=1.0, within=float("inf")
    )
    even = find_openings(TIC_TAC_TOE, judges[0], lengths=(2,), nodes=100_000, within=0.1)
    assert len(content["openings"]) == 72 - len(even["openings"]) == 48
    assert not set(content["openings"]) & set(even["openings"])
    assert (content["beyond"], content["judge"]) == (1.0, "open_lines@exact open_lines@exact")
    file = BalancedOpenings(CHECKERS, openings_file(CHECKERS, Path("biased")))
    assert str(file) == "biased openings of 5 plies or more" and len(file.lines) == 1332


def test_matches_of_checkers_begin_with_them_unless_told_otherwise(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "even").mkdir()  # takes no one's place
    monkeypatch.chdir(tmp_path)
    match = play_match(
        CHECKERS, *[parse_player(CHECKERS, "random")] * 2, limits=Limits(1), games=4, seed=5
    )
    expected = list(islice(BalancedOpenings(CHECKERS, SHIPPED, seed=5), 2))
    assert [tuple(pair.games[0].moves[:3]) for pair in match.units] == expected
    assert isinstance(usual_openings(TIC_TAC_TOE), Openings)
    said = {}
    for options in ([], ["--plies", "4"], ["--openings", str(SHIPPED)]):
        command = ["match", "checkers", "random", "random", "--games", "2", "--quiet", *options]
        assert main(command) == 0
        said[options[0] if options else ""] = capsys.readouterr().out.splitlines()[0]
    assert said[""].endswith("a move, balanced openings of 3 plies or more")
    assert said["--plies"].endswith("a move, openings of 4 plies or more")
    assert said["--openings"] == said[""]


def test_the_command_writes_a_file_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new" / "even.openings.json"
    options = ["--judge", "open_lines@exact", "--plies", "2", "--within", "0.1", "--quiet"]
    assert main(["openings", "tic_tac_toe", str(file), *options]) == 0
    assert "plies 2: within 0.1 lines of even 24 of 72 positions" in capsys.readouterr().out
    assert len(BalancedOpenings(TIC_TAC_TOE, file).lines) == 24
    played = ["tic_tac_toe", "random", "random", "--openings", str(file), "--games", "2", "--quiet"]
    assert main(["match", *played]) == 0
    assert "a move, balanced openings of 2 plies or more" in capsys.readouterr().out
    for wrong, says in (
        (["--plies", "9"], "--plies: expected 0 to 8, found 9"),
        (["--within", "0"], "expected --within above 0"),
        (["--beyond", "1", "--within", "0.5"], "expected --within above 0 and --beyond"),
        (["--judge", "random"], "expected a judge with an evaluator, found random"),
    ):
        with pytest.raises(SystemExit) if "9" in wrong else nullcontext():
            assert main(["openings", "tic_tac_toe", str(file), "--quiet", *wrong]) == 2
        error = capsys.readouterr().err
        assert says in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "plies", "ends"),
    [
        ("9-13 21-17 5-9\n# a ballot\n\n1. 11-15 22-18 # single corner\n", None,
         ["9-13 21-17 5-9", "11-15 22-18"]),
        ("B:W18,22:B1,2\nW:W21,22:B1,2:H0:F1\nB:W18,22:B1,2\n", None,
         ["B:W18,22:B1,2", "W:W21,22:B1,2"]),
        ('[GameType "21"]\n\n1. 11-15 23-19 2. 8-11 22-17 1-0\n\n[FEN "W:W21,22:B1,2"]\n\n'
         "1. 22-18 *\n", 3, ["11-15 23-19 8-11", "W:W21,22:B1,2 22-18"]),
        ('[FEN "B:W18,22:B1,2"]\n[FEN "W:W21,22:B1,2"]\n', None,
         ["B:W18,22:B1,2", "W:W21,22:B1,2"]),
    ],
)  # fmt: skip
def test_openings_as_people_list_them(
    text: str, plies: int | None, ends: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "list.txt"
    file.write_text(text)
    openings = BalancedOpenings(CHECKERS, file, plies=plies)
    players = [parse_player(CHECKERS, name) for name in ("random", "material")]
    options: dict[str, Any] = {"limits": Limits(depth=1), "games": 4, "threads": 1}
    with MatchJournal.open(tmp_path / "journal", {}, resume=None) as journal:
        match, again = (
            play_match(CHECKERS, *players, openings=openings, journal=journal, **options)
            for _ in range(2)
        )
    assert [unit.games for unit in again.units] == [unit.games for unit in match.units]
    for words in map(str.split, ends):  # each begins a pair
        start = CHECKERS.parse_position(words.pop(0)) if ":" in words[0] else None
        record = GameRecord(CHECKERS, start)
        for word in words:
            record.play_text(word)
        begun = [
            (game.start, game.moves[: record.ply]) for unit in match.units for game in unit.games
        ]
        assert begun.count((record.start, record.moves)) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9-13 21-17\n9-13 1-2\n", "line 2: expected a position.*found '1-2'"),
        ("hello\n", "line 1: expected a position, or without dice first moves"),
        ("\n", "expected openings of checkers, found none"),
    ],
)
def test_a_list_with_a_fault_names_its_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"list.txt.*{said}"):
        BalancedOpenings(CHECKERS, file)


def with_entry(tmp_path: Path, name: str, value: Any) -> None:

    content = json.loads(SHIPPED.read_text())
    file = tmp_path / "even.openings.json"
    file.write_text(json.dumps({**content, name: value}))
    BalancedOpenings(CHECKERS, file)


test_errors = errors_of(globals())
