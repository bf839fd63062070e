"""Ranks all learners of a game from the same start: `python -m benchmarks.learners [GAME]`.

Each learner trains from several seeds with its usual settings, for a number of games that takes
some thirty seconds of a core (in Connect Four fifteen), so that all had the same time. Each result
then plays paired matches against fixed opponents, with equal numbers of positions a move and with
equal time. Equal time stands for the positions that the time allows to the result's search, as
measured first, so that results do not depend on other work of the machine. One joint rating gives
every result an Elo above the first opponent; a learner's is the mean over its seeds, with a 95 %
interval that includes the luck of a seed and the error of the opponents' own ratings
(`benchmarks.groups.rate_groups`). Where truth is known, a table of truth is made instead: the share
of decisions in which a result's moves keep a win or a draw (`play.judging.truth`).

    python -m benchmarks.learners                   checkers: about 40 minutes of a core
    python -m benchmarks.learners connect_four      with truth
    python -m benchmarks.learners --quick           a trial of the program
    python -m benchmarks.learners --only rootstrap,network --seeds 2

Evaluators, matches and truth are kept in runs/learners-GAME (--folder) and not repeated: the same
command continues. With --json the last line is the table for `docs/figures`.
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
from learner.run import recipes
from learner.run.learners import make_learner
from learner.run.settings import RunSettings
from play.judging.truth import Referees, Verdicts, judge_by_truth, known_values, random_positions
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from play.ratings.statistics import Estimate, Tally, mean_interval
from play.workers import Workers
from programs.ending import exit_status
from programs.whole_files import write_atomically
from search import Engine, as_evaluator, load_evaluator
from search.evaluators.samples import sample_positions
from search.lookups.rote import RoteMemory

PROGRAM = "python -m benchmarks.learners"
#: A learner of an n-tuple network has this before its name; `solved` learns one too.
TUPLES = "tuples-"
#: Settings of n-tuple networks: steps of full size.
TUPLE_OPTIONS = {"tuples": "lines", "rate": 1.0, "scale": 1.0}
TRUTH_LIMITS = (Limits(depth=1), Limits(depth=4))
TRUTH_SEED, OPENING_SEED, OPENING_PLIES = 5_000_011, 4_000_037, 4
#: Samuel's learners have their fixed piece advantage as material, so they begin from nothing.
FROM_NOTHING = ("samuel", "samuel1959")
#: Positions that measure the rate of a search, and its nodes for each.
RATED, RATED_NODES = 20, 20_000


@dataclass(frozen=True)
class Contest:
    """The learners of a game, and their opponents.

    played: numbers of games by the learner's name. A time limit would not give the same evaluator
        for a seed on every machine.
    start: the evaluator that learning begins with, or None for nothing.
    ladder: the fixed opponents at equal nodes; the first is rated 0.
    timed: the opponents at equal time, of which the first is rated 0.
    depth: plies of the searches of the games that learners play, or None for the usual one.
    options: settings of every learner that has them, so that all learn from the same kind of games.
    own: settings of one learner.
    """

    played: Mapping[str, int]
    start: str | None = None
    ladder: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    depth: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


CONTESTS = {
    "checkers": Contest(
        {
            "samuel": 750, "samuel1959": 350, "rote": 500, "td": 9000, "tdleaf": 2800,
            "rootstrap": 3200, "treestrap": 2300, "batch": 3000, "network": 2600, "invent": 2000,
            "quantised": 450,
        },
        "material",
        ("classic", "rootstrap", "rote", "material"),
        ("classic", "rootstrap"),
        # rounds for hours are too long for seconds
        own={"quantised": {"round_games": 300, "growing": 4, "tree_positions": 200}},
    ),
    "connect_four": Contest(
        {
            "samuel": 12_000, "samuel1959": 6000, "td": 15_000, "tdleaf": 13_000,
            "rootstrap": 16_000, "treestrap": 7000, "batch": 12_000, "network": 8000,
            "tuples-td": 17_000, "tuples-tdleaf": 11_000, "tuples-rootstrap": 20_000,
            "tuples-treestrap": 11_000, "solved": 4500,
        },
        depth=4,
        # games that begin anywhere, and no others
        options={"opening_plies": 14, "decide": False, "whole": 0},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """A learner, a seed and a number of games in a contest, whose files lie in a folder."""

    game: str
    learner: str
    seed: int
    games: int
    folder: Path

    @property
    def name(self) -> str:
        """The name of the result."""
        return f"{self.learner}-{self.seed}"

    def kept(self, part: str, make: Callable[[], Any]) -> Any:
        """Returns the content of a JSON file, which is made if there is none."""
        path = self.folder / f"{self.name}-{self.games}" / f"{part}.json".replace(" ", "-")
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(make(), indent=1))
        return json.loads(path.read_text())


def train(task: Task) -> dict[str, Any]:
    """Train a learner unless that was done; returns the time and the names of its files."""
    return dict(task.kept("trained", lambda: _trained(task)))


def _trained(task: Task) -> dict[str, Any]:
    game, contest = games.load(task.game), CONTESTS[task.game]
    kind = task.learner.removeprefix(TUPLES)
    # by its module, because functions of the main program travel with copies of their names
    recipe = recipes.RECIPES[kind]
    usual = recipe.usual(game)
    offered = recipe.settings()
    options = TUPLE_OPTIONS if task.learner != kind else usual.get("options", {})
    options = {**options, **{k: v for k, v in contest.options.items() if k in offered}}
    own = contest.depth is None or kind == "solved"
    settings = RunSettings(
        game=task.game, learner=kind, games=task.games, seed=task.seed, opponents=(), pacemakers=(),
        depth=usual["depth"] if own else contest.depth, nodes=usual.get("nodes") if own else None,
        options=options | contest.own.get(kind, {}),
    )  # fmt: skip
    learner = make_learner(game, settings, None)
    start = usual.get("from") if kind == "rote" else contest.start
    began = time.process_time()
    learner.fit(None if kind in FROM_NOTHING else start)
    seconds = time.process_time() - began
    folder = task.folder / f"{task.name}-{task.games}"
    folder.mkdir(parents=True, exist_ok=True)
    evaluator = learner.evaluator_
    info = {"seconds": round(seconds, 1), "file": "", "memory": ""}
    if kind == "rote":  # the weights stay, and the memory is what was learned
        info |= {"file": start, "memory": "memory.safetensors"}
        learner.memory_.save(folder / info["memory"], evaluator=evaluator.name)
    else:
        info["file"] = f"evaluator{evaluator.suffix}"
        evaluator.save(folder / info["file"])
    return info


def player_of(task: Task) -> Player:
    """Returns the player that a training made."""
    info, game = train(task), games.load(task.game)
    folder = task.folder / f"{task.name}-{task.games}"
    if info["memory"]:
        memory = RoteMemory.load(game, folder / info["memory"])
        return Player(task.name, as_evaluator(game, info["file"]), lookup=memory)
    return Player(task.name, load_evaluator(folder / info["file"], game=game))


def rate_of(player: Player, game: Any) -> float:
    """Returns positions a second of processor time of a player's search, the best of three."""
    engine = Engine(game, player.evaluator, lookup=player.lookup, **player.options)
    positions, best = sample_positions(game, RATED), 0.0
    for _ in range(4):  # the first compiles
        began, nodes = time.process_time(), 0
        for position in positions:
            engine.clear()
            nodes += engine.search(position, nodes=RATED_NODES).nodes
        best = max(best, nodes / (time.process_time() - began))
    return best


def play(task: Task, opponent: str, count: int, limits: Limits) -> dict[str, Any]:
    """Play a match of a result unless that was done; returns its wins, draws and losses.

    limits: of each move; seconds stand for the positions that they allow to each player.
    """

    def match() -> dict[str, Any]:
        game = games.load(task.game)
        players = [player_of(task), parse_player(game, opponent, techniques="exact")]
        if limits.seconds is not None:
            for place, player in enumerate(players):
                of = task if place == 0 else replace(task, learner=opponent, seed=0, games=0)
                rate = of.kept("rate", lambda player=player: rate_of(player, game))  # type: ignore[misc]
                players[place] = replace(player, limits=Limits(nodes=round(rate * limits.seconds)))
        strength = measure(
            game, *players, games=count, limits=limits, seed=OPENING_SEED, plies=OPENING_PLIES
        ).as_dict()
        return {name: strength[name] for name in ("wins", "draws", "losses")}

    return dict(task.kept(f"{opponent}-{count}-{limits}", match)) | {
        "name": task.name, "opponent": opponent,
    }  # fmt: skip


def judged(task: Task, truth: Verdicts) -> list[Estimate]:
    """Returns the shares of classes that a result keeps, within each of TRUTH_LIMITS."""

    def judge() -> list[list[float]]:
        game, player = games.load(task.game), player_of(task)
        shares = [judge_by_truth(game, player, truth, limits=one).kept for one in TRUTH_LIMITS]
        return [[share.value, share.low, share.high] for share in shares]

    return [Estimate(*one) for one in task.kept(f"truth-{len(truth.positions)}", judge)]


def known_truth(of: str, count: int) -> Verdicts:
    """Returns random positions of a solved game with the values of their moves."""
    game = games.load(of)
    first, last = Referees.of(game).named["truth"](game).plies
    positions = random_positions(
        game, count, seed=TRUTH_SEED, least_plies=first, most_plies=last + 1
    )
    return known_values(game, "truth", positions, threads=1)


def ratings(results: Sequence[dict[str, Any]], anchor: str) -> dict[str, Estimate]:
    """Returns the mean Elo of each learner from one joint rating; the anchor is rated 0."""
    table = {
        (one["name"], one["opponent"]): Tally((one["losses"], one["draws"], one["wins"]))
        for one in results
    }
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for name, _ in table):
        groups.setdefault(name.rpartition("-")[0], []).append(name)
    return rate_groups(table, groups, anchor=anchor)


def _shares(seeds: Sequence[Sequence[Estimate]]) -> list[Estimate]:
    """Returns the mean share for each limit; the interval is over seeds, of one over positions."""
    if len(seeds) == 1:
        return list(seeds[0])
    return [mean_interval([share.value for share in column]) for column in zip(*seeds, strict=True)]


def main(arguments: list[str] | None = None) -> int:
    """Run the comparison; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("game", nargs="?", default="checkers", choices=list(CONTESTS))
    add("--only", metavar="A,B", help="learners (default all)")
    add("--seeds", type=int, default=3, help="trainings of each learner (default 3)")
    add("--match-games", type=int, default=80, help="of a result against an opponent (default 80)")
    add("--nodes", type=int, default=2000, help="positions a move (default 2000)")
    add("--seconds", type=float, default=0.002, help="a move, at equal time (default 0.002)")
    add("--positions", type=int, default=1000, help="positions of the table of truth")
    add("--folder", type=Path, help="default runs/learners-GAME")
    add("--jobs", type=int, default=1)
    add("--quick", action="store_true", help="a hundredth of the games, of one seed")
    add("--json", action="store_true", help="last line: the table as JSON")
    options = parser.parse_args(arguments)
    every = CONTESTS[options.game].played
    names = (options.only or ",".join(every)).split(",")
    if unknown := [name for name in names if name not in every]:
        parser.error(f"--only: expected some of {', '.join(every)}; found {', '.join(unknown)}")
    return exit_status(PROGRAM, lambda: run(options, names))


def run(options: argparse.Namespace, names: list[str]) -> int:
    """Train, play and judge as far as that was not done, and print the table."""
    contest = CONTESTS[options.game]
    folder = options.folder or Path("runs") / f"learners-{options.game}"
    share, seeds = (100, 1) if options.quick else (1, options.seeds)
    count = 4 if options.quick else options.match_games
    tasks = [
        Task(options.game, name, seed, max(8, contest.played[name] // share), folder)
        for seed in range(seeds)
        for name in names
    ]
    minutes: dict[str, list[float]] = {}
    with Workers("loky", options.jobs) as workers:
        for task, info in zip(tasks, workers.map(train, tasks), strict=True):
            minutes.setdefault(task.learner, []).append(info["seconds"] / 60)
            print(f"trained {task.name}: {info['seconds']} s", file=sys.stderr, flush=True)
        columns, cells = ["learner"], dict[str, list[str]]()
        order: dict[str, float] = {}
        for limits, opponents in (
            (Limits(nodes=options.nodes), contest.ladder),
            (Limits(seconds=options.seconds), contest.timed),
        ):
            if not opponents:
                continue
            pairs = [(task, opponent) for task in tasks for opponent in opponents]
            results = []
            for result in workers.map(_match, [(*pair, count, limits) for pair in pairs]):
                results.append(result)
                print(f"{limits}: {len(results)} of {len(pairs)}", file=sys.stderr, flush=True)
            columns.append(f"Elo above `{opponents[0]}`, {limits}")
            for name, elo in ratings(results, opponents[0]).items():
                cells.setdefault(name, []).append(elo.text("+.0f"))
                order.setdefault(name, elo.value)
        if Referees.of(games.load(options.game)).named:
            truth = known_truth(options.game, 100 if options.quick else options.positions)
            found: dict[str, list[list[Estimate]]] = {}
            work = [(task, truth) for task in tasks]
            for task, shares in zip(tasks, workers.map(_judge, work), strict=True):
                found.setdefault(task.learner, []).append(shares)
            columns += [f"truth, {limits}" for limits in TRUTH_LIMITS]
            for name, of_seeds in found.items():
                means = _shares(of_seeds)
                texts = [
                    f"{100 * s.value:.1f} % [{100 * s.low:.1f}, {100 * s.high:.1f}]" for s in means
                ]
                cells.setdefault(name, []).extend(texts)
                order.setdefault(name, means[0].value)
    columns += ["minutes", "games"]
    rows = [
        [name, *cells[name], f"{np.mean(minutes[name]):.2f}", f"{contest.played[name] // share:,}"]
        for name in sorted(cells, key=lambda name: -order[name])
    ]
    print("\n".join(f"| {' | '.join(row)} |" for row in (columns, *rows)))
    if options.json:
        print(json.dumps({"columns": columns, "rows": rows}))
    return 0


def _match(work: tuple[Task, str, int, Limits]) -> dict[str, Any]:
    return play(*work)


def _judge(work: tuple[Task, Verdicts]) -> list[Estimate]:
    return judged(*work)


if __name__ == "__main__":
    sys.exit(main())
