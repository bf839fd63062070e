"""What `plysmith tune` is worth: planted wrong settings, and tunes of numbers that do nothing.

    python -m benchmarks.tune --null     # how many of 100 tunes that change nothing are accepted?
    python -m benchmarks.tune --surface  # how far from the best setting do tunes end?
    python -m benchmarks.tune --planted  # ten wrong settings, a quarter of an hour of a core

The first two run the same path and the same test on games drawn by lot, whose Elo is known. A
planted setting is found again if every number ends within a fifth of its old distance from where it
was. If not, the result plays the setting before the planting, in a test of normalised Elo -15
against 0. `--planted` goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import games
from learner.tuning import command
from learner.tuning.spsa import Parameter, Spsa
from learner.tuning.tunable import Tunable
from play.matches.balanced import BalancedOpenings, openings_file
from play.matches.driver import play_match
from play.matches.openings import Openings
from play.players.limits import Limits
from play.ratings.sprt import RunningSprt, Sprt
from play.ratings.statistics import MatchSummary, expected_score

#: Share of drawn games between equal players, and pairs of a step.
DRAWS, PAIRS = 0.4, 4
MOST_PAIRS = 2000
TEST = Sprt(0, 10, alpha=command.RISK)
NOT_WORSE = Sprt(-15, 0)
#: Game, player, nodes a move, and for each number: where it was, the planted start and its bounds.
PLANTED: list[tuple[str, str, int, dict[str, tuple[float, float, float, float]]]] = [
    ("checkers", "classic", 400, {"men": (1.0, 4.0, 0.0, 5.0)}),
    ("checkers", "classic", 400, {"kings": (1.35, 0.2, 0.0, 4.0)}),
    ("checkers", "classic", 400, {"runaways": (0.35, -2.0, -3.0, 3.0)}),
    ("checkers", "classic", 400, {"men": (1.0, 0.2, 0.0, 4.0), "kings": (1.35, 3.5, 0.0, 4.0)}),
    ("checkers", "rootstrap", 400, {"advance": (-0.046, 0.5, -0.6, 0.6)}),
    ("checkers", "classic", 1000, {"late_moves": (1.2, 0.0, 0.0, 4.0)}),
    ("checkers", "classic", 1000,
     {"singular_margin": (0.024, 0.4, 0.0, 0.5), "singular": (6, 4, 4, 12)}),
    ("connect_four", "hand", 300, {"threats": (1.0, -1.5, -3.0, 5.0)}),
    ("connect_four", "hand", 300, {"centre": (0.2, -1.0, -2.0, 2.0)}),
    ("connect_four", "hand", 300,
     {"ready": (2.0, -3.0, -4.0, 6.0), "near_centre": (0.1, -1.0, -2.0, 2.0)}),
]  # fmt: skip


def pair(elo: float, random: np.random.Generator) -> tuple[float, float]:
    """Returns the scores of two games at an Elo difference."""
    score = expected_score(elo)
    draws = 2 * DRAWS * min(score, 1 - score)
    shares = [score - draws / 2, draws, 1 - score - draws / 2]
    first, second = random.choice([1.0, 0.5, 0.0], 2, p=shares)
    return float(first), float(second)


def tuned(parameters: list[Parameter], curve: float, iterations: int, seed: int) -> Any:
    """Returns the result of a tune on Elo = -curve * (sum of squares of the distance in steps)."""
    random = np.random.default_rng((seed, 1))
    spsa = Spsa(parameters, iterations, seed)
    for _ in range(iterations):
        first, second = (elo_of(one, curve) for one in spsa.ask())
        points = [p for _ in range(PAIRS) for p in pair(first - second, random)]
        spsa.tell(2 * sum(points) / len(points) - 1)
    return spsa.tuned()


def elo_of(setting: dict[str, float], curve: float) -> float:
    """Returns the Elo of a setting, whose best is at 0."""
    return -curve * sum(value**2 for value in setting.values())


def verdict(elo: float, seed: int) -> tuple[str, int]:
    """Returns the verdict of the test at an Elo difference, and its pairs."""
    random, running = np.random.default_rng((seed, 2)), RunningSprt(TEST)
    counts: Counter[Any] = Counter()
    for pairs in range(1, MOST_PAIRS + 1):
        counts[pair(elo, random)] += 1
        found = running.verdict(MatchSummary.of_pairs(counts).tally)
        if found != "continue":
            return found, pairs
    return "continue", MOST_PAIRS


def null() -> None:
    """Print how many of 100 tunes of numbers that change nothing are accepted."""
    accepted, pairs = 0, 0
    for seed in range(100):
        tuned([Parameter(f"p{i}", 0.0, -10.0, 10.0) for i in range(1 + seed % 8)], 0.0, 100, seed)
        found, played = verdict(0.0, seed)
        accepted, pairs = accepted + (found == "accept H1"), pairs + played
    print(f"accepted: {accepted} of 100 tunes that change nothing; {pairs / 50:.0f} games a test")


def surface() -> None:
    """Print what is left of the Elo that wrong starts lose, by numbers, loss and steps."""
    print("numbers  Elo lost at first  steps  lost at the end (mean and greatest of 20 tunes)")
    for numbers in (1, 3, 6):
        for lost, distance in ((20, 3), (40, 5), (100, 5)):
            parameters = [Parameter(f"p{i}", distance, -10, 10, 1.0) for i in range(numbers)]
            curve = lost / distance**2
            for iterations in (200, 400):
                ends = [-elo_of(tuned(parameters, curve, iterations, s), curve) for s in range(20)]
                print(
                    f"{numbers:7}  {numbers * lost:17}  {iterations:5}  {np.mean(ends):7.1f}"
                    f" {max(ends):7.1f}"
                )


def planted(folder: Path) -> None:
    """Tune each of `PLANTED`, and print a line for each."""
    good = 0
    for number, (name, player, nodes, numbers) in enumerate(PLANTED):
        game, began = games.load(name), time.process_time()
        where = folder / str(number)
        texts = [
            f"{one}={':'.join(f'{part:g}' for part in parts)}"
            for one, (_, *parts) in numbers.items()
        ]
        openings = ["--openings", "biased"] if name == "checkers" else ["--plies", "6"]
        line = [
            *(name, player, *texts, "--nodes", str(nodes), "--iterations", "300"),
            *("--games", "1000", "--jobs", "1", "--seed", str(number), *openings, "--quiet"),
            *("--json", "--run", str(where), *(["--resume"] if where.exists() else [])),
        ]
        with contextlib.redirect_stdout(io.StringIO()) as told:
            if command.main(line):
                raise SystemExit(f"tune {number} failed")
        *_, said, figures = told.getvalue().splitlines()
        ends: dict[str, float] = json.loads(figures)["tuned"]
        near = {
            one: abs(ends[one] - was) <= 0.2 * abs(start - was)
            for one, (was, start, *_) in numbers.items()
        }
        words = "found again"
        if not all(near.values()):
            words = beside(game, Tunable(game, player, texts), numbers, ends, nodes)
        good += all(near.values()) or words.startswith("at least as good")
        moves = ", ".join(
            f"{one} {numbers[one][1]:g} -> {ends[one]:g} ({numbers[one][0]:g})" for one in ends
        )
        print(f"{name} {player}, {nodes} nodes: {moves}: {words}; {said.partition(' (')[0]},"
              f" {time.process_time() - began:.0f} s", flush=True)  # fmt: skip
    print(f"{good} of {len(PLANTED)} found again or at least as good as before the planting")


def beside(game: Any, tunable: Tunable, numbers: Any, ends: dict[str, float], nodes: int) -> str:
    """Returns the verdict of a match of a result against the setting before the planting."""
    was = {one: float(parts[0]) for one, parts in numbers.items()}
    openings: Any = Openings(game, plies=6, seed=77)
    if game.name == "checkers":
        openings = BalancedOpenings(game, openings_file(game, "biased"), seed=77)
    match = play_match(
        game, tunable.player(ends, "tuned"), tunable.player(was, "before"), threads=1,
        limits=Limits(nodes=nodes), games=4000, sprt=NOT_WORSE, openings=openings,
    )  # fmt: skip
    words = {"accept H1": "at least as good", "accept H0": "worse"}
    elo = match.summary().elo.text("+.0f")
    return f"{words.get(match.verdict, 'undecided')} by {match.games} games, Elo {elo}"


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("null", "surface", "planted"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("runs/planted"), help="of --planted")
    options = parser.parse_args()
    if options.null:
        null()
    if options.surface:
        surface()
    if options.planted:
        planted(options.folder)


if __name__ == "__main__":
    main()
