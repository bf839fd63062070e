"""Our evaluators as bots in OpenSpiel's own game loops."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import games
from games.extras import extra
from play.players.limits import Limits
from play.players.parse import seated
from play.protocols.openspiel import OpenSpielChoice, OpenSpielGame, openspiel_bot

pyspiel = pytest.importorskip("pyspiel")
pytestmark = pytest.mark.openspiel

CHECKERS: Any = games.load("checkers")
BACKGAMMON: Any = games.load("backgammon")


def bot(name: str) -> Any:
    if name == "checkers":
        return openspiel_bot(seated(CHECKERS, "classic", Limits(depth=3), table_mib=1))
    return openspiel_bot(seated(BACKGAMMON, "hand", Limits(depth=0), table_mib=1))


def loop() -> Any:
    return pytest.importorskip("open_spiel.python.algorithms.evaluate_bots").evaluate_bots


@pytest.mark.parametrize(("name", "count"), [("checkers", 6), ("backgammon", 6)])
def test_it_beats_random_play_in_openspiels_loops(name: str, count: int) -> None:
    game = pyspiel.load_game(name)
    won = 0.0
    for number in range(count):
        side = number % 2
        rival = pyspiel.make_uniform_random_bot(1 - side, number)
        bots = [bot(name), rival][:: -1 if side else 1]
        if number % 3:
            returns = loop()(game.new_initial_state(), bots, np.random.RandomState(number))
        else:
            returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, number)
        won += returns[side]
    assert won >= count - 1


@pytest.mark.parametrize("name", ["checkers", "backgammon"])
def test_it_plays_what_the_search_finds(name: str) -> None:
    ours = {"checkers": CHECKERS, "backgammon": BACKGAMMON}[name]
    known = extra(ours, OpenSpielGame)
    assert known is not None
    read = known.position
    evaluator, depth = ("classic", 2) if name == "checkers" else ("hand", 0)
    choice = OpenSpielChoice(seated(ours, evaluator, Limits(depth=depth), table_mib=1))
    own = seated(ours, evaluator, Limits(depth=depth), table_mib=1)
    generator = random.Random(5)
    several = 0
    for number in range(2):
        state = pyspiel.load_game(name).new_initial_state()
        choice.restart()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(generator.choice(state.chance_outcomes())[0])
                continue
            player = state.current_player()
            position = read(state, player)
            assert ours.to_move(position) == player
            if player != number % 2:
                while not state.is_terminal() and state.current_player() == player:
                    state.apply_action(generator.choice(state.legal_actions()))
                continue
            roll = None
            if name == "backgammon":
                dice = [int(x) for x in state.observation_tensor(0)[198:200]]
                roll = ours.dice.parse("{}{}".format(*dice))
            values = dict(own.think(position, roll=roll, all_moves=True).moves)
            steps = 0
            while not state.is_terminal() and state.current_player() == player:
                state.apply_action(choice.action(state))
                steps += 1
            several += steps > 1
            after = read(state, 1 - player)
            reached = [
                value for move, value in values.items() if ours.play(position, move) == after
            ]
            assert reached == [max(values.values())]
    assert several > 0


@pytest.mark.parametrize("name", ["checkers", "backgammon"])
def test_it_can_be_called_in_the_middle_of_a_move(name: str) -> None:
    generator = random.Random(2)
    found = 0
    choices = {}
    for _ in range(12):
        state = pyspiel.load_game(name).new_initial_state()
        last = None
        while not state.is_terminal() and found < 4:
            if state.is_chance_node():
                state.apply_action(generator.choice(state.chance_outcomes())[0])
                last = None
                continue
            if last == state.current_player() and len(state.legal_actions()) > 1:
                if name not in choices:
                    choices[name] = OpenSpielChoice(
                        seated(
                            games.load(name),
                            "material" if name == "checkers" else "pips",
                            Limits(depth=1 if name == "checkers" else 0),
                            table_mib=1,
                        )
                    )
                choices[name].restart()
                assert choices[name].action(state) in state.legal_actions()
                found += 1
            last = state.current_player()
            state.apply_action(generator.choice(state.legal_actions()))
    assert found > 0


def test_other_games_are_refused() -> None:
    other = seated(games.load("tic_tac_toe"), "open_lines", Limits(depth=1))
    with pytest.raises(ValueError, match="such as checkers, found tic_tac_toe"):
        openspiel_bot(other)
    choice = OpenSpielChoice(seated(CHECKERS, "material", Limits(depth=1)))
    with pytest.raises(ValueError, match="expected a state of checkers, found one of tic_tac_toe"):
        choice.action(pyspiel.load_game("tic_tac_toe").new_initial_state())
