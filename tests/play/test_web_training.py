"""Training runs in the browser: reading charts, comparing runs, playing against a snapshot."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from play.web.runs import Runs

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

from tests.web_pages import browser_tests  # noqa: E402
from tests.web_server import ROOT, running  # noqa: E402

pytestmark = browser_tests
expect = playwright.expect
Page = Any
COLOURS = "(curves) => curves.map((curve) => curve.style.stroke)"


def write_run(folder: Path, shares: list[float], weights: dict[str, float]) -> None:
    """Write a run of 50 games for each share of the points against a random player."""
    (folder / "snapshots").mkdir(parents=True)
    content = json.loads((ROOT / "data/checkers/rootstrap.json").read_text())
    content["weights"] = dict.fromkeys(content["weights"], 0.0) | weights
    (folder / "options.json").write_text('{"game": "checkers", "learner": "rootstrap", "games": 9}')
    losses = {n: f"0.{n},0.5" for n in (50, 100, 150, 200)}
    lines = [f"{n},{40 + 20 * (n % 2)},{losses.get(n, ',')}," for n in range(1, 201)]
    (folder / "log.csv").write_text("\n".join(["game,plies,loss,held_out,note", *lines]) + "\n")
    rows = ["game,opponent,score,value,low,high"]
    for number, share in enumerate(shares, 1):
        rows.append(f"{50 * number},random,{share},12.0,-10,20")
        (folder / "snapshots" / f"{50 * number:06d}.json").write_text(json.dumps(content))
    (folder / "snapshots.csv").write_text("\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "one", [0.41, 0.52, 0.63, 0.74], {"men": 1.0, "kings": 1.37})
    write_run(folder / "two", [0.35, 0.45, 0.55], {"men": 0.9, "kings": 1.2})
    write_run(folder / "three", [0.3, 0.6], {"men": 0.8, "kings": 1.0})
    solved = folder / "solved"
    solved.mkdir()
    (solved / "options.json").write_text('{"game": "sliding8", "learner": "rote", "games": 50}')
    (solved / "log.csv").write_text(
        'game,plies,note\n10,,"round 1: seen 5"\n20,,"round 2: seen 9"\n'
    )
    (solved / "report.json").write_text('{"lines": ["20 positions by A*:", "rote: 5 expansions"]}')
    with running(folder) as address:
        yield address


def open_run(page: Page, base: str, name: str) -> None:
    page.goto("about:blank")
    page.goto(f"{base}/#/training/run%3A{name}")
    expect(page.locator(".run-head h2")).to_have_text(name)


def test_axes_have_titles_and_round_numbers_and_points_have_values(page: Page, runs: str) -> None:
    open_run(page, runs, "one")
    strength = page.get_by_role("region", name="Strength of the snapshots")
    expect(strength.locator(".axis-title")).to_have_text(["games", "% of the points"])
    ticks = ["0", "20", "40", "60", "80", "100", "50", "75", "100", "125", "150", "175", "200"]
    expect(strength.locator(".tick")).to_have_text(ticks)
    weights = page.get_by_role("region", name="Weights over time")
    numbers = weights.locator(".tick").all_text_contents()[:4]
    assert list(map(float, numbers)) == [0, 0.5, 1, 1.5]  # the weights are 0, 1 and 1.37
    box = strength.locator(".chart").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.35, box["y"] + box["height"] * 0.5)
    expect(strength.locator(".reading")).to_contain_text("100 games")
    expect(strength.locator(".reading")).to_contain_text("against random 52")
    strength.get_by_text("Values as a table").click()
    assert strength.locator(".values-table").bounding_box()["width"] <= box["width"]
    expect(strength.locator("tbody tr").last).to_have_text("20074")


def test_a_run_of_a_puzzle_has_positions_and_a_report_in_place_of_strength(
    page: Page, runs: str
) -> None:
    open_run(page, runs, "solved")
    detail = page.locator(".run-detail")
    expect(detail.locator(".facts")).to_contain_text("Positions20")
    expect(detail).to_contain_text("rote: 5 expansions")
    expect(detail).not_to_contain_text("games")
    expect(detail).not_to_contain_text("Strength")


@pytest.mark.whole_run
def test_weights_are_chosen(page: Page, runs: str) -> None:
    open_run(page, runs, "one")
    weights = page.get_by_role("region", name="Weights over time")
    legend = weights.locator(".legend li")
    expect(legend).to_have_count(8)
    weights.get_by_text("Choose among 16 weights").click()
    for box in weights.get_by_role("checkbox").all():
        box.uncheck()
    expect(weights).to_contain_text("No weight is chosen.")
    weights.get_by_role("checkbox", name="Kings", exact=True).check()
    expect(legend).to_have_text(["Kings"])


@pytest.mark.whole_run
def test_runs_share_charts(page: Page, runs: str) -> None:
    """Two, then three, each with a dash of its own; the second is taken out by keys."""
    open_run(page, runs, "one")
    strength = page.get_by_role("region", name="Strength of the snapshots")
    for name in ("two", "three"):
        field = page.get_by_role("combobox", name="Compare with")
        field.fill(name)
        field.press("Enter")
        expect(page.get_by_role("button", name=f"Compare no longer with {name}")).to_be_visible()
    names = [f"{name} against random" for name in ("one", "two", "three")]
    expect(strength.locator(".legend li")).to_have_text(names)
    expect(strength.locator(".curve.dash-1")).to_have_count(1)
    expect(strength.locator(".curve.dash-2")).to_have_count(1)
    assert len(set(strength.locator(".curve").evaluate_all(COLOURS))) == 3
    expect(page.locator("[data-compare]")).to_have_count(0)  # no run of checkers is left
    expect(page.locator("[data-without]").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(strength.locator(".legend li")).to_have_text([names[0], names[2]])
    expect(page.get_by_role("combobox", name="Compare with another")).to_be_focused()


@pytest.mark.whole_run
def test_a_snapshot_is_played(page: Page, runs: str) -> None:
    open_run(page, runs, "one")
    box = page.locator(".chart").first.bounding_box()
    chosen = "run:one/snapshots/000100.json"
    newest = "run:one/snapshots/000200.json"
    expect(page.locator("[data-player]")).to_have_value(newest)
    page.mouse.click(box["x"] + box["width"] * 0.35, box["y"] + box["height"] * 0.5)
    expect(page.locator("[data-player]")).to_have_value(chosen)  # the point that was clicked
    page.locator("[data-play-it]").click()
    page.wait_for_selector(".board")
    expect(page.locator(".strip").first).to_contain_text("one/snapshots/000100")


def test_losses_are_drawn_lengths_are_means_and_time_left_is_said(tmp_path: Path) -> None:
    """A loss stands in one line of 50; games of 40 and of 60 plies in turn have a mean of 50."""
    write_run(tmp_path / "one", [0.5, 0.6, 0.7], {"men": 1.0})
    log, taken = tmp_path / "one/log.csv", tmp_path / "one/snapshots/000150.json"
    (tmp_path / "one/options.json").write_text('{"game": "checkers", "games": 300}')
    os.utime(taken, (1000, 1000))
    os.utime(log, (1100, 1100))
    run = Runs({"run": tmp_path}).read("run:one")
    curves = run["log"]["curves"]
    assert [game for game, _ in curves["loss"]] == [50, 100, 150, 200]
    assert [value for _, value in curves["held out"]] == [0.5] * 4
    lengths = [value for _, value in curves["plies a game"]]
    assert 2 < len(lengths) <= 40
    assert all(abs(value - 50) <= 2 for value in lengths)
    assert run["left"] == 200  # 100 more games, of which 50 took 100 s
    assert run["folder"] == f"{tmp_path.name}/one"
