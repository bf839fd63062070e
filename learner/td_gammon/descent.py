"""Gradient descent on networks of outcomes, in native code: one position at a time.

`sweep_address` returns a function that goes backwards through a game and moves the outputs of each
position towards the lambda-return: TD(lambda) (Sutton 1988, Tesauro 1992) without traces, because
the whole game is known and the lambda-return is calculated from its end. The loss is the
cross-entropy of each output, whose gradient behind a logistic function is output minus target.
"""

from __future__ import annotations

import numpy as np

from games.kernels.memory import native_function, read_position
from search.evaluators.layers import padded
from search.evaluators.outcome_network import OutcomeNetwork, by_phase

__all__ = ["NUMBERS", "sweep_address"]

#: Numbers that a sweep reads, float64: learning rate, that of the last layer, and lambda.
NUMBERS = 3


def sweep_address(evaluator: OutcomeNetwork) -> int:
    """Returns the address of native float64(data, positions, plies, numbers) that learns a game.

    data: the record that the evaluator's native code reads; its weights are changed in place.
    positions: plies + 1 positions, of which the last is finished.
    numbers: see `NUMBERS`.

    The native function returns the sum of the squared errors of all outputs before the corrections.
    """
    kinds = evaluator.kinds
    width = len(evaluator.game.start())
    count = len(kinds)
    lines = [
        "def sweep_at(data, positions, plies, numbers):",
        "    rate = float32(load_float(numbers, 0))",
        "    last_rate = float32(load_float(numbers, 1))",
        "    lambda_ = load_float(numbers, 2)",
        "    nothing = float32(0.0)",
        f"    target_block = stack_block({8 * count})",
        f"    target = array_at(float64_pointer(target_block), ({count},))",
        f"    found_block = stack_block({8 * count})",
        f"    probabilities = array_at(float64_pointer(found_block), ({count},))",
        f"    source = positions + plies * {8 * width}",
        f"    position = {read_position(width)}",
        "    finished(position, target)",
        "    error = 0.0",
        "    for ply in range(plies - 1, -1, -1):",
        f"        source = positions + ply * {8 * width}",
        f"        position = {read_position(width)}",
        "        turn(target)",
    ]
    nets = []
    for number in range(len(evaluator.nets)):
        text = evaluator.net_text(number)
        for k in range(count):
            text += [
                f"probabilities[{k}] = logistic(output_{k})",
                f"step_{k} = float32(target[{k}] - probabilities[{k}])",
            ]
        nets.append([*text, *_backward(evaluator, number)])
    lines += [f"        {line}" for line in by_phase(nets)]
    lines += [
        *(f"        error += (target[{k}] - probabilities[{k}]) ** 2" for k in range(count)),
        "        confine(position, probabilities)",
        *(
            f"        target[{k}] = probabilities[{k}]"
            f" + lambda_ * (target[{k}] - probabilities[{k}])"
            for k in range(count)
        ),
        "    return error",
    ]
    scope = {
        **evaluator.scope(),
        "finished": kinds.finished,
        "turn": kinds.turn,
        "float32": np.float32,
    }
    return native_function(
        "sweep_at", "\n".join(lines), scope, "float64(int64, int64, int64, int64)"
    )


def _backward(evaluator: OutcomeNetwork, number: int) -> list[str]:
    """Returns code that moves a net's weights along `step_0`, `step_1`, ..., of its outputs."""
    net = evaluator.nets[number]
    place = evaluator.place(number)
    last = len(net.layers) - 1
    outputs = net.widths[-1]
    length = padded(net.widths[last])

    def address(layer: int, part: int = 0) -> str:
        return f"load_int(data, {place + 2 * layer + part})"

    def row(name: str, where: str, size: int) -> str:
        return f"{name} = array_at(float32_pointer({where}), ({size},))"

    total = " + ".join(f"step_{k} * weights[{k}, i]" for k in range(outputs))
    lines = [
        f"weights = array_at(float32_pointer({address(last)}), ({outputs}, {length}))",
        row("bias", address(last, 1), outputs),
        row("units", f"hidden_{last}", length),
        f"slope_{last} = stack_block({4 * length})",
        row("slopes", f"slope_{last}", length),
        f"for i in range({length}):",
        f"    slope = rate * ({total})",
        "    slopes[i] = slope if units[i] > nothing else nothing",
        *(f"step_{k} = last_rate * step_{k}" for k in range(outputs)),
        *(f"bias[{k}] += step_{k}" for k in range(outputs)),
        f"for i in range({length}):",
        "    unit = max(units[i], nothing)",
        *(f"    weights[{k}, i] += step_{k} * unit" for k in range(outputs)),
    ]
    for layer in range(last - 1, 0, -1):
        rows, columns = padded(net.widths[layer]), padded(net.widths[layer + 1])
        lines += [
            row("units", f"hidden_{layer}", rows),
            f"slope_{layer} = stack_block({4 * rows})",
            row("before", f"slope_{layer}", rows),
            row("bias", address(layer, 1), columns),
            f"for j in range({columns}):",
            "    bias[j] += slopes[j]",
            f"for i in range({rows}):",
            "    unit = units[i]",
            "    before[i] = nothing",
            "    if unit > nothing:",
            f"        here = {address(layer)} + {4 * columns} * i",
            f"        before[i] = dot(slope_{layer + 1}, here, {columns}, 0)",
            "        " + row("weight", "here", columns),
            f"        for j in range({columns}):",
            "            weight[j] += unit * slopes[j]",
            "slopes = before",
        ]
    columns = padded(net.widths[1])
    first = address(0)
    lines += [
        row("bias", address(0, 1), columns),
        f"for j in range({columns}):",
        "    bias[j] += slopes[j]",
    ]
    if net.encoding:
        lines += [
            "for i in range(count):",
            "    " + row("weight", f"{first} + {4 * columns} * load_int(places, i)", columns),
            f"    for j in range({columns}):",
            "        weight[j] += slopes[j]",
        ]
        first = f"{first} + {4 * columns * net.encoding.size}"
    if net.features:
        lines += [
            f"for i in range({len(net.features)}):",
            "    term = terms[i]",
            "    if term != nothing:",
            "        " + row("weight", f"{first} + {4 * columns} * i", columns),
            f"        for j in range({columns}):",
            "            weight[j] += term * slopes[j]",
        ]
    return lines
