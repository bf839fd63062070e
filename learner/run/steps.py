"""The steps of `train.py`: train by the settings of a run, measure, and print the results."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import games
from games.contract import Game
from games.feature_file import add_features
from learner.arena import Strength, measure
from learner.books.book_study import BookStudy
from learner.frame import Learner
from learner.game_learner import GameLearner
from learner.reports.worth import measure_speeds, new_terms, start_for, worths
from learner.run.folder import REPORT, read_report
from learner.run.heuristic_run import HeuristicRun
from learner.run.learners import feature_file, make_learner
from learner.run.measured_run import MeasuredRun, report_seed
from learner.run.progress_bar import Bar
from learner.run.recipes import recipe_of
from learner.run.run import MemoryRun
from learner.run.settings import RunSettings
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from programs.arguments import THREADS
from programs.phrases import counted
from search import Evaluator, LinearEvaluator

__all__ = ["train_evaluator", "train_heuristic", "train_rote"]


def train_evaluator(
    settings: RunSettings,
    folder: Path,
    workers: Any,
    *,
    resume: bool,
    changed: bool = False,
    quiet: bool,
) -> int:
    """Train an evaluator, and measure it; returns the exit status.

    A finished run is not measured again: its report is printed.
    """
    game = games.load(settings.game)
    settings, file = feature_file(settings, resume=resume)
    # where the game has no features of its own there is nothing to compare with
    compared = file is not None and bool(game.features)
    usual = make_learner(game, without_features(settings), workers) if compared else None
    learner = make_learner(game, settings, workers, file=file)
    say_what_works(learner)
    if file is not None:
        game = add_features(game, file)  # for evaluators that were learned with it
    for opponent in {*settings.opponents, *settings.pacemakers}:
        parse_player(game, opponent)
    session = measured_run(game, learner, settings, folder, file=file)
    terms = [] if usual is None else new_terms(learner, usual)
    with Bar(quiet, learner.counted) as bar:
        best = learn(session, settings, bar, resume=resume, changed=changed)
        say_weights(best, bar.say)
        if isinstance(learner, BookStudy):
            if learner.agreement_ is not None:
                bar.say(f"on the games held out: {learner.agreement_.text()}")
            bar.say(learner.book_.text())
        if session.finished:
            print_report(folder, ended=bool(getattr(learner, "last_epochs", 0)))
            return 0
        for strength in session.report(best, settings.opponents, games=settings.match_games):
            bar.say(f"{strength.text()} at {session.limits}")
    if usual is not None:
        bare = without_features(settings)
        other = measured_run(game, usual, bare, folder / "without", file=None)
        weigh(session, other, best, terms, settings, changed=changed, quiet=quiet)
    elif file is not None:
        print(f"nothing to compare with: {game.name} has no features of its own")
        session.add_to_report(worth={})
    print(f"evaluator: {folder / 'best'}{best.suffix}; plots and games beside it")
    return 0


def say_what_works(learner: Learner) -> None:
    """Say how many workers have work, if there are more."""
    workers = getattr(learner, "workers", None)
    if not isinstance(learner, GameLearner) or workers is None:
        return
    most, jobs = learner.together(), workers.jobs
    if jobs > most:
        print(f"{counted(most, 'game')} with the same weights: {most} of {jobs} workers have work")


def without_features(settings: RunSettings) -> RunSettings:
    """Returns the same settings without the user's features."""
    return replace(settings, features=None, feature_digest=None)


def measured_run(
    game: Game, learner: Learner, settings: RunSettings, folder: Path, *, file: Path | None
) -> MeasuredRun:
    """Returns the run of a learner by its settings."""
    recipe = recipe_of(settings.learner, game)
    return MeasuredRun(
        learner,
        game,
        folder,
        opponents=settings.pacemakers,
        snapshots=min(settings.snapshots, settings.games),
        snapshot_games=settings.snapshot_games,
        final_games=settings.final_games,
        limits=Limits(
            depth=settings.depth if recipe.match_depth is None else recipe.match_depth,
            nodes=settings.nodes,
        ),
        settings=settings,
        feature_file=file,
    )


def learn(
    session: MeasuredRun, settings: RunSettings, bar: Bar, *, resume: bool, changed: bool
) -> Evaluator:
    """Train with a progress bar; returns the best evaluator."""
    learner = session.learner
    start = start_for(session.game, settings.start, learner)
    began = time.perf_counter()
    best: Evaluator = session.train(start, resume=resume, changed=changed, show=bar, say=bar.say)
    chosen = not learner.settles and len(session.measured) > 1
    bar.say(
        f"learned from {counted(learner.updates_, 'position')} in"
        f" {counted(learner.games_played_, 'game')},"
        f" {time.perf_counter() - began:.0f} s;"
        f" {'best of the snapshots' if chosen else 'the last weights'}: {best.name}"
    )
    return best


def weigh(
    session: MeasuredRun,
    bare: MeasuredRun,
    best: Evaluator,
    terms: list[str],
    settings: RunSettings,
    *,
    changed: bool,
    quiet: bool,
) -> None:
    """Train without the user's terms, and say whether these have earned their place.

    bare: the run without the terms.
    best: the best evaluator with them.
    """
    folder, game = bare.folder.path, session.game
    print(f"now the same without {', '.join(terms)}, in {folder}", flush=True)
    resume = (folder / "checkpoint.json").exists()
    entries = []
    match_games, limits = settings.match_games, session.limits
    with Bar(quiet, bare.learner.counted) as bar:
        other = learn(bare, without_features(settings), bar, resume=resume, changed=changed)
        for entry in worths(game, best, other, terms=terms, games=match_games, limits=limits):
            entries.append(entry)
            bar.say(entry.text())
        speeds = measure_speeds(game, best, other)
        bar.say(speeds.text())
    session.add_to_report(
        worth={
            "file": settings.features,
            "without": other.name,
            "matches": [entry.as_dict() for entry in entries],
            "nodes_per_second": {"with": speeds.mine, "without": speeds.other},
        }
    )


def train_rote(
    settings: RunSettings, folder: Path, *, resume: bool, changed: bool = False, quiet: bool
) -> int:
    """Fill a rote memory, and play with it against the same evaluator without.

    Returns the exit status. A finished run is not measured again: its report is printed.
    """
    if settings.start is None:
        raise ValueError("rote learning needs an evaluator: expected --from NAME or FILE")
    game = games.load(settings.game)
    settings, file = feature_file(settings, resume=resume)
    learner = make_learner(game, settings, None, file=file)
    session = MemoryRun(learner, folder, settings=settings)
    with Bar(quiet, learner.counted) as bar:
        memory = session.train(
            settings.start, resume=resume, changed=changed, show=bar, say=bar.say
        )
        bar.say(f"{counted(len(memory), 'position')} remembered: {session.path}")
        if session.finished:
            print_report(folder)
            return 0
        limits = Limits(depth=settings.depth, nodes=settings.nodes)
        evaluator, plies = learner.evaluator_, learner.unlearned_plies()
        strength = measure(
            game,
            Player(f"{evaluator.name}+memory", evaluator, memory),
            settings.start,
            games=settings.match_games,
            limits=limits,
            seed=report_seed(learner),
            plies=plies,
            threads=THREADS,
        )
    session.write_report(
        evaluator=f"{evaluator.name}+{session.path.name}",
        limits=str(limits),
        matches=[strength.as_dict()],
    )
    print(f"with memory {strength.text()} at {limits}")
    print(f"openings of {plies} plies or more; those of learning were shorter")
    return 0


def print_report(folder: Path, *, ended: bool = False) -> None:
    """Print the report of a finished run, whose matches are not played again.

    ended: whether it cannot learn from more games.
    """
    report = read_report(folder)
    try:
        limits, matches = report["limits"], report["matches"]
        lines = [f"{Strength.of(entry).text()} at {limits}" for entry in matches]
        lines += [str(entry["text"]) for entry in report.get("worth", {}).get("matches", ())]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"{folder / REPORT}: expected the report of a run, found {error!r}; without the file"
            " the matches are played again"
        ) from None
    for line in lines:
        print(line)
    more = "" if ended else "; --games N learns from more games"
    print(f"{folder} was finished before{more}")


def train_heuristic(
    settings: RunSettings, folder: Path, workers: Any, *, resume: bool, changed: bool, quiet: bool
) -> int:
    """Learn a heuristic, print what it is worth, and return the exit status."""
    problem: Any = games.load(settings.game)
    learner = make_learner(problem, settings, workers)
    session = HeuristicRun(learner, folder, settings=settings)
    if resume and session.is_finished():
        lines = [str(line) for line in read_report(folder)["lines"]]
        lines.append(f"{folder} was finished before; --games N learns from more positions")
    else:
        began = time.perf_counter()
        with Bar(quiet, learner.counted) as bar:
            heuristic = session.train(resume=resume, changed=changed, show=bar, say=bar.say)
            bar.say(f"learned in {time.perf_counter() - began:.1f} s")
            lines = session.report(heuristic, settings.opponents, positions=settings.match_games)
    for line in lines:
        print(line)
    print(f"heuristic: {session.path}; curve.png and report.json beside it")
    return 0


def say_weights(evaluator: Evaluator, say: Callable[[str], None]) -> None:
    """Say the weights over terms in the game's unit, largest first."""
    if not isinstance(evaluator, LinearEvaluator):
        return
    weights = sorted(evaluator.term_weights().items(), key=lambda item: -abs(item[1]))
    shown = [f"{name} {evaluator.in_units(weight):g}" for name, weight in weights if weight]
    say(f"weights in {evaluator.game.unit}: {', '.join(shown)}")
