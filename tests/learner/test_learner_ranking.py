"""`benchmarks.learners`: the parts of a ranking, with a few games of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.learners import CONTESTS, Task, judged, known_truth, main, play, ratings, train
from games import kernels
from learner.run.recipes import RECIPES
from play.players.limits import Limits

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


@pytest.mark.parametrize("name", ["samuel1959", "tuples-rootstrap", "solved"])
def test_every_kind_is_trained_once_and_judged(name: str, tmp_path: Path) -> None:
    task = Task("connect_four", name, 0, 4, tmp_path)
    info = train(task)
    assert train(task) == info
    shares = judged(task, known_truth("connect_four", 12))
    assert all(0 <= share.low <= share.value <= share.high <= 1 for share in shares)
    folder = tmp_path / f"{name}-0-4"
    assert {path.name for path in folder.iterdir()} == {
        "trained.json", "truth-12.json", info["file"],
    }  # fmt: skip


@pytest.mark.whole_run
def test_equal_time_is_positions_and_the_memory_of_rote_plays(tmp_path: Path) -> None:
    task = Task("checkers", "rote", 0, 8, tmp_path)
    result = play(task, "material", 2, Limits(seconds=0.0001))
    assert (result["name"], result["opponent"]) == ("rote-0", "material")
    assert result["wins"] + result["draws"] + result["losses"] == 2
    assert train(task)["memory"] and (tmp_path / "material-0-0" / "rate.json").is_file()


def test_every_learner_of_checkers_has_a_place() -> None:
    """But those that learn from books, from a solver or from dice."""
    others = {"samuel1967", "solved", "tdgammon", "backups"}
    assert set(CONTESTS["checkers"].played) == set(RECIPES) - others


def test_a_ranking_is_above_the_opponent_whom_all_have_played() -> None:
    results = [
        {"name": f"td-{seed}", "opponent": opponent, "wins": wins, "draws": 4, "losses": 40}
        for seed in range(3)
        for opponent, wins in (("hand", 56 + 4 * seed), ("centre", 90))
    ]
    (mean,) = ratings(results, "hand").values()
    assert 0 < mean.low < mean.value < mean.high
    with pytest.raises(SystemExit):
        main(["--only", "none"])
