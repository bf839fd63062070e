"""Torch modules as layers: their forward is followed step by step by `torch.fx`."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from learner.models.stack import Stack, Sum
from search.evaluators.activations import EPSILON, IDENTITY, NORMALISE

__all__ = ["ACCEPTED", "torch_output"]

#: Names of modules and functions of torch that are activations, in small letters.
ACTIVATIONS = ("relu", "tanh", "sigmoid", "silu", "gelu")
#: Names of functions that only arrange the numbers of a position anew.
ARRANGE = ("squeeze", "flatten", "unflatten", "view", "reshape", "size", "dropout", "identity")
ACCEPTED = (
    "a torch module of Linear and other linear ones (Conv2d, BatchNorm1d, AvgPool2d), ReLU,"
    " LeakyReLU, ReLU6, Hardtanh, Tanh, Sigmoid, SiLU, GELU, LayerNorm, Dropout, Identity, Flatten"
    " and Sequential, whose own forward may use relu, leaky_relu, tanh, sigmoid, silu, gelu, view,"
    " clamp between two numbers, its square (SCReLU), sums of skips and factors"
)


def torch_output(stack: Stack, module: Any) -> Sum:
    """Returns the output of a module, whose forward is followed step by step."""
    import torch
    from torch import fx, nn

    whole = nn.Sequential(copy.deepcopy(module).cpu().double().eval())
    try:
        graph = fx.Tracer().trace(whole)
    except (fx.proxy.TraceError, TypeError) as error:
        raise TypeError(f"expected {ACCEPTED}, found {type(module).__name__}: {error}") from None
    modules = dict(whole.named_modules())

    shapes: dict[Any, Any] = {}

    class Followed(fx.Interpreter):
        def run_node(self, node: Any) -> Any:
            result = super().run_node(node)
            shapes[node] = getattr(result, "shape", (0,))[1:]
            return result

    @functools.cache
    def shape_of(node: Any) -> Any:
        rows = torch.zeros(2, stack.width, dtype=torch.float64)
        Followed(fx.GraphModule(whole, graph)).run(rows)
        return shapes[node]

    results: dict[Any, Any] = {}
    for node in graph.nodes:
        vectors = [results[one] for one in node.args if isinstance(one, fx.Node)]
        if node.op == "output":
            break
        if node.op == "placeholder":
            sources = stack.inputs
        else:
            called = modules[node.target] if node.op == "call_module" else None
            sources = _torch_step(stack, node, called, vectors, shape_of)
        if len(node.users) > 1 and type(sources) is not tuple:
            sources = stack.units(sources, IDENTITY)  # so that skips can add it
        results[node] = sources
    output: Sum = vectors[0]
    return output


def _squares(node: Any) -> bool:
    """Returns whether a step of a graph squares its argument."""
    name = getattr(node.target, "__name__", node.target)
    return name == "square" or (name == "pow" and node.args[1:] == (2,)) or (
        name == "mul" and node.args[0] is node.args[1]
    )  # fmt: skip


def _torch_step(
    stack: Stack, node: Any, module: Any, vectors: list[Any], shape_of: Callable[[Any], Any]
) -> Any:
    """Returns the result of a step of a module's forward.

    module: the called module, or None for a function or a method.
    vectors: the arguments that are results of other steps.
    shape_of: returns the shape of a step's result for one position.
    """
    name = type(module).__name__ if module else getattr(node.target, "__name__", node.target)
    value: Any = vectors[0] if vectors else None

    def option(place: int, key: str, default: Any = None) -> Any:
        if module is not None:
            return getattr(module, key)
        return node.args[place] if len(node.args) > place else node.kwargs.get(key, default)

    if _squares(node) and type(value) is tuple:  # the result of `clamp`
        inner, high = value
        one = np.eye(stack.width_of(inner))
        units = stack.units(stack.linear(inner, one / high), "screlu")
        return units if high == 1 else stack.linear(units, one * high * high)
    if name.lower() in ACTIVATIONS and vectors:
        kind = name.lower()
        about = kind == "gelu" and option(1, "approximate", "none") == "tanh"
        return stack.units(value, "gelu_tanh" if about else kind)
    if name == "Linear":
        return stack.linear(value, _array(module.weight).T, _array(module.bias))
    if name in ("LeakyReLU", "leaky_relu"):
        return stack.leaky(value, option(1, "negative_slope", 0.01))
    if name in ("Hardtanh", "ReLU6"):
        return stack.clipped(value, module.min_val, module.max_val)
    if name in ("clamp", "clip") and None not in (ends := (option(1, "min"), option(2, "max"))):
        if ends[0] == 0 < ends[1] and node.users and all(map(_squares, node.users)):
            return value, ends[1]  # SCReLU, which is one activation
        return stack.clipped(value, *map(float, ends))
    if name == "LayerNorm" and len(module.normalized_shape) == 1:
        one = np.eye(stack.width_of(value))
        if module.eps != EPSILON:  # sums s times as large need s * s times the epsilon
            value = stack.linear(value, one * np.sqrt(EPSILON / module.eps))
        value = stack.units(value, NORMALISE)
        if module.weight is None:
            return value
        return stack.linear(value, np.diag(_array(module.weight)), _array(module.bias))
    if name in ("add", "iadd") and len(vectors) == 2:
        return stack.added(*vectors)
    factors = [one for one in node.args if isinstance(one, int | float)]
    if name == "mul" and len(vectors) == len(factors) == 1:
        return stack.linear(value, factors[0] * np.eye(stack.width_of(value)))
    one_output = name == "getitem" and node.args[1] == (slice(None), 0)
    if one_output or name.lower() in ARRANGE:
        return value
    reason = ""
    if module is not None and len(node.args) == len(vectors) == 1:
        try:
            shape = shape_of(node.args[0])
            result = stack.affine(value, functools.partial(_called, module, shape))
        except (TypeError, ValueError, RuntimeError) as error:
            result, reason = None, f": {str(error).splitlines()[0]}"
        if result is not None:
            return result
    raise TypeError(f"expected {ACCEPTED}, found a {name}{reason}")


def _called(module: Any, shape: Any, rows: Any) -> Any:
    """Returns the results of a module, [rows, numbers], for rows of numbers of a shape."""
    import torch

    with torch.no_grad():
        return module(torch.as_tensor(rows).reshape(-1, *shape)).reshape(len(rows), -1).numpy()


def _array(tensor: Any) -> Any:
    return 0.0 if tensor is None else np.array(tensor.detach().cpu().double().numpy())
