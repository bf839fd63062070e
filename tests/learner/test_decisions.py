"""The decisions that judge backgammon players: stronger players lose less."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.backgammon_decisions import DECISIONS, GAME, Decisions, values_of
from games import kernels
from games.backgammon.kinds import KINDS
from play.players.parse import parse_player

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
    assert np.abs(decisions.lost(-decisions.worth)).max() == 0
    worst = decisions.lost(decisions.worth)
    hand, wide = (parse_player(GAME, text) for text in ("hand", "wide+none"))
    by_hand = decisions.lost(values_of(hand, decisions.afters))
    learned = decisions.lost(values_of(wide, decisions.afters))
    assert (learned >= 0).all() and learned.mean() < by_hand.mean() / 3 < worst.mean() / 9
    lines = list(decisions.lines(by_hand, values_of(hand, decisions.afters),
                                 values_of(hand, decisions.rolled)))  # fmt: skip
    assert lines[0].startswith("  lost      all 34.19±1.48 of 2884  natural 32.95±2.42 of 1052")


@pytest.mark.parametrize("text", ["random", "hand@1"])
def test_players_that_search_or_value_nothing_are_refused(decisions: Decisions, text: str) -> None:
    with pytest.raises(ValueError, match=rf"expected gnubg:P or .* without limits, found {text}"):
        values_of(parse_player(GAME, text), decisions.afters)
