"""Makes prefilters for networks of outcomes: `python -m learner prefilter`.

A small network of integers learns to rank moves as a large one does, from decisions of that
network's own play, half of them after random moves. How many moves it keeps, and how far behind the
best, is then chosen on other decisions: as few as possible, so that the moves excluded lose little
in the large network's eyes (`search.evaluators.evaluator.Prefilter`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from games.features import Encoding
from learner.models.quantised_model import QuantisedModel
from learner.models.schedule import Schedule
from learner.models.torch_model import device_named, threads_of_torch
from search import Engine, Lookup
from search.evaluators.evaluator import Prefilter
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.quantised import FIRST_SHIFT, HIGHEST, SHIFT, UNIT, QuantisedNetwork
from search.lookups.database import usual_lookup

__all__ = ["Decisions", "calibrated", "collect", "imitation", "make_prefilter"]

Floats = NDArray[np.float64]

#: Shares of random moves in half of the games: in the first plies, and later.
WILD, WILD_PLIES = (0.35, 0.1), 40
#: Longer games are broken off, and so many are played at a time.
MOST_PLIES, AT_ONCE = 1000, 200
#: Units of the second hidden layer.
SECOND = 32
#: So many times as large as at first may the weights of later layers become.
ROOM = 2
#: Number of decisions in a step, the first learning rate of Adam, and its factor over the run.
BATCH, RATE, FALL = 64, 0.003, 0.01
#: A move this far behind the best counts e times less; no move less than `LEAST`.
NEAR, LEAST = 0.1, 0.02
#: Weight of the error of a decision's mean, which ranks no moves.
LEVEL = 0.05
#: Positions from which the first weights follow.
SAMPLE = 100_000
#: Numbers of moves and margins in points to choose from.
KEEPS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
MARGINS = (*(0.01 * n for n in range(4, 20)), *(0.02 * n for n in range(10, 40)))


@dataclass(frozen=True)
class Decisions:
    """Decisions between moves: the positions after them, one decision behind another.

    counts: the number of moves of each decision.
    values: the large network's values of the positions, for the side to move there, or those of
        the game's usual lookup.
    """

    positions: NDArray[np.int64]
    counts: NDArray[np.int64]
    values: Floats

    @classmethod
    def joined(cls, parts: Iterable[Decisions]) -> Decisions:
        """Returns all decisions that are between at least two moves."""
        chosen = []
        for part in parts:
            several = part.counts > 1
            moves = np.repeat(several, part.counts)
            chosen.append((part.positions[moves], part.counts[several], part.values[moves]))
        return cls(*map(np.concatenate, zip(*chosen, strict=True)))

    @property
    def first(self) -> NDArray[np.int64]:
        """The first row of each decision."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def behind(self, values: Floats) -> Floats:
        """Returns how far each move is behind the best one of its decision, by some values."""
        best = np.minimum.reduceat(values, self.first)
        return np.asarray(values - np.repeat(best, self.counts))

    def costs(self, cheap: Floats) -> list[tuple[float, float, int, float]]:
        """Returns for each prefilter: moves kept, points lost a decision, `keep` and `margin`.

        cheap: the small network's values of the positions.
        """
        shape = len(self.counts), int(self.counts.max())
        places = np.arange(shape[1]) < self.counts[:, None]
        lost, distance = np.full(shape, np.inf), np.full(shape, np.inf)
        lost[places], distance[places] = self.behind(self.values), self.behind(cheap)
        order = np.argsort(distance, axis=1, kind="stable")
        lost, distance = (np.take_along_axis(a, order, axis=1) for a in (lost, distance))
        # what is lost by keeping 1, 2, ... moves, and how many are within each margin
        least = np.minimum.accumulate(lost, axis=1)
        rows = []
        for margin in MARGINS:
            within = (distance <= margin).sum(axis=1)
            for keep in KEEPS:
                left = np.minimum(within, keep)
                loss = np.take_along_axis(least, left[:, None] - 1, axis=1)
                rows.append((float(left.mean()), float(loss.mean()), keep, margin))
        return rows


def collect(
    evaluator: OutcomeNetwork, games: int, seed: tuple[int, ...], *, wild: bool
) -> Decisions:
    """Returns the decisions of a network's own games.

    evaluator: the network; without a prefilter.
    games: number of games.
    seed: seed of all randomness.
    wild: whether a share of the moves is random, so that rare kinds of positions occur.
    """
    random = np.random.default_rng(seed)
    game: Any = evaluator.game
    search = Engine(game, evaluator, lookup=usual_lookup(game, evaluator)).dice_search
    parts = []
    for first in range(0, games, AT_ONCE):
        rows = np.tile(np.array(game.start(), dtype=np.int64), (min(AT_ONCE, games - first), 1))
        for ply in range(MOST_PLIES):
            chances = np.array(game.rolls if ply else game.dice.first, dtype=np.float64)
            rolls = random.choice(len(chances), size=len(rows), p=chances / chances.sum())
            afters, counts = search.afters(rows)
            ends, which = np.cumsum(counts).reshape(counts.shape), np.arange(len(rows))
            ends, counts = ends[which, rolls], counts[which, rolls]
            places = np.repeat(ends - np.cumsum(counts), counts) + np.arange(counts.sum())
            made = Decisions(afters[places], counts, search.values(afters[places], 0))
            parts.append(made)
            chosen = np.array([part.argmin() for part in np.split(made.values, made.first[1:])])
            drawn = (random.random(len(rows)) * counts).astype(np.int64)
            is_drawn = random.random(len(rows)) < WILD[ply >= WILD_PLIES] * wild
            rows = made.positions[made.first + np.where(is_drawn, drawn, chosen)]
            rows = rows[[game.outcome(tuple(row)) is None for row in rows.tolist()]]
            if not len(rows):
                break
    return Decisions.joined(parts)


# --- learning --------------------------------------------------------------------------------


def imitation(
    evaluator: OutcomeNetwork, decisions: Decisions, units: int, passes: int, seed: int,
    device: str = "cpu", report: Callable[[str], None] = lambda line: None,
) -> QuantisedNetwork:  # fmt: skip
    """Returns a small network that ranks the moves of decisions as a large one does.

    evaluator: the large network.
    units: units of the first hidden layer of the small one; a second one has `SECOND`.
    passes: passes over the decisions.
    seed: seed of all randomness.
    device: where torch trains: "cpu", "cuda", or "auto" for a GPU if there is one.
    report: gets a line as each pass begins.

    Raises ValueError if the large network has no encoding, or the device does not exist.
    """
    net = evaluator.nets[0]
    if net.encoding is None:
        raise ValueError(f"expected a network over an encoding, found {evaluator!r}")
    random = np.random.default_rng((seed, 1))
    weights = np.exp(-decisions.behind(decisions.values) / NEAR) + LEAST
    start = _first(evaluator, net.encoding, decisions, weights, units, random)
    model = QuantisedModel(
        evaluator.game, net.encoding, start.widths[1:-1], scale=start.scale, start=start,
        device=device,
    )  # fmt: skip
    with threads_of_torch():
        _descend(model, decisions, weights, passes, random, report)
    return model.evaluator(name="prefilter")


def _first(
    evaluator: OutcomeNetwork, encoding: Encoding, decisions: Decisions, weights: Floats,
    units: int, random: np.random.Generator,
) -> QuantisedNetwork:  # fmt: skip
    """Returns the network that learning begins with.

    Its first layer has the units of the large network's first layer that a linear function of all
    of them uses most; the large network's terms are replaced by linear functions of the encoding.
    Two units of the second layer add up to that function, and the others are random and small.
    """
    net, count = evaluator.nets[0], len(decisions.values)
    chosen = random.choice(count, min(SAMPLE, count), replace=False)
    positions = decisions.positions[chosen]
    size, weight = len(encoding), weights[chosen, None]
    inputs = np.zeros((len(chosen), size + 1))
    np.put_along_axis(inputs, encoding.active_rows(positions), 1.0, axis=1)
    inputs[:, size] = 1.0  # which `active_rows` pads with, and here stands for the bias
    first, bias = (array.astype(np.float64) for array in net.layers[0])
    layer = np.concatenate([first[:size], bias[None]])
    if net.features is not None:
        terms = net.features.measure(positions)
        layer += _regression(inputs, terms, weight) @ first[size:]
    hidden = np.concatenate([np.maximum(inputs @ layer, 0.0), np.ones((len(chosen), 1))], axis=1)
    values = decisions.values[chosen, None]
    use = np.abs(_regression(hidden, values, weight)[:-1, 0]) * hidden[:, :-1].std(axis=0)
    best = np.sort(np.argsort(-use, kind="stable")[:units])
    hidden = hidden[:, [*best, -1]]
    last = _regression(hidden, values, weight)[:, 0]
    second = random.normal(0.0, np.sqrt(2.0 / len(best)), (len(best), SECOND))
    second[:, 0], second[:, 1] = last[:-1], -last[:-1]
    heights = np.concatenate([[1.0, -1.0], random.normal(0.0, 0.01, SECOND - 2)])
    behind = np.maximum(hidden[:, :-1] @ second, 0.0)
    return _quantised(
        evaluator, encoding,
        [layer[:-1, best], layer[-1, best], second, np.zeros(SECOND), heights[:, None], last[-1:]],
        [hidden[:, :-1].max(axis=0), behind.max(axis=0)],
    )  # fmt: skip


def _regression(inputs: Floats, targets: Floats, weight: Floats) -> Floats:
    """Returns the weights [inputs, targets] of the least squares."""
    moments = (inputs * weight).T @ inputs
    moments[np.diag_indices_from(moments)] += 1e-6 * len(inputs)
    return np.asarray(np.linalg.solve(moments, (inputs * weight).T @ targets))


def _quantised(
    evaluator: OutcomeNetwork, encoding: Encoding, arrays: list[Floats], highest: list[Floats]
) -> QuantisedNetwork:
    """Returns a network of floats as one of integers, whose weights have room to grow.

    arrays: weights and bias of each layer.
    highest: the greatest output of each hidden unit, layer by layer. It becomes `HIGHEST`, or less
        where weights or sums would not fit their types.
    """
    one = HIGHEST << FIRST_SHIFT
    sums = np.sort(np.abs(arrays[0]), axis=0)[-encoding.most :].sum(axis=0) + np.abs(arrays[1])
    tops = np.maximum(highest[0], np.maximum(sums * one / 32000, 1e-3))
    start = np.round(arrays[1] * one / tops) + (1 << FIRST_SHIFT - 1)
    layers = [(np.round(arrays[0] * one / tops), start)]
    for layer in range(2, len(arrays), 2):
        weights, last = arrays[layer] * tops[:, None], layer == len(arrays) - 2
        least = np.abs(weights).max(axis=0) * (ROOM << SHIFT) / 127
        tops = least if last else np.maximum(highest[layer // 2], np.maximum(least, 1e-3))
        start = np.round(arrays[layer + 1] * UNIT / tops) + (0 if last else 1 << SHIFT - 1)
        layers.append((np.round(weights * (1 << SHIFT) / tops)[None], start[None]))
    return QuantisedNetwork(evaluator.game, encoding, layers, scale=float(tops[0]))


def _descend(
    model: QuantisedModel, decisions: Decisions, weights: Floats, passes: int,
    random: np.random.Generator, report: Callable[[str], None],
) -> None:  # fmt: skip
    """Take steps of Adam on the squared errors of differences between the moves of a decision."""
    rates = Schedule(RATE, FALL, "geometric")
    first, counts = decisions.first, decisions.counts
    steps = passes * (len(counts) // BATCH)
    step = 0
    for number in range(passes):
        report(f"pass {number + 1} of {passes}")
        order = random.permutation(len(counts))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            some = order[at : at + BATCH]
            ends = np.cumsum(counts[some])
            moves = np.repeat(first[some] + counts[some] - ends, counts[some]) + np.arange(ends[-1])
            own = model._tensor(np.repeat(np.arange(BATCH), counts[some]))
            weight = model._tensor(weights[moves].astype(np.float32))
            values = model._tensor(decisions.values[moves].astype(np.float32))
            error = model.scale * model.logits(decisions.positions[moves])[0] - values
            sums, totals = (
                torch.zeros(BATCH, device=model.device).index_add(0, own, part)
                for part in (weight * error, weight)
            )
            apart = error - (sums / totals)[own]
            loss = (weight * (apart**2 + LEVEL * error**2)).sum() / weight.sum()
            model.descend(loss, rates.at(step, steps))
            step += 1


# --- calibration -----------------------------------------------------------------------------


def calibrated(
    small: QuantisedNetwork,
    known: dict[str, Decisions],
    tested: dict[str, Decisions],
    lost: float,
    lookup: Lookup | None = None,
) -> Prefilter:
    """Returns the prefilter that keeps fewest moves in the decisions of all groups.

    small: the small network.
    known: decisions by which the number of moves and the margin are chosen, in groups.
    tested: other decisions of the same groups, whose losses are told in `evidence`.
    lost: greatest mean loss in each group, in points a decision.
    lookup: known values, which rank moves in place of the small network, or None.

    Raises ValueError if no prefilter loses so little.
    """
    game: Any = small.game
    search = Engine(game, small, lookup=lookup).dice_search
    costs = [group.costs(search.values(group.positions, 0)) for group in known.values()]
    good = [
        (sum(cost[0] for cost in row), row[0][2:])
        for row in zip(*costs, strict=True)
        if all(cost[1] <= lost for cost in row)
    ]
    if not good:
        raise ValueError(f"expected a prefilter that loses at most {lost} points, found none")
    keep, margin = min(good)[1]
    evidence = {}
    for name, group in tested.items():
        costs_here = group.costs(search.values(group.positions, 0))
        kept, loss = next(cost[:2] for cost in costs_here if cost[2:] == (keep, margin))
        evidence[name] = {
            "decisions": len(group.counts),
            "moves": round(float(group.counts.mean()), 2),
            "kept": round(kept, 2),
            "thousandths lost": round(1000 * loss, 4),
        }
    return Prefilter(small, keep, margin, evidence)


def make_prefilter(
    evaluator: OutcomeNetwork,
    *,
    games: int = 9600,
    units: int = 256,
    passes: int = 5,
    lost: float = 0.000015,
    seed: int = 0,
    device: str = "cpu",
    report: Callable[[str], None] = lambda line: None,
) -> Prefilter:
    """Returns a prefilter for a network of outcomes over an encoding.

    games: games to learn from; half as many more calibrate, for one decision in thousands loses
        most, and a quarter as many test.
    units, passes, device: see `imitation`.
    lost: see `calibrated`.
    seed: seed of all randomness.
    report: gets lines of progress.

    Raises ValueError if the network has no encoding, or no prefilter loses so little.
    """
    device_named(device)  # raises ValueError for a missing one before hours of play
    large = evaluator.copy()  # has no prefilter
    report(f"playing {games + games // 2 + games // 4:,} games")
    known, tested, taught = (
        {
            name: collect(large, max(1, count), (seed, part, wild), wild=wild)
            for name, wild in (("natural", False), ("wild", True))
        }
        for part, count in enumerate((games // 4, games // 8, games // 2))
    )
    decisions = Decisions.joined(taught.values())
    report(f"learning from {len(decisions.counts)} decisions of {len(decisions.values)} moves")
    small = imitation(large, decisions, units, passes, seed, device, report)
    lookup = usual_lookup(evaluator.game, evaluator)
    prefilter = calibrated(small, known, tested, lost, lookup)
    report(f"keeps at most {prefilter.keep} moves within {prefilter.margin:.2f} points of the best")
    for name, figures in prefilter.evidence.items():
        report(f"{name}: " + ", ".join(f"{key} {number}" for key, number in figures.items()))
    return prefilter
