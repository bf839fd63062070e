"""Misère nim: take one or more sticks from one pile; whoever takes the last stick loses.

A position is the tuple of the piles and the side to move. A move is pile * 64 + sticks.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from games.contract import Rules
from games.errors import PositionError, stripped
from games.features import Encoding, FeatureSet
from games.kernel_game import KernelGame
from games.kernels import kernel
from games.kernels.memory import generated_file

__all__ = ["Nim", "generated", "legal_moves", "play_kernel"]

_NAN = float("nan")
_MOST = 63  # sticks of a pile
_MOST_PILES = 15


@kernel
def outcome(position):
    """Returns 1.0 if no stick is left, because the other side took the last one; else NaN."""
    for pile in range(len(position) - 1):
        if position[pile]:
            return _NAN
    return 1.0


@kernel
def legal_moves(position, moves):
    """Write every number of sticks of every pile; returns the number of moves."""
    count = 0
    for pile in range(len(position) - 1):
        for sticks in range(1, position[pile] + 1):
            moves[count] = pile * 64 + sticks
            count += 1
    return count


@kernel
def nim_sum(position):
    """1 if the xor of the piles is not 0, a win in normal nim."""
    mixed = 0
    for pile in range(len(position) - 1):
        mixed ^= position[pile]
    return 1 if mixed else 0


@kernel
def singles(position):
    """1 if no pile holds more than one stick, so that parity decides misère nim."""
    for pile in range(len(position) - 1):
        if position[pile] > 1:
            return 0
    return 1


@kernel
def parity(position):
    """1 if all piles hold at most one stick and their number is even."""
    return 1 if singles(position) and not nim_sum(position) else 0


@kernel
def always(position):
    """Always 1."""
    return 1


@kernel
def pile_sizes(position, places):
    """Write for each pile, from 0 on, 64 * pile + sticks."""
    for pile in range(len(position) - 1):
        places[pile] = 64 * pile + position[pile]
    return len(position) - 1


@functools.cache
def generated(name: str, source: str) -> Any:
    """Returns the kernel `name` of a source text, a function for a known number of piles."""
    import linecache

    digest = hashlib.sha256(source.encode()).hexdigest()
    # in a file compiled code is kept
    file = str(generated_file(f"nim_{name}_{digest[:24]}.py", source) or f"<nim: {name}, {digest}>")
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, file, "exec"), scope)
    return kernel(scope[name])


def play_kernel(piles: int, next_side: str = "1 - position[{piles}]") -> Any:
    """Returns `play` for a number of piles, because the compiler needs tuples of known length."""
    after = ", ".join(f"position[{i}] - (sticks if pile == {i} else 0)" for i in range(piles))
    source = f"""def play(position, move):
    pile = move // 64
    sticks = move % 64
    return ({after}, {next_side.format(piles=piles)})
"""
    return generated("play", source)


class Nim(KernelGame):
    """Misère nim with the given piles; texts are the piles as `2,2` and the side `0` or `1`."""

    name = "nim"
    title = "Misère nim"
    # No board: the sticks of a pile are alike and a move takes any number of them, so a list of
    # moves is clearer than squares; and a pile of up to 63 sticks is wider than a board may be.
    most_moves = 1024
    features = {
        "parity": FeatureSet(
            "parity", {"always": always, "nim_sum": nim_sum, "singles": singles, "parity": parity}
        )
    }
    encodings = {"piles": Encoding("piles", 64 * _MOST_PILES, _MOST_PILES, pile_sizes)}
    #: Bouton's strategy (1901): a win is 1, a loss -1.
    evaluators = {
        "bouton": ("parity", {"always": -1, "nim_sum": 2, "singles": -2, "parity": 4}),
    }

    def __init__(self, piles: Sequence[int] = (3, 5, 7)) -> None:
        if not 1 <= len(piles) <= _MOST_PILES or not all(0 <= pile <= _MOST for pile in piles):
            raise PositionError(
                f"expected 1 to {_MOST_PILES} piles of 0 to {_MOST} sticks, found"
                f" {list(piles)[:20]}"
            )
        self.start_position = (*piles, 0)
        self.rules = Rules(legal_moves=legal_moves, play=play_kernel(len(piles)), outcome=outcome)
        super().__init__()

    def to_move(self, position: Any) -> int:
        return int(position[-1])

    def position_text(self, position: Any) -> str:
        return f"{','.join(map(str, position[:-1]))} {position[-1]}"

    def parse_position(self, text: str) -> Any:
        piles, _, side = stripped(text).partition(" ")
        count = len(self.start_position) - 1
        try:
            position = (*(int(pile) for pile in piles.split(",")), int(side))
        except ValueError:
            position = ()
        if (
            len(position) != count + 1
            or position[-1] not in range(self.players)
            or not all(0 <= pile <= _MOST for pile in position[:-1])
        ):
            raise PositionError(
                f"expected {count} piles of 0 to {_MOST} sticks and a side, such as"
                f" {self.position_text(self.start_position)!r}, found {text[:40]!r}"
            )
        return position

    def move_text(self, position: Any, move: int) -> str:
        return f"{move % 64} from {move // 64 + 1}"

    def show(self, position: Any) -> str:
        piles = [f"{i + 1}: {'|' * pile}" for i, pile in enumerate(position[:-1])]
        return "\n".join([*piles, f"{self.sides[position[-1]]} to move"])
