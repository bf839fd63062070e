"""Models of torch and scikit-learn in the native search."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from errors import errors_of
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeRegressor
from torch import nn

from games.checkers import Checkers
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from learner.models.convert import Case, agreement, as_native
from search import Engine, LinearEvaluator, load_evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.samples import sample_positions
from search.evaluators.trees import TreeEvaluator

CHECKERS, TIC_TAC_TOE, NIM = Checkers(), TicTacToe(), Nim((3, 4, 5))
CLASSIC, SQUARES = CHECKERS.features["classic"], CHECKERS.encodings["piece_squares"]
POSITIONS = sample_positions(CHECKERS, 1000)
TERMS = CLASSIC.measure(POSITIONS)
#: Targets of the models: a function of the position, with noise.
VALUES = TERMS[:, 0] + 1.5 * TERMS[:, 1] + np.random.default_rng(1).normal(0, 1, 1000)
WON = (VALUES > np.median(VALUES)).astype(int)


def model_of(*widths: int, seed: int = 3, **options: Any) -> nn.Sequential:
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for before, after in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(before, after, **options), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def torch_values(model: nn.Module, inputs: Any) -> np.ndarray:
    with torch.no_grad():
        return model(torch.tensor(inputs, dtype=torch.float32)).double().numpy().reshape(-1)


def fitted(estimator: Any, values: Any = VALUES) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(TERMS, values)


# --- torch -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "width"), [(CLASSIC, 16), (SQUARES, 128), ((SQUARES, CLASSIC), 144)]
)
@pytest.mark.parametrize("hidden", [(64, 32), (7,), ()])
def test_a_torch_network(inputs: Any, width: int, hidden: tuple[int, ...]) -> None:
    model = model_of(width, *hidden, 1)
    evaluator = as_native(CHECKERS, model, inputs, scale=10.0, name="mine")
    assert isinstance(evaluator, NetworkEvaluator)
    assert (evaluator.name, evaluator.scale) == ("mine", 10.0)
    assert evaluator.widths == (width, *hidden, 1)
    assert evaluator.provenance == {"model": "Sequential"}
    parts = inputs if isinstance(inputs, tuple) else (inputs,)
    measured = [p.measure(POSITIONS) if p is CLASSIC else p.dense(POSITIONS) for p in parts]
    expected = 10 * torch_values(model, np.hstack(measured))
    assert np.allclose(evaluator.values(POSITIONS), expected, rtol=1e-5, atol=1e-4)
    assert Engine(CHECKERS, evaluator).search(CHECKERS.start(), depth=4).depth == 4


CLIPS = [nn.ReLU6(), nn.Hardtanh(0.0, 1.0), nn.Hardtanh(), nn.Hardtanh(-0.3, 0.7)]


@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_activations_that_cut_off(clip: nn.Module) -> None:
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(16, 6), clip, nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1))
    evaluator = as_native(CHECKERS, model, CLASSIC)
    expected = torch_values(model, TERMS)
    assert np.allclose(evaluator.values(POSITIONS), expected, rtol=1e-5, atol=1e-5)
    with torch.no_grad():
        inner = model[:2](torch.tensor(TERMS, dtype=torch.float32))
    low, high = (float(clip(torch.tensor(x))) for x in (-100.0, 100.0))
    cut = (inner == low) | (inner == high)
    assert 0 < cut.sum() < cut.numel()  # it does cut off, and not everything
    # of the output itself, and after a ReLU
    last = nn.Sequential(nn.Linear(16, 4), nn.ReLU(), clip, nn.Linear(4, 1), clip)
    found = as_native(CHECKERS, last, CLASSIC).values(POSITIONS)
    assert np.allclose(found, torch_values(last, TERMS), rtol=1e-5, atol=1e-5)
    # and of the inputs themselves
    first = nn.Sequential(clip, nn.Linear(16, 1))
    found = as_native(CHECKERS, first, CLASSIC).values(POSITIONS)
    assert np.allclose(found, torch_values(first, TERMS), rtol=1e-5, atol=1e-5)


class SCReLU(nn.Module):
    """The square of what is clipped to 0 to `high`."""

    def __init__(self, high: float, how: str = "pow") -> None:
        super().__init__()
        self.high, self.how = high, how

    def forward(self, sums: Any) -> Any:
        clipped = torch.clamp(sums, 0, self.high) if self.how == "pow" else sums.clip(0, self.high)
        if self.how == "mul":
            return clipped * clipped
        return clipped**2 if self.how == "pow" else clipped.square()


class Skip(nn.Module):
    """Layers, and what they are given added to their outputs."""

    def __init__(self, width: int, active: nn.Module) -> None:
        super().__init__()
        self.first, self.active = nn.Linear(width, width + 2), active
        self.last = nn.Linear(width + 2, width)

    def forward(self, units: Any) -> Any:
        return units + self.last(self.active(self.first(units)))


SHAPES = {
    "tanh": lambda: [nn.Linear(16, 6), nn.Tanh(), nn.Linear(6, 1)],
    "deep": lambda: [nn.Linear(16, 9), nn.Tanh(), nn.Linear(9, 5), nn.ReLU(), nn.Linear(5, 1)],
    "output": lambda: [nn.Linear(16, 4), nn.ReLU(), nn.Linear(4, 1), nn.Tanh()],
    "norm": lambda: [nn.Linear(16, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 1)],
    "plain norm": lambda: [
        nn.Linear(16, 6), nn.LayerNorm(6, elementwise_affine=False), nn.Linear(6, 1)
    ],
    "all": lambda: [
        nn.Linear(16, 7), nn.LayerNorm(7, eps=0.1), nn.Tanh(), nn.ReLU6(), nn.Linear(7, 6),
        nn.LayerNorm(6, bias=False), nn.Hardtanh(), nn.Linear(6, 1),
    ],
    "sigmoid": lambda: [nn.Linear(16, 9), nn.Sigmoid(), nn.Linear(9, 1), nn.Sigmoid()],
    "silu": lambda: [nn.Linear(16, 9), nn.SiLU(), nn.Linear(9, 5), nn.SiLU(), nn.Linear(5, 1)],
    "leaky": lambda: [nn.Linear(16, 9), nn.LeakyReLU(0.2), nn.Linear(9, 1), nn.LeakyReLU()],
    "screlu": lambda: [nn.Linear(16, 9), SCReLU(1.0), nn.Linear(9, 6), SCReLU(0.4, "mul"),
                       nn.Linear(6, 1), SCReLU(9.0, "square")],
    "skip": lambda: [nn.Linear(16, 9), nn.ReLU(), Skip(9, nn.ReLU()), nn.ReLU(), nn.Linear(9, 1)],
    "skips": lambda: [
        nn.Linear(16, 9), Skip(9, nn.SiLU()), Skip(9, nn.ReLU6()), nn.Tanh(), Skip(9, nn.Tanh()),
        nn.LeakyReLU(), Skip(9, SCReLU(1.0)), nn.Linear(9, 1), Skip(1, nn.ReLU()),
    ],
    "skip of the inputs": lambda: [Skip(16, nn.ReLU()), nn.Linear(16, 1)],
    "gelu": lambda: [nn.Linear(16, 9), nn.GELU(), nn.Linear(9, 5), nn.GELU("tanh"),
                     nn.Linear(5, 1)],
    "batch norm": lambda: [nn.BatchNorm1d(16), nn.Linear(16, 9), nn.BatchNorm1d(9, eps=0.1),
                           nn.ReLU(), nn.Linear(9, 5), nn.Tanh(), nn.BatchNorm1d(5, affine=False),
                           nn.Linear(5, 1), nn.BatchNorm1d(1)],
    "convolutions": lambda: [
        nn.Unflatten(1, (2, 2, 4)), nn.Conv2d(2, 5, 3, padding=1), nn.BatchNorm2d(5), nn.ReLU(),
        nn.Conv2d(5, 3, 2, stride=2), nn.GELU(), nn.AvgPool2d((1, 2)), nn.Flatten(),
        nn.Linear(3, 1),
    ],
    "convolution of rows": lambda: [
        Forward(lambda x, own: x.view(x.size(0), 4, 4)), nn.Conv1d(4, 4, 3, padding="same"),
        nn.SiLU(), Forward(lambda x, own: x.reshape(-1, 16)), nn.Linear(16, 1),
    ],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_other_activations_and_skips(shape: str, tmp_path: Path) -> None:
    torch.manual_seed(5)
    model = nn.Sequential(*SHAPES[shape]())
    with torch.no_grad():
        for module in model:  # a LayerNorm begins as one that changes nothing
            if isinstance(module, nn.LayerNorm) and module.weight is not None:
                module.weight.uniform_(-2.0, 2.0)
                if module.bias is not None:
                    module.bias.uniform_(-1.0, 1.0)
            if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                module.running_mean.uniform_(-1.0, 1.0)
                module.running_var.uniform_(0.2, 2.0)
    model.eval()
    evaluator = as_native(CHECKERS, model, CLASSIC, scale=3.0)
    assert isinstance(evaluator, NetworkEvaluator)
    assert evaluator.only_relu == (shape == "leaky")
    found = evaluator.values(POSITIONS)
    assert np.allclose(found, 3 * torch_values(model, TERMS), rtol=1e-5, atol=1e-5)
    assert np.ptp(found) > (0.02 if shape == "screlu" else 0.1)
    plain = evaluator.plain()
    assert np.allclose([plain(position) for position in POSITIONS[:40]], found[:40], atol=1e-6)
    evaluator.save(tmp_path / "network.safetensors")
    for again in (load_evaluator(tmp_path / "network.safetensors"), evaluator.copy()):
        assert again.values(POSITIONS).tolist() == found.tolist()
    assert Engine(CHECKERS, evaluator).search(CHECKERS.start(), depth=4).depth == 4
    # learning cannot continue this network, which is not one of ReLUs, but can first imitate it
    from learner.models.network_model import network_model

    hidden = tuple(max(2, width) for width in evaluator.widths[1:-1])
    started = network_model(CHECKERS, CLASSIC, hidden, scale=1, seed=1, start=evaluator)
    assert started.evaluator.only_relu


class Wrapped(nn.Module):
    def __init__(self, inner: nn.Module, factor: float = 1.0) -> None:
        super().__init__()
        self.inner = inner
        self.factor = factor

    def forward(self, inputs: Any) -> Any:
        return self.factor * self.inner(inputs)[:, 0]


def test_torch_modules_that_hold_others() -> None:
    inner = nn.Sequential(nn.Dropout(0.5), nn.Linear(16, 6), nn.Linear(6, 5, bias=False))
    model = Wrapped(
        nn.Sequential(inner, nn.Identity(), nn.ReLU(), nn.ReLU(), nn.Linear(5, 1)), factor=2.5
    )
    assert model.training
    evaluator = as_native(CHECKERS, model, CLASSIC)
    assert model.training and inner.training  # as it was
    assert evaluator.widths == (16, 5, 1)
    expected = torch_values(model.eval(), TERMS)
    assert np.allclose(evaluator.values(POSITIONS), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_torch_model(bias: bool) -> None:
    model = nn.Linear(16, 1, bias=bias)
    evaluator = as_native(CHECKERS, model, CLASSIC, scale=3.0)
    assert isinstance(evaluator, NetworkEvaluator if bias else LinearEvaluator)
    expected = 3 * torch_values(model, TERMS)
    assert np.allclose(evaluator.values(POSITIONS), expected, atol=1e-4)
    for case in agreement(CHECKERS, evaluator, model, POSITIONS, scale=3.0):
        assert case.difference < 1e-6


# --- scikit-learn ----------------------------------------------------------------------------

ESTIMATORS: dict[str, tuple[Callable[[], Any], type]] = {
    "linear": (LinearRegression, NetworkEvaluator),
    "linear, no intercept": (lambda: LinearRegression(fit_intercept=False), LinearEvaluator),
    "ridge": (lambda: Ridge(alpha=2.0), NetworkEvaluator),
    "ridge, no intercept": (lambda: Ridge(fit_intercept=False), LinearEvaluator),
    "descent": (lambda: SGDRegressor(eta0=1e-4, random_state=1), NetworkEvaluator),
    "network": (
        lambda: MLPRegressor(hidden_layer_sizes=(8, 5), max_iter=20, random_state=1),
        NetworkEvaluator,
    ),
    "network, linear": (
        lambda: MLPRegressor(
            hidden_layer_sizes=(8, 5), activation="identity", max_iter=20, random_state=1
        ),
        NetworkEvaluator,
    ),
    "network, tanh": (
        lambda: MLPRegressor(
            hidden_layer_sizes=(8, 5), activation="tanh", max_iter=20, random_state=1
        ),
        NetworkEvaluator,
    ),
    "network, logistic": (
        lambda: MLPRegressor(
            hidden_layer_sizes=(8, 5), activation="logistic", max_iter=20, random_state=1
        ),
        NetworkEvaluator,
    ),
    "tree": (lambda: DecisionTreeRegressor(max_leaf_nodes=30), TreeEvaluator),
    "forest": (lambda: RandomForestRegressor(20, max_depth=7, random_state=1), TreeEvaluator),
    "extra trees": (lambda: ExtraTreesRegressor(20, random_state=1), TreeEvaluator),
    "boosting": (lambda: GradientBoostingRegressor(random_state=1), TreeEvaluator),
    "boosting, median": (lambda: GradientBoostingRegressor(loss="huber"), TreeEvaluator),
    "boosting by bins": (lambda: HistGradientBoostingRegressor(), TreeEvaluator),
    "scaled": (lambda: make_pipeline(StandardScaler(), Ridge()), NetworkEvaluator),
    "divided": (
        lambda: make_pipeline(StandardScaler(with_mean=False), Ridge(fit_intercept=False)),
        LinearEvaluator,
    ),
    "centred": (
        lambda: make_pipeline(StandardScaler(with_std=False), Ridge(fit_intercept=False)),
        NetworkEvaluator,
    ),
    "scaled often": (
        lambda: make_pipeline(
            MaxAbsScaler(),
            MinMaxScaler((-1, 2)),
            "passthrough",
            make_pipeline(
                RobustScaler(), MLPRegressor(hidden_layer_sizes=(9,), max_iter=20, random_state=1)
            ),
        ),
        NetworkEvaluator,
    ),
    "principal components": (
        lambda: make_pipeline(PCA(8), LinearSVR(max_iter=10_000, random_state=1)),
        NetworkEvaluator,
    ),
    "robust, not centred": (
        lambda: make_pipeline(RobustScaler(with_centering=False, with_scaling=False), Ridge()),
        NetworkEvaluator,
    ),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_regression(kind: str) -> None:
    make, expected = ESTIMATORS[kind]
    model = fitted(make())
    evaluator = as_native(CHECKERS, model, CLASSIC, scale=2.0)
    assert type(evaluator) is expected
    assert np.allclose(evaluator.values(POSITIONS), 2 * model.predict(TERMS), rtol=1e-4, atol=1e-4)
    assert evaluator.values(POSITIONS).std() > 0.1
    if kind == "network, linear":
        assert evaluator.widths == (16, 1)  # all in one layer
    plain = evaluator.plain()
    values = evaluator.values(POSITIONS[:20])
    assert np.allclose([plain(position) for position in POSITIONS[:20]], values, atol=1e-5)


@pytest.mark.parametrize("inputs", [SQUARES, (SQUARES, CLASSIC)])
def test_trees_over_an_encoding_are_saved(inputs: Any, tmp_path: Path) -> None:
    parts = inputs if isinstance(inputs, tuple) else (inputs,)
    rows = np.hstack([p.measure(POSITIONS) if p is CLASSIC else p.dense(POSITIONS) for p in parts])
    model = GradientBoostingRegressor(n_estimators=30, random_state=1).fit(rows, VALUES)
    evaluator = as_native(CHECKERS, model, inputs, name="mine")
    assert np.allclose(evaluator.values(POSITIONS), model.predict(rows), atol=1e-9)
    evaluator.save(tmp_path / "mine.safetensors")
    again = load_evaluator(tmp_path / "mine.safetensors")
    assert again.values(POSITIONS).tolist() == evaluator.values(POSITIONS).tolist()
    assert Engine(CHECKERS, again).search(CHECKERS.start(), depth=4).depth == 4


@pytest.mark.parametrize(
    "make",
    [
        LogisticRegression,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: MLPClassifier(hidden_layer_sizes=(8,), max_iter=50, random_state=1),
        lambda: make_pipeline(
            MaxAbsScaler(), MLPClassifier(hidden_layer_sizes=(8,), max_iter=50, random_state=1)
        ),
    ],
)
def test_a_classifier_gives_the_logarithm_of_the_odds(make: Callable[[], Any]) -> None:
    model = fitted(make(), WON)
    evaluator = as_native(CHECKERS, model, CLASSIC)
    chances = 1 / (1 + np.exp(-evaluator.values(POSITIONS)))
    assert np.allclose(chances, model.predict_proba(TERMS)[:, 1], atol=1e-5)
    assert np.ptp(chances) > 0.5


# --- models that cannot be converted ------------------------------------------------------------


def with_outputs(model: MLPRegressor, activation: str) -> MLPRegressor:
    model.out_activation_ = activation
    return model


class Forward(nn.Module):
    def __init__(self, function: Callable[[Any, nn.Linear], Any]) -> None:
        super().__init__()
        self.own, self.function = nn.Linear(16, 1), function

    def forward(self, inputs: Any) -> Any:
        return self.function(inputs, self.own)


def not_a_number(model: nn.Linear) -> nn.Linear:
    nn.init.constant_(model.weight, math.nan)
    return model


def test_a_conversion_that_is_not_the_model_is_refused() -> None:
    torch.manual_seed(3)
    factors = iter([1.0, 1.01, 1.0, 1.01, 1.0, 1.01, 1.0, math.nan])
    model = Forward(lambda inputs, own: next(factors) * own(inputs))
    position = CHECKERS.start()
    text = r"posi.*[BW]:W.*:B.*: native -?[0-9.]+, model -?[0-9.]+; [BW]:"
    with pytest.raises(ValueError, match=rf"within 0.0001 of the model's on 1000 {text}"):
        as_native(CHECKERS, model, CLASSIC)
    with pytest.raises(ValueError, match="on 1 positions, found B:W21,22,.*: native") as caught:
        as_native(CHECKERS, model, CLASSIC, positions=[position], tolerance=1e-9)
    assert len(str(caught.value).split(";")) == 1
    as_native(CHECKERS, model, CLASSIC, tolerance=0.02)
    with pytest.raises(ValueError, match="model nan"):
        as_native(CHECKERS, model, CLASSIC)


def test_the_worst_cases_come_first() -> None:
    model = model_of(16, 5, 1)
    evaluator = as_native(CHECKERS, model, CLASSIC, scale=4.0)
    with torch.no_grad():
        model[0].weight[:, 1] += 1.0  # kings count differently
    expected = 4 * torch_values(model, TERMS)
    cases = agreement(CHECKERS, evaluator, model, np.array(POSITIONS), worst=1000)
    differences = [case.difference for case in cases]
    assert differences == sorted(differences, reverse=True)
    assert differences[0] > 0.1 and differences[-1] < 1e-5
    first = cases[0]
    place = POSITIONS.index(first.position)
    assert first.model == pytest.approx(expected[place], rel=1e-5)
    assert first.native == evaluator(first.position)
    assert agreement(CHECKERS, evaluator, model, POSITIONS, worst=3) == cases[:3]
    assert Case((), 3.0, 2.5).difference == 0.2
    assert Case((), 0.0, 0.5).difference == 0.5


test_errors = errors_of(globals())
