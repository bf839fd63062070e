"""Luck, errors and ratings over whole matches, against arithmetic by hand and slow twins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interrupts import ctrl_c_at_workers

import games
from games.backgammon.match_file import write_match
from games.backgammon.record import BackgammonRecord
from games.backgammon.situation import position_of
from games.contract import starts
from play.__main__ import main
from play.dice import Dice
from play.judging.analysis import Judged, Playouts, judge_moves, remark
from play.judging.cube import JudgedCube, cube_remark, judge_cube
from play.judging.luck import JudgedRoll, judge_rolls
from play.judging.performance import JudgedGame, Performance, rating_word
from play.judging.stakes import result
from play.matches.loop import play_with_dice
from play.players.limits import Limits
from play.players.parse import parse_player, seated
from play.players.seats import Seat
from play.rollout.cube import rollout_cube
from play.rollout.rollout import rollout

GAME: Any = games.load("backgammon")


@pytest.fixture(scope="module")
def thinker() -> Seat:
    return seated(GAME, "wide", Limits(depth=0))


def bearing_off(own: dict[int, int], theirs: dict[int, int]) -> Any:
    sides = [[one.get(point, 0) for point in range(26)] for one in (own, theirs)]
    return position_of(*sides, 0)


def opening(plies: int = 3, start: Any = None) -> BackgammonRecord:
    """The first plies of a game, three at most."""
    record = BackgammonRecord(GAME, start)
    played = (("31", "8/5 6/5"), ("66", "24/18(2) 13/7(2)"), ("21", "13/11 6/5"))
    for roll, move in played[:plies]:
        record.play_text(move, roll=GAME.dice.parse(roll))
    return record


def race(roll: str, move: str, **options: Any) -> BackgammonRecord:
    """X has a checker on its 6 point, off with 27 of 36 rolls; O is off with any."""
    record = BackgammonRecord(GAME, bearing_off({6: 1}, {1: 1}), **options)
    record.play_text(move, roll=GAME.dice.parse(roll))
    return record


@pytest.mark.parametrize(
    ("options", "stake"),
    [
        ({}, 1.0),
        ({"cube": 4, "owner": 1}, 4.0),  # O's cube, which is dead: the next roll ends the game
        ({"match_length": 1}, 0.5),
        ({"match_length": 5, "score": (4, 4)}, 0.5),
    ],
)
@pytest.mark.parametrize(("roll", "move", "luck"), [("21", "6/3", -1.5), ("61", "6/off", 0.5)])
def test_luck_by_hand(
    options: dict[str, Any], stake: float, roll: str, move: str, luck: float, thinker: Seat
) -> None:
    """Before the roll X has 2 * 27 / 36 - 1 = 0.5; afterwards 1 or -1."""
    record = race(roll, move, **options)
    (found,) = judge_rolls(record, thinker, cube=bool(options))
    assert found.luck == pytest.approx(luck, abs=1e-6)
    assert (found.stake, found.side) == (stake, 0)
    assert found.word == ("very unlucky" if luck < 0 else "lucky")


def test_luck_is_the_best_move_less_the_average(thinker: Seat) -> None:
    """In a game for money without the cube that O begins, by a loop over all rolls and moves."""
    record = opening(start=starts(GAME)[1])
    found = list(judge_rolls(record, thinker))
    for one, position in zip(found, record.positions, strict=False):
        best = []
        for roll in range(21):
            after = [GAME.play(position, move) for move in GAME.legal_moves(position, roll)]
            best.append(max(-float(value) for value in thinker.evaluator.values(after)))
        chances = np.array(GAME.rolls if one.ply else GAME.dice.first)
        assert one.luck == pytest.approx(best[one.roll] - chances @ best, abs=1e-6)
    assert found[1].word == "lucky"


def test_who_begins_is_luck_as_well(thinker: Seat) -> None:
    """At an even score the average over the first rolls of both sides is 0."""
    luck = {}
    for side in (0, 1):
        record = BackgammonRecord(GAME, starts(GAME)[side], match_length=7)
        record.play_text("8/5 6/5", roll=GAME.dice.parse("31"))
        (first,) = judge_rolls(record, thinker, cube=True)
        (move,) = judge_moves(record, thinker, cube=True)
        luck[side] = first.luck
        assert move.stake == first.stake < 0.1
        # the move's value is estimated before it, the roll's after it
        assert first.luck == pytest.approx(move.best_value, abs=0.01)
    assert luck[0] == pytest.approx(luck[1])


def test_at_the_last_point_only_winning_counts(thinker: Seat) -> None:
    record = BackgammonRecord(GAME, match_length=3, score=(2, 2))
    record.play_text("24/20", roll=GAME.dice.parse("31"))
    (one,) = judge_moves(record, thinker, cube=True)
    found = thinker.think(record.start, roll=record.rolls[0], all_moves=True)
    wins = {move: 2 * chances[0] - 1 for (move, _), chances in
            zip(found.moves, found.move_outcomes, strict=True)}  # fmt: skip
    assert one.value == pytest.approx(wins[one.move], abs=1e-9)
    assert one.loss == pytest.approx(max(wins.values()) - wins[one.move], abs=1e-9)
    (money,) = judge_moves(record, thinker)
    assert money.loss != pytest.approx(one.loss, abs=1e-3)


def test_a_cube_that_was_taken_doubles_the_stake(thinker: Seat) -> None:
    record = BackgammonRecord(GAME)
    record.play_text("8/5 6/5", roll=GAME.dice.parse("31"))
    record.act("double")
    record.act("take")
    record.play_text("8/4 6/4", roll=GAME.dice.parse("42"))
    assert [one.stake for one in judge_moves(record, thinker, cube=True)] == [1.0, 2.0]
    assert [one.stake for one in judge_rolls(record, thinker, cube=True)] == [1.0, 2.0]
    assert [one.stake for one in judge_cube(record, thinker)] == [1.0, 1.0]


def test_results_of_a_match_are_chances_gained() -> None:
    record = BackgammonRecord(GAME, match_length=5, score=(4, 2), crawford=True)
    assert result(GAME, record) is None
    record.declare(1.0, "resignation")
    won = result(GAME, record)
    lost = BackgammonRecord(GAME, match_length=5, score=(4, 2), crawford=True)
    lost.declare(-2.0, "resignation")
    stakes, _ = GAME.cube.stakes(lost.beginning().situation())
    before = 1 - float(stakes.equities.before[2, 0])
    assert won == pytest.approx(1 - before)
    assert result(GAME, lost) == pytest.approx(0.5 - before)


def move(loss: float, side: int = 0, choices: int = 2, stake: float = 1.0) -> Judged:
    return Judged(0, side, 0, -loss, 1, 0.0, loss, 0, choices, loss / 2, stake)


def test_totals_and_ratings() -> None:
    class Decision:
        def loss(self, action: str) -> float:
            return 0.2

    record = BackgammonRecord(GAME)
    record.declare(2.0, "resignation")
    game = JudgedGame(record, cube=True)
    for one in (
        move(0.05), move(0.1, stake=2.0), move(0.2), move(0.0), move(0.0, choices=1),
        move(0.9, side=1), JudgedCube(0, 0, "double", Decision(), 0.25, 2.0),
        JudgedCube(0, 0, "no double", Decision(), 0.0), JudgedCube(0, 1, "take", Decision(), 0.0),
        JudgedRoll(0, 0, 3, 0.7, 2.0), JudgedRoll(0, 1, 3, -0.4),
    ):  # fmt: skip
        game.add(one)
    game.record.moves[:] = range(len(game.moves))  # as if they were its moves
    totals = Performance()
    totals.add(game, 0)
    assert (totals.moves, totals.unforced, totals.decisions) == (5, 4, 1)
    assert totals.move_loss == pytest.approx((0.35, 0.45))
    assert totals.cube_loss == pytest.approx((0.25, 0.5))
    assert totals.marks == {"?!": 1, "?": 1, "??": 1}
    assert totals.cube_errors == {"wrong double": (1, 0.25)}
    assert totals.luck == pytest.approx((0.7, 1.4))
    assert totals.luck_marks["very lucky"] == 1 and totals.luck_marks["unlucky"] == 0
    assert (totals.result, totals.adjusted) == pytest.approx((2.0, 2.0 - 1.4 - 0.4))
    assert totals.error == pytest.approx((0.35 + 0.25) / 5)
    theirs = Performance()
    theirs.add(game, 1)
    assert (theirs.result, theirs.adjusted) == pytest.approx((-2.0, -0.2))
    assert Performance().error is None


@pytest.mark.parametrize(
    ("error", "word"),
    [(0.0, "supernatural"), (0.002, "world class"), (0.0049, "world class"), (0.005, "expert"),
     (0.0119, "advanced"), (0.012, "intermediate"), (0.018, "casual player"),
     (0.026, "beginner"), (0.035, "awful"), (2.0, "awful")],
)  # fmt: skip
def test_words_of_ratings(error: float, word: str) -> None:
    assert rating_word(error) == word


def test_doubtful_moves_are_rolled_out(thinker: Seat) -> None:
    """A race with the gammon at stake: values of both moves are those of a rollout."""
    start = bearing_off({6: 3, 5: 3, 4: 2, 3: 2}, {6: 4, 5: 4, 4: 2})
    roll = GAME.dice.parse("21")
    record = BackgammonRecord(GAME, start)
    values = dict(thinker.think(start, roll=roll, all_moves=True).moves)
    worst = min(values, key=values.__getitem__)
    record.play(worst, roll=roll)
    (one,) = judge_moves(record, thinker, playouts=Playouts(72, least=0.01, most=2))
    better = sorted(values, key=values.__getitem__)[-2:][::-1]
    found = rollout(
        GAME, start, thinker.evaluator, roll=roll, moves=[*better, worst], games=72,
        lookup=thinker.lookup,
    )  # fmt: skip
    assert one.value == found.equity[2]
    assert (one.best, one.best_value) == (found.moves[found.best], found.equity[found.best])
    assert one.error is not None and "by rollouts: " in remark(record, one, 0.0)
    (plain,) = judge_moves(record, thinker, playouts=Playouts(72, least=10.0))
    assert plain.error is None and plain.value == values[worst]


def test_doubtful_cubes_are_rolled_out(thinker: Seat) -> None:
    record = BackgammonRecord(GAME, match_length=7)
    record.play_text("8/5 6/5", roll=GAME.dice.parse("31"))
    record.act("double")
    record.act("drop")
    plain = [*judge_cube(record, thinker)]
    assert [one.error for one in plain] == [None, None] and plain[1].loss > 0.5
    double, drop = judge_cube(record, thinker, playouts=Playouts(36, least=0.05))
    before = record.beginning()
    before.play(record.moves[0], roll=record.rolls[0])
    situation = before.situation()
    found = rollout_cube(thinker.engine, situation, games=36)
    assert double.decision == drop.decision == found.decision
    assert (double.loss, drop.loss) == (found.decision.loss("double"), found.decision.loss("drop"))
    assert double.error == drop.error == pytest.approx(found.intervals[2] / double.stake)
    assert f"± {drop.error:.3f} by rollouts: " in cube_remark(drop, 0.0)
    few = judge_cube(record, thinker, playouts=Playouts(36, least=9.0))
    assert [one.error for one in few] == [None, None]


def test_filtered_moves_have_the_values_of_a_whole_analysis() -> None:
    """The move played is valued however bad it is; with more than its depth limited, all are."""
    filtered = seated(GAME, "wide", Limits(depth=1), filters="normal")
    whole = seated(GAME, "wide", Limits(depth=1, nodes=10**9), filters="normal")
    record = BackgammonRecord(GAME)
    record.play_text("24/20", roll=GAME.dice.parse("31"))
    record.play_text("24/22 6/2", roll=GAME.dice.parse("42"))
    for cube in (False, True):
        few, all_ = ([*judge_moves(record, one, cube=cube)] for one in (filtered, whole))
        for one, other in zip(few, all_, strict=True):
            assert (one.best, one.choices, one.depth) == (other.best, other.choices, 1)
            assert one.value == pytest.approx(other.value, abs=1e-9)
            assert one.best_value == pytest.approx(other.best_value, abs=1e-9)
            assert one.loss > 0.05


def played(seed: int) -> BackgammonRecord:
    """Hand-crafted values play without the cube, after which X doubles and O takes."""
    player = parse_player(GAME, "wide")
    record = BackgammonRecord(GAME, match_length=5)
    seats = [player.seat(GAME, Limits(depth=0), cube=True) for _ in range(2)]
    play_with_dice(record, seats, Dice(GAME, seed), seed)
    return record


def test_a_file_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The totals are those of the single judgements; who plays as the judge does loses nothing."""
    path = tmp_path / "match.mat"
    path.write_text(write_match([played(2)], ("Ann", "Bob")), "utf-8")
    command = ["analyse", str(path), "--plies", "0", "--quiet", "--json", "--overwrite"]
    assert main(command) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    (game,) = figures["games"]
    for side, player in enumerate(figures["players"]):
        own = [one for one in game["moves"] if one["side"] == side]
        assert player["moves"] == len(own)
        assert player["luck"][0] == pytest.approx(sum(one["luck"] for one in own))
        assert player["move_loss"][0] == pytest.approx(sum(one["loss"] for one in own))
        assert player["error"] < 1e-6 and player["rating"] == "supernatural"
        assert player["stakes"] == "chances to win the match"
    results = [player["result"] for player in figures["players"]]
    assert results[0] == -results[1] == pytest.approx(game["result"])
    # what luck does not explain is small, as nobody made an error
    adjusted = figures["players"][0]["luck_adjusted"]
    assert abs(adjusted) < 0.03 < abs(results[0])


def test_games_are_judged_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the same result as one after the other, in the order of the file."""
    records = [opening(plies) for plies in (1, 2, 3)]
    path = tmp_path / "match.mat"
    path.write_text(write_match(records, ("Ann", "Bob")), "utf-8")
    found = []
    for cores in (1, 4):
        monkeypatch.setattr("play.players.limits.CORES", cores)
        output = ["--output", str(tmp_path / f"{cores}.txt")]
        assert main(["analyse", str(path), "--plies", "1", "--quiet", "--json", *output]) == 0
        found.append(json.loads(capsys.readouterr().out.splitlines()[-1]))
    assert found[0] == found[1]
    assert [len(one["moves"]) for one in found[0]["games"]] == [1, 2, 3]


def test_ctrl_c_keeps_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("play.players.limits.CORES", 1)
    record = opening()
    path, output = tmp_path / "match.mat", tmp_path / "o.txt"
    path.write_text(write_match([record, record], ("Ann", "Bob")), "utf-8")
    think, asked = Seat.think, []

    def interrupted(self: Seat, *arguments: Any, **options: Any) -> Any:
        asked.append(arguments)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return think(self, *arguments, **options)

    monkeypatch.setattr(Seat, "think", interrupted)
    command = ["analyse", str(path), "--depth", "0", "--quiet", "--json", "--output", str(output)]
    assert main(command) == 130
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["interrupted"] and [len(one["moves"]) for one in figures["games"]] == [3, 1]
    assert "Game 2" in output.read_text()


def test_ctrl_c_ends_the_judging_of_several_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Searches of six plies would take hours."""
    monkeypatch.setattr("play.players.limits.CORES", 2)
    path = tmp_path / "match.mat"
    path.write_text(write_match([opening()] * 3, ("Ann", "Bob")), "utf-8")
    command = ["analyse", str(path), "--plies", "6", "--quiet", "--json", "--output"]
    with ctrl_c_at_workers(1.0):
        assert main([*command, str(tmp_path / "o.txt")]) == 130
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["interrupted"] and len(figures["games"]) == 3
    assert sum(len(one["moves"]) for one in figures["games"]) < 9


def test_luck_and_errors_agree_with_gnu_backgammon(thinker: Seat) -> None:
    """Of a game for money, cubeless, by the chances that its network gives at 0 plies."""
    gnubg = pytest.importorskip("play.players.gnubg")
    pytest.importorskip("gnubg_nn")
    record = played(5).beginning()
    weak = seated(GAME, "hand", Limits(depth=0))
    dice = Dice(GAME, 3)
    while not record.over:
        roll = dice.roll(1, record.ply)
        record.play(weak.think(record.position, roll=roll).move, roll=roll)

    def best(position: Any, roll: int) -> dict[Any, float]:
        after = {move: GAME.play(position, move) for move in GAME.legal_moves(position, roll)}
        return {move: -gnu_value(one) for move, one in after.items()}

    def gnu_value(position: Any) -> float:
        value = GAME.outcome(position)
        if value is not None:
            return float(value)
        win, gammon, backgammon, lost, worse = gnubg.chances(position, 0)
        return 2 * win - 1 + gammon + backgammon - lost - worse

    ours = [one.luck for one in judge_rolls(record, thinker)][1:]
    lost = [one.loss for one in judge_moves(record, thinker)]
    luck, losses = [], []
    for ply, (position, roll, chosen) in enumerate(
        zip(record.positions, record.rolls, record.moves, strict=False)
    ):
        values = best(position, roll)
        losses.append(max(values.values()) - values[chosen])
        if ply:
            tops = [max(best(position, other).values()) for other in range(21)]
            luck.append(tops[roll] - float(np.dot(GAME.rolls, tops)))
    assert np.corrcoef(ours, luck)[0, 1] > 0.98
    assert np.abs(np.array(ours) - luck).mean() < 0.05
    assert sum(ours) == pytest.approx(sum(luck), abs=0.5)
    assert np.corrcoef(lost, losses)[0, 1] > 0.8
    assert np.mean(lost) == pytest.approx(np.mean(losses), rel=0.35)
