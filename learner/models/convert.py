"""A model of your own in the native search: a torch module or a scikit-learn estimator.

A model is taken apart into layers, activations between them and skips past them, which become a
`NetworkEvaluator` (weights over terms and nothing else a `LinearEvaluator`), and its values are
compared with the model's own.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.features import Encoding, FeatureSet
from games.values import LIMIT
from learner.models.sklearn_trees import joined_trees, trees_of
from learner.models.stack import Stack, Sum
from learner.models.torch_graph import ACCEPTED as TORCH
from learner.models.torch_graph import torch_output
from search import Evaluator, LinearEvaluator
from search.evaluators.activations import RELU
from search.evaluators.files.layers import Inputs, size_of
from search.evaluators.network import NetworkEvaluator
from search.evaluators.samples import sample_positions
from search.evaluators.trees import TreeEvaluator

__all__ = ["Case", "agreement", "as_native"]

POSITIONS = 1000
#: Beyond this a probability no longer determines its logit exactly.
MOST_LOGIT = 30.0

Values = NDArray[np.float64]

SKLEARN = (
    "a fitted scikit-learn estimator that is linear, an MLPRegressor, an MLPClassifier, or a"
    " Pipeline of linear steps and one of these; or trees for regression, forests of them, or"
    " gradient boosting"
)
#: Activations of scikit-learn, but for the identity, by the names that they have here.
ACTIVATIONS = {"relu": RELU, "tanh": "tanh", "logistic": "sigmoid"}


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
) -> NetworkEvaluator | LinearEvaluator | TreeEvaluator:
    """Returns the evaluator whose value of a position is `scale` times the output of a model.

    The model was trained on measured inputs: the terms of a feature set, the 0s and 1s of an
    encoding, or both side by side (`NetworkEvaluator`). Its output is that of `predict` or of the
    module; for classifiers of two classes it is the decision function, the log-odds of the second
    class. A linear model without intercept over a feature set becomes a `LinearEvaluator`, trees
    become a `TreeEvaluator`.

    Values are compared with the model's on `positions` (by default 1,000 of random play). Raises
    ValueError if they differ by more than `tolerance`, relative to the larger of 1 and the model's
    value, if one is greater than a static value may be (`LIMIT`), as behind a fit to values of
    proven results, and for a model of other inputs or several outputs. Raises TypeError, with a
    list of what is accepted, for any other module, function or estimator, and for branches
    other than skips.
    """
    about: dict[str, Any] = {"name": name, "provenance": {"model": type(model).__name__}}
    trees = trees_of(model) if "sklearn" in sys.modules else []
    evaluator: NetworkEvaluator | LinearEvaluator | TreeEvaluator
    if trees:
        _expect_width(size_of(inputs), model.n_features_in_)
        base = float(_estimator_outputs(model, np.zeros((1, size_of(inputs))))[0][0])
        arrays, count = joined_trees(trees, base, scale)
        evaluator = TreeEvaluator(game, inputs, *arrays, trees=count, **about)
    else:
        evaluator = _layered(game, model, inputs, scale, about)
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
    largest = np.abs(evaluator.values(positions)).max()
    if largest > LIMIT:
        raise ValueError(
            f"expected values of at most {LIMIT:g}, found {largest:.3g}: `Result.within` bounds the"
            " values of proven results, which no regression should see"
        )
    return evaluator


def _layered(
    game: Game, model: Any, inputs: Inputs, scale: float, about: Mapping[str, Any]
) -> NetworkEvaluator | LinearEvaluator:
    width = size_of(inputs)
    stack = _taken_apart(model, width)
    layers = stack.layers
    if layers[0][0].shape[0] != width or layers[-1][0].shape[1] != 1:
        raise ValueError(
            f"expected a model of {width} inputs and one output, found"
            f" {layers[0][0].shape[0]} and {layers[-1][0].shape[1]}"
        )
    weights, bias = layers[0]
    if len(layers) == 1 and not bias.any() and isinstance(inputs, FeatureSet):
        return LinearEvaluator(game, inputs, scale * weights[:, 0], **about)
    shape: dict[str, Any] = {"activations": stack.activations, "skips": stack.skips}
    return NetworkEvaluator(game, inputs, layers, **shape, scale=scale, **about)


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

    `scale` is the factor of the model's output; by default that of the network, and 1 for other
    evaluators. Raises TypeError for evaluators that read no feature set or encoding, and ValueError
    if there are no positions.
    """
    if isinstance(evaluator, NetworkEvaluator | TreeEvaluator):
        parts: list[Any] = [evaluator.encoding, evaluator.features]
        if scale is None and isinstance(evaluator, NetworkEvaluator):
            scale = evaluator.scale
    elif isinstance(evaluator, LinearEvaluator):
        parts = [evaluator.features]
    else:
        raise TypeError(
            "expected a NetworkEvaluator, a LinearEvaluator or a TreeEvaluator, found a"
            f" {type(evaluator).__name__}"
        )
    if isinstance(positions, np.ndarray):
        positions = [tuple(row) for row in positions.tolist()]
    if not len(positions):
        raise ValueError("positions: expected at least one")
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
    # a library that was not imported cannot have made the model
    if "torch" in sys.modules and isinstance(model, sys.modules["torch"].nn.Module):
        stack.finish(torch_output(stack, model))
    elif "sklearn" in sys.modules and isinstance(model, sys.modules["sklearn"].base.BaseEstimator):
        stack.finish(_estimator_output(stack, model, stack.inputs))
    else:
        raise TypeError(f"expected {TORCH}; or {SKLEARN}, found a {type(model).__name__}")
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


def _expect_width(width: int, inputs: int) -> None:
    if inputs != width:
        raise ValueError(f"expected a model of {width} inputs, found one of {inputs}")


# --- scikit-learn ----------------------------------------------------------------------------


def _estimator_output(stack: Stack, model: Any, value: Sum) -> Sum:
    """Returns the output of a fitted estimator for a vector."""
    from sklearn import neural_network, pipeline
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, pipeline.Pipeline):
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        if not steps:
            raise TypeError(f"expected {SKLEARN}, found a Pipeline of nothing")
        for step in steps[:-1]:
            value = _linear(stack, step, step.transform, value)
        return _estimator_output(stack, steps[-1], value)
    check_is_fitted(model)
    if not isinstance(model, neural_network.MLPRegressor | neural_network.MLPClassifier):
        call = getattr(model, "decision_function", getattr(model, "predict", None))
        return _linear(stack, model, call, value)
    if model.out_activation_ not in ("identity", "logistic", "softmax"):  # the last: many outputs
        raise TypeError(f"expected outputs identity or logistic, found {model.out_activation_}")
    for number, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if number and model.activation in ACTIVATIONS:
            value = stack.units(value, ACTIVATIONS[model.activation])
        value = stack.linear(value, np.asarray(weights, np.float64), np.asarray(bias, np.float64))
    return value


def _linear(stack: Stack, model: Any, call: Callable[[Values], Any] | None, value: Sum) -> Sum:
    """Returns the output of a linear step; TypeError for others."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    width = stack.width_of(value)
    _expect_width(width, getattr(model, "n_features_in_", width))
    result = None if call is None or trees_of(model) else stack.affine(value, call)
    if result is None:
        raise TypeError(f"expected {SKLEARN}, found a {type(model).__name__}")
    return result


def _estimator_outputs(model: Any, inputs: Values) -> tuple[Values, float | None]:
    from scipy.special import logit

    call: Callable[..., Any] | None = getattr(model, "decision_function", None)
    if call is not None:
        return np.asarray(call(inputs), dtype=np.float64), None
    chance = getattr(model, "predict_proba", None)
    if chance is None:
        return np.asarray(model.predict(inputs), dtype=np.float64), None
    return np.asarray(logit(chance(inputs)[:, 1]), dtype=np.float64), MOST_LOGIT
