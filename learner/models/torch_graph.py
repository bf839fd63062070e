"""Torch modules as layers: their forward is followed step by step by `torch.fx`."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from learner.models.stack import Stack, Sum
from search.evaluators.activations import EPSILON, IDENTITY, NORMALISE

__all__ = ["ACCEPTED", "torch_output"]

#: Names of modules and functions of torch that are activations, in small letters.
ACTIVATIONS = ("relu", "tanh", "sigmoid", "silu")
ACCEPTED = (
    "a torch module of Linear, ReLU, LeakyReLU, ReLU6, Hardtanh, Tanh, Sigmoid, SiLU, LayerNorm,"
    " Dropout, Identity and Sequential, whose own forward may use relu, leaky_relu, tanh, sigmoid,"
    " silu, clamp between two numbers, its square (SCReLU), sums of skips and factors"
)


def torch_output(stack: Stack, module: Any) -> Sum:
    """Returns the output of a module, whose forward is followed step by step."""
    from torch import fx, nn

    whole = nn.Sequential(copy.deepcopy(module).eval())
    try:
        graph = fx.Tracer().trace(whole)
    except (fx.proxy.TraceError, TypeError) as error:
        raise TypeError(f"expected {ACCEPTED}, found {type(module).__name__}: {error}") from None
    modules = dict(whole.named_modules())
    results: dict[Any, Any] = {}
    for node in graph.nodes:
        vectors = [results[one] for one in node.args if isinstance(one, fx.Node)]
        if node.op == "output":
            break
        if node.op == "placeholder":
            sources = stack.inputs
        else:
            called = modules[node.target] if node.op == "call_module" else None
            sources = _torch_step(stack, node, called, vectors)
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


def _torch_step(stack: Stack, node: Any, module: Any, vectors: list[Any]) -> Any:
    """Returns the result of a step of a module's forward.

    module: the called module, or None for a function or a method.
    vectors: the arguments that are results of other steps.
    """
    name = type(module).__name__ if module else getattr(node.target, "__name__", node.target)
    value: Any = vectors[0] if vectors else None

    def option(place: int, key: str, default: Any = None) -> Any:
        if module is not None:
            return getattr(module, key)
        return node.args[place] if len(node.args) > place else node.kwargs.get(key, default)

    if _squares(node) and type(value) is tuple:  # what `clamp` left
        inner, high = value
        one = np.eye(stack.width_of(inner))
        units = stack.units(stack.linear(inner, one / high), "screlu")
        return units if high == 1 else stack.linear(units, one * high * high)
    if name.lower() in ACTIVATIONS and vectors:
        return stack.units(value, name.lower())
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
    if one_output or name in ("Dropout", "dropout", "Identity", "squeeze", "flatten"):
        return value
    raise TypeError(f"expected {ACCEPTED}, found a {name}")


def _array(tensor: Any) -> Any:
    return 0.0 if tensor is None else np.array(tensor.detach().cpu().double().numpy())
