"""The rules of checkers against published counts, their own source, and OpenSpiel."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from games.checkers import rules
from games.checkers.notation import captured_squares, move_path, parse_position, squares_of
from games.checkers.rules import BLACK, FIRST_ROW, LAST_ROW, MOST_MOVES, SQUARES, START

Position = tuple[int, int, int, int]


def legal(position: Position, write: Any = rules.legal_moves) -> list[int]:
    moves = np.zeros(MOST_MOVES, dtype=np.int64)
    return [int(move) for move in moves[: write(position, moves)]]


def random_game(generator: random.Random, plies: int = 150) -> Iterator[tuple[Position, list[int]]]:
    """Yields the positions of a random game with their legal moves."""
    position = START
    for _ in range(plies):
        moves = legal(position)
        yield position, moves
        if not moves:
            return
        position = rules.play(position, generator.choice(moves))


@pytest.mark.plain
def test_the_position_that_the_game_begins_with() -> None:
    own, opponent, kings, side = START
    assert (squares_of(own), squares_of(opponent)) == ([*range(1, 13)], [*range(21, 33)])
    assert (kings, side) == (0, BLACK)


@pytest.mark.plain
def test_what_every_move_does_to_the_board() -> None:
    """Every consequence of a move follows from the squares that it names."""
    generator = random.Random(5)
    crowned = captures = long_captures = 0
    for _ in range(20):
        for position, moves in random_game(generator):
            before = tuple(position)
            own, opponent, kings, side = position
            for move in moves:
                path, taken = move_path(move), captured_squares(move)
                source, target = bit(path[0]), bit(path[-1])
                theirs, ours, new_kings, mover = rules.play(position, move)
                captured = sum(bit(square) for square in taken)
                assert tuple(position) == before
                assert mover == 1 - side
                assert ours == own & ~source | target
                assert theirs == opponent & ~captured
                crowning = target & (LAST_ROW if side == BLACK else FIRST_ROW) != 0
                king = kings & source != 0
                assert new_kings == kings & ~source & ~captured | (
                    target if king or crowning else 0
                )
                assert (ours | theirs) & ~SQUARES == 0
                assert rules.gain(position, move) == len(taken)
                assert rules.irreversible(position, move) == (bool(taken) or not king)
                assert rules.noisy(position) == bool(taken)
                crowned += crowning and not king
                captures += bool(taken)
                long_captures += len(taken) > 1
            assert (rules.outcome(position) == -1.0) == (not moves)
    assert crowned and captures and long_captures


def bit(square: int) -> int:
    return 1 << square - 1 + (square - 1) // 8


@pytest.mark.plain
def test_a_king_may_end_where_it_began() -> None:
    position = parse_position("W:WK30:B17,18,25,26")
    paths = sorted(move_path(move) for move in legal(position))
    assert paths == [[30, 21, 14, 23, 30], [30, 23, 14, 21, 30]]
    for move in legal(position):
        assert rules.play(position, move)[:2] == (0, position[0])


class OpenSpielTwin:
    """OpenSpiel's game, with whole captures for moves and our numbers for squares."""

    signs = {"o": "black man", "8": "black king", "+": "white man", "*": "white king"}

    def __init__(self, state: Any) -> None:
        self.state = state

    @staticmethod
    def square(file: int, rank: int) -> int:
        """Returns our number of a square; their first player is at rank 1, ours at the top."""
        return 4 * rank + (7 - file) // 2 + 1

    def squares(self, action: int) -> list[int]:
        text = self.state.action_to_string(self.state.current_player(), action)
        return [self.square(ord(text[i]) - ord("a"), int(text[i + 1]) - 1) for i in (0, 2)]

    def board(self) -> dict[int, str]:
        lines = str(self.state).splitlines()[:8]
        return {
            self.square(file, rank): self.signs[lines[7 - rank][1 + file]]
            for rank in range(8)
            for file in range(8)
            if lines[7 - rank][1 + file] != "."
        }

    def moves(self) -> dict[tuple[int, ...], list[int]]:
        """Returns the actions of every move of the side to move, by the squares that it visits."""
        found: dict[tuple[int, ...], list[int]] = {}
        for action in self.state.legal_actions():
            start, end = self.squares(action)
            if abs((start - 1) // 4 - (end - 1) // 4) == 1:
                found[start, end] = [action]
                continue
            after = OpenSpielTwin(self.state.clone())
            after.state.apply_action(action)
            if after.state.is_terminal() or after.state.current_player() != self.player():
                found[start, end] = [action]
                continue
            for path, rest in after.moves().items():
                found[start, *path] = [action, *rest]
        return found

    def player(self) -> int:
        return int(self.state.current_player())


@pytest.mark.openspiel
def test_every_position_of_random_games_has_the_moves_that_openspiel_finds() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("checkers")
    generator = random.Random(7)
    seen: dict[str, int] = {"long capture": 0, "king": 0, "stuck": 0}
    for _ in range(100):
        twin, position = OpenSpielTwin(game.new_initial_state()), START
        while not twin.state.is_terminal():
            assert twin.player() == position[3]
            assert twin.board() == board(position)
            ours = {tuple(move_path(move)): move for move in legal(position)}
            theirs = twin.moves()
            assert set(ours) == set(theirs)
            path = generator.choice(sorted(theirs))
            for action in theirs[path]:
                twin.state.apply_action(action)
            seen["long capture"] += len(path) > 2
            position = rules.play(position, ours[path])
            seen["king"] += position[2] != 0
        if not legal(position):
            seen["stuck"] += 1
            # OpenSpiel's first player is the one to move in the first position.
            assert twin.state.returns()[position[3]] == -1.0 == rules.outcome(position)
    assert all(seen.values()), seen


def board(position: Position) -> dict[int, str]:
    own, opponent, kings, side = position
    colours = {("black", "white")[side]: own, ("white", "black")[side]: opponent}
    return {
        square: f"{colour} {'king' if kings & bit(square) else 'man'}"
        for colour, pieces in colours.items()
        for square in squares_of(pieces)
    }
