"""Where torch trains: one option of all that do, and everything is put there, a GPU or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from twin import torch_values

import train
from games import kernels
from games.backgammon import Backgammon
from games.checkers import Checkers
from learner.__main__ import main
from learner.models.network_model import network_model
from learner.models.outcome_model import OutcomeModel
from learner.models.quantised_model import QuantisedModel
from learner.self_play import rows_of
from learner.td_gammon.backup_fit import single
from learner.td_gammon.prefilter import Decisions, imitation
from learner.td_gammon.td_gammon import find_inputs, new_network
from search.evaluators.samples import sample_positions

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")

CHECKERS, BACKGAMMON = Checkers(), Backgammon()
POSITIONS = sample_positions(CHECKERS, 40)
ROWS = np.array(sample_positions(BACKGAMMON, 200))
HALF = np.full(40, 0.5)
INPUTS = find_inputs(BACKGAMMON, "points+expert")
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


class Unplaced:
    """An array that torch can use only once it was put on a device."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def to(self, device: Any) -> Any:
        return torch.tensor(self.array, device=device)


def of_a_network(inputs: str, device: str) -> Any:
    model = network_model(CHECKERS, inputs, (4, 3), scale=1.0, seed=0, device=device)
    rows = rows_of(model.inputs, POSITIONS)
    model.learn(rows, HALF, HALF, rate=0.01, random=np.random.default_rng(0))
    model.set_state(model.get_state())
    return torch_values(model, rows)


def of_integers(device: str) -> Any:
    model = QuantisedModel(CHECKERS, "piece_squares", (4, 3), device=device)
    model.fit(np.array(POSITIONS), HALF, random=np.random.default_rng(0))
    model.set_state(model.get_state())
    return model.outputs(np.array(POSITIONS))


def of_outcomes(device: str) -> Any:
    net = single(new_network(BACKGAMMON, INPUTS, (4,), spread=0.3, seed=3))
    model = OutcomeModel(net, equity_share=0.5, averaging=0.9, device=device)
    targets = np.full((len(ROWS), 5), 0.5)
    model.learn(ROWS, targets, rate=0.01, random=np.random.default_rng(0))
    model.step(ROWS, targets, 0.01)
    model.set_state(model.get_state())
    return model.probabilities(ROWS)


def of_a_prefilter(device: str) -> Any:
    net = new_network(BACKGAMMON, BACKGAMMON.encodings["points"], (6,), spread=0.3, seed=3)
    decisions = Decisions(ROWS, np.full(40, 5), net.values(ROWS))
    return imitation(net, decisions, units=4, passes=2, seed=1, device=device).values(ROWS)


@pytest.mark.parametrize(
    "learned",
    [
        lambda device: of_a_network("piece_squares", device),
        lambda device: of_a_network("classic", device),
        of_integers,
        of_outcomes,
        of_a_prefilter,
    ],
    ids=["places", "terms", "integers", "outcomes", "prefilter"],
)
def test_a_model_puts_everything_on_its_device(
    learned: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tensor that is made without a device cannot be calculated with."""
    expected = learned("cpu")
    monkeypatch.setattr(torch, "from_numpy", Unplaced)
    with torch.device("meta"):
        assert np.array_equal(learned("cpu"), expected)
        if not torch.cuda.is_available():
            assert np.array_equal(learned("auto"), expected)
    if torch.cuda.is_available():
        np.testing.assert_allclose(learned("cuda"), expected, rtol=1e-2, atol=1e-2)


@no_gpu
@pytest.mark.parametrize(
    "recipe",
    [
        "backgammon --learner backups",
        "checkers --learner quantised",
        "checkers --learner network",
        "checkers --learner rootstrap --set hidden=(8,)",
    ],
)
def test_a_missing_gpu_is_named_before_anything_is_played(
    recipe: str, capsys: Any, tmp_path: Path
) -> None:
    arguments = [*recipe.split(), "--set", "device=cuda"]
    assert train.main([*arguments, "--run", str(tmp_path / "run")]) == 2
    line = "train.py: device: expected cpu or auto on a machine without a GPU, found cuda"
    assert capsys.readouterr().err.splitlines() == [line]
    assert not (tmp_path / "run").exists()


@no_gpu
def test_a_missing_gpu_is_named_before_a_prefilter_is_made(capsys: Any, tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    new_network(BACKGAMMON, BACKGAMMON.encodings["points"], (4,), spread=0.3, seed=3).save(file)
    assert main(["prefilter", "backgammon", str(file), "--device", "cuda"]) == 2
    line = "device: expected cpu or auto on a machine without a GPU, found cuda"
    assert capsys.readouterr().err.splitlines() == [f"learner: {line}"]


def test_weights_of_terms_are_learned_without_a_device(capsys: Any, tmp_path: Path) -> None:
    arguments = ["checkers", "--learner", "rootstrap", "--set", "device=auto"]
    assert train.main([*arguments, "--run", str(tmp_path / "run")]) == 2
    line = "train.py: device: expected cpu, because hidden is empty, found auto"
    assert capsys.readouterr().err.splitlines() == [line]
