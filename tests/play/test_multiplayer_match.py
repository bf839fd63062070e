"""Matches of more than two players."""

from __future__ import annotations

import json
from typing import Any

import pytest

from games.chinese_checkers import ChineseCheckers
from games.nim import LiNim
from games.record import GameRecord
from play.__main__ import main
from play.match.multiplayer import MultiplayerMatch, Round, play_multiplayer_match
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from play.players.thinker import Thinker
from play.terminal.session import Session
from search import as_evaluator

pytestmark = pytest.mark.plain


def nim_record(texts: list[str]) -> GameRecord:
    record = GameRecord(LiNim((1, 1), 3))
    for text in texts:
        record.play_text(text)
    return record


def test_seats_places_and_points() -> None:
    # the second player of two moves is first, the first second, the third last
    record = nim_record(["1 from 1", "1 from 2"])
    match = MultiplayerMatch(("A", "B", "C"), Limits(depth=1))
    match.rounds.append(Round((record, record, record)))
    # B sits second, third and first; so does everybody once
    assert match.rounds[0].outcomes(1) == [(2, -2, 0), (-2, 0, 2), (0, 2, -2)]
    for standing in match.standings():
        assert standing.first.value == pytest.approx(1 / 3)
        assert (standing.place.value, standing.points.value) == (2.0, 0.0)
    drawn = GameRecord(LiNim((1, 1), 3))
    drawn.declare(0.0, "agreed")
    match.rounds[:] = [Round((record, drawn, drawn))]
    first, second, third = match.standings()
    assert (second.first.value, first.first.value) == (pytest.approx(1 / 3), 0.0)
    assert (first.place.value, second.place.value) == (2.0, pytest.approx(5 / 3))
    assert third.place.value == pytest.approx(7 / 3)


def test_a_match_is_the_same_with_any_number_of_workers() -> None:
    from play.workers import Workers

    game = LiNim((2, 3, 3), 3)
    evaluator = as_evaluator(game, lambda position: 0.0)
    players = [Player("one", evaluator), Player("random"), Player("another random")]
    limits = Limits(depth=9)
    found: list[Any] = [
        play_multiplayer_match(
            game, players, limits=limits, games=12, workers=Workers(jobs=jobs), seed=3
        )
        for jobs in (1, 2)
    ]
    assert found[0].figures() == found[1].figures() and found[0].games == 12
    one, other = found[0].standings()[:2]
    assert one.points.value > other.points.value
    with pytest.raises(ValueError, match="li_nim: expected 3 players, found 2: one, random"):
        play_multiplayer_match(game, players[:2], limits=limits)


def test_players_name_their_method() -> None:
    game = ChineseCheckers(3)
    assert parse_player(game, "hand@max_n,depth=2").options == {"method": "max_n"}


@pytest.mark.thorough
def test_the_command_reports_places(capsys: pytest.CaptureFixture[str]) -> None:
    words = "match chinese_checkers hand random random --games 3 --depth 1 --quiet --json".split()
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "every player in every seat" in lines[0] and "par is 33.3 %" in lines[1]
    assert lines[2].startswith("hand    first in 100.0 %")
    assert json.loads(lines[-1])["standings"][0]["place"][0] == 1.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("chinese_checkers hand random", "chinese_checkers: expected 3 players, found 2"),
        ("checkers random random random", "checkers: expected two players, found 3"),
        ("chinese_checkers hand hand hand --save x", "--save: expected a game for two players"),
    ],
)
def test_too_many_or_too_few_players(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", *words.split(), "--quiet"]) == 2
    assert message in capsys.readouterr().err


def test_three_sit_at_the_terminal() -> None:
    game = ChineseCheckers(3)
    rows = game.position_text(game.start()).split()[0].replace("1", ".").split("/")
    rows[12] = rows[12][:4] + "1" + rows[12][5:]
    rows[13:] = [".111", "111", "11", "1"]
    session = Session(game, Thinker(game, "hand", Limits(depth=1)), frozenset({0, 2}))
    session.set_up("/".join(rows) + " 1 99")
    said = [*session.answer("102-103"), *session.advance()]
    assert any("Player 2 (hand)" in line for line in said), said
    assert session.side == 2  # the other person's turn
    list(session.answer("resign"))
    assert session.record.outcomes() == (0.5, 0.5, -1.0)  # the person whose turn it was
    assert session.end_text() == "Player 1 and Player 2 are first, then Player 3 (resignation)."
    assert '[Second "hand"]' not in session.file_text()  # two people are told apart by their sides
    assert '[Second "hand Player 2"]' in session.file_text()
    list(session.answer("undo"))
    assert session.side == 0 and session.record.ply == 0
    list(session.answer("102-111"))
    text = "Player 1 is first, then Player 2 and Player 3 (end of the game)."
    assert session.end_text() == text
