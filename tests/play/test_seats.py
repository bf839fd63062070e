"""The seats of players: selective by default, and the only move takes no time."""

from __future__ import annotations

from pathlib import Path

import pytest

import games
from games import kernels
from games.backgammon.situation import Situation
from games.checkers import Checkers
from games.contract import starts
from games.record import GameRecord, new_record
from play.players.chances import judged_play_text
from play.players.limits import Limits
from play.players.parse import seated
from search import Engine, as_evaluator, parse_techniques

CHECKERS = Checkers()
pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


def test_searches_are_selective_unless_the_name_or_the_caller_says_otherwise() -> None:
    limits = Limits(depth=9)
    exact = Engine(CHECKERS, "classic").search(CHECKERS.start(), depth=9)
    usual = seated(CHECKERS, "classic", limits)
    assert usual.engine.techniques == parse_techniques("selective", CHECKERS)
    assert usual.think(CHECKERS.start()).nodes < exact.nodes / 2
    for thinker in (
        seated(CHECKERS, "classic@exact", limits),
        seated(CHECKERS, "classic", limits, techniques="exact"),
    ):
        found = thinker.think(CHECKERS.start())
        assert (found.value, found.nodes) == (exact.value, exact.nodes)


def test_the_name_is_short_and_says_all() -> None:
    network = "data/checkers/network.safetensors"
    path = str(Path(__file__).resolve().parents[2] / network)
    assert seated(CHECKERS, path, Limits(depth=1)).name == "network.safetensors"
    named = seated(CHECKERS, f"{path}@selective,singular=7", Limits(depth=1)).name
    assert named == "network.safetensors@selective,singular=7"


def test_races_at_home_are_exact_without_being_asked_for() -> None:
    from games.backgammon import Backgammon
    from games.backgammon.situation import position_of

    game, far = Backgammon(), [0] * 19
    position = position_of([0, 3, 2, 2, 0, 0, 0, *far], [0, 1, 2, 0, 0, 3, 1, *far], 0)
    plain, named = (
        seated(game, "wide", Limits(depth=0)),
        seated(game, "wide+bearoff", Limits(depth=0)),
    )
    found, exact = plain.think(position), named.think(position)
    assert (found.value, found.outcomes) == (exact.value, exact.outcomes)
    bare = Engine(game, as_evaluator(game, "wide"))  # which consults nothing
    assert found.value != bare.search(position, depth=0).value
    # the chances of a search are the tables' as well, in float32: nobody can lose a gammon
    for depth in (0, 1, 2):
        deeper = plain.think(position, limits=Limits(depth=depth))
        assert deeper.outcomes is not None
        win, *gammons = deeper.outcomes
        assert deeper.value == pytest.approx(2 * win - 1, abs=1e-6) and not any(gammons)


def test_who_moves_by_static_values_looks_a_ply_ahead_before_a_double() -> None:
    game = games.load("backgammon")
    situation = Situation(starts(game)[0], match_length=7, score=(2, 4))
    for depth, ahead in ((0, 1), (1, 1), (2, 2)):
        seat = seated(game, "wide", Limits(depth=depth), filters="normal")
        decision = seat.decision(situation)
        assert decision == seat.engine.cube(situation, depth=ahead)
        static = seat.decision(situation, limits=Limits(depth=0))
        assert static == seat.engine.cube(situation, depth=0) != decision


def test_moves_are_judged_by_chances_for_the_search_of_each() -> None:
    """A fit for every size of search says so, one for a single size names it; points need none."""
    searched = "if both search as many positions for a move as were searched to judge it"
    for game, name, text in (
        ("checkers", "quantised", searched),
        ("checkers", "classic", "if both search 2,000 positions a move"),
        ("backgammon", "wide", ""),
    ):
        assert judged_play_text(as_evaluator(games.load(game), name)) == text


def test_the_only_move_takes_no_time() -> None:
    forced = GameRecord(CHECKERS, CHECKERS.parse_position("W:W22,32:B18,1"))
    patient = seated(CHECKERS, "classic", Limits(seconds=3600.0), table_mib=1)
    assert patient.decide(forced).depth == 1
    game = games.load("backgammon")
    shut = game.parse_position("XGID=bBBBBBB---a-------------C-:0:0:-1:31:0:0:0:0:10")
    patient = seated(game, "hand", Limits(seconds=3600.0), table_mib=1)
    roll = game.dice.parse("31")  # type: ignore[union-attr]
    assert patient.choose(shut, roll) == 0
    assert patient.decide(new_record(game, shut), roll=roll).move == 0
