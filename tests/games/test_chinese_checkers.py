"""Chinese Checkers: the star, the rules beside OpenSpiel's, texts and terms."""

from __future__ import annotations

import random
from typing import Any

import pytest

from games.chinese_checkers import ChineseCheckers
from games.chinese_checkers.rules import PASS
from games.chinese_checkers.star import CELLS, DISTANCES, NEIGHBOURS, POINTS

pytestmark = pytest.mark.plain


def game_of(players: int, last_move: int = 1000) -> ChineseCheckers:
    return ChineseCheckers(players, last_move)


def board(game: ChineseCheckers, position: Any) -> list[str]:
    return [line[:25].rstrip() for line in game.show(position).splitlines()[:17]]


def test_the_star() -> None:
    assert CELLS == 121 and sorted(map(len, POINTS)) == [10] * 6
    assert len({cell for point in POINTS for cell in point}) == 60
    # every step back leads to where one came from: left is 2, right is 3, and so on
    for cell in range(CELLS):
        for direction, other in enumerate(NEIGHBOURS[cell]):
            assert other < 0 or NEIGHBOURS[other, 5 - direction] == cell
    # distances are the numbers of steps of the shortest way, by breadth-first search
    for point in range(6):
        (tip,) = (cell for cell in POINTS[(point + 3) % 6] if DISTANCES[point, cell] == 0)
        steps, reached = {tip: 0}, [tip]
        for cell in reached:
            for other in NEIGHBOURS[cell]:
                if other >= 0 and other not in steps:
                    steps[int(other)] = steps[cell] + 1
                    reached.append(int(other))
        assert [steps[cell] for cell in range(CELLS)] == DISTANCES[point].tolist()


def test_a_player_without_a_move_passes() -> None:
    # two rows of others in front of the northern point: no step, and no cell to hop to
    game = game_of(3)
    rows = game.position_text(game.start()).split()[0].replace("2", ".").split("/")
    rows[4], rows[5] = "....22222....", "...222223..."
    rows[12] = rows[12].replace("3", ".", 1)
    stuck = game.parse_position("/".join(rows) + " 1 4")
    assert game.legal_moves(stuck) == [PASS] and game.move_text(stuck, PASS) == "pass"
    assert board(game, game.play(stuck, PASS)) == board(game, stuck)
    rows[5] = "...22222.3.."
    free = game.parse_position("/".join(rows) + " 1 4")
    assert [game.move_text(free, move) for move in game.legal_moves(free)] == ["9-31", "9-33"]


def test_who_fills_the_opposite_point_first_wins() -> None:
    game = game_of(3)
    rows = game.position_text(game.start()).split()[0].replace("1", ".").split("/")
    rows[12] = rows[12][:4] + "1" + rows[12][5:]
    rows[13:] = [".111", "111", "11", "1"]
    position = game.parse_position("/".join(rows) + " 1 99")
    assert game.outcome(position) is None
    won = game.play(position, game.parse_move(position, "102-111"))
    assert game.outcome_vector(won) == (-1, -1, 2) and game.legal_moves(won) == []
    other = game.play(position, game.parse_move(position, "102-103"))
    assert game.outcome_vector(other) is None


def test_terms_of_the_start_and_after_a_move() -> None:
    game = game_of(3)
    race = game.features["race"]
    start = game.start()
    before = dict(zip(race.names, race.values(start), strict=True))
    # from the tip: 16 steps, then twice 15, three times 14 and four times 13; ten pieces that have
    # arrived still count 0 + 2 + 6 + 12
    assert before["steps"] == 16 + 30 + 42 + 52 - 20
    assert before["steps"] == before["rival_steps"] == before["leader_steps"]
    after = game.play(start, game.parse_move(start, "3-14"))
    turned = game.turn(game.turn(after))
    own = dict(zip(race.names, race.values(turned), strict=True))
    assert own["steps"] == before["steps"] - 2 and own["rival_steps"] == before["rival_steps"]
    assert game.gain(start, game.parse_move(start, "3-14")) == 2
    # a lead over two others is theirs against one another and the first, by half each
    lead = game.features["lead"]
    assert lead.values(start) == [0.0] * len(lead)
    views = [after, game.turn(after), turned]
    for values in zip(*map(lead.values, views), strict=True):
        assert values[0] == values[1] == -values[2] / 2
    assert dict(zip(lead.names, lead.values(turned), strict=True))["steps_ahead"] == 2


# --- OpenSpiel ---------------------------------------------------------------------------------


def turns(state: Any) -> list[Any]:
    """Returns the states after each complete move of OpenSpiel, whose hops are single actions."""
    found = []
    for action in state.legal_actions():
        child = state.child(action)
        more = not child.is_terminal() and "hopping" in str(child)
        found += turns(child) if more else [child]
    return found


@pytest.mark.openspiel
@pytest.mark.thorough
@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize(("greed", "last"), [(0.0, 30), (0.9, 100)])
def test_positions_of_random_games_are_those_of_openspiel(
    players: int, greed: float, last: int
) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    generator = random.Random(players)
    game = game_of(players, last_move=last)
    text = f"chinese_checkers(players={players},max_moves={last})"
    state = pyspiel.load_game(text).new_initial_state()
    position = game.start()
    while not state.is_terminal():
        after = {
            tuple(board(game, game.play(position, move))): move
            for move in game.legal_moves(position)
        }
        ends = {tuple(str(end).splitlines()[:17]): end for end in turns(state)}
        assert set(ends) == set(after)
        # now and then the move that leads farthest, so that games come to an end
        far = max(sorted(after), key=lambda one: game.gain(position, after[one]))
        chosen = far if generator.random() < greed else generator.choice(sorted(after))
        state, position = ends[chosen], game.play(position, after[chosen])
        assert game.to_move(position) == position[-1] % players
    vector = game.outcome_vector(position)
    assert vector is not None
    mover = game.to_move(position)
    assert [vector[(side - mover) % players] for side in range(players)] == state.returns()
