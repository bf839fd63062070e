"""OpenSpiel's games against OpenSpiel itself, and everywhere that a game of one's own is."""

from __future__ import annotations

import functools
import pickle
import random
from typing import Any

import pytest
from errors import errors_of

import games
from games import PositionError, check_game
from games.openspiel import PASS, OpenSpielDice
from learner.gradient.temporal_difference import TemporalDifference
from play.players.limits import Limits
from play.players.parse import seated
from play.protocols.openspiel import openspiel_bot
from search import Engine, load_evaluator

pyspiel = pytest.importorskip("pyspiel")
pytestmark = [pytest.mark.openspiel, pytest.mark.plain]

#: Checked in each run of the tests; in dots_and_boxes and mancala a player may move twice running.
FEW = ("breakthrough", "dots_and_boxes", "mancala", "tic_tac_toe")


#: All of the kind that fits.
ALL = (
    "amazons antichess breakthrough checkers chess chinese_checkers clobber connect_four crazyhouse"
    " cursor_go dots_and_boxes go gomoku havannah hex hive lines_of_action mancala mnk nim"
    " nine_mens_morris othello oware pentago quoridor shogi tic_tac_toe twixt ultimate_tic_tac_toe"
    " xiangqi y"
).split()


def test_all_of_the_kind_are_known_by_what_openspiel_says_of_them() -> None:
    kind = pyspiel.GameType
    fitting = [
        found.short_name
        for found in pyspiel.registered_games()
        if found.default_loadable
        and found.dynamics == kind.Dynamics.SEQUENTIAL
        and found.information == kind.Information.PERFECT_INFORMATION
        and found.utility == kind.Utility.ZERO_SUM
        and found.chance_mode == kind.ChanceMode.DETERMINISTIC
        and pyspiel.load_game(found.short_name).num_players() == 2
    ]
    assert sorted(fitting) == ALL and len(ALL) == 31


def follow(name: str, plies: int, seed: int) -> int:
    """Play random games beside states of OpenSpiel's; returns the number of passes."""
    game, chance, passes = games.load(f"openspiel:{name}"), random.Random(seed), 0
    while plies > 0:
        state, position = pyspiel.load_game(name).new_initial_state(), game.start()
        while not state.is_terminal() and plies > 0:
            assert game.outcome(position) is None
            if state.current_player() != game.to_move(position):
                assert game.legal_moves(position) == [PASS]
                position, passes = game.play(position, PASS), passes + 1
            assert game.to_move(position) == state.current_player()
            assert game.legal_moves(position) == state.legal_actions()
            action = chance.choice(state.legal_actions())
            state.apply_action(action)
            position = game.play(position, action)
            plies -= 1
        if state.is_terminal():
            assert game.legal_moves(position) == []
            assert game.outcome(position) == state.returns()[game.to_move(position)]
    return passes


@pytest.mark.parametrize("name", FEW)
def test_games_are_those_of_openspiel_move_by_move(name: str) -> None:
    assert (follow(name, 400, seed=1) > 0) == (name in ("dots_and_boxes", "mancala"))
    check_game(games.load(f"openspiel:{name}"))


@pytest.mark.slow
@pytest.mark.timeout(7200)  # each position of a long game is found again from its first move
@pytest.mark.parametrize("name", ALL)
def test_all_of_them_are(name: str) -> None:
    follow(name, 100_000, seed=2)
    check_game(games.load(f"openspiel:{name}"))


def follow_dice(name: str, plies: int, seed: int) -> None:
    """As `follow`, with states of chance; each state is found again by its position and roll."""
    game, chance = games.load(f"openspiel:{name}"), random.Random(seed)
    assert isinstance(game, OpenSpielDice)
    while plies > 0:
        state = pyspiel.load_game(name).new_initial_state()
        while not state.is_terminal() and plies > 0:
            if not state.is_chance_node():
                position, roll = game.turn_in(state)
                assert game.to_move(position) == state.current_player()
                moves = game.legal_moves(position, roll)
                assert [game.action_of(move) for move in moves] == state.legal_actions()
                plies -= 1
            state.apply_action(chance.choice(state.legal_actions()))
        position, _ = game.turn_in(state)
        if state.is_terminal():
            assert game.outcome(position) == state.returns()[game.to_move(position)]


@pytest.mark.parametrize("name", ["backgammon", "einstein_wurfelt_nicht", "maedn", "pig"])
def test_games_with_dice_are_those_of_openspiel_move_by_move(name: str) -> None:
    follow_dice(name, 60, seed=1)
    game: Any = games.load(f"openspiel:{name}")
    position = game.start()
    for roll in range(4):
        position = game.play(position, game.legal_moves(position, roll)[-1])
    assert pickle.loads(pickle.dumps(position)) == position
    with pytest.raises(PositionError, match="9999 is no outcome of the (dice|set-up)"):
        game.parse_position("9999 0")


def test_chance_says_who_begins_backgammon() -> None:
    game: Any = games.load("openspiel:backgammon")
    first, second = game.dice.starts
    assert first != second and (game.to_move(first), game.to_move(second)) == (0, 1)
    assert game.parse_position(game.position_text(second)) == second
    assert sum(game.dice.first) == pytest.approx(1.0) and sum(map(bool, game.dice.first)) == 15
    assert len(game.dice.rolls) == 36


@pytest.mark.slow
@pytest.mark.parametrize("name", ["backgammon", "einstein_wurfelt_nicht", "maedn", "pig"])
def test_all_with_dice_are(name: str) -> None:
    follow_dice(name, 2_000, seed=2)
    check_game(games.load(f"openspiel:{name}"))


def test_a_search_values_dice_as_an_average_over_outcomes_does() -> None:
    """Pig to three points: at once over when a roll brings so many."""
    name = "pig(winscore=3)"

    def value(state: Any, depth: int) -> float:
        """The result for player 0, with nothing known after `depth` of our plies."""
        if state.is_terminal():
            return float(state.returns()[0])
        return 0.0 if depth == 0 else sum(
            chance * value(state.child(outcome), depth - 1)
            for outcome, chance in state.chance_outcomes()
        )  # fmt: skip

    game: Any = games.load(f"openspiel:{name}")
    after = game.play(game.start(), game.legal_moves(game.start(), 0)[0])
    state = pyspiel.load_game(name).new_initial_state()
    state.apply_action(game.legal_moves(game.start(), 0)[0][1])
    assert state.is_chance_node()
    found = Engine(game, lambda position: 0.0).search(after, depth=1).value
    assert found == pytest.approx(-value(state, 1))


@pytest.mark.parametrize("name", ["tic_tac_toe", "einstein_wurfelt_nicht"])
def test_n_tuples_over_its_squares_learn_and_are_a_bot(name: str, tmp_path: Any) -> None:
    game: Any = games.load(f"openspiel:{name}")
    learner = TemporalDifference(game, games=6, depth=0 if game.dice else 1, seed=1)
    learner.set_params(tuples="walks:6,3", rate=1.0)
    path = tmp_path / "tuples.safetensors"
    learner.fit().evaluator_.save(path)
    loaded: Any = load_evaluator(path, game=game)
    assert any(loaded.weights)
    spiel = pyspiel.load_game(name)
    depth = 0 if game.dice else 9
    bot = openspiel_bot(seated(game, str(path), Limits(depth=depth), table_mib=1))
    returns = pyspiel.evaluate_bots(
        spiel.new_initial_state(), [bot, pyspiel.make_uniform_random_bot(1, 1)], 1
    )
    assert sum(returns) == 0 and (game.dice or returns[0] >= 0)


def test_squares_say_what_stands_on_them_and_who_moves() -> None:
    game: Any = games.load("openspiel:tic_tac_toe")
    after = game.play(game.start(), 4)
    places = [place for place in game.encodings["squares"].places(after) if place >= 0]
    assert sorted(place % 9 for place in places if place < 27) == [*range(9)]
    assert len({place // 9 for place in places if place < 27 and place % 9 != 4}) == 1
    assert len(game.encodings["squares"]) == 28 and 27 in places


def test_a_search_values_a_game_of_two_turns_running_as_plain_minimax_does() -> None:
    name = "dots_and_boxes(num_rows=1,num_cols=2)"

    @functools.cache
    def value(history: tuple[int, ...]) -> float:
        """The result for player 0."""
        state = pyspiel.load_game(name).new_initial_state()
        for action in history:
            state.apply_action(action)
        if state.is_terminal():
            return float(state.returns()[0])
        best = max if state.current_player() == 0 else min
        return best(value((*history, action)) for action in state.legal_actions())

    game = games.load(f"openspiel:{name}")
    engine = Engine(game, None)
    for first in game.legal_moves(game.start()):
        after = game.play(game.start(), first)
        found = engine.search(after, depth=14).value
        assert (found > 0) - (found < 0) == -value((first,))


def test_texts_and_copies_lead_to_the_same_position() -> None:
    game = games.load("openspiel:mancala")
    position = game.start()
    for _ in range(12):
        position = game.play(position, game.legal_moves(position)[-1])
    assert pickle.loads(pickle.dumps(position)) == position
    assert game.parse_position(game.position_text(position)) == position
    assert game.position_text(game.start()) == "start"
    with pytest.raises(PositionError, match="9 is not legal after"):
        game.parse_position("3 9")
    with pytest.raises(PositionError, match="or start, found 'x'"):
        game.parse_position("x")


@pytest.mark.thorough
def test_a_network_over_its_observation_learns_and_is_a_bot(tmp_path: Any) -> None:
    game: Any = games.load("openspiel:tic_tac_toe")
    learner = TemporalDifference(game, games=10, depth=1, hidden=(8,), inputs="observation", seed=1)
    path = tmp_path / "net.safetensors"
    learner.fit().evaluator_.save(path)
    assert len(load_evaluator(path, game=game).inputs) == 8 * 27
    bot = openspiel_bot(seated(game, str(path), Limits(depth=4), table_mib=1))
    for side in (0, 1):
        rival = pyspiel.make_uniform_random_bot(1 - side, side)
        bots = [bot, rival] if side == 0 else [rival, bot]
        spiel = pyspiel.load_game("tic_tac_toe")
        assert pyspiel.evaluate_bots(spiel.new_initial_state(), bots, side)[side] >= 0
    with pytest.raises(ValueError, match="expected a state of tic_tac_toe"):
        bot.step(pyspiel.load_game("breakthrough").new_initial_state())


test_errors = errors_of(globals())
