"""The line of play that a search for more than two players follows, and how it reads the game.

As in `search.native`, each operation stands twice: in Python for any game, and below it, as an
overload, for compiled code, which enters the game's kernels by address.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from games.contract import Game
from games.kernels import NativeRecord
from games.kernels.memory import load_float, native_function, read_position
from search.alphabeta import line as lines
from search.native import call_int, position_key
from search.sizes import STACK, WIDTH
from search.table import new_table, table_mask

__all__ = [
    "MOST_PLAYERS",
    "MOST_PLIES",
    "MultiplayerLine",
    "key_for",
    "outcome_to",
    "turn",
    "turn_addresses",
]

MOST_PLIES = 64
MOST_PLAYERS = 8
_BEHIND = 0x5851F42D4C957F

FIELDS = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses, as in `search.alphabeta.line`
            "legal_at play_at status_at outcome_at key_at evaluate_at evaluator lookup_at tables"
            " vector_at turn_at positions moves order table table_mask scratch"
            # options
            " players method width most_moves wins centred depth_limit node_limit exact_root"
            # counters, flags and results
            " generation nodes stop probes hits root_count completed best lookups lookup_hits"
            " hit_depth hit_bound hit_move"
        ).split()
    ]
    + [
        ("hit_value", np.float64),
        ("value", np.float64),
        ("first", np.int64, (MOST_PLIES + 1,)),
        ("own", np.float64, (MOST_PLIES + 1,)),
        ("vectors", np.float64, (MOST_PLIES + 1, MOST_PLAYERS)),
        ("root_moves", np.int64, (lines.MOST_ROOT_MOVES,)),
        ("root_values", np.float64, (lines.MOST_ROOT_MOVES,)),
        ("settled_values", np.float64, (lines.MOST_ROOT_MOVES,)),
        ("depth_value", np.float64, (MOST_PLIES + 1,)),
        ("depth_move", np.int64, (MOST_PLIES + 1,)),
        ("depth_nodes", np.int64, (MOST_PLIES + 1,)),
    ],
    align=True,
)


class MultiplayerLine(NativeRecord):
    """A record of type `FIELDS` with the arrays that it points to.

    table_mib: the size of the transposition table.
    """

    def __init__(self, table_mib: float) -> None:
        super().__init__(FIELDS)
        table = new_table(table_mib)
        self.pin(
            positions=np.zeros((MOST_PLIES + 2, WIDTH), dtype=np.int64),
            moves=np.zeros(STACK, dtype=np.int64),
            order=np.zeros(STACK, dtype=np.float64),
            scratch=np.zeros(MOST_PLAYERS, dtype=np.float64),
            table=table,
        )
        self.put(table_mask=table_mask(table))

    def set_root(self, position: Any, moves: list[Any]) -> None:
        """Make a position the root, with its moves in the order in which they are searched."""
        self.root_moves[: len(moves)] = moves
        self.pinned["positions"][0][: len(position)] = position

    def clear(self) -> None:
        """Forget earlier searches."""
        self.pinned["table"][:] = 0


def turn(line: Any, source: Any, target: Any) -> Any:
    """Put the position at ply `source`, turned to the next player, at ply `target`."""
    line.positions[target] = line.game.turn(line.positions[source])


@overload(turn)
def _turn(line: Any, source: Any, target: Any) -> Any:
    def native(line: Any, source: Any, target: Any) -> Any:
        start = line.positions
        call_int(line.turn_at, (start + 8 * WIDTH * source, start + 8 * WIDTH * target))

    return native


def key_for(line: Any, ply: Any, behind: Any) -> Any:
    """Returns the table's key of a position valued for the player `behind` moves after the mover.

    It is another one for each method of search.
    """
    return position_key(line, ply), behind, line.method


@overload(key_for)
def _key_for(line: Any, ply: Any, behind: Any) -> Any:
    def native(line: Any, ply: Any, behind: Any) -> Any:
        return position_key(line, ply) ^ (_BEHIND * (behind + 1 + 8 * line.method))

    return native


def outcome_to(line: Any, ply: Any, player: Any) -> Any:
    """Returns a finished game's outcome for the player who moves `player` moves after the mover."""
    return float(line.game.outcome_vector(line.positions[ply])[player])


@overload(outcome_to)
def _outcome_to(line: Any, ply: Any, player: Any) -> Any:
    def native(line: Any, ply: Any, player: Any) -> Any:
        call_int(line.vector_at, (line.positions + 8 * WIDTH * ply, line.scratch))
        return load_float(line.scratch, player)

    return native


def turn_addresses(game: Game) -> dict[str, int]:
    """Returns the addresses of native code for the outcomes of all players, and for `turn`.

    Raises TypeError if the game's rules lack one of the two.
    """
    rules: Any = game.rules
    if rules.outcome_vector is None or rules.turn is None:
        raise TypeError(
            f"{game.name}: expected rules with outcome_vector and turn for {game.players} players"
        )
    width = len(game.start())
    position = read_position(width)
    stores = "\n".join(f"    store_int(target, {i}, int(after[{i}]))" for i in range(width))
    turned = f"def turn_at(source, target):\n    after = turn({position})\n{stores}\n    return 0\n"
    vector = f"""def vector_at(source, target):
    outcome_vector({position}, array_at(float64_pointer(target), ({game.players},)))
    return 0
"""
    return {
        "turn_at": native_function("turn_at", turned, {"turn": rules.turn}, "int64(int64, int64)"),
        "vector_at": native_function(
            "vector_at", vector, {"outcome_vector": rules.outcome_vector}, "int64(int64, int64)"
        ),
    }
