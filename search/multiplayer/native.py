"""The entry of a search for more than two players into the game.

As in `search.native`, each operation stands twice: in Python for any game, and below it, as a
native function, for compiled code, which enters the game's kernels by address.
"""

from __future__ import annotations

from typing import Any

from games.contract import Game
from games.kernels.bits import native
from games.kernels.memory import load_float, native_function, read_position
from search.native import call_int, position_key
from search.sizes import WIDTH

__all__ = ["DEEPEST", "key_for", "outcome_to", "turn", "turn_addresses"]

#: Greatest depth of a search.
DEEPEST = 64
_BEHIND = 0x5851F42D4C957F


def turn(line: Any, source: Any, target: Any) -> Any:
    """Put the position at ply `source`, turned to the next player, at ply `target`."""
    line.positions[target] = line.game.turn(line.positions[source])


@native(turn)
def _turn(line: Any, source: Any, target: Any) -> Any:
    start = line.positions
    call_int(line.turn_at, (start + 8 * WIDTH * source, start + 8 * WIDTH * target))


def key_for(line: Any, ply: Any, behind: Any) -> Any:
    """Returns the table's key of a position valued for the player `behind` moves after the mover.

    It is another one for each method of search.
    """
    return position_key(line, ply), behind, line.method


@native(key_for)
def _key_for(line: Any, ply: Any, behind: Any) -> Any:
    return position_key(line, ply) ^ (_BEHIND * (behind + 1 + 8 * line.method))


def outcome_to(line: Any, ply: Any, player: Any) -> Any:
    """Returns a finished game's outcome for the player who moves `player` moves after the mover."""
    return float(line.game.outcome_vector(line.positions[ply])[player])


@native(outcome_to)
def _outcome_to(line: Any, ply: Any, player: Any) -> Any:
    call_int(line.vector_at, (line.positions + 8 * WIDTH * ply, line.scratch))
    return load_float(line.scratch, player)


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
