"""ProbCut learned: lines fitted to the values of searches, and the command that does it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from twin import random_positions

import games
import learner.__main__ as commands
from games import kernels
from games.checkers import Checkers
from games.contract import Game
from learner.fit.probcut import depth_values, learn_probcut, played_positions, shallower
from search import Engine, as_evaluator, parse_techniques
from search.alphabeta.probcut import ProbCut
from search.evaluators.samples import value_mark
from search.sizes import CHECKS, DEPTHS

CHECKERS = Checkers()
CLASSIC = as_evaluator(CHECKERS, "classic")
pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


def some_positions(count: int) -> list[tuple[int, ...]]:
    found = random_positions(CHECKERS, 3, 4 * count)
    return [p for p in found if not CHECKERS.noisy(p) and len(CHECKERS.legal_moves(p)) > 1][:count]


def test_checks_are_shallower_and_of_the_same_parity() -> None:
    for depth in range(4, DEPTHS):
        found = shallower(depth)
        assert 1 <= len(found) <= CHECKS
        assert all(1 <= one <= depth - 2 and (depth - one) % 2 == 0 for one in found)
        assert list(found) == sorted(set(found))


def test_values_of_all_depths_are_those_of_searches() -> None:
    positions = some_positions(6)
    values = depth_values(CHECKERS, CLASSIC, positions, 5, threads=2)
    assert values.shape == (6, 6)
    for row, position in zip(values, positions, strict=True):
        assert row[0] == CLASSIC(position)
        for depth in (1, 4, 5):
            found = Engine(CHECKERS, CLASSIC, equal_depth=True).search(position, depth=depth)
            assert row[depth] == found.value


def test_the_line_of_each_phase_is_the_one_of_least_squares() -> None:
    positions = some_positions(300)
    probcut = learn_probcut(CHECKERS, CLASSIC, positions, depth=6, width=2.0)
    assert (probcut.width, probcut.mark) == (2.0, value_mark(CHECKERS, CLASSIC))
    assert {check.phase for check in probcut.checks} == {0, 1, 2}
    values = depth_values(CHECKERS, CLASSIC, positions, 6)
    pieces = np.array([(own | opponent).bit_count() for own, opponent, _, _ in positions])
    of_phase = (pieces > 16, (pieces > 8) & (pieces <= 16), pieces <= 8)
    for check in [check for check in probcut.checks if check.depth <= 6]:
        pair = values[of_phase[check.phase]][:, [check.shallow, check.depth]]
        pair = pair[np.isfinite(pair).all(axis=1)]
        slope, offset = np.polyfit(pair[:, 0], pair[:, 1], 1)
        rest = pair[:, 1] - slope * pair[:, 0] - offset
        assert (check.a, check.b) == pytest.approx((slope, offset), abs=1e-9)
        assert check.sigma == pytest.approx(float(np.sqrt((rest**2).sum() / (len(rest) - 2))))
        assert check.positions == len(pair)
    # deeper ones are checked as many plies less deep as the deepest that was measured
    far = [(c.phase, c.shallow - 4, c.a, c.sigma) for c in probcut.checks if c.depth == 9]
    near = [(c.phase, c.shallow, c.a, c.sigma) for c in probcut.checks if c.depth == 5]
    assert len(far) == 3 * len(shallower(5)) and far == near


def test_what_cannot_be_learned() -> None:
    with pytest.raises(ValueError, match="expected at least 50 positions of a phase, found 3"):
        learn_probcut(CHECKERS, CLASSIC, some_positions(3), depth=4)
    with pytest.raises(ValueError, match="depth: expected 4 to 31, found 3"):
        learn_probcut(CHECKERS, CLASSIC, [], depth=3)
    with pytest.raises(ValueError, match="width: expected more than 0"):
        learn_probcut(CHECKERS, CLASSIC, some_positions(3), width=float("nan"))
    with pytest.raises(ValueError, match="expected a game without dice, found backgammon"):
        learn_probcut(games.load("backgammon"), None, [])
    # positions of which the search checks none are not learned from
    forced = [p for p in random_positions(CHECKERS, 5, 300) if len(CHECKERS.legal_moves(p)) == 1]
    assert len(forced) > 50
    with pytest.raises(ValueError, match="expected at least 50 positions of a phase, found 0"):
        learn_probcut(CHECKERS, CLASSIC, forced, depth=4)


class Letters(Game):
    """Positions are texts, to which moves add a letter."""

    name = "letters"
    wins = False

    def start(self) -> Any:
        return ""

    def legal_moves(self, position: Any) -> list[str]:
        return list("abc") if len(position) < 12 else []

    def play(self, position: Any, move: str) -> Any:
        return position + move

    def outcome(self, position: Any) -> float | None:
        return self.value(position) if len(position) == 12 else None

    def value(self, position: Any) -> float:
        ahead = position[::2].count("a") - position[1::2].count("a")
        return float(ahead if len(position) % 2 == 0 else -ahead)


def test_positions_may_be_anything() -> None:
    game = Letters()
    positions = played_positions(game, game.value, 60, nodes=50)
    probcut = learn_probcut(game, game.value, positions, depth=4)
    assert probcut.checks[0].positions >= 50


def test_play_of_positions_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Engine.search

    def search(self: Engine, *arguments: Any, **options: Any) -> Any:
        return dataclasses.replace(usual(self, *arguments, **options), interrupted=True)

    monkeypatch.setattr(Engine, "search", search)
    with pytest.raises(KeyboardInterrupt):
        played_positions(CHECKERS, CLASSIC, 2, nodes=50)


def test_played_positions_are_quiet_enough_and_the_same_again() -> None:
    found = played_positions(CHECKERS, CLASSIC, 8, nodes=200, seed=2)
    assert found == played_positions(CHECKERS, CLASSIC, 8, nodes=200, seed=2)
    assert len(found) == len(set(found)) > 40
    assert all(CHECKERS.outcome(position) is None for position in found)


COMMAND = ["probcut", "checkers", "classic", "--positions", "800", "--depth", "5"]


@pytest.mark.whole_run
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "classic.probcut.json"
    assert commands.main([*COMMAND, "--output", str(output)]) == 0
    assert f"written: {output}" in capsys.readouterr().out
    probcut = ProbCut.load(output)
    assert {check.depth for check in probcut.checks} == set(range(4, DEPTHS))
    techniques = parse_techniques(f"probcut={output}", CHECKERS)
    exact = Engine(CHECKERS, CLASSIC).search(CHECKERS.start(), depth=9)
    cut = Engine(CHECKERS, CLASSIC, techniques=techniques).search(CHECKERS.start(), depth=9)
    assert cut.nodes != exact.nodes


def test_what_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, arguments = tmp_path / "file", COMMAND
    output.touch()
    for wrong, message in (
        (["probcut", "checkers", "classic"], "--output: expected a file"),
        (["probcut", "checkers", "none.json"], "expected an evaluator file"),
        ([*arguments, "--threads", "0"], "--threads: expected at least 1"),
        (["probcut", "backgammon", "classic"], "expected a game without dice, found backgammon"),
        ([*arguments, "--output", str(tmp_path)], "--output: expected a file that can be written"),
        ([*arguments, "--output", str(output / "file.json")], "--output: expected a file that can"),
        ([*arguments, "--output", str(output), "--depth", "3"], "depth: expected 4 to 31, found 3"),
        ([*arguments, "--output", str(output), "--width", "0"], "width: expected more than 0"),
        ([*arguments, "--output", str(output), "--seed", "-1"], "--seed: expected at least 0"),
        (
            [*arguments, "--output", str(output), "--store", str(tmp_path / "no")],
            "--store: expected",
        ),
    ):
        assert commands.main(wrong) == 2, wrong
        told = capsys.readouterr()
        assert message in told.err
        assert not told.out  # before any game was played
