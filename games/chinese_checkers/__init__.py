"""Chinese Checkers for 2, 3, 4 and 6 players."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from games.board import Board
from games.chinese_checkers import notation, rules, terms
from games.chinese_checkers.star import CELLS, DISTANCES, POINTS, SEATS, both_words
from games.features import FeatureSet
from games.kernel_game import KernelGame
from games.kernels import family
from games.rules import Rules

__all__ = ["ChineseCheckers", "ChineseCheckers2", "ChineseCheckers6"]

#: Weights in steps, written by hand.
HAND = {
    "steps": -1.0, "rival_steps": 0.5, "last_piece": -0.2, "square_steps": -0.1, "sideways": -0.05,
}  # fmt: skip
#: Learning begins with nothing; the first eight rounds begin near the end.
_FROM_NOTHING: dict[str, Any] = {
    "games": 800,
    "depth": 2,
    "snapshots": 4,
    "snapshot_games": 30,
    "final_games": 60,
    "match_games": 150,
}
_ROUNDS = {"blend": 1.0, "round_games": 40, "keep_rounds": 5, "most_plies": 300}
RECIPES = {
    "batch": {**_FROM_NOTHING, "options": {**_ROUNDS, "alpha": 1e-3}},
    "network": {**_FROM_NOTHING, "options": {**_ROUNDS, "inputs": "race", "hidden": (16,)}},
}
EVALUATORS = {"hand": ("race", HAND), "steps": ("race", {"steps": -1.0})}


class ChineseCheckers(KernelGame):
    """Chinese Checkers on the star of 121 cells; texts are its rows from the top.

    players: 2, 3, 4 or 6.
    last_move: the number of moves, of all players together, after which a game is drawn.

    The winner gets as many points as there are other players, who lose one each.
    """

    name = "chinese_checkers"
    title = "Chinese Checkers"
    players = 3
    constant_sum = 0.0
    most_moves = rules.MOST_MOVES
    evaluators = EVALUATORS
    unit = "steps"
    opponents = ("steps", "hand")
    shipped = "batch"
    usual_learner = "batch"
    recipes = RECIPES

    def __init__(self, players: int | None = None, last_move: int = 1000) -> None:
        count = type(self).players if players is None else players
        if count not in SEATS:
            raise ValueError(f"players: expected 2, 3, 4 or 6, found {players!r}")
        if last_move < 1:
            raise ValueError(f"last_move: expected at least 1, found {last_move}")
        self.players = count
        self.last_move = last_move
        self.sides = tuple(f"Player {number + 1}" for number in range(count))
        self.rules, self.features = _made(count, last_move)
        self.board = _board(count)
        words = (word for point in SEATS[count] for word in both_words(list(POINTS[point])))
        self.start_position = (*words, 0, 0)
        super().__init__()

    def late_position(self, moves: int, generator: Any) -> Any:
        """Every piece has arrived, and then each player makes 1 to `moves` random moves."""
        buffer = np.zeros(rules.MOST_MOVES, dtype=np.int64)
        points = [POINTS[(point + 3) % 6] for point in SEATS[self.players]]
        while True:
            sides = [list(point) for point in points]
            for pieces in sides:
                for _ in range(int(generator.integers(1, moves + 1))):
                    low, high = both_words([cell for side in sides for cell in side])
                    origin = pieces[int(generator.integers(10))]
                    count = int(rules.write_moves(low, high, origin, buffer, 0))
                    if count:
                        pieces.remove(origin)
                        pieces.append(int(buffer[int(generator.integers(count))]) & 127)
            if all(set(pieces) != set(point) for pieces, point in zip(sides, points, strict=True)):
                return (*(word for pieces in sides for word in both_words(pieces)), 0, 0)

    def to_move(self, position: Any) -> int:
        return int(position[-2])

    def position_text(self, position: Any) -> str:
        return notation.position_text(position)

    def parse_position(self, text: str) -> Any:
        return notation.parse_position(text, self.players, self.last_move)

    def move_text(self, position: Any, move: int) -> str:
        return notation.move_text(move)

    def parse_move(self, position: Any, text: str) -> int:
        return notation.parse_move(self.legal_moves(position), text)

    def show(self, position: Any) -> str:
        return notation.show(position)


class ChineseCheckers2(ChineseCheckers):
    """Chinese Checkers for two players."""

    name = "chinese_checkers2"
    title = "Chinese Checkers for two"
    players = 2
    shipped = ""


class ChineseCheckers6(ChineseCheckers):
    """Chinese Checkers for six players."""

    name = "chinese_checkers6"
    title = "Chinese Checkers for six"
    players = 6
    shipped = ""


def _board(players: int) -> Board:
    """Returns the star, with each goal in the colour of the side that has to fill it."""
    goals = [POINTS[(point + 3) % 6] for point in SEATS[players]]
    return Board(
        17,
        25,
        notation.pieces,
        notation.clicks,
        holes=[notation.square(cell) for cell in range(CELLS)],
        tints={notation.square(cell): side for side, goal in enumerate(goals) for cell in goal},
        path=notation.path,
    )


@functools.cache
def _made(players: int, last_move: int) -> tuple[Rules, dict[str, FeatureSet]]:
    """Returns the rules and the feature sets for a number of players."""
    seats = SEATS[players]
    targets = [both_words(list(POINTS[(point + 3) % 6])) for point in seats]
    constants = {
        "PLAYERS": players,
        "WORDS": 2 * players,
        "TARGETS": np.array(targets, dtype=np.int64),
        "STEPS": DISTANCES[list(seats)].copy(),
        "SIDEWAYS": np.array([_sideways(point) for point in seats], dtype=np.int64),
    }
    made = family(*rules.RULES, **constants, LAST_MOVE=last_move)
    found = vars(family(*terms.TERMS, **constants))
    named = {term.__name__: found[term.__name__] for term in terms.TERMS[1:]}
    if players == 2:
        del named["next_steps"], named["leader_steps"]  # equal to rival_steps
    return Rules(**vars(made)), {"race": FeatureSet("race", named)}


def _sideways(point: int) -> list[int]:
    """Returns how much nearer each cell is to one of the points beside `point` than to the other.

    It is 0 on the line from the tip of `point` to the opposite one.
    """
    left, right = (point + 5) % 6, (point + 1) % 6
    return [abs(int(DISTANCES[left, cell] - DISTANCES[right, cell])) for cell in range(CELLS)]
