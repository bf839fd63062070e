"""The training of `train.py`: a run by its settings is learned, measured and told."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import games
from games.feature_file import add_features
from learner.frame import Learner
from learner.game_learner import GameLearner
from learner.reports.worth import measure_speeds, new_terms, worths
from learner.run.folder import CHECKPOINT
from learner.run.learners import feature_file, make_learner
from learner.run.measured_run import MeasuredRun
from learner.run.progress_bar import Bar
from learner.run.recipes import Runs, recipe_of
from learner.run.run import Run
from learner.run.settings import RunSettings
from programs.phrases import counted, lasting

__all__ = ["train"]


def train(
    settings: RunSettings,
    folder: Path,
    workers: Any,
    *,
    resume: bool,
    changed: bool = False,
    quiet: bool,
) -> int:
    """Train by the settings in the folder of the run, and measure the result.

    workers: those that play or solve, for learners that hand out work.
    resume, changed: as in `Run.train`.
    quiet: whether lines of progress come instead of a bar.

    Returns the exit status. A finished run is not measured again: its report is printed.
    """
    game: Any = games.load(settings.game)
    file = feature_file(settings, folder, resume=resume)
    bare = replace(settings, features=None)
    # where the game has no features of its own there is nothing to compare with
    usual = make_learner(game, bare, workers) if file is not None and game.features else None
    learner = make_learner(game, settings, workers, file=file)
    say_workers(learner)
    kind = recipe_of(settings.learner, game).run_of(game)
    if file is not None:
        game = add_features(game, file)  # for evaluators that were learned with it
        Runs.of(game).check_players(game, settings)
    session = kind(learner, folder, settings=settings, game=game, feature_file=file)
    with Bar(quiet, learner.counted) as bar:
        learned = learn(session, bar, resume=resume, changed=changed)
        for line in session.about(learned):
            bar.say(line)
        for line in session.report(learned):
            bar.say(line)
    if session.finished:
        print(f"{folder} was finished before; --games N learns from more {learner.counted}")
        return 0
    if file is not None:
        other = usual and kind(usual, folder / "without", settings=bare, game=game)
        weigh(session, other, learned, changed=changed, quiet=quiet)
        session.write_report()
    print(f"{session.made}: {session.path}")
    return 0


def say_workers(learner: Learner) -> None:
    """Report the number of busy workers if others are idle."""
    workers = getattr(learner, "workers", None)
    if not isinstance(learner, GameLearner) or workers is None:
        return
    most, jobs = learner.together(), workers.jobs
    if jobs > most:
        print(f"{counted(most, 'game')} with the same weights: {most} of {jobs} workers have work")


def learn(session: Run, bar: Bar, *, resume: bool, changed: bool) -> Any:
    """Train with a progress bar; returns what was learned."""
    began = time.perf_counter()
    learned = session.train(
        session.start(), resume=resume, changed=changed, say=bar.say,
        watch=lambda progress: bar(progress, session.measured),
    )  # fmt: skip
    bar.say(f"learned in {lasting(time.perf_counter() - began)}")
    return learned


def weigh(
    session: MeasuredRun, bare: MeasuredRun | None, best: Any, *, changed: bool, quiet: bool
) -> None:
    """Train without the user's terms, and say whether these have earned their place.

    bare: the run without the terms, or None if the game has no others.
    best: the best evaluator with them.
    """
    session.entries["worth"] = {}
    if bare is None:
        print(f"nothing to compare with: {session.game.name} has no features of its own")
        return
    folder, settings = bare.folder.path, session.settings
    terms = new_terms(session.learner, bare.learner)
    print(f"now the same without {', '.join(terms)}, in {folder}", flush=True)
    entries = []
    with Bar(quiet, bare.learner.counted) as bar:
        other = learn(bare, bar, resume=(folder / CHECKPOINT).exists(), changed=changed)
        for entry in worths(
            session.game, best, other, terms=terms, games=settings.match_games,
            limits=session.limits,
        ):  # fmt: skip
            entries.append(entry.as_dict())
            bar.say(entry.text())
        speeds = measure_speeds(session.game, best, other)
        bar.say(speeds.text())
    session.entries["lines"] += [entry["text"] for entry in entries]
    session.entries["worth"] = {
        "file": settings.features,
        "without": other.name,
        "matches": entries,
        "nodes_per_second": {"with": speeds.mine, "without": speeds.other},
    }
