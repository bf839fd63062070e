"""`check`: whether a learner keeps the contract of `learner.frame`, by short runs of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import numpy as np
from sklearn.base import clone

from games.errors import ContractError
from learner.frame import Learner, Progress
from play.workers import Workers
from play.workers.transport import pack, unpack
from search.evaluators.samples import sample_positions

__all__ = ["Trial", "check"]

#: Positions at which evaluators are compared.
POSITIONS = 20
PLAIN = (int, float, str, bool, list, tuple, dict, type(None))


class Trial:
    """A learner that has learned: its reports, and its checkpoints and files after each.

    learner: the learner, new; it is fitted.
    start: the evaluator to start from.
    held: contents of files, by name, that its store holds at the beginning.
    resume: a checkpoint as text.

    The store of a learner that has one is a folder of the trial's own, which is gone afterwards.
    """

    def __init__(
        self,
        learner: Learner,
        start: Any = None,
        *,
        held: Mapping[str, bytes] | None = None,
        resume: str | None = None,
    ) -> None:
        self.learner: Any = learner
        self.reports: list[Progress] = []
        self.states: dict[int, str] = {}
        self.files: dict[int, dict[str, bytes]] = {}
        with TemporaryDirectory() as name:
            self._folder = Path(name)
            for file, data in (held or {}).items():
                (self._folder / file).write_bytes(data)
            if "store" in learner.get_params(deep=False):
                learner.set_params(store=self._folder)
            state = None if resume is None else json.loads(resume)
            self.itself = learner.fit(start, resume=state, watch=self._watch) is learner
            self.end = self._state(), self._held()

    def _state(self) -> str:
        """Returns the checkpoint as text, as in a file."""
        return json.dumps(self.learner.checkpoint())

    def _held(self) -> dict[str, bytes]:
        paths = sorted(self._folder.rglob("*"))
        return {
            str(path.relative_to(self._folder)): path.read_bytes()
            for path in paths
            if path.is_file()
        }

    def _watch(self, progress: Progress) -> None:
        self.reports.append(progress)
        self.states[progress.game] = self._state()
        self.files[progress.game] = self._held()

    def bits(self) -> dict[str, Any]:
        """Returns all results of the learner: files of evaluators, records, and plain values."""
        state: dict[str, Any] = {}
        with TemporaryDirectory() as name:
            results = {**vars(self.learner), "evaluator_": self.learner.evaluator_}
            for key, value in results.items():
                if not key.endswith("_") or key.startswith("_"):
                    continue
                if hasattr(value, "records"):
                    state[key] = value.records()
                elif hasattr(value, "save") and hasattr(value, "suffix"):
                    path = Path(name) / f"{key}{value.suffix}"
                    value.save(path)
                    state[key] = path.read_bytes()
                elif isinstance(value, PLAIN):
                    state[key] = repr(value)
        return state


def check(
    learner: Learner,
    game: Any = None,
    *,
    start: Any = None,
    resumed: Any = None,
    same: Iterable[Mapping[str, Any]] = (),
    others: Iterable[Mapping[str, Any]] = (),
) -> Trial:
    """Run a learner again and again, and compare the runs; returns the first.

    learner: the learner, with options for a run of a moment and at least two reports; it is not
        changed.
    game: the game to learn (default: that of its options).
    start: the evaluator to start from.
    resumed: the evaluator that a resumed run is given.
    same: options that do not change what it learns, in addition to any number of `workers`.
    others: options whose checkpoints it refuses, in addition to another seed.

    The rules: the constructor stores its options and does nothing else. A run reports on its games
    in order, and ends with all of them. The same seed gives the same bits: states, files of a
    store, evaluators and other results. A run that is resumed from any of its checkpoints ends with
    the same bits, and so does one that is resumed before its first game or after its last. Copies,
    and evaluators that were saved, value positions alike. Checkpoints of other options are refused.

    Raises ContractError at the first rule that is broken. An exception of the learner itself passes
    through.
    """
    given = {} if game is None else {"game": game}

    def made(**options: Any) -> Any:
        return clone(learner).set_params(**given, **options)

    new = made()
    stored = new.get_params(deep=False)
    if vars(new) != stored:
        _fail("the constructor stores its options and nothing else", stored, vars(new))
    whole = Trial(made(), start)
    _check_reports(whole)
    positions = sample_positions(whole.learner.evaluator_.game, POSITIONS)
    values = np.asarray(whole.learner.evaluator_.values(positions))
    if not np.isfinite(values).all() or not values.any():
        _fail("something is learned", "finite values, not all 0", values.tolist())
    ways = [dict(options) for options in same]
    if "workers" in learner.get_params(deep=False):
        ways.append({"workers": Workers("threads", 2)})
    for options in ways or [{}]:
        rule = f"the same seed gives the same bits{f' with {options}' if options else ''}"
        _compare(whole, Trial(made(**options), start), rule)
    _check_resumed(whole, made, resumed)
    before = made()
    if "store" not in before.get_params(deep=False):
        before.prepare(start)
        begun = json.dumps(before.checkpoint())
        again = Trial(made(), resumed, resume=begun)
        _compare(whole, again, "a run resumes before its first game")
    for option in [{"seed": learner.seed + 70}, *others]:
        _check_refused(made(**option), whole, f"is refused by a learner with {option}", resumed)
    copied = np.asarray(unpack(pack(whole.learner)).evaluator_.values(positions))
    if copied.tolist() != values.tolist():
        _fail("copies value positions alike", values.tolist(), copied)
    return whole


def _fail(rule: str, expected: Any, found: Any) -> NoReturn:
    raise ContractError(f"{rule}: expected {str(expected)[:300]}, found {str(found)[:300]}")


def _check_reports(whole: Trial) -> None:
    learner, games = whole.learner, [report.game for report in whole.reports]
    if not whole.itself:
        _fail("fit returns the learner", learner, "another")
    if len(games) < 2 or games != sorted(set(games)):
        _fail("a run reports on its games in order", "at least two reports", games)
    totals = {report.games for report in whole.reports}
    if totals != {learner.games} or games[-1] != learner.games:
        _fail("a run reports to the last of its games", learner.games, (totals, games))
    last = whole.reports[-1]
    counts = learner.games_played_, learner.updates_
    if counts != (last.game, last.updates) or last.updates < 1:
        _fail("the last report is that of the end", (last.game, last.updates), counts)
    if len(set(whole.states.values())) < len(games):
        _fail("a run continues from report to report", f"{len(games)} states", "equal ones")


def _check_resumed(whole: Trial, made: Callable[..., Any], resumed: Any) -> None:
    games = [report.game for report in whole.reports]
    for number, game in enumerate(games):
        # files as at the checkpoint, and files as a run killed after it leaves them
        for later in games[-2:] if number == len(games) - 2 else [game]:
            again = Trial(made(), resumed, held=whole.files[later], resume=whole.states[game])
            _compare(whole, again, f"a run resumes after game {game} to the same bits")
            after = [report.game for report in again.reports]
            if after != games[number + 1 :]:
                _fail("a resumed run reports on the rest", games[number + 1 :], after)


def _compare(whole: Trial, other: Trial, rule: str) -> None:
    for game, state in other.states.items():
        if state != whole.states.get(game):
            _fail(f"{rule} (state after game {game})", whole.states.get(game), state)
    for name, mine, its in zip(("checkpoint", "files"), whole.end, other.end, strict=True):
        if mine != its:
            _fail(f"{rule} ({name} at the end)", mine, its)
    mine, its = whole.bits(), other.bits()
    for name in mine:
        if mine[name] != its.get(name):
            _fail(f"{rule} ({name})", mine[name], its.get(name))


def _check_refused(other: Learner, whole: Trial, what: str, resumed: Any) -> None:
    game = whole.reports[0].game
    try:
        Trial(other, resumed, held=whole.files[game], resume=whole.states[game])
    except ValueError as error:
        if str(error).startswith("expected a checkpoint of the same learner"):
            return
        raise
    _fail(f"a checkpoint {what}", "ValueError", "none")
