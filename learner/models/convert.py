"""Bring your own model: a torch module or a scikit-learn estimator in the native search.

Networks of linear layers with ReLU, and linear estimators, become a `NetworkEvaluator` (with tanh
or LayerNorm a `ShapedNetwork`; where they are weights and nothing else, a `LinearEvaluator`) and
are compared with the model itself. A ReLU that is cut off above is two ReLUs:
clip(x, a, b) = a + relu(x - a) - relu(x - b).
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.features import Encoding, FeatureSet
from search import Evaluator, LinearEvaluator
from search.evaluators.activations import EPSILON, RELU
from search.evaluators.layers import Inputs
from search.evaluators.network import NetworkEvaluator
from search.evaluators.samples import sample_positions

__all__ = ["Case", "agreement", "agreement_text", "as_native"]

POSITIONS = 1000
#: Most inputs of a comparison, of 8 bytes each.
MOST_INPUTS = 1 << 25
#: Beyond this a probability no longer determines its logit exactly.
MOST_LOGIT = 30.0

Values = NDArray[np.float64]


class Clip(NamedTuple):
    """An activation that cuts sums off at two bounds."""

    low: float
    high: float


#: Weights [inputs, outputs] and bias [outputs], or an activation: one that cuts off, or a name.
Stage = tuple[Values, Values] | Clip | str

#: Names in sklearn.linear_model, sklearn.neural_network and sklearn.preprocessing.
LINEAR = (
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
    "HuberRegressor", "SGDRegressor", "SGDClassifier", "LogisticRegression", "LogisticRegressionCV",
)  # fmt: skip
NETWORKS = ("MLPRegressor", "MLPClassifier")
SCALERS = ("StandardScaler", "MaxAbsScaler", "MinMaxScaler", "RobustScaler")
ACCEPTED = (
    "a torch.nn.Sequential of Linear, ReLU, ReLU6, Hardtanh, Tanh, LayerNorm, Dropout,"
    " Identity and Sequential, a module whose only"
    f" child is one, a fitted scikit-learn estimator ({', '.join(LINEAR + NETWORKS)}) or a Pipeline"
    f" of {', '.join(SCALERS)} and one of these"
)


class Case(NamedTuple):
    """A position with its value by the native evaluator and by the model, for the side to move."""

    position: Any
    native: float
    model: float

    @property
    def difference(self) -> float:
        """The distance between both values, relative to the larger of 1 and the model's value."""
        return abs(self.native - self.model) / max(1.0, abs(self.model))


def as_native(
    game: Game,
    model: Any,
    inputs: Inputs,
    *,
    positions: Sequence[Any] | None = None,
    tolerance: float = 1e-4,
    scale: float = 1.0,
    name: str = "converted",
) -> NetworkEvaluator | LinearEvaluator:
    """Returns the evaluator whose value of a position is `scale` times the output of a model.

    The model was trained on measured inputs: the terms of a feature set, the 0s and 1s of an
    encoding, or both side by side (`NetworkEvaluator`). Its output is that of `predict` or of the
    module; for classifiers of two classes it is the decision function, the log-odds of the second
    class. A linear model without intercept over a feature set becomes a `LinearEvaluator`.

    Values are compared with the model's on `positions` (by default 1,000 of random play). Raises
    ValueError if they differ by more than `tolerance`, relative to the larger of 1 and the model's
    value, and for a model of other inputs or several outputs. Raises TypeError for unknown layers
    and estimators.
    """
    width = sum(len(one) for one in (inputs if isinstance(inputs, tuple) else (inputs,)))
    layers, activations = _merged(_stages(model))
    if layers[0][0].shape[0] != width or layers[-1][0].shape[1] != 1:
        raise ValueError(
            f"expected a model of {width} inputs and one output, found"
            f" {layers[0][0].shape[0]} and {layers[-1][0].shape[1]}"
        )
    weights, bias = layers[0]
    provenance = {"model": type(model).__name__}
    evaluator: NetworkEvaluator | LinearEvaluator
    if len(layers) == 1 and not bias.any() and isinstance(inputs, FeatureSet):
        scaled = scale * weights[:, 0]
        evaluator = LinearEvaluator(game, inputs, scaled, name=name, provenance=provenance)
    else:
        evaluator = NetworkEvaluator(
            game, inputs, layers, activations=activations, scale=scale, name=name,
            provenance=provenance,
        )  # fmt: skip
    if positions is None:
        positions = sample_positions(game, POSITIONS)
    worst = agreement(game, evaluator, model, positions, scale=scale, worst=4)
    if not worst[0].difference <= tolerance:
        cases = "; ".join(
            f"{game.position_text(case.position)}: native {case.native:.7g}, model {case.model:.7g}"
            for case in worst
            if not case.difference <= tolerance
        )
        raise ValueError(
            f"expected values within {tolerance:g} of the model's on {len(positions)} positions,"
            f" found {cases}"
        )
    return evaluator


def agreement(
    game: Game,
    evaluator: Evaluator,
    model: Any,
    positions: Sequence[Any],
    *,
    scale: float | None = None,
    worst: int = 10,
) -> list[Case]:
    """Returns the positions on which a native evaluator and its model differ most, the worst first.

    `scale` is the factor of the model's output; by default that of the network, and 1 for linear
    evaluators. Raises TypeError for evaluators that read no feature set or encoding, and ValueError
    if there are no positions.
    """
    if isinstance(evaluator, NetworkEvaluator):
        parts: list[Any] = [evaluator.encoding, evaluator.features]
        scale = evaluator.scale if scale is None else scale
    elif isinstance(evaluator, LinearEvaluator):
        parts = [evaluator.features]
    else:
        raise TypeError(
            f"expected a NetworkEvaluator or a LinearEvaluator, found a {type(evaluator).__name__}"
        )
    if isinstance(positions, np.ndarray):
        positions = [tuple(row) for row in positions.tolist()]
    if not len(positions):
        raise ValueError("positions: expected at least one, found none")
    measured = [
        part.dense(positions).astype(np.float64)
        if isinstance(part, Encoding)
        else part.measure(positions)
        for part in parts
        if part is not None
    ]
    factor = 1.0 if scale is None else scale
    outputs, most = _outputs(model, np.hstack(measured))
    native, found = evaluator.values(positions), factor * outputs
    if most is not None:
        # compare within the precision of the model's own outputs
        native, found = (np.clip(v, -abs(factor) * most, abs(factor) * most)
                         for v in (native, found))  # fmt: skip
    difference = np.abs(native - found) / np.maximum(1.0, np.abs(found))
    order = np.argsort(-np.nan_to_num(difference, nan=np.inf), kind="stable")[:worst]
    return [Case(positions[i], float(native[i]), float(found[i])) for i in order]


def agreement_text(evaluator: NetworkEvaluator, *, positions: int = 10_000, worst: int = 3) -> str:
    """Returns the agreement of native code with torch about a network, the worst cases first.

    Positions are random; fewer are used if the inputs would be too many.
    """
    import torch
    from torch import nn

    game = evaluator.game
    positions = min(positions, MOST_INPUTS // len(evaluator.layers[0][0]))
    parts: list[nn.Module] = []
    for weights, bias in evaluator.layers:
        layer = nn.Linear(*weights.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weights.T.copy()))
            layer.bias.copy_(torch.from_numpy(bias.copy()))
        parts += [layer, nn.ReLU()]
    module = nn.Sequential(*parts[:-1])
    cases = agreement(game, evaluator, module, sample_positions(game, positions), worst=worst)
    most = cases[0].difference
    lines = [f"native code and torch agree to {most:.1e} on {positions:,} random positions"]
    lines += [
        f"  {c.native:+.7f} and {c.model:+.7f}: {game.position_text(c.position)}" for c in cases
    ]
    return "\n".join(lines)


def _merged(stages: list[Stage]) -> tuple[list[tuple[Values, Values]], list[str]]:
    """Returns layers, and the activations between them, that compute the same as the stages."""
    layers: list[tuple[Values, Values]] = []
    activations: list[str] = []
    waiting = ""  # the activation behind the last layer
    for stage in _unclipped(stages):
        if isinstance(stage, str):
            if not layers:
                raise TypeError(f"expected a linear layer before the first {stage}, found none")
            if waiting and not waiting == stage == RELU:
                activations.append(waiting)
                layers.append(_identity(layers))
            waiting = stage
        elif waiting or not layers:
            activations += [waiting] if waiting else []
            layers.append(stage)
            waiting = ""
        else:
            (weights, bias), (more, its_bias) = layers[-1], stage
            layers[-1] = weights @ more, bias @ more + its_bias
    if not layers:
        raise TypeError(f"expected {ACCEPTED}, found no layer")
    if waiting:  # behind the output itself
        activations.append(waiting)
        layers.append(_identity(layers))
    return layers, activations


def _identity(layers: list[tuple[Values, Values]]) -> tuple[Values, Values]:
    """Returns a layer that passes on the outputs of the last of some layers."""
    outputs = layers[-1][0].shape[1]
    return np.eye(outputs), np.zeros(outputs)


def _unclipped(stages: list[Stage]) -> Iterator[tuple[Values, Values] | str]:
    """Returns the same with two ReLUs in place of each activation that clips."""
    width = 0
    for stage in stages:
        if isinstance(stage, Clip):
            if not width:
                raise TypeError("expected a linear layer before the first activation, found none")
            one = np.eye(width)
            yield np.hstack([one, one]), np.repeat([-stage.low, -stage.high], width)
            yield RELU
            yield np.vstack([one, -one]), np.full(width, stage.low)
            continue
        if not isinstance(stage, str):
            width = stage[0].shape[1]
        yield stage


def _stages(model: Any) -> list[Stage]:
    """Returns a model's linear layers and activations in order.

    Raises TypeError if it has anything else.
    """
    # a library that was not imported has no models here
    if "torch" in sys.modules and isinstance(model, sys.modules["torch"].nn.Module):
        return _torch_stages(model)
    if "sklearn" in sys.modules:
        stages = _estimator_stages(model)
        if stages is not None:
            return stages
    raise TypeError(f"expected {ACCEPTED}, found a {type(model).__name__}")


def _outputs(model: Any, inputs: Values) -> tuple[Values, float | None]:
    """Returns the model's outputs for rows of inputs, and the size beyond which they are inexact.

    The size is None if they are always exact.
    """
    if "torch" in sys.modules and isinstance(model, sys.modules["torch"].nn.Module):
        outputs, most = _torch_outputs(model, inputs), None
    else:
        outputs, most = _estimator_outputs(model, inputs)
    if outputs.size != len(inputs):
        raise ValueError(f"expected one output for each position, found shape {outputs.shape}")
    return outputs.reshape(-1), most


# --- torch -----------------------------------------------------------------------------------


def _torch_stages(module: Any) -> list[Stage]:
    from torch import nn

    if isinstance(module, nn.Linear):
        weights = _array(module.weight).T
        bias: Any = module.bias
        return [(weights, np.zeros(weights.shape[1]) if bias is None else _array(bias))]
    if isinstance(module, nn.Hardtanh):  # ReLU6 is one
        return [Clip(float(module.min_val), float(module.max_val))]
    if isinstance(module, nn.ReLU):
        return [RELU]
    if isinstance(module, nn.Tanh):
        return ["tanh"]
    if isinstance(module, nn.LayerNorm):
        return _normalised(module)
    if isinstance(module, (nn.Dropout, nn.Identity)):
        return []
    children = list(module._modules.values())  # `children()` omits repeated modules
    if isinstance(module, nn.Sequential):
        return [stage for child in children for stage in _torch_stages(child)]
    own = list(module.parameters(recurse=False))
    if len(children) == 1 and not own and isinstance(children[0], nn.Sequential):
        return _torch_stages(children[0])
    raise TypeError(f"expected {ACCEPTED}, found a {type(module).__name__}")


def _normalised(module: Any) -> list[Stage]:
    """Returns a LayerNorm over one dimension: normalisation, then a weight and bias per unit."""
    if len(module.normalized_shape) != 1:
        raise TypeError(f"expected a LayerNorm over one dimension, found {module}")
    (width,) = module.normalized_shape
    one, nothing = np.eye(width), np.zeros(width)
    stages: list[Stage] = []
    if module.eps != EPSILON:  # sums s times as large need s * s times the epsilon
        stages.append((one * np.sqrt(EPSILON / module.eps), nothing))
    stages.append("normalise")
    if module.weight is not None:
        bias = nothing if module.bias is None else _array(module.bias)
        stages.append((np.diag(_array(module.weight)), bias))
    return stages


def _array(tensor: Any) -> Values:
    return np.array(tensor.detach().cpu().double().numpy())


def _torch_outputs(module: Any, inputs: Values) -> Values:
    import torch

    # a copy: the module itself keeps its device and whether it is training
    module = copy.deepcopy(module).cpu().eval()
    kinds = [parameter.dtype for parameter in module.parameters()]
    with torch.no_grad():
        outputs = module(torch.as_tensor(inputs).to(kinds[0] if kinds else torch.float32))
    return _array(outputs)


# --- scikit-learn ----------------------------------------------------------------------------


def _estimator_stages(model: Any) -> list[Stage] | None:
    from sklearn import linear_model, neural_network, pipeline
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, pipeline.Pipeline):
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        if not steps:
            return None
        scaled = [stage for step in steps[:-1] for stage in _scaler_stages(step)]
        last = _estimator_stages(steps[-1])
        return None if last is None else [*scaled, *last]
    linear: Any = tuple(getattr(linear_model, kind) for kind in LINEAR)
    if isinstance(model, linear):
        check_is_fitted(model)
        weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T
        return [(weights, np.zeros(weights.shape[1]) + model.intercept_)]
    networks: Any = tuple(getattr(neural_network, kind) for kind in NETWORKS)
    if not isinstance(model, networks):
        return None
    check_is_fitted(model)
    if model.activation not in ("relu", "identity"):
        raise TypeError(f"expected activation relu or identity, found {model.activation}")
    if model.out_activation_ not in ("identity", "logistic", "softmax"):  # the last: many outputs
        raise TypeError(f"expected outputs identity or logistic, found {model.out_activation_}")
    stages: list[Stage] = []
    for weights, bias in zip(model.coefs_, model.intercepts_, strict=True):
        stages += [(np.asarray(weights, np.float64), np.asarray(bias, np.float64)), RELU]
        if model.activation == "identity":
            stages.pop()
    return stages[:-1] if isinstance(stages[-1], str) else stages


def _scaler_stages(scaler: Any) -> list[Stage]:
    """Returns a fitted scaler as one linear layer."""
    from sklearn import preprocessing
    from sklearn.utils.validation import check_is_fitted

    kinds: Any = tuple(getattr(preprocessing, kind) for kind in SCALERS)
    if not isinstance(scaler, kinds):
        raise TypeError(
            f"expected {', '.join(SCALERS)} before the estimator of a Pipeline, found a"
            f" {type(scaler).__name__}"
        )
    check_is_fitted(scaler)
    if getattr(scaler, "clip", False):
        raise TypeError(
            f"expected a scaler that does not clip, found a {type(scaler).__name__} that does"
        )
    nothing = np.zeros(scaler.n_features_in_)
    if isinstance(scaler, preprocessing.MinMaxScaler):
        return [(np.diag(scaler.scale_), nothing + scaler.min_)]
    units = getattr(scaler, "scale_", None)
    centre = getattr(scaler, "mean_", None) if getattr(scaler, "with_mean", False) else None
    centre = getattr(scaler, "center_", centre)
    factor = 1.0 / (nothing + (1.0 if units is None else units))
    return [(np.diag(factor), -factor * (nothing if centre is None else centre))]


def _estimator_outputs(model: Any, inputs: Values) -> tuple[Values, float | None]:
    from scipy.special import logit

    call: Callable[..., Any] | None = getattr(model, "decision_function", None)
    if call is not None:
        return np.asarray(call(inputs), dtype=np.float64), None
    chance = getattr(model, "predict_proba", None)
    if chance is None:
        return np.asarray(model.predict(inputs), dtype=np.float64), None
    return np.asarray(logit(chance(inputs)[:, 1]), dtype=np.float64), MOST_LOGIT
