"""`train.py PROBLEM`: a heuristic in a folder, its report, and runs that were interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interrupts import ctrl_c

import games
from docs.examples.lights_out import LightsOut
from games.puzzles.sliding_tiles import SlidingTiles
from learner.frame import Progress
from learner.heuristics.costs import exact_costs, least_costs
from learner.heuristics.report import compare, measure_curve
from learner.run.command_line import main
from learner.run.heuristic_run import REPORT_SEED, HeuristicRun
from learner.run.learners import make_learner
from learner.run.request import parser, settings_of
from search import load_evaluator, solve

SHORT = ["--games", "300", "--match-games", "20", "--set", "each=50", "--quiet"]


def run(*options: str) -> int:
    return main(["tests.toys:SmallTiles", *options])


def test_a_run_leaves_a_heuristic_that_is_better_than_manhattan_and_a_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert run(*SHORT, "--run", str(folder)) == 0
    printed = capsys.readouterr().out
    assert "bootstrap: " in printed and "manhattan: " in printed and "360 positions" in printed
    heuristic = load_evaluator(folder / "heuristic.safetensors")
    problem = games.load("tests.toys:SmallTiles")
    position = problem.random_position(7)
    assert solve(problem, position, heuristic).expanded < solve(problem, position).expanded
    report = json.loads((folder / "report.json").read_text())
    curves = {curve["name"]: curve["points"] for curve in report["curves"]}
    assert curves["bootstrap"][0]["expanded"] < 0.5 * curves["manhattan"][0]["expanded"]
    assert curves["manhattan"][0]["cost"] == curves["manhattan"][0]["optimal"] == 1.0
    assert "cost 1.0000 of the least, 100 % optimal" in printed
    assert "least costs: by the search of all positions" in printed
    assert report["truth"]["proved"] is True
    assert (folder / "curve.png").stat().st_size > 10_000
    log = (folder / "log.csv").read_text().splitlines()
    assert log[0] == "game,updates,alpha_side,outcome,plies,loss,held_out,note"
    assert [line.partition(",")[0] for line in log[1:]] == ["50", "100", "150", "200", "250", "300"]
    assert run("--resume", str(folder), "--quiet") == 0  # nothing is measured again
    again = capsys.readouterr().out
    assert "was finished before" in again and set(report["lines"]) <= set(again.splitlines())


def test_a_run_with_beams_is_judged_by_beams(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert run(*SHORT, "--set", "width=2", "--run", str(folder)) == 0
    assert "20 positions by a beam of 2:" in capsys.readouterr().out.splitlines()
    report = json.loads((folder / "report.json").read_text())
    problem = games.load("tests.toys:SmallTiles")
    starts = [problem.random_position(REPORT_SEED + i) for i in range(20)]
    least = np.array([solve(problem, start).cost for start in starts])
    heuristics = (folder / "heuristic.safetensors", "manhattan")
    for curve, heuristic in zip(report["curves"], heuristics, strict=True):
        for point, width in zip(curve["points"], (2, 8), strict=True):
            found = [solve(problem, s, heuristic, method="beam", width=width) for s in starts]
            costs = np.array([one.cost for one in found])
            assert point["number"] == width
            assert point["expanded"] == np.mean([one.expanded for one in found])
            assert point["optimal"] == (costs == least).mean()


def test_an_interrupted_run_ends_with_the_same_heuristic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Enough(Exception):
        pass

    monkeypatch.setattr("learner.run.folder.Pace.is_due", lambda pace: True)
    monkeypatch.setattr("learner.heuristics.bootstrap.BEGINNING", 50)
    few = ["--games", "150", "--match-games", "5", "--set", "width=3"]
    settings = settings_of(parser().parse_args(["tests.toys:SmallTiles", *SHORT, *few]))

    def session(name: str) -> HeuristicRun:
        problem: Any = games.load(settings.game)
        learner = make_learner(problem, settings, None)
        return HeuristicRun(learner, tmp_path / name, settings=settings)

    def stop(progress: Progress) -> None:
        if progress.game == 100:
            raise Enough

    expected = session("whole").train()
    with pytest.raises(Enough):
        session("broken").train(watch=stop)
    found = session("broken").train(resume=True)
    assert np.array_equal(found.weights, expected.weights) and found.offset == expected.offset
    logs = [(tmp_path / name / "log.csv").read_text() for name in ("whole", "broken")]
    assert logs[0] == logs[1]


def test_a_heuristic_of_which_nothing_is_known_does_not_judge_itself() -> None:
    """Values twice too large give dear solutions; alone they are the best that is known."""
    problem = SlidingTiles(3, 2)
    positions = [problem.random_position(seed) for seed in range(20)]
    truth = least_costs(problem)
    assert truth is not None

    def double(position: object) -> float:
        return 2.0 * truth[position] + hash(position) % 7

    curves, _, proved = measure_curve(
        problem, {"double": double}, positions, weights=(1.0,), nodes=1000
    )
    assert not proved and curves[0].points[0].optimal is None
    assert "cost 1.0000 of the best known" in curves[0].text()
    curves, best, proved = measure_curve(
        problem, {"double": double}, positions, weights=(1.0,), nodes=1000, least=truth
    )
    (point,) = curves[0].points
    assert proved and best.tolist() == [truth[position] for position in positions]
    assert point.cost > 1.0 and point.optimal is not None and point.optimal < 1.0
    assert f"cost {point.cost:.4f} of the least, {100 * point.optimal:.3g} % optimal" in (
        curves[0].text()
    )


def test_exact_costs_are_those_of_dijkstra_and_of_korf() -> None:
    problem = SlidingTiles(3, 2)
    positions = [problem.random_position(seed) for seed in range(30)]
    found = exact_costs(problem, positions)
    truth = least_costs(problem)
    assert found is not None and truth is not None
    assert found[0] == {position: truth[position] for position in positions}
    assert found[1] == "IDA* with the pattern database 4-1"
    # without patterns, and with ones that are too large
    for other in (LightsOut(3), games.load("sliding24")):
        assert exact_costs(other, positions) is None


@pytest.mark.whole_run
def test_exact_costs_of_the_15_puzzle() -> None:
    """Korf 1985, instances 1, 2 and 9."""
    problem = games.load("sliding15")
    korf = {
        problem.parse_position(text): cost
        for cost, text in (
            (57, "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"),
            (55, "13 5 4 10 9 12 8 14 2 3 7 1 0 15 11 6"),
            (46, "3 14 9 11 5 4 8 2 13 12 6 7 10 1 15 0"),
        )
    }
    assert exact_costs(problem, korf) == (korf, "IDA* with the pattern database 5-5-5")


def test_ctrl_c_ends_the_judgement_and_is_no_position_without_a_solution() -> None:
    problem = SlidingTiles(4, 4)
    position = problem.parse_position("15 14 8 12 10 11 9 13 2 6 5 1 3 7 4 0")  # 80 moves
    with ctrl_c(), pytest.raises(KeyboardInterrupt):
        measure_curve(problem, {"misplaced": "misplaced"}, [position], nodes=10**9)


def test_curves_and_distances_of_known_heuristics() -> None:
    problem = SlidingTiles(3, 2)
    positions = [problem.random_position(seed) for seed in range(20)]
    curves, best, proved = measure_curve(
        problem, {"manhattan": "manhattan"}, positions, weights=(1.0, 3.0), nodes=1000
    )
    truth = least_costs(problem)
    assert truth is not None and proved
    assert best.tolist() == [truth[position] for position in positions]
    first, last = curves[0].points
    shares = [float(np.mean([solve(problem, one, weight=weight).cost == truth[one]
                             for one in positions])) for weight in (1.0, 3.0)]  # fmt: skip
    assert [first.optimal, last.optimal] == shares and shares[1] < shares[0] == 1.0
    assert first.cost == 1.0 and first.solved == 1.0
    assert last.cost == pytest.approx(
        sum(solve(problem, one, weight=3.0).cost for one in positions) / best.sum()
    )
    assert first.expanded == np.mean([solve(problem, one).expanded for one in positions])
    manhattan = compare(problem, "manhattan", truth, proved=True)
    assert manhattan.over == 0 and manhattan.inconsistent == 0 and manhattan.below > 2
    exact = compare(problem, lambda position: truth[position], truth, proved=True)
    assert exact.below == 0 and exact.correlation == pytest.approx(1)
    double = compare(problem, lambda position: 2 * truth[position], truth, proved=True)
    assert double.over == 359 / 360 and double.most_over == 21
    # 420 pairs of neighbours, of which one leads down each; the goal's two moves are not asked
    assert double.inconsistent == 420 / 838
