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
HAND = {"steps_ahead": 1.0, "last_ahead": 0.2, "squares_ahead": 0.1, "line_ahead": 0.05}
EVALUATORS = {"hand": ("lead", HAND), "steps": ("lead", {"steps_ahead": 1.0})}


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
        self.extras = (_board(count),)
        words = (word for point in SEATS[count] for word in both_words(list(POINTS[point])))
        self.start_position = (*words, 0, 0)
        super().__init__()

    def to_move(self, position: Any) -> int:
        return int(position[-2])

    position_text = staticmethod(notation.position_text)

    def parse_position(self, text: str) -> Any:
        return notation.parse_position(text, self.players, self.last_move)

    def move_text(self, position: Any, move: int) -> str:
        return notation.move_text(move)

    show = staticmethod(notation.show)


class ChineseCheckers2(ChineseCheckers):
    """Chinese Checkers for two players."""

    name = "chinese_checkers2"
    title = "Chinese Checkers for two"
    players = 2


class ChineseCheckers6(ChineseCheckers):
    """Chinese Checkers for six players."""

    name = "chinese_checkers6"
    title = "Chinese Checkers for six"
    players = 6


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
    constants: dict[str, Any] = {
        "PLAYERS": players,
        "WORDS": 2 * players,
        "TARGETS": np.array(targets, dtype=np.int64),
        "STEPS": DISTANCES[list(seats)].copy(),
        "SQUARES": DISTANCES[list(seats)] ** 2,
        # how much nearer a cell is to one of the points beside a side's own than to the other
        "SIDEWAYS": np.abs(
            DISTANCES[[(p + 5) % 6 for p in seats]] - DISTANCES[[(p + 1) % 6 for p in seats]]
        ),
    }
    made = family(*rules.RULES, **constants, LAST_MOVE=last_move)
    kernels = vars(family(*terms.HELPERS, *terms.TERMS, *terms.LEADS, **constants))
    named = {term.__name__: kernels[term.__name__] for term in terms.TERMS}
    leads = {term.__name__: kernels[term.__name__] for term in terms.LEADS}
    if players == 2:
        del named["next_steps"], named["leader_steps"]  # equal to rival_steps
    sets = {"race": FeatureSet("race", named), "lead": FeatureSet("lead", leads)}
    return Rules(**vars(made)), sets
