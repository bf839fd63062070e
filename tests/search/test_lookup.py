"""Lookups, and the use of known values by searches."""

from __future__ import annotations

import numpy as np
import pytest
from marks import compiled_only, plain
from twin import PlainFace

from games.contract import Game
from games.kernels import kernel
from games.tic_tac_toe import TicTacToe
from search import WIN, Engine, Lookup


@kernel
def probe(tables, position):
    """Probe rows of (own squares, opponent's squares, depth) and their values."""
    known, values = tables
    for i in range(len(values)):
        if known[i, 0] == position[0] and known[i, 1] == position[1]:
            return (True, values[i], known[i, 2])
    return (False, 0.0, 0)


FACES = [TicTacToe(), PlainFace(TicTacToe())]


def lookup_after_move(square: int, value: float, depth: int) -> Lookup:
    """Returns a lookup that knows only the position after X takes a square of the empty board."""
    known = np.array([[0, 1 << square, depth]], dtype=np.int64)
    return Lookup(probe, (known, np.array([value])))


@plain
@pytest.mark.parametrize("game", FACES, ids=["native", "plain"])
def test_a_lookup_is_used_at_the_leaves(game: Game) -> None:
    engine = Engine(game, lookup=lookup_after_move(3, -0.5, 0))
    result = engine.analyse(game.start(), depth=1)
    assert dict(result.moves) == {1 << i: 0.5 if i == 3 else 0.0 for i in range(9)}
    assert (result.move, result.value) == (1 << 3, 0.5)
    assert (result.lookups, result.lookup_hits) == (9, 1)


@plain
@pytest.mark.parametrize("game", FACES, ids=["native", "plain"])
@pytest.mark.parametrize(("depth", "value"), [(0, 0.0), (1, 0.0), (2, 0.5), (9, 0.5)])
def test_a_lookup_counts_where_it_is_deep_enough(game: Game, depth: int, value: float) -> None:
    result = Engine(game, lookup=lookup_after_move(3, -0.5, depth)).analyse(game.start(), depth=3)
    assert dict(result.moves)[1 << 3] == value
    assert result.lookup_hits >= 1
    assert result.lookups > result.lookup_hits


@plain
@pytest.mark.parametrize("game", FACES, ids=["native", "plain"])
def test_wins_in_a_lookup_count_plies_from_its_position(game: Game) -> None:
    engine = Engine(game, lookup=lookup_after_move(7, 4 - WIN, 99))
    result = engine.search(game.start(), depth=3)
    assert (result.move, result.value, result.plies_to_end) == (1 << 7, WIN - 5, 5)


@plain
def test_a_lookup_may_be_filled_while_it_is_in_use() -> None:
    lookup = lookup_after_move(3, 0.0, 9)
    engine = Engine(TicTacToe(), lookup=lookup)
    assert engine.search((0, 0, 0), depth=1).value == 0
    lookup.tables[1][0] = -0.25
    assert engine.search((0, 0, 0), depth=1).value == 0.25


@compiled_only
def test_a_native_game_takes_no_probe_in_plain_python() -> None:
    with pytest.raises(TypeError, match="expected a probe marked with @kernel"):
        Engine(TicTacToe(), lookup=Lookup(lambda tables, position: (False, 0.0, 0)))


class Memory(Lookup):
    """A lookup that is filled while it is in use, and empty at first."""

    def __init__(self) -> None:
        known = np.zeros((1, 3), dtype=np.int64)
        known[0, 0] = -1
        super().__init__(probe, (known, np.zeros(1)))

    def __len__(self) -> int:
        return int(self.tables[0][0, 0] >= 0)


@plain
@pytest.mark.parametrize("game", FACES, ids=["native", "plain"])
def test_a_lookup_that_is_empty_at_first_is_asked_all_the_same(game: Game) -> None:
    memory = Memory()
    engine = Engine(game, lookup=memory)
    first = engine.analyse(game.start(), depth=1)
    assert (first.lookups, first.lookup_hits) == (9, 0)
    known, values = memory.tables
    known[0], values[0] = (0, 1 << 3, 0), -0.5
    engine.clear()
    assert engine.analyse(game.start(), depth=1).lookup_hits == 1
