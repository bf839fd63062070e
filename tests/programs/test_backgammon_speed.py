"""The benchmark of backgammon's speed, with few games."""

from __future__ import annotations

import json

import pytest

from benchmarks import backgammon_speed as benchmark


@pytest.mark.whole_run
def test_it_measures_every_rate_and_pruning_changes_no_move(
    capsys: pytest.CaptureFixture[str],
) -> None:
    few = ["--games", "60", "--decisions", "40", "--rounds", "1", "--json"]
    assert benchmark.main(few) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    figures = json.loads(last)
    names = {"learning_2_all", "best_0_batch", "best_0_single", "best_1_all", "best_1_as_gnu"}
    assert names <= set(figures)
    assert all(figures[name] > 0 for name in names)
    (all_moves,) = (line for line in lines if line.startswith("1-ply best moves, all moves"))
    assert all_moves.endswith("100.0% of the moves as without pruning")
    if figures["best_1_gnu"] is not None:
        assert figures["best_1_as_gnu_ratio"] == pytest.approx(
            figures["best_1_as_gnu"] / figures["best_1_gnu"]
        )


@pytest.mark.parametrize("option", ["--games", "--decisions", "--rounds"])
def test_too_little_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        benchmark.main([option, "0"])
    assert f"{option}: expected at least" in capsys.readouterr().err
