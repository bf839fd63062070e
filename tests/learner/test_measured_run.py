"""Measurements of a run: held-out positions, pictures, hours, and the code that counts."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import compiled_only
from matplotlib.image import imread

from docs.examples.hexapawn import Hexapawn
from games.checkers import Checkers
from learner.gradient.root_strap import RootStrap
from learner.gradient.td_leaf import TDLeaf
from learner.reports import plots
from learner.rounds.batch import BatchFit
from learner.rounds.samuel import Samuel
from learner.run import measured_run, provenance
from learner.run.folder import RunError
from learner.run.measured_run import HELD_OUT, MeasuredRun
from learner.run.request import parser, settings_of
from learner.run.settings import RunSettings
from play.ratings.statistics import Tally, score_interval
from programs import waiting
from programs.phrases import lasting
from search import load_evaluator

CHECKERS = Checkers()


def a_run(folder: Path, kind: Any, games: int = 60, **options: Any) -> MeasuredRun:
    learner = kind(CHECKERS, games=games, seed=1, **{"depth": 2, **options})
    settings = RunSettings(
        game="checkers", learner="samuel", games=games, depth=1, snapshots=1, snapshot_games=2,
        final_games=2, opponents=(), pacemakers=("material",),
    )  # fmt: skip
    return MeasuredRun(learner, folder, game=CHECKERS, settings=settings)


def held_out(folder: Path) -> list[float]:
    with open(folder / "log.csv", newline="") as file:
        return [float(row["held_out"]) for row in csv.DictReader(file) if row["held_out"]]


@pytest.mark.whole_run
@compiled_only
def test_snapshots_with_terms_of_their_own_are_read(tmp_path: Path) -> None:
    """Each has the terms that were made up until then, others than the learner has at last."""
    run = a_run(tmp_path, Samuel, games=150, depth=1, round_games=50, invent=1)
    run.settings = replace(run.settings, snapshots=3)
    run.train()  # measures every snapshot
    paths = sorted((tmp_path / "snapshots").glob("*.json"))
    terms = [{*json.loads(path.read_text())["weights"]} for path in paths]
    assert terms[0] != terms[-1]


def test_a_run_that_is_stopped_leaves_what_it_has_to_be_played(tmp_path: Path) -> None:
    """Its weights are those at the stop, and the resumed run ends like one without a stop."""

    def stop(progress: Any) -> None:
        if progress.game >= 3:
            raise KeyboardInterrupt

    runs = [
        a_run(tmp_path / name, TDLeaf, games=40, depth=1, games_per_update=4)
        for name in ("stopped", "whole")
    ]
    with pytest.raises(KeyboardInterrupt):
        runs[0].train("material", watch=stop)
    left = load_evaluator(tmp_path / "stopped" / "last.json", game=CHECKERS)
    assert left.weights.tolist() == runs[0].learner.evaluator_.weights.tolist()
    a_run(tmp_path / "stopped", TDLeaf, games=40, depth=1, games_per_update=4).train(
        "material", resume=True
    )
    runs[1].train("material")
    last, whole = ((tmp_path / name / "last.json").read_text() for name in ("stopped", "whole"))
    assert last == whole and left.weights.tolist() != runs[1].learner.evaluator_.weights.tolist()


@compiled_only
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "start", "options"),
    [
        (RootStrap, "material", {}),
        pytest.param(Samuel, None, {"round_games": 40}, marks=pytest.mark.slow),
        pytest.param(TDLeaf, "material", {}, marks=pytest.mark.slow),
        pytest.param(
            BatchFit, "material", {"blend": 0.0, "K": 4 / 3, "round_games": 40},
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_the_loss_on_held_out_positions_falls(
    tmp_path: Path, kind: Any, start: Any, options: Any
) -> None:
    a_run(tmp_path, kind, 160, **options).train(start)
    losses = held_out(tmp_path)
    assert len(losses) > 3
    assert losses[-1] < losses[0] and losses[-1] < np.mean(losses[: len(losses) // 2])


@compiled_only
def test_held_out_positions_stay_the_same_when_a_run_resumes(tmp_path: Path) -> None:
    class Killed(BaseException):
        """Ends a run as a kill does."""

    def kill(progress: Any) -> None:
        if progress.game > 30:
            raise Killed

    whole, parts = tmp_path / "whole", tmp_path / "parts"
    a_run(whole, RootStrap).train("material")
    with pytest.raises(Killed):
        a_run(parts, RootStrap).train("material", watch=kill)
    kept = (parts / HELD_OUT).read_bytes()
    (parts / HELD_OUT).unlink()
    with pytest.raises(RunError, match="held_out.safetensors: expected a file"):
        a_run(parts, RootStrap).train("material", resume=True)
    (parts / HELD_OUT).write_bytes(kept[:-9])
    with pytest.raises(RunError, match="expected held-out positions, found"):
        a_run(parts, RootStrap).train("material", resume=True)
    (parts / HELD_OUT).write_bytes(kept)
    a_run(parts, RootStrap).train("material", resume=True)
    for name in ("log.csv", HELD_OUT, "last.json", "checkpoint.json"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    assert len(set(held_out(whole))) > 5


@compiled_only
def test_code_of_other_games_is_no_code_of_a_run(tmp_path: Path) -> None:
    import games.backgammon.rules  # noqa: F401 - as engines that can be played against do

    run = a_run(tmp_path, Samuel, 4)
    run.train()
    modules = provenance.provenance(CHECKERS, run.learner)["learner"]
    assert {"games.checkers.rules", "learner.rounds.samuel", "learner.arena"} <= modules.keys()
    assert not [name for name in modules if name.startswith("games.backgammon")]
    own = provenance.provenance(Hexapawn(), run.learner)["learner"]
    assert "docs.examples.hexapawn" in own and "docs.examples.hexapawn" not in modules


def test_a_single_snapshots_weights_are_drawn(tmp_path: Path) -> None:
    plots.plot_weights(tmp_path / "one.png", {"kings": [[8, 2.0]], "men": [[8, 1.0]]})
    red, green, blue = imread(tmp_path / "one.png")[:, :700, :3].transpose(2, 0, 1)
    assert ((blue - red > 0.3) & (green > red)).sum() > 20  # the first colour is blue


@pytest.mark.parametrize("chosen", [None, 8])
def test_what_the_picture_of_strength_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: int | None
) -> None:
    figures: list[Any] = []
    monkeypatch.setattr(plots, "write_figure", lambda path, figure: figures.append(figure))
    curves = {"classic": [[4, 60.0, 37.0, 80.0], [8, 60.0, 37.0, 80.0]]}
    strength = {"unit": "% of the points", "curves": curves}
    plots.plot_strength("", strength, chosen=chosen, hours={4: 40 / 3600, 8: 2 / 60})
    (axes,) = figures[0].axes
    (upper,) = axes.child_axes
    assert [text.get_text() for text in upper.get_xticklabels()] == ["2 min", "40 s"]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["against classic"] + ["chosen as the best"] * (chosen is not None)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5000, "83 min"),
                          (6000, "1.7 h"), (90_000, "25.0 h")]
)  # fmt: skip
def test_times_are_said_in_the_unit_that_fits(seconds: float, text: str) -> None:
    assert lasting(seconds) == text


@pytest.mark.plain
def test_the_main_jobs_curve_is_within_8_per_cent_in_the_games_of_a_wider_one() -> None:
    settings = settings_of(parser().parse_args(["checkers"]))
    assert settings.snapshots * settings.snapshot_games <= 12 * 40
    random = np.random.default_rng(2)
    for score in (0.5, 0.6, 0.7):
        game = np.array([1 - score - 0.17, 0.34, score - 0.17])  # draws as seen against `classic`
        for counts in random.multinomial(settings.snapshot_games // 2, np.convolve(game, game), 20):
            assert score_interval(Tally(tuple(counts))).margin < 0.085
        likeliest = np.rint(np.convolve(game, game) * settings.snapshot_games / 2).astype(int)
        assert score_interval(Tally(tuple(likeliest))).margin < 0.08


@compiled_only
def test_hours_do_not_count_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name: dict[str, Any] = {}
    before, learned = waiting.compiled_seconds(), measured_run._learning_seconds()
    exec("from games.kernels import kernel\n@kernel\ndef fresh(x):\n    return x * 3 + 1", name)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert name["fresh"](2) == 7
    spent = waiting.compiled_seconds() - before
    assert spent > 0.01
    assert measured_run._learning_seconds() - learned < spent
