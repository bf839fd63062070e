"""Plays a match over Hub with pydraughts, in a process of its own because that package is GPL.

Usage: python tests/hub_controller.py ENGINE ENGINE, the commands of two engines that speak Hub with
--turned-pos.
Prints a line of JSON.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import Any

from draughts import Board
from draughts.engine import HubEngine, Limit

#: Black begins and has more pieces, so the game is short, with kings and captures.
ENDING = "B:W30,31,22,K5:B1,2,K28,11,12,9"


def game(fen: str, engines: list[Any], limits: list[Limit], most: int) -> dict[str, Any]:
    """Play a game; the first engine moves first. `least_left` is the least time left on a clock."""
    board = Board("english", fen)
    moves, left = [], 1e9
    while not board.is_over() and len(moves) < most:
        turn = len(moves) % 2
        engine, limit = engines[turn], limits[turn]
        spent = 0.0
        ask = engine.go

        def timed(*given: Any, ask: Any = ask, **named: Any) -> Any:
            nonlocal spent
            began = time.monotonic()
            try:
                return ask(*given, **named)
            finally:
                spent = time.monotonic() - began

        engine.go = timed
        found = engine.play(board, limit, False)
        engine.go = ask
        if limit.time is not None:
            limit.time += limit.inc - spent
            left = min(left, limit.time)
        assert found.info["depth"] >= 1, found.info
        board.push(found.move)
        moves.append(found.move.pdn_move)
    winner = board.winner() if board.is_over() else None
    return {"moves": moves, "over": board.is_over(), "winner": winner, "least_left": left}


def main() -> None:
    """Play two games, sides swapped: one to its end, one by the clock."""
    engines = []
    for command in sys.argv[1:]:
        engine = HubEngine(shlex.split(command))
        engine.configure({"variant": "english"})
        engine.init()
        engine.ping()
        engines.append(engine)
    names = [engine.id["name"] for engine in engines]
    whole = game(ENDING, engines, [Limit(depth=5), Limit(depth=1)], 300)
    timed = game("startpos", engines[::-1], [Limit(time=5, inc=0.1) for _ in engines], 16)
    games = [whole, timed]
    for engine in engines:
        engine.quit()
    codes = [engine.p.wait(20) for engine in engines]
    print(json.dumps({"names": names, "games": games, "codes": codes}))


main()
