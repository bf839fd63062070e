"""Matches of more than two players."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docs.examples.li_nim import LiNim
from games.chinese_checkers import ChineseCheckers
from games.file_form import form_of
from games.record import GameRecord
from play.__main__ import main
from play.matches.driver import play_match
from play.matches.ladder import ladder
from play.matches.report import Match
from play.matches.units import Rounds, Terms
from play.players.limits import Limits
from play.players.parse import parse_player, seated
from play.players.player import Player
from play.terminal.session import Session
from play.words import result_text
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
    players, limits = [Player(name) for name in "ABC"], Limits(depth=1)
    rounds = Rounds(record.game, players, Terms(limits))
    match = Match(record.game, ("A", "B", "C"), limits)
    match.units.append(rounds.unit([(record,)] * 3))
    # B sits second, third and first; so does everybody once
    assert match.units[0].points == ((0, 2, -2), (2, -2, 0), (-2, 0, 2))
    for standing in match.summary().standings():
        assert standing.first.value == pytest.approx(1 / 3)
        assert (standing.place.value, standing.points.value) == (2.0, 0.0)
    drawn = GameRecord(LiNim((1, 1), 3))
    drawn.declare(0.0, "agreed")
    match.units[:] = [rounds.unit([(record,), (drawn,), (drawn,)])]
    first, second, third = match.summary().standings()
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
        play_match(game, *players, limits=limits, games=12, workers=Workers(jobs=jobs), seed=3)
        for jobs in (1, 2)
    ]
    assert found[0].figures() == found[1].figures() and found[0].games == 12
    one, other = found[0].summary().standings()[:2]
    assert one.points.value > other.points.value
    with pytest.raises(ValueError, match="li_nim: expected 3 players, found 2: one, random"):
        play_match(game, *players[:2], limits=limits)


def test_players_name_their_method() -> None:
    game = ChineseCheckers(3)
    assert parse_player(game, "hand@max_n,depth=2").options == {"method": "max_n"}
    with pytest.raises(
        ValueError, match="best_reply: expected it only once, found also 'best_reply'"
    ):
        parse_player(game, "hand@max_n,best_reply")


@pytest.mark.thorough
def test_a_match_that_stops_goes_on_and_its_games_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every byte of the file is that of a match which nobody stopped."""
    words = "match chinese_checkers random random steps --games 9 --depth 1 --threads 1 --quiet"
    whole, stopped = tmp_path / "whole.txt", tmp_path / "stopped.txt"
    assert main([*words.split(), "--save", str(whole)]) == 0
    said = capsys.readouterr().out
    games = list(form_of(ChineseCheckers(3)).read(whole.read_text(), ChineseCheckers(3)))
    assert len(games) == 9 and not any(game.problems for game in games)
    # the second game of a round: everybody has moved on by a seat
    assert [game.names for game in games[:2]] == [
        ("random", "random", "steps"),
        ("steps", "random", "random"),
    ]
    of = Rounds.plain
    calls = []

    def plain(self: Rounds, unit: Any) -> Any:
        calls.append(unit)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return of(self, unit)

    monkeypatch.setattr(Rounds, "plain", plain)
    assert main([*words.split(), "--save", str(stopped)]) == 130
    assert "with --resume continues" in capsys.readouterr().err
    assert main([*words.split(), "--save", str(stopped), "--resume"]) == 0
    assert capsys.readouterr().out == said
    assert stopped.read_bytes() == whole.read_bytes() and len(list(tmp_path.iterdir())) == 2


def test_a_ladder_seats_every_group_and_rates_by_who_came_before_whom() -> None:
    game = LiNim((2, 3, 3), 3)
    perfect = as_evaluator(game, lambda position: 0.0)
    players = [Player("random"), Player("one", perfect), Player("two"), Player("three")]
    ratings, matches = ladder(game, players, limits=Limits(depth=9), games=12)
    assert [match.names for match in matches] == [
        ("random", "one", "two"),
        ("random", "one", "three"),
        ("random", "two", "three"),
        ("one", "two", "three"),
    ]
    assert ratings[0].name == "one" and {rating.games for rating in ratings} == {3 * 2 * 12}
    (anchor,) = [rating for rating in ratings if rating.name == "random"]
    assert anchor.elo.value == 0.0
    with pytest.raises(ValueError, match="expected at least 3 players, found 2"):
        ladder(game, players[:2], limits=Limits(depth=1))


@pytest.mark.thorough
def test_the_command_reports_places(capsys: pytest.CaptureFixture[str]) -> None:
    words = "match chinese_checkers hand random random --games 3 --depth 1 --quiet --json".split()
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "every player in every seat" in lines[0] and "par is 33.3 %" in lines[1]
    assert lines[2].startswith("hand    first in 100.0 %")
    assert json.loads(lines[-1])["standings"][0]["place"][0] == 1.0


def test_three_sit_at_the_terminal() -> None:
    game = ChineseCheckers(3)
    rows = game.position_text(game.start()).split()[0].replace("1", ".").split("/")
    rows[12] = rows[12][:4] + "1" + rows[12][5:]
    rows[13:] = [".111", "111", "11", "1"]
    session = Session(game, seated(game, "hand", Limits(depth=1)), frozenset({0, 2}))
    session.table.set_position("/".join(rows) + " 1 99")
    said = [*session.answer("102-103"), *session.advance()]
    assert any("Player 2 (hand)" in line for line in said), said
    assert session.side == 2  # the other person's turn
    list(session.answer("resign"))
    assert session.record.outcomes() == (0.5, 0.5, -1.0)  # the person whose turn it was
    assert result_text(session.record) == "Player 3 resigned"
    assert '[Second "hand"]' not in session.file_text()  # two people are told apart by their sides
    assert '[Second "hand Player 2"]' in session.file_text()
    list(session.answer("undo"))
    assert session.side == 0 and session.record.ply == 0
    list(session.answer("102-111"))
    assert result_text(session.record) == "Player 1 is first, then Player 2 and Player 3"


def test_a_game_of_three_is_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = GameRecord(ChineseCheckers(3))
    for text in ("6-14", "85-83", "75-77", "3-6"):
        record.play_text(text)
    record.forfeit(1, "resignation")
    form = form_of(record.game)
    path, judged = tmp_path / "game.txt", tmp_path / "judged.txt"
    path.write_text(form.write(record, ("anna", "otto", "carl"), {}))
    words = ["analyse", str(path), "steps", "--game", "chinese_checkers", "--depth", "1"]
    assert main([*words, "--output", str(judged), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "Player 1 anna, Player 2 otto, Player 3 carl" in said
    assert "    1. Player 1 6-14" in said and "    2. Player 1 3-6" in said
    (read,) = form.read(judged.read_text(), record.game)
    assert read.record is not None and read.record.outcomes() == (0.5, -1.0, 0.5)
    assert read.record.annotations[0].depth == 1
