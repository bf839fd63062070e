"""A tune in a folder: a path by matches of pairs, and a sequential test at its end.

It leaves in its folder:

    games.journal   all games, from which it continues (`play.matches.journal`)
    path.csv        one line an iteration: the lead of the first setting, and where the path is
    path.png        the same as a picture
    tuned.json      the evaluator, if its weights were tuned
    report.json     what came out

The test plays other openings than the path: the second, the fourth and so on in the seed's order.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import asdict
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

from learner.reports.plots import new_figure
from learner.tuning.spsa import Spsa
from learner.tuning.tunable import Tunable
from play.commands.contest import Contest
from play.matches.driver import FAILURES
from play.matches.journal import MatchJournal
from play.matches.report import Match
from play.players.player import Player
from play.workers import Workers
from programs.whole_files import naming, write_atomically, write_figure

__all__ = ["MOST_FAILURES", "Tune"]

#: Pairs in a row that may fail.
MOST_FAILURES = 10


class Tune:
    """A tune in a folder.

    contest: how games are played, prepared, with the test and its greatest number of games.
    tunable: the player.
    folder: where everything is written.
    iterations: steps of the path.
    pairs: pairs of games a step.
    workers: those that play.
    say: gets a line for people about each pair that failed.
    """

    def __init__(
        self,
        contest: Contest,
        tunable: Tunable,
        folder: Path,
        *,
        iterations: int,
        pairs: int,
        workers: Workers,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.contest, self.tunable, self.folder = contest, tunable, folder
        self.pairs, self._workers, self._say = pairs, workers, say
        self.start = {one.name: one.start for one in tunable.parameters}
        self._start = tunable.player(self.start, "start")
        self.spsa = Spsa(tunable.parameters, iterations, contest.options.seed)

    def run(
        self,
        *,
        resume: bool = False,
        progress: Callable[[Spsa], None] = lambda spsa: None,
        tested: Callable[[Match], None] | None = None,
    ) -> dict[str, Any]:
        """Follow the path to its end, and test it against the start; returns the report.

        resume: whether to continue a tune that was stopped: its games are not played again.
        progress: called after each step.
        tested: called with the match of the test after each pair.

        Passes KeyboardInterrupt on. Raises the errors of `MatchJournal.open`, and ChildProcessError
        if `MOST_FAILURES` pairs in a row failed.
        """
        head = {
            **self.contest.head([self._start]),
            "player": self.tunable.text,
            "parameters": [asdict(one) for one in self.tunable.parameters],
            "iterations": self.spsa.iterations,
            "pairs": self.pairs,
        }
        with MatchJournal.open(self.folder / "games.journal", head, resume=resume) as journal:
            self._draw(self._follow(journal, progress))
            report = self._test(journal, tested)
        write_atomically(self.folder / "report.json", json.dumps(report, indent=1) + "\n")
        return report

    def _follow(
        self, journal: MatchJournal, progress: Callable[[Spsa], None]
    ) -> list[dict[str, float]]:
        """Make all steps; returns the lines of path.csv."""
        spsa, lines = self.spsa, list[dict[str, float]]()
        openings = cycle(islice(self.contest.openings or (), 0, None, 2))
        path = self.folder / "path.csv"
        with naming(path), path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, ["iteration", "lead", *self.start], lineterminator="\n")
            table.writeheader()
            while spsa.done < spsa.iterations:
                played = [*islice(openings, self.pairs)]
                players = [
                    self.tunable.player(setting, f"{name} of step {spsa.done + 1}")
                    for setting, name in zip(spsa.ask(), ("first", "second"), strict=True)
                ]
                games = 2 * len(played)
                match = self._match(journal, players, openings=played, games=games, sprt=None)
                points = [*chain.from_iterable(match.scores)]
                lead = 2.0 * sum(points) / len(points) - 1.0
                spsa.tell(lead)
                where = dict(zip(self.start, spsa.theta.tolist(), strict=True))
                lines.append({"iteration": spsa.done, "lead": lead, **where})
                table.writerow(lines[-1])
                file.flush()
                progress(spsa)
        return lines

    def _draw(self, lines: list[dict[str, float]]) -> None:
        """Draw the path as path.png: each number within its bounds."""
        figure, axes = new_figure("Path of the tune")
        for one in self.tunable.parameters:
            values = [one.start, *(line[one.name] for line in lines)]
            shares = [(value - one.low) / (one.high - one.low) for value in values]
            axes.plot(shares, label=f"{one.name} ({one.low:g} to {one.high:g})")
        axes.set(xlabel="iterations", ylabel="place within the bounds", ylim=(0, 1))
        axes.legend(frameon=False)
        write_figure(self.folder / "path.png", figure)

    def _test(
        self, journal: MatchJournal, progress: Callable[[Match], None] | None
    ) -> dict[str, Any]:
        """Returns the report; plays no game if the path ended where it began."""
        tuned, contest = self.spsa.tuned(), self.contest
        report: dict[str, Any]
        report = {"start": self.start, "tuned": tuned, "limits": str(contest.limits)}
        report |= {"player": self.tunable.written(tuned, self.folder), "verdict": "", "games": 0}
        if tuned != self.start and contest.sprt is not None:
            players = [self.tunable.player(tuned, "tuned"), self._start]
            lines = [*islice(contest.openings or (), 1, 2 * contest.options.games, 2)]
            match = self._match(journal, players, openings=lines, progress=progress)
            report |= {"verdict": match.verdict, "games": match.games}
            report["test"] = contest.sprt.text(match.summary().tally)
        return report

    def _match(self, journal: MatchJournal, players: list[Player], **options: Any) -> Match:
        """Returns a match whose pairs are played again if an external engine fails in them."""
        options |= {"workers": self._workers, "journal": journal}
        failures = counted = 0
        while True:
            try:
                _, (match,) = self.contest.play(players, **options)
                failure, pairs = match.failure, len(match.units) + match.repeated
            except FAILURES as error:
                failure, pairs = str(error), 0
            else:
                if match.interrupted:
                    raise KeyboardInterrupt
                if not failure:
                    return match
            failures = 1 if pairs > counted else failures + 1
            counted = max(pairs, counted)
            if failures == MOST_FAILURES:
                raise ChildProcessError(f"{failures} pairs in a row failed, the last: {failure}")
            self._say(f"a pair failed and is played again: {failure}")
