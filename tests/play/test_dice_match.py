"""Games with dice: the moves played, the dice of pairs, points per game, luck."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain
from toys import Walk

from games import kernels
from games.backgammon import Backgammon
from games.backgammon.rules import points_made
from games.contract import DiceGame, starts
from games.kernels import kernel, popcount
from games.record import GameRecord
from games.rolls import Rolls
from play.__main__ import main
from play.dice import OTHER, Dice, choice
from play.matches.balanced import BalancedOpenings
from play.matches.dice_loop import DiceLoop
from play.matches.driver import play_match
from play.matches.journal import MatchJournal
from play.matches.loop import play_with_dice
from play.matches.luck import StaticLuck
from play.players.limits import STATIC, Limits
from play.players.parse import parse_player
from play.players.player import Player
from play.players.seats import Seat
from play.ratings.points import DiceSummary
from play.workers import Workers
from search import KernelEvaluator, Lookup, PythonEvaluator

GAME = Backgammon()


@kernel
def made_points(position):
    """Points made less theirs, checkers borne off, checkers on the bar: a player of some sense."""
    near, far, their_near, their_far, _ = position
    made = popcount(points_made(near, far)) - popcount(points_made(their_near, their_far))
    off = (near & 15) - (their_near & 15)
    bar = (far >> 48 & 15) - (their_far >> 48 & 15)
    return 0.05 * made + 0.1 * off - 0.08 * bar


@kernel
def borne_off(position):
    """Checkers borne off less theirs; most moves are equal."""
    return 0.1 * ((position[0] & 15) - (position[2] & 15))


@kernel
def probe_bare(tables, position):
    """Knows, of positions with many checkers off, an odd value."""
    known = (position[0] & 15) + (position[2] & 15) > 12
    return known, tables[0] * float(position[0] % 7), 3


MADE = KernelEvaluator(GAME, made_points)
OFF = KernelEvaluator(GAME, borne_off)
BARE = Lookup(probe_bare, np.array([0.1]))
RANDOM = Player("random")
A, B = Player("made", MADE), Player("off", OFF)


class Race(Walk):
    """A walk with its own probabilities of the first roll."""

    dice = Rolls(Walk.dice.rolls, (0.5, 0.5))


class Slow:
    """Depth 0 in four lines: the slow twin of the native code."""

    def __init__(self, evaluator: Any, lookup: Lookup | None = None) -> None:
        self.evaluator = evaluator
        self.probe = lookup.plain() if lookup else lambda position: (False,)

    def begin(self, stream: int, side: int) -> None: ...

    def value_of(self, position: Any) -> float:
        outcome, (found, *known) = GAME.outcome(position), self.probe(position)
        if outcome is not None:
            return outcome
        return known[0] if found else self.evaluator(position)

    def choose(self, position: Any, roll: int) -> int:
        return max(
            GAME.legal_moves(position, roll), key=lambda m: -self.value_of(GAME.play(position, m))
        )


def play_dice_game(
    game: Any, seats: Any, dice: Dice, pair: int, start: Any = None, **options: Any
) -> GameRecord:
    record = GameRecord(game, start, repetitions=None, quiet_moves=None)
    return play_with_dice(record, seats, dice, dice.stream(pair), **options)


# --- the moves played ----------------------------------------------------------------------------


@compiled_only
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((MADE, None), (OFF, None)),
        ((OFF, BARE), (MADE, BARE)),
        ((MADE, None), (None, None)),
        ((None, None), (None, None)),
    ],
)
def test_native_games_are_those_played_move_by_move(first: Any, second: Any) -> None:
    dice = Dice(GAME, 5)
    seats = [
        Slow(*player) if player[0] else Player("random").seat(GAME, STATIC)
        for player in (first, second)
    ]
    pairs = list(DiceLoop(GAME, first, second, seed=5).play(7, 6))
    assert len(pairs) == 6
    for number, (one, other) in enumerate(pairs, 7):
        assert one == play_dice_game(GAME, seats, dice, number)
        again = seats[::-1]
        if first == second == (None, None):  # they do not play the same game twice
            again = [Player("random").seat(GAME, STATIC), Player("random").seat(GAME, STATIC)]
            again[0].other = again[1].other = OTHER
        assert other == play_dice_game(GAME, again, dice, number)
        assert one.reason == "end of the game" and abs(one.outcome()) in (1, 2, 3)


MATCH = """ 5 point match

 Game 1
 Ann : 0                              Ben : 0
  1) 31: 8/5 6/5                      42: 8/4 6/4
  2) 52: 13/8 13/11                   61: 13/7 8/7

 Game 2
 Ann : 0                              Ben : 1
  1)                                  31: 8/5 6/5
  2) 42: 8/4 6/4
"""


@compiled_only
@pytest.mark.parametrize(
    ("text", "plies", "ends"),
    [
        (MATCH, 3, ["31: 8/5 6/5, 42: 8/4 6/4, 52: 13/8 13/11", "O 31: 8/5 6/5, 42: 8/4 6/4"]),
        (MATCH, 1, ["31: 8/5 6/5", "O 31: 8/5 6/5"]),
        ("# a comment\n\nXGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:0:10\n"
         "sGfwATDgc/ABMA O\n", None, ["", "31: 8/5 6/5"]),
    ],
)  # fmt: skip
def test_pairs_begin_with_listed_positions_in_turn(
    text: str, plies: int | None, ends: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "list.txt"
    file.write_text(text)
    openings = BalancedOpenings(GAME, file, plies=plies, positions=True)
    given: Any = {"openings": openings, "games": 10, "seed": 4, "luck": B, "keep_records": True}
    with MatchJournal.open(tmp_path / "journal", {}, resume=None) as journal:
        match, again = (play_match(GAME, A, B, journal=journal, **given) for _ in range(2))
    assert [unit.games for unit in again.units] == [unit.games for unit in match.units]
    expected = set()
    for turns in ends:
        record = GameRecord(GAME, starts(GAME)[turns.startswith("O ")])
        for turn in filter(None, turns.removeprefix("O ").split(", ")):
            roll, move = turn.split(": ")
            rolled = GAME.dice.parse(roll)
            record.play(GAME.parse_move(record.position, move, rolled), roll=rolled)
        expected.add(record.position)
    begun = [unit.games[0].start for unit in match.units]
    assert set(begun) == expected and begun == (begun[: len(ends)] * 5)[:5]
    dice, seats, luck = Dice(GAME, 4), [Slow(MADE), Slow(OFF)], StaticLuck(GAME, OFF)
    for number, unit in enumerate(match.units):
        for order, game in zip((1, -1), unit.games, strict=True):
            assert game == play_dice_game(GAME, seats[::order], dice, number, game.start)
            turns = luck.turns(game) * [
                (-1) ** (game.to_move + game.ply + n) for n in range(game.ply)
            ]
            assert order * turns.sum() == pytest.approx(unit.luck[order < 0])
        assert unit.games[0].rolls[:3] == unit.games[1].rolls[:3]
        assert unit.points == tuple(
            game.outcomes()[:: 1 - 2 * n] for n, game in enumerate(unit.games)
        )


@compiled_only
def test_more_pairs_than_the_log_has_room_for() -> None:
    loop = DiceLoop(GAME, (MADE, None), (OFF, None), seed=1)
    whole = list(loop.play(0, 200))
    assert len(whole) == 200
    assert whole[150:] == list(loop.play(150, 50))


@compiled_only
def test_one_decision() -> None:
    record = next(DiceLoop(GAME, (OFF, None), (MADE, None), seed=3).play(0, 1))[0]
    seat, twin = Seat(GAME, "made", MADE, STATIC, lookup=BARE), Slow(MADE, BARE)
    for position, roll in zip(record.positions[:-1], record.rolls, strict=True):
        assert seat.choose(position, roll) == twin.choose(position, roll)


@plain
def test_a_game_in_plain_python() -> None:
    game = Race()
    ahead = PythonEvaluator(game, lambda position: position[1] - position[0])
    match = play_match(
        game, Player("ahead", ahead), RANDOM, games=600, seed=2, luck=Player("a", ahead)
    )
    summary = match.summary()
    assert summary.games == 600 and summary.mean.low > 0.1
    assert summary.adjusted is not None and summary.adjusted.low > 0.1
    assert match.luck is not None and len(match.luck) == 300


def test_the_longest_game() -> None:
    seats = [Player("random").seat(GAME, STATIC), Player("random").seat(GAME, STATIC)]
    game = play_dice_game(GAME, seats, Dice(GAME, 0), 0, most_plies=5)
    assert (len(game.moves), game.outcome(), game.reason) == (5, 0.0, "most turns")
    if kernels.compiled:
        loop = DiceLoop(GAME, (None, None), (None, None), most_turns=5)
        assert next(loop.play(0, 1))[0] == game


# --- dice ----------------------------------------------------------------------------------------


@plain
def test_dice_of_a_pair_are_its_own() -> None:
    dice = Dice(GAME, 1)
    streams = [dice.stream(pair) for pair in range(300)]
    assert len(set(streams)) == 300 and Dice(GAME, 2).stream(0) not in streams
    firsts = Counter(dice.roll(stream, 0) for stream in streams)
    doubles = {0, 2, 5, 9, 14, 20}
    assert not doubles & set(firsts) and len(firsts) == 15
    later = Counter(dice.roll(stream, turn) for stream in streams for turn in range(1, 41))
    total = sum(later.values())
    chi2 = sum((later[r] - total * p) ** 2 / (total * p) for r, p in enumerate(GAME.rolls))
    assert chi2 < 45.3  # 0.999 quantile for 20 degrees of freedom
    chances = [choice(stream, turn) for stream in streams for turn in range(20)]
    assert 0 <= min(chances) < 0.01 < 0.99 < max(chances) < 1
    assert abs(np.mean(chances) - 0.5) < 4 * math.sqrt(1 / 12 / len(chances))


# --- matches -------------------------------------------------------------------------------------


def test_workers_do_not_matter() -> None:
    def played(**options: Any) -> Any:
        match = play_match(GAME, A, RANDOM, games=140, seed=3, luck=B, keep_records=True, **options)
        return match.points, match.luck, match.units

    one = played(threads=1)
    assert played(threads=2) == one
    longer = play_match(GAME, A, RANDOM, games=160, seed=3).points
    assert longer[:70] == one[0]
    swapped = play_match(GAME, RANDOM, A, games=140, seed=3).points
    assert swapped == [(-second, -first) for first, second in one[0]]
    assert play_match(GAME, A, RANDOM, games=140, seed=4).points != one[0]


@compiled_only
@pytest.mark.whole_run
def test_processes_play_the_same() -> None:
    here = play_match(GAME, A, B, games=66, seed=3, luck=A)
    with Workers("loky", 2) as workers:
        there = play_match(GAME, A, B, games=66, seed=3, luck=A, workers=workers)
    assert (there.points, there.luck) == (here.points, here.luck)


class Cheat:
    """Plays an illegal move after some legal ones."""

    def __init__(self, game: DiceGame, limits: Limits) -> None:
        self.honest = Player("random").seat(game, STATIC)
        self.turns = 0

    def begin(self, stream: int, side: int) -> None:
        self.honest.begin(stream, side)

    def choose(self, position: Any, roll: int) -> Any:
        self.turns += 1
        return self.honest.choose(position, roll) if self.turns < 4 else 6 | 7 << 5


def test_an_evaluator_that_fails() -> None:
    calls = itertools.count()

    def fails(position: Any) -> float:
        if next(calls) > 400:
            raise RuntimeError("broken")
        return 0.0

    with pytest.raises(RuntimeError, match="broken"):
        play_match(GAME, Player("f", PythonEvaluator(GAME, fails)), RANDOM, games=4)
    with pytest.raises(RuntimeError, match="broken"):
        Seat(GAME, "f", PythonEvaluator(GAME, fails), STATIC).choose(GAME.start(), 1)


@compiled_only
def test_a_loop_that_is_stopped() -> None:
    loop = DiceLoop(GAME, (MADE, None), (OFF, None))
    played = loop.play(0, 500)
    assert isinstance(next(played)[0], GameRecord)
    loop.stop()
    assert len(list(played)) <= 128
    assert list(loop.play(0, 2)) == []


@plain
def test_limits_of_a_match_hold_as_those_of_its_players() -> None:
    limits = Limits(nodes=60)
    match = play_match(GAME, A, B, limits=limits, games=2, seed=1, threads=1)
    own = [Player(player.name, player.evaluator, limits=limits) for player in (A, B)]
    assert match.points == play_match(GAME, *own, games=2, seed=1, threads=1).points
    figures = match.figures()
    assert (figures["depth"], figures["nodes"], figures["seconds"]) == (None, 60, None)


# --- players -------------------------------------------------------------------------------------


@compiled_only
def test_bear_off_databases_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backgammon, "evaluators", {"off": borne_off})
    player = parse_player(GAME, "off+bearoff")
    assert player.lookup is not None
    seat, twin = player.seat(GAME, Limits(0)), Slow(OFF, player.lookup)
    plain_seat = Player("off", OFF).seat(GAME, Limits(0))
    others = 0
    for record, _ in DiceLoop(GAME, (MADE, None), (MADE, None), seed=2).play(0, 20):
        for position, roll in list(zip(record.positions[:-1], record.rolls, strict=True))[-12:]:
            assert seat.choose(position, roll) == twin.choose(position, roll)
            others += seat.choose(position, roll) != plain_seat.choose(position, roll)
    assert others


# --- figures -------------------------------------------------------------------------------------


@plain
def test_a_summary_worked_by_hand() -> None:
    points = [(1.0, -1.0), (2.0, 1.0), (3.0, -2.0), (1.0, 1.0)]
    luck = [(1.0, -2.0), (0.5, 1.5), (2.0, -1.5), (0.5, 0.5)]
    summary = DiceSummary(points, luck, bounds=(-3, 3))
    assert (summary.games, summary.pairs) == (8, 4)
    assert [summary.won(least) for least in (0, 2, 3)] == [6, 2, 1]
    assert [summary.lost(least) for least in (0, 2, 3)] == [2, 1, 0]
    # pair means 0, 1.5, 0.5, 1 with mean 0.75 and variance 1.25/3
    assert summary.mean.value == 0.75
    assert summary.standard_error == pytest.approx(math.sqrt(1.25 / 3 / 4))
    # luck-adjusted 0.5, 0.5, 0.25, 0.5
    assert summary.adjusted is not None and summary.adjusted.value == 0.4375
    assert summary.variance_cut == pytest.approx((1.25 / 3) / (0.046875 / 3))
    text = summary.text()
    assert "games 8: won 6 (2 gammons, of which 1 backgammon), lost 2 (1 gammon," in text
    assert "points per game +0.7500, 95 % interval" in text
    assert "variance cut 26.7 times" in text
    assert json.loads(json.dumps(summary.figures()))["gammons"] == 2


@plain
def test_summaries_of_little_or_wrong() -> None:
    assert DiceSummary([]).text() == "no games played"
    assert DiceSummary([]).figures()["points_per_game"] == [None, None, None]
    even = DiceSummary([(1, -1)] * 5, [(0.5, -0.5)] * 5, bounds=(-3, 3))
    assert even.mean.value == 0 and even.mean.low < 0 and math.isnan(even.variance_cut)
    assert "undecided 2" in DiceSummary([(0, 0), (1, -1)]).text()


# --- luck ----------------------------------------------------------------------------------------


@compiled_only
def test_luck_by_its_twin() -> None:
    record = next(DiceLoop(GAME, (OFF, None), (MADE, None), seed=8).play(0, 1))[0]
    luck, twin = StaticLuck(GAME, MADE, BARE), Slow(MADE, BARE)
    found = luck.turns(record)
    assert len(found) == len(record.moves)
    for turn, position in enumerate(record.positions[:12]):
        values = [
            -twin.value_of(GAME.play(position, twin.choose(position, roll))) for roll in range(21)
        ]
        weights = GAME.rolls if turn else GAME.dice.first
        assert found[turn] == pytest.approx(values[record.rolls[turn]] - np.dot(weights, values))
    assert luck.total(record) == pytest.approx(sum(found[::2]) - sum(found[1::2]))


# --- the command line ----------------------------------------------------------------------------


def test_match_on_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backgammon, "evaluators", {"made": made_points})
    command = ["match", "backgammon", "made", "random", "--games", "40", "--quiet", "--seed", "3"]
    assert main([*command, "--luck", "--json", "--jobs", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("made against random: depth 0 (GNU plies), same dice for both\n")
    assert "luck measured by static values of made" in out and " games/s" in out
    figures = json.loads(out.splitlines()[-1])
    assert figures["games"] == figures["wins"] + figures["losses"] == 40
    assert figures["without_luck"][0] != figures["points_per_game"][0]
    assert main([*command, "--jobs", "1", "--json"]) == 0
    again = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert again["points_per_game"] == figures["points_per_game"]


@pytest.mark.parametrize("native", [True, False])
def test_random_players_play_each_other_twice_with_the_same_dice(
    native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not native:
        monkeypatch.setattr(kernels, "compiled", False)
    elif not kernels.compiled:
        pytest.skip("takes compiled kernels")
    match = play_match(GAME, RANDOM, RANDOM, games=12, keep_records=True)
    for first, second in (unit.games for unit in match.units):
        turns = min(first.ply, second.ply)
        assert first.rolls[:turns] == second.rolls[:turns] and first.moves != second.moves
    assert any(sum(pair) for pair in match.points)
    if native:
        monkeypatch.setattr(kernels, "compiled", False)
        slow = play_match(GAME, RANDOM, RANDOM, games=2, keep_records=True)
        assert slow.units[0].games == match.units[0].games


test_errors = errors_of(globals())
