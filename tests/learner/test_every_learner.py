"""Every learner keeps the contract: the same bits when repeated, resumed, and with any workers."""

from __future__ import annotations

import copy
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
from errors import errors_of
from sklearn.base import clone
from toys import CHECKERS_BLOCKS

from games import kernels, load
from games.backgammon import Backgammon
from games.checkers import Checkers
from games.puzzles.sliding_tiles import SlidingTiles
from learner.books.book_study import BookStudy
from learner.checking import Trial, check
from learner.gradient.root_strap import RootStrap
from learner.gradient.solved import Solved
from learner.gradient.td_leaf import TDLeaf
from learner.gradient.temporal_difference import TemporalDifference
from learner.gradient.tree_strap import TreeStrap
from learner.heuristics import admissible
from learner.heuristics import bootstrap as heuristic_bootstrap
from learner.heuristics.admissible import Admissible
from learner.heuristics.bootstrap import HeuristicBootstrap
from learner.online.rote import Rote
from learner.online.samuel1959 import Samuel1959
from learner.rounds.batch import BatchFit
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
TILES = SlidingTiles(3, 2)
#: A book of three games, which are the same.
BOOK = ",".join(3 * ["docs/examples/samuel_nealy_1962.pdn"])
OWN_GAME = "docs.examples.hexapawn:Hexapawn"


@dataclass(frozen=True, eq=False)
class Case:
    """A learner, and the properties that its runs must have."""

    make: Callable[..., Any]
    #: the games after which it reports, the last at the end of the run
    reports: tuple[int, ...]
    #: options under which it learns the same bits
    same: tuple[dict[str, Any], ...] = ()
    #: whether it is tried with workers that are processes
    processes: bool = False
    #: options whose checkpoints are refused
    others: tuple[dict[str, Any], ...] = ()
    #: the starting point of learning; and that of a resumed run
    start: Any = None
    resumed: Any = None
    #: a file that a killed writer leaves there, which the learner removes
    torn: str = ""
    #: games of a run that is prolonged to the whole one
    shorter: int | None = None
    #: games of a run that the whole one is prolonged to
    longer: int | None = None
    #: whether a run with another seed is tried
    another_seed: bool = False
    #: other attributes that a run must have learned
    check: Callable[[Case, Trial], None] = lambda case, run: None


TORN = ".positions-000009.safetensors.x.unfinished"


def error_check(case: Case, run: Trial) -> None:
    assert run.reports[-1].figures == {"loss": run.learner.errors_[-1]}


def growth_check(case: Case, run: Trial) -> None:
    assert run.learner.evaluator_.nets[0].widths[1:-1] == (12, 10)


def own_check(case: Case, run: Trial) -> None:
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
    return Case(make, (4, 8, 12), longer=16, another_seed=True, check=own_check)


def online(kind: Any, **options: Any) -> Any:
    return partial(kind, CHECKERS, depth=2, trial=2, **options)


def bootstrap(kind: Any, network: bool, **inputs: Any) -> Case:
    if network:
        inputs = {"inputs": "piece_squares", "hidden": (6,)}
    make = partial(
        kind, CHECKERS, games=12, depth=2, games_per_update=4, most_plies=50, seed=1, **inputs
    )
    return Case(
        make, (4, 8, 12), others=({"rate": 0.5},),
        start="material" if network else None, longer=16, check=error_check,
        processes=kind is TreeStrap and not network,
    )  # fmt: skip


def rounds(
    kind: Any,
    *,
    processes: bool = False,
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
    others = ({"blend": 0.75}, {"round_games": 4}, {"depth": 3})
    # what the network of QuantisedFit starts from is named in its checkpoint
    return Case(
        make, reports, processes=processes, others=others, start="material", resumed=start,
        torn=TORN, shorter=shorter,
    )  # fmt: skip


def dice(kind: Any, reports: tuple[int, ...], **options: Any) -> Case:
    make = partial(kind, BACKGAMMON, games=5, depth=0, seed=3, **options)
    return Case(make, reports)


CASES = {
    "samuel1959": Case(
        online(Samuel1959, games=5, seed=2, fixed={"PIECES": 2.0**20}), (1, 2, 3, 4, 5),
        others=({"trial": 3},), another_seed=True,
    ),
    **{
        f"{kind.__name__}-linear": bootstrap(kind, False)
        for kind in (TemporalDifference, TDLeaf, RootStrap, TreeStrap)
    },
    "TreeStrap-network": bootstrap(TreeStrap, True),
    "TreeStrap-tuples": bootstrap(TreeStrap, False, tuples=CHECKERS_BLOCKS),
    "own-linear": own(),
    "own-network": own(hidden=(6,)),
    "batch": rounds(BatchFit),
    "samuel": replace(
        rounds(Samuel, start=None),
        others=({"lambda_": 0.5}, {"active": 4}, {"round_games": 4}, {"depth": 3}),
        start=None,
    ),
    "network": rounds(NetworkFit, processes=True, hidden=(6,), epochs=2, rate=0.01),
    # rounds of 1, 2, 5 and 5 games, with searches of 10, 40, 160 and 160 nodes
    "quantised-growing": rounds(
        QuantisedFit, reports=(1, 3, 7, 8, 12), shorter=8, start="material", depth=None,
        nodes=160, hidden=(6,), endgame=3, growing=2, rate=0.01,
    ),
    "quantised-trees": rounds(
        QuantisedFit, start="material", nodes=None, hidden=(6,), endgame=3, rate=0.01,
        tree_positions=20,
    ),
    "dice-samuel": dice(
        Samuel, (2, 4, 5), inputs="linear", round_games=2, games_per_report=1, K=1.0,
        lambda_=0.0,
    ),
    "dice-td": dice(TemporalDifference, (2, 4, 5), inputs="linear", games_per_update=2),
    "dice-rootstrap": dice(RootStrap, (2, 4, 5), inputs="linear", games_per_update=2),
    "tdgammon": Case(
        partial(
            TDGammon, BACKGAMMON, games=330, seed=5, inputs="points", hidden=(24,),
            games_per_report=100, round_games=10,
        ),
        (100, 200, 300, 330),
        others=({"lambda_": 0.6}, {"tables": 3}),
        longer=340, another_seed=True,
    ),
    "backups": Case(
        partial(
            BackupFit, games=8, round_games=2, hidden=(12, 10), samples=2, batch_size=32,
            rate=0.003, inputs="points", bear_off=False, threads=1, seed=3, most_positions=2000,
        ),
        (2, 4, 6, 8), same=({"threads": 2},), others=({"rate": 0.1},),
        torn="round-000009.safetensors", longer=10, another_seed=True, check=growth_check,
    ),
    "rote": Case(
        partial(Rote, CHECKERS, games=4, depth=2, seed=1, capacity=300), (1, 2, 3, 4),
        others=({"depth": 3},), start="material", resumed="material", longer=5, another_seed=True,
    ),
    "samuel1967": Case(partial(BookStudy, CHECKERS, book=BOOK, games=3, held_out=0.0), (1, 2, 3)),
    "solved": Case(
        partial(Solved, "connect_four", games=6, games_per_update=3, rate=0.1), (3, 6)
    ),
    "heuristic-HeuristicBootstrap": Case(
        partial(HeuristicBootstrap, TILES, games=34, each=9, base=("manhattan",), seed=2),
        (9, 18, 27, 34), others=({"each": 8},), longer=45, another_seed=True,
    ),
    "heuristic-Admissible": Case(partial(Admissible, TILES), (41, 355, 360)),
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def early() -> Iterator[None]:
    """Let short runs do all that long ones do: TD-Gammon prefilters, and programs grow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(td_gammon, "_UNFILTERED", 150)
        patch.setattr(heuristic_bootstrap, "START", 500)
        patch.setattr(admissible, "FIRST", 40)
        patch.setattr(admissible, "MORE", 400)
        yield


@functools.cache
def whole(name: str) -> Trial:
    """Returns the run of a learner from beginning to end, which keeps the contract."""
    case = CASES[name]
    return check(
        case.make(), start=case.start, resumed=case.resumed, same=case.same, others=case.others
    )


def those(condition: Callable[[Case], Any]) -> list[str]:
    """Returns the names of the cases that meet a condition."""
    return [name for name, case in CASES.items() if condition(case)]


@pytest.mark.parametrize("name", CASES)
def test_a_learner_keeps_the_contract(name: str) -> None:
    """One test for each, because each takes a whole run."""
    case, run = CASES[name], whole(name)
    games = case.reports[-1]
    assert [(p.game, p.games) for p in run.reports] == [(game, games) for game in case.reports]
    case.check(case, run)
    is_copied(run.learner)
    refuses_a_state_without_one_of_its_fields(case, run)
    if case.another_seed:
        assert Trial(case.make(seed=6), case.start).bits() != run.bits()
    if case.torn:  # files that a killed run leaves are of no account
        held = {**run.files[games], case.torn: b"torn"}
        resumed = Trial(case.make(), case.resumed, held=held, resume=run.states[case.reports[0]])
        assert (resumed.end, resumed.bits()) == (run.end, run.bits())
    if case.shorter:
        short = Trial(case.make(games=case.shorter), case.start)
        longer = Trial(case.make(), case.resumed, held=short.end[1], resume=short.end[0])
        assert (longer.end, longer.bits()) == (run.end, run.bits())
    if case.longer:
        learner = case.make(games=case.longer)
        longer = Trial(learner, case.resumed, held=run.end[1], resume=run.end[0])
        assert longer.learner.games_played_ == case.longer
        assert longer.end[0] != run.end[0]


def is_copied(learner: Any) -> None:
    states = [one for one in dir(type(learner)) if "state" in one or "checkpoint" in one]
    assert [one for one in states if one[0] != "_"] == ["checkpoint"]  # one public name
    evaluator = learner.evaluator_
    positions = sample_positions(evaluator.game, 20)
    for again in (copy.copy(learner), copy.deepcopy(learner)):
        assert list(again.evaluator_.values(positions)) == list(evaluator.values(positions))
        assert again.games_played_ == learner.games_played_
        for option, value in learner.get_params(deep=False).items():
            assert getattr(again, option) == value or option == "game", option
        new = copy.copy(clone(again))
        assert not hasattr(new, "evaluator_")
        if not isinstance(learner, Rote):
            with pytest.raises(ValueError, match="that has learned in this process, found a new"):
                new.checkpoint()


def refuses_a_state_without_one_of_its_fields(case: Case, run: Trial) -> None:
    at = case.reports[-2]
    state = json.loads(run.states[at])
    for field in state.keys() - {"ended", "start"}:  # which say as much where they are absent
        for damaged in ({**state, field: None}, {k: v for k, v in state.items() if k != field}):
            with pytest.raises(ValueError, match="expected a (state|checkpoint) of"):
                Trial(case.make(), case.resumed, held=run.files[at], resume=json.dumps(damaged))


class Counted(Workers):
    """Workers that count the tasks that they were given."""

    tasks = 0

    def map(self, function: Any, tasks: Any, **options: Any) -> Any:
        some = list(tasks)
        self.tasks += len(some)
        return super().map(function, some, **options)


@pytest.mark.whole_run
@pytest.mark.parametrize("name", those(lambda case: "workers" in case.make().get_params()))
def test_workers_of_a_learner_get_work(name: str) -> None:
    """Learners without the option are refused --backend and --jobs: see `test_recipes`."""
    case = CASES[name]
    with Counted() as workers:
        case.make(workers=workers).fit(case.start)
    assert workers.tasks > 0


@pytest.mark.whole_run
@pytest.mark.parametrize("name", those(lambda case: case.processes))
def test_processes_learn_the_same(name: str) -> None:
    case, run = CASES[name], whole(name)
    other = Trial(case.make(workers=Workers("loky", 2)), case.start)
    assert (other.states, other.files, other.end) == (run.states, run.files, run.end)
    assert other.bits() == run.bits()


# --- learners that break a rule --------------------------------------------------------------


class Forgetful(RootStrap):
    """Forgets what a term spreads over when it is resumed."""

    def _set_state(self, state: dict[str, Any]) -> None:
        model = {**state["model"], "spread": [9.0] * len(state["model"]["spread"])}
        super()._set_state({**state, "model": model})


class Restless(RootStrap):
    """Draws from no seed."""

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        weights = self.evaluator_.weights  # type: ignore[attr-defined]
        weights += np.random.default_rng().normal(size=len(weights))


class Silent(RootStrap):
    """Reports once."""

    def learn(self) -> Any:
        yield list(super().learn())[-1]


class Careless(RootStrap):
    """Takes any checkpoint."""

    def identity(self) -> dict[str, Any]:
        return {}


test_errors = errors_of(globals())
