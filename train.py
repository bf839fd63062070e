"""Train an evaluator by self-play: `python train.py checkers`.

Shows progress, keeps everything in a folder under runs/, and ends with matches of what was learned
against hand-crafted evaluators, with error bars. `--resume` continues a run that was stopped.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import time
from pathlib import Path
from typing import Any

from games.program import exit_status
from learner.run.opponents import pacemakers, usual_opponents
from learner.run.recipes import RECIPES, USUAL

# For matrices as small as ours more threads only stand in each other's way, and in that of the
# games; NumPy asks once, when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

GAME_HELP = "checkers, backgammon, tic_tac_toe, nim, or module:Class for a game of your own"
#: More games than any book has.
ALL = 10_000_000
#: The same for every game and learner.
DEFAULTS = {
    "seed": 0,
    "snapshots": 24,
    "snapshot_games": 40,
    "final_games": 150,
    "match_games": 400,
}
#: Settings of a run that a resumed one takes over: what its options.json holds.
SETTINGS = (
    *("game", "learner", "games", "depth", "nodes", "from", "opponents", "pacemakers", "options"),
    *("features", "feature_digest"),
    *DEFAULTS,
)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="train.py",
        description="Train an evaluator by self-play and measure it.",
        epilog="learners:\n"
        + "\n".join(f"  {name:<10} {recipe.summary}" for name, recipe in RECIPES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    add("game", help=GAME_HELP)
    add("--learner", choices=RECIPES, help="see below (default: samuel; backgammon: tdgammon)")
    add("--games", type=int, metavar="N", help="games of self-play")
    add("--depth", type=int, metavar="PLIES", help="plies of every search")
    add("--nodes", type=int, metavar="N", help="positions of every search, instead of a depth")
    add("--seed", type=int, metavar="N", help="decides all that is left to chance (default: 0)")
    add(
        "--features",
        metavar="NAME",
        help="feature set or encoding to learn over, or a file my_features.py with kernels of your"
        " own, which join the learner's usual terms and have to earn their place: the same run"
        " without them follows",
    )
    add("--from", dest="start", metavar="FILE", help="evaluator to start from, or zero")
    add(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="any other option of the learner, e.g. --set tallies=16; may be repeated",
    )
    add("--run", type=Path, metavar="FOLDER", help="folder of the run (default: under runs/)")
    add("--resume", type=Path, metavar="FOLDER", help="go on with the run in this folder")
    add("--snapshots", type=int, metavar="N", help="evaluators measured on the way (default: 24)")
    add("--opponents", metavar="A,B", help="evaluators to measure against")
    for name, meaning in (
        ("snapshot_games", "games of a snapshot against each opponent"),
        ("final_games", "games of each of the best snapshots, to choose among them"),
        ("match_games", "games of each match at the end"),
    ):
        option = "--" + name.replace("_", "-")
        add(option, type=int, metavar="N", help=f"{meaning} (default: {DEFAULTS[name]})")
    add(
        "--backend",
        default="threads",
        metavar="KIND",
        help="who plays: threads, loky (processes) or dask:tcp://HOST:PORT (default: threads)",
    )
    add(
        "--jobs",
        type=int,
        metavar="N",
        help="games at a time (default: 2); samuel, lms, rote and book play one after another",
    )
    add("--quiet", action="store_true", help="no progress bar")
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    options = parser().parse_args(arguments)
    return exit_status("train.py", lambda: run(options), stopped="stopped; go on with --resume")


def run(options: argparse.Namespace) -> int:
    """Train as the options say."""
    resume = options.resume is not None
    if resume:
        settings, folder = resumed_settings(options), options.resume
    else:
        settings = settings_of(options)
        folder = options.run or free_folder(Path("runs"), run_name(settings))
    if settings["games"] < 1:
        raise ValueError(f"--games: expected at least 1, found {settings['games']}")
    from play.workers import Workers, parse_backend

    backend, address = parse_backend(options.backend)
    workers = Workers(backend, options.jobs, address)
    if settings["learner"] == "rote":
        return train_rote(settings, folder, resume=resume, quiet=options.quiet)
    return train_evaluator(settings, folder, workers, resume=resume, quiet=options.quiet)


def resumed_settings(options: argparse.Namespace) -> dict[str, Any]:
    """What a run began with; nothing but the number of games may change."""
    import json

    may_stand = {"game", "learner", "games", "resume", "quiet", "backend", "jobs"}
    given = [name for name, value in vars(options).items() if value and name not in may_stand]
    if options.seed is not None and "seed" not in given:
        given.append("seed")
    if given:
        names = ", ".join(f"--{'from' if n == 'start' else n.replace('_', '-')}" for n in given)
        raise ValueError(
            f"--resume goes on as the run began: expected no other options but --games, found"
            f" {names}"
        )
    saved = options.resume / "options.json"
    if not saved.is_file():
        raise FileNotFoundError(f"{options.resume}: expected a run to resume, found none")
    try:
        settings = json.loads(saved.read_text(encoding="utf-8"))
        missing = [name for name in SETTINGS if name not in settings]
        if missing or not isinstance(settings, dict):
            raise ValueError(f"nothing about {', '.join(missing)}")
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{saved}: expected the options of a run, found {error}") from None
    expected = options.game, options.learner or settings["learner"]
    if (settings["game"], settings["learner"]) != expected or expected[1] not in RECIPES:
        raise ValueError(
            f"{options.resume}: expected a run of {expected[0]} by {expected[1]}, found one of"
            f" {settings['game']} by {settings['learner']}"
        )
    if options.games is not None:
        settings["games"] = options.games
    return settings


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """What the command line and the recipe for game and learner make together."""
    learner = options.learner or USUAL.get(options.game, "samuel")
    recipe = RECIPES[learner].run(options.game)
    extra = dict(recipe.get("options", {}))
    for text in options.set:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"--set: expected OPTION=VALUE, found {text!r}")
        try:
            extra[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            extra[name] = value
    depth, nodes = options.depth, options.nodes
    if depth is None and nodes is None:
        depth, nodes = recipe["depth"], recipe.get("nodes")
    chosen = {name: getattr(options, name) for name in DEFAULTS}
    usual = {**DEFAULTS, **{name: recipe[name] for name in DEFAULTS if name in recipe}}
    numbers = {name: usual[name] if n is None else n for name, n in chosen.items()}
    games = options.games if options.games is not None else recipe["games"]
    if extra.get("book") and options.games is None:
        games = ALL  # of the book
    for name in ("snapshot_games", "final_games", "match_games"):
        if numbers[name] < 2:
            option = "--" + name.replace("_", "-")
            raise ValueError(f"{option}: expected at least 2, found {numbers[name]}")
    opponents = options.opponents.split(",") if options.opponents else usual_opponents(options.game)
    return {
        "game": options.game,
        "learner": learner,
        "games": games,
        "depth": depth,
        "nodes": nodes,
        "from": options.start or recipe.get("from"),
        "opponents": opponents,
        "pacemakers": opponents if options.opponents else pacemakers(options.game, opponents),
        "options": extra,
        "features": options.features,
        "feature_digest": None,
        **numbers,
    }


def run_name(settings: dict[str, Any]) -> str:
    """What the folder of a new run is called."""
    return f"{settings['game'].rpartition(':')[2].lower()}-{settings['learner']}"


def free_folder(parent: Path, name: str) -> Path:
    """A folder that is not there yet: NAME, NAME-2, NAME-3 ..."""
    folder, number = parent / name, 1
    while folder.exists():
        number += 1
        folder = parent / f"{name}-{number}"
    return folder


def train_evaluator(
    settings: dict[str, Any], folder: Path, workers: Any, *, resume: bool, quiet: bool
) -> int:
    """Train an evaluator, and measure it."""
    print("loading (the first time, rules and terms are compiled)", flush=True)
    import games
    from games.feature_file import add_features
    from learner.reports.diagnosis import remarks
    from learner.run.settings import feature_file, make_learner
    from play.players.dice_player import parse_dice_player
    from play.players.player import parse_player

    game = games.load(settings["game"])
    file = feature_file(settings, folder, resume=resume)
    # where the game has no features of its own there is nothing to compare with
    bare = {**settings, "features": None}
    usual = make_learner(game, bare, workers) if file is not None and game.features else None
    learner = make_learner(game, settings, workers, file=file)
    if file is not None:
        game = add_features(game, file)  # for evaluators that were learned with it
    known: Any = parse_dice_player if isinstance(game, games.DiceGame) else parse_player
    for opponent in {*settings["opponents"], *settings["pacemakers"]}:
        known(game, opponent)
    session, best = learn(game, learner, settings, folder, file=file, resume=resume, quiet=quiet)
    print_weights(best)
    for line in remarks(learner, best):
        print(line)
    for found in session.report(best, settings["opponents"], games=settings["match_games"]):
        print(f"{found.text()} at {session.limits}", flush=True)
    if usual is not None:
        weigh(session, best, game, usual, settings, quiet=quiet)
    elif file is not None:
        print(f"nothing to compare with: {game.name} has no features of its own")
    print(f"evaluator: {folder / 'best'}{best.suffix}; plots and games beside it")
    return 0


def learn(
    game: Any,
    learner: Any,
    settings: dict[str, Any],
    folder: Path,
    *,
    file: Path | None,
    resume: bool,
    quiet: bool,
) -> tuple[Any, Any]:
    """Train with a bar; returns the run and the best evaluator."""
    from learner.reports.worth import start_for
    from learner.run.run import Run
    from play.players.limits import Limits

    recipe = RECIPES[settings["learner"]]
    session = Run(
        learner,
        game,
        folder,
        opponents=settings["pacemakers"],
        snapshots=min(settings["snapshots"], settings["games"]),
        snapshot_games=settings["snapshot_games"],
        final_games=settings["final_games"],
        limits=Limits(
            depth=settings["depth"] if recipe.match_depth is None else recipe.match_depth,
            nodes=settings["nodes"],
        ),
        options=settings,
        feature_file=file,
    )
    show = Bar(settings["games"], quiet)
    began = time.perf_counter()
    start = start_for(game, settings["from"], learner)
    try:
        best = session.train(start, resume=resume, show=show, say=show.say)
    finally:
        show.close()
    print(
        f"learned from {learner.updates_} positions in {learner.games_played_} games,"
        f" {time.perf_counter() - began:.0f} s; best of the snapshots: {best.name}"
    )
    return session, best


def weigh(
    session: Any, best: Any, game: Any, usual: Any, settings: dict[str, Any], *, quiet: bool
) -> None:
    """Train without the user's terms, and say whether these have earned their place."""
    from learner.reports.worth import measure_speeds, new_terms, worths

    terms = new_terms(session.learner, usual)
    folder = session.folder.path / "without"
    print(f"now the same without {', '.join(terms)}, in {folder}", flush=True)
    bare = {**settings, "features": None, "feature_digest": None}
    resume = (folder / "checkpoint.json").exists()
    _, other = learn(game, usual, bare, folder, file=None, resume=resume, quiet=quiet)
    found = []
    games, limits = settings["match_games"], session.limits
    for one in worths(game, best, other, terms=terms, games=games, limits=limits):
        found.append(one)
        print(one.text(), flush=True)
    speeds = measure_speeds(game, best, other)
    print(speeds.text())
    session.add_to_report(
        worth={
            "file": settings["features"],
            "without": other.name,
            "matches": [one.as_dict() for one in found],
            "nodes_per_second": {"with": speeds.mine, "without": speeds.other},
        }
    )


def train_rote(settings: dict[str, Any], folder: Path, *, resume: bool, quiet: bool) -> int:
    """Fill a rote memory, and play with it against the same evaluator without."""
    print("loading (the first time, rules and terms are compiled)", flush=True)
    import games
    from learner.arena import measure
    from learner.online.rote import Rote
    from learner.run.rote import RoteRun
    from learner.run.run import REPORT_SEED
    from learner.run.settings import checked_options
    from play.players.limits import Limits
    from play.players.player import Player

    if settings["features"] is not None:
        raise ValueError(
            f"--features {settings['features']}: a memory has no terms: expected a learner of"
            " weights over terms"
        )
    if settings["from"] is None:
        raise ValueError("rote learning needs an evaluator: expected --from NAME or FILE")
    game = games.load(settings["game"])
    learner = Rote(
        game,
        games=settings["games"],
        depth=settings["depth"],
        nodes=settings["nodes"],
        seed=settings["seed"],
        **checked_options(Rote, settings["options"]),
    )
    session = RoteRun(learner, folder, options=settings)
    show = Bar(settings["games"], quiet)
    try:
        session.train(settings["from"], resume=resume, show=show)
    finally:
        show.close()
    memory = learner.memory_
    print(f"{len(memory)} positions remembered: {session.memory_path}")
    limits = Limits(depth=settings["depth"], nodes=settings["nodes"])
    player = Player(f"{learner.evaluator_.name}+memory", learner.evaluator_, memory)
    found = measure(
        game,
        player,
        settings["from"],
        games=settings["match_games"],
        limits=limits,
        seed=REPORT_SEED,
        threads=2,
    )
    print(f"with memory {found.text()} at {limits}")
    print("the openings of this match are among those learned from")
    return 0


class Bar:
    """A progress bar with a rate, corrections made and the last strength measured."""

    def __init__(self, games: int, quiet: bool) -> None:
        self._options = {"total": games, "disable": quiet}
        self._bar: Any = None

    def __call__(self, progress: Any, measured: dict[int, list[Any]]) -> None:
        """Show where learning stands."""
        if self._bar is None:  # not before the first game, for until then all may be refused
            from tqdm import tqdm

            done = max(0, progress.game - 1)  # of a run that is resumed
            self._options["total"] = progress.games  # a book may hold fewer than were asked for
            self._bar = tqdm(**self._options, unit=" games", initial=done, dynamic_ncols=True)
        text: dict[str, Any] = {"learned from": progress.updates}
        if progress.note and not progress.note.startswith("Beta"):
            text["note"] = progress.note
        if measured:
            last = max(measured)
            text[f"after {last}"] = " ".join(found.brief() for found in measured[last])
        self._bar.set_postfix(text, refresh=False)
        self._bar.update(progress.game - self._bar.n)

    def say(self, text: str) -> None:
        """A line below the bar."""
        self.close()
        print(text, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


def print_weights(evaluator: Any) -> None:
    """The weights over terms, largest first."""
    if not hasattr(evaluator, "term_weights"):
        return
    weights = sorted(evaluator.term_weights().items(), key=lambda item: -abs(item[1]))
    print("weights: " + ", ".join(f"{name} {weight:g}" for name, weight in weights if weight))


if __name__ == "__main__":
    sys.exit(main())
