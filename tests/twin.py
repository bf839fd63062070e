"""Slow and obvious twins of the search, and games on which both are tested."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from games.contract import Game
from search import WIN


class Twin:
    """Minimax with the quiescence and the win distances of the native search, and nothing else.

    It has no window, no move ordering and no table, only a memory of values it returned. The value
    of a position counts plies from that position, so it is the same on every line of play.
    """

    def __init__(self, game: Game, evaluate: Callable[[Any], float]) -> None:
        self.game = game
        self.evaluate = evaluate
        self.known: dict[tuple[Any, int], float] = {}

    def value(self, position: Any, depth: int) -> float:
        """Returns the value for the side to move, after `depth` plies and then quiescence."""
        key = position, max(depth, 0)
        if key not in self.known:
            self.known[key] = self._value(position, depth)
        return self.known[key]

    def _value(self, position: Any, depth: int) -> float:
        outcome = self.game.outcome(position)
        if outcome is not None:
            if self.game.wins and outcome:
                return WIN if outcome > 0 else -WIN
            return outcome
        if depth <= 0 and not self.game.noisy(position):
            return min(max(self.evaluate(position), -1e11), 1e11)
        return max(value for _, value in self.moves(position, depth))

    def moves(self, position: Any, depth: int) -> list[tuple[Any, float]]:
        """Returns every legal move with its value."""
        return [
            (move, -one_ply_away(self.value(self.game.play(position, move), depth - 1)))
            for move in self.game.legal_moves(position)
        ]


def one_ply_away(value: float) -> float:
    """Returns the value of a win or loss as seen one ply earlier."""
    if value > WIN / 2:
        return value - 1
    return value + 1 if value < -WIN / 2 else value


class PlainFace(Game):
    """A game written as kernels, presented as a game in plain Python."""

    def __init__(self, game: Game) -> None:
        self.inner = game
        self.name, self.version, self.wins = game.name, game.version, game.wins
        self.irreversible = game.irreversible
        for name in ("start", "legal_moves", "play", "outcome", "noisy", "gain", "to_move"):
            setattr(self, name, getattr(game, name))


def random_positions(game: Game, seed: int, count: int, plies: int = 60) -> Iterator[Any]:
    """Returns unfinished positions, each from a different random game."""
    generator = random.Random(seed)
    while count:
        position = game.start()
        for _ in range(generator.randrange(plies)):
            after = game.play(position, generator.choice(game.legal_moves(position)))
            if game.outcome(after) is not None:
                break
            position = after
        yield position
        count -= 1


def torch_values(model: Any, rows: Any) -> Any:
    """Returns what torch makes of the inputs of positions, with the layers of a `NetworkModel`."""
    from learner.models.network_model import forward

    model.read()
    outputs = forward(model.layers, model._rows(rows), sparse=model.sparse)
    return outputs.detach().double().cpu().numpy() * model.evaluator.scale
