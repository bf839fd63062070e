"""Looking at a position of a table: analysis, the parts of a value, the values of the game."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from games.errors import MoveError
from play.web.explain import why as explained
from play.web.table import Table, clamped, search_limits
from play.web.thinking import Question

if TYPE_CHECKING:
    from play.web.host import Host, Sitting

__all__ = ["analyse", "curve", "why"]

#: Longest time in seconds for the values of one curve.
CURVE_SECONDS = 2.0


def _at(table: Table, content: dict[str, Any]) -> int:
    ply = content.get("ply", table.record.ply)
    if type(ply) is not int or not 0 <= ply <= table.record.ply:
        raise ValueError(f"ply: expected 0 to {table.record.ply}, found {str(ply)[:40]!r}")
    return ply


def _roll_at(table: Table, ply: int) -> int | None:
    return table.record.rolls[ply] if ply < table.record.ply else table.roll


async def analyse(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    """Begin an analysis of all legal moves of a position; it replaces an earlier one."""
    table = sitting.table
    ply = _at(table, content)
    seconds, depth = search_limits(content)
    loaded = await host.loaded(content.get("evaluator"), table.game)
    sitting.stop_analysis()
    position = table.record.positions[min(ply, table.record.ply)]
    if table.game.outcome(position) is not None:
        return {"ply": ply, "started": False}
    roll = _roll_at(table, ply)
    question = Question(
        table.game, loaded, position, side=table.side_at(ply), roll=roll, seconds=seconds,
        depth=depth, moves=not table.dice or roll is not None,
    )  # fmt: skip
    key = {"ply": ply, "position": table.game.position_text(position)}

    async def run() -> None:
        try:
            answer = await host.thinking.search(
                question, lambda news: sitting.tell("analysis", {**news, **key})
            )
            sitting.tell("analysis", {**answer, "move": None, "raw": None, **key})
        except Exception as error:
            sitting.tell("problem", {"error": str(error)[:500]})

    sitting.analysing = asyncio.create_task(run())
    return {**key, "started": True}


async def why(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    """The parts of the value of a position, and of a move there, by one or two evaluators."""
    table = sitting.table
    ply = _at(table, content)
    ids = content.get("evaluators")
    if not isinstance(ids, list) or not 1 <= len(ids) <= 2:
        raise ValueError("evaluators: expected a list of one or two, found none")
    record, game = table.record, table.game
    before, after, text = record.positions[ply], None, None
    roll = _roll_at(table, ply)
    if content.get("move") is not None:
        text = str(content["move"])[:200]
        if table.dice:
            if roll is None:
                raise MoveError("expected a roll of the dice first, found a move")
            move = game.parse_move(before, text, roll)  # type: ignore[call-arg]
        else:
            move = game.parse_move(before, text)
        after = game.play(before, move)
    elif ply < record.ply:
        text = game.move_text(before, record.moves[ply])
        after = record.positions[ply + 1]
    answers = []
    for id in ids:
        loaded = await host.loaded(id, game)
        work = lambda loaded=loaded: explained(game, loaded, before, after)  # noqa: E731
        answers.append(await host.thinking.work(work))
    return {"ply": ply, "move": text, "side": table.side_at(ply), "of": answers}


async def curve(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    """The value of every position of the game for the first side; None after time ran out."""
    table = sitting.table
    loaded = await host.loaded(content.get("evaluator"), table.game)
    depth = content.get("depth", 3)
    if type(depth) is not int or not 0 <= depth <= 8:
        raise ValueError("depth: expected 0 to 8 plies, found another")
    game, positions = table.game, list(table.record.positions)
    known = sitting.values
    # The unit is part of the key because a run may replace its file by another evaluator.
    key = f"{loaded.entry.id} {depth} {loaded.unit!r}"
    missing = [p for p in dict.fromkeys(positions) if (key, p) not in known]
    if missing:
        values = await host.thinking.work(
            lambda: host.thinking.values(game, loaded, missing, depth=depth, seconds=CURVE_SECONDS)
        )
        if len(known) > 4 * host.limits.moves:
            known.clear()
        known.update(zip([(key, p) for p in missing], values, strict=False))
    found: list[float | None] = []
    for ply, position in enumerate(positions):
        value = known.get((key, position))
        sign = -1.0 if table.side_at(ply) else 1.0
        found.append(None if value is None else clamped(sign * value) + 0.0)
    return {"values": found, "unit": loaded.unit, "name": loaded.entry.name}
