"""Looking at a position of a table: analysis, the parts of a value, the values of the game."""

from __future__ import annotations

import asyncio
import reprlib
import time
from typing import TYPE_CHECKING, Any

from games.contract import Game, given
from games.errors import MoveError
from games.rolls import rolls_of
from games.values import independent, value_text
from play.judging.cube import JudgedCube, cube_decisions
from play.judging.decision import Decision, decision_of
from play.judging.luck import luck_word
from play.judging.marks import accuracy, mark_of
from play.matches.luck import StaticLuck
from play.players.chances import judged_play_text, values_of_all
from play.players.limits import depths_of
from play.web.cube_decisions import PLIES
from play.web.cube_table import CubeTable
from play.web.explain import why as explained
from play.web.seat import search_limits
from play.web.table import Table, clamped
from play.web.thinking import Question
from search import Engine

if TYPE_CHECKING:
    from play.web.host import Host, Sitting

__all__ = ["analyse", "curve", "ply_of", "roll_at", "why"]

#: Longest time in seconds for the values of one curve.
CURVE_SECONDS = 2.0


def ply_of(table: Table, content: dict[str, Any]) -> int:
    """Returns the ply that a request is about, by default the last one."""
    ply = content.get("ply", table.record.ply)
    if type(ply) is not int or not 0 <= ply <= table.record.ply:
        raise ValueError(f"ply: expected 0 to {table.record.ply}, found {str(ply)[:40]!r}")
    return ply


def roll_at(table: Table, ply: int) -> int | None:
    """Returns the roll after `ply` moves; None before it, and without dice."""
    return table.record.rolls[ply] if ply < table.record.ply else table.roll


async def analyse(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    """Begin an analysis of all legal moves of a position; it replaces an earlier one."""
    table = sitting.table
    ply = ply_of(table, content)
    seconds, depth = search_limits(content)
    loaded = await host.loaded(content.get("evaluator"), table.game)
    sitting.stop_analysis()
    position = table.record.positions[min(ply, table.record.ply)]
    if table.game.outcome(position) is not None:
        return {"ply": ply, "started": False}
    roll = roll_at(table, ply)
    question = Question(
        table.game, loaded, position, side=table.side_at(ply), roll=roll, seconds=seconds,
        depth=depth, moves=not table.dice or roll is not None, patient=True,
    )  # fmt: skip
    key = {"ply": ply, "position": table.game.position_text(position)}

    async def run() -> None:
        try:
            answer = await host.thinking.search(
                question, lambda news: sitting.tell("analysis", {**news, **key})
            )
            sitting.tell_result("analysis", question, answer, **key)
        except Exception as error:
            sitting.tell("problem", {"error": str(error)[:500]})

    sitting.analysing = asyncio.create_task(run())
    return {**key, "started": True}


async def why(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    """The parts of the value of a position, and of a move there, by one or two evaluators."""
    table = sitting.table
    ply = ply_of(table, content)
    ids = content.get("evaluators")
    if not isinstance(ids, list) or not 1 <= len(ids) <= 2:
        raise ValueError("evaluators: expected a list of one or two, found none")
    record, game = table.record, table.game
    before, after, text = record.positions[ply], None, None
    roll = roll_at(table, ply)
    if content.get("move") is not None:
        text = str(content["move"])[:200]
        if rolls_of(game).awaits(roll):
            raise MoveError("expected a roll of the dice before a move")
        after = game.play(before, game.parse_move(before, text, *given(roll)))
    elif ply < record.ply:
        text = game.move_text(before, record.moves[ply])
        after = record.positions[ply + 1]
    answers = []
    for id in ids:
        loaded = await host.loaded(id, game)
        work = lambda loaded=loaded: explained(game, loaded, before, after)  # noqa: E731
        answers.append(await host.thinking.compiled(work))
    return {"ply": ply, "move": text, "side": table.side_at(ply), "of": answers}


async def curve(host: Host, sitting: Sitting, content: dict[str, Any]) -> dict[str, Any]:
    """The values of every position of a game, and a judgement of every move.

    `curves` are the values of the positions for the first side, one list in a list; with more than
    two players one list for each, of static values. `moves` are the judgements of moves by
    `_judged`. `cubes` are those of the decisions about the cube by `_doubled`, at a table with one
    and by an evaluator that gives chances. `play` names the play for which the chances behind the
    judgements hold. Values are None where the time did not suffice; another request continues
    there. `players` have each side's `decisions`, its `accuracy` in per cent (None if the chances
    of a decision are not known) and the `lost` points over them, and with dice the `luck` of its
    rolls, by static values without a cube.
    """
    table = sitting.table
    loaded = await host.loaded(content.get("evaluator"), table.game)
    depth = content.get("depth", 3)
    if type(depth) is not int or not 0 <= depth <= 8:
        raise ValueError(f"depth: expected 0 to 8 plies, found {reprlib.repr(depth)}")
    record, known = table.record, sitting.values
    # The unit is part of the key because a run may replace its file by another evaluator.
    key = f"{loaded.entry.id} {depth} {loaded.unit!r}"
    positions: list[Any] = [
        (key, position, table.side_at(ply)) for ply, position in enumerate(record.positions)
    ]
    moves: list[Any] = [
        (key, *one) for one in zip(record.positions, record.rolls, record.moves, strict=False)
    ]
    cubes: list[Any] = []
    if isinstance(table, CubeTable) and loaded.evaluator.gives_outcomes:
        cubes = [(key, *one, "cube") for one in cube_decisions(record)]
    missing = [one for one in dict.fromkeys([*positions, *moves, *cubes]) if one not in known]

    def work() -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        until = time.monotonic() + CURVE_SECONDS
        luck = None
        if table.game.dice:
            luck = StaticLuck(table.game, loaded.evaluator, loaded.lookup)
        with host.thinking.engine(table.game, loaded) as engine:
            for one in missing:
                if time.monotonic() > until:
                    break
                if len(one) == 3:
                    found[one] = [
                        clamped(loaded.evaluator.in_units(value)) + 0.0
                        for value in _values(engine, one[1], one[2], depth)
                    ]
                elif len(one) == 5:
                    found[one] = _doubled(engine, *one[1:4])
                else:
                    _, position, roll, move = one
                    found[one] = _judged(engine, position, roll, move, depth)
                    if luck is not None:
                        lucky = float(luck(position)[roll]) + 0.0
                        found[one] |= {"luck": lucky, "luck_word": luck_word(lucky)}
        return found

    if missing:
        found = await host.thinking.compiled(work)
        if len(known) > 8 * host.limits.moves:
            known.clear()
        known.update(found)
    values = [known.get(one) for one in positions]
    judged = [
        None if one not in known else _deepened(sitting, known[one], *one[1:]) for one in moves
    ]
    doubled = [known.get(one) for one in cubes]
    answers = [one for found in doubled for one in ([None] if found is None else found)]
    return {
        "curves": [
            [None if one is None else one[side] for one in values]
            for side in independent(range(table.game.players))
        ],
        "moves": judged,
        "cubes": answers,
        "players": [
            _player(
                [one for ply, one in enumerate(judged) if one and table.side_at(ply) == side],
                [one for one in answers if one and one["side"] == side],
            )
            for side in range(table.game.players)
        ],
        "unit": loaded.unit,
        "points": loaded.evaluator.gives_outcomes,
        "play": judged_play_text(loaded.evaluator),
        "name": loaded.entry.name,
    }


def _values(engine: Engine, position: Any, side: int, depth: int) -> tuple[float, ...]:
    """Returns the value of a position for side 0; with more than two players the static values.

    side: the side to move. In games with dice the value is that before the roll.
    """
    game = engine.game
    if game.players > 2:
        return values_of_all(game, engine.evaluator, position, side)
    if not game.dice:
        value = float(engine.search(position, depth=max(depth, 1)).value)
    else:
        outcome = game.outcome(position)
        value = float(engine.values([position])[0] if outcome is None else outcome)
    return (-value if side else value,)


def _judged(
    engine: Engine, position: Any, roll: int | None, move: Any, depth: int
) -> dict[str, Any]:
    """Returns a judgement of a move as JSON, for the side that made it.

    `value` and `loss` are in the game's unit. `lost` is the share of the expected result, null if
    no chances are known. `best` is a better move, if there is one, and `choice` whether there was
    another. With dice there are the roll's `luck` and `luck_word` too.
    """
    result = engine.analyse(position, depth=max(depth, depths_of(engine.game).least), roll=roll)
    judged = decision_of(result, move)
    return {
        "value": clamped(judged.value) + 0.0,
        "value_text": value_text(judged.value),
        "loss": judged.loss + 0.0,
        **_verdict(engine.game, position, judged),
        "depth": result.depth,
        "choice": len(result.moves) > 1,
    }


def _verdict(game: Game, position: Any, judged: Decision) -> dict[str, Any]:
    better = "" if judged.best == judged.move else game.move_text(position, judged.best)
    return {"lost": judged.given_up, "mark": judged.mark, "best": better}


def _doubled(
    engine: Engine, ply: int, situation: Any, actions: tuple[tuple[int, str], ...]
) -> list[dict[str, Any]]:
    """Returns judgements of a decision about the cube and of its answer as JSON.

    Those of `play.judging.cube` that count, by the search of a hint; `lost` and `mark` are those of
    moves. A decision not to double that is plain by static values is not searched.
    """
    for depth in (0, PLIES):
        decision = engine.cube(situation, depth=depth)
        judged = [
            JudgedCube(ply, side, action, decision, decision.loss(action))
            for side, action in actions
        ]
        if not any(one.counts for one in judged):
            return []
    return [
        {
            "ply": ply,
            "side": one.side,
            "action": one.action,
            "loss": one.loss + 0.0,
            "lost": one.loss / 2,
            "mark": mark_of(engine.game, one.loss / 2),
            "best": decision.action,
        }
        for one in judged
        if one.counts
    ]


def _deepened(
    sitting: Sitting, judged: dict[str, Any], position: Any, roll: Any, move: Any
) -> dict[str, Any]:
    """Returns a judgement of a move that does not contradict a deeper search on the page."""
    shown = sitting.shown.get((position, roll))
    if shown is None or shown.depth <= judged["depth"]:
        return judged
    if move == shown.move:
        return judged | {"lost": 0.0, "mark": "", "best": ""}
    if not shown.moves:
        return judged
    return judged | _verdict(sitting.table.game, position, decision_of(shown, move))


def _player(judged: list[dict[str, Any]], cubes: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the accuracy of one side where it had a choice, and its luck with dice.

    judged: judgements of its moves.
    cubes: those of its decisions about the cube.
    """
    chosen = [*(one for one in judged if one["choice"]), *cubes]
    luck = [one["luck"] for one in judged if "luck" in one]
    return {
        "luck": sum(luck) if luck else None,
        "decisions": len(chosen),
        "accuracy": accuracy([one["lost"] for one in chosen]),
        "lost": sum(one["loss"] for one in chosen),
    }
