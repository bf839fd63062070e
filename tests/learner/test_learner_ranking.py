"""`benchmarks.learners`: what a ranking is made of, with a few games of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.learners import (
    CONTESTS,
    evaluator_of,
    judged,
    known_truth,
    play,
    ratings,
    table,
    train,
)
from games import kernels
from play.players.limits import Limits

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


@pytest.mark.parametrize("name", ["samuel1959", "tuples-rootstrap", "solved"])
def test_every_kind_is_trained_judged_and_plays_by_positions_for_its_time(
    name: str, tmp_path: Path
) -> None:
    folder = str(tmp_path)
    info = train(("connect_four", name, 0, 4, folder))
    assert train(("connect_four", name, 0, 4, folder)) == info
    evaluator = evaluator_of(info, tmp_path)
    limits = CONTESTS["connect_four"].within(Limits(seconds=0.001), evaluator)
    assert limits.seconds is None and limits.nodes is not None and 1000 < limits.nodes < 50_000
    result = play((info, "hand", folder, 2, Limits(seconds=0.001)))
    assert (result["games"], result["opponent"]) == (2, "hand")
    shares = judged((info, folder, known_truth("connect_four", 12, 1)))
    assert all(0 <= share.low <= share.value <= share.high <= 1 for share in shares)
    kept = sorted(path.name for path in (tmp_path / "matches").iterdir())
    assert kept == [f"{name}-0-4-hand-2-0.001-s-a-move.json", f"{name}-0-4-truth-12.json"]


def test_a_ranking_is_above_the_opponent_whom_all_have_played() -> None:
    results = [
        {
            "learner": "td",
            "seed": seed,
            "opponent": opponent,
            "wins": wins,
            "draws": 4,
            "losses": 40,
        }
        for seed in range(3)
        for opponent, wins in (("hand", 56 + 4 * seed), ("centre", 90))
    ]
    rated = ratings(results, "hand")
    mean, seeds = rated["td"]
    assert list(rated) == ["td"] and len(seeds) == 3
    assert mean.low < min(seeds) < mean.value < max(seeds) < mean.high
    assert mean.value == pytest.approx(sum(seeds) / 3)
    text = table(rated, [], Limits(depth=5), "hand")
    assert text.startswith("| learner | Elo above `hand`, depth 5 a move | each seed |")
    assert f"| td | {mean.value:+.0f} [{mean.low:+.0f}, {mean.high:+.0f}] |" in text
