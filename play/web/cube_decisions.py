"""Decisions of computers about the cube and resignations at a table, and hints about them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from games.errors import MoveError
from play.players.gnubg import PUBEVAL, as_program, chances
from play.players.levels import levels_of
from play.web.catalogue import LEVEL, Loaded
from play.web.cube_table import CubeTable
from play.web.seat import EVALUATOR, PROGRAM
from play.web.table import Table
from play.web.thinking import Thinking

__all__ = ["cube_action", "cube_hint"]

#: `Host.loaded`: the evaluator of an id, for a game.
Load = Callable[[Any, Any], Awaitable[Loaded]]
#: Plies of a decision about the cube, which takes a tenth of a second.
PLIES = 2


async def cube_action(thinking: Thinking, load: Load, table: CubeTable) -> str:
    """Returns the action of the computer player whose turn it is: roll, double, or an answer."""
    seat = table.deciding
    game: Any = table.game
    if seat.kind == PROGRAM and seat.evaluator != PUBEVAL:
        program = as_program(seat.evaluator)
        assert program is not None
        position, plies = table.record.position, program.ply
        outcomes = await thinking.run_program(lambda: chances(position, plies))
        if table.resigning:
            return table.reply(outcomes)
        decision = game.cube.decision(table.record.situation(), outcomes)
    elif seat.kind == EVALUATOR:
        loaded = await load(seat.evaluator, game)
        if loaded.entry.role == LEVEL:  # a level's errors are in its moves
            loaded = await load(f"{LEVEL}:{game.name}/{[*levels_of(game)][-1]}", game)
        if not loaded.evaluator.gives_outcomes:
            return table.passive
        plies = PLIES if seat.depth is None else min(max(seat.depth, 1), PLIES)
        if table.resigning:
            return table.reply(await thinking.work(lambda: _outcomes(thinking, table, loaded)))
        decision = await thinking.work(lambda: _decision(thinking, table, loaded, plies))
    else:
        return table.passive
    return table.action(decision)


async def cube_hint(
    thinking: Thinking, load: Load, table: Table, content: dict[str, Any]
) -> dict[str, Any]:
    """The right action before a roll or about an offer, by an evaluator, and why."""
    if not isinstance(table, CubeTable) or table.over:
        found = "one that is over" if table.over else table.game.name
        raise MoveError(f"expected a game with a cube in progress, found {found}")
    loaded = await load(content.get("evaluator"), table.game)
    if not loaded.evaluator.gives_outcomes:
        raise ValueError(f"expected an evaluator that gives chances, found {loaded.entry.name}")
    game: Any = table.game
    if table.resigning is not None:
        found = await thinking.compiled(lambda: _outcomes(thinking, table, loaded))
        action = table.reply(found)
        value = float(game.outcomes.values(np.array([found]))[0])
        reason = f"without the cube the position is worth {value:+.3f} to the side to move"
        return {"action": action, "text": action, "reason": reason, "figures": ""}
    if table.answering is None and not table.may_double:
        raise MoveError("expected a decision about the cube, found none")
    decision = await thinking.compiled(lambda: _decision(thinking, table, loaded, PLIES))
    return {
        "action": table.action(decision),
        "text": decision.action,
        "reason": decision.reason,
        "figures": decision.figures,
    }


def _decision(thinking: Thinking, table: CubeTable, loaded: Loaded, plies: int) -> Any:
    with thinking.engine(table.game, loaded) as engine:
        return engine.cube(table.record.situation(), depth=plies)


def _outcomes(thinking: Thinking, table: CubeTable, loaded: Loaded) -> Any:
    with thinking.engine(table.game, loaded) as engine:
        return engine.search(table.record.position, depth=1).outcomes
