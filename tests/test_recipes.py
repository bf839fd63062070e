"""Every learner that train.py offers: a whole run of seconds, and one killed and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import train
from games import kernel as kernels
from games.checkers import Checkers
from learner.recipes import RECIPES
from learner.run import Run
from learner.settings import make_learner
from learner.worth import start_for
from play.player import Limits
from search import Engine, load_evaluator

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

CHECKERS = Checkers()
#: All but the one with a run of its own kind (`tests/test_train.py`).
NAMES = [name for name in RECIPES if name != "rote"]
#: So that there is more than one round.
ROUNDS = {"batch": 12, "signature": 12, "network": 12}


class Killed(BaseException):
    """Ends a run as a kill does."""


def run_of(name: str, folder: Path) -> tuple[Run, Any]:
    arguments = ["checkers", "--learner", name, "--games", "24", "--depth", "2", "--seed", "5"]
    if name in ROUNDS:
        arguments += ["--set", f"round_games={ROUNDS[name]}", "--set", "games_per_report=4"]
    settings = train.settings_of(train.parser().parse_args(arguments))
    learner = make_learner(CHECKERS, settings, None)
    session = Run(
        learner, CHECKERS, folder, opponents=["material"], snapshots=2, snapshot_games=2,
        finalists=1, final_games=2, limits=Limits(depth=1), options=settings,
    )  # fmt: skip
    return session, start_for(CHECKERS, settings["from"], learner)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_every_learner_resumes_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    session, start = run_of(name, tmp_path / "whole")
    best = session.train(start)
    assert Engine(CHECKERS, best).search(CHECKERS.start(), depth=3).move is not None
    suffix = best.suffix
    again = load_evaluator(tmp_path / f"whole/best{suffix}", game=CHECKERS)
    positions = [CHECKERS.start(), CHECKERS.parse_position("W:W21,22,K25,30:B1,2,5,K14")]
    assert again.values(positions).tolist() == best.values(positions).tolist()

    killed, start = run_of(name, tmp_path / "killed")

    def kill(progress: Any, measured: Any) -> None:
        if progress.game >= 14:
            raise Killed

    with pytest.raises(Killed):
        killed.train(start, show=kill)
    assert not (tmp_path / f"killed/best{suffix}").exists()
    resumed, start = run_of(name, tmp_path / "killed")
    resumed.train(start, resume=True)
    for file in (f"last{suffix}", f"best{suffix}", "log.csv", "snapshots.csv", "games.pdn"):
        whole, other = tmp_path / "whole" / file, tmp_path / "killed" / file
        assert other.read_bytes() == whole.read_bytes(), file


def test_a_learner_without_features_takes_none(capsys: Any, tmp_path: Path) -> None:
    for name in ("signature", "book"):
        arguments = ["checkers", "--learner", name, "--features", "classic"]
        assert train.main([*arguments, "--run", str(tmp_path / name)]) == 2
        assert f"--features: expected none for {name}" in capsys.readouterr().err
