"""Ranks all learners from the same start, with error bars: `python -m benchmarks.learners`.

Every learner begins with material only and trains for about three minutes of one core, from
several seeds; each result then plays paired matches against a fixed ladder at depth 5, and once at
equal time. One joint rating gives every result an Elo; a learner's is the mean over its seeds with
a 95 % interval of Student's t over seeds, so the error bar includes the luck of a seed.

    python -m benchmarks.learners                   all of it: about 90 minutes on two cores
    python -m benchmarks.learners --quick           a trial of the program in two minutes
    python -m benchmarks.learners --only rootstrap,network --seeds 2

Evaluators and matches are kept in runs/learners (--folder) and not repeated: a stopped run
continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import games
from games.whole_files import write_atomically, write_figure
from learner.arena import measure
from learner.run.recipes import RECIPES
from play.players.limits import Limits
from play.ratings.bradley_terry import rate
from play.ratings.statistics import Tally, mean_interval
from play.workers import Workers
from search import as_evaluator, load_evaluator

START = "material"
UNTRAINED = "untrained"
#: Numbers of games that take about three minutes of one core on the machine of docs/results.md. A
#: time limit would not give the same evaluator for a seed on every machine.
GAMES = {
    "samuel": 2200,
    "lms": 5500,
    "tdleaf": 21_000,
    "rootstrap": 21_000,
    "treestrap": 12_000,
    "batch": 19_000,
    "network": 13_000,
    "signature": 2300,
}
#: The fixed opponents: material, the two handwritten sets of weights, and a trained evaluator.
LADDER = ("material", "rote", "classic", "rootstrap")
#: Opponents at equal time, where a game takes seconds.
TIMED = ("classic", "rootstrap")
OPENING_SEED, OPENING_PLIES = 4_000_037, 4


def train(task: tuple[str, int, int, str]) -> dict[str, Any]:
    """Train one learner from one seed, unless that was done; returns the entry of its info.json."""
    name, seed, played, folder = task
    place = Path(folder) / name / str(seed)
    done = place / "info.json"
    if done.is_file():
        info = dict(json.loads(done.read_text()))
        if info["games"] == played:
            return info
    game = games.load("checkers")
    recipe = RECIPES[name]
    options = recipe.run(game).get("options", {})
    learner = recipe.load()(game, games=played, depth=5, seed=seed, **options)
    began = time.process_time()
    # these two have Samuel's fixed piece advantage as material, with a king worth 3/2 of a man
    learner.fit(None if name in ("samuel", "signature") else START)
    seconds = time.process_time() - began
    evaluator = learner.evaluator_
    path = place / f"evaluator{evaluator.suffix}"
    place.mkdir(parents=True, exist_ok=True)
    evaluator.name = f"{name}-{seed}"
    evaluator.save(path)
    info = {
        "learner": name,
        "seed": seed,
        "games": played,
        "positions": learner.updates_,
        "seconds": round(seconds, 1),
        "file": path.name,
    }
    write_atomically(done, json.dumps(info, indent=1))
    return info


def evaluator_of(info: dict[str, Any], folder: Path) -> Any:
    """Returns the evaluator that a training run saved."""
    game = games.load("checkers")
    if info["learner"] == UNTRAINED:
        return as_evaluator(game, START)
    return load_evaluator(folder / info["learner"] / str(info["seed"]) / info["file"], game=game)


def play(task: tuple[dict[str, Any], str, str, int, Limits]) -> dict[str, Any]:
    """Play one match of one result against one opponent, unless it exists; returns its score."""
    info, opponent, folder, count, limits = task
    kind = str(limits).replace(" ", "-")
    trained = f"{info['learner']}-{info['seed']}-{info.get('games', 0)}"
    stem = f"{trained}-{Path(opponent).stem}-{count}-{kind}"
    done = Path(folder) / "matches" / f"{stem}.json"
    if done.is_file():
        return dict(json.loads(done.read_text()))
    game = games.load("checkers")
    found = measure(
        game,
        evaluator_of(info, Path(folder)),
        opponent,
        games=count,
        limits=limits,
        seed=OPENING_SEED,
        plies=OPENING_PLIES,
    )
    result = {**found.as_dict(), "learner": info["learner"], "seed": info["seed"]}
    result |= {name: str(result[name]) for name in ("value", "low", "high")}
    write_atomically(done, json.dumps(result, indent=1))
    return result


def ratings(results: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Returns the Elo above material of every seed of every learner, from one joint rating."""
    table = {
        (f"{r['learner']}-{r['seed']}", r["opponent"]): Tally.of_games(
            wins=r["wins"], draws=r["draws"], losses=r["losses"]
        )
        for r in results
    }
    found: dict[str, list[float]] = {}
    for rating in rate(table, anchor=f"{UNTRAINED}-0"):
        learner, _, seed = rating.name.rpartition("-")
        if seed.isdecimal():
            found.setdefault(learner, []).append(rating.elo.value)
    return found


def ranked(found: dict[str, list[float]]) -> list[tuple[str, float, float, float]]:
    """Returns learner, mean Elo and its 95 % interval over seeds, best first."""
    rows = []
    for learner, values in found.items():
        mean = mean_interval(values) if len(values) > 1 else None
        low, high = (mean.low, mean.high) if mean else (np.nan, np.nan)
        rows.append((learner, float(np.mean(values)), low, high))
    return sorted(rows, key=lambda row: -row[1])


def table(found: dict[str, list[float]], trained: Sequence[dict[str, Any]], limits: Limits) -> str:
    """Returns the ranking as Markdown."""
    lines = [
        f"| learner | Elo above material, {limits} | each seed | games | positions | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for learner, mean, low, high in ranked(found):
        mine = [info for info in trained if info["learner"] == learner]
        seeds = ", ".join(f"{value:+.0f}" for value in found[learner])
        seconds = np.mean([info["seconds"] for info in mine]) if mine else 0
        positions = np.mean([info["positions"] for info in mine]) if mine else 0
        interval = "" if np.isnan(low) else f" [{low:+.0f}, {high:+.0f}]"
        lines.append(
            f"| {learner} | {mean:+.0f}{interval} | {seeds} |"
            f" {mine[0]['games'] if mine else 0:,} | {positions:,.0f} | {seconds:.0f} |"
        )
    return "\n".join(lines)


def plot(path: Path, found: dict[str, dict[str, list[float]]]) -> None:
    """Draw the ranking: mean, interval and every seed, with a colour for each limit."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    first = next(iter(found.values()))
    order = [row[0] for row in ranked(first)][::-1]
    figure = Figure(figsize=(9, 0.9 + 0.55 * len(order)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, (label, values) in enumerate(found.items()):
        rows = {row[0]: row for row in ranked(values)}
        shift = 0.22 * ((len(found) - 1) / 2 - number)
        for place, learner in enumerate(order):
            if learner not in rows:
                continue
            _, mean, low, high = rows[learner]
            colour, y = f"C{number}", place + shift
            axes.plot(values[learner], [y] * len(values[learner]), "|", color=colour, alpha=0.6)
            if not np.isnan(low):
                axes.plot([low, high], [y, y], color=colour, linewidth=2)
            axes.plot(mean, y, "o", color=colour, markersize=6, label=label if not place else None)
    axes.set_yticks(range(len(order)), order)
    axes.set_xlabel("Elo above material (dot: mean, line: 95 % over seeds, strokes: seeds)")
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right")
    write_figure(path, figure)


def main(arguments: list[str] | None = None) -> int:
    """Run the comparison; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.learners",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--only", default=",".join(GAMES), metavar="A,B", help="learners")
    add("--seeds", type=int, default=5)
    add("--match-games", type=int, default=100, help="of each result against each opponent")
    add("--timed-games", type=int, default=40, help="the same at equal time")
    add("--seconds", type=float, default=0.02, help="a move, at equal time")
    add("--folder", type=Path, default=Path("runs/learners"))
    add("--jobs", type=int, default=2)
    add("--quick", action="store_true")
    options = parser.parse_args(arguments)
    names = [name for name in options.only.split(",") if name]
    unknown = [name for name in names if name not in GAMES]
    if unknown:
        parser.error(f"--only: expected some of {', '.join(GAMES)}; found {', '.join(unknown)}")
    share = 200 if options.quick else 1
    seeds = 2 if options.quick else options.seeds
    counts = (4, 2) if options.quick else (options.match_games, options.timed_games)
    folder = options.folder / "quick" if options.quick else options.folder
    tasks = [
        (name, seed, max(8, GAMES[name] // share), str(folder))
        for seed in range(seeds)
        for name in names
    ]
    trained = []
    with Workers("loky", options.jobs) as workers:
        for info in workers.map(train, tasks):
            trained.append(info)
            print(f"trained {info['learner']} {info['seed']}: {info['seconds']} s", flush=True)
        untrained = {"learner": UNTRAINED, "seed": 0}
        found: dict[str, dict[str, list[float]]] = {}
        text = []
        for limits, opponents, count in (
            (Limits(depth=5), LADDER, counts[0]),
            (Limits(seconds=options.seconds), TIMED, counts[1]),
        ):
            matches = [
                (info, opponent, str(folder), count, limits)
                for info in [untrained, *trained]
                for opponent in opponents
                if not (info is untrained and opponent == START)
            ]
            results = []
            for result in workers.map(play, matches):
                results.append(result)
                print(f"{limits}: {len(results)} of {len(matches)} matches", flush=True)
            found[str(limits)] = ratings(results)
            text.append(table(found[str(limits)], trained, limits))
    write_atomically(folder / "table.md", "\n\n".join(text) + "\n")
    plot(folder / "learners.png", found)
    print("\n\n".join(text))
    print(f"plot: {folder / 'learners.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
