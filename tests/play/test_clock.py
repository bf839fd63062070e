"""Clocks of games: sharing them out, losing by them, and matches that are played by them."""

from __future__ import annotations

from typing import Any

import pytest
from marks import compiled_only, plain

import games
from games.backgammon import Backgammon
from games.record import GameRecord
from play.__main__ import main
from play.matches.driver import play_match
from play.players import seats
from play.players.clock import Clock, parse_clock
from play.players.dialects import HubDialect
from play.players.limits import Limits
from play.players.parse import parse_player

CHECKERS = games.load("checkers")


@plain
@pytest.mark.parametrize("most", [False, True])
@pytest.mark.parametrize("moves", [None, 1, 5, 40])
@pytest.mark.parametrize("increment", [0.0, 0.5])
def test_a_clock_never_runs_out(moves: int | None, increment: float, most: bool) -> None:
    clock = Clock(5.0, increment, moves)
    for _ in range(moves or 500):
        allowance = clock.allowance()
        spent = allowance.most if most else allowance.usual
        if spent > 0.001:
            assert clock.left + increment - spent > 0
        clock = clock.after(spent)
    assert clock.left > -1.0
    assert Clock(-3.0).allowance().usual == 0.001


@plain
def test_a_share_grows_with_the_clock_and_what_is_added() -> None:
    usual = Clock(60.0, 0.6).allowance().usual
    assert 60 / 30 + 0.6 < usual < Clock(61.0, 0.6).allowance().usual < Clock(60.0, 1.6).left
    assert usual < Clock(60.0, 0.7).allowance().usual - 0.09
    # the last move of a time control may use what is left but for the reserve
    assert 9.9 < Clock(10.0, 0.0, 1).allowance().usual < 10.0


@plain
@pytest.mark.parametrize(("stall", "every"), [(0.0, 1), (0.004, 1), (0.08, 20), (0.1, 50)])
def test_most_of_the_time_is_used_and_the_clock_never_runs_out(stall: float, every: int) -> None:
    """Answers come late by a fake machine's stalls, as many a move."""
    clock = Clock(1.0, 0.01)
    for number in range(1, 101):
        allowance = clock.allowance()
        hasty = Limits(clock=clock).options["seconds"] is None
        late = stall if number % every == 0 else 0.001
        clock = clock.after(0.001 if hasty else allowance.usual + late, None if hasty else late)
        assert clock.left > 0.0
        if number == 60:
            assert (1.6 - clock.left) / 1.6 > (0.85 if stall < 0.05 else 0.75)


@plain
def test_a_clock_without_time_to_spare_asks_for_few_positions() -> None:
    assert Limits(clock=Clock(0.01, 0.001)).options == {
        "depth": None, "nodes": 500, "seconds": None
    }  # fmt: skip
    assert Limits(depth=3, nodes=9, clock=Clock(0.0, 0.001)).options["nodes"] == 9


@plain
def test_clocks_are_read_and_other_texts_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_clock("60+0.6") == Clock(60.0, 0.6)
    assert parse_clock("5") == Clock(5.0)
    assert str(Limits(clock=Clock(60.0, 0.6))) == "60+0.6 s a game"
    for text in ("", "60+", "+1", "1+-1", "0+0", "1e3", "nan", "60+0.6+1"):
        with pytest.raises(ValueError, match="time: expected SECONDS"):
            parse_clock(text)
    with pytest.raises(ValueError, match="found both"):
        Limits(seconds=1.0, clock=Clock(1.0))
    with pytest.raises(ValueError, match="time: expected a game without dice"):
        Limits(clock=Clock(1.0)).check(Backgammon())
    assert main(["match", "backgammon", "random", "random", "--time", "60"]) == 2
    assert "--time: expected a game without dice, found backgammon" in capsys.readouterr().err


class Ticking:
    """A clock on which each look takes `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += self.seconds
        return self.now


@plain
def test_a_player_whose_clock_runs_out_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(depth=1, clock=Clock(1.0, 0.25))
    seat = parse_player(CHECKERS, "material").seat(CHECKERS, limits)
    seat.begin(0)
    record = GameRecord(CHECKERS)
    monkeypatch.setattr(seats, "time", Ticking(0.5))
    moves = 0
    while not record.over:
        seat.move(record)
        moves += 1
        if not record.over:
            record.play(CHECKERS.legal_moves(record.position)[0])
    # 1 s, and 0.25 s more before each move of 0.5 s: the fifth is too late
    assert (moves, record.reason, record.outcome()) == (5, "time", -1.0)
    seat.begin(1)
    assert seat._clock == Clock(1.0, 0.25)


@compiled_only
def test_a_forced_move_keeps_the_value_of_the_search_before() -> None:
    seat = parse_player(CHECKERS, "classic").seat(CHECKERS, Limits(clock=Clock(5.0, 0.1)))
    seat.begin(0)
    forced = GameRecord(CHECKERS, CHECKERS.parse_position("W:W22,32:B18,1"))
    seat.move(forced)
    assert seat._found is not None and seat._found[1] == 1  # there was none
    seat.begin(0)
    seat.move(GameRecord(CHECKERS))
    found = seat._found
    seat.move(GameRecord(CHECKERS, forced.positions[0]))
    assert found is not None and found[1] > 1 and seat._found == found


@compiled_only
def test_matches_are_played_by_the_clock(capsys: pytest.CaptureFixture[str]) -> None:
    player: Any = parse_player(CHECKERS, "classic")
    match = play_match(
        CHECKERS, player, player, limits=Limits(clock=Clock(0.2, 0.001)), games=2, threads=1
    )
    assert match.games == 2
    command = ["match", "checkers", "classic", "random", "--time", "0.5+0.01", "--games", "2"]
    assert main([*command, "--quiet", "--threads", "1"]) == 0
    assert "classic against random: 0.5+0.01 s a game, balanced" in capsys.readouterr().out


@plain
def test_external_engines_are_told_the_clock() -> None:
    record = GameRecord(CHECKERS)
    for limits, level in (
        (Limits(clock=Clock(59.123456789012345, 0.6)), "time=59.123 inc=0.600"),
        (Limits(depth=3, clock=Clock(2.0, 1e-6)), "depth=3 time=2.000 inc=0.000"),
    ):
        assert HubDialect().question(record, limits)[1] == f"level {level}"
