"""`Tune`: a tune in a folder, by matches of pairs, with a sequential test at its end.

It leaves in its folder:

    checkpoint.json   what resuming goes on from (`learner.run.folder`)
    path.csv          one line an iteration: the lead of the first setting, and where the path is
    path.png          the same as a picture
    test.journal      the games of the test
    tuned.json        the evaluator, if its weights were tuned
    report.json, provenance.json   what came out, and the code of each session

The test plays other openings than the path: the second, the fourth and so on in the seed's order.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import astuple
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

from games.whole_files import write_figure
from learner.reports.plots import new_figure
from learner.run.folder import CHECKPOINT, Pace, RunError, RunFolder, csv_row
from learner.tuning.spsa import Spsa
from learner.tuning.tunable import Tunable
from play.commands.contest import Contest
from play.match.driver import FAILURES
from play.match.journal import Journal, difference
from play.match.report import Match
from play.workers import Workers

__all__ = ["MOST_FAILURES", "Tune", "uninterrupted"]

#: Pairs in a row that may fail.
MOST_FAILURES = 10
LOG, STEP = "path.csv", "step.journal"


class Tune:
    """A tune in a folder.

    contest: how games are played, prepared, with the test and its greatest number of games.
    tunable: the player.
    folder: where everything is written.
    iterations: steps of the path.
    pairs: pairs of games a step.
    """

    def __init__(
        self, contest: Contest, tunable: Tunable, folder: Path, *, iterations: int, pairs: int
    ) -> None:
        self.contest, self.tunable, self.pairs = contest, tunable, pairs
        self.evaluator_ = tunable.evaluator_
        self.start = {one.name: one.start for one in tunable.parameters}
        self._start = tunable.player(self.start, "start")
        self.spsa = Spsa(tunable.parameters, iterations, contest.options.seed)
        self.folder = RunFolder(folder, {LOG: csv_row("iteration", "lead", *self.start)})
        asked = {
            **contest.head([self._start]),
            "player": tunable.text,
            "parameters": [list(astuple(one)) for one in tunable.parameters],
            "iterations": iterations,
            "pairs": pairs,
            "games": contest.options.games,
        }
        #: everything that decides the path and the test, as files have it
        self.asked = json.loads(json.dumps(asked))

    def run(
        self,
        workers: Workers,
        *,
        resume: bool = False,
        changed: bool = False,
        say: Callable[[str], None] = lambda text: None,
        progress: Callable[[Spsa], None] = lambda spsa: None,
    ) -> None:
        """Follow the path to its end.

        resume, changed, say: as in `RunFolder.open`.
        progress: called after each step.

        Ctrl-C is passed on. Raises RunError for a folder that cannot be used or is of another tune,
        LockedError, ChangedError, and ChildProcessError as `uninterrupted` does.
        """
        folder, spsa, game = self.folder, self.spsa, self.contest.game
        folder.expect(*[CHECKPOINT] * resume)
        with folder.alone():
            if resume:
                self._take(folder.load())
            folder.open(game, self, None, resume=resume, changed=changed, say=say)
            (folder.path / STEP).unlink(missing_ok=True)  # of a step after the checkpoint
            pace = Pace()
            every = cycle(islice(self._openings(), 0, None, 2))
            openings = islice(every, spsa.done * self.pairs, None)
            while True:
                if spsa.done in (0, spsa.iterations) or pace.is_due():
                    with pace.writing():
                        folder.save({"asked": self.asked, **spsa.state()})
                if spsa.done == spsa.iterations:
                    break
                lead = self._lead([*islice(openings, self.pairs)], workers)
                spsa.tell(lead)
                folder.log(LOG, csv_row(spsa.done, lead, *spsa.theta.tolist()))
                progress(spsa)
            self._draw()

    def test(
        self, workers: Workers, progress: Callable[[Match], None] | None = None
    ) -> dict[str, Any]:
        """Test the end of the path against the start; returns the report, also in the folder.

        progress: called with the match after each pair.
        """
        tuned, sprt = self.spsa.tuned(), self.contest.sprt
        report: dict[str, Any]
        report = {"start": self.start, "tuned": tuned, "limits": str(self.contest.limits)}
        with self.folder.alone():
            report |= {"player": self.tunable.written(tuned, self.folder.path), "verdict": ""}
            if tuned != self.start and sprt is not None:
                player, path = self.tunable.player(tuned, "tuned"), self.folder.path
                lines = [*islice(self._openings(), 1, 2 * self.contest.options.games, 2)]
                match = uninterrupted(
                    lambda journal: self.contest.match(
                        player, self._start, workers=workers, openings=lines, progress=progress,
                        journal=journal,
                    ),
                    path / "test.journal", {**self.asked, "tuned": tuned},
                )  # fmt: skip
                report |= {"verdict": match.verdict, "games": match.games}
                report["test"] = sprt.text(match.summary().tally)
            self.folder.write_report(report)
        return report

    def _take(self, saved: dict[str, Any]) -> None:
        other = difference(saved.get("asked", {}), self.asked)
        if other:
            raise RunError(f"{self.folder.path}: expected the tune that was stopped, found {other}")
        try:
            self.spsa.take(saved)
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{self.folder.path}: expected a checkpoint of a tune, found {error!r}"
            ) from None

    def _openings(self) -> Iterator[Any]:
        return iter(self.contest.openings or ())

    def _lead(self, lines: list[Any], workers: Workers) -> float:
        """Returns the mean of wins less losses a game of the first setting against the second."""
        settings = zip(self.spsa.ask(), ("first", "second"), strict=True)
        players = [self.tunable.player(*setting) for setting in settings]
        path = self.folder.path / STEP
        match = uninterrupted(
            lambda journal: self.contest.match(
                *players, workers=workers, openings=lines, games=2 * len(lines), sprt=None,
                journal=journal,
            ),
            path, {"step": self.spsa.done},
        )  # fmt: skip
        path.unlink()
        points = [*chain.from_iterable(match.scores)]
        return 2.0 * sum(points) / len(points) - 1.0 if points else 0.0

    def _draw(self) -> None:
        """Draw path.csv as path.png: each number within its bounds."""
        with open(self.folder.path / LOG, newline="", encoding="utf-8") as file:
            rows = [*csv.DictReader(file)]
        figure, axes = new_figure("Path of the tune")
        for one in self.tunable.parameters:
            values = [one.start, *(float(row[one.name]) for row in rows)]
            shares = [(value - one.low) / (one.high - one.low) for value in values]
            axes.plot(shares, label=f"{one.name} ({one.low:g} to {one.high:g})")
        axes.set(xlabel="iterations", ylabel="place within the bounds", ylim=(0, 1))
        axes.legend(frameon=False)
        write_figure(self.folder.path / "path.png", figure)


def uninterrupted(play: Callable[[Journal], Match], path: Path, head: dict[str, Any]) -> Match:
    """Returns a match whose pairs are played again if an external engine fails in them.

    play: plays the match with a journal.
    path, head: the journal's, as in `Journal.open`.

    Raises ChildProcessError if `MOST_FAILURES` pairs in a row failed, and KeyboardInterrupt if the
    match was interrupted.
    """
    failures = counted = 0
    while failures < MOST_FAILURES:
        try:
            with Journal.open(path, head, resume=None) as journal:
                match = play(journal)
            failure, units = match.failure, len(match.units) + match.repeated
        except FAILURES as error:
            failure, units = str(error), 0
        else:
            if match.interrupted:
                raise KeyboardInterrupt
            if not failure:
                return match
        failures = 1 if units > counted else failures + 1
        counted = max(units, counted)
    raise ChildProcessError(f"{failures} pairs in a row failed, the last: {failure}")
