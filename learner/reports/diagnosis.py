"""Reports on the weights of a finished run: which terms matter (`learner.fit.selection`).

`terms.txt` is made for all weights over terms in games for two. Positions are
those that the learner stored, or those of some games that the evaluator plays for the report. All
of it takes some seconds and depends only on the run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from games.contract import Game
from games.whole_files import write_atomically
from learner.books.book_study import BookStudy
from learner.fit.selection import report_text, select_terms
from learner.game_learner import MAN, GameLearner
from learner.positions.filters import Filter, Games, distinct
from learner.positions.shards import Rows
from learner.rounds.batch import BatchFit
from learner.self_play import Task, game_rows, games_of
from search import Evaluator, LinearEvaluator
from search.evaluators.network import NetworkEvaluator

__all__ = ["diagnose", "fixed_terms", "remarks", "rows_of_games"]

SEED, PLIES = 5_000_011, 5
#: Games that an evaluator plays where nothing was stored: no more, and no deeper.
MOST_GAMES, DEEPEST, MOST_NODES, MOST_PLIES = 300, 5, 2_000, 200
#: Most rows of a report, so that it takes seconds.
MOST_ROWS = 150_000


def remarks(learner: GameLearner, evaluator: Evaluator) -> list[str]:
    """Returns further remarks on a finished run, in lines for people.

    They are, for a network, the agreement of native code with torch; for a study of a book, the
    evaluator's agreement with the games held out, and the errors in the files.
    """
    lines = []
    if isinstance(evaluator, NetworkEvaluator):
        from learner.models.convert import agreement_text

        lines.append(agreement_text(evaluator))
    if isinstance(learner, BookStudy):
        if learner.agreement_ is not None:
            lines.append(f"on the games held out: {learner.agreement_.text()}")
        lines.append(learner.book_.text())
    return lines


def diagnose(folder: Any, learner: GameLearner, evaluator: Evaluator) -> str:
    """Write the reports on an evaluator into a folder; returns why there is none, or "".

    There are none for evaluators without terms, for games whose positions cannot be stored, and if
    the games played are uninformative, for instance because they were too few.
    """
    if not isinstance(evaluator, LinearEvaluator) or learner.game_.players > 2:
        return ""  # of games for many, rows have no values of searches
    try:
        _report(Path(folder), learner, evaluator)
    except ValueError as error:
        return str(error)
    return ""


def _report(path: Path, learner: GameLearner, evaluator: LinearEvaluator) -> None:
    game, fixed = learner.game_, fixed_terms(learner, evaluator)
    if isinstance(learner, BatchFit):
        rows = _stored(learner)
    else:
        rows = rows_of_games(
            game,
            evaluator,
            games=min(MOST_GAMES, learner.games),
            depth=None if learner.depth is None else min(learner.depth, DEEPEST),
            nodes=None if learner.nodes is None else min(learner.nodes, MOST_NODES),
        )
    quiet = distinct(game, Filter(quiet=True, undecided=True).apply(game, rows))
    reports = select_terms(evaluator, quiet, fixed=list(fixed))
    write_atomically(path / "terms.txt", report_text(reports) + "\n")


def fixed_terms(learner: GameLearner, evaluator: LinearEvaluator) -> dict[str, float]:
    """Returns the terms that a learner never learns, with their weights."""
    fixed = getattr(learner, "fixed", None)
    if fixed is None:
        fixed = getattr(learner, "usual_fixed", MAN)
    return {name: weight for name, weight in fixed.items() if name in evaluator.features.terms}


def rows_of_games(
    game: Game, evaluator: Evaluator, *, games: int, depth: int | None, nodes: int | None = None
) -> Rows:
    """Returns the positions of games that an evaluator plays against itself, as stored rows.

    Raises ValueError for a game whose positions are not tuples of integers of one length.
    """
    task = Task(game, evaluator, None, depth, nodes, MOST_PLIES, True)
    start = game.start()
    if not (isinstance(start, tuple) and all(isinstance(x, int) for x in start)):
        raise ValueError(f"expected positions that are tuples of integers, found {start!r}")
    played = list(games_of(task, games=games, plies=PLIES, seed=SEED))
    try:
        parts = [game_rows(entry, number) for number, entry in enumerate(played)]
    except ValueError as error:  # some are longer than others
        raise ValueError(f"expected positions of {len(start)} integers: {error}") from None
    return Rows.concatenate(parts, len(start))


def _stored(learner: BatchFit) -> Rows:
    """Returns positions of the rounds learned from, at most those of some games."""
    store = learner.store_
    share = min(1.0, MOST_ROWS / max(1, len(store)))
    sample = Games(0.0, share, learner.seed)
    return store.load(keep=Filter(first_game=learner.first_kept(), games=sample))
