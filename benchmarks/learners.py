"""Ranks all learners from the same start, with error bars: `python -m benchmarks.learners`.

Every learner begins with material only and trains for about three minutes of one core, in Connect
Four with nothing and for 15 seconds, from several seeds; each result then plays paired matches
against a fixed ladder at depth 5, and once at equal time. In a solved game a table of truth
follows: the share of decisions in which a result's moves keep a win or a draw, by static values, at
four plies and with a millisecond a move (`play.judging.truth`). One joint rating gives every result
an Elo above a fixed opponent whom all have played; a learner's is the mean over its seeds, with a
95 % interval that includes the luck of a seed and the error of the opponents' own ratings
(`benchmarks.groups.rate_groups`).

Equal time is measured by the clock in checkers, which needs an idle machine. In Connect Four it
stands for the positions that the time allows to an evaluator of each kind (`Contest.rates`), so
that results do not depend on what else the machine does.

    python -m benchmarks.learners                   all of it: about 90 minutes on two cores
    python -m benchmarks.learners connect_four      Connect Four, with truth: 20 minutes of a core
    python -m benchmarks.learners --quick           a trial of the program in two minutes
    python -m benchmarks.learners --only rootstrap,network --seeds 2

Evaluators, matches and truth are kept in runs/learners (--folder) and not repeated: a stopped run
continues where it stopped, and with fewer --seeds ranks what is complete.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import games
from benchmarks.groups import rate_groups
from learner.arena import measure
from learner.game_learner import feature_set
from learner.run import recipes
from learner.run.learners import make_learner
from learner.run.settings import RunSettings
from play.judging.truth import (
    Referees,
    Verdicts,
    judge_by_truth,
    known_values,
    random_positions,
)
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from play.ratings.bradley_terry import rate
from play.ratings.statistics import Estimate, Tally, mean_interval
from play.workers import Workers
from programs.whole_files import write_atomically, write_figure
from search import LinearEvaluator, as_evaluator, load_evaluator

UNTRAINED = "untrained"
#: Numbers of games that take about three minutes of one core on the machine of docs/results.md. A
#: time limit would not give the same evaluator for a seed on every machine.
CHECKERS_GAMES = {
    "samuel": 7500,
    "samuel1959": 2200,
    "tdleaf": 21_000,
    "rootstrap": 21_000,
    "treestrap": 12_000,
    "batch": 19_000,
    "network": 13_000,
}
#: Numbers of games of Connect Four that take about 15 seconds; `tuples-` is a learner of an n-tuple
#: network, which `solved` is too.
CONNECT_FOUR_GAMES = {
    "samuel": 12_000,
    "samuel1959": 6000,
    "td": 15_000,
    "tdleaf": 13_000,
    "rootstrap": 16_000,
    "treestrap": 7000,
    "batch": 12_000,
    "network": 8000,
    "tuples-td": 17_000,
    "tuples-tdleaf": 11_000,
    "tuples-rootstrap": 20_000,
    "tuples-treestrap": 11_000,
    "solved": 4500,
}
TUPLES = "tuples-"
#: Settings of n-tuple networks: steps of full size.
TUPLE_OPTIONS = {"tuples": "lines", "rate": 1.0, "scale": 1.0}
TRUTH_LIMITS = (Limits(depth=1), Limits(depth=4), Limits(seconds=0.001))
TRUTH_SEED = 5_000_011


@dataclass(frozen=True)
class Contest:
    """What differs from game to game.

    start: the evaluator that learning begins with; None for nothing.
    played: numbers of games by the learner's name.
    ladder: the fixed opponents; the first, whom every result plays, is rated 0.
    timed: opponents at equal time, likewise.
    seconds: time of a move at equal time.
    rates: positions a second of a search, by the class of the evaluator; None where time is
        measured by the clock.
    depth: plies of the searches of the games that learners play.
    options: settings of every learner that has them, so that all learn from the same kind of games.
    """

    start: str | None
    played: Mapping[str, int]
    ladder: tuple[str, ...]
    timed: tuple[str, ...]
    seconds: float = 0.02
    rates: Mapping[str, float] | None = None
    depth: int = 5
    options: Mapping[str, Any] = field(default_factory=dict)

    def within(self, limits: Limits, evaluator: Any) -> Limits:
        """Returns the limits of an evaluator's moves, with positions in place of seconds."""
        if limits.seconds is None or self.rates is None:
            return limits
        return Limits(nodes=round(limits.seconds * self.rates[type(evaluator).__name__]))


CONTESTS = {
    # the ladder: material, the two handwritten sets of weights, and a trained evaluator
    "checkers": Contest(
        "material",
        CHECKERS_GAMES,
        ("material", "rote", "classic", "rootstrap"),
        ("classic", "rootstrap"),
    ),
    # the rates were measured in turns, the fastest of twenty times 100 searches (2026-11-23)
    "connect_four": Contest(
        None,
        CONNECT_FOUR_GAMES,
        ("hand", "centre"),
        ("hand",),
        seconds=0.001,
        rates={"LinearEvaluator": 11.5e6, "NetworkEvaluator": 7.8e6, "TupleEvaluator": 4.8e6},
        depth=4,
        # games that begin anywhere, and no others
        options={"opening_plies": 14, "decide": False, "whole": 0},
    ),
}
OPENING_SEED, OPENING_PLIES = 4_000_037, 4

#: By learner the mean Elo, and that of each seed.
Ratings = dict[str, tuple[Estimate, list[float]]]


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """Returns what a JSON file holds; it is made and written if there is no such file."""
    if not path.is_file():
        write_atomically(path, json.dumps(make(), indent=1))
    return json.loads(path.read_text())


def train(task: tuple[str, str, int, int, str]) -> dict[str, Any]:
    """Train one learner from one seed, unless that was done; returns the entry of its info.json."""
    of, name, seed, played, folder = task
    place = Path(folder) / name / str(seed)
    done = place / "info.json"
    if done.is_file():
        info = {"game": of, **json.loads(done.read_text())}
        if info["games"] == played:
            return info
    game = games.load(of)
    kind = name.removeprefix(TUPLES)
    # by its module, because functions of the main program travel with copies of what they name
    usual = recipes.RECIPES[kind].run(game)
    options = TUPLE_OPTIONS if name.startswith(TUPLES) else usual.get("options", {})
    offered = recipes.RECIPES[kind].load()().get_params(deep=False)
    options = {**options, **{k: v for k, v in CONTESTS[of].options.items() if k in offered}}
    depth = usual["depth"] if name == "solved" else CONTESTS[of].depth
    settings = RunSettings(
        game=of, learner=kind, games=played, depth=depth, options=options, seed=seed,
        opponents=(), pacemakers=(),
    )  # fmt: skip
    learner = make_learner(game, settings, None)
    began = time.process_time()
    # these two have Samuel's fixed piece advantage as material, with a king worth 3/2 of a man
    learner.fit(None if name in ("samuel", "samuel1959") else CONTESTS[of].start)
    seconds = time.process_time() - began
    evaluator = learner.evaluator_
    path = place / f"evaluator{evaluator.suffix}"
    place.mkdir(parents=True, exist_ok=True)
    evaluator.name = f"{name}-{seed}"
    evaluator.save(path)
    info = {
        "game": of,
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
    game = games.load(info["game"])
    if info["learner"] == UNTRAINED:
        start = CONTESTS[info["game"]].start
        # weights of 0, which are searched as fast as others
        return (
            as_evaluator(game, start)
            if start
            else LinearEvaluator(game, feature_set(game, None), {})
        )
    return load_evaluator(folder / info["learner"] / str(info["seed"]) / info["file"], game=game)


def stem(info: dict[str, Any], *parts: object) -> str:
    """Returns the name of a file with figures of a result."""
    trained = (info["learner"], info["seed"], info.get("games", 0))
    return "-".join(map(str, (*trained, *parts))).replace(" ", "-") + ".json"


def play(task: tuple[dict[str, Any], str, str, int, Limits]) -> dict[str, Any]:
    """Play one match of one result against one opponent, unless it exists; returns its score."""
    info, opponent, folder, count, limits = task

    def match() -> dict[str, Any]:
        game, contest = games.load(info["game"]), CONTESTS[info["game"]]
        evaluator = evaluator_of(info, Path(folder))
        rival = parse_player(game, opponent, techniques="exact")
        found = measure(
            game,
            Player("learned", evaluator, limits=contest.within(limits, evaluator)),
            replace(rival, limits=contest.within(limits, rival.evaluator)),
            games=count,
            limits=limits,
            seed=OPENING_SEED,
            plies=OPENING_PLIES,
        )
        result = {**found.as_dict(), "learner": info["learner"], "seed": info["seed"]}
        return result | {name: str(result[name]) for name in ("value", "low", "high")}

    name = stem(info, Path(opponent).stem, count, limits)
    return dict(kept(Path(folder) / "matches" / name, match))


def judged(task: tuple[dict[str, Any], str, Verdicts]) -> list[Estimate]:
    """Returns the shares of kept classes of one result, within each of TRUTH_LIMITS."""
    info, folder, known = task

    def judge() -> list[tuple[float, float, float]]:
        game, contest = games.load(info["game"]), CONTESTS[info["game"]]
        evaluator = evaluator_of(info, Path(folder))
        player, shares = Player(info["learner"], evaluator), []
        for limits in TRUTH_LIMITS:
            share = judge_by_truth(
                game, player, known, limits=contest.within(limits, evaluator)
            ).kept
            shares.append((share.value, share.low, share.high))
        return shares

    name = stem(info, "truth", len(known.positions))
    return [Estimate(*share) for share in kept(Path(folder) / "matches" / name, judge)]


def known_truth(of: str, count: int, threads: int) -> Verdicts:
    """Returns random positions of a solved game with the values of their moves."""
    game = games.load(of)
    first, last = Referees.of(game).named["truth"](game).plies
    positions = random_positions(
        game, count, seed=TRUTH_SEED, least_plies=first, most_plies=last + 1
    )
    return known_values(game, "truth", positions, threads=threads)


def truth_table(found: dict[str, list[list[Estimate]]]) -> str:
    """Returns the shares as Markdown, best static values first.

    found: by learner, the shares of each seed within each of TRUTH_LIMITS.

    The interval is that over seeds; of one seed, that over positions.
    """
    lines = [
        "| learner | " + " | ".join(f"truth, {limits}" for limits in TRUTH_LIMITS) + " |",
        "|---|" + "---|" * len(TRUTH_LIMITS),
    ]
    rows = []
    for learner, seeds in found.items():
        shares = []
        for place in range(len(TRUTH_LIMITS)):
            values = [seed[place].value for seed in seeds]
            several = len(values) > 1
            shares.append(mean_interval(values) if several else seeds[0][place])
        rows.append((shares[0].value, learner, shares))
    for _, learner, shares in sorted(rows, key=lambda row: -row[0]):
        cells = [f"{100 * s.value:.1f} % [{100 * s.low:.1f}, {100 * s.high:.1f}]" for s in shares]
        lines.append(f"| {learner} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ratings(results: Sequence[dict[str, Any]], anchor: str) -> Ratings:
    """Returns by learner, best first, its mean Elo and that of each seed, from one joint rating.

    anchor: the opponent rated 0.
    """
    table = {
        (f"{r['learner']}-{r['seed']}", r["opponent"]): Tally((r["losses"], r["draws"], r["wins"]))
        for r in results
    }
    groups: dict[str, dict[str, float]] = {}
    for rating in rate(table, anchor=anchor):
        learner, _, seed = rating.name.rpartition("-")
        if seed.isdecimal():
            groups.setdefault(learner, {})[rating.name] = rating.elo.value
    means = rate_groups(table, {name: [*seeds] for name, seeds in groups.items()}, anchor=anchor)
    best = sorted(groups, key=lambda learner: -means[learner].value)
    return {learner: (means[learner], [*groups[learner].values()]) for learner in best}


def table(found: Ratings, trained: Sequence[dict[str, Any]], limits: Limits, anchor: str) -> str:
    """Returns the ranking as Markdown."""
    lines = [
        f"| learner | Elo above `{anchor}`, {limits} | each seed | games | positions | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for learner, (mean, values) in found.items():
        mine = [info for info in trained if info["learner"] == learner]
        seeds = ", ".join(f"{value:+.0f}" for value in values)
        seconds = np.mean([info["seconds"] for info in mine]) if mine else 0
        positions = np.mean([info["positions"] for info in mine]) if mine else 0
        lines.append(
            f"| {learner} | {mean.text('+.0f')} | {seeds} |"
            f" {mine[0]['games'] if mine else 0:,} | {positions:,.0f} | {seconds:.0f} |"
        )
    return "\n".join(lines)


def plot(path: Path, found: dict[str, Ratings]) -> None:
    """Draw the ranking: mean, interval and every seed, with a colour for each limit."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    first = next(iter(found.values()))
    order = [*first][::-1]
    figure = Figure(figsize=(9, 0.9 + 0.55 * len(order)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, (label, rows) in enumerate(found.items()):
        shift = 0.22 * ((len(found) - 1) / 2 - number)
        for place, learner in enumerate(order):
            if learner not in rows:
                continue
            mean, values = rows[learner]
            colour, y = f"C{number}", place + shift
            axes.plot(values, [y] * len(values), "|", color=colour, alpha=0.6)
            axes.plot([mean.low, mean.high], [y, y], color=colour, linewidth=2)
            name = label if not place else None
            axes.plot(mean.value, y, "o", color=colour, markersize=6, label=name)
    axes.set_yticks(range(len(order)), order)
    axes.set_xlabel("Elo (dot: mean, line: its 95 % interval, strokes: seeds)")
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
    add("game", nargs="?", default="checkers", choices=list(CONTESTS))
    add("--only", metavar="A,B", help="learners (default all)")
    add("--seeds", type=int, default=5)
    add("--match-games", type=int, default=100, help="of each result against each opponent")
    add("--timed-games", type=int, default=40, help="the same at equal time")
    add("--seconds", type=float, help="a move, at equal time (default 0.02; connect_four 0.001)")
    add("--positions", type=int, default=2000, help="positions of the table of truth")
    add(
        "--folder", type=Path, default=None, help="default runs/learners, of other games with -GAME"
    )
    add("--jobs", type=int, default=2)
    add("--quick", action="store_true")
    options = parser.parse_args(arguments)
    of, contest = options.game, CONTESTS[options.game]
    every = contest.played
    names = [name for name in (options.only or ",".join(every)).split(",") if name]
    unknown = [name for name in names if name not in every]
    if unknown:
        parser.error(f"--only: expected some of {', '.join(every)}; found {', '.join(unknown)}")
    if options.folder is None:
        options.folder = Path("runs/learners" + (f"-{of}" if of != "checkers" else ""))
    share = 200 if options.quick else 1
    seeds = 2 if options.quick else options.seeds
    counts = (4, 2) if options.quick else (options.match_games, options.timed_games)
    folder = options.folder / "quick" if options.quick else options.folder
    tasks = [
        (of, name, seed, max(8, every[name] // share), str(folder))
        for seed in range(seeds)
        for name in names
    ]
    trained = []
    with Workers("loky", options.jobs) as workers:
        for info in workers.map(train, tasks):
            trained.append(info)
            print(f"trained {info['learner']} {info['seed']}: {info['seconds']} s", flush=True)
        untrained = {"game": of, "learner": UNTRAINED, "seed": 0}
        found: dict[str, Ratings] = {}
        text = []
        for limits, opponents, count in (
            (Limits(depth=5), contest.ladder, counts[0]),
            (Limits(seconds=options.seconds or contest.seconds), contest.timed, counts[1]),
        ):
            matches = [
                (info, opponent, str(folder), count, limits)
                for info in [untrained, *trained]
                for opponent in opponents
                if not (info is untrained and contest.start in opponents)
            ]
            results = []
            for result in workers.map(play, matches):
                results.append(result)
                print(f"{limits}: {len(results)} of {len(matches)} matches", flush=True)
            anchor = opponents[0]
            rated = ratings(results, anchor)
            found[f"{limits}, above {anchor}"] = rated
            text.append(table(rated, trained, limits, anchor))
        if Referees.of(games.load(of)).named:
            count = 100 if options.quick else options.positions
            known = known_truth(of, count, options.jobs)
            tasks_of_truth = [(info, str(folder), known) for info in [untrained, *trained]]
            shares: dict[str, list[list[Estimate]]] = {}
            for task, kept in zip(tasks_of_truth, workers.map(judged, tasks_of_truth), strict=True):
                shares.setdefault(task[0]["learner"], []).append(kept)
            text.append(truth_table(shares))
    write_atomically(folder / "table.md", "\n\n".join(text) + "\n")
    plot(folder / "learners.png", found)
    print("\n\n".join(text))
    print(f"plot: {folder / 'learners.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
