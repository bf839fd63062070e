"""Rolling out a position of a table, a round a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from games.errors import MoveError
from games.kinds import WITH_DICE
from play.rollout.rollout import best_candidates, rollout
from play.web.inspection import ply_of, roll_at

if TYPE_CHECKING:
    from play.web.host import Host, Sitting

__all__ = ["roll_out"]

#: Games of each candidate in a round, in which every first roll comes up as often as it should;
#: moves that are compared; plies after which an evaluator with chances says the rest.
GAMES, CANDIDATES, PLIES = 36, 4, 11
MOST_ROUNDS = 100


async def roll_out(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    """Returns a round of a rollout of the best moves, or of a position whose roll is not known.

    content: `evaluator`, the player; `ply`, by default the last; `round`, the seed, 0 to 99.

    The answer has the `games` of each candidate, and in `rolled` for each the `text` of its move,
    the mean `value` in points without a cube, its standard `error`, and `outcomes` as an analysis
    has them, or None. Raises ValueError without dice or after the end.
    """
    table, number = sitting.table, content.get("round", 0)
    game: Any = table.game
    ply = ply_of(table, content)
    WITH_DICE.expect(game, where="rollout")
    if type(number) is not int or not 0 <= number < MOST_ROUNDS:
        raise ValueError(f"round: expected 0 to {MOST_ROUNDS - 1}, found {str(number)[:40]!r}")
    position, roll = table.record.positions[ply], roll_at(table, ply)
    if game.outcome(position) is not None:
        raise MoveError("rollout: the game is over")
    loaded = await host.loaded(content.get("evaluator"), game)
    evaluator, lookup = loaded.evaluator, loaded.lookup

    def play() -> dict[str, Any]:
        texts, moves = [""], None
        if roll is not None:
            moves = best_candidates(game, position, roll, evaluator, lookup, CANDIDATES)
            texts = [game.move_text(position, move) for move in moves]
        result = rollout(
            game, [position] if roll is None else position, evaluator, roll=roll, moves=moves,
            lookup=lookup, games=GAMES, threads=1, seed=number,
            truncate=PLIES if evaluator.gives_outcomes else None,
        )  # fmt: skip
        rolled = [
            {
                "text": text,
                "value": float(result.equity[n]),
                "error": float(result.equity_error[n]),
                "outcomes": None if result.outcomes is None else result.outcomes[n].tolist(),
            }
            for n, text in enumerate(texts)
        ]
        name, side = loaded.entry.name, table.side_at(ply)
        return {"name": name, "side": side, "games": GAMES, "rolled": rolled}

    return dict(await host.thinking.compiled(play))
