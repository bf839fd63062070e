"""Analyses of games: losses are those of the search, files are kept, damage is reported."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import games
from games.backgammon.match_file import read_matches, write_match
from games.backgammon.record import BackgammonRecord
from games.checkers.pdn import read_games
from games.file_form import PLAIN_TEXT, form_of
from games.record import GameRecord
from play.__main__ import main
from play.judging.analysis import judge_moves, judged_record, remark, summary
from play.judging.cube import cube_decisions, judge_cube
from play.judging.marks import POINTS, accuracy, mark
from play.players.chances import file_value
from play.players.limits import Limits
from play.players.parse import seated
from play.players.seats import Seat
from search import WIN, Engine

CHECKERS: Any = games.load("checkers")
BACKGAMMON: Any = games.load("backgammon")

PDN = """[Event "T\u00ebst"]
[Black "A"]
[White "B"]
[Result "1-0"]

1. 11-15 {0.2/5 first {brace} 22-18 15x22 25x18 $1 8-11 (9-13 18-14) 18-14 {nice} 9x18 1-0

[Event "damaged"]
1. 12-15 *

[Event "third"]
[FEN "W:WK5:BK1,K32"]
1... 5-9 32-27 1/2-1/2
"""


@pytest.fixture(scope="module")
def classic() -> Seat:
    return seated(CHECKERS, "classic", Limits(depth=4), table_mib=1)


def test_losses_are_those_of_the_search(classic: Seat) -> None:
    (read, _, _) = read_games(PDN, CHECKERS)
    record = read.record
    assert record is not None
    judged = list(judge_moves(record, classic))
    assert [one.move for one in judged] == record.moves
    for one, position in zip(judged, record.positions, strict=False):
        values = dict(Engine(CHECKERS, "classic").analyse(position, depth=4).moves)
        assert one.choices == len(values)
        assert one.value == pytest.approx(values[one.move])
        assert one.loss == pytest.approx(max(values.values()) - values[one.move])
        assert one.preferred == (values[one.move] == max(values.values()))
        said = remark(record, one, 0.0)
        assert bool(said) == (one.loss > 0)
        if said:
            assert re.match(rf"(\?[?!]? )?lost {one.loss:.3f}: ", said)
            assert said.startswith(mark(one.given_up or 0.0) or "lost")
    assert list(judge_moves(record, classic)) == judged
    black = [one for one in judged if one.side == 0 and one.choices > 1]
    assert summary(judged, 0).startswith(f"{len(black)} decisions, ")


def test_annotations_keep_what_was_noted(classic: Seat) -> None:
    (read, _, _) = read_games(PDN, CHECKERS)
    record = read.record
    assert record is not None
    new = judged_record(record, [*judge_moves(record, classic)], 0.0)
    assert (new.moves, new.outcome()) == (record.moves, record.outcome())
    assert new.annotations[0].comment.startswith("noted 0.2/5 first (brace")
    assert new.annotations[5].comment.startswith("nice")
    assert all(one.depth == 4 and one.value is not None for one in new.annotations)


def test_wins_and_losses_are_called_by_name(classic: Seat) -> None:
    record = GameRecord(CHECKERS)
    record.play_text("11-15")
    (one,) = judge_moves(record, classic)
    best = CHECKERS.parse_move(CHECKERS.start(), "9-13")
    known = replace(one, best=best, given_up=None)
    missed = replace(known, value=0.1, best_value=WIN - 5, loss=995 - 0.1)
    assert remark(record, missed, 0.1) == "misses a win: 9-13 won in 5 plies"
    losing = replace(known, value=4 - WIN, best_value=0.25, loss=996.25)
    assert remark(record, losing, 0.1) == "loses: 9-13 +0.250"
    assert remark(record, replace(losing, given_up=0.52), 0.1) == "?? loses: 9-13 +0.250"
    assert "1 that changed a game already decided" in summary([losing], 0)
    assert summary([replace(one, choices=1)], 0) == "no decisions"
    # two kings against one wins either way, sooner or later
    won = GameRecord(CHECKERS, CHECKERS.parse_position("B:W29:BK22,K2"))
    won.play_text("2-6")
    (either,) = judge_moves(won, classic)
    values = dict(Engine(CHECKERS, "classic").analyse(won.start, depth=4).moves)
    assert max(values.values()) > WIN / 2 and either.value > WIN / 2
    assert either.loss == 0.0
    assert file_value(WIN - 3) == 997.0 and file_value(3 - WIN) == -997.0
    assert file_value(-0.5) == -0.5


def test_accuracy_follows_from_what_was_given_up(classic: Seat) -> None:
    """A man given away in a level position, by the chances of the positions before and after."""
    position = CHECKERS.parse_position("B:W21,22,25,26,30:B1,5,6,9,10")
    record = GameRecord(CHECKERS, position)
    record.play_text("10-14")
    (one,) = judge_moves(record, classic)
    before = classic.evaluator.chances(position, one.best_value)
    after = classic.evaluator.chances(position, one.value)
    assert before is not None and after is not None
    assert one.given_up == pytest.approx(before.expected - after.expected)
    other = replace(one, given_up=0.12)
    best = replace(one, given_up=0.0)
    theirs = replace(one, given_up=0.9, side=1)
    single = replace(one, given_up=0.9, choices=1)
    games = [best, other, theirs, single, best]
    assert summary(games, 0).endswith(f", accuracy {accuracy([0.0, 0.12, 0.0]):.1f} %")
    assert summary(games, 1).endswith(f", accuracy {accuracy([0.9]):.1f} %")
    assert remark(record, other, 0.0).startswith("? lost ")
    # without a calibration nothing is said
    assert "accuracy" not in summary([best, replace(one, given_up=None)], 0)


def test_backgammon_counts_points(tmp_path: Path) -> None:
    record = BackgammonRecord(BACKGAMMON, match_length=3)
    record.play_text("24/20", roll=BACKGAMMON.dice.parse("31"))
    (one,) = judge_moves(record, seated(BACKGAMMON, "wide", Limits(depth=0)))
    assert one.given_up == one.loss / 2 and one.loss > 0.1
    for loss, sign in ((0.05, "?!"), (0.1, "?"), (0.2, "??")):
        other = replace(one, loss=loss, given_up=loss / 2)
        assert remark(record, other, 0.0).startswith(f"{sign} lost {loss:.3f}: ")


def test_a_proven_end_is_written_as_such(tmp_path: Path) -> None:
    record = GameRecord(CHECKERS, CHECKERS.parse_position("B:W32:BK27,K18"))
    classic = seated(CHECKERS, "classic", Limits(depth=8))
    record.play(classic.engine.search(record.start, depth=8).move)
    judged = list(judge_moves(record, classic))
    new = judged_record(record, judged, 0.1)
    (note,) = new.annotations
    assert note.value is not None and note.value > WIN / 2
    assert re.search(r"\{won in [0-9]+ pl", form_of(CHECKERS).write(new, ("A", "B"), {}))
    text = PLAIN_TEXT.write(new, ("A", "B"), {})
    assert re.search(r"; won_in_[0-9]+_pl(y|ies) 8", text) and "99999" not in text
    (read,) = PLAIN_TEXT.read(text, CHECKERS)
    assert read.record is not None and read.record.annotations == [note]


def test_a_pdn_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.pdn"
    path.write_bytes(PDN.encode("latin-1"))
    before = path.read_bytes()
    command = ["analyse", str(path), "classic", "--depth", "2", "--least", "0", "--quiet"]
    assert main(command) == 1  # one game is damaged
    out, err = capsys.readouterr()
    assert "game 2: line 9: move 1 of the game" in err and "1 damaged game skipped" in err
    assert "Game 1: Black A, White B, 1-0 (unclear which side it names first)" in out
    assert "left out: of 1 decided games 0 look" in err and "say --black-first or --no-bl" in err
    assert "Marks and accuracy: by the chances if both search 2,000 positions a move\n" in out
    assert path.read_bytes() == before
    written = (tmp_path / "games-analysed.pdn").read_text("utf-8")
    first, second = read_games(written, CHECKERS)
    assert (first.problems, second.problems) == ([], [])
    assert first.tags["Event"] == "T\u00ebst" and "classic, depth 2" in first.tags["Annotator"]
    assert first.record is not None and second.record is not None
    assert [one.depth for one in first.record.annotations] == [2] * 7
    assert second.record.start == CHECKERS.parse_position("W:WK5:BK1,K32")
    assert main(command) == 2  # the output exists already
    assert "expected a new file" in capsys.readouterr().err
    assert main([*command, "--output", str(path)]) == 2
    assert "which is the input" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert main([*command, "--output", str(path), "--overwrite"]) == 1
    assert path.read_text("utf-8") == written


def test_a_mat_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = BackgammonRecord(BACKGAMMON, match_length=3)
    for roll, move in (
        ("31", "8/5 6/5"),
        ("64", "24/14"),
        ("62", "24/18 13/11"),
        ("11", "bar/24 8/7*(3)"),
    ):
        record.play_text(move, roll=BACKGAMMON.dice.parse(roll))
    record.declare(-1.0, "resignation")
    path = tmp_path / "match.mat"
    path.write_text(write_match([record], ("Ann", "Bob")), "utf-8")
    assert main(["analyse", str(path), "hand", "--depth", "0", "--least", "0.001", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    thinker = seated(BACKGAMMON, "hand", Limits(depth=0))
    judged = [*judge_moves(record, thinker)]
    assert [one.side for one in judged] == [0, 1, 0, 1]
    assert judged[0].preferred and "8/5 6/5" not in out
    for one in judged:
        if one.loss >= 0.001:
            assert f"{mark(one.given_up or 0.0, POINTS)} lost {one.loss:.3f}: ".strip() in out
    assert f"X: {summary(judged, 0)}" in out
    report = (tmp_path / "match-analysed.txt").read_text("utf-8")
    assert "Game 1: X Ann, O Bob, 0 : 0" in report and "1. O 64: 24/14" in report


# --- the cube -------------------------------------------------------------------------------------

CUBE = """\
 7 point match

 Game 1
 Ann : 0                         Bob : 0
  1) 31: 8/5 6/5                  Doubles => 2
  2)  Drops
                                  Wins 1 point

 Game 2
 Ann : 0                         Bob : 1
  1) 31: 8/5 6/5                 42: 8/4 6/4
  2)  Doubles => 2                Takes
  3) 66: 24/18(2) 13/7(2)         11: 24/23(2) 6/5(2)
      Wins 2 points
"""


def test_decisions_about_the_cube_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cube.mat"
    path.write_text(CUBE)
    command = ["analyse", str(path), "wide", "--plies", "0", "--quiet"]
    assert main([*command, "--output", str(tmp_path / "o.txt")]) == 0
    shown = capsys.readouterr().out
    assert "    1. O double; lost 0." in shown and "no double, take" in shown
    assert "    1. X drop; lost 1." in shown
    assert "    2. X double; lost 0." in shown and "    2. O take" not in shown
    assert "cube: 1 decision, 0 right" in shown and "wrong double" in shown
    assert "2 games" in shown and "  Ann\n    moves: 3 of 3 with a choice" in shown
    assert shown.count("thousandths lost a decision, awful") == 2


def test_each_decision_loses_what_the_equities_say() -> None:
    game: Any = games.load("backgammon")
    (match,) = read_matches(CUBE, game)
    record = match.games[1].record
    assert record is not None
    thinker = seated(game, "wide", Limits(depth=0))
    judged = list(judge_cube(record, thinker))
    assert [(one.ply, one.side, one.action) for one in judged] == [
        (1, 1, "no double"), (2, 0, "double"), (2, 1, "take"), (3, 1, "no double"),
    ]  # fmt: skip
    double, take = judged[1:3]
    decision = double.decision
    (_, situation, _) = list(cube_decisions(record))[1]
    assert decision == thinker.engine.cube(situation, depth=0)  # as deep as was asked for
    assert (
        double.loss == pytest.approx(decision.no_double - decision.double_take) and take.loss == 0
    )
    assert judged[3].decision.redouble and not judged[0].decision.redouble
