"""Li's nim for any number of players, as kernels: a game for more than two."""

from __future__ import annotations

from collections.abc import Sequence

from games.contract import Rules
from games.nim import Nim, generated, legal_moves, play_kernel

__all__ = ["LiNim"]


def _li_rules(piles: int, players: int) -> Rules:
    """Returns the rules of Li's nim; how many play is part of the text, not of the position."""
    following = f"(position[{piles}] + 1) % {players}"
    outcome = f"""def outcome(position):
    for pile in range({piles}):
        if position[pile]:
            return float("nan")
    return {1.0 - players}
"""
    vector = f"""def outcome_vector(position, values):
    for player in range({players}):
        values[player] = 2.0 * player - {players - 1}
"""
    turn = f"""def turn(position):
    return ({"".join(f"position[{i}], " for i in range(piles))}{following})
"""
    return Rules(
        legal_moves=legal_moves,
        play=play_kernel(piles, following),
        outcome=generated("outcome", outcome),
        outcome_vector=generated("outcome_vector", vector),
        turn=generated("turn", turn),
    )


class LiNim(Nim):
    """Nim for any number of players, who are placed by the order of their last moves (Li 1978).

    The one who takes the last stick is first, who moved before him second, and so on. With n
    players the first gets n - 1 points, the second n - 3, and the last 1 - n. Exactly where each
    binary column of the piles sums to 0 modulo n, the one who moved last comes first.

    piles: the sticks of each pile.
    players: the number of players, 2 to 6.
    """

    name = "li_nim"
    title = "Li's nim"
    wins = False
    constant_sum = 0.0
    features = {}
    evaluators = {}

    def __init__(self, piles: Sequence[int] = (3, 5, 7), players: int = 3) -> None:
        if players not in range(2, 7):
            raise ValueError(f"players: expected 2 to 6, found {players!r}")
        super().__init__(piles)
        self.players = players
        self.sides = tuple(f"Player {number + 1}" for number in range(players))
        self.rules = _li_rules(len(piles), players)

    @staticmethod
    def balanced(piles: Sequence[int], players: int) -> bool:
        """Returns whether every binary column of the piles sums to 0 modulo `players`."""
        columns = range(max(piles, default=0).bit_length())
        return all(sum(pile >> bit & 1 for pile in piles) % players == 0 for bit in columns)
