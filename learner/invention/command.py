"""`plysmith learner invent`: from stored positions to a file of terms that people can read."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from games.contract import DiceGame, Game
from games.extras import Extra, extend
from games.problem import Problem
from learner.options import Range
from play.commands.options import check_writable, refuse

if TYPE_CHECKING:
    from learner.invention.labels import Labels

__all__ = ["add_options"]


def add_options(command: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = command.add_argument
    add("game", help="checkers, or another game that declares its cells")
    add("source", help="stored positions, such as RUN/positions, whose values terms explain;"
        " with dice an evaluator, whose choices they explain; for a puzzle a heuristic, whose"
        " solutions they explain")  # fmt: skip
    add("--games", type=int, metavar="N",
        help="games with dice, or positions of a puzzle to solve (default 2000)")  # fmt: skip
    add("--terms", type=int, default=20, metavar="N", help="maximum number of terms (default 20)")
    add("--output", type=Path, default=Path("invented.py"), metavar="FILE",
        help="new file to write (default invented.py), with the weights in .json")  # fmt: skip
    add("--from", dest="base", metavar="SET",
        help="added to the terms of this feature set of the game, such as classic")  # fmt: skip
    add("--seed", type=int, default=0, help="seed of the games held out and of luck (default 0)")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    import numpy as np

    import games
    from games.features.term_file import feature_set_of, named, term_file
    from learner.game_learner import feature_set
    from learner.invention.labels import cells_of
    from learner.invention.term_search import TermSearch, bare_pieces
    from programs.waiting import WorkBar
    from programs.whole_files import write_atomically
    from search import LinearEvaluator
    from search.evaluators.linear import MOST_TERMS

    Range(1, MOST_TERMS).check("--terms", options.terms)
    Range(0).check("--seed", options.seed)
    game = games.load(options.game)
    cells = cells_of(game)
    base = options.base and feature_set_of(cells, {}, feature_set(game, options.base))
    if options.output.suffix != ".py":
        raise ValueError(f"--output: expected a file that ends in .py, found {options.output}")
    for file in (options.output, options.output.with_suffix(".json")):
        if file.exists():
            raise ValueError(f"--output: expected a new file, found {file}, which may be edited")
        check_writable("--output", file)
    kind = LabelsOf.of(game)
    labels = kind.read(game, options)
    bare = [] if base else bare_pieces(cells, options.terms)
    search = TermSearch(cells, labels, bare, base=base, seed=options.seed)
    before = search.loss
    with WorkBar(options.terms, "terms") as bar:

        def watch(term: Any, kept: bool) -> None:
            bar.note = f"{'' if kept else 'not '}{term.text(cells)}"
            bar.update(len(search.terms) - bar.done)

        search.run(options.terms, watch)
    if {*search.terms} <= {*bare}:
        raise ValueError(
            f"none of {len(search.pool.terms)} candidates explains more than luck; nothing"
            " is written"
        )
    features = feature_set_of(cells, named(cells, search.terms), base)
    evaluator = LinearEvaluator(
        game, features, kind.sign * search.weights, name=options.output.stem
    )
    evaluator.provenance = {
        "learner": "invent", "seed": options.seed,
        "positions": len(labels.positions), "date": date.today().isoformat(),
    }  # fmt: skip
    text = term_file(game, cells, options.game, evaluator.term_weights(), features)
    write_atomically(options.output, text)
    evaluator.save(options.output.with_suffix(".json"))
    for name, weight in evaluator.term_weights().items():
        term = features.cell_terms.get(name)
        print(f"{weight:+6.3f}  {term.text(cells) if term else name}")
    number = len(np.unique(labels.games[labels.held_out]))
    print(
        f"loss on {labels.held_out.sum()} positions of {number} games held out:"
        f" {before:.5f} before, {search.loss:.5f} with {len(search.terms)} invented terms"
    )
    print(f"written: {options.output} and {options.output.with_suffix('.json')}")
    return 0


class LabelsOf(Extra):
    """The labels that terms explain in a kind of game; an extra of its base class."""

    #: The sign of the weights, because evaluators of problems are costs.
    sign = 1.0

    def read(self, game: Any, options: argparse.Namespace) -> Labels:
        """Returns the labels: here the values of stored positions."""
        from learner.invention.labels import labels_of
        from learner.positions.store import PositionStore

        refuse(options, ("games",), "a game with dice, or a puzzle", game)
        if not Path(options.source).is_dir():
            raise FileNotFoundError(f"{options.source}: expected a folder of positions")
        rows = PositionStore(Path(options.source), game).load()
        return labels_of(game, rows, blend=0.0 if rows.value.any() else 1.0, seed=options.seed)


class LabelsWithDice(LabelsOf):
    """The decisions of an evaluator, which plays games with dice."""

    unit, explain = "games", "decisions"

    def read(self, game: Any, options: argparse.Namespace) -> Labels:
        from learner.invention import labels
        from programs.waiting import WorkBar
        from search import as_evaluator

        count = 2000 if options.games is None else options.games
        Range(1).check("--games", count)
        evaluator = as_evaluator(game, options.source)
        explain: Any = getattr(labels, self.explain)
        with WorkBar(count, self.unit) as bar:
            made: Labels = explain(game, evaluator, count, seed=options.seed, watch=bar.update)
            return made


class LabelsOfProblems(LabelsWithDice):
    """The distances of positions that a heuristic solves."""

    unit, explain, sign = "positions", "distances", -1.0


extend(Game, LabelsOf())
extend(DiceGame, LabelsWithDice())
extend(Problem, LabelsOfProblems())
