"""Trees of scikit-learn as the arrays of a `TreeEvaluator`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree", "joined_trees", "trees_of"]


class Tree(NamedTuple):
    """A tree: for each node the input that it tests, or -1 at a leaf, and what lies behind it.

    bounds: the greatest value of the input that leads to the `low` node, or the value of a leaf.
    """

    tests: NDArray[Any]
    bounds: NDArray[np.float64]
    low: NDArray[Any]
    high: NDArray[Any]


def trees_of(model: Any) -> list[Tree]:
    """Returns the trees whose sum, but for a constant, is the output of a fitted estimator.

    Returns no trees for estimators of other kinds, and raises TypeError for those whose output is
    not a sum.
    """
    from sklearn import ensemble, tree

    if isinstance(model, ensemble.GradientBoostingRegressor | ensemble.GradientBoostingClassifier):
        return [_plain(part, model.learning_rate) for part in _fitted(model, "estimators_")]
    if isinstance(model, ensemble.RandomForestRegressor | ensemble.ExtraTreesRegressor):
        parts = _fitted(model, "estimators_")
        return [_plain(part, 1.0 / len(parts)) for part in parts]
    if isinstance(model, tree.DecisionTreeRegressor):
        return [_plain(part, 1.0) for part in _fitted(model, "")]
    boosted = ensemble.HistGradientBoostingRegressor | ensemble.HistGradientBoostingClassifier
    if not isinstance(model, boosted):
        return []
    if model.loss in ("poisson", "gamma"):
        raise TypeError(
            f"expected gradient boosting whose output is a sum, found loss {model.loss}"
        )
    return [_of_bins(part.nodes) for part in _fitted(model, "_predictors")]


def joined_trees(trees: list[Tree], base: float, scale: float) -> tuple[list[Any], int]:
    """Returns the arrays of a `TreeEvaluator`, and the number of trees.

    base: the output of the model for inputs that are all 0; a leaf of its own holds the difference.
    scale: the factor of the output.
    """
    rest = base - sum(map(_leaf, trees))
    trees = [*trees, Tree(np.array([-1]), np.array([rest]), np.zeros(1), np.zeros(1))]
    # the roots come first, and the other nodes of all trees follow
    places, start = [], len(trees)
    for number, tree in enumerate(trees):
        places.append(np.append(number, start + np.arange(len(tree.tests) - 1)))
        start += len(tree.tests) - 1
    arrays = [np.zeros(start) for _ in Tree._fields]
    for place, tree in zip(places, trees, strict=True):
        leaf = tree.tests < 0
        ends = (place[np.where(leaf, 0, behind).astype(int)] for behind in (tree.low, tree.high))
        bounds = tree.bounds * np.where(leaf, scale, 1.0)
        for array, part in zip(arrays, (tree.tests, bounds, *ends), strict=True):
            array[place] = part
    return arrays, len(trees)


def _leaf(tree: Tree) -> float:
    """Returns the value of the leaf at which inputs that are all 0 end."""
    node = 0
    while tree.tests[node] >= 0:
        node = int((tree.low if tree.bounds[node] >= 0.0 else tree.high)[node])
    return float(tree.bounds[node])


def _fitted(model: Any, name: str) -> list[Any]:
    """Returns the trees of an estimator; TypeError if it has several outputs."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    parts = getattr(model, name) if name else [model]
    rows = [part if isinstance(part, list | np.ndarray) else [part] for part in parts]
    if any(len(row) > 1 for row in rows) or getattr(model, "n_outputs_", 1) > 1:
        raise TypeError(f"expected one output, found a {type(model).__name__} of several")
    return [row[0] for row in rows]


def _plain(estimator: Any, factor: float) -> Tree:
    tree = estimator.tree_
    leaf = tree.children_left < 0
    bounds = np.where(leaf, factor * tree.value[:, 0, 0], tree.threshold)
    return Tree(np.where(leaf, -1, tree.feature), bounds, tree.children_left, tree.children_right)


def _of_bins(nodes: Any) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    if nodes["is_categorical"].any():
        raise TypeError("expected gradient boosting over numbers, found categories")
    bounds = np.where(leaf, nodes["value"], nodes["num_threshold"])
    tests = np.where(leaf, -1, nodes["feature_idx"].astype(np.int64))
    return Tree(tests, bounds, nodes["left"], nodes["right"])
