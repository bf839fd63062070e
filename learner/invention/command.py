"""`plysmith learner invent`: from a game's board to a file of terms that people can read."""

from __future__ import annotations

import argparse
import json
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import games
from games.contract import DiceGame, Game
from games.feature_file import load_features
from games.features import FeatureSet
from games.problem import refuse_problem
from games.whole_files import write_atomically
from learner.fit.logistic import measure
from learner.invention.labels import Labels, labels_of, play_games, read_games
from learner.invention.term_file import INVENTED, term_file
from learner.invention.term_search import TermSearch
from learner.positions.shards import Rows
from learner.positions.store import PositionStore, begin_or_go_on
from play.commands.options import check_writable
from search import LinearEvaluator, as_evaluator
from search.evaluators.samples import value_mark

__all__ = ["add_options", "check_cells"]

MOST_TERMS = 1000
#: Positions of random play on which a game's cells are compared with its board.
TRIED = 200


def add_options(command: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = command.add_argument
    add("game", help="checkers, or another game that declares its cells")
    add("--terms", type=int, default=20, metavar="N", help="at most this many (default 20)")
    add("--from", dest="base", default="", metavar="SET",
        help="a feature set of the game that they join (default: none)")  # fmt: skip
    add("--evaluator", metavar="E",
        help="explain the searched values of its games (default: the shipped one)")  # fmt: skip
    add("--positions", nargs="+", type=Path, metavar="PATH",
        help="in place of games by an evaluator: the values in a folder of stored positions, or"
             " the results of files of games")  # fmt: skip
    add("--games", type=int, default=3000, metavar="N", help="of self-play (default 3000)")
    add("--nodes", type=int, default=500, metavar="N",
        help="positions searched for each move (default 500)")  # fmt: skip
    add("--store", type=Path, metavar="FOLDER",
        help="keep games and search here; the same command goes on with what it holds")  # fmt: skip
    add("--output", type=Path, default=Path(f"{INVENTED}.py"), metavar="FILE",
        help=f"new file to write (default {INVENTED}.py), beside the weights in .json")  # fmt: skip
    add("--seed", type=int, default=0, help="of openings, games held out and luck (default 0)")
    add("--threads", type=int, default=2, metavar="N", help="of self-play (default 2)")
    command.set_defaults(run=_run)


def check_cells(game: Game) -> None:
    """Raise ValueError unless a game declares cells that hold what its board shows."""
    if game.board is None:
        raise ValueError(f"expected a game with a board, found {game.name}, which has none")
    if isinstance(game, DiceGame) or game.players != 2:
        raise ValueError(f"expected a game for two sides without dice, found {game.name}")
    if game.cells is None:
        raise ValueError(f"expected a game that declares its cells, found {game.name}")
    random = np.random.default_rng(0)
    position = game.start()
    for _ in range(TRIED):
        moves = game.legal_moves(position)
        if not moves:
            position = game.start()
            continue
        shown, held = game.cells.shown(game, position), game.cells.held(position)
        if shown != held:
            square = min(s for s in {*shown, *held} if shown.get(s) != held.get(s))
            raise ValueError(
                f"cells: expected {shown.get(square, 'nothing')} as the board shows on square"
                f" {square}, found {held.get(square, 'nothing')} in"
                f" {game.position_text(position)}"
            )
        position = game.play(position, moves[int(random.integers(len(moves)))])


def _run(options: argparse.Namespace) -> int:
    game, base = _checked(options)
    cells = game.cells
    assert cells is not None
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.store or Path(temporary)
        rows = _rows(options, game, folder)
        labels = labels_of(game, rows, blend=0.0 if rows.value.any() else 1.0, seed=options.seed)
        given = None if base is None else measure(base, labels.positions)
        search = TermSearch(cells, labels, base=given, seed=options.seed)
        before = search.loss
        file = folder / "search.json"
        if file.is_file():
            try:
                search.go_on(json.loads(file.read_text(encoding="utf-8")))
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from None
        with tqdm(total=options.terms, unit=" terms", dynamic_ncols=True) as bar:
            bar.update(len(search.terms))

            def watch(term: Any, kept: bool) -> None:
                text = term.text(cells)
                bar.set_postfix_str(text if kept else f"not {text}", refresh=False)
                bar.update(len(search.terms) - bar.n)
                write_atomically(file, json.dumps(search.state()) + "\n")

            search.run(options.terms, watch)
    if not search.terms:
        raise ValueError(
            "expected terms that explain more than luck, found none among"
            f" {search.tried} candidates; nothing is written"
        )
    return _write(options, game, base, search, labels, before)


def _checked(options: argparse.Namespace) -> tuple[Game, FeatureSet | None]:
    """Returns the game and the set that terms join; ValueError for bad options."""
    for name, most in (("terms", MOST_TERMS), ("games", 1 << 20), ("nodes", 1 << 30)):
        if not 1 <= getattr(options, name) <= most:
            raise ValueError(f"--{name}: expected 1 to {most}, found {getattr(options, name)}")
    for name, least in (("seed", 0), ("threads", 1)):
        if getattr(options, name) < least:
            raise ValueError(f"--{name}: expected at least {least}, found {getattr(options, name)}")
    game = games.load(options.game)
    refuse_problem(game)
    check_cells(game)
    assert game.cells is not None
    if options.base and options.base not in game.features:
        raise ValueError(
            f"--from: expected one of {', '.join(game.features)}, found {options.base!r:.60}"
        )
    base = game.features.get(options.base)
    if base is not None and not (base.differences and base.swap is game.cells.swap):
        raise ValueError(f"--from: expected a set of differences of both sides, found {base.name}")
    if options.positions is not None and options.evaluator is not None:
        raise ValueError("--positions: expected no --evaluator as well, found both")
    if options.output.suffix != ".py":
        raise ValueError(f"--output: expected a file that ends in .py, found {options.output}")
    for file in (options.output, options.output.with_suffix(".json")):
        if file.exists():
            raise ValueError(f"--output: expected a new file, found {file}, which may be edited")
        check_writable("--output", file)
    return game, base


def _rows(options: argparse.Namespace, game: Game, folder: Path) -> Rows:
    """Returns the stored positions that the options name, or those of games that it plays."""
    about: dict[str, Any] = {"game": game.name, "from": options.base, "seed": options.seed}
    if options.positions is not None:
        stored = [path for path in options.positions if path.is_dir()]
        if stored and len(options.positions) > 1:
            raise ValueError("--positions: expected one folder or files of games, found both")
        if stored:
            rows = PositionStore(stored[0], game).load()
        else:
            rows = read_games(game, options.positions)
        begin_or_go_on(folder, {**about, "positions": len(rows)})
        return rows
    name = options.evaluator or game.shipped or game.reference
    if not name:
        raise ValueError(f"--evaluator: expected one, for {game.name} names none; found none")
    evaluator = as_evaluator(game, name)
    about |= {"games": options.games, "nodes": options.nodes}
    begin_or_go_on(folder, {**about, "evaluator": value_mark(game, evaluator)})
    with (
        tqdm(total=options.games, unit=" games", dynamic_ncols=True) as bar,
        PositionStore(folder, game) as store,
    ):
        play_games(
            store, evaluator, games=options.games, nodes=options.nodes, seed=options.seed,
            threads=options.threads, progress=bar.update,
        )  # fmt: skip
    return store.load()


def _write(
    options: argparse.Namespace,
    game: Game,
    base: FeatureSet | None,
    search: TermSearch,
    labels: Labels,
    before: float,
) -> int:
    """Write the terms and their weights, and print them; returns the exit status."""
    assert game.cells is not None
    text, weights = term_file(game, options.game, search.found, options.base)
    if base is not None:
        weights = {**dict(zip(base.names, search.base_weights, strict=True)), **weights}
    with tempfile.TemporaryDirectory() as temporary:
        trial = Path(temporary) / options.output.name
        trial.write_text(text, encoding="utf-8")
        features = load_features(trial, game)
    evaluator = LinearEvaluator(game, features, weights, name=options.output.stem)
    evaluator.provenance = {
        "learner": "invent", "seed": options.seed, "from": options.base,
        "positions": len(labels.positions), "date": date.today().isoformat(),
    }  # fmt: skip
    write_atomically(options.output, text)
    evaluator.save(options.output.with_suffix(".json"))
    print("weight   gain  term (gain: of the held-out loss, in thousandths, when it was found)")
    for found in search.found:
        print(f"{found.weight:+6.3f} {found.gain:6.3f}  {found.term.text(game.cells)}")
    number = len(np.unique(labels.games[labels.held_out]))
    print(
        f"loss on {labels.held_out.sum()} positions of {number} games held out:"
        f" {before:.5f} before, {search.loss:.5f} with {len(search.terms)} invented terms"
    )
    print(f"written: {options.output} and {options.output.with_suffix('.json')}")
    return 0
