"""The decisions that judge backgammon players: stronger players lose less."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks.backgammon_decisions import DECISIONS, GAME, Decisions, values_of
from games import kernels
from games.backgammon.kinds import KINDS
from play.players.parse import parse_player
from search import Engine

pytestmark = [pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")]


@pytest.fixture(scope="module")
def decisions() -> Decisions:
    return Decisions(DECISIONS)


def test_decisions_are_of_legal_moves_and_all_kinds(decisions: Decisions) -> None:
    assert len(decisions.best) > 2500 and set(decisions.kinds) == set(range(len(KINDS)))
    found = np.load(DECISIONS)
    for i in range(0, len(decisions.best), 97):
        position = tuple(found["positions"][i].tolist())
        first, count = decisions.first[i], decisions.counts[i]
        afters = {tuple(row) for row in decisions.afters[first : first + count].tolist()}
        assert any(
            {GAME.play(position, move) for move in GAME.legal_moves(position, roll)} == afters
            for roll in range(21)
        )
        assert first <= decisions.best[i] < first + count


def test_the_referee_loses_nothing_and_its_opposite_most(decisions: Decisions) -> None:
    def lost(values: Any) -> Any:
        return decisions.lost(decisions.moves(values))

    assert np.abs(lost(-decisions.worth)).max() == 0
    worst = lost(decisions.worth)
    hand, wide = (parse_player(GAME, text) for text in ("hand", "wide+none"))
    by_hand = lost(values_of(hand, decisions.afters))
    learned = lost(values_of(wide, decisions.afters))
    assert (learned >= 0).all() and learned.mean() < by_hand.mean() / 3 < worst.mean() / 9
    lines = list(decisions.lines(by_hand, values_of(hand, decisions.afters),
                                 values_of(hand, decisions.rolled)))  # fmt: skip
    assert lines[0].startswith("  lost      all 34.19±1.48 of 2884  natural 32.95±2.42 of 1052")


def test_a_search_is_judged_by_the_move_that_it_chooses(decisions: Decisions) -> None:
    part, (player, look) = copy.copy(decisions), (parse_player(GAME, f"hand@1:{name}")
                                                  for name in ("tiny", "look"))  # fmt: skip
    part.first, part.counts = part.first[2::97], part.counts[2::97]
    part.positions = part.positions[2::97]
    places, seconds = part.chosen(player, 1)
    engine = Engine(GAME, player.evaluator, filters="tiny")
    for position, place, first, count in zip(
        map(tuple, part.positions.tolist()), places, part.first, part.counts, strict=True
    ):
        assert first <= place < first + count
        rows = set(map(tuple, part.afters[first : first + count].tolist()))
        for roll in range(21):
            if {GAME.play(position, move) for move in GAME.legal_moves(position, roll)} == rows:
                move = engine.search(position, roll=roll, depth=1).move
        assert tuple(part.afters[place].tolist()) == GAME.play(position, move)
    assert 0 < part.chosen(look, 1)[1] < seconds


@pytest.mark.parametrize("text", ["random", "hand@1"])
def test_players_that_search_or_value_nothing_are_refused(decisions: Decisions, text: str) -> None:
    with pytest.raises(ValueError, match=rf"expected gnubg:P or .* without limits, found {text}"):
        values_of(parse_player(GAME, text), decisions.afters)
