"""Judges values of back games by what comes of them: static error and bias of players.

    python -m benchmarks.back_games PLAYER ...
    python -m benchmarks.back_games --build FILE

The positions are in five classes by the checkers that the side with the back game has in the
other's home or on the bar, 4 to 8 and more; it has made two points there. GNU Backgammon's 0-ply
(the package `gnubg_nn`) plays both sides to the end or to a race, whose value by the same networks
then counts. Half of the positions are from its games in which one side made many random moves in
the beginning, half from its games that began with checkers at random. No other network that is
judged has a part in them, and nothing may learn from them.

With `--own COUNT` so many of them are rolled out by the first player instead, 72 games each with
the luck taken off: GNU's networks play back games badly, and their games say what comes of theirs.

For each player it prints by class the root mean squared error of its static equity, without what
the noise of the labels adds, and the mean error for the side with the back game, with standard
errors. Differences from the first player are paired. `--build` goes on with an unfinished FILE.
"""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import games
from benchmarks.backgammon_decisions import read_options, values_of
from games.backgammon.phases import in_contact
from games.backgammon.rules import PROBABILITIES, packed, points_made
from play.players.gnubg import as_program, equity
from play.rollout.rollout import rollout
from programs.whole_files import write_atomically

GAME: Any = games.load("backgammon")
LABELLED = Path(__file__).with_suffix(".npz")
#: Classes by checkers back, the last one with more; positions of each, and games of each position.
CLASSES, OF_A_CLASS, GAMES = (4, 5, 6, 7, 8), 300, 24
#: Share of random moves of one side in the first plies of a game, and the number of these plies.
SHARE, FIRST_PLIES = 0.35, 36
#: Plies of play after checkers were put at random; longer games are broken off.
SETTLED, MOST_PLIES = 6, 1000
#: Positions between two savings of an unfinished file.
OFTEN = 50

Floats = NDArray[np.float64]
Position = tuple[int, ...]


def back(position: Position) -> tuple[int, bool] | None:
    """Returns the checkers that a side has back in a back game, and whether it is to move.

    None if no side has made two points of the other's home in contact. If both sides have, it is
    the one with more checkers back.
    """
    if not in_contact(position):
        return None
    sides = []
    for own, mover in ((position[:2], True), (position[2:4], False)):
        made = points_made(*own) >> 19 & 0b111111
        if made & (made - 1):
            sides.append((sum(own[1] >> 4 * point & 15 for point in range(6, 13)), mover))
    return max(sides) if sides else None


def class_of(position: Position) -> int | None:
    """Returns the number of the class of a position; None if it is in none."""
    found = back(position)
    if found is None or found[0] < CLASSES[0]:
        return None
    return min(found[0], CLASSES[-1]) - CLASSES[0]


class _Gnu:
    """GNU Backgammon's 0-ply, which plays both sides with dice of its own."""

    def __init__(self, random: np.random.Generator) -> None:
        program = as_program("gnubg:0")
        assert program is not None
        self._seat: Any = program(GAME)
        self._random = random

    def move(self, position: Position, share: float = 0.0) -> Position:
        """Returns the position after a roll and its move, a share of the moves left to chance."""
        roll = int(self._random.choice(len(PROBABILITIES), p=PROBABILITIES))
        if share and self._random.random() < share:
            moves = GAME.legal_moves(position, roll)
            return tuple(GAME.play(position, moves[self._random.integers(len(moves))]))
        return tuple(GAME.play(position, self._seat.choose(position, roll)))

    def result(self, position: Position) -> float:
        """Returns what a game from a position to its end or to a race gives the side to move."""
        for ply in range(MOST_PLIES):
            if GAME.outcome(position) is not None or not in_contact(position):
                return (-1) ** ply * equity(position, 0)
            position = self.move(position)
        return 0.0


def _driven(gnu: _Gnu, random: np.random.Generator) -> list[Position]:
    """Returns positions of a game in which one side makes many random moves in the beginning."""
    position, found, victim = tuple(GAME.start()), [], int(random.integers(2))
    while GAME.outcome(position) is None and len(found) < 150:
        share = SHARE if len(found) < FIRST_PLIES and len(found) % 2 == victim else 0.0
        position = gnu.move(position, share)
        found.append(position)
    return found


def _placed(gnu: _Gnu, random: np.random.Generator) -> list[Position]:
    """Returns positions of a game from checkers at random, of which a side holds two anchors."""
    mine, theirs = [0] * 26, [0] * 26
    count = int(random.integers(CLASSES[0], CLASSES[-1] + 3))
    anchors = random.choice(np.arange(19, 25), size=2, replace=False)
    for point in [*np.repeat(anchors, 2), *random.choice(anchors, size=count - 4)]:
        mine[point] += 1
    free = [point for point in range(1, 25) if mine[25 - point] == 0]
    near = [point for point in free if point <= 13]
    while sum(theirs) < 15:
        point = int(random.choice(near if random.random() < 0.85 else free))
        theirs[point] += min(int(random.integers(1, 4)), 15 - sum(theirs))
    free = [point for point in range(1, 19) if theirs[25 - point] == 0]
    while sum(mine) < 15:
        mine[int(random.choice(free))] += 1
    position: Position = (*packed(tuple(mine)), *packed(tuple(theirs)), 0)
    found = []
    for ply in range(SETTLED + 40):
        if GAME.outcome(position) is not None:
            break
        position = gnu.move(position)
        if ply >= SETTLED:
            found.append(position)
    return found


def _drawn(seed: int) -> NDArray[np.int64]:
    """Returns the positions of all classes in random order, from a game one of a class at most."""
    random = np.random.default_rng((seed, 1))
    gnu = _Gnu(random)
    found: dict[int, list[Position]] = {number: [] for number in range(len(CLASSES))}
    for source in (_driven, _placed):
        most = OF_A_CLASS // 2 if source is _driven else OF_A_CLASS
        while min(len(rows) for rows in found.values()) < most:
            rows = source(gnu, random)
            random.shuffle(rows)
            mine = {class_of(row): row for row in rows if GAME.outcome(row) is None}
            for number, row in mine.items():
                if number is not None and len(found[number]) < most:
                    found[number].append(row)
    rows = np.array([row for part in found.values() for row in part], dtype=np.int64)
    return rows[random.permutation(len(rows))]


def build(path: Path, seed: int, seconds: float) -> None:
    """Draw positions and play them out, or go on with it; ends after some seconds at the latest."""
    begun = time.monotonic()
    if path.exists():
        found = dict(np.load(path))
    else:
        rows = _drawn(seed)
        found = {"positions": rows, "results": np.full((len(rows), GAMES), np.nan, np.float16)}
    results = found["results"]
    for number in np.flatnonzero(np.isnan(results[:, -1])).tolist():
        gnu = _Gnu(np.random.default_rng((seed, 2, number)))
        position = tuple(found["positions"][number].tolist())
        results[number] = [gnu.result(position) for _ in range(GAMES)]
        late = time.monotonic() - begun > seconds
        if number % OFTEN == 0 or late or number == len(results) - 1:
            _save(path, found)
            print(f"{number + 1} of {len(results)} positions", flush=True)
        if late:
            return


def _save(path: Path, found: dict[str, Any]) -> None:
    data = io.BytesIO()
    np.savez_compressed(data, **found)
    write_atomically(path, data.getvalue())


def _lines(error: Floats, noise: Floats, number: NDArray[np.int64]) -> list[str]:
    """Returns for all classes and each: positions, root mean squared error, mean error."""
    lines = []
    names = [*map(str, CLASSES[:-1]), f"{CLASSES[-1]}+"]
    for name, chosen in [
        ("all", number >= 0),
        *((names[i], number == i) for i in range(len(names))),
    ]:
        part, count = error[chosen], int(chosen.sum())
        if not count:
            continue
        square = part**2 - noise[chosen] ** 2
        rms = np.sqrt(max(0.0, float(square.mean())))
        uncertain = square.std() / np.sqrt(count) / 2 / max(rms, 1e-9)
        bias, of_bias = part.mean(), part.std() / np.sqrt(count)
        error_text, bias_text = f"{rms:.4f}±{uncertain:.4f}", f"{bias:+.4f}±{of_bias:.4f}"
        lines.append(f"  {name:>3} back: {error_text}, bias {bias_text} of {count}")
    return lines


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labelled", type=Path, default=LABELLED, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop building after them")
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--own", type=int, default=0, metavar="COUNT")
    options, players = read_options(parser)
    if options.build:
        build(options.build, options.seed, options.seconds)
        return
    found = np.load(options.labelled)
    positions, results = found["positions"], found["results"].astype(np.float64)
    done = ~np.isnan(results[:, -1])
    positions, results = positions[done], results[done]
    truth = results.mean(axis=1)
    noise = results.std(axis=1, ddof=1) / np.sqrt(results.shape[1])
    if options.own and players:
        positions = positions[np.random.default_rng(3).permutation(len(positions))[: options.own]]
        own = players[0]
        found = rollout(GAME, positions, own.evaluator, games=72, lookup=own.lookup, seed=9)
        truth, noise = found.equity, found.equity_error
    rows = list(map(tuple, positions.tolist()))
    number = np.array([class_of(row) for row in rows])
    sign = np.array([1.0 if (back(row) or (0, False))[1] else -1.0 for row in rows])
    first = None
    for player in players:
        error = sign * (values_of(player, positions) - truth)
        print(player.name, *_lines(error, noise, number), sep="\n")
        if first is None:
            first = error
        else:
            less = error**2 - first**2
            print(
                f"  squared error less the first's: {less.mean():+.5f}"
                f"±{less.std() / np.sqrt(len(less)):.5f}"
            )


if __name__ == "__main__":
    main()
