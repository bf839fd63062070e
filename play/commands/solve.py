"""The command `python -m play solve`: the moves from a position of a problem to its goal."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from games.contract import line_texts
from programs.phrases import counted
from programs.waiting import doing

if TYPE_CHECKING:
    from games.problem import Problem
    from search.textbook import Solution, Waiting
    from search.textbook.solution import SearchProgress

__all__ = ["add_solve_command"]

PROBLEM_HELP = "sliding8, sliding15, sliding24, pancakes10 and so on, or module:Class for your own"
START = "start"
#: The strategies that only the textbook has, and the number of steps of a trace that are printed.
TEXTBOOK = ("breadth_first", "depth_first", "uniform_cost", "depth_limited", "iterative_deepening",
            "bidirectional", "rbfs", "sma", "hill_climbing", "annealing", "lrta")  # fmt: skip
MOST_STEPS, MOST_WAITING = 200, 16


def add_solve_command(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "solve", help="the way to the goal of a puzzle", description=__doc__
    )
    add = command.add_argument
    add("game", metavar="problem", help=PROBLEM_HELP)
    add("position", nargs="?", default=START, help="as the problem writes it, or 'start' (default)")
    add("--goal", metavar="G", help="another goal, as the problem writes its positions")
    add(
        "--heuristic",
        metavar="H",
        help="one of the problem's by name, or a file (default: the problem's first)",
    )
    add(
        "--method",
        default="astar",
        help="astar (default), ida (needs no memory), greedy or beam; or of the textbook, in plain"
        f" Python: {', '.join(TEXTBOOK)}",
    )
    add("--trace", action="store_true",
        help="print the frontier at each step; every strategy is then the textbook's")  # fmt: skip
    add("--weight", type=float, default=1.0, metavar="W",
        help="weight of the heuristic, in astar and beam (default 1)")  # fmt: skip
    add("--width", type=int, metavar="N", help="width of the beam (default 1000)")
    add(
        "--depth",
        type=int,
        metavar="N",
        help="maximum number of moves, in depth_limited (default 10)",
    )
    add("--positions", type=int, metavar="N", help="positions that sma keeps (default 100)")
    add("--nodes", type=int, metavar="N", help="maximum number of positions to expand")
    add("--seconds", type=float, metavar="S", help="maximum seconds")
    add(
        "--memory",
        type=float,
        metavar="MIB",
        help="memory for positions, except in ida (default 1024)",
    )
    command.set_defaults(run=run_solve)


def run_solve(options: argparse.Namespace) -> int:
    """Run `solve`: print the moves and the work of the search."""
    import games
    import search
    from games.problem import expect_problem
    from search.single_agent.solve import METHODS

    problem = expect_problem(games.load(options.game))
    if options.method == "ida" and options.memory is not None:
        raise ValueError(f"--memory: not for the method ida, found {options.memory:g}")
    if options.goal is not None:
        try:
            problem = problem.with_goal(problem.parse_position(options.goal))
        except ValueError as error:
            raise ValueError(f"--goal: {str(error).removeprefix('goal: ')}") from None
    text = options.position.strip()
    position = problem.start() if text == START else problem.parse_position(text)
    if options.trace or options.method not in METHODS:
        return _by_the_textbook(options, problem, position)
    for name in ("depth", "positions"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name}: not for the method {options.method}")
    frontier = "moves deep" if options.method == "ida" else "waiting"
    said = [""]

    def tell(state: SearchProgress) -> None:
        f = "" if state.f is None else f", f = {state.f:g}"
        count = f"{state.expanded:,} expanded, {state.frontier:,} {frontier}{f}"
        said[0] = f"{count}, {state.seconds:.0f} s" if state.expanded else ""

    solve = partial(
        search.solve,
        problem,
        position,
        options.heuristic,
        method=options.method,
        weight=options.weight,
        width=options.width,
        memory_mib=1024.0 if options.memory is None else options.memory,
    )
    try:
        solve(nodes=1).whole()  # compiles, which does not count as time of the search
        with doing(lambda: said[0]):
            solution = solve(nodes=options.nodes, seconds=options.seconds, progress=tell)
    except search.Unsolvable as reason:
        print(f"cannot be solved: {reason}")
        return 1
    return _print_moves(problem, position, solution, frontier)


def _by_the_textbook(options: argparse.Namespace, problem: Problem, position: Any) -> int:
    """Search by a strategy of `search.textbook`, and print its frontier at each step if asked."""
    from search.single_agent.solve import heuristic_of
    from search.textbook import run_strategy

    for name in ("seconds", "memory"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name}: not for a strategy of the textbook")
    step = 0

    def trace(waiting: list[Waiting]) -> None:
        nonlocal step
        step += 1
        if step <= MOST_STEPS:
            print(f"{step:>4}  {frontier_text(problem, waiting)}")
        elif step == MOST_STEPS + 1:
            print(f"      … steps after {MOST_STEPS} are not shown")

    reason = problem.why_unsolvable(position)
    if reason:
        print(f"cannot be solved: {reason}")
        return 1
    solution = run_strategy(
        options.method, problem, position, heuristic_of(problem, options.heuristic)[0],
        nodes=float("inf") if options.nodes is None else options.nodes,
        trace=trace if options.trace else None,
        weight=None if options.weight == 1.0 else options.weight,
        width=options.width, depth=options.depth, positions=options.positions,
    )  # fmt: skip
    return _print_moves(problem, position, solution, "waiting")


def frontier_text(problem: Problem, waiting: list[Waiting]) -> str:
    """Returns a frontier as one line: each position with its value if it has one."""
    texts = []
    for position, _, value in waiting[:MOST_WAITING]:
        text = problem.position_text(position)
        texts.append(text if value is None else f"{text} {value:.4g}")
    more = len(waiting) - MOST_WAITING
    return "[" + ", ".join(texts) + (f", … {more:,} more]" if more > 0 else "]")


def _effort(solution: Solution, frontier: str) -> str:
    return (
        f"{counted(solution.expanded, 'position')} expanded, {solution.generated:,} generated,"
        f" {solution.largest_frontier:,} {frontier} at most, {solution.seconds:.3g} s"
    )


def _print_moves(problem: Problem, position: Any, solution: Solution, frontier: str) -> int:
    """Print the solution, or that none exists; returns the exit status."""
    if solution.moves is None:
        print(f"no solution: {solution.proved}; {_effort(solution, frontier)}")
        solution.whole()  # Ctrl-C ends this program like any other
        return 1
    print(" ".join(line_texts(problem, position, solution.moves)))
    bound = "optimal" if solution.optimal else f"at most {solution.factor:.10g} times the optimum"
    if solution.factor == float("inf"):
        bound = "no proof of optimality"
    print(f"cost {solution.cost:.10g}: {bound} ({solution.proved}); {_effort(solution, frontier)}")
    return 0
