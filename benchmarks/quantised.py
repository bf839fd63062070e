"""Measures what an integer network costs a search, and what an incremental layer could gain.

    python -m benchmarks.quantised [FILE ...] [--widths 256-32-32 ...] [--depth PLIES]

For each network, read from a file or fitted here in a second to the shipped network, prints nodes
per second of processor time over positions of random play, in turns with a linear evaluator and the
float32 network. "Kept" is the same network with sums of the first layer that are not computed anew
but updated from those of an earlier position: of the two remembered (because the sides' views
alternate), the one that differs in fewer rows. "If free" is what the search would gain if those
sums cost nothing at all. It is measured by two searches of one tree, with a network whose rows are
all 0 plus material, so its value does not depend on whether the rows are added up.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import games
from games.kernels import kernel, lowest, popcount
from games.kernels.memory import store_int
from learner.models.quantised_model import QuantisedModel
from search import Engine, load_evaluator
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.samples import sample_positions

ROOT = Path(__file__).resolve().parent.parent
CHECKERS = games.load("checkers")
FLOAT = ROOT / "data" / "checkers" / "network.safetensors"
PHASES = (9, 15, 20)
TABLE_MIB = 16
WIDTHS = ("64-32", "256-32-32", "512-16-32", "512-32-32", "1024-16-32", "1024-32-32")


class Counting(QuantisedNetwork):
    """The same values; `counted` is the number of evaluations."""

    def __init__(self, network: QuantisedNetwork) -> None:
        super().__init__(
            network.game, network.encoding, network.layers,
            phases=network.phases, scale=network.scale,
        )  # fmt: skip
        self._data = np.append(self._data, 0)

    @property
    def counted(self) -> int:
        """The number of values that native code computed."""
        return int(self._data[-1])

    def _text(self) -> str:
        place = len(self._data) - 1
        first, *others = super()._text().split("\n")
        count = f"    store_int(data, {place}, load_int(data, {place}) + 1)"
        return "\n".join([first, count, *others])


class Flat(Counting):
    """Material, computed with as much work as the network takes, or without adding up the rows."""

    def __init__(self, network: QuantisedNetwork, *, rows: bool) -> None:
        (weights, bias), *others = network.layers
        layers = [(np.zeros_like(weights), bias), *others]
        super().__init__(
            QuantisedNetwork(network.game, network.encoding, layers, phases=network.phases)
        )
        self.rows = rows

    def _text(self) -> str:
        lines = super()._text().split("\n")
        (place,) = (i for i, line in enumerate(lines) if line.strip().startswith("sum_shorts("))
        if not self.rows:
            lines[place] = lines[place].replace("count", "0")
        lines[-1] += " + float(popcount(position[0]) - popcount(position[1]))"
        return "\n".join(lines)

    def scope(self) -> dict[str, Any]:
        return {**super().scope(), "popcount": popcount}


@kernel
def list_bits(bits, first, places, count):
    """Write first + number of each bit set behind `count` places; returns how many there are."""
    while bits != 0:
        store_int(places, count, first + lowest(bits))
        bits &= bits - 1
        count += 1
    return count


class Kept(QuantisedNetwork):
    """The same values, by updating the first layer's sums; for one thread, and checkers only."""

    def __init__(self, network: QuantisedNetwork) -> None:
        super().__init__(
            network.game, network.encoding, network.layers,
            phases=network.phases, scale=network.scale,
        )  # fmt: skip
        rows, start = self._pinned[:2]
        both = np.concatenate([rows, -rows])
        # for two positions: which of the 128 inputs are 1, and their sums
        self._seen = np.zeros(4, dtype=np.int64)
        self._sums = np.stack([start, start])
        self._pinned += [both, self._sums]
        places = [array.ctypes.data for array in (self._seen, self._sums)]
        self._data = np.append(self._data, places)
        self._data[1 + len(self.phases)] = both.ctypes.data

    def _text(self) -> str:
        lines = super()._text().split("\n    ")
        (place,) = (i for i, line in enumerate(lines) if line.startswith("sum_shorts("))
        size = self._sums[0].nbytes
        start = f"load_int(data, {2 + len(self.phases)})"
        changes = f"""
    seen = load_int(data, {len(self._data) - 2})
    low = 0
    high = 0
    for i in range(count):
        where = load_int(places, i)
        bit = 1 << (where & 63)
        low |= bit if where < 64 else 0
        high |= bit if where >= 64 else 0
    far = popcount(low ^ load_int(seen, 0)) + popcount(high ^ load_int(seen, 1))
    other = popcount(low ^ load_int(seen, 2)) + popcount(high ^ load_int(seen, 3))
    which = 1 if other < far else 0
    sums = load_int(data, {len(self._data) - 1}) + which * {size}
    start = {start}
    if min(far, other) < count:
        start = sums
        places = stack_block({8 * 64})
        low_before = load_int(seen, 2 * which)
        high_before = load_int(seen, 2 * which + 1)
        count = list_bits(low & ~low_before, 0, places, 0)
        count = list_bits(high & ~high_before, 64, places, count)
        count = list_bits(low_before & ~low, 128, places, count)
        count = list_bits(high_before & ~high, 192, places, count)
    store_int(seen, 2 * which, low)
    store_int(seen, 2 * which + 1, high)"""
        # the phase, which counts all inputs that are 1, is known by then
        lines[place] = changes.strip() + "\n    " + lines[place].replace(start, "start")
        return "\n    ".join(lines)

    def scope(self) -> dict[str, Any]:
        return {**super().scope(), "popcount": popcount, "list_bits": list_bits}


def fitted(hidden: tuple[int, ...], name: str) -> QuantisedNetwork:
    """Returns a network with about the values of the shipped one, so that searches are alike."""
    positions = np.array(sample_positions(CHECKERS, 30_000))
    values = load_evaluator(FLOAT).values(positions)
    model = QuantisedModel(CHECKERS, "piece_squares", hidden, phases=PHASES, scale=0.75, size=1024)
    random = np.random.default_rng(0)
    model.fit(positions, 1 / (1 + np.exp(-values / 0.75)), random=random, epochs=5, rate=0.003)
    return model.evaluator(name=name)


def engine(evaluator: Any) -> Engine:
    """Returns an engine whose transposition table has the same size for all evaluators."""
    return Engine(CHECKERS, evaluator, table_mib=TABLE_MIB)


def searched(engine: Engine, positions: list[Any], depth: int) -> tuple[int, float]:
    """Returns the nodes of independent searches and their seconds of processor time."""
    nodes, seconds = 0, 0.0
    for position in positions:
        engine.clear()
        began = time.process_time()
        nodes += engine.search(position, depth=depth).nodes
        seconds += time.process_time() - began
    return nodes, seconds


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--widths", nargs="*", default=WIDTHS, help="hidden layers")
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--positions", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    networks: dict[str, QuantisedNetwork] = {}
    for path in options.files:
        network = load_evaluator(path, game=CHECKERS)
        if not isinstance(network, QuantisedNetwork):
            sys.exit(f"{path}: expected a quantised network, found a {type(network).__name__}")
        networks[path.stem] = network
    for widths in options.widths if not networks else ():
        networks[widths] = fitted(tuple(map(int, widths.split("-"))), widths)

    full = [p for p in sample_positions(CHECKERS, 2000) if (p[0] | p[1]).bit_count() >= 14]
    positions = [CHECKERS.start(), *full[:: len(full) // options.positions][1:]]
    engines = {"classic": engine("classic"), "float32 64-32": engine(FLOAT)}
    counting: dict[str, Counting] = {}
    for name, network in networks.items():
        engines[name] = engine(network)
        engines[f"{name} kept"] = engine(Kept(network))
        counting[name] = Counting(network)
        for rows in (True, False):
            counting[f"{name} {rows}"] = Flat(network, rows=rows)
            engines[f"{name} {rows}"] = engine(counting[f"{name} {rows}"])
    best: dict[str, tuple[int, float]] = {}
    for _ in range(options.rounds):
        for name, one in engines.items():
            nodes, seconds = searched(one, positions, options.depth)
            if name not in best or seconds < best[name][1]:
                best[name] = nodes, seconds
    print(
        f"{'':<20}{'M nodes/s':>10}{'values/node':>13}{'first layer':>13}{'kept':>7}{'if free':>9}"
    )
    for name, (nodes, seconds) in best.items():
        if name in networks:
            searched(engine(counting[name]), positions, options.depth)
            (same, whole), (other, less) = (best[f"{name} {rows}"] for rows in (True, False))
            again, kept = best[f"{name} kept"]
            if (same, nodes) != (other, again):
                raise ValueError(f"{name}: expected the same trees, found others")
            first = (whole - less) / (counting[f"{name} True"].counted / options.rounds)
            values = counting[name].counted
            line = f"{values / nodes:>13.2f}{1e9 * first:>10.0f} ns"
            gains = seconds / kept - 1, seconds / (seconds - first * values) - 1
            line += f"{100 * gains[0]:>+5.0f} %{100 * gains[1]:>+7.0f} %"
        elif name in ("classic", "float32 64-32"):
            line = ""
        else:
            continue
        print(f"{name:<20}{1e-6 * nodes / seconds:>10.2f}{line}")


if __name__ == "__main__":
    main()
