"""Problems for one agent in the browser: moves by hand, searches step by step, explanations.

Nothing is kept between requests: each names its problem and its position, so a page's address holds
all of a puzzle. Values of heuristics are costs: less is nearer to the goal.
"""

from __future__ import annotations

import asyncio
import json
import math
import secrets
import threading
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from games.board import Board
from games.errors import PositionError
from games.extras import extra
from games.problem import Problem
from play.judging.explanation import explain
from play.web.catalogue import Catalogue, Loaded
from play.web.grid_face import GridFace, face_of
from play.web.host import TooMany
from play.web.thinking import Thinking
from search import solve
from search.single_agent.solve import METHODS, heuristic_of
from search.textbook import STRATEGIES, Waiting, run_strategy
from search.textbook.solution import SearchProgress, Solution

__all__ = ["Puzzles"]

#: Greatest limits of one search: seconds, MiB for positions, weight and width of a beam.
MOST_SECONDS, MOST_MIB, MOST_WEIGHT, MOST_WIDTH = 60.0, 1024.0, 100.0, 100_000
SECONDS, MIB, WIDTH = 10.0, 256.0, 1000
#: Searches that may run at a time on the whole server.
SEARCHES = 2
#: Longest solution that is sent with its boards.
MOST_SHOWN = 2000
LONGEST_POSITION = 400
MOST_PARTS = 60
#: Maximum expansions of a strategy of the textbook, steps that are sent, and positions of each.
MOST_EXPANDED, MOST_STEPS, MOST_WAITING = 2000, 200, 24


class Puzzles:
    """The problems of a catalogue, as pages ask for them. Used in one event loop.

    catalogue: the problems and their heuristics.
    thinking: threads for short work.
    """

    def __init__(self, catalogue: Catalogue, thinking: Thinking) -> None:
        self.catalogue, self.thinking = catalogue, thinking
        #: Number of searches, counted until their threads end.
        self.searching = 0
        self._counting = threading.Lock()

    def list(self) -> list[dict[str, Any]]:
        """Returns the problems: name, title, kind of board, and the example of a position."""
        return [
            {
                "name": problem.name,
                "title": problem.title or problem.name.replace("_", " "),
                "kind": face_of(problem).kind,
                "example": problem.position_text(problem.start()),
                "default": self.catalogue.default(problem),
            }
            for problem in self.catalogue.problems.values()
        ]

    async def look(self, name: str, content: dict[str, Any]) -> dict[str, Any]:
        """A position: its board and moves, whether it is solved, or why it has no solution.

        content: `position`, or `random` for a new one, else the start; with `move`, the text of a
            move, the position after it.

        Raises ValueError for a position or a move that the problem refuses.
        """
        problem = self.catalogue.problem(name)

        def work() -> dict[str, Any]:
            if content.get("random"):
                position = problem.random_position(secrets.randbits(48))
            else:
                position = _position(problem, content.get("position"))
            move = content.get("move")
            if move is not None:
                position = problem.play(position, problem.parse_move(position, str(move)[:60]))
            moves = problem.legal_moves(position)
            return {
                "problem": problem.name,
                "position": problem.position_text(position),
                "board": face_of(problem).board(position),
                "moves": [_move(problem, position, move) for move in moves],
                "solved": problem.solved(position),
                "unsolvable": problem.why_unsolvable(position),
            }

        view: dict[str, Any] = await self.thinking.compiled(work)
        return view

    async def why(self, name: str, content: dict[str, Any]) -> dict[str, Any]:
        """The value of a position by a heuristic and its parts, the largest first.

        The kind of the parts is `sum`, `shares`, or `whole` if the value cannot be taken apart.

        content: `position`, and `heuristic`, the id of its entry.
        """
        problem = self.catalogue.problem(name)
        loaded = await self._loaded(content.get("heuristic"), problem)
        position = _position(problem, content.get("position"))

        def work() -> dict[str, Any]:
            value = float(loaded.evaluator(position))
            try:
                parts = explain(loaded.evaluator, position)
            except TypeError:  # the problem names nothing to remove
                parts = []
            weighed = any(part.weight is not None for part in parts)
            kind = "sum" if weighed else "shares" if parts else "whole"
            shown = [part for part in parts if part.value]
            rest = math.fsum(part.value for part in shown[MOST_PARTS:])
            return {
                "value": value,
                "name": loaded.entry.name,
                "kind": kind,
                "parts": [
                    {"name": part.name, "value": part.value, "squares": _squares(problem, part.name,
                                                                                 position)}
                    for part in shown[:MOST_PARTS]
                ],
                "left_out": max(0, len(shown) - MOST_PARTS),
                "rest": rest,
            }  # fmt: skip

        answer: dict[str, Any] = await self.thinking.compiled(work)
        return answer

    async def _loaded(self, id: Any, problem: Problem) -> Loaded:
        loaded: Loaded = await self.thinking.compiled(partial(self.catalogue.load, id, problem))
        return loaded

    async def solve(self, name: str, content: dict[str, Any]) -> AsyncIterator[str]:
        """Returns the lines of JSON of a search: its states on the way, then the solution.

        content: `position`, `heuristic` (an id, or None for the usual one), `method`, `weight`,
            `width`, `seconds` and `memory` in MiB; with `trace` the strategy is the textbook's, and
            its frontiers come with the solution.

        Raises ValueError for content that is not valid, and TooMany if searches are running. The
        search ends if the lines are no longer read.
        """
        problem = self.catalogue.problem(name)
        position = _position(problem, content.get("position"))
        heuristic = None
        if content.get("heuristic") is not None:
            loaded = await self._loaded(content["heuristic"], problem)
            # By its name a heuristic of the problem brings what the search knows about it.
            heuristic = loaded.entry.name if loaded.entry.path is None else loaded.evaluator
        traced = bool(content.get("trace"))
        options = _options(content, tuple(STRATEGIES) if traced else METHODS)
        if self.searching >= SEARCHES:
            raise TooMany(f"expected at most {SEARCHES} searches at a time: try again soon")
        return self._lines(problem, position, heuristic, options, traced)

    async def _lines(
        self,
        problem: Problem,
        position: Any,
        heuristic: Any,
        options: dict[str, Any],
        traced: bool,
    ) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        news: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        ended = threading.Event()

        def tell(content: dict[str, Any]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(news.put_nowait, content)

        def watch(progress: SearchProgress) -> bool:
            tell({"progress": vars(progress)})
            return ended.is_set()

        def work() -> None:
            try:
                if traced:
                    tell({"solution": _traced(problem, position, heuristic, options, ended)})
                    return
                # the first search of a problem compiles it, which does not count as its time
                solve(problem, position, heuristic, **{**options, "seconds": None}, nodes=1)
                solution = solve(problem, position, heuristic, progress=watch, **options)
                tell({"solution": _solution(problem, position, solution)})
            except Exception as error:  # Unsolvable among others; the page shows it
                tell({"error": str(error)[:500] or type(error).__name__})
            finally:
                with self._counting:
                    self.searching -= 1

        with self._counting:
            self.searching += 1
        # A thread of its own: a search may take all its time.
        threading.Thread(target=work, daemon=True, name="puzzle").start()
        try:
            while True:
                content = await news.get()
                yield json.dumps(content) + "\n"
                if "progress" not in content:
                    return
        finally:
            ended.set()


def _position(problem: Problem, text: Any) -> Any:
    if text is None:
        return problem.start()
    if not isinstance(text, str) or not text.strip():
        raise PositionError("expected a position, found none")
    return problem.parse_position(text[:LONGEST_POSITION])


def _move(problem: Problem, position: Any, move: Any) -> dict[str, Any]:
    """Returns a move: its text, its cost, and for each of its clicks the accepted squares."""
    face = face_of(problem)
    clicks = face.ways(position, move) if isinstance(face, GridFace) else []
    text, cost = problem.move_text(position, move), float(problem.cost(position, move))
    return {"text": text, "cost": cost, "clicks": clicks}


def _solution(problem: Problem, position: Any, found: Solution) -> dict[str, Any]:
    """Returns a solution with its boards, from the given position to the goal."""
    steps = []
    for move in (found.moves or ())[:MOST_SHOWN]:
        text = problem.move_text(position, move)
        position = problem.play(position, move)
        steps.append(
            {
                "move": text,
                "position": problem.position_text(position),
                "board": face_of(problem).board(position),
            }
        )
    return {
        "found": found.moves is not None,
        "steps": steps,
        "length": len(found.moves or ()),
        "cost": found.cost if math.isfinite(found.cost) else None,
        "factor": found.factor if math.isfinite(found.factor) else None,
        "proved": found.proved,
        "expanded": found.expanded,
        "generated": found.generated,
        "frontier": found.largest_frontier,
        "seconds": round(found.seconds, 4),
    }


def _traced(
    problem: Problem, position: Any, heuristic: Any, options: dict[str, Any], ended: threading.Event
) -> dict[str, Any]:
    """Returns the solution by a strategy of the textbook, with its frontier at each step."""
    reason = problem.why_unsolvable(position)
    if reason:
        raise ValueError(reason)
    steps: list[dict[str, Any]] = []
    taken = 0
    estimate = heuristic_of(problem, heuristic)[0]

    def shown(one: Waiting) -> tuple[str, float | None, str | None]:
        """Returns a waiting position, its value, and the sum that the value is, in figures."""
        left = options["weight"] * estimate(one.position) if one.value is not None else math.nan
        is_sum = left and one.value == one.cost + left
        return (
            problem.position_text(one.position),
            one.value,
            f"{one.cost:g} + {left:g}" if is_sum else None,
        )

    until = time.monotonic() + options["seconds"]

    def trace(waiting: list[Waiting]) -> None:
        if ended.is_set() or time.monotonic() > until:
            raise TimeoutError(f"no solution within {options['seconds']:g} seconds")
        nonlocal taken
        taken += 1
        if taken <= MOST_STEPS:
            first = [shown(one) for one in waiting[:MOST_WAITING]]
            steps.append({"waiting": first, "size": len(waiting)})

    solution = run_strategy(
        options["method"],
        problem,
        position,
        estimate,
        nodes=MOST_EXPANDED,
        trace=trace,
        weight=options["weight"] if options["method"] == "astar" else None,
        width=options["width"],
    )
    if not any(figures for step in steps[1:] for *_, figures in step["waiting"]):
        for step in steps[:1]:  # where nothing has been spent, an estimate alone looks like a sum
            step["waiting"] = [(text, value, None) for text, value, _ in step["waiting"]]
    return {**_solution(problem, position, solution), "frontiers": steps, "taken": taken}


def _squares(problem: Problem, name: str, position: Any) -> list[int]:
    """Returns the squares of the pieces that a part's words name: "tiles 3 and 7"."""
    board = extra(problem, Board)
    if board is None or name.startswith("mirror"):
        return []
    words = set(name.replace(",", " ").split())
    pieces = board.pieces(position)
    return [square for square, (_, text) in pieces.items() if text in words]


def _options(content: dict[str, Any], methods: tuple[str, ...]) -> dict[str, Any]:
    """Returns the options of a search. Raises ValueError if one is out of range."""
    method = content.get("method", "astar")
    if method not in methods:
        shown = str(method)[:40]
        raise ValueError(f"method: expected one of {', '.join(methods)}, found {shown!r}")
    weight = _number(content, "weight", 1.0, 1.0, MOST_WEIGHT)
    width = int(_number(content, "width", WIDTH, 1, MOST_WIDTH))
    return {
        "method": method,
        "weight": weight if method in ("astar", "beam") else 1.0,
        "width": width if method == "beam" else None,
        "seconds": _number(content, "seconds", SECONDS, 0.1, MOST_SECONDS),
        "memory_mib": _number(content, "memory", MIB, 1.0, MOST_MIB),
    }


def _number(content: dict[str, Any], name: str, usual: float, least: float, most: float) -> float:
    number = content.get(name, usual)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError(f"{name}: expected {least:g} to {most:g}, found {str(number)[:40]!r}")
    if not least <= number <= most:
        raise ValueError(f"{name}: expected {least:g} to {most:g}, found {number:g}")
    return float(number)
