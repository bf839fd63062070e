"""Bring your own model: a torch module or a scikit-learn estimator in the native search.

A model is taken apart into layers, activations between them and skips past them, which become a
`NetworkEvaluator` (weights over terms and nothing else a `LinearEvaluator`), and its values are
compared with the model's own.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.features import Encoding, FeatureSet
from learner.models.stack import Stack, Sum
from learner.models.torch_graph import ACCEPTED as TORCH
from learner.models.torch_graph import torch_output
from search import Evaluator, LinearEvaluator
from search.evaluators.activations import RELU
from search.evaluators.files.layers import Inputs, size_of
from search.evaluators.network import NetworkEvaluator
from search.evaluators.samples import sample_positions

__all__ = ["Case", "agreement", "as_native"]

POSITIONS = 1000
#: Beyond this a probability no longer determines its logit exactly.
MOST_LOGIT = 30.0

Values = NDArray[np.float64]

ACCEPTED = (
    f"{TORCH}; or a fitted scikit-learn estimator that is linear, an MLPRegressor or an"
    " MLPClassifier with activation relu or identity, or a Pipeline of linear steps and one of"
    " these"
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
    value, and for a model of other inputs or several outputs. Raises TypeError, with a list of what
    is accepted, for any other module, function or estimator, and for branches beside the skips.
    """
    width = size_of(inputs)
    stack = _taken_apart(model, width)
    layers = stack.layers
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
            game, inputs, layers, activations=stack.activations, skips=stack.skips, scale=scale,
            name=name, provenance=provenance,
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
    native, expected = evaluator.values(positions), factor * outputs
    if most is not None:
        # compare within the precision of the model's own outputs
        native, expected = (np.clip(v, -abs(factor) * most, abs(factor) * most)
                         for v in (native, expected))  # fmt: skip
    difference = np.abs(native - expected) / np.maximum(1.0, np.abs(expected))
    order = np.argsort(-np.nan_to_num(difference, nan=np.inf), kind="stable")[:worst]
    return [Case(positions[i], float(native[i]), float(expected[i])) for i in order]


def _taken_apart(model: Any, width: int) -> Stack:
    """Returns the layers of a model of `width` inputs; TypeError if it has anything else."""
    stack = Stack(width)
    # a library that was not imported has no models here
    if "torch" in sys.modules and isinstance(model, sys.modules["torch"].nn.Module):
        stack.finish(torch_output(stack, model))
    elif "sklearn" in sys.modules and isinstance(model, sys.modules["sklearn"].base.BaseEstimator):
        stack.finish(_estimator_output(stack, model, stack.inputs))
    else:
        raise TypeError(f"expected {ACCEPTED}, found a {type(model).__name__}")
    return stack


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


def _torch_outputs(module: Any, inputs: Values) -> Values:
    import torch

    # a copy: the module itself keeps its device and whether it is training
    module = copy.deepcopy(module).cpu().eval()
    kinds = [parameter.dtype for parameter in module.parameters()]
    with torch.no_grad():
        outputs = module(torch.as_tensor(inputs).to(kinds[0] if kinds else torch.float32))
    return np.array(outputs.double().numpy())


# --- scikit-learn ----------------------------------------------------------------------------


def _estimator_output(stack: Stack, model: Any, value: Sum) -> Sum:
    """Returns the output of a fitted estimator for a vector."""
    from sklearn import neural_network, pipeline
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, pipeline.Pipeline):
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        if not steps:
            raise TypeError(f"expected {ACCEPTED}, found a Pipeline of nothing")
        for step in steps[:-1]:
            value = stack.linear(value, *_linear(step, step.transform, stack.width_of(value)))
        return _estimator_output(stack, steps[-1], value)
    check_is_fitted(model)
    if not isinstance(model, neural_network.MLPRegressor | neural_network.MLPClassifier):
        call = getattr(model, "decision_function", getattr(model, "predict", None))
        return stack.linear(value, *_linear(model, call, model.n_features_in_))
    if model.activation not in ("relu", "identity"):
        raise TypeError(f"expected activation relu or identity, found {model.activation}")
    if model.out_activation_ not in ("identity", "logistic", "softmax"):  # the last: many outputs
        raise TypeError(f"expected outputs identity or logistic, found {model.out_activation_}")
    for number, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if number and model.activation == "relu":
            value = stack.units(value, RELU)
        value = stack.linear(value, np.asarray(weights, np.float64), np.asarray(bias, np.float64))
    return value


def _linear(model: Any, call: Callable[[Values], Any] | None, width: int) -> tuple[Values, Values]:
    """Returns the weights and bias of a linear function of `width` inputs; TypeError for others."""
    if call is not None:
        bias = np.asarray(call(np.zeros((1, width))), np.float64).reshape(-1)
        if hasattr(model, "coef_"):
            weights = np.atleast_2d(np.asarray(model.coef_, np.float64)).T
        else:
            weights = np.asarray(call(np.eye(width)), np.float64).reshape(width, -1) - bias
        probe = np.random.default_rng(0).normal(0.0, 10.0, (8, width))
        outputs = np.asarray(call(probe), np.float64).reshape(8, -1)
        linear = probe @ weights + bias
        if linear.shape == outputs.shape and np.allclose(linear, outputs, rtol=1e-6, atol=1e-6):
            return weights, bias
    raise TypeError(f"expected {ACCEPTED}, found a {type(model).__name__}")


def _estimator_outputs(model: Any, inputs: Values) -> tuple[Values, float | None]:
    from scipy.special import logit

    call: Callable[..., Any] | None = getattr(model, "decision_function", None)
    if call is not None:
        return np.asarray(call(inputs), dtype=np.float64), None
    chance = getattr(model, "predict_proba", None)
    if chance is None:
        return np.asarray(model.predict(inputs), dtype=np.float64), None
    return np.asarray(logit(chance(inputs)[:, 1]), dtype=np.float64), MOST_LOGIT
