"""GNU Backgammon and pubeval as opponents, where `gnubg_nn` is installed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from errors import errors_of
from marks import compiled_only

from games.backgammon import Backgammon
from play.dice import Dice, choice
from play.matches.driver import play_match
from play.players import gnubg
from play.players.gnubg import GnubgNetworks, as_program, board, equity, gnubg_evaluator
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import needs_processes
from play.workers.transport import pack, unpack
from search import Engine

try:
    peer: Any = importlib.import_module("gnubg_nn")
except ImportError:
    peer = None

installed = pytest.mark.skipif(peer is None, reason="needs gnubg_nn")

GAME = Backgammon()
ROOT = Path(__file__).resolve().parents[2]


def random_turns(games: int, *, every: int = 1) -> list[tuple[Any, int]]:
    """Returns positions of random games, each with a roll."""
    found = []
    dice = Dice(GAME, 3)
    for number in range(games):
        position, turn, stream = GAME.start(), 0, dice.stream(number)
        while GAME.outcome(position) is None:
            roll = dice.roll(stream, turn)
            found.append((position, roll))
            moves = GAME.legal_moves(position, roll)
            position = GAME.play(position, moves[int(choice(stream, turn) * len(moves))])
            turn += 1
    return found[::every]


@installed
def test_boards_are_those_of_position_ids() -> None:
    from games.backgammon.identifiers import position_id

    assert peer.position_id(board(GAME.start())) == "4HPwATDgc/ABMA"
    for position, _ in random_turns(4):
        assert peer.position_id(board(position)) == position_id(position)
        theirs, mine = board(position)
        assert sum(mine) == 15 - (position[0] & 15)
        assert peer.board_from_position_id(position_id(position)) == [theirs, mine]


@installed
def test_equities_of_the_start() -> None:
    for ply, value in enumerate((0.067, 0.076, 0.076)):
        assert equity(GAME.start(), ply) == pytest.approx(value, abs=1e-3)
    assert gnubg_evaluator(GAME, 1)(GAME.start()) == equity(GAME.start(), 1)
    over = (15, 0, 0, 15, 0)
    assert equity(over) == GAME.outcome(over) == 2.0


@installed
def test_its_best_move_has_the_best_of_its_equities() -> None:
    seat, twin = GnubgNetworks("gnubg", 0)(GAME), Engine(GAME, gnubg_evaluator(GAME))
    for position, roll in random_turns(4, every=7):
        chosen = GAME.play(position, seat.choose(position, roll))
        best = twin.search(position, roll=roll, depth=0).value
        assert -equity(chosen) == pytest.approx(best, abs=1e-6)


@installed
@compiled_only
@pytest.mark.parametrize("name", ["pubeval", "gnubg:0"])
def test_every_move_is_legal(name: str) -> None:
    assert as_program("hand") is None is as_program("pubeval2")
    program = as_program(name)
    assert program is not None and str(program) == name
    seat = program(GAME)
    forced = 0
    for position, roll in random_turns(25):
        moves = GAME.legal_moves(position, roll)
        assert seat.choose(position, roll) in moves
        forced += moves == [0]
    assert forced > 5


@installed
@compiled_only
def test_matches() -> None:
    players = [parse_player(GAME, name) for name in ("pubeval", "random", "gnubg:0")]
    assert needs_processes(players[0]) and not needs_processes(players[1])
    itself = play_match(GAME, players[0], players[0], games=20, seed=1, threads=1)
    assert all(one == -other for one, other in itself.points)
    itself = play_match(GAME, players[2], players[2], games=20, seed=1, threads=1)
    assert all(one == -other for one, other in itself.points)
    summary = play_match(GAME, *players[:2], games=60, seed=1, threads=1).summary()
    assert summary.mean.low > 1.5


@installed
def test_players_travel_to_other_processes() -> None:
    player = parse_player(GAME, "gnubg:0")
    again = unpack(pack(player))
    assert again == player
    assert again.seat(GAME, Limits(0)).choose(GAME.start(), 3) == player.seat(
        GAME, Limits(0)
    ).choose(GAME.start(), 3)
    evaluator = unpack(pack(gnubg_evaluator(GAME)))
    assert evaluator(GAME.start()) == equity(GAME.start())


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *rest: Any) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    for name in ("pubeval", "gnubg:0"):
        with pytest.raises(ModuleNotFoundError, match=f"player {name}: expected gnubg_nn to be in"):
            parse_player(GAME, name)


@installed
def test_a_move_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mad:
        @staticmethod
        def pub_best_move(board: Any, first: int, second: int) -> list[int]:
            return [23, 0]

        @staticmethod
        def best_move(board: Any, first: int, second: int, ply: int) -> Any:
            return ((2, 1),)

    monkeypatch.setattr(gnubg, "_module", lambda name: Mad)
    with pytest.raises(ValueError, match="player pubeval: expected a legal move with 11 in"):
        GnubgNetworks("pubeval")(GAME).choose(GAME.start(), 0)
    with pytest.raises(ValueError, match="expected moves that begin on points with checkers"):
        GnubgNetworks("gnubg", 0)(GAME).choose(GAME.start(), 0)


@installed
@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "games", "expected", "error"),
    [("pubeval", "random", 4000, 2.49, 0.02), ("gnubg:0", "pubeval", 4000, 0.64, 0.02)],
)
def test_known_strengths(
    first: str, second: str, games: int, expected: float, error: float
) -> None:
    players = (parse_player(GAME, name) for name in (first, second))
    summary = play_match(GAME, *players, games=games, seed=1).summary()
    assert abs(summary.mean.value - expected) < 3 * (summary.standard_error + error)
    assert summary.standard_error < 2 * error


test_errors = errors_of(globals())
