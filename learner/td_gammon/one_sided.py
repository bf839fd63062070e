"""Learns how many rolls a side needs in a race: `python -m learner.td_gammon.one_sided FILE`.

The network of `games.backgammon.one_sided` learns mean and variance of the number of rolls by exact
backups over all 21 rolls, from the bear-off tables outwards: positions of one side, from races of
the shipped network's games and of random plays on from there, are backed up with the present
weights again and again, as in `learner.td_gammon.backup`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

import games
from games.backgammon.bear_off import FAR_AWAY, LONGEST, WHOLE, at_home, rank
from games.backgammon.bear_off_tables import bear_off
from games.backgammon.one_sided import HIDDEN, PLACES, ROLL, SPREAD, event
from games.backgammon.phases import RACE, phase
from games.backgammon.pips import pips_of
from games.backgammon.race_terms import save_pips
from games.backgammon.rules import MOST_MOVES, PROBABILITIES, legal_moves, play
from games.kernels import kernel
from games.kernels.chance import next_state, uniform
from games.whole_files import write_atomically
from learner.td_gammon.explore import explore
from play.players.opponents import Opponents
from search import as_evaluator

__all__ = ["learn"]

Floats = NDArray[np.float64]
#: Rounds of backups, passes over the positions in each, positions of a step, and rates.
ROUNDS, PASSES, BATCH = 14, 4, 128
RATES = (3e-3, 3e-5)
GAMES, POSITIONS = 8000, 200_000
#: The share of a position's plays that are random, so that awkward ones occur.
WILD = 0.7


@kernel
def _known(tables, net, near, far, which):
    """Returns mean and variance until an event, exact at home."""
    rolls, first = tables
    hidden, outputs = net
    if which == 1 and near & 15:
        return 0.0, 0.0
    if not at_home(near, far):
        return event(hidden, outputs, near, far, which)
    number = rank(near)
    mean = 0.0
    square = 0.0
    for n in range(LONGEST):
        chance = float(rolls[number, n]) if which == 0 else float(first[number - WHOLE, n])
        mean += chance * n
        square += chance * n * n
    return mean, square - mean * mean


@kernel
def back_up(tables, net, rows, targets, moves):
    """Write mean and variance of both events of one-sided positions [n, 2] to `targets` [n, 4]."""
    for i in range(len(rows)):
        near, far = int(rows[i, 0]), int(rows[i, 1])
        for which in range(2):
            total = 0.0
            square = 0.0
            for roll in range(len(PROBABILITIES)):
                count = legal_moves((near, far, FAR_AWAY, 0, 0), roll, moves)
                best = 1e9
                spread = 0.0
                for k in range(count):
                    after = play((near, far, FAR_AWAY, 0, 0), moves[k])
                    mean, variance = _known(tables, net, after[2], after[3], which)
                    if mean < best:
                        best = mean
                        spread = variance
                total += PROBABILITIES[roll] * (1.0 + best)
                square += PROBABILITIES[roll] * (spread + (1.0 + best) * (1.0 + best))
            targets[i, 2 * which] = total
            targets[i, 2 * which + 1] = square - total * total
    return 0


@kernel
def play_on(rows, seed, moves):
    """Replace one-sided positions [n, 2] by those after random plays; they stay out of home."""
    state = seed
    for i in range(len(rows)):
        state = next_state(state)
        steps = int(4 * uniform(state))
        for _ in range(steps):
            near, far = int(rows[i, 0]), int(rows[i, 1])
            state = next_state(state)
            roll = int(21 * uniform(state))
            count = legal_moves((near, far, FAR_AWAY, 0, 0), roll, moves)
            state = next_state(state)
            after = play((near, far, FAR_AWAY, 0, 0), moves[int(count * uniform(state))])
            if at_home(after[2], after[3]):
                break
            rows[i, 0] = after[2]
            rows[i, 1] = after[3]
    return 0


def _positions(seed: int) -> NDArray[np.int64]:
    """Returns different positions [n, 2] of one side in a race that is not home."""
    game = games.load("backgammon")
    found = explore(as_evaluator(game, Opponents.of(game).shipped), GAMES, seed=(seed, 7))
    races = np.array([row for row in found.tolist() if phase(tuple(row)) == RACE])
    sides = np.unique(np.concatenate([races[:, :2], races[:, 2:4]]), axis=0)
    sides = sides[[not at_home(*row) for row in sides.tolist()]]
    random = np.random.default_rng(seed)
    sides = sides[random.integers(len(sides), size=POSITIONS)]
    wild = sides[: int(WILD * len(sides))].copy()
    play_on(wild, seed + 1, np.zeros(MOST_MOVES, dtype=np.int64))
    sides[: len(wild)] = wild
    return np.unique(sides, axis=0)


def _inputs(rows: NDArray[np.int64]) -> tuple[NDArray[np.float32], Floats]:
    """Returns the inputs [n, PLACES + 1], and the parts [n, 4] that are not learned.

    Each checker more on a point sets a further input, so that the weights of numbers are sums.
    """
    inputs = np.zeros((len(rows), PLACES + 1), dtype=np.float32)
    pips = np.zeros((len(rows), 4))
    for i, (near, far) in enumerate(rows.tolist()):
        inputs[i, 1 : (near & 15) + 1] = inputs[i, PLACES] = 1
        for point in range(1, 25):
            on = near >> 4 * point & 15 if point < 13 else far >> 4 * (point - 13) & 15
            inputs[i, 16 * point + 1 : 16 * point + on + 1] = 1
        pips[i, 0], pips[i, 2] = pips_of(near, far) / ROLL, save_pips(near, far) / ROLL
    return inputs, pips


def learn(seed: int, report: Callable[[str], None]) -> tuple[Any, Any]:
    """Returns the weights, in the form of `games.backgammon.one_sided.weights`.

    report: gets a line a round: by how much means and variances of the last and of the first
        checker off, in rolls, differ from their backups (root mean squares).
    """
    import torch

    random = np.random.default_rng(seed)
    torch.manual_seed(seed)
    tables = bear_off().rolls, bear_off().first
    rows = _positions(seed)
    given, base = _inputs(rows)
    inputs = torch.as_tensor(given)
    held = np.arange(len(rows)) % 10 == 0
    trained, tested = np.flatnonzero(~held), np.flatnonzero(held)
    # The bias of the units is the last input.
    units, outputs = torch.nn.Linear(PLACES + 1, HIDDEN, bias=False), torch.nn.Linear(HIDDEN, 4)
    torch.nn.init.normal_(units.weight, std=0.2)
    torch.nn.init.normal_(outputs.weight, std=0.05)
    net = torch.nn.Sequential(units, torch.nn.ReLU(), outputs)
    moves, targets = np.zeros(MOST_MOVES, dtype=np.int64), np.zeros((len(rows), 4))
    may_lose = torch.as_tensor((rows[:, 0] & 15 == 0)[:, None] | (np.arange(4) < 2))
    steps = ROUNDS * PASSES * (len(trained) // BATCH)
    optimiser = torch.optim.Adam(net.parameters(), RATES[0])
    rates = torch.optim.lr_scheduler.ExponentialLR(optimiser, (RATES[1] / RATES[0]) ** (1 / steps))
    for number in range(ROUNDS):
        back_up(tables, _weights(net), rows, targets, moves)
        wanted = targets - base
        wanted[:, 1::2] -= SPREAD * targets[:, ::2]
        goals = torch.as_tensor(wanted, dtype=torch.float32)
        for _ in range(PASSES):
            random.shuffle(trained)
            for first in range(0, len(trained) - BATCH + 1, BATCH):
                optimiser.zero_grad()
                which = trained[first : first + BATCH]
                errors = (net(inputs[which]) - goals[which])[may_lose[which]]
                (errors.square().sum() / (2 * BATCH)).backward()
                optimiser.step()
                rates.step()
        with torch.no_grad():
            errors = (net(inputs[tested]) - goals[tested]) * may_lose[tested]
            found = errors.square().mean(0).sqrt().numpy().tolist()
        report(
            f"round {number + 1} of {ROUNDS}, {len(rows)} positions; off by, held out:"
            + "".join(f" {e:.4f}" for e in found)
        )
    return _weights(net)


def _weights(net: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns the weights of numbers of checkers, sums of those learned, and of the outputs."""
    hidden, bias = net[0].weight.detach().numpy(), net[2].bias.detach().numpy()[:, None]
    numbers = hidden[:, :PLACES].reshape(HIDDEN, -1, 16).copy()
    numbers[:, :, 0] = 0.0
    summed = [numbers.cumsum(axis=2).reshape(HIDDEN, PLACES), hidden[:, PLACES:]]
    outputs = [net[2].weight.detach().numpy(), bias]
    return np.concatenate(summed, axis=1), np.concatenate(outputs, axis=1)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    hidden, outputs = learn(options.seed, functools.partial(print, flush=True))
    content = safetensors.numpy.save({"hidden": hidden, "outputs": outputs})
    write_atomically(options.file, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
