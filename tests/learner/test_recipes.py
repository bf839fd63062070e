"""Every learner that train.py offers: a whole run of seconds, and one killed and resumed."""

from __future__ import annotations

import csv
import inspect
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

from games import kernels
from games.backgammon import Backgammon
from games.backgammon.match_file import read_matches
from games.checkers import Checkers
from games.chinese_checkers import ChineseCheckers
from games.connect_four import ConnectFour
from games.contract import DiceGame, Game
from learner.books.signature import SignatureTables
from learner.options import settings_of_class
from learner.regression.logistic import LogisticFit
from learner.run.command_line import check
from learner.run.learners import make_learner
from learner.run.measured_run import MeasuredRun
from learner.run.recipes import HEURISTICS, RECIPES, Recipe, UsualRuns
from learner.run.request import parser, settings_of
from learner.run.settings import RunSettings
from search import Engine, load_evaluator
from search.evaluators.samples import sample_positions

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

CHECKERS, BACKGAMMON, CONNECT_FOUR = Checkers(), Backgammon(), ConnectFour()
FOR_THREE = ChineseCheckers(3)
#: All but the one with a run of its own kind (`tests/programs/test_train.py`).
NAMES = [name for name in RECIPES if name != "rote"]
#: Of these 12 games a round, so that there is more than one.
ROUNDS = ("samuel", "batch", "network", "invent", "quantised")
#: Learners that are tried on backgammon, and the plies of their searches.
DICE = {"tdgammon": "0", "backups": "1"}


class Killed(BaseException):
    """Ends a run as a kill does."""


#: Learners, and the games that each is tried on. Signature tables need a layout, and books games.
TRIED = [
    *((name, BACKGAMMON if name in DICE else CHECKERS) for name in NAMES if name != "solved"),
    *((name, CONNECT_FOUR) for name in UsualRuns.of(CONNECT_FOUR).settings if name in NAMES),
    *((name, FOR_THREE) for name in UsualRuns.of(FOR_THREE).settings),
]


def run_of(name: str, game: Game, folder: Path) -> tuple[MeasuredRun, Any]:
    dice = isinstance(game, DiceGame)
    depth = DICE.get(name, "2")
    arguments = [game.name, "--learner", name, "--games", "24", "--depth", depth, "--seed", "5"]
    if name in ROUNDS:
        arguments += ["--set", "round_games=12", "--set", "games_per_report=4"]
    if name == "solved":  # three updates, and openings that come up often
        arguments += ["--set", "games_per_update=8", "--set", "whole=2"]
    if name == "samuel1967":
        arguments += ["--set", f"book={','.join(24 * ['docs/examples/samuel_nealy_1962.pdn'])}"]
    if dice:  # a small network, for the time that compiling takes
        reports = "games_per_report=4" if name == "tdgammon" else "samples=1"
        size = "round_games=2" if name == "tdgammon" else "round_games=4"
        # backups go on from a network of these widths
        hidden = "hidden=(8,)" if name == "tdgammon" else "hidden=(512, 512, 256, 128)"
        for option in ("inputs=points", hidden, size, reports):
            arguments += ["--set", option]
    arguments += ["--snapshots", "2", "--snapshot-games", "2", "--final-games", "2"]
    arguments += ["--opponents", "material" if game is CHECKERS else "random"]
    settings = settings_of(parser().parse_args(arguments))
    session = MeasuredRun(make_learner(game, settings, None), folder, game=game, settings=settings)
    return session, session.start()


@pytest.mark.parametrize(
    "kind",
    [recipe.load() for recipe in RECIPES.values()] + [SignatureTables, LogisticFit],
    ids=lambda kind: kind.__name__,
)
def test_constructors_store_options_and_nothing_else(kind: Any) -> None:
    first, *others = inspect.signature(kind).parameters.values()
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert all(option.kind is option.KEYWORD_ONLY for option in others)
    made = kind("checkers")
    assert vars(made) == made.get_params(deep=False) == clone(made).get_params(deep=False)
    assert hash(made) != hash(clone(made)), "compared by what they are"
    nonsense = {first.name: "no such game", **{option.name: -7 for option in others}}
    stored = kind(**nonsense)
    assert vars(stored) == stored.get_params(deep=False) == clone(stored).get_params() == nonsense
    # a new default without a type would be no field: only the class would have it
    assert {o.name: getattr(kind, o.name) for o in others} == {o.name: o.default for o in others}
    assert "__dataclass_fields__" in vars(kind), "annotated options are none without the decorator"


#: The first game of each learner, in which it runs, is killed and is resumed.
KILLED = dict(reversed(TRIED))
#: That of `make test`. `test_every_learner` resumes each learner after every report, without the
#: folder of a run.
USUAL = "batch-checkers"


def keeps_games_that_can_be_read(folder: Path) -> None:
    assert not (folder / "games.pdn").exists()
    played = list(read_matches((folder / "games.mat").read_text("utf-8"), BACKGAMMON))
    lines = (folder / "log.csv").read_text("utf-8").splitlines()[1:]
    assert len(played) == len(lines) == 6
    for match, line in zip(played, lines, strict=True):
        number, _, _, outcome, plies, *_ = line.split(",")
        assert match.tags == {"Event": "Plysmith", "Round": number}
        assert (match.match_length, match.problems) == (0, [])
        ((record, problems),) = match.games
        assert record is not None and problems == []
        assert (record.outcome(), record.ply) == (float(outcome), int(plies))


@pytest.mark.parametrize(
    ("name", "game"), [pytest.param(*one, id=f"{one[0]}-{one[1].name}") for one in TRIED]
)
def test_every_learner_of_a_game_begins(name: str, game: Game, tmp_path: Path) -> None:
    session, start = run_of(name, game, tmp_path)
    session.learner.prepare(start)
    assert session.learner.game_.name == game.name


@pytest.mark.parametrize(
    ("name", "game"),
    [
        pytest.param(name, game, id=case, marks=() if case == USUAL else pytest.mark.whole_run)
        for name, game in KILLED.items()
        for case in [f"{name}-{game.name}"]
    ],
)
def test_a_run_of_every_learner_resumes_to_the_same_bytes(
    name: str, game: Game, tmp_path: Path
) -> None:
    session, start = run_of(name, game, tmp_path / "whole")
    best = session.train(start)
    limits = {"roll": 5, "depth": 0} if isinstance(game, DiceGame) else {"depth": 3}
    assert Engine(game, best).search(game.start(), **limits).move is not None
    suffix = best.suffix
    again = load_evaluator(tmp_path / f"whole/best{suffix}", game=game)
    positions = sample_positions(game, 20)
    assert again.values(positions).tolist() == best.values(positions).tolist()

    with open(tmp_path / "whole/log.csv", newline="", encoding="utf-8") as file:
        assert all(None not in row for row in csv.DictReader(file))  # notes may have commas
    if name == "tdgammon":
        keeps_games_that_can_be_read(tmp_path / "whole")

    killed, start = run_of(name, game, tmp_path / "killed")

    def kill(progress: Any) -> None:
        if progress.game >= 14:
            raise Killed

    with pytest.raises(Killed):
        killed.train(start, watch=kill)
    assert not (tmp_path / f"killed/best{suffix}").exists()
    resumed, start = run_of(name, game, tmp_path / "killed")
    resumed.train(start, resume=True)
    assert (tmp_path / "whole" / session.games_log).stat().st_size > 0
    for file in (
        f"last{suffix}", f"best{suffix}", "log.csv", "snapshots.csv", session.games_log
    ):  # fmt: skip
        whole, other = tmp_path / "whole" / file, tmp_path / "killed" / file
        assert other.read_bytes() == whole.read_bytes(), file


PLACED = [("checkers", name) for name in RECIPES] + [("sliding8", name) for name in HEURISTICS]


@pytest.mark.plain
@pytest.mark.parametrize(("game", "name"), PLACED)
def test_jobs_are_taken_or_refused(monkeypatch: pytest.MonkeyPatch, game: str, name: str) -> None:
    """Learners that take `workers` give them work: see `test_every_learner`."""
    recipe = (RECIPES if game == "checkers" else HEURISTICS)[name]
    given = parser().parse_args([game, "--learner", name, "--jobs", "3"])
    settings = RunSettings(game=game, learner=name, games=1, depth=1, opponents=(), pacemakers=())
    if "workers" in recipe.load()().get_params(deep=False):
        monkeypatch.setattr(Recipe, "fits", lambda recipe, game: True)
        check(given, settings)
        return
    with pytest.raises(ValueError, match=f"--jobs: expected none for {name}, which learns in this"):
        check(given, settings)


@pytest.mark.plain
@pytest.mark.parametrize("recipe", [*RECIPES.values(), *HEURISTICS.values()], ids=lambda r: r.home)
def test_settings_that_are_read_from_the_source_are_those_of_the_class(recipe: Recipe) -> None:
    kind = recipe.load()
    read, own = recipe.settings(), settings_of_class(kind)
    assert read.keys() == own.keys() == kind().get_params(deep=False).keys()
    for name, setting in read.items():
        # None where the class names what stands elsewhere
        assert setting.type == own[name].type and setting.default in (None, own[name].default)
        assert setting.allowed in (None, own[name].allowed), name
