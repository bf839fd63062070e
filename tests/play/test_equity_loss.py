"""Equity lost per decision, against a referee."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only

from games.backgammon import Backgammon
from games.kernels import kernel
from play.__main__ import main
from play.judging.equity_loss import equity_loss, sample_games
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from search import KernelEvaluator

installed = pytest.mark.skipif(
    importlib.util.find_spec("gnubg_nn") is None, reason="needs gnubg_nn"
)

GAME = Backgammon()


@kernel
def ahead(position):
    """Checkers borne off and near home, less theirs."""
    near, far, their_near, their_far, _ = position
    mine = (near & 15) + 0.2 * (near >> 4 & 15) + 0.1 * (near >> 20 & 15) - 0.3 * (far >> 48 & 15)
    theirs = (their_near & 15) + 0.2 * (their_near >> 4 & 15) - 0.3 * (their_far >> 48 & 15)
    return 0.05 * (mine - theirs)


@kernel
def borne_off(position):
    """Checkers borne off, less theirs."""
    return 0.1 * ((position[0] & 15) - (position[2] & 15))


AHEAD = Player("ahead", KernelEvaluator(GAME, ahead))
OFF = Player("off", KernelEvaluator(GAME, borne_off))
RANDOM = Player("random")


def choices(player: Player, records: Any) -> list[list[float]]:
    """Returns the loss of each decision by `ahead`, computed in a few plain lines."""
    evaluator = AHEAD.evaluator
    assert evaluator is not None
    seat, found = player.seat(GAME, Limits(0)), []
    for record in records:
        found.append([])
        for position, roll in zip(record.positions[:-1], record.rolls, strict=True):
            after = {m: GAME.play(position, m) for m in GAME.legal_moves(position, roll)}
            values = {m: -(GAME.outcome(p) or evaluator(p)) for m, p in after.items()}
            if len(values) > 1:
                found[-1].append(max(values.values()) - values[seat.choose(position, roll)])
    return found


@compiled_only
def test_losses_by_their_twin() -> None:
    records = sample_games(GAME, AHEAD, games=5, seed=1)
    expected = choices(OFF, records)
    found = equity_loss(GAME, OFF, AHEAD, records)
    flat = np.concatenate([np.array(losses) for losses in expected])
    assert (found.games, found.decisions) == (5, len(flat))
    assert found.loss.value == pytest.approx(flat.mean())
    assert found.agreement.value == np.mean(flat == 0)
    assert 0 < found.loss.low < found.loss.value < found.loss.high
    assert found.text().startswith("off loses ")
    assert f"{1000 * flat.mean():.2f} [" in found.text()
    assert json.loads(json.dumps(found.figures()))["decisions"] == len(flat)


@compiled_only
def test_a_player_loses_nothing_by_itself_and_chance_most() -> None:
    records = sample_games(GAME, OFF, games=4, seed=2)
    itself = equity_loss(GAME, AHEAD, AHEAD, records)
    assert (itself.loss.value, itself.loss.low, itself.agreement.value) == (0, 0, 1)
    assert itself.agreement.low < 1
    assert equity_loss(GAME, RANDOM, AHEAD, records).loss.low > 0
    deeper = equity_loss(GAME, AHEAD, AHEAD, records[:1], referee_limits=Limits(1))
    assert 0 < deeper.loss.value < 0.1
    same = equity_loss(GAME, AHEAD, AHEAD, records[:1], limits=Limits(1), referee_limits=Limits(1))
    assert same.loss.value == 0


@compiled_only
def test_workers_and_seeds() -> None:
    one, two = (sample_games(GAME, RANDOM, games=4, seed=3, threads=n) for n in (1, 2))
    assert one == two
    assert len({tuple(record.rolls) for record in one}) == 4
    assert sample_games(GAME, RANDOM, games=4, seed=4) != one
    found = [equity_loss(GAME, OFF, AHEAD, one, threads=n) for n in (1, 2)]
    assert found[0] == found[1]


@compiled_only
def test_on_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backgammon, "evaluators", {"ahead": ahead, "off": borne_off})
    command = "judge backgammon ahead off --referee ahead --games 4 --played-by off --json"
    assert main(command.split()) == 0
    out = capsys.readouterr().out
    assert out.startswith("4 games of off; referee: ahead at depth 0; judged at depth 0")
    first, second = json.loads(out.splitlines()[-1])["judged"]
    assert (first["player"], first["loss"][0]) == ("ahead", 0.0)
    assert second["loss"][0] > 0
    assert main("judge backgammon ahead --referee off@1 --games 1".split()) == 0
    assert "referee: off@1 at depth 1" in capsys.readouterr().out


@installed
@compiled_only
def test_against_gnu_backgammon() -> None:
    players = [parse_player(GAME, name) for name in ("gnubg:0", "pubeval", "gnubg:1")]
    records = sample_games(GAME, players[1], games=3, seed=1, threads=1)
    found = [equity_loss(GAME, player, players[2], records, threads=1) for player in players]
    assert found[2].loss.value == 0
    assert 0 < found[0].loss.value < 0.01 < found[1].loss.value < 0.1
    with pytest.raises(ValueError, match="which give values, found pubeval"):
        equity_loss(GAME, players[0], players[1], records)


test_errors = errors_of(globals())
