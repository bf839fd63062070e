"""Every learner gives the same bits when repeated, resumed or extended, and with any workers."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from toys import CHECKERS_BLOCKS, RUNNERS

from games import kernels, load
from games.backgammon import Backgammon
from games.checkers import Checkers
from learner.bootstrap.root_strap import RootStrap
from learner.bootstrap.td_leaf import TDLeaf
from learner.bootstrap.temporal_difference import TemporalDifference
from learner.bootstrap.tree_strap import TreeStrap
from learner.learner import Progress
from learner.online.least_mean_squares import LeastMeanSquares
from learner.online.samuel1959 import Samuel1959
from learner.rounds.batch import BatchFit
from learner.rounds.comparison import Comparison
from learner.rounds.network_fit import NetworkFit
from learner.rounds.quantised_fit import QuantisedFit
from learner.rounds.samuel import Samuel
from learner.td_gammon import td_gammon
from learner.td_gammon.backup_fit import BackupFit
from learner.td_gammon.td_gammon import TDGammon
from play.workers import Workers
from search import load_evaluator
from search.evaluators.samples import sample_positions

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

CHECKERS, BACKGAMMON = Checkers(), Backgammon()
OWN_GAME = "docs.examples.hexapawn:Hexapawn"


@dataclass(frozen=True, eq=False)
class Case:
    """A learner, and the properties that its runs must have."""

    make: Callable[..., Any]
    #: the games after which it reports, the last at the end of the run
    reports: tuple[int, ...]
    #: options under which it learns the same bits
    same: tuple[dict[str, Any], ...] = ()
    #: options whose checkpoints are refused
    others: tuple[dict[str, Any], ...] = ({"seed": 77},)
    #: the starting point of learning; and that of a resumed run
    start: Any = None
    resumed: Any = None
    #: keeps its positions in a folder
    store: bool = False
    #: a file that a killed writer leaves there, which the learner removes
    torn: str = ""
    #: games of a run that is prolonged to the whole one
    shorter: int | None = None
    #: games of a run that the whole one is prolonged to
    longer: int | None = None
    #: whether a run with another seed is tried
    another_seed: bool = False
    #: attributes that a learner keeps besides the learned evaluator
    beside: tuple[str, ...] = ()
    #: other attributes that a run must have learned
    check: Callable[[Case, Run], None] = lambda case, run: None


THREADS = ({"workers": Workers("threads", 1)}, {"workers": Workers("threads", 2)})
TORN = ".positions-000009.npz.new.part"
LOKY = {"workers": Workers("loky", 2)}
TWO = ({"workers": Workers(jobs=2)},)


def weights_check(case: Case, run: Run) -> None:
    weights = run.learner.evaluator_.weights
    assert weights[0] == 1.0
    assert np.count_nonzero(weights) > 8
    assert np.abs(weights[1:]).max() < 1.0


def error_check(case: Case, run: Run) -> None:
    assert run.reports[-1].note == f"error {run.learner.errors_[-1]:.5f}"


def rollouts_check(case: Case, run: Run) -> None:
    without = case.make(rollouts=0).fit()
    assert without.rounds_[0]["positions"] > 25
    assert without.checkpoint()["weights"] != run.learner.checkpoint()["weights"]


def growth_check(case: Case, run: Run) -> None:
    assert run.learner.evaluator_.nets[0].widths[1:-1] == (12, 10)


def own_check(case: Case, run: Run) -> None:
    """An evaluator of a user's game is loaded by the name under which the game was saved."""
    learner, evaluator = run.learner, run.learner.evaluator_
    with TemporaryDirectory() as name:
        path = Path(name) / f"own{evaluator.suffix}"
        evaluator.save(path)
        again = load_evaluator(path, game=load(learner.game))
    positions = sample_positions(learner.game_, 30)
    assert again.values(positions).tolist() == evaluator.values(positions).tolist()
    assert any(evaluator.values(positions))


def own(**options: Any) -> Case:
    """Returns a learner of a game in a user's file, with the features that the game declares."""
    make = partial(
        TDLeaf, OWN_GAME, games=12, depth=2, games_per_update=4, opening_plies=1, seed=1, **options
    )
    return Case(make, (4, 8, 12), same=TWO, longer=16, another_seed=True, check=own_check)


def online(kind: Any, **options: Any) -> Any:
    return partial(kind, CHECKERS, depth=2, trial=2, **options)


def bootstrap(kind: Any, network: bool, **inputs: Any) -> Case:
    if network:
        inputs = {"inputs": "piece_squares", "hidden": (6,)}
    make = partial(
        kind, CHECKERS, games=12, depth=2, games_per_update=4, most_plies=50, seed=1, **inputs
    )
    loky = (LOKY,) if kind is TreeStrap and not network else ()
    return Case(
        make, (4, 8, 12), same=(*THREADS, *loky), others=({"rate": 0.5}, {"seed": 2}),
        start="material" if network else None, longer=16, check=error_check,
    )  # fmt: skip


def rounds(
    kind: Any,
    *,
    same: Any = THREADS,
    start: Any = None,
    reports: tuple[int, ...] = (4, 5, 9, 10, 12),
    shorter: int = 10,
    depth: int | None = 2,
    **options: Any,
) -> Case:
    make = partial(
        kind, CHECKERS, games=12, depth=depth, round_games=5, keep_rounds=2, games_per_report=4,
        most_plies=40, seed=1, **options,
    )  # fmt: skip
    others = ({"blend": 0.75}, {"round_games": 4}, {"seed": 2}, {"depth": 3})
    # what the network of QuantisedFit starts from is named in its checkpoint
    return Case(
        make, reports, same=same, others=others, start="material", resumed=start,
        store=True, torn=TORN, shorter=shorter, beside=("rounds_",),
    )  # fmt: skip


def rollouts(kind: Any, **options: Any) -> Case:
    make = partial(
        kind, CHECKERS, games=10, depth=2, round_games=5, games_per_report=5, most_plies=60,
        rollouts=3, rollout_positions=25, **options,
    )  # fmt: skip
    others = ({"rollouts": 2}, {"rollout_positions": 26})
    return Case(
        make,
        (5, 10),
        same=TWO,
        others=others,
        store=True,
        torn=TORN,
        beside=("rounds_",),
        check=rollouts_check,
    )


def dice(kind: Any, reports: tuple[int, ...], same: tuple[Any, ...] = (), **options: Any) -> Case:
    make = partial(kind, BACKGAMMON, games=5, depth=0, seed=3, **options)
    return Case(make, reports, same=same, store=issubclass(kind, BatchFit))


CASES = {
    "samuel1959": Case(
        online(Samuel1959, games=5, seed=2, fixed={"PIECES": 2.0**20}), (1, 2, 3, 4, 5),
        others=({"trial": 3}, {"seed": 6}), another_seed=True,
    ),
    "lms": Case(
        online(LeastMeanSquares, games=4, seed=1, fixed={"men": 1.0}), (1, 2, 3, 4),
        others=({"rate": 0.5}, {"seed": 6}), check=weights_check,
    ),
    **{
        f"{kind.__name__}-{'network' if network else 'linear'}": bootstrap(kind, network)
        for kind in (TemporalDifference, TDLeaf, RootStrap, TreeStrap)
        for network in (False, True)
    },
    "TreeStrap-tuples": bootstrap(TreeStrap, False, tuples=CHECKERS_BLOCKS),
    "own-linear": own(),
    "own-network": own(hidden=(6,)),
    "batch": rounds(BatchFit),
    "samuel": replace(
        rounds(Samuel, start=None),
        others=({"lambda_": 0.5}, {"active": 4}, {"round_games": 4}, {"seed": 2}, {"depth": 3}),
        start=None,
        beside=("rounds_", "active_", "reserve_"),
    ),
    "network": rounds(NetworkFit, same=(*THREADS, LOKY), hidden=(6,), epochs=2, rate=0.01),
    "quantised": rounds(
        QuantisedFit, start="material", nodes=None, hidden=(6,), endgame=3, rate=0.01
    ),
    # rounds of 1, 2, 5 and 5 games, with searches of 10, 40, 160 and 160 nodes
    "quantised-growing": rounds(
        QuantisedFit, reports=(1, 3, 7, 8, 12), shorter=8, start="material", depth=None,
        nodes=160, hidden=(6,), endgame=3, growing=2, rate=0.01,
    ),
    "quantised-trees": rounds(
        QuantisedFit, start="material", nodes=None, hidden=(6,), endgame=3, rate=0.01,
        tree_positions=20,
    ),
    "batch-rollouts": rollouts(BatchFit),
    "network-rollouts": rollouts(NetworkFit, hidden=(6,), epochs=2),
    "dice-samuel": dice(
        Samuel, (2, 4, 5), TWO, features="linear", round_games=2, games_per_report=1, K=1.0,
        lambda_=0.0,
    ),
    "dice-samuel1959": dice(
        Samuel1959, (1, 2, 3, 4, 5), features="linear", threshold=0.0, unit=2.0**-18
    ),
    "dice-lms": dice(LeastMeanSquares, (1, 2, 3, 4, 5), features="linear", rate=0.01),
    "dice-td": dice(TemporalDifference, (2, 4, 5), TWO, inputs="linear", games_per_update=2),
    "dice-rootstrap": dice(RootStrap, (2, 4, 5), TWO, inputs="linear", games_per_update=2),
    "dice-batch": dice(
        BatchFit, (2, 4, 5), TWO, features="linear", round_games=2, games_per_report=1, K=1.0
    ),
    "comparison": Case(
        partial(
            Comparison, RUNNERS, games=40, round_games=20, keep_rounds=2, games_per_report=7,
            seed=2, features="runners", most_plies=60,
        ),
        (8, 16, 20, 28, 36, 40), same=TWO, others=({"rivals": 2}, {"seed": 3}),
    ),
    "tdgammon": Case(
        partial(
            TDGammon, BACKGAMMON, games=330, seed=5, inputs="points", hidden=(24,), memory=50,
            games_per_report=100, round_games=10,
        ),
        (100, 200, 300, 330),
        others=({"seed": 6}, {"lambda_": 0.6}, {"memory": 51}, {"tables": 3}, {"spread": 0.2}),
        longer=340, another_seed=True, beside=("errors_",),
    ),
    "backups": Case(
        partial(
            BackupFit, games=16, round_games=4, hidden=(12, 10), samples=2, batch=32, rate=0.003,
            inputs="points", bear_off=False, threads=1, seed=3,
            most_positions=2000,
        ),
        (4, 8, 12, 16), same=({"threads": 2},), others=({"rate": 0.1}, {"seed": 4}), store=True,
        longer=20, another_seed=True, beside=("rounds_",), check=growth_check,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def prefiltering_early() -> Iterator[None]:
    """Make short runs of TD-Gammon prefilter replies too, before and after a checkpoint."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(td_gammon, "_UNFILTERED", 150)
        yield


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


class Run:
    """A learner that has learned, its reports, and its checkpoints and files after each."""

    def __init__(
        self,
        case: Case,
        *,
        held: dict[str, bytes] | None = None,
        resume: str | None = None,
        **options: Any,
    ) -> None:
        self.case = case
        self.reports: list[Progress] = []
        self.states: dict[int, str] = {}
        self.files: dict[int, dict[str, bytes]] = {}
        with TemporaryDirectory() as name:
            self.folder = Path(name)
            for file, data in (held or {}).items():
                (self.folder / file).write_bytes(data)
            if case.store:
                options["store"] = self.folder
            self.learner = case.make(**options)
            if resume is None:
                assert self.learner.fit(case.start, watch=self.watch) is self.learner
            else:
                self.learner.fit(case.resumed, resume=json.loads(resume), watch=self.watch)
            self.end = self.text(), files(self.folder)

    def text(self) -> str:
        """Returns the checkpoint as text, as in a file."""
        return json.dumps(self.learner.checkpoint())

    def watch(self, progress: Progress) -> None:
        self.reports.append(progress)
        self.states[progress.game] = self.text()
        self.files[progress.game] = files(self.folder)

    def bits(self) -> list[Any]:
        """Returns everything learned: the files of evaluators, and other results."""
        found: list[Any] = []
        with TemporaryDirectory() as name:
            for kept in ("evaluator_", "network_"):
                evaluator = getattr(self.learner, kept, None)
                if evaluator is not None:
                    path = Path(name) / f"{kept}{evaluator.suffix}"
                    evaluator.save(path)
                    found.append(path.read_bytes())
        return found + [getattr(self.learner, key) for key in self.case.beside]


@functools.cache
def whole(name: str) -> Run:
    """Returns the run of a learner from beginning to end."""
    return Run(CASES[name])


def those(condition: Callable[[Case], Any]) -> list[str]:
    """Returns the names of the cases that meet a condition."""
    return [name for name, case in CASES.items() if condition(case)]


@pytest.mark.parametrize("name", CASES)
def test_what_a_run_reports_and_learns(name: str) -> None:
    case, run = CASES[name], whole(name)
    games = case.reports[-1]
    assert [(p.game, p.games) for p in run.reports] == [(game, games) for game in case.reports]
    assert run.learner.games_played_ == games
    assert run.learner.updates_ == run.reports[-1].updates > 0
    assert len(set(run.states.values())) == len(case.reports)
    evaluator = run.learner.evaluator_
    values = evaluator.values(sample_positions(evaluator.game, 20))
    assert np.isfinite(values).all() and values.any()
    case.check(case, run)


#: The others give them whoever plays.
@pytest.mark.parametrize("name", those(lambda case: not case.same))
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    run, again = whole(name), Run(CASES[name])
    assert (again.states, again.files, again.end) == (run.states, run.files, run.end)
    assert again.bits() == run.bits()


@pytest.mark.parametrize("name", those(lambda case: case.another_seed))
def test_another_seed_gives_other_bits(name: str) -> None:
    assert Run(CASES[name], seed=6).bits() != whole(name).bits()


@pytest.mark.parametrize("name", CASES)
def test_a_run_resumes_to_the_same_bits(name: str) -> None:
    case, run = CASES[name], whole(name)
    last = case.reports[-1]
    for game in case.reports[:-1]:
        # files as they were at the checkpoint, and as a run that was killed later leaves them
        for later in (game, last) if case.store and game == case.reports[-2] else (game,):
            held = dict(run.files[later])
            if case.torn:
                held[case.torn] = b"torn"
            resumed = Run(case, held=held, resume=run.states[game])
            assert resumed.end == run.end, (game, later)
            assert resumed.bits() == run.bits()
            after = {number: run.states[number] for number in case.reports if number > game}
            assert resumed.states == after
    finished = Run(case, held=run.files[last], resume=run.states[last])
    assert finished.end == run.end and finished.bits() == run.bits()
    assert not finished.reports


@pytest.mark.parametrize("name", those(lambda case: not case.store))
def test_a_run_resumes_before_its_first_game(name: str) -> None:
    case = CASES[name]
    fresh = case.make()
    fresh.prepare(case.start)
    resumed = Run(case, resume=json.dumps(fresh.checkpoint()))
    assert (resumed.end, resumed.bits()) == (whole(name).end, whole(name).bits())


@pytest.mark.parametrize("name", those(lambda case: case.shorter or case.longer))
def test_a_finished_run_is_prolonged(name: str) -> None:
    case, run = CASES[name], whole(name)
    if case.shorter:
        short = Run(case, games=case.shorter)
        longer = Run(case, held=short.end[1], resume=short.end[0])
        assert (longer.end, longer.bits()) == (run.end, run.bits())
    if case.longer:
        longer = Run(case, held=run.end[1], resume=run.end[0], games=case.longer)
        assert longer.learner.games_played_ == case.longer
        assert longer.end[0] != run.end[0]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param(name, i, marks=pytest.mark.whole_run if options is LOKY else ())
        for name, case in CASES.items()
        for i, options in enumerate(case.same)
    ],
)
def test_whoever_plays_the_result_is_the_same(name: str, number: int) -> None:
    case, run = CASES[name], whole(name)
    other = Run(case, **case.same[number])
    assert (other.states, other.files, other.end) == (run.states, run.files, run.end)
    assert other.bits() == run.bits()


@pytest.mark.parametrize("name", CASES)
def test_checkpoints_of_others_are_refused(name: str) -> None:
    case, run = CASES[name], whole(name)
    game = case.reports[0]
    for options in case.others:
        with pytest.raises(ValueError, match="expected a checkpoint of the same learner, options"):
            Run(case, held=run.files[game], resume=run.states[game], **options)
    if name != "comparison" and not case.store:  # which look for rounds first
        with pytest.raises(ValueError, match="expected a checkpoint of the same learner, options"):
            Run(case, resume="{}")
