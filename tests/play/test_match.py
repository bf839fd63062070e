"""Players, openings, matches, ladders and judgements."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from interrupts import ctrl_c_at_workers
from marks import compiled_only, plain
from toys import Pile

from games import Game
from games.checkers import Checkers
from games.nim import Nim
from games.record import GameRecord
from games.tic_tac_toe import TicTacToe
from play.__main__ import main
from play.matches import loop, openings
from play.matches.driver import play_match
from play.matches.loop import play
from play.matches.openings import Openings
from play.matches.report import Match, all_games
from play.players.limits import Limits
from play.players.player import Player
from play.ratings.sprt import Sprt
from search import PythonEvaluator, as_evaluator
from search.lookups.database import DatabaseLookup

CHECKERS = Checkers()
TIC_TAC_TOE = TicTacToe()
RANDOM = Player("random", None)
DEPTH_1, DEPTH_2 = Limits(depth=1), Limits(depth=2)


class Stakes(Pile):
    """The same game played for points."""

    wins = False

    def outcome(self, sticks: int) -> float | None:
        return None if sticks else -7.5


class Ring(Game):
    """Walk around a ring of seven squares for ever."""

    def start(self) -> int:
        return 0

    def legal_moves(self, square: int) -> list[int]:
        return [1, 6]

    def play(self, square: int, move: int) -> int:
        return (square + move) % 7

    def outcome(self, square: int) -> float | None:
        return None

    @staticmethod
    def irreversible(square: int, move: int) -> bool:
        return False


class Counter(Game):
    """Count up for ever, by one or by two."""

    def start(self) -> int:
        return 0

    def legal_moves(self, number: int) -> list[int]:
        return [1, 2]

    def play(self, number: int, move: int) -> int:
        return number + move

    def outcome(self, number: int) -> float | None:
        return None


def checkers_player(name: str, **options: Any) -> Player:
    return Player(name, as_evaluator(CHECKERS, name), options=options)


def moves_of(match: Match) -> list[tuple[Any, ...]]:
    return [tuple(record.moves) for _, (record,) in all_games([match])]


# Players


@plain
def test_limits_as_text() -> None:
    assert str(Limits(depth=5)) == "depth 5 a move"
    assert str(Limits(depth=5, nodes=1000, seconds=0.5)) == "depth 5, 1000 nodes, 0.5 s a move"


@plain
def test_chance_is_the_seed_alone() -> None:
    def game(seed: int, *, before: int | None = None) -> list[Any]:
        seats = RANDOM.seat(TIC_TAC_TOE, DEPTH_1), RANDOM.seat(TIC_TAC_TOE, DEPTH_1)
        for seeds in [before, seed] if before is not None else [seed]:
            seats[0].begin(seeds)
            seats[1].begin(seeds + 1)
            record = play(GameRecord(TIC_TAC_TOE), seats)
        return record.moves

    assert game(5) == game(5) == game(5, before=8)
    assert len({tuple(game(seed)) for seed in range(20)}) > 10


# Openings


@compiled_only
def test_three_plies_come_first() -> None:
    sequences = [
        (a, b, c)
        for a in CHECKERS.legal_moves(CHECKERS.start())
        for b in CHECKERS.legal_moves(after(CHECKERS, (a,)))
        for c in CHECKERS.legal_moves(after(CHECKERS, (a, b)))
    ]
    assert len(sequences) == 302
    found = list(islice(Openings(CHECKERS, seed=4), 500))
    assert [len(moves) for moves in found] == 216 * [3] + 284 * [4]
    assert set(found[:216]) <= set(sequences)
    assert len({after(CHECKERS, moves) for moves in found}) == 500


def after(game: Game, moves: tuple[Any, ...]) -> Any:
    position = game.start()
    for move in moves:
        assert move in game.legal_moves(position)
        position = game.play(position, move)
    return position


@compiled_only
def test_openings_are_the_seeds() -> None:
    one = Openings(CHECKERS, seed=1)
    first = list(islice(one, 300))
    assert first == list(islice(one, 300)) == list(islice(Openings(CHECKERS, seed=1), 300))
    assert first[:216] != list(islice(Openings(CHECKERS, seed=2), 216))


@pytest.fixture
def few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small games run out of openings after fewer lines that are repeated."""
    monkeypatch.setattr(openings, "_TRIES", 200)


def test_openings_run_out(few_tries: None) -> None:
    ends = [after(Nim(), moves) for moves in Openings(Nim(), plies=1)]
    assert 10 < len(ends) == len(set(ends))
    assert all(Nim().outcome(position) is None for position in ends)
    assert list(Openings(Nim((1, 2, 3)), plies=10)) == []
    assert list(Openings(Pile(), plies=0))[0] == ()


@plain
def test_openings_pass_no_position_twice(few_tries: None) -> None:
    for plies in range(9):
        for moves in Openings(Ring(), plies=plies):
            passed = [after(Ring(), moves[:i]) for i in range(len(moves) + 1)]
            assert len(set(passed)) == len(passed) > plies
    assert len(list(Openings(Ring(), plies=3))) == 6  # every square but the first


@compiled_only
def test_too_many_positions_to_list() -> None:
    found = list(islice(Openings(CHECKERS, plies=20), 20))
    assert all(len(moves) == 20 for moves in found)
    assert found == list(islice(Openings(CHECKERS, plies=20), 20))
    # a long training run must not drift to openings of many random plies
    assert {len(moves) for moves in islice(Openings(CHECKERS, plies=9), 250)} == {9}


# Matches


@compiled_only
@pytest.mark.parametrize(
    "player",
    [checkers_player("classic"), checkers_player("material", seed=1)],
    ids=["classic", "shuffled"],
)
def test_against_itself_every_pair_is_even(player: Player) -> None:
    match = play_match(CHECKERS, player, player, limits=DEPTH_2, games=20)
    assert [sum(pair) for pair in match.scores] == 10 * [1.0]
    assert match.summary().score.value == 0.5
    assert (match.games, match.different) == (20, 10)


def test_the_games_of_a_pair_of_random_players_are_independent() -> None:
    match = play_match(TicTacToe(), RANDOM, RANDOM, limits=DEPTH_1, games=60)
    points = np.array(match.scores)
    assert len(set(points.sum(axis=1).tolist())) > 2
    assert match.games == 60 and match.different > 50


@pytest.mark.parametrize(
    ("players", "said"),
    [
        ("open_lines random", ", search: late_moves=1.2,singular=6"),
        ("open_lines@exact open_lines", ", open_lines@exact: exact, open_lines: late_moves="),
        ("random random", "random: depth 2 a move, openings of 3 plies or more"),
        ("open_lines@nodes=9 random", "depth 2 a move, but for open_lines@nodes=9 by its name, op"),
        ("open_lines@nodes=9 open_lines@depth=1", ": limits by the players' names, openings"),
    ],
)
def test_the_first_line_says_how_players_search(
    players: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["match", "tic_tac_toe", *players.split(), "--games", "2", "--depth", "2", "--quiet"]
    assert main(command) == 0
    assert said in capsys.readouterr().out.splitlines()[0]


def test_games_that_repeat_others_with_colours_swapped_are_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["match", "tic_tac_toe", "open_lines", "open_lines", "--games", "8", "--quiet"]
    assert main(command) == 0
    said = "repeats of another game with colours swapped: 4; 0 pairs left out"
    assert said in capsys.readouterr().out


@compiled_only
@pytest.mark.parametrize("shuffle", [None, 3])
def test_threads_change_nothing(shuffle: int | None) -> None:
    def played(threads: int, seed: int = 7) -> list[tuple[Any, ...]]:
        first = checkers_player("material", seed=shuffle)
        options: dict[str, Any] = {"limits": DEPTH_2, "games": 8, "seed": seed}
        return moves_of(play_match(CHECKERS, first, RANDOM, threads=threads, **options))

    assert played(1) == played(2) == played(3)
    assert played(2) != played(2, seed=8)


@compiled_only
@pytest.mark.parametrize(
    "player", [RANDOM, checkers_player("material", seed=0)], ids=["random", "shuffled"]
)
def test_chance_differs_from_pair_to_pair(player: Player) -> None:
    again: Any = 6 * [()]
    match = play_match(CHECKERS, player, player, limits=DEPTH_1, games=12, openings=again)
    assert (len(match.units), match.repeated) == (6, 0)


@plain
def test_repeated_games_are_not_counted() -> None:
    class Fixed(Game):
        """Two openings, of which the second leads into the first's game."""

        def start(self) -> str:
            return ""

        def legal_moves(self, text: str) -> list[str]:
            return [] if len(text) == 3 else ["a", "b"]

        def play(self, text: str, move: str) -> str:
            return text + move

        def outcome(self, text: str) -> float | None:
            return 0.0 if len(text) == 3 else None

    player = Player("zero", as_evaluator(Fixed(), None))
    # From "" and from "a" the player makes the same game: the second pair repeats the first.
    lines: Any = [(), ("a",), ("b",)]
    match = play_match(Fixed(), player, player, limits=DEPTH_1, games=50, openings=lines)
    assert (len(match.units), match.repeated, match.interrupted) == (2, 1, False)


@compiled_only
def test_sprt_stops_early() -> None:
    sprt = Sprt(0, 100)
    first = checkers_player("classic")
    match = play_match(CHECKERS, first, RANDOM, limits=DEPTH_1, games=2000, sprt=sprt)
    assert match.verdict == "accept H1" == sprt.verdict(match.summary().tally)
    assert 2 <= len(match.units) < 100
    without_last = Match(CHECKERS, ("", ""), DEPTH_1, units=match.units[:-1])
    assert sprt.verdict(without_last.summary().tally) == "continue"
    match = play_match(CHECKERS, RANDOM, first, limits=DEPTH_1, games=2000, sprt=sprt)
    assert match.verdict == "accept H0"
    match = play_match(CHECKERS, first, RANDOM, limits=DEPTH_1, games=2, sprt=sprt)
    assert match.verdict == "continue"


@compiled_only
def test_equal_nodes_and_seconds() -> None:
    first, second = checkers_player("classic"), checkers_player("material")
    match = play_match(CHECKERS, first, second, limits=Limits(nodes=500), games=4)
    again = play_match(CHECKERS, first, second, limits=Limits(nodes=500), games=4, threads=1)
    assert moves_of(match) == moves_of(again)
    depths = [
        note.depth
        for _, (record,) in all_games([match])
        for note in record.annotations
        if note.depth is not None
    ]
    assert len(set(depths)) > 3
    match = play_match(CHECKERS, first, second, limits=Limits(seconds=0.001), games=4)
    assert match.summary().games == 4


@compiled_only
def test_ctrl_c_ends_games_under_way() -> None:
    first, second = checkers_player("classic"), checkers_player("material")
    with ctrl_c_at_workers():
        match = play_match(CHECKERS, first, second, limits=Limits(depth=100), games=100_000)
    assert match.interrupted
    assert all(record.over for _, (record,) in all_games([match]))


def test_plain_games() -> None:
    def remainder(sticks: int) -> float:
        return -0.5 if sticks % 4 == 0 else 0.5

    for game in (Pile(), Stakes()):
        strong = Player("strong", as_evaluator(game, remainder))
        match = play_match(game, strong, RANDOM, limits=DEPTH_1, games=12)
        assert len(match.units) == 6
        assert match.summary().score.value > 0.8
        assert match.summary().draws == 0
        # both play perfectly, so each wins the openings that are won
        match = play_match(game, strong, Player("also", strong.evaluator), limits=DEPTH_1, games=12)
        assert match.summary().score.value == 0.5


@plain
def test_games_without_an_end_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    match = play_match(Ring(), RANDOM, RANDOM, limits=DEPTH_1, games=4)
    assert match.summary().draws == 4
    assert {record.reason for _, (record,) in all_games([match])} == {"repetition"}
    monkeypatch.setattr(loop, "MOST_PLIES", 30)
    match = play_match(Counter(), RANDOM, RANDOM, limits=DEPTH_1, games=4)
    assert match.summary().draws == 4
    assert {(r.reason, r.ply) for _, (r,) in all_games([match])} == {("30 plies", 30)}


@plain
def test_errors_of_an_evaluator_reach_the_caller() -> None:
    def fails(position: Any) -> float:
        raise ZeroDivisionError("no such luck")

    player = Player("fails", PythonEvaluator(TIC_TAC_TOE, fails))
    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError, match="no such luck"):
            play_match(TIC_TAC_TOE, RANDOM, player, limits=DEPTH_1, games=20, threads=threads)


# Adjudication


@compiled_only
def test_a_database_ends_games_with_its_result() -> None:
    database = DatabaseLookup(CHECKERS, "endgame")
    probe = database.plain()
    first, second = checkers_player("classic"), checkers_player("material")
    options: dict[str, Any] = {"limits": DEPTH_1, "games": 20, "threads": 1, "seed": 3}
    whole = play_match(CHECKERS, first, second, **options)
    ended = play_match(CHECKERS, first, second, database=database, **options)
    seen = set()
    for (_, (played,)), (_, (cut,)) in zip(all_games([whole]), all_games([ended]), strict=True):
        known = (ply for ply, at in enumerate(played.positions) if probe(at)[0])
        ply = next(known, len(played.moves))
        assert cut.moves == played.moves[:ply]
        if ply == len(played.moves):
            assert (cut.outcome(), cut.reason) == (played.outcome(), played.reason)
            continue
        value = probe(cut.position)[1] * (-1 if cut.to_move else 1)
        assert (cut.outcome(), cut.reason) == (float((value > 0) - (value < 0)), "database")
        seen.add(cut.outcome())
    assert seen == {-1.0, 0.0, 1.0}


test_errors = errors_of(globals())
